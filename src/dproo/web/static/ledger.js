// Ledger: every budget, its history and its receipts; live, also across tabs.

import { accounts, showAccount, showRequests } from "./account.js";
import { onChange } from "./api.js";
import { find, make } from "./drawing.js";
import { notice } from "./refusing.js";

const refuse = (error) => notice(find("refused"), error.message);

async function show() {
  try {
    const found = await accounts();
    const place = find("accounts");
    notice(find("refused"));
    place.replaceChildren();
    await showRequests(place, refuse);
    for (const account of found) showAccount(place, account, refuse);
    if (found.length) return;
    const empty = make(place, "section", { class: "card" });
    make(empty, "p", {}, "No budget has been declared yet.");
    make(empty, "a", { class: "button", href: "/release" }, "Choose data and declare one");
  } catch (error) {
    refuse(error);
  }
}

onChange(show);
show();
