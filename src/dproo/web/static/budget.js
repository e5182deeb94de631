// The budget of the chosen data: in sight where there is one, declared deliberately where not.

import { accounts, several, showInSight } from "./account.js";
import { AGAIN, ask, latest, onChange, tellChange } from "./api.js";
import { find, text } from "./drawing.js";
import { meant } from "./fields.js";
import { clear, notice, refuse } from "./refusing.js";
import { dataOf, unit } from "./source.js";

const SECOND = 1000;
const OTHER_UNIT = {
  record:
    "The budget of this data is for releases that protect records. Releases that protect people need" +
    " a budget of their own: give it another name below, or the name under which it was declared.",
  person:
    "This budget is for releases that protect people: choose the column that tells people apart, or" +
    " write the name of another budget below.",
};

/** Return whether a budget is for releases that protect somebody else, and show what to do then. */
export function isOfOtherUnit(account) {
  const isOther = Boolean(account) && account.unit !== unit();
  notice(find("other-unit"), isOther ? OTHER_UNIT[account.unit] : "");
  return isOther;
}

/** Return for whom a budget is, or would be as entered, and for how many records of each. */
export function basisOf(account) {
  const stated = { neighbours: find("neighbours").value, records_per_person: meant(text("records-per-person")) };
  const { neighbours, records_per_person: most } = account?.unit === unit() ? account : stated;
  return { neighbours, records_per_person: String(most), unit: unit() };
}

/** Say at the fields whether their numbers are of people or of records. */
export function nameCounted(account) {
  const counted = several(basisOf(account));
  find("n").labels[0].textContent = counted === "people" ? "People, about" : "Records, about";
  find("neighbours").labels[0].textContent = `The number of ${counted} is`;
}

/**
 * Keep the budget of the data in sight; `changed` is called with it whenever it may differ, with
 * null if there is none, and with undefined if the ledger cannot be read.
 */
export function budgetOf({ changed, declared }) {
  const form = find("budget-form");
  let nonce = null; // of the budget that the sentence states
  let stated = "";
  let stating; // resolves when the sentence is shown
  let isOpen = false;
  let isTaken = false; // the name, by a budget for releases that protect somebody else
  let timer; // while a release runs in another tab, or has run since before a reload

  const account = latest(accounts, {
    show: (all) => {
      const found = all.find(({ dataset }) => dataset === text("dataset")) ?? null;
      showInSight(find("in-sight"), found);
      isTaken = found !== null;
      changed(found);
      if (found?.since) timer = setTimeout(awaitRelease, SECOND);
    },
    refuse: (sentence) => {
      showInSight(find("in-sight"), undefined, sentence);
      changed();
      timer = setTimeout(refresh, AGAIN); // also if the server answers, but could not read the ledger
    },
  });

  function refresh() {
    clearTimeout(timer);
    return isOpen ? account(0) : account.stop();
  }

  /** Refresh the budget once the running release has ended. */
  async function awaitRelease() {
    const { running } = await ask("running").catch(() => ({ running: {} }));
    if (running[text("dataset")]) timer = setTimeout(awaitRelease, SECOND);
    else refresh();
  }

  const written = () => ({
    ...dataOf(),
    budget: text("budget"),
    delta: find("budget-delta-field").hidden ? "" : text("budget-delta"),
    neighbours: find("neighbours").value,
    records_per_person: meant(find("records-per-person").value),
    unit: unit(),
  });

  const refused = (sentence, focuses) => refuse(form, sentence, { focuses });

  const state = latest((signal) => ask("budget", { body: written(), signal }), {
    show: (shown) => {
      clear(form);
      nonce = shown.nonce;
      find("budget-summary").textContent = shown.summary;
      find("declare").disabled = false;
    },
    refuse: (sentence) => {
      refused(sentence);
      refresh(); // somebody else may have declared it
    },
  });

  /** State the entered budget in a sentence; only a stated budget can be declared. */
  function restate() {
    const isAsked = !find("step-budget").hidden && !isTaken && text("budget");
    const now = isAsked ? JSON.stringify(written()) : "";
    if (now === stated) return;
    stated = now;
    nonce = null;
    find("declare").disabled = true;
    find("budget-summary").textContent = "";
    if (now) stating = state();
    else state.stop();
  }

  form.addEventListener("input", restate);
  form.addEventListener("keydown", async (event) => {
    if (event.key !== "Enter" || !event.target.matches("input")) return;
    event.preventDefault();
    await stating;
    if (document.activeElement === event.target) find("declare").focus(); // Enter alone declares nothing
  });
  find("declare").addEventListener("click", async () => {
    const body = { nonce };
    const isStated = () => nonce === body.nonce;
    find("declare").disabled = true;
    try {
      await ask("declare", { body });
      tellChange();
      const wasStated = isStated();
      await refresh();
      if (wasStated) declared();
    } catch (error) {
      refresh(); // it may have been declared all the same, or by somebody else
      if (isStated()) refused(error.message, true);
    }
  });
  find("dataset").addEventListener("change", refresh);
  onChange(refresh);
  return {
    refresh,
    restate,
    /** Show the budget of this name, or none for "". */
    name(dataset) {
      isOpen = Boolean(dataset);
      find("dataset").value = dataset;
      if (!isOpen) showInSight(find("in-sight"));
      return refresh();
    },
  };
}
