// The budget of the chosen data: in sight where there is one, declared deliberately where not.

import { accounts, showInSight } from "./account.js";
import { ask, onChange, tellChange } from "./api.js";
import { find } from "./drawing.js";
import { meant } from "./fields.js";
import { clear, notice, refuse } from "./refusing.js";
import { dataOf } from "./source.js";

/** Keep the budget of the data in sight; `changed` is called with it whenever it may differ. */
export function budgetOf(changed) {
  const form = find("budget-form");
  let nonce = null;
  let isOpen = false;

  async function look() {
    if (!isOpen) return;
    try {
      const found = (await accounts()).find(({ dataset }) => dataset === find("dataset").value.trim());
      showInSight(find("in-sight"), found);
      changed(found);
    } catch (error) {
      notice(find("budget-refused"), error.message);
      changed();
    }
  }

  function withdraw() {
    nonce = null;
    find("budget-confirm").hidden = true;
    find("budget-review").hidden = false;
  }

  const refused = (error) =>
    refuse(form, error.message, { rest: find("budget-refused"), focuses: true });

  form.addEventListener("input", withdraw);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clear(form);
    notice(find("budget-refused"));
    const body = {
      ...dataOf(),
      budget: meant(find("budget").value),
      delta: find("budget-delta-field").hidden ? "" : find("budget-delta").value.trim(),
      neighbours: find("neighbours").value,
      records_per_person: meant(find("records-per-person").value),
      unit: find("person").value ? "person" : "record",
    };
    try {
      const shown = await ask("budget", { body });
      nonce = shown.nonce;
      find("budget-summary").textContent = shown.summary;
      find("budget-confirm").hidden = false;
      find("budget-review").hidden = true;
      find("budget-summary").focus();
    } catch (error) {
      refused(error);
    }
  });
  find("budget-back").addEventListener("click", () => {
    withdraw();
    find("budget").focus();
  });
  find("declare").addEventListener("click", async () => {
    const body = { nonce };
    withdraw();
    try {
      await ask("declare", { body });
      tellChange();
      await look();
      find("review").focus();
    } catch (error) {
      refused(error);
    }
  });
  find("dataset").addEventListener("change", look);
  onChange(look);
  return {
    look,
    /** Begin with the name that the data has by default, or end. */
    name(dataset) {
      isOpen = Boolean(dataset);
      if (dataset) find("dataset").value = dataset;
      if (!isOpen) showInSight(find("in-sight"));
      withdraw();
      return look();
    },
  };
}
