// The review of a release, its confirmation, and its result.

import { chargedAt, download } from "./account.js";
import { Lost, ask, tellChange } from "./api.js";
import { find } from "./drawing.js";
import { showReceipt, warn } from "./receipt.js";
import { clear, notice } from "./refusing.js";
import { extent } from "./source.js";

const SECOND = 1000;
const UNKNOWN =
  "The answer was lost, so this page does not know whether the release was charged. Look at the Ledger" +
  " before you try again: what was charged stays charged, and what was released can be downloaded there.";

/**
 * Connect review and confirmation; `refused` is called with what is wrong in the order, and `shows`
 * with the order that is shown.
 */
export function reviewOf({ order, refused, foresee, enough, shows, done }) {
  let nonce = null;
  let reviews = 0; // an answer to an earlier one is not shown
  let pending = null; // the options of a review that was asked for and is not answered yet

  function wait(options) {
    pending = options;
    find("review").ariaBusy = options ? "true" : null;
  }

  function withdraw() {
    if (!find("working").hidden) return false; // a running release stays in sight
    nonce = null;
    reviews += 1;
    wait(null);
    find("confirm").hidden = true;
    return true;
  }

  /** Apply a change of the budget: a pending review is asked for again, a visible one is withdrawn. */
  function outdate(change, reason) {
    const asked = pending;
    const isOld = !find("confirm").hidden && find("working").hidden;
    change();
    if (asked) review(asked);
    else if (isOld) notice(find("refused"), `${reason} Review the release again.`);
  }

  function show(shown) {
    nonce = shown.nonce;
    shows(shown);
    for (const id of ["summary", "left", "cost", "left_after", "command"]) find(id).textContent = shown[id];
    const { budget, left, cost } = shown;
    find("meter-spent").style.width = `${(100 * (budget - left)) / budget}%`;
    find("meter-cost").style.width = `${(100 * cost) / budget}%`;
    find("meter").ariaLabel = `Of a budget of ${budget}, ${left} is left; this release costs ${cost}.`;
    warn(find("confirm-warnings"), shown.warnings);
    const isHopeless = shown.plan?.level === "hopeless";
    find("doubt").hidden = !isHopeless;
    find("doubt-words").textContent = isHopeless ? `This looks hopeless. ${shown.plan.sentence}${shown.enough}` : "";
    find("doubted").checked = false;
    find("go").disabled = isHopeless;
    find("confirm").hidden = false;
    find("confirm-title").focus();
    find("confirm").scrollIntoView({ block: "nearest" });
  }

  function work(isWorking) {
    find("working").hidden = !isWorking;
    const others = ".step:not(#confirm), #doubt, #result"; // while it works, it can only be stopped
    for (const part of document.querySelectorAll(others)) part.inert = isWorking;
    find("go").disabled = find("back").disabled = isWorking;
    if (isWorking) find("working").focus(); // the pressed button cannot keep the focus
  }

  async function review({ again = false } = {}) {
    if (!withdraw()) return;
    const mine = reviews;
    find("result").hidden = !again;
    clear(find("main"));
    wait({ again });
    try {
      const [shown, plan] = [await ask("order", { body: order() }), await foresee()];
      const isHopeless = plan?.level === "hopeless";
      const remedy = isHopeless ? await enough().catch(() => null) : null; // it may take too long
      if (mine === reviews) show({ ...shown, plan, enough: remedy ? ` ${remedy.sentence}` : "" });
    } catch (error) {
      if (mine === reviews) refused(error);
    }
    if (mine === reviews) wait(null);
  }

  async function release() {
    const body = { nonce };
    const since = Date.now();
    const bar = find("working").querySelector("progress");
    let doing = `Charging the budget, then reading the records${extent()}`;
    nonce = null;
    work(true);
    bar.removeAttribute("value");
    const showProgress = async () => {
      const seconds = Math.round((Date.now() - since) / SECOND);
      const read = bar.hasAttribute("value") ? `, ${Math.round(100 * bar.value)}\u00a0%` : "";
      find("progress").textContent = `${doing}… ${seconds ? `${seconds} s` : ""}${read}`;
      const { share } = await ask("progress", { body }).catch(() => ({}));
      if (share) bar.value = share;
    };
    find("stop").onclick = () => {
      const before = doing;
      doing = "Stopping";
      showProgress();
      ask("stop", { body }).catch((error) => {
        doing = before;
        refused(error);
      });
    };
    showProgress();
    const clock = setInterval(showProgress, SECOND);
    let end; // called once nothing is inert: only then can a field take the focus
    try {
      const receipt = await ask("release", { body });
      showReceipt(receipt, await chargedAt(receipt.ledger.entry));
      end = () => {
        find("result").hidden = false;
        find("result-title").focus();
        find("result").scrollIntoView({ block: "nearest" });
      };
    } catch (error) {
      end = () => refused(error instanceof Lost ? new Error(UNKNOWN) : error);
    }
    clearInterval(clock);
    tellChange();
    await done(); // else it would withdraw the next review
    work(false);
    find("confirm").hidden = true;
    end();
  }

  find("doubted").addEventListener("change", ({ target }) => (find("go").disabled = !target.checked));
  find("go").addEventListener("click", release);
  find("back").addEventListener("click", () => {
    withdraw();
    find("epsilon").focus();
  });
  find("again").addEventListener("click", () => review({ again: true }));
  addEventListener("beforeunload", (event) => find("working").hidden || event.preventDefault());
  find("print").addEventListener("click", () => print());
  find("download").addEventListener("click", ({ target }) =>
    download(target.dataset.entry).catch(refused),
  );
  return { review, withdraw, outdate };
}
