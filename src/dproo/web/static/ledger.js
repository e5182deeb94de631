// Ledger: every budget, its history and its receipts; live, also across tabs.

import { accounts, showAccount, showRequests } from "./account.js";
import { AGAIN, ask, latest, onChange } from "./api.js";
import { find } from "./drawing.js";
import { notice } from "./refusing.js";

const SECOND = 1000;
const refuse = (error) => notice(find("refused"), error.message);
const HELD = 500;
let listed; // the requests in sight
let undecided = ""; // why a decision was refused; shown beside the current state of the request

const refresh = latest(
  async (signal) => ({ found: await accounts(signal), ...(await ask("requests", { signal })) }),
  {
    show: ({ found, requests }) => {
      const place = find("accounts");
      const focused = place.contains(document.activeElement) && document.activeElement.ariaLabel;
      notice(find("refused"), undecided);
      undecided = "";
      const opened = new Set([...place.querySelectorAll("details[open]")].map(({ dataset }) => dataset.number));
      place.replaceChildren();
      showRequests(place, requests, decided);
      for (const one of place.querySelectorAll("details")) one.open = opened.has(one.dataset.number);
      holdIfMoved(place, requests.map(({ number }) => number).join());
      for (const account of found) showAccount(place, account, refuse);
      if (focused) [...place.querySelectorAll("[aria-label]")].find((one) => one.ariaLabel === focused)?.focus();
      find("empty").hidden = found.length > 0;
      if (found.some(({ since }) => since)) awaitReleases();
    },
    refuse: (sentence) => {
      notice(find("refused"), sentence);
      refresh(AGAIN);
    },
  },
);

/** Refresh once no release is running any more. */
const awaitReleases = latest((signal) => ask("running", { signal }), {
  show: ({ running }) => (Object.keys(running).length ? awaitReleases() : refresh(0)),
  refuse: () => refresh(AGAIN),
  wait: SECOND,
});

/** Hold the buttons for a moment if requests have come or gone: one may be where another was pressed. */
function holdIfMoved(place, numbers) {
  const buttons = listed === undefined || listed === numbers ? [] : [...place.querySelectorAll("#requests button")];
  listed = numbers;
  for (const button of buttons) button.disabled = true;
  setTimeout(() => buttons.forEach((button) => (button.disabled = false)), HELD);
}

function decided(refusal = "") {
  undecided = refusal;
  refresh(0).then(() => find("main").focus()); // the pressed button is gone
}

onChange(() => refresh(0));
refresh(0);
