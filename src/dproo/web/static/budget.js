// The budget of the chosen data: in sight where there is one, declared deliberately where not.

import { accounts, showInSight } from "./account.js";
import { AGAIN, ask, latest, onChange, tellChange } from "./api.js";
import { find, text } from "./drawing.js";
import { meant } from "./fields.js";
import { clear, refuse } from "./refusing.js";
import { dataOf } from "./source.js";

const SECOND = 1000;

/**
 * Keep the budget of the data in sight; `changed` is called with it whenever it may differ, with
 * null if there is none, and with nothing if the ledger cannot be read.
 */
export function budgetOf({ changed, declared }) {
  const form = find("budget-form");
  let nonce = null; // of the budget that the sentence states
  let stated = "";
  let isOpen = false;
  let waiting; // for a release that runs in another tab, or since before a reload

  const account = latest(accounts, {
    show: (all) => {
      const found = all.find(({ dataset }) => dataset === text("dataset")) ?? null;
      showInSight(find("in-sight"), found);
      changed(found);
      if (found?.since) waiting = setTimeout(lookAfter, SECOND);
    },
    refuse: (sentence) => {
      showInSight(find("in-sight"), undefined, sentence);
      changed();
      waiting = setTimeout(look, AGAIN); // also where it answers, but could not be read
    },
  });

  function look() {
    clearTimeout(waiting);
    return isOpen ? account(0) : account.stop();
  }

  /** Look again as soon as nothing is released from the data any more. */
  async function lookAfter() {
    const { running } = await ask("running").catch(() => ({ running: {} }));
    if (running[text("dataset")]) waiting = setTimeout(lookAfter, SECOND);
    else look();
  }

  const written = () => ({
    ...dataOf(),
    budget: text("budget"),
    delta: find("budget-delta-field").hidden ? "" : text("budget-delta"),
    neighbours: find("neighbours").value,
    records_per_person: meant(find("records-per-person").value),
    unit: find("person").value ? "person" : "record",
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
      look(); // somebody else may have declared it
    },
  });

  /** State the budget that is written, in a sentence; only what is stated can be declared. */
  function restate() {
    const now = find("step-budget").hidden || !text("budget") ? "" : JSON.stringify(written());
    if (now === stated) return;
    stated = now;
    nonce = null;
    find("declare").disabled = true;
    find("budget-summary").textContent = "";
    if (now) state();
    else state.stop();
  }

  form.addEventListener("input", restate);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    find("declare").focus(); // Enter alone declares nothing
  });
  find("declare").addEventListener("click", async () => {
    const body = { nonce };
    const isStated = () => nonce === body.nonce;
    find("declare").disabled = true;
    try {
      await ask("declare", { body });
      tellChange();
      const wasStated = isStated();
      await look();
      if (wasStated) declared();
    } catch (error) {
      look(); // it may have been declared all the same, or by somebody else
      if (isStated()) refused(error.message, true);
    }
  });
  find("dataset").addEventListener("change", look);
  onChange(look);
  return {
    look,
    restate,
    /** Begin with the name that the data has by default, or end. */
    name(dataset) {
      isOpen = Boolean(dataset);
      find("dataset").value = dataset;
      if (!isOpen) showInSight(find("in-sight"));
      return look();
    },
  };
}
