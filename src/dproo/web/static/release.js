// Release: choose data, describe it, declare a budget, choose the privacy, confirm, receive.
// The columns come from header and schema; no record is read before the confirmation.

import { keep, read } from "./address.js";
import { ask, latest } from "./api.js";
import { budgetOf } from "./budget.js";
import { Builder } from "./builder.js";
import { find, make } from "./drawing.js";
import { grouped, meant, shown } from "./fields.js";
import { showNetwork } from "./network.js";
import { warn } from "./receipt.js";
import { clear, notice, refuse } from "./refusing.js";
import { reviewOf } from "./review.js";
import { dataOf, isNamed, showFiles, showSource, source } from "./source.js";

const start = read();
const kept = history.state; // the code book that was being written when the room was left
for (const id of ["n", "epsilon", "delimiter", "encoding", "table", "alphabet"])
  if (start[id]) find(id).value = start[id];
find("n").value = grouped(find("n").value);
if (start.sampler) find("sampler").value = start.sampler;
for (const name of ["what", "how"])
  for (const one of document.querySelectorAll(`[name=${name}]`)) one.checked ||= one.value === start[name];
if (kept?.network) find("network").value = kept.network;

const SPAN = 10_000;
const AT_ONCE = 50; // in a span; a browser lets an address change so often only
const SOON = 200;
const chosen = (name) => document.querySelector(`[name=${name}]:checked`).value;
const what = () => chosen("what");
const privacy = find("step-privacy");
let account; // null if there is none, undefined before it was looked for
let isLooked = false;
let hasLooked = Boolean(start.data);
let keeping;
let isReady = false; // before the files are there, nothing is kept
let keptAt = [];
let looking = new AbortController();

const builder = new Builder(changed);
const budget = budgetOf((found) => {
  account = found ?? null;
  changed();
});
const confirmation = reviewOf({
  root: find("main"),
  order,
  check,
  foresee: () => (find("n").value.trim() ? foresee() : null),
  done: () => budget.look(),
});

/** Ask how far a release of the choices may be from the data. */
async function foresee(signal) {
  const body = {
    n: meant(find("n").value),
    epsilon: meant(find("epsilon").value),
    neighbours: (account ?? { neighbours: find("neighbours").value }).neighbours,
  };
  if (what() === "value") {
    const { k } = await ask("alphabet", { body: { ...dataOf(), alphabet: find("alphabet").value.trim() }, signal });
    return ask("value-plan", { body: { ...body, k: String(k), sampler: find("sampler").value }, signal });
  }
  if (builder.isFinding) {
    const found = { columns: String(builder.ticked.length), delta: find("delta").value.trim() };
    return ask("found-plan", { body: { ...body, ...found }, signal });
  }
  const { codebook } = builder.found;
  return ask(`${what()}-plan`, { body: { ...body, codebook, network: builder.network }, signal });
}

const forecast = latest(foresee, {
  show: (plan) => {
    clear(privacy);
    showForecast(plan);
  },
  refuse: (sentence) => {
    privacy.classList.add("unforeseen"); // what stands there answers another question
    refuse(privacy, sentence, { rest: find("refused") });
  },
});

/** Show how far a release may be from the data; without a forecast, nothing. */
function showForecast(plan = null) {
  privacy.classList.remove("unforeseen");
  find("scale").hidden = !plan;
  for (const part of find("scale").children)
    if (part.dataset.level === plan?.level) part.setAttribute("aria-current", "true");
    else part.removeAttribute("aria-current");
  find("forecast").textContent = plan?.sentence ?? "";
  find("forecast").dataset.level = plan?.level ?? "";
  find("forecast-limits").textContent = plan?.limits ?? "";
  warn(find("warnings"), plan?.warnings);
  showNetwork(find("network-steps"), plan?.columns && plan);
}

/** Look for the columns of the data, by header and schema. */
async function look({ focuses = false } = {}) {
  withdrawAll();
  clear(find("step-data"));
  notice(find("data-refused"));
  const { signal } = (looking = new AbortController());
  try {
    const { dataset: _, ...named } = dataOf();
    const found = await ask("columns", { body: named, signal });
    const isSame = kept?.data === named.data;
    isLooked = true;
    const from = found.from === "header" ? "the file’s header" : "its schema";
    const notes = found.notes.map((note) => ` ${note}`).join("");
    find("columns-hint").textContent =
      `${shown(found.columns.length)} column${found.columns.length === 1 ? "" : "s"}, from ${from}; no record was read.${notes}`;
    for (const [id, first] of [
      ["column", "Choose a column"],
      ["person", "nobody has several records"],
    ]) {
      find(id).replaceChildren();
      make(find(id), "option", { value: "" }, first);
      for (const { name } of found.columns) make(find(id), "option", { value: name }, name);
      find(id).value = (isSame && start[id]) || "";
      if (find(id).selectedIndex < 0) find(id).value = "";
    }
    builder.offer(found, isSame ? kept.book : null);
    await budget.name((isSame && start.dataset) || found.dataset);
    changed();
    if (focuses) find("columns-title").focus();
  } catch (error) {
    if (signal.aborted) return; // other data is looked at
    refuse(find("step-data"), error.message, { rest: find("data-refused"), focuses });
  }
}

/** Forget all that was said of other data. */
function forget() {
  for (const form of [find("budget-form"), privacy]) form.reset();
  for (const id of ["alphabet", "delimiter", "encoding", "table"]) find(id).value = "";
  for (const id of ["sampler", "network"]) find(id).selectedIndex = 0;
  for (const name of ["what", "how"]) document.querySelector(`[name=${name}]`).checked = true;
  for (const id of ["refused", "book-refused", "budget-refused"]) notice(find(id));
  clear(find("main"));
}

/** Begin anew: the data is another one. */
function withdrawAll() {
  looking.abort();
  isLooked = false;
  account = undefined;
  budget.name("");
  find("dataset").value = "";
  find("result").hidden = true;
  changed();
}

function changed() {
  confirmation?.withdraw();
  clearTimeout(keeping);
  keptAt = keptAt.filter((moment) => moment > Date.now() - SPAN);
  keeping = setTimeout(keepChoices, keptAt.length < AT_ONCE ? 0 : SOON);
  for (const part of document.querySelectorAll("[data-what]"))
    part.hidden = !part.dataset.what.split(" ").includes(what());
  find("sampler-hint").textContent = find("sampler").selectedOptions[0].dataset.words;
  const isPure = account?.delta === "0";
  const isFinding = what() === "table" && chosen("how") === "found" && !isPure;
  builder.isFinding = isFinding;
  find("pure").hidden = !isPure;
  document.querySelector("[value=found]").disabled = isPure;
  for (const id of ["delta-field", "budget-delta-field"]) find(id).hidden = !isFinding;
  const isListed = isFinding ? builder.ticked.length : builder.found;
  const isDescribed = what() === "value" ? find("column").value && find("alphabet").value : isListed;
  find("step-columns").hidden = !isLooked;
  privacy.hidden = !(isLooked && isDescribed);
  find("step-budget").hidden = privacy.hidden || account !== null;
  find("review").hidden = !account;
  if (!privacy.hidden && find("n").value.trim()) forecast();
  else {
    forecast.stop();
    showForecast();
  }
}

function keepChoices() {
  if (!isReady) return;
  keptAt.push(Date.now());
  const isFile = source() === "file";
  const text = (id) => find(id).value.trim();
  const choices = {
    data: isFile ? find("file").value : "",
    table: text("table"),
    delimiter: find("delimiter").value,
    encoding: text("encoding"),
    what: what() === "table" ? "" : what(),
    how: builder.isFinding ? "found" : "",
    ...(what() === "value" ? { column: text("column"), alphabet: text("alphabet"), sampler: text("sampler") } : {}),
    n: meant(text("n")),
    epsilon: meant(text("epsilon")),
    person: text("person"),
  };
  const isListed = isFile && isLooked && builder.ticked.length && !builder.isFinding;
  const book = isListed ? builder.book() : null;
  // Before the data was looked at, what was kept of it still stands.
  const isKept = !isLooked && kept?.data === choices.data;
  keep(choices, isKept ? kept : { data: choices.data, book, network: find("network").value });
}

/** Return the code book, or the columns whose values are to be found. */
const described = () =>
  builder.isFinding
    ? { columns: builder.ticked.map(({ name }) => name), delta: find("delta").value.trim() }
    : { codebook: builder.found.codebook };

/** Return the choices as the server takes them. */
function order() {
  const text = (id) => find(id).value.trim();
  return {
    ...dataOf(),
    what: what(),
    ...(what() === "value"
      ? { column: find("column").value, alphabet: text("alphabet"), sampler: find("sampler").value }
      : { ...described(), network: builder.network }),
    person: find("person").value,
    ...Object.fromEntries([...document.querySelectorAll(".stated")].map(({ id }) => [id, text(id)])),
    epsilon: meant(find("epsilon").value),
  };
}

/** Return what may be doubted of the choices, or nothing if they were refused at their columns. */
async function check({ codebook, source: kind, data, password, table, delimiter, encoding }) {
  if (!codebook) return [];
  const body = { codebook, source: kind, data, password, table, delimiter, encoding };
  const found = await ask("check", { body });
  if (found.holds) return found.warnings;
  if (builder.refuse(found.refusals)) return null;
  throw new Error(found.refusals.join(" "));
}

addEventListener("beforeunload", keepChoices); // whoever leaves finds it again
find("n").addEventListener("change", ({ target }) => (target.value = grouped(target.value)));
privacy.addEventListener("submit", (event) => {
  event.preventDefault();
  confirmation.review();
});
find("neighbours").addEventListener("change", changed); // what is foreseen depends on it
for (const id of ["step-columns", "step-privacy"])
  find(id).addEventListener("input", ({ target }) => target.closest("#columns") || changed());
for (const radio of document.querySelectorAll("[name=source]"))
  radio.addEventListener("change", () => {
    if (hasLooked) forget();
    hasLooked = true;
    showSource();
    withdrawAll();
  });
for (const id of ["file", "delimiter", "encoding"])
  find(id).addEventListener("change", () => {
    if (id === "file" && hasLooked) forget();
    hasLooked = true;
    showSource();
    if (isNamed()) look();
    else withdrawAll();
  });
for (const id of ["url", "password", "table"]) find(id).addEventListener("input", withdrawAll);
find("look").addEventListener("click", () => look({ focuses: true }));
find("step-data").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("#url, #password, #table")) look({ focuses: true });
});

try {
  await showFiles(start.data);
  isReady = true;
  if (isNamed()) await look();
} catch (error) {
  refuse(find("step-data"), error.message, { rest: find("data-refused") });
}
