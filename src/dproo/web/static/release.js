// Release: choose data, describe it, declare a budget, choose the privacy, confirm, receive.
// The columns come from header and schema; no record is read before the confirmation.

import { keep, keepSoon, read } from "./address.js";
import { ask, latest } from "./api.js";
import { basisOf, budgetOf, isOfOtherUnit, nameCounted } from "./budget.js";
import { Builder } from "./builder.js";
import { choice, find, text } from "./drawing.js";
import { isSame as isEqual } from "./exact.js";
import { counted, grouped, meant } from "./fields.js";
import { showForecast } from "./receipt.js";
import { clear, notice, refuse } from "./refusing.js";
import { reviewOf } from "./review.js";
import { copies } from "./saving.js";
import { choose, dataOf, fileName, isNamed, onDrop, showFiles, showLeft, showSource } from "./source.js";

const start = read();
let saved = history.state; // what was last written about the data, also before the room was left
for (const id of ["n", "epsilon", "delta", "delimiter", "encoding", "table", "sampler"])
  if (start[id]) find(id).value = start[id];
find("n").value = grouped(find("n").value);
for (const name of ["what", "how"])
  for (const one of document.querySelectorAll(`[name=${name}]`)) one.checked ||= one.value === start[name];
if (saved?.network) find("network").value = saved.network;
for (const [id, value] of Object.entries(saved?.stated ?? {})) find(id).value = value;

const chosen = (name) => document.querySelector(`[name=${name}]:checked`).value;
const what = () => chosen("what");
const privacy = find("step-privacy");
let account; // null if there is none, undefined while it is not known
let named = null; // what names the data whose columns are shown, if any are
let hadData = Boolean(start.data);
let person = (start.data && start.person) || ""; // the column that tells people apart, also while none are there
let isReady = false; // before the files are there, nothing is saved
let reading = new AbortController();

const builder = new Builder(changed);
const budget = budgetOf({
  changed: (found) => {
    const isSame = found && isEqual(found, account);
    account = found;
    showLeft(account);
    const reason = found === undefined ? "The ledger could not be read." : "The budget has changed since the review.";
    if (!isSame) confirmation.outdate(changed, reason);
  },
  declared: () => confirmation.review(),
});
const confirmation = reviewOf({
  order,
  refused,
  foresee: () => (text("n") ? foresee() : null),
  enough: () => ask("enough", { body: foreseen() }),
  shows: ({ saved_as: name }) => {
    if (name) builder.savedAs = name;
  },
  done: () => budget.refresh(),
});

/** Return the fields of the question, its `plan`, how far a release of the choices may be from the data. */
function foreseen() {
  const body = { n: meant(find("n").value), epsilon: text("epsilon"), ...basisOf(account) };
  const isValue = what() === "value";
  const delta = text("delta");
  if (builder.isFinding) {
    const columns = builder.names.filter((name) => name !== find("person").value); // a table leaves it out
    const found = isValue ? { delta } : { delta, columns: String(columns.length) };
    return { plan: isValue ? "value-plan" : "found-plan", ...body, ...found };
  }
  const { codebook, columns } = builder.found;
  const own = isValue
    ? { k: String(columns[0].k), sampler: find("sampler").value }
    : { codebook, network: builder.network };
  return { plan: `${what()}-plan`, ...body, ...own };
}

async function foresee(signal) {
  const { plan, ...body } = foreseen();
  return ask(plan, { body, signal });
}

const forecast = latest(foresee, {
  place: find("forecast"),
  show: (plan) => {
    if (privacy.classList.contains("unforeseen")) clear(find("stated-privacy")); // a refused release stays in sight
    showForecast(plan);
  },
  refuse: (sentence) => {
    privacy.classList.add("unforeseen"); // the forecast in sight is for other choices
    notice(find("unforeseen"));
    refuse(find("stated-privacy"), sentence, { rest: find("unforeseen") });
  },
});

/** Read the columns of the data from header or schema. */
async function readColumns({ focuses = false, book = null } = {}) {
  if (named) saveChoices();
  withdrawAll();
  clear(find("step-data"));
  const { signal } = (reading = new AbortController());
  try {
    const { dataset: _, ...body } = dataOf();
    const found = await ask("columns", { body, signal });
    const isSame = saved?.data === body.data && saved.table === body.table;
    named = body;
    const from = found.from === "header" ? "the file’s header" : "its schema";
    const notes = found.notes.map((note) => ` ${note}`).join("");
    find("columns-hint").textContent =
      `${counted(found.columns.length, "column")}, from ${from}; no record was read.${notes}`;
    const names = found.columns.map(({ name }) => name).filter(Boolean); // "" stands for nobody
    find("person").replaceChildren(new Option("nobody has several records", ""), ...names.map(choice));
    const isGone = person && !names.includes(person);
    find("person").value = isGone ? "" : person;
    find("person").closest("details").open ||= Boolean(person);
    const gone = `The column “${person}”, which told people apart, is not in this data. Choose another one.`;
    notice(find("data-refused"), isGone ? gone : "");
    builder.offer(found, isSame && !book ? saved : { book });
    await budget.name((isSame && saved.dataset) || found.dataset);
    changed();
    if (focuses) find("columns-title").focus();
  } catch (error) {
    if (!signal.aborted) refuse(find("step-data"), error.message, { focuses }); // else other data was chosen meanwhile
  }
}

/** Forget what was entered for other data, if any was chosen before. */
function forget() {
  const isFirst = !hadData;
  hadData = true;
  if (isFirst) return;
  person = "";
  named = null; // these were the other data's columns
  for (const form of [find("budget-form"), privacy]) form.reset();
  for (const id of ["cell", "delimiter", "encoding", "table"]) find(id).value = "";
  for (const id of ["sampler", "network"]) find(id).selectedIndex = 0;
  for (const name of ["what", "how"]) document.querySelector(`[name=${name}]`).checked = true;
  clear(find("main"));
}

/** Withdraw what is shown of the data: other data may be chosen. */
function withdrawAll() {
  reading.abort();
  named = null;
  account = undefined;
  budget.name("");
  find("result").hidden = true;
  changed();
}

function changed() {
  confirmation?.withdraw();
  keepSoon(saveChoices);
  for (const part of document.querySelectorAll("[data-what]"))
    part.hidden = !part.dataset.what.split(" ").includes(what());
  nameCounted(account);
  find("sampler-hint").textContent = find("sampler").selectedOptions[0].dataset.words;
  const isPure = account?.delta === "0";
  const isFinding = what() !== "row" && chosen("how") === "found" && !isPure;
  builder.isSingle = what() === "value";
  builder.isFinding = isFinding;
  if (builder.isSingle && isFinding) find("sampling").hidden = true; // open values have one sampler
  find("pure").hidden = !isPure;
  if (isPure) document.querySelector("[name=how]").checked = true;
  document.querySelector("[value=found]").disabled = isPure;
  for (const id of ["delta-field", "budget-delta-field"]) find(id).hidden = !isFinding;
  const isDescribed = isFinding ? builder.ticked.length : builder.found;
  find("step-columns").hidden = !named;
  privacy.hidden = !(named && isDescribed);
  const isOther = isOfOtherUnit(account);
  find("step-budget").hidden = privacy.hidden || !(account === null || isOther);
  find("review").hidden = !account || isOther;
  budget?.restate();
  if (!privacy.hidden && text("n")) forecast();
  else {
    forecast.stop();
    showForecast();
  }
}

function saveChoices() {
  if (!isReady) return;
  const choices = {
    data: fileName(),
    table: text("table"),
    delimiter: find("delimiter").value,
    encoding: text("encoding"),
    what: what() === "table" ? "" : what(),
    how: builder.isFinding ? "found" : "",
    sampler: what() === "value" ? text("sampler") : "",
    n: meant(text("n")),
    epsilon: text("epsilon"),
    delta: builder.isFinding ? text("delta") : "",
    person,
  };
  const isListed = fileName() && named && builder.ticked.length && !builder.isFinding;
  const written = {
    data: choices.data,
    table: dataOf().table,
    book: isListed ? builder.book() : null,
    missing: builder.missing,
    drafted: builder.drafted,
    ticked: builder.names,
    network: find("network").value,
    dataset: text("dataset"),
    stated: stated(),
  };
  // Until the columns are there, what was saved about this data still stands.
  if (named) saved = written;
  keep(choices, saved?.data === choices.data ? saved : written);
}

/** Return the statements about the release, such as its purpose. */
const stated = () =>
  Object.fromEntries([...document.querySelectorAll(".stated")].map(({ id }) => [id, text(id)]));

/** Return the choices as the server takes them. */
function order() {
  const { isFinding, names } = builder;
  const isValue = what() === "value";
  return {
    ...named,
    dataset: text("dataset"),
    what: what(),
    ...(isFinding ? { columns: names, delta: text("delta") } : { codebook: builder.described }),
    network: isValue ? "" : builder.network,
    sampler: isValue && !isFinding ? find("sampler").value : "",
    person: find("person").value,
    ...stated(),
    epsilon: text("epsilon"),
  };
}

/** Show why choices are refused: at the columns that all sentences name, else at a field or below. */
function refused(error) {
  if (!builder.refuse(error.message.split("\n")))
    refuse(find("main"), error.message, { rest: find("refused"), focuses: true });
}

/** Take a file that was dropped anywhere: a code book, or a file of the folder. */
function take(file) {
  if (!file || find("step-data").inert) return; // a release is running
  const isBook = /\.json$/i.test(file.name);
  if (isBook && named) {
    document.querySelector("[name=how]").checked = true; // it lists the values
    changed();
    builder.open(file);
  } else if (!choose(file.name)) {
    const missing = `${file.name} is not among the files above. Copy it into this folder and reload: the page reads nothing else.`;
    notice(find("data-refused"), isBook ? "Choose the data first, then drop its code book." : missing);
    find("data-refused").scrollIntoView({ block: "nearest" });
  }
}

addEventListener("beforeunload", saveChoices);
find("n").addEventListener("change", ({ target }) => (target.value = grouped(target.value)));
privacy.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!find("review").hidden) confirmation.review();
});
find("person").addEventListener("input", ({ target }) => (person = target.value));
for (const id of ["neighbours", "records-per-person"]) find(id).addEventListener("input", changed); // and the forecast
for (const id of ["step-columns", "step-privacy"])
  find(id).addEventListener("input", ({ target }) => {
    find("again").hidden = true; // it would not be another one of the same
    if (!target.closest("#columns")) changed();
  });
for (const id of ["files", "delimiter", "encoding"])
  find(id).addEventListener("change", () => {
    if (id === "files") forget();
    showSource();
    if (isNamed()) readColumns();
    else withdrawAll();
  });
find("sample").addEventListener("click", async () => {
  notice(find("data-refused"));
  try {
    const { data, codebook } = await ask("sample", { body: {} });
    await showFiles(data);
    forget();
    document.querySelector("[name=how]").checked = true; // its code book lists the values
    await readColumns({ book: codebook, focuses: true });
  } catch (error) {
    notice(find("data-refused"), error.message);
    showFiles().catch(() => {}); // it may have been written all the same
  }
});
onDrop(take);
for (const id of ["url", "password", "table"]) find(id).addEventListener("input", withdrawAll);
find("look").addEventListener("click", () => readColumns({ focuses: true }));
find("step-data").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("#url, #password, #table")) readColumns({ focuses: true });
});

copies();
try {
  await showFiles(start.data);
  isReady = true;
  if (isNamed()) await readColumns();
} catch (error) {
  refuse(find("step-data"), error.message);
}
