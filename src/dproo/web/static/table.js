// A released private table: some of its rows, the counts of its columns, and files of both.

import { ask } from "./api.js";
import { find, make } from "./drawing.js";
import { meant, shown } from "./fields.js";
import { clear, notice, refuse } from "./refusing.js";
import { saveText } from "./saving.js";

let entry;

/** Show the table of a receipt; without one, hide what was shown. */
export function showTable(receipt) {
  find("released-table").hidden = !receipt.preview;
  if (!receipt.preview) return;
  entry = receipt.ledger.entry;
  notice(find("rows-refused"));
  const table = find("preview");
  table.replaceChildren();
  make(table, "caption", { class: "unseen" }, "Some rows of the private table");
  const head = make(make(table, "thead"), "tr");
  for (const name of receipt.column_names) make(head, "th", { scope: "col" }, name);
  const body = make(table, "tbody");
  for (const row of receipt.preview) {
    const line = make(body, "tr");
    for (const cell of row) make(line, "td", {}, cell);
  }
  for (const id of ["first", "second"])
    find(id).replaceChildren(...Object.keys(receipt.counts).map((name) => new Option(name)));
  find("second").selectedIndex = 1;
  find("pairs").hidden = find("second").selectedIndex < 1;
  find("pairs").open = false;
  find("histograms").replaceChildren();
  for (const [name, cells] of Object.entries(receipt.counts)) showCounts(name, cells);
}

const between = (low, high) => `${shown(Math.round(low))} to ${shown(Math.round(high))}`;

/** Show the counts of a column as bars, each with the interval that holds it 95 times in 100. */
function showCounts(name, cells) {
  const figure = make(find("histograms"), "figure");
  make(figure, "figcaption", {}, name);
  const most = Math.max(...cells.map(({ count, high }) => high ?? count), 1);
  const list = make(figure, "dl", { class: "counts" });
  for (const { value, count, low, high } of cells) {
    make(list, "dt", {}, value);
    const bar = make(make(list, "dd"), "div", { class: "count" });
    make(bar, "i").style.width = `${(100 * count) / most}%`;
    if (low !== null) {
      const whisker = make(bar, "b");
      whisker.style.left = `${(100 * low) / most}%`;
      whisker.style.width = `${(100 * (high - low)) / most}%`;
    }
    const number = make(list, "dd", { class: "number" }, shown(Math.round(count)));
    if (low === null) continue;
    bar.title = between(low, high);
    make(number, "span", { class: "unseen" }, `, ${bar.title}`);
  }
}

const refused = (error) =>
  refuse(find("more-rows"), error.message, { rest: find("rows-refused"), focuses: true });

/** Show the counts of two columns together, each with its interval where it was measured. */
async function showPair() {
  const query = { first: find("first").value, second: find("second").value };
  if (!find("pairs").open || query.first === query.second) return;
  const { values, cells } = await ask(`ledger/${entry}/pair`, { query });
  const [rows, columns] = values;
  const table = find("together");
  table.replaceChildren();
  const head = make(make(table, "thead"), "tr");
  for (const name of [query.first, ...columns]) make(head, "th", { scope: "col" }, name);
  const body = make(table, "tbody");
  rows.forEach((row, i) => {
    const line = make(body, "tr");
    make(line, "th", { scope: "row" }, row);
    for (const [count, low, high] of cells.slice(i * columns.length, (i + 1) * columns.length)) {
      const cell = make(line, "td", { class: "number" }, shown(Math.round(count)));
      if (low !== null) make(cell, "span", { class: "hint" }, ` ${between(low, high)}`);
    }
  });
}

/** Ask for a file of the table and save it. */
async function download(path, name, type, query) {
  clear(find("more-rows"));
  notice(find("rows-refused"));
  try {
    const { text, base64 } = await ask(`ledger/${entry}/${path}`, { query });
    saveText(text ?? Uint8Array.from(atob(base64), (one) => one.charCodeAt(0)), name, type);
  } catch (error) {
    refused(error);
  }
}

find("more-rows").addEventListener("submit", (event) => {
  event.preventDefault();
  const format = event.submitter?.value ?? "csv";
  const type = format === "csv" ? "text/csv" : "application/vnd.apache.parquet";
  download("rows", `table.${format}`, type, { rows: meant(find("rows").value), format });
});
find("model").addEventListener("click", () => download("model", "model.json", "application/json"));
for (const [id, event] of [["pairs", "toggle"], ["pair", "change"]])
  find(id).addEventListener(event, () => showPair().catch(refused));
