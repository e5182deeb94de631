// The key of this tab. It stays in the tab (a reload keeps it, closing forgets it), goes to our
// own server only, and to other tabs of this page, which ask for it when they have none.

const NAME = "dproo-key";
const PATIENCE = 1000;
const QUESTION = "has anybody a key?";
const tabs = new BroadcastChannel(NAME);

/** Keep a key for this tab. */
export const keep = (key) => sessionStorage.setItem(NAME, key);

/** Forget the key: the server does not know it. */
export const forget = () => sessionStorage.removeItem(NAME);

function fromAnotherTab() {
  return new Promise((resolve) => {
    tabs.addEventListener("message", ({ data }) => data.key && resolve(data.key));
    tabs.postMessage(QUESTION);
    setTimeout(resolve, PATIENCE, null);
  });
}

/** Return the key of this tab or of another one, or null. */
export async function find() {
  const found = sessionStorage.getItem(NAME) ?? (await fromAnotherTab());
  if (found) keep(found);
  return found;
}

/** The key; without one a room does not begin, and the entrance says what to do. */
export const key = location.pathname === "/" ? null : await find();
if (!key && location.pathname !== "/") {
  location.replace("/");
  await new Promise(() => {});
}

tabs.addEventListener("message", ({ data }) => {
  const held = sessionStorage.getItem(NAME);
  if (data === QUESTION && held) tabs.postMessage({ key: held });
});
