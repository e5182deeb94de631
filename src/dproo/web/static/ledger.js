// Ledger: every budget, its history and its receipts; live, also across tabs.

import { accounts, showAccount, showRequests } from "./account.js";
import { onChange } from "./api.js";
import { find } from "./drawing.js";
import { notice } from "./refusing.js";

const refuse = (error) => notice(find("refused"), error.message);

async function show() {
  try {
    const found = await accounts();
    const place = find("accounts");
    notice(find("refused"));
    place.replaceChildren();
    await showRequests(place, { decided: show, refuse });
    for (const account of found) showAccount(place, account, refuse);
    find("empty").hidden = found.length > 0;
  } catch (error) {
    refuse(error);
  }
}

onChange(show);
show();
