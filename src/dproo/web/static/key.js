// The key of this tab. It stays in the tab (a reload keeps it, closing forgets it), goes to our
// own server only, and to other tabs of this page, which ask for it when they have none.

const NAME = "dproo-key";
const QUESTION = "has anybody a key?";
const PATIENCE = 300;
const tabs = new BroadcastChannel(NAME);

const held = () => sessionStorage.getItem(NAME);

/** Keep a key for this tab. */
export const keep = (key) => sessionStorage.setItem(NAME, key);

/** Forget the key: the server does not know it. */
export const forget = () => sessionStorage.removeItem(NAME);

/** Return the key of this tab, or wait for another tab's and meanwhile show how to get one. */
export async function find() {
  if (!held()) {
    const closed = document.getElementById("closed");
    const late = setTimeout(() => (closed.hidden = false), PATIENCE);
    keep(await fromAnotherTab());
    clearTimeout(late);
    closed.hidden = true;
  }
  return held();
}

function fromAnotherTab() {
  return new Promise((resolve) => {
    tabs.addEventListener("message", ({ data }) => data.key && resolve(data.key));
    tabs.postMessage(QUESTION);
  });
}

tabs.addEventListener("message", ({ data }) => {
  if (data === QUESTION && held()) tabs.postMessage({ key: held() });
});
