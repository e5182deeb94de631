// What was released: the row as a card, what it means and what not, and its receipt.

import { find, make } from "./drawing.js";
import { short } from "./account.js";

const MEANS = {
  row:
    "The row is like a record of the data: columns that depend on each other fit together as they" +
    " do there. It is nobody’s record, and one row is not a statistic.",
  value:
    "The value is drawn like that of a random record. It tells nothing certain about anybody, and" +
    " one value is not a statistic.",
};
const PROTECTS = { replace: "one record is replaced", "add-remove": "one record is added or removed" };

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
    "Worst loss, certified": receipt.certificate.epsilon.toPrecision(6),
    Protects: `${receipt.protects}, where ${PROTECTS[receipt.neighbours]}`,
    Records: receipt.n?.toLocaleString("en") ?? "private",
    "Possible values": receipt.k?.toLocaleString("en"),
    Sampler: receipt.sampler,
    Dependencies: receipt.network,
    Purpose: receipt.purpose,
    Ledger: `entry ${receipt.ledger.entry} of ${short(receipt.ledger.dataset)}`,
    "Head of the chain": receipt.ledger.head,
  };
  find("facts").replaceChildren();
  for (const [name, text] of Object.entries(facts)) {
    if (text === undefined || text === null) continue;
    make(find("facts"), "dt", {}, name);
    make(find("facts"), "dd", {}, text);
  }
  find("download").dataset.entry = receipt.ledger.entry;
}
