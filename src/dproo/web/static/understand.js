// Understand: paint data, see the exact law of every sampler on it, draw, and watch a leak.

import { ask, latest, notice } from "./api.js";
import { lawChart, letter } from "./bars.js";
import { find, make } from "./drawing.js";
import { logarithmic } from "./fields.js";
import { showLeaks } from "./leaks.js";
import { STEPS, paintChart } from "./paint.js";

let values = [];
let laws = [];
let drawn = [];
const panels = new Map();
const epsilon = logarithmic(document.querySelector("[data-name=epsilon]"), changed);
const paint = paintChart(find("paint"), (next) => {
  values = next;
  find("shape").value = "";
  changed();
});
const draws = lawChart(find("draws"), { height: 220 });

const step = () => Number(find("step").value);
const counts = () => values.map((value) => value * step());
const total = () => counts().reduce((sum, count) => sum + count, 0);

const askShape = latest(
  () => ask("shape", { query: { name: find("shape").value, n: 1000, k: find("letters").value } }),
  {
    show: ({ counts: shares }) => {
      const most = Math.max(...shares);
      values = shares.map((share) => Math.round((share / most) * 0.9 * STEPS));
      changed();
      paint.show(values, step());
    },
    refuse: (sentence) => notice(find("refused"), sentence),
    wait: 0,
  },
);
const askLaws = latest(
  async () => {
    const sent = { counts: counts(), epsilon: epsilon.value };
    return { ...sent, ...(await ask("law", { body: sent })) };
  },
  { show: showLaws, refuse: (sentence) => notice(find("refused"), sentence) },
);
const leaks = showLeaks(() => ({ n: total(), k: values.length, epsilon: epsilon.value }));

function changed() {
  if (!values.length) return;
  find("painted").textContent =
    `${total().toLocaleString("en")} records on ${values.length} letters.`;
  drawn = [];
  askLaws(0);
  leaks.painted();
}

function showLaws({ counts: records, n, laws: found }) {
  notice(find("refused"));
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
  find("drawn").textContent = `${drawn.length.toLocaleString("en")} draws.${last}`;
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
    notice(find("refused"), error.message);
  }
}

find("shape").addEventListener("change", () => find("shape").value && askShape());
find("letters").addEventListener("input", () => {
  if (!find("shape").value) find("shape").value = "uniform";
  askShape();
});
find("step").addEventListener("change", () => {
  paint.show(values, step());
  changed();
});
find("sampler").addEventListener("change", () => {
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
askShape();
