// Understand: paint data, see the exact law of every sampler on it, draw, and watch a leak.

import { keep, keepSoon, read } from "./address.js";
import { ask, latest } from "./api.js";
import { lawChart, letter } from "./bars.js";
import { find } from "./drawing.js";
import { counted, logarithmic, shown } from "./fields.js";
import { showLeaks } from "./leaks.js";
import { STEPS, paintChart } from "./paint.js";
import { clear, refuse } from "./refusing.js";

const BY_HAND = "";
const CHOICES = ["shape", "letters", "step", "epsilon", "sampler", "preset"];
const start = read();
for (const id of CHOICES) find(id).value = start[id] ?? find(id).dataset.start;
if (!find("preset").value) find("preset").value = find("preset").dataset.start;

let values = [];
let laws = [];
let drawn = [];
const epsilon = logarithmic(document.querySelector("[data-name=epsilon]"), changed);
const paint = paintChart(find("paint"), (next) => {
  askShape.stop();
  values = next;
  find("shape").value = BY_HAND;
  changed();
});
const draws = lawChart(find("draws"), { height: 220 });
const panels = [...find("laws").children].map((figure) => {
  const chart = figure.querySelector(".chart");
  return { chart, distance: figure.querySelector("span"), show: lawChart(chart).show };
});

const step = () => Number(find("step").value);
const painted = () => ({ counts: values.map((value) => value * step()), epsilon: epsilon.value });
const total = () => painted().counts.reduce((sum, count) => sum + count, 0);

/** Replace the painted values by the chosen shape's. */
function repaint(next) {
  values = next;
  changed();
  paint.show(values, step());
}

const askShape = latest(
  (signal) => {
    const query = { name: find("shape").value, n: 1000, k: find("letters").value };
    return ask("shape", { query, signal });
  },
  {
    show: ({ counts }) =>
      repaint(counts.map((count) => Math.round((count / Math.max(...counts)) * 0.9 * STEPS))),
    refuse: refused,
    wait: 0,
  },
);
const askLaws = latest(
  async (signal) => {
    const body = painted();
    return { ...body, ...(await ask("law", { body, signal })) };
  },
  { show: showLaws, refuse: refused },
);
const leaks = showLeaks(() => ({ n: total(), k: values.length, epsilon: epsilon.value }));

/** Fade the laws while they are not those of the painted counts. */
function fade(isPast) {
  for (const id of ["laws", "draws"]) find(id).classList.toggle("past", isPast);
}

function refused(sentence) {
  refuse(find("controls"), sentence);
  fade(true);
}

function changed() {
  keepSoon(keepChoices);
  if (!values.length) return;
  find("letters").value = values.length;
  find("painted").textContent = `${counted(total(), "record")} on ${values.length} possible values.`;
  drawn = [];
  askLaws(0);
  leaks.painted();
}

function keepChoices() {
  const choices = Object.fromEntries(CHOICES.map((id) => [id, find(id).value]));
  const isByHand = choices.shape === BY_HAND;
  keep({ ...choices, ...(isByHand ? { letters: "", counts: values.join(" ") } : {}) });
}

function showLaws({ counts, n, laws: found }) {
  clear(find("controls"));
  fade(false);
  laws = found;
  find("laws").dataset.counts = counts.join(" ");
  const outer = counts.map((count) => count / n);
  const most = Math.max(...outer, ...laws.flatMap((law) => law.pmf ?? []));
  laws.forEach(({ sampler, error, distance, pmf, weights, total: all }, j) => {
    const panel = panels[j];
    panel.distance.textContent = error ?? `differs in ${percent(distance)} of draws`;
    panel.chart.hidden = Boolean(error);
    if (error) return;
    panel.show({
      name: `Law of ${sampler}`,
      outer,
      inner: pmf,
      most,
      rows: (i) => [
        ["records", `${shown(counts[i])} of ${shown(n)} = ${percent(outer[i])}`],
        ["released", percent(pmf[i])],
        ["exactly", `${short(weights[i])} / ${short(all)}`],
      ],
    });
  });
  showDraws();
}

const short = (digits) =>
  digits.length <= 12 ? digits : `${digits.slice(0, 5)}… (${digits.length} digits)`;

function percent(share) {
  const isTiny = share > 0 && share < 1e-4;
  return `${isTiny ? (share * 100).toExponential(1) : (share * 100).toFixed(2)}\u00a0%`;
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
  find("drawn").textContent = `${counted(drawn.length, "draw")}.${last}`;
}

function drawNone() {
  drawn = [];
  showDraws();
}

async function drawMore(size) {
  const asked = drawn;
  try {
    const { letters } = await ask("draws", { body: { ...painted(), sampler: find("sampler").value, size } });
    if (asked !== drawn) return; // the counts or the sampler have changed meanwhile
    drawn.push(...letters);
    showDraws();
    letters.slice(-20).forEach((one, i) => setTimeout(() => draws.drop(one), 30 * i));
  } catch (error) {
    if (asked === drawn) refused(error.message);
  }
}

find("shape").addEventListener("change", () => find("shape").value !== BY_HAND && askShape());
find("letters").addEventListener("input", () => {
  if (!find("shape").value) find("shape").value = "uniform";
  askShape();
});
find("step").addEventListener("change", () => repaint(values));
find("sampler").addEventListener("change", () => {
  keepChoices();
  drawNone();
});
find("preset").addEventListener("change", keepChoices);
find("draw-one").addEventListener("click", () => drawMore(1));
find("draw-many").addEventListener("click", () => drawMore(100));
find("draw-none").addEventListener("click", drawNone);
for (const form of document.forms)
  form.addEventListener("submit", (event) => event.preventDefault());
if (/^\d+( \d+)+$/.test(start.counts ?? "")) {
  const kept = start.counts.split(" ").slice(0, find("letters").max);
  find("shape").value = BY_HAND;
  repaint(kept.map((text) => Math.min(Number(text), STEPS)));
} else {
  if (find("shape").value === BY_HAND) find("shape").value = find("shape").dataset.start;
  askShape();
}
