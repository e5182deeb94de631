// The choices of a room in its address, so that reloading, going back and a bookmark keep them.

const SPAN = 10_000;
const AT_ONCE = 50; // in a span; a browser lets an address change so often only
const SOON = 200;
let keptAt = [];
let keeping;

/** Return the choices in the address. */
export const read = () => Object.fromEntries(new URLSearchParams(location.search));

/** Put choices into the address; `state` is what is too long for it, and stays in the tab. */
export function keep(choices, state = null) {
  const given = Object.entries(choices).filter(([, value]) => value);
  const query = new URLSearchParams(given).toString();
  history.replaceState(state, "", query ? `?${query}` : location.pathname);
  keptAt.push(Date.now());
}

/** Do at once what puts choices into the address; a little later where it has changed often. */
export function keepSoon(action) {
  clearTimeout(keeping);
  keptAt = keptAt.filter((moment) => moment > Date.now() - SPAN);
  keeping = setTimeout(action, keptAt.length < AT_ONCE ? 0 : SOON);
}
