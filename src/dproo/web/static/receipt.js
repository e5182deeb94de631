// The result: what was released, what it means and what it does not, and its receipt.

import { minute } from "./account.js";
import { find, make } from "./drawing.js";
import { atMost, certified, shown, value } from "./fields.js";
import { notice } from "./refusing.js";
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
  person:
    "The value is drawn about as often as a random one of the counted records has it. It may or may" +
    " not be somebody’s, and one value is not a statistic.",
};

/** Show a list of warnings, or hide it if there are none. */
export function warn(place, warnings = []) {
  place.replaceChildren();
  for (const warning of warnings) make(place, "li", {}, warning.replace("see dproo plan", "see Plan"));
  place.hidden = !warnings.length;
}

const WHY =
  "This is the worst case, computed from the exact integers that were drawn from. They are rounded so" +
  " that it never exceeds what was charged.";

const MOST = 20;

/** Return the first items of a list, and how many more there are. */
const first = (list) =>
  list.length > MOST ? [...list.slice(0, MOST), `and ${shown(list.length - MOST)} more`] : list;

/** Return where the dependencies come from, their share of epsilon, and what they are. */
function dependencies({ network, families = [], columns = [], ...receipt }) {
  const paid = receipt.epsilon_network ? value(receipt.epsilon_network) / value(receipt.epsilon) : 0;
  const share = receipt.network_share ?? paid;
  const given = columns.filter(({ parents }) => parents?.length);
  const edges = [
    ...families.filter((one) => one.columns.length > 1).map((one) => one.columns.join(" with ")),
    ...given.map(({ column, parents }) => `${column} given ${parents.join(" and ")}`),
  ];
  const from = share ? `${network}, for ${atMost(share)} of ε` : network;
  return edges.length ? `${from}: ${first(edges).join(", ")}` : from;
}

/** Show the columns of a row in the order of drawing, with the cost and the parents of each. */
export function showNetwork(place, plan) {
  place.replaceChildren();
  if (!plan) return;
  const list = make(place, "ul", { class: "network", "aria-label": "The columns of the row" });
  for (const { column, k, epsilon, parents } of plan.columns.slice(0, MOST)) {
    const item = make(list, "li", { class: "node" });
    make(item, "b", {}, column);
    const given = plan.network !== "learned" && parents.length ? `, given ${parents.join(" and ")}` : "";
    item.append(` k ${shown(k)} · ε ${shown(epsilon)}${given}`);
  }
  const more = plan.columns.length - MOST;
  if (more > 0) make(list, "li", {}, `and ${shown(more)} more`);
}

/** Show how far a release may be from the data, or nothing without a forecast. */
export function showForecast(plan = null) {
  find("step-privacy").classList.remove("unforeseen");
  notice(find("unforeseen"));
  find("scale").hidden = !plan;
  for (const part of find("scale").children)
    part.ariaCurrent = part.dataset.level === plan?.level ? "true" : null;
  find("forecast").textContent = plan?.sentence ?? "";
  find("forecast").dataset.level = plan?.level ?? "";
  find("forecast-limits").textContent = plan?.limits ?? "";
  warn(find("warnings"), plan?.warnings);
  showNetwork(find("network-steps"), plan?.columns && plan);
}

/** Show a receipt; `at` is the time of its charge. */
export function showReceipt(receipt, at) {
  const isTable = Boolean(receipt.preview);
  const [one] = receipt.values ?? [null];
  const isRow = one !== null && typeof one === "object";
  const place = find("value");
  showTable(receipt);
  place.hidden = find("released-one").hidden = isTable;
  find("again").textContent = `Another one, for ε ${receipt.epsilon_decimal} more`;
  find("again").hidden = false;
  place.replaceChildren();
  place.classList.toggle("row-card", isRow);
  if (isRow) {
    const list = make(place, "dl");
    for (const name of receipt.column_names.filter((name) => name in one)) {
      const part = make(list, "div");
      make(part, "dt", {}, name);
      make(part, "dd", {}, String(one[name]));
    }
  } else place.textContent = String(one);
  const isOfPeople = receipt.unit === "person";
  const several = isOfPeople ? "People" : "Records";
  const protects = {
    replace: `every value in it (the number of ${several.toLowerCase()} is public)`,
    "add-remove": "every value in it, and whether it is there at all",
  };
  find("means").textContent = MEANS[isTable ? "table" : isRow ? "row" : isOfPeople ? "person" : "value"];
  warn(find("result-warnings"), receipt.warnings);
  const facts = {
    Date: at && `${minute(at)} UTC`,
    Dataset: receipt.ledger.dataset,
    Columns: receipt.column_names.join(", "),
    ...Object.fromEntries(
      [...document.querySelectorAll(".stated")].map(({ id, labels: [label] }) => [label.textContent, receipt[id]]),
    ),
    Accuracy: receipt.accuracy?.replaceAll(" %", "\u00a0%"),
    "ε charged": receipt.epsilon_decimal,
    "δ charged": receipt.delta_decimal === "0" ? "" : receipt.delta_decimal?.toLowerCase(),
    "ε certified": `at most ${certified(receipt.certificate.epsilon)}. ${WHY}`,
    Protects: `${receipt.protects}: ${protects[receipt.neighbours]}`,
    [several]: receipt.n?.toLocaleString("en") ?? "private",
    "Possible values": receipt.k?.toLocaleString("en"),
    Sampler: isTable ? "" : receipt.sampler,
    Dependencies: dependencies(receipt),
    "Left out": Object.entries(receipt.discovery?.left_out ?? {})
      .map(([name, why]) => `${name} (${why})`)
      .join("; "),
    "Made by": receipt.software,
    "Ledger entry": receipt.ledger.entry,
    "Ledger fingerprint": receipt.ledger.head,
  };
  find("facts").replaceChildren();
  for (const [name, text] of Object.entries(facts).filter(([, given]) => given)) {
    make(find("facts"), "dt", {}, name);
    make(find("facts"), "dd", {}, text);
  }
  find("download").dataset.entry = receipt.ledger.entry;
}
