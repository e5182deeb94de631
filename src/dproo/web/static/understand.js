// Understand: paint data, see the exact law of every sampler on it, draw, and watch a leak.

import { keep, read } from "./address.js";
import { ask, latest } from "./api.js";
import { lawChart, letter } from "./bars.js";
import { find, make } from "./drawing.js";
import { logarithmic } from "./fields.js";
import { showLeaks } from "./leaks.js";
import { STEPS, paintChart } from "./paint.js";
import { clear, notice, refuse } from "./refusing.js";

const BY_HAND = "";
const start = read();
for (const id of ["shape", "letters", "step", "epsilon", "sampler"])
  find(id).value = start[id] ?? find(id).dataset.start;

let values = [];
let laws = [];
let drawn = [];
const panels = new Map();
const epsilon = logarithmic(document.querySelector("[data-name=epsilon]"), changed);
const paint = paintChart(find("paint"), (next) => {
  values = next;
  find("shape").value = BY_HAND;
  changed();
});
const draws = lawChart(find("draws"), { height: 220 });

const step = () => Number(find("step").value);
const counts = () => values.map((value) => value * step());
const total = () => counts().reduce((sum, count) => sum + count, 0);

const askShape = latest(
  (signal) => {
    const query = { name: find("shape").value, n: 1000, k: find("letters").value };
    return ask("shape", { query, signal });
  },
  {
    show: ({ counts: shares }) => {
      clear(find("controls"));
      const most = Math.max(...shares);
      values = shares.map((share) => Math.round((share / most) * 0.9 * STEPS));
      changed();
      paint.show(values, step());
    },
    refuse: refused,
    wait: 0,
  },
);
const askLaws = latest(
  async (signal) => {
    const body = { counts: counts(), epsilon: epsilon.value };
    return { ...body, ...(await ask("law", { body, signal })) };
  },
  { show: showLaws, refuse: refused },
);
const leaks = showLeaks(() => ({ n: total(), k: values.length, epsilon: epsilon.value }));

/** Show what is wrong, and fade what is then no longer true. */
function refused(sentence) {
  refuse(find("controls"), sentence, { rest: find("refused") });
  find("laws").classList.add("past");
  find("draws").classList.add("past");
}

function changed() {
  keepChoices();
  if (!values.length) return;
  find("letters").value = values.length;
  find("painted").textContent =
    `${total().toLocaleString("en")} records on ${values.length} possible values.`;
  drawn = [];
  askLaws(0);
  leaks.painted();
}

function keepChoices() {
  const isByHand = find("shape").value === BY_HAND;
  keep({
    shape: isByHand ? "" : find("shape").value,
    letters: isByHand ? "" : find("letters").value,
    counts: isByHand ? values.join(" ") : "",
    step: find("step").value,
    epsilon: epsilon.value,
    sampler: find("sampler").value,
  });
}

function showLaws({ counts: records, n, laws: found }) {
  notice(find("refused"));
  clear(find("controls"));
  find("laws").classList.remove("past");
  find("draws").classList.remove("past");
  laws = found;
  find("laws").dataset.counts = records.join(" ");
  const shares = records.map((count) => count / n);
  const most = Math.max(...shares, ...laws.flatMap((law) => law.pmf ?? []));
  for (const law of laws) {
    const panel = panelOf(law.sampler);
    panel.distance.textContent = law.error ?? `differs in ${percent(law.distance)} of draws`;
    panel.chart.hidden = Boolean(law.error);
    if (law.error) continue;
    panel.law.show({
      name: `Law of ${law.sampler}`,
      outer: shares,
      inner: law.pmf,
      most,
      rows: (i) => [
        [
          "records",
          `${records[i].toLocaleString("en")} of ${n.toLocaleString("en")} = ${percent(shares[i])}`,
        ],
        ["released", percent(law.pmf[i])],
        ["exactly", exactly(law, i)],
      ],
    });
  }
  showDraws();
}

function panelOf(sampler) {
  if (!panels.has(sampler)) {
    const figure = make(find("laws"), "figure", { "data-sampler": sampler });
    const caption = make(figure, "figcaption");
    make(caption, "b", {}, sampler);
    const distance = make(caption, "span");
    const chart = make(figure, "div", { class: "chart" });
    panels.set(sampler, { distance, chart, law: lawChart(chart) });
  }
  return panels.get(sampler);
}

function exactly({ weights, total: all }, i) {
  const short = (text) =>
    text.length <= 12 ? text : `${text.slice(0, 5)}… (${text.length} digits)`;
  return `${short(weights[i])} / ${short(all)}`;
}

function percent(share) {
  return share > 0 && share < 1e-4
    ? `${(share * 100).toExponential(1)} %`
    : `${(share * 100).toFixed(2)} %`;
}

function showDraws() {
  const law = laws.find(({ sampler }) => sampler === find("sampler").value);
  if (!law?.pmf) return;
  const tally = law.pmf.map((_, i) => drawn.filter((one) => one === i).length);
  const shares = tally.map((times) => (drawn.length ? times / drawn.length : 0));
  const most = Math.max(...law.pmf, ...(drawn.length >= 20 ? shares : [])) * 1.05;
  draws.show({
    name: "Draws",
    outer: law.pmf,
    inner: shares.map((share) => Math.min(share, most)),
    most,
    isOutlined: true,
    rows: (i) => [
      ["probability", percent(law.pmf[i])],
      ["drawn", `${tally[i]} of ${drawn.length}`],
    ],
  });
  const last = drawn.length ? ` The last one: ${letter(drawn.at(-1))}.` : "";
  const draw = drawn.length === 1 ? "draw" : "draws";
  find("drawn").textContent = `${drawn.length.toLocaleString("en")} ${draw}.${last}`;
}

async function drawMore(size) {
  const asked = drawn;
  try {
    const body = { counts: counts(), epsilon: epsilon.value, sampler: find("sampler").value, size };
    const { letters } = await ask("draws", { body });
    if (asked !== drawn) return; // they were drawn from what is no longer shown
    drawn.push(...letters);
    showDraws();
    letters.slice(-20).forEach((one, i) => setTimeout(() => draws.drop(one), 30 * i));
  } catch (error) {
    refused(error.message);
  }
}

find("shape").addEventListener("change", () => find("shape").value !== BY_HAND && askShape());
find("letters").addEventListener("input", () => {
  if (!find("shape").value) find("shape").value = "uniform";
  askShape();
});
find("step").addEventListener("change", () => {
  paint.show(values, step());
  changed();
});
find("sampler").addEventListener("change", () => {
  keepChoices();
  drawn = [];
  showDraws();
});
find("draw-one").addEventListener("click", () => drawMore(1));
find("draw-many").addEventListener("click", () => drawMore(100));
find("draw-none").addEventListener("click", () => {
  drawn = [];
  showDraws();
});
for (const form of document.forms)
  form.addEventListener("submit", (event) => event.preventDefault());
if (/^\d+( \d+)+$/.test(start.counts ?? "")) {
  find("shape").value = BY_HAND;
  values = start.counts
    .split(" ")
    .slice(0, find("letters").max)
    .map((text) => Math.min(Number(text), STEPS));
  changed();
  paint.show(values, step());
} else {
  if (find("shape").value === BY_HAND) find("shape").value = find("shape").dataset.start;
  askShape();
}
