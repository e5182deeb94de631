// Budgets: what is left, what was charged and for what, and what each charge released.

import { ask, tellChange } from "./api.js";
import { make, tabulate } from "./drawing.js";
import { counted } from "./fields.js";
import { save } from "./saving.js";

const KNOWN = { replace: "public", "add-remove": "private" };

/** Return what is counted for a budget: people, where one record of each is. */
export const several = ({ unit, records_per_person: most }) =>
  unit === "person" && Number(most) === 1 ? "people" : "records";

/** Return every budget; `since` is when its running release began, if one is running. */
export async function accounts(signal) {
  const { running } = await ask("running", { signal }); // first: a release that has ended is in the ledger
  const { datasets } = await ask("ledger", { signal });
  return datasets.map((account) => ({ ...account, since: running[account.dataset] }));
}

/** Return when an entry of the ledger was charged, or undefined if the ledger cannot be read. */
export async function chargedAt(entry) {
  const found = await accounts().catch(() => []);
  return found.flatMap(({ entries }) => entries).find((one) => one.entry === entry)?.at;
}

/** Write a time of the ledger (UTC) to the minute. */
export const minute = (at) => at.slice(0, 16).replace("T", " ");

/** Return a name without its folders, which say nothing to a reader. */
export const short = (dataset) =>
  dataset.startsWith("/") ? dataset.slice(dataset.lastIndexOf("/") + 1) : dataset;

const MOST = 3;

/** Return what a charge released, or why it has released nothing. */
function outcome({ problem, is_recorded: isRecorded, is_restored: isRestored, at, values, columns, sampler }, since) {
  if (problem) return `marked: ${problem}`;
  const written = (value) =>
    typeof value === "object"
      ? Object.entries(value).map(([name, one]) => `${name} ${one}`).join(", ")
      : String(value);
  const more = values.length > MOST ? ["…"] : [];
  if (isRecorded && values.length) return [...values.slice(0, MOST).map(written), ...more].join("; ");
  if (isRecorded) return `a ${sampler === "table" ? "private table" : "code book"} of ${columns.join(", ")}`;
  if (isRestored) return "charged again after a restore";
  return since && at >= since.slice(0, at.length) ? "charged, still running" : "charged, never released";
}

/** Draw what was spent, charge by charge, and what is left; warn if the ledger was changed. */
function spending(parent, account) {
  const bar = make(parent, "div", {
    class: "meter history",
    role: "img",
    "aria-label": `${account.left} is left of ${account.budget}, after ${counted(account.entries.length, "charge")}.`,
  });
  for (const { charge, purpose } of account.entries) {
    const part = make(bar, "i", { title: `${charge} for ${purpose ?? "no stated purpose"}` });
    part.style.width = `${(100 * charge) / account.budget}%`;
  }
  const doubt = `The ledger was changed: ${account.problem} Charges may be missing. See dproo ledger verify.`;
  if (account.problem) make(parent, "p", { class: "warnings", role: "status" }, doubt);
}

/** Return what is left of the δ of a budget that has one. */
const deltaOf = ({ delta, delta_left: left }) => (delta === "0" ? "" : `, δ ${left} of ${delta}`);

/** Return what a charge costs: epsilon, and delta where there is one. */
const costOf = ({ charge, delta }) => (delta === "0" ? charge : `${charge} and δ ${delta}`);

/**
 * Show the releases that wait for a second person; `decided` is called after a decision, with a
 * sentence if it failed or its answer was lost.
 */
export function showRequests(place, requests, decided) {
  if (!requests.length) return;
  const section = make(place, "section", { class: "card", id: "requests" });
  make(section, "h2", {}, "Waiting for a second person");
  for (const one of requests) {
    const { number, dataset, by, columns, purpose, request } = one;
    const line = make(section, "div", { class: "row" });
    const what = `ε ${costOf(one)} of ${short(dataset)} for ${columns.join(", ")}, asked for by ${by}`;
    make(line, "p", {}, `${what}; purpose: ${purpose ?? "not stated"}.`);
    const all = make(line, "details", { "data-number": number });
    make(all, "summary", {}, "All its parameters");
    make(all, "p", { class: "hint" }, request);
    for (const [words, isApproved] of [["Approve", true], ["Deny", false]]) {
      const kind = { type: "button", class: isApproved ? "" : "quiet", "aria-label": `${words} request ${number}` };
      make(line, "button", kind, words).addEventListener("click", async () => {
        for (const button of line.querySelectorAll("button")) button.disabled = true;
        try {
          await ask("decide", { body: { number, is_approved: isApproved } });
          tellChange();
          decided();
        } catch (error) {
          decided(error.message);
        }
      });
    }
  }
}

/** Show one budget in one line: its name, what is left and what was spent; or a refusal instead. */
export function showInSight(place, account, refusal = "") {
  place.replaceChildren();
  place.hidden = !account && !refusal;
  if (refusal) make(place, "p", { class: "notice", role: "alert" }, refusal);
  if (!account) return;
  const line = make(place, "p");
  make(line, "b", {}, short(account.dataset));
  line.append(` ε ${account.left} left of ${account.budget}${deltaOf(account)}`);
  if (account.since) line.append("; a release is running, and what it brings will be in the ledger");
  spending(place, account);
}

/** Save the receipt of an entry as a file. */
export async function download(entry) {
  save(await ask(`ledger/${entry}`), `dproo-receipt-${entry}.json`);
}

/** Show one budget with its whole history. */
export function showAccount(place, account, refuse) {
  const section = make(place, "section", { class: "card account", "data-dataset": account.dataset });
  make(section, "h2", {}, short(account.dataset));
  if (short(account.dataset) !== account.dataset) make(section, "p", { class: "hint" }, account.dataset);
  const line = make(section, "p", { class: "left" });
  make(line, "strong", {}, `ε ${account.left} left`);
  const relation = `the number of ${several(account)} is ${KNOWN[account.neighbours]}`;
  line.append(` of ${account.budget}${deltaOf(account)}; ${relation}`);
  spending(section, account);
  if (!account.entries.length) return;
  showPurposes(section, account);
  const scroll = make(section, "div", {
    class: "scroll",
    role: "region",
    tabindex: 0,
    "aria-label": `Charges of ${short(account.dataset)}`,
  });
  const receiptOf = ({ entry, is_recorded: isRecorded }) => {
    if (!isRecorded) return "";
    const kind = { type: "button", class: "link", "aria-label": `Download the receipt of entry ${entry}` };
    const button = make(null, "button", kind, "download");
    button.addEventListener("click", () => download(entry).then(() => refuse({ message: "" }), refuse));
    return button;
  };
  tabulate(
    make(scroll, "table"),
    ["Entry", "When (UTC)", "ε", "Purpose", "Released", "Receipt"],
    account.entries.toReversed().map((one) => [
      one.entry,
      minute(one.at),
      costOf(one),
      one.purpose ?? "not stated",
      outcome(one, account.since),
      receiptOf(one),
    ]),
    { isNamed: true },
  );
}

/** Show how much of the budget went to each purpose, where there are several. */
function showPurposes(section, account) {
  const sums = new Map();
  for (const { charge, purpose } of account.entries) {
    const name = purpose ?? "no stated purpose";
    sums.set(name, (sums.get(name) ?? 0) + Number(charge));
  }
  if (sums.size < 2) return;
  const list = make(section, "dl", { class: "purposes" });
  for (const [name, sum] of [...sums].sort(([, one], [, other]) => other - one)) {
    make(list, "dt", {}, name);
    const bar = make(make(list, "dd"), "div", { class: "meter" });
    const part = make(bar, "i", { class: "spent" });
    part.style.width = `${(100 * sum) / account.budget}%`;
    make(list, "dd", { class: "number" }, `ε ${Number(sum.toFixed(9))}`);
  }
}
