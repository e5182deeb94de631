// Release: choose, see what it costs, confirm, receive. The data is opened after the confirmation.

import { ask, notice } from "./api.js";
import { find, make } from "./drawing.js";

const DUCKDB = /\.(duckdb|ddb)$/i;
const SAVED_BY = 60_000;
let nonce = null;

const source = () => document.querySelector("[name=source]:checked").value;

function showSource() {
  for (const field of document.querySelectorAll("[data-for]"))
    field.hidden = field.dataset.for !== source();
  find("table-field").hidden = source() === "file" && !DUCKDB.test(find("file").value);
}

function showSampler() {
  find("sampler-hint").textContent = find("sampler").selectedOptions[0].dataset.words;
  for (const field of document.querySelectorAll("[data-sampler]"))
    field.hidden = field.dataset.sampler !== find("sampler").value;
}

async function showFiles() {
  const files = await ask("files");
  find("file-hint").textContent = `In ${files.folder}`;
  for (const name of files.data) make(find("file"), "option", {}, name);
  for (const name of files.alphabets) make(find("alphabets"), "option", { value: name });
  if (!files.data.length)
    notice(
      find("refused"),
      `There is no data file in ${files.folder}. Start dproo serve with --folder.`,
    );
  showSource();
}

async function showLedger() {
  const place = find("ledger");
  try {
    const { datasets } = await ask("ledger");
    notice(find("ledger-refused"));
    place.replaceChildren();
    if (!datasets.length)
      make(
        place,
        "p",
        { class: "hint" },
        "No budget was declared yet: dproo ledger init DATA --budget EPSILON.",
      );
    for (const account of datasets) showAccount(place, account);
  } catch (error) {
    notice(find("ledger-refused"), error.message);
  }
}

function showAccount(place, account) {
  const section = make(place, "section", { class: "account" });
  make(section, "h3", {}, account.dataset);
  make(
    section,
    "p",
    { class: "hint" },
    `${account.left} left of ${account.budget} (${account.neighbours})`,
  );
  if (!account.entries.length) return;
  const scroll = make(section, "div", {
    class: "scroll",
    role: "region",
    tabindex: 0,
    "aria-label": `Charges of ${account.dataset}`,
  });
  const table = make(scroll, "table");
  const head = make(make(table, "thead"), "tr");
  for (const title of ["Entry", "When (UTC)", "Charge", "Sampler", "Receipt"]) {
    make(head, "th", { scope: "col", class: title === "Sampler" ? "spare" : "" }, title);
  }
  const body = make(table, "tbody");
  for (const entry of account.entries.toReversed()) {
    const line = make(body, "tr");
    make(line, "td", {}, entry.entry);
    make(line, "td", {}, entry.at.slice(0, 19).replace("T", " "));
    make(line, "td", {}, entry.charge);
    make(line, "td", { class: "spare" }, entry.request.sampler ?? "");
    const cell = make(line, "td", {}, entry.is_recorded ? undefined : "charged, never released");
    if (entry.is_recorded)
      make(
        cell,
        "button",
        {
          type: "button",
          class: "link",
          "data-entry": entry.entry,
          "aria-label": `Download the receipt of entry ${entry.entry}`,
        },
        "download",
      );
  }
}

/** Save the receipt of an entry as a file: the key goes into a header, so no link can fetch it. */
async function download(entry) {
  try {
    const receipt = JSON.stringify(await ask(`ledger/${entry}`), null, 2);
    const address = URL.createObjectURL(new Blob([receipt, "\n"], { type: "application/json" }));
    const link = Object.assign(document.createElement("a"), {
      href: address,
      download: `dproo-receipt-${entry}.json`,
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), SAVED_BY);
  } catch (error) {
    refuse(error);
  }
}

function order() {
  const isFile = source() === "file";
  return {
    source: source(),
    data: isFile ? find("file").value : find("url").value.trim(),
    dataset: isFile ? "" : find("dataset").value.trim(),
    table: find("table-field").hidden ? "" : find("table").value.trim(),
    column: find("column").value.trim(),
    alphabet: find("alphabet").value.trim(),
    sampler: find("sampler").value,
    guess: find("guess").closest("[hidden]") ? "" : find("guess").value,
    epsilon: find("epsilon").value.trim(),
  };
}

function stage(name, isActive) {
  find(name).classList.toggle("active", isActive);
  find(`${name}-body`).hidden = !isActive;
  find(`${name}-empty`).hidden = isActive;
  if (isActive) find(`${name}-title`).focus();
}

function withdraw() {
  nonce = null;
  stage("confirm", false);
}

async function review(event) {
  event.preventDefault();
  withdraw();
  stage("result", false);
  notice(find("refused"));
  try {
    const shown = await ask("order", { body: order() });
    nonce = shown.nonce;
    for (const [id, name] of [
      ["summary", "summary"],
      ["left", "left"],
      ["cost", "cost"],
      ["left-after", "left_after"],
      ["command", "command"],
    ]) {
      find(id).textContent = shown[name];
    }
    const share = (amount) => `${(100 * amount) / shown.budget}%`;
    find("meter-spent").style.width = share(shown.budget - shown.left);
    find("meter-cost").style.width = share(shown.cost);
    find("meter").setAttribute(
      "aria-label",
      `Of a budget of ${shown.budget}, ${shown.left} is left; this release costs ${shown.cost}.`,
    );
    stage("confirm", true);
  } catch (error) {
    refuse(error);
  }
}

function refuse(error) {
  notice(find("refused"), error.message);
  find("refused").scrollIntoView({ block: "nearest" });
}

async function release() {
  const body = { nonce };
  nonce = null;
  find("go").disabled = true;
  try {
    showReceipt(await ask("release", { body }));
  } catch (error) {
    refuse(error);
  } finally {
    find("go").disabled = false;
    stage("confirm", false);
    if (!find("result-body").hidden) find("result-title").focus();
    showLedger();
  }
}

function showReceipt(receipt) {
  const [value] = receipt.values;
  find("value").textContent = typeof value === "object" ? JSON.stringify(value) : String(value);
  const facts = {
    Sampler: receipt.sampler,
    Accuracy: receipt.accuracy,
    "ε charged": receipt.epsilon_decimal,
    "Worst loss, certified": receipt.certificate.epsilon.toPrecision(6),
    Protects: `${receipt.protects}, ${receipt.neighbours}`,
    "Records n": receipt.n?.toLocaleString("en") ?? "private",
    "Letters k": receipt.k.toLocaleString("en"),
    Ledger: `entry ${receipt.ledger.entry} of ${receipt.ledger.dataset}`,
    "Head of the chain": receipt.ledger.head,
  };
  find("facts").replaceChildren();
  for (const [name, text] of Object.entries(facts)) {
    make(find("facts"), "dt", {}, name);
    make(find("facts"), "dd", {}, text);
  }
  find("download").dataset.entry = receipt.ledger.entry;
  stage("result", true);
}

find("order").addEventListener("submit", review);
find("order").addEventListener("input", () => {
  if (nonce) withdraw();
});
for (const radio of document.querySelectorAll("[name=source]"))
  radio.addEventListener("change", showSource);
find("file").addEventListener("change", showSource);
find("sampler").addEventListener("change", showSampler);
find("go").addEventListener("click", release);
document.addEventListener("click", ({ target }) => {
  if (target.dataset.entry) download(target.dataset.entry);
});
find("back").addEventListener("click", () => {
  withdraw();
  find("column").focus();
});
showSampler();
showFiles().catch((error) => notice(find("refused"), error.message));
showLedger();
