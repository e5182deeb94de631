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
if (start.what) document.querySelector(`[name=what][value=${start.what === "value" ? "value" : "row"}]`).checked = true;
if (kept?.network) find("network").value = kept.network;

const SOON = 150;
const what = () => document.querySelector("[name=what]:checked").value;
const privacy = find("step-privacy");
let account;
let isLooked = false;
let hasLooked = Boolean(start.data);
let keeping;
let isReady = false; // before the files are there, nothing is kept
let keptAt = 0;
let looking = new AbortController();

const builder = new Builder(changed);
const budget = budgetOf((found) => {
  account = found;
  changed();
});
const confirmation = reviewOf({
  root: find("main"),
  order,
  check,
  done: () => budget.look(),
});

const forecast = latest(
  (signal) => {
    const body = {
      codebook: builder.found.codebook,
      n: meant(find("n").value),
      epsilon: meant(find("epsilon").value),
      network: builder.network,
      neighbours: account.neighbours,
    };
    return ask("row-plan", { body, signal });
  },
  {
    show: (plan) => {
      clear(privacy);
      privacy.classList.remove("unforeseen");
      find("forecast").textContent = plan.sentence;
      find("forecast-limits").textContent = plan.limits;
      warn(find("warnings"), plan.warnings);
      showNetwork(find("network-steps"), plan);
    },
    refuse: (sentence) => {
      privacy.classList.add("unforeseen"); // what stands there answers another question
      refuse(privacy, sentence, { rest: find("refused") });
    },
  },
);

function hideForecast() {
  find("forecast").textContent = "";
  find("forecast-limits").textContent = "";
  warn(find("warnings"));
  showNetwork(find("network-steps"));
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
  document.querySelector("[name=what]").checked = true;
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
  // At once, but not for each of many changes: a browser lets an address change so often only.
  clearTimeout(keeping);
  if (Date.now() > keptAt + SOON) keepChoices();
  else keeping = setTimeout(keepChoices, SOON);
  for (const part of document.querySelectorAll("[data-what]"))
    part.hidden = part.dataset.what !== what();
  find("sampler-hint").textContent = find("sampler").selectedOptions[0].dataset.words;
  const isDescribed = what() === "row" ? builder?.found : find("column").value && find("alphabet").value;
  find("step-columns").hidden = !isLooked;
  if (!isLooked || account) find("step-budget").hidden = true;
  privacy.hidden = !(isLooked && account && isDescribed);
  if (!privacy.hidden && what() === "row" && find("n").value.trim()) forecast();
  else hideForecast();
}

function keepChoices() {
  if (!isReady) return;
  keptAt = Date.now();
  const isFile = source() === "file";
  const text = (id) => find(id).value.trim();
  const choices = {
    data: isFile ? find("file").value : "",
    table: text("table"),
    delimiter: find("delimiter").value,
    encoding: text("encoding"),
    what: what() === "row" ? "" : what(),
    ...(what() === "row" ? {} : { column: text("column"), alphabet: text("alphabet"), sampler: text("sampler") }),
    n: meant(text("n")),
    epsilon: meant(text("epsilon")),
    person: text("person"),
  };
  const book = isFile && isLooked && builder.ticked.length ? builder.book() : null;
  // Before the data was looked at, what was kept of it still stands.
  const isKept = !isLooked && kept?.data === choices.data;
  keep(choices, isKept ? kept : { data: choices.data, book, network: find("network").value });
}

/** Return the choices as the server takes them. */
function order() {
  const isRow = what() === "row";
  const text = (id) => find(id).value.trim();
  return {
    ...dataOf(),
    ...(isRow
      ? { codebook: builder.found.codebook, network: builder.network }
      : {
          column: find("column").value,
          alphabet: text("alphabet"),
          sampler: find("sampler").value,
        }),
    person: find("person").value,
    purpose: text("purpose"),
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
