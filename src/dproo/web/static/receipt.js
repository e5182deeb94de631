// What was released: the row as a card, what it means and what not, and its receipt.

import { find, make } from "./drawing.js";
import { atMost, certified } from "./fields.js";
import { showTable } from "./table.js";

const MEANS = {
  table:
    "The rows of this table are drawn from noisy counts, not copied: each is made to be like a" +
    " record. Any number of rows, and all counts, cost nothing more.",
  row:
    "The row is made to be like a record: columns that depend on each other, as was declared or" +
    " learned, fit together about as they do in the data. It is drawn, not copied: it may or may" +
    " not equal somebody’s record, and one row is not a statistic.",
  value:
    "The value is drawn about as often as a random record has it. It may or may not be" +
    " somebody’s, and one value is not a statistic.",
};
const PROTECTS = {
  replace: "what it says (the number of records is public)",
  "add-remove": "what it says, and whether it is there at all",
};

/** Show a list of warnings, or hide it if there are none. */
export function warn(place, warnings = []) {
  place.replaceChildren();
  for (const warning of warnings) make(place, "li", {}, warning.replace("see dproo plan", "see Plan"));
  place.hidden = !warnings.length;
}

const WHY =
  "Certified is the worst case, computed from the integers that it was drawn by; they are rounded so" +
  " that it never exceeds what was charged.";

/** Return where the dependencies come from, and what they cost. */
function dependencies({ network, network_share: share }) {
  return share ? `${network}, for ${atMost(share)} of ε` : network;
}

/** Show a receipt; `at` is the moment of its charge. */
export function showReceipt(receipt, at) {
  const isTable = Boolean(receipt.preview);
  const [value] = receipt.values ?? [null];
  const isRow = value !== null && typeof value === "object";
  const place = find("value");
  showTable(receipt);
  place.hidden = isTable;
  place.replaceChildren();
  place.classList.toggle("row-card", isRow);
  if (isRow) {
    const list = make(place, "dl");
    for (const name of receipt.column_names.filter((one) => one in value)) {
      const part = make(list, "div");
      make(part, "dt", {}, name);
      make(part, "dd", {}, String(value[name]));
    }
  } else place.textContent = String(value);
  find("means").textContent = MEANS[isTable ? "table" : isRow ? "row" : "value"];
  warn(find("result-warnings"), receipt.warnings);
  const facts = {
    Date: at && `${at.slice(0, 16).replace("T", " ")} UTC`,
    Dataset: receipt.ledger.dataset,
    Columns: receipt.column_names.join(", "),
    ...Object.fromEntries(
      [...document.querySelectorAll(".stated")].map(({ id, labels: [label] }) => [label.textContent, receipt[id]]),
    ),
    Accuracy: receipt.accuracy,
    "ε charged": receipt.epsilon_decimal,
    "δ charged": receipt.delta_decimal === "0" ? "" : receipt.delta_decimal,
    "ε certified": `at most ${certified(receipt.certificate.epsilon)}. ${WHY}`,
    Protects: `${receipt.protects}: ${PROTECTS[receipt.neighbours]}`,
    Records: receipt.n?.toLocaleString("en") ?? "private",
    "Possible values": receipt.k?.toLocaleString("en"),
    Sampler: receipt.sampler,
    Dependencies: dependencies(receipt),
    "Left out": Object.entries(receipt.discovery?.left_out ?? {})
      .map(([name, why]) => `${name} (${why})`)
      .join("; "),
    "Made by": receipt.software,
    "Ledger entry": receipt.ledger.entry,
    "Ledger fingerprint": receipt.ledger.head,
  };
  find("facts").replaceChildren();
  for (const [name, text] of Object.entries(facts)) {
    if (!text) continue;
    make(find("facts"), "dt", {}, name);
    make(find("facts"), "dd", {}, text);
  }
  find("download").dataset.entry = receipt.ledger.entry;
}
