// Plan: how n, k, epsilon and alpha hang together: one answer first, then every sampler's.

import { keep, read } from "./address.js";
import { ask, latest } from "./api.js";
import { find, make } from "./drawing.js";
import { atMost, exponential, logarithmic, plain, shown, shownUp, value } from "./fields.js";
import { lineChart } from "./lines.js";
import { clear, notice, refuse } from "./refusing.js";
import { copies } from "./saving.js";

const controls = find("controls");
const start = read();
const fields = {};
for (const field of controls.querySelectorAll("[data-name]")) {
  const { name } = field.dataset;
  find(name).value = start[name] ?? find(name).dataset.start;
  fields[name] = logarithmic(field, changed);
}
let chosen = start.sampler ?? ""; // by default the one that is recommended
const curves = {};
const HUES = 6;

const ends = ["better privacy", "better accuracy"];
const takeEpsilon = (epsilon) => (fields.epsilon.value = plain(epsilon, 3));
const chart = (id, label, { height, isShare } = {}) =>
  lineChart(
    find(id),
    { label, height, x: { name: "ε", isLog: true, ends }, y: { isLog: true, isShare } },
    takeEpsilon,
  );
const charts = {
  accuracy: chart("accuracy", "Draws that differ, at most, against epsilon", { height: 390, isShare: true }),
  records: chart("records", "Records needed against epsilon"),
};
const known = { accuracy: ["n", "k"], records: ["k", "alpha"] };

const given = (...names) => Object.fromEntries(names.map((name) => [name, fields[name].value]));

// Each column is a question of its own: one that takes long keeps none of the others waiting.
const questions = {
  alpha: ["n", "k", "epsilon"],
  n: ["k", "epsilon", "alpha"],
  epsilon: ["n", "k", "alpha"],
};
const answers = {};
const refusals = {};
const askAnswers = Object.entries(questions).map(([name, known]) =>
  latest(
    async (signal) => {
      const query = given(...known);
      return { query, ...(await ask("plan", { query, signal })) };
    },
    {
      show: (answer) => {
        const before = followed();
        answers[name] = answer;
        delete refusals[name];
        showAll();
        if (followed() !== before) showCurves();
      },
      refuse: (sentence) => {
        refusals[name] = sentence;
        showAll();
      },
      place: find(`answer-${name}`),
    },
  ),
);
const askCurve = (name, action, then = () => {}) =>
  latest(action, {
    show: (curve) => {
      curves[name] = { ...curves[name], ...curve };
      charts[name].fade(false);
      showCurves();
      then();
    },
    refuse: () => charts[name].fade(true),
    place: find(name),
  });
// First the samplers with a closed form, then the others, decade by decade.
const askCurves = Object.keys(charts).map((name) => {
  const askBest = askCurve(name, (signal) => bestCurve(name, signal));
  const wanted = () => (name === "accuracy" || find("more").open) && askBest(0);
  const asked = async (signal) => {
    const curve = await ask("curve", { query: given(...known[name], "epsilon"), signal });
    return { ...curve, best: {} };
  };
  return { askBest, wanted, ask: askCurve(name, asked, wanted) };
});

/** Return the curves of the samplers without a closed form, asked for decade by decade. */
async function bestCurve(name, signal) {
  const sampler = find("accuracy").dataset.bound;
  const query = { ...given(...known[name], "epsilon"), sampler };
  const { epsilon: xs } = curves[name];
  const [low, high] = [xs[0], xs.at(-1)].map((x) => Math.round(Math.log10(x)));
  const values = [];
  for (let decade = low; decade < high; decade++) {
    const { series } = await ask("curve", { query: { ...query, decade }, signal });
    values.splice(-1, 1, ...series[sampler]); // the last of one decade is the first of the next
  }
  return { best: { [sampler]: values } };
}

function changed(delay) {
  if (Object.keys(fields).length < 4) return;
  for (const { askBest } of askCurves) askBest.stop();
  for (const question of [...askAnswers, ...askCurves.map((one) => one.ask)]) question(delay);
  keepChoices();
  showAll();
}

function keepChoices() {
  keep({ ...given(...Object.keys(fields)), sampler: chosen });
  find("hand-over").href = `/release?${new URLSearchParams(given("n", "epsilon"))}`;
}

function showAll() {
  const [sentence] = Object.values(refusals);
  if (sentence) refuse(controls, sentence, { rest: find("refused") });
  else {
    clear(controls);
    notice(find("refused"));
  }
  showAnswers();
  showSentence();
  showMeaning();
  showRecipes();
}

/** Tell whether what stands in a column answers a question that is no longer asked. */
function isPast(name) {
  const asked = answers[name]?.query ?? {};
  return questions[name].some((known) => asked[known] !== fields[known].value);
}

const recommended = () => answers.alpha?.recommended?.sampler ?? "";
const followed = () => chosen || recommended();

/** Show the one answer: what the recommended sampler reaches, and what the target takes. */
function showSentence() {
  const place = find("sentence");
  const of = (name) =>
    answers[name]?.rows.find(({ sampler }) => sampler === followed())?.[name] ?? null;
  place.classList.toggle("past", Object.keys(questions).some(isPast));
  if (!answers.alpha) return;
  const { n, epsilon } = answers.alpha.query;
  const alpha = of("alpha");
  place.replaceChildren(`With ${shown(Number(n))} records at ε = ${epsilon}, `);
  make(place, "strong", {}, alpha === null ? "no bound is known" : `at most ${atMost(alpha)}`);
  place.append(alpha === null ? "." : " of draws differ from a random record’s.");
  const target = value(fields.alpha.value);
  const needed = [
    of("n") === null ? "" : `${shown(of("n"))} records`,
    of("epsilon") === null ? "" : `ε = ${shownUp(of("epsilon"))}`,
  ].filter(Boolean);
  find("target").textContent =
    target > 0 && needed.length ? `For at most ${atMost(target)}, ${needed.join(" would do, or ")}${needed.length === 1 ? " would do" : ""}.` : "";
  const reason = answers.alpha.recommended?.reason ?? "";
  find("recommended").textContent = chosen
    ? `By ${chosen}, which you follow; recommended is ${recommended()}.`
    : `By ${recommended()}, which “auto” takes. ${reason}`;
}

/** Return the lines of a chart; a sampler has the same hue in both. */
function linesOf({ series, best }) {
  const found = Object.entries({ ...series, ...best });
  return found.map(([name, values], i) => ({ name, values, hue: i % HUES }));
}

function showCurves() {
  const at = value(fields.epsilon.value);
  const n = value(fields.n.value);
  const parts = {
    accuracy: { floor: { name: "no private sampler can be here", values: curves.accuracy?.limit } },
    records: { reference: n > 0 ? { name: "your n", value: n } : undefined },
  };
  for (const [name, curve] of Object.entries(curves))
    charts[name].show({ xs: curve.epsilon, series: linesOf(curve), chosen: followed(), at, ...parts[name] });
}

function showAnswers() {
  if (!Object.keys(answers).length) return;
  const body = find("answers").tBodies[0];
  const focused = document.activeElement?.value;
  const { rows } = Object.values(answers)[0];
  if (chosen && !rows.some(({ sampler }) => sampler === chosen)) chosen = "";
  body.replaceChildren();
  rows.forEach(({ sampler, basis }, i) => {
    const line = make(body, "tr", { class: sampler === followed() ? "chosen" : "" });
    const label = make(make(line, "th", { scope: "row" }), "label");
    const radio = make(label, "input", { type: "radio", name: "chosen", value: sampler });
    radio.checked = sampler === followed();
    label.append(sampler);
    const told = Object.keys(questions).map((name) => answers[name]?.rows[i]);
    Object.keys(questions).forEach((name, j) =>
      make(
        line,
        "td",
        { class: isPast(name) ? "number past" : "number" },
        told[j] ? written(name, told[j][name]) : "…",
      ),
    );
    make(line, "td", { class: "basis" }, told.map((row) => row?.reason).find(Boolean) ?? basis);
    radio.addEventListener("change", () => {
      chosen = sampler === recommended() ? "" : sampler;
      keepChoices();
      showAll();
      showCurves();
    });
    if (radio.value === focused) radio.focus();
  });
}

const written = (name, number) =>
  name === "alpha" && number !== null ? atMost(number) : shownUp(number);

function showMeaning() {
  find("meaning").replaceChildren("An observer’s odds about any one record change by at most a factor ");
  make(find("meaning"), "strong", {}, exponential(value(fields.epsilon.value)));
  find("meaning").append(", whatever else they know.");
}

function showRecipes() {
  const { n, k, epsilon, alpha } = given(...Object.keys(fields));
  find("command").textContent = [
    `dproo plan --n ${n} --k ${k} --epsilon ${epsilon}`,
    `dproo plan --k ${k} --epsilon ${epsilon} --alpha ${alpha}`,
    `dproo plan --n ${n} --k ${k} --alpha ${alpha}`,
  ].join("\n");
  find("python").textContent = [
    "import dproo",
    `dproo.plan(n=${n}, k=${k}, epsilon="${epsilon}")`,
    `dproo.plan(k=${k}, epsilon="${epsilon}", alpha="${alpha}")`,
    `dproo.plan(n=${n}, k=${k}, alpha="${alpha}")`,
  ].join("\n");
}

find("more").addEventListener("toggle", () => curves.records && askCurves.at(-1).wanted());
copies();
changed(0);
