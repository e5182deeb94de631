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
  find("histograms").replaceChildren();
  for (const [name, cells] of Object.entries(receipt.counts)) showCounts(name, cells);
}

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
    const between = `${shown(Math.round(low))} to ${shown(Math.round(high))}`;
    bar.title = between;
    make(number, "span", { class: "unseen" }, `, ${between}`);
  }
}

const refused = (error) =>
  refuse(find("more-rows"), error.message, { rest: find("rows-refused"), focuses: true });

find("more-rows").addEventListener("submit", async (event) => {
  event.preventDefault();
  clear(find("more-rows"));
  notice(find("rows-refused"));
  try {
    const { text } = await ask(`ledger/${entry}/rows`, { query: { rows: meant(find("rows").value) } });
    saveText(text, "table.csv", "text/csv");
  } catch (error) {
    refused(error);
  }
});
find("model").addEventListener("click", async () => {
  try {
    const { text } = await ask(`ledger/${entry}/model`);
    saveText(text, "model.json", "application/json");
  } catch (error) {
    refused(error);
  }
});
