// A released private table: some of its rows, the counts of its columns, and files of both.

import { ask, latest } from "./api.js";
import { choice, find, make, tabulate } from "./drawing.js";
import { meant, shown } from "./fields.js";
import { clear, refuse } from "./refusing.js";
import { saveText } from "./saving.js";

let entry;

/** Show the table of a receipt; without one, hide what was shown. */
export function showTable(receipt) {
  find("released-table").hidden = !receipt.preview;
  if (!receipt.preview) return;
  entry = receipt.ledger.entry;
  clear(find("more-rows"));
  tabulate(find("preview"), receipt.preview.columns, receipt.preview.rows);
  for (const id of ["first", "second"])
    find(id).replaceChildren(...Object.keys(receipt.counts).map(choice));
  find("second").selectedIndex = 1;
  find("pairs").hidden = find("second").selectedIndex < 1;
  find("pairs").open = false;
  askPair();
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

const refused = (sentence) => refuse(find("more-rows"), sentence, { focuses: true });

const pair = () => ({ first: find("first").value, second: find("second").value });
const together = latest(
  async (signal) => {
    const query = pair();
    return { ...query, ...(await ask(`ledger/${entry}/pair`, { query, signal })) };
  },
  { show: showPair, refuse: refused },
);

/** Ask for the counts of the two chosen columns, and hide the last ones. */
function askPair() {
  const { first, second } = pair();
  find("together").replaceChildren();
  if (find("pairs").open && first !== second) together(0);
  else together.stop();
}

/** Show the counts of two columns together, each with its interval where it was measured. */
function showPair({ first, second, values: [rows, columns], cells }) {
  const written = ([count, low, high]) => {
    const cell = make(null, "span", {}, shown(Math.round(count)));
    if (low !== null) make(cell, "span", { class: "hint" }, ` ${between(low, high)}`);
    return cell;
  };
  const lines = rows.map((row, i) => [row, ...cells.slice(i * columns.length, (i + 1) * columns.length).map(written)]);
  tabulate(find("together"), [first, ...columns], lines, { isNamed: true });
  find("together").createCaption().textContent = `${first} with ${second}`;
}

/** Ask for a file of the table and save it. */
async function download(path, name, type, query) {
  clear(find("more-rows"));
  const asked = entry;
  try {
    const { text, base64 } = await ask(`ledger/${entry}/${path}`, { query });
    saveText(text ?? Uint8Array.from(atob(base64), (one) => one.charCodeAt(0)), name, type);
  } catch (error) {
    if (asked === entry) refused(error.message);
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
  find(id).addEventListener(event, askPair);
