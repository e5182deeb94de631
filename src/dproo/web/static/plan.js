// Plan: how n, k, epsilon and alpha hang together, for every sampler. Nothing is read.

import { ask, latest, notice } from "./api.js";
import { copies } from "./copying.js";
import { find, make } from "./drawing.js";
import { logarithmic, plain, shown } from "./fields.js";
import { lineChart } from "./lines.js";

const fields = {};
for (const field of document.querySelectorAll("#controls [data-name]")) {
  fields[field.dataset.name] = logarithmic(field, changed);
}
let chosen = find("answers").dataset.chosen;
let curves = {};

const ends = ["better privacy", "better accuracy"];
const takeEpsilon = (epsilon) => (fields.epsilon.value = plain(epsilon, 3));
const accuracy = lineChart(
  find("accuracy"),
  {
    label: "Worst-case accuracy alpha against epsilon",
    x: { name: "ε", isLog: true, ends },
    y: { isLog: true },
  },
  takeEpsilon,
);
const records = lineChart(
  find("records"),
  {
    label: "Records needed against epsilon",
    x: { name: "ε", isLog: true, ends },
    y: { isLog: true },
  },
  takeEpsilon,
);

const given = (...names) => Object.fromEntries(names.map((name) => [name, fields[name].value]));

// Each column is a question of its own: one that takes long keeps none of the others waiting.
const questions = {
  alpha: ["n", "k", "epsilon"],
  n: ["k", "epsilon", "alpha"],
  epsilon: ["n", "k", "alpha"],
};
const answers = {};
const refusals = {};
const showRefusals = () => notice(find("refused"), Object.values(refusals)[0]);
const askWith = async (query) => ({ query, ...(await ask("plan", { query })) });
const askAnswers = Object.entries(questions).map(([name, known]) =>
  latest(() => askWith(given(...known)), {
    show: (answer) => {
      answers[name] = answer;
      delete refusals[name];
      showAnswers();
      showRefusals();
    },
    refuse: (sentence) => {
      refusals[name] = sentence;
      showRefusals();
    },
    place: find(`answer-${name}`),
  }),
);
const askAccuracy = latest(() => ask("curve", { query: given("n", "k", "epsilon") }), {
  show: (curve) => {
    showCurve("accuracy", curve);
    askOthers();
  },
  refuse: askOthers,
  place: find("accuracy"),
});
const askRecords = latest(() => ask("curve", { query: given("k", "alpha", "epsilon") }), {
  show: (curve) => showCurve("records", curve),
  refuse: () => {},
  place: find("records"),
});

function changed(delay) {
  if (Object.keys(fields).length < 4) return;
  askAccuracy(delay);
  showAnswers();
  showMeaning();
  showRecipes();
}

/** The first chart first: the server computes one thing at a time. */
function askOthers() {
  for (const question of askAnswers) question(0);
  askRecords(0);
}

function showCurve(name, curve) {
  curves[name] = curve;
  showCurves();
}

function showCurves() {
  const at = Number(fields.epsilon.value);
  const n = Number(fields.n.value);
  for (const [name, chart] of Object.entries({ accuracy, records })) {
    if (!curves[name]) continue;
    const { epsilon: xs, series } = curves[name];
    const lines = Object.entries(series).map(([sampler, values]) => ({ name: sampler, values }));
    const reference = name === "records" && n > 0 ? { name: "your n", value: n } : undefined;
    chart.show({ xs, series: lines, chosen, at, reference });
  }
}

/** Tell whether what stands in a column answers a question that is no longer asked. */
function isPast(name) {
  const asked = answers[name]?.query ?? {};
  return questions[name].some((known) => asked[known] !== fields[known].value);
}

function showAnswers() {
  if (!Object.keys(answers).length) return;
  const body = find("answers").tBodies[0];
  const focused = document.activeElement?.value;
  const { rows } = Object.values(answers)[0];
  if (!rows.some(({ sampler }) => sampler === chosen)) chosen = rows[0].sampler;
  body.replaceChildren();
  rows.forEach(({ sampler, basis }, i) => {
    const line = make(body, "tr", { class: sampler === chosen ? "chosen" : "" });
    const label = make(make(line, "th", { scope: "row" }), "label");
    const radio = make(label, "input", { type: "radio", name: "chosen", value: sampler });
    radio.checked = sampler === chosen;
    label.append(sampler);
    const told = Object.keys(questions).map((name) => answers[name]?.rows[i]);
    Object.keys(questions).forEach((name, j) =>
      make(
        line,
        "td",
        { class: isPast(name) ? "number past" : "number" },
        told[j] ? shown(told[j][name]) : "…",
      ),
    );
    make(line, "td", { class: "basis" }, told.map((row) => row?.reason).find(Boolean) ?? basis);
    radio.addEventListener("change", () => {
      chosen = sampler;
      for (const other of body.rows) other.classList.toggle("chosen", other === line);
      showCurves();
    });
    if (radio.value === focused) radio.focus();
  });
}

function showMeaning() {
  const factor = Math.exp(Number(fields.epsilon.value));
  const text = factor < 1e6 ? plain(factor, factor < 10 ? 4 : 3) : factor.toExponential(1);
  find("meaning").replaceChildren(
    "An observer’s odds about any one record change by at most a factor ",
  );
  make(find("meaning"), "strong", {}, factor > 1 ? text : "…");
  find("meaning").append(", whatever else they know.");
}

function showRecipes() {
  const { n, k, epsilon, alpha } = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, field.value]),
  );
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

copies();
changed(0);
