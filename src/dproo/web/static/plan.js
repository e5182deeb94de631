// Plan: how n, k, epsilon and alpha depend on each other: one answer first, then every sampler's.

import { keep, keepSoon, read } from "./address.js";
import { ask, latest } from "./api.js";
import { find, make } from "./drawing.js";
import { asTyped, atMost, counted, exponential, logarithmic, plain, shownUp, value } from "./fields.js";
import { lineChart } from "./lines.js";
import { clear, refuse } from "./refusing.js";
import { copies } from "./saving.js";

const controls = find("controls");
const start = read();
const fields = {};
for (const field of controls.querySelectorAll("[data-name]")) {
  const { name } = field.dataset;
  find(name).value = start[name] ?? find(name).dataset.start;
  fields[name] = logarithmic(field, changed);
}
const given = (...names) => Object.fromEntries(names.map((name) => [name, fields[name].value]));
let chosen = start.sampler ?? ""; // by default the recommended one
const HUES = 6;

// Each column is a question of its own, so a slow one does not delay the others.
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

const curves = {};
const charts = {
  accuracy: {
    known: ["n", "k"],
    isWanted: () => true,
    axes: { label: "Draws that differ, at most, against epsilon", height: 390, isShare: true },
  },
  records: {
    known: ["k", "alpha"],
    isWanted: () => find("more").open,
    axes: { label: "Records needed against epsilon" },
  },
};
// First the samplers with a closed form, then the others, decade by decade.
for (const [name, chart] of Object.entries(charts)) {
  const query = () => given(...chart.known, "epsilon");
  const place = find(name);
  const options = (then) => ({
    show: (curve) => {
      curves[name] = { ...curves[name], ...curve };
      place.classList.remove("past");
      showCurves();
      then?.();
    },
    refuse: () => place.classList.add("past"), // the chart in sight is for other parameters
    place,
  });
  chart.show = lineChart(place, chart.axes, (epsilon) => {
    fields.epsilon.value = plain(epsilon, 3);
    showCurves();
  });
  chart.askBest = latest((signal) => bestCurve(curves[name].epsilon, query(), signal), options());
  chart.ask = latest(
    async (signal) => ({ ...(await ask("curve", { query: query(), signal })), best: {} }),
    options(() => chart.askBest(0)),
  );
}

/** Return the curve of the sampler without a closed form. */
async function bestCurve(xs, known, signal) {
  const sampler = find("accuracy").dataset.bound;
  const [low, high] = [xs[0], xs.at(-1)].map((x) => Math.round(Math.log10(x)));
  const decades = Array.from({ length: high - low }, (_, i) => low + i);
  const parts = await Promise.all(
    decades.map((part) => ask("curve", { query: { ...known, sampler, decade: part }, signal, part })),
  );
  const last = parts.at(-1).series[sampler].at(-1); // of one decade it is the first of the next
  return { best: { [sampler]: [...parts.flatMap(({ series }) => series[sampler].slice(0, -1)), last] } };
}

/** Ask every question again, the visible charts first. */
function changed(delay) {
  if (Object.keys(fields).length < 4) return;
  for (const { isWanted, askBest, ask: askCurve } of Object.values(charts)) {
    askBest.stop();
    if (isWanted()) askCurve(delay);
    else askCurve.stop();
  }
  for (const question of askAnswers) question(delay);
  find("hand-over").href = `/release?${new URLSearchParams(given("n", "epsilon"))}`;
  keepSoon(keepChoices);
  showAll();
}

function keepChoices() {
  keep({ ...given(...Object.keys(fields)), sampler: chosen });
}

function showAll() {
  const [sentence] = Object.values(refusals);
  if (sentence) refuse(controls, sentence);
  else clear(controls);
  showAnswers();
  showSentence();
  find("factor").textContent = exponential(value(fields.epsilon.value));
  showRecipes();
}

/** Return whether the answer in a column is for other parameters. */
function isPast(name) {
  const asked = answers[name]?.query ?? {};
  return questions[name].some((known) => asked[known] !== fields[known].value);
}

const recommended = () => answers.alpha?.recommended?.sampler ?? "";
const followed = () => chosen || recommended();

/** Show the main answer: what the followed sampler achieves, and what the target would take. */
function showSentence() {
  const place = find("sentence");
  const of = (name) =>
    answers[name]?.rows.find(({ sampler }) => sampler === followed())?.[name] ?? null;
  place.classList.toggle("past", Object.keys(questions).some(isPast));
  if (!answers.alpha) return;
  const { query } = answers.alpha;
  const { n, epsilon } = query;
  const alpha = of("alpha");
  place.replaceChildren(`With ${counted(Number(n), "record")} at ε = ${epsilon}, `);
  make(place, "strong", {}, alpha === null ? "no bound is known" : `at most ${atMost(alpha)}`);
  place.append(alpha === null ? "." : " of draws differ from a random record’s.");
  const isOfSame = (name) => questions[name].every((one) => !(one in query) || query[one] === answers[name].query[one]);
  const known = ["n", "epsilon"].filter((name) => of(name) !== null && isOfSame(name));
  const [aim] = known.map((name) => answers[name].query.alpha); // of the answers, not of the field
  const target = value(aim ?? "");
  const needed = known
    .filter((name) => answers[name].query.alpha === aim)
    .map((name) => (name === "n" ? counted(of(name), "record") : `ε = ${shownUp(of(name))}`));
  const [first, ...second] = needed.map((text, i) => (i ? `or ${text}` : `${text} would do`));
  find("target").textContent =
    target > 0 && first ? `For at most ${asTyped(target)}, ${[first, ...second].join(", ")}.` : "";
  const reason = answers.alpha.recommended?.reason ?? "";
  find("recommended").textContent = chosen
    ? `By ${chosen}, which you follow; recommended is ${recommended()}.`
    : `By ${recommended()}, which “auto” takes. ${reason}`;
}

/** Draw both charts; a sampler has the same hue in both. */
function showCurves() {
  const at = value(fields.epsilon.value);
  const n = value(fields.n.value);
  const parts = {
    accuracy: { floor: { name: "no sampler can be here", values: curves.accuracy?.limit } },
    records: { reference: n > 0 ? { name: "your n", value: n } : undefined },
  };
  for (const [name, { epsilon: xs, series, best }] of Object.entries(curves)) {
    const lines = Object.entries({ ...series, ...best });
    const drawn = lines.map(([sampler, values], i) => ({ name: sampler, values, hue: i % HUES }));
    charts[name].show({ xs, series: drawn, chosen: followed(), at, ...parts[name] });
  }
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
    for (const name of Object.keys(questions)) {
      const number = answers[name]?.rows[i][name] ?? null;
      const text = name === "alpha" && number !== null ? atMost(number) : shownUp(number);
      const kind = isPast(name) ? "number past" : "number";
      make(line, "td", { class: kind }, name in answers ? text : "…");
    }
    const reasons = Object.values(answers).map((answer) => answer.rows[i].reason);
    make(line, "td", { class: "basis" }, reasons.find(Boolean) ?? basis);
    radio.addEventListener("change", () => {
      chosen = sampler === recommended() ? "" : sampler;
      keepChoices();
      showAll();
      showCurves();
    });
    if (radio.value === focused) radio.focus();
  });
}

function showRecipes() {
  const written = (known, write) => known.map((name) => write(name, fields[name].value));
  const option = (name, text) => `--${name} ${text}`;
  const argument = (name, text) => `${name}=${["n", "k"].includes(name) ? text : `"${text}"`}`;
  const all = Object.values(questions);
  const commands = all.map((known) => `dproo plan ${written(known, option).join(" ")}`);
  const calls = all.map((known) => `dproo.plan(${written(known, argument).join(", ")})`);
  find("command").textContent = commands.join("\n");
  find("python").textContent = ["import dproo", ...calls].join("\n");
}

find("more").addEventListener("toggle", ({ target }) => target.open && charts.records.ask(0));
copies();
changed(0);
