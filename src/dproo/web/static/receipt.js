// What was released: the row as a card, what it means and what not, and its receipt.

import { short } from "./account.js";
import { find, make } from "./drawing.js";
import { certified } from "./fields.js";

const MEANS = {
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

/** Show a receipt. */
export function showReceipt(receipt) {
  const [value] = receipt.values;
  const isRow = value !== null && typeof value === "object";
  const place = find("value");
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
  find("means").textContent = MEANS[isRow ? "row" : "value"];
  warn(find("result-warnings"), receipt.warnings);
  const facts = {
    Accuracy: receipt.accuracy,
    "ε charged": receipt.epsilon_decimal,
    "ε certified": `at most ${certified(receipt.certificate.epsilon)}`,
    Protects: `${receipt.protects}: ${PROTECTS[receipt.neighbours]}`,
    Records: receipt.n?.toLocaleString("en") ?? "private",
    "Possible values": receipt.k?.toLocaleString("en"),
    Sampler: receipt.sampler,
    Dependencies: receipt.network,
    Purpose: receipt.purpose,
    Ledger: `entry ${receipt.ledger.entry} of ${short(receipt.ledger.dataset)}`,
    "Ledger fingerprint": receipt.ledger.head,
  };
  find("facts").replaceChildren();
  for (const [name, text] of Object.entries(facts)) {
    if (text === undefined || text === null) continue;
    make(find("facts"), "dt", {}, name);
    make(find("facts"), "dd", {}, text);
  }
  find("download").dataset.entry = receipt.ledger.entry;
}
