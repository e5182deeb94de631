// Ledger: every budget, its history and its receipts; live, also across tabs.

import { accounts, showAccount, showRequests } from "./account.js";
import { ask, latest, onChange } from "./api.js";
import { find } from "./drawing.js";
import { notice } from "./refusing.js";

const refuse = (error) => notice(find("refused"), error.message);

const look = latest(
  async (signal) => ({ found: await accounts(signal), ...(await ask("requests", { signal })) }),
  {
    show: ({ found, requests }) => {
      const place = find("accounts");
      notice(find("refused"));
      place.replaceChildren();
      showRequests(place, requests, { decided: () => look(0), refuse });
      for (const account of found) showAccount(place, account, refuse);
      find("empty").hidden = found.length > 0;
    },
    refuse: (sentence) => notice(find("refused"), sentence),
  },
);

onChange(() => look(0));
look(0);
