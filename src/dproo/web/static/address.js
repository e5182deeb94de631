// The choices of a room in its address, so that reloading, going back and a bookmark keep them.

const SPAN = 10_000;
const AT_ONCE = 50; // changes in a span: browsers limit how often an address may change
const SOON = 200;
let keptAt = [];
let keeping;

/** Return the choices in the address. */
export const read = () => Object.fromEntries(new URLSearchParams(location.search));

/** Put choices into the address; `state`, which is too long for it, stays in the tab. */
export function keep(choices, state = null) {
  const given = Object.entries(choices).filter(([, value]) => value);
  const query = new URLSearchParams(given).toString();
  history.replaceState(state, "", query ? `?${query}` : location.pathname);
  keptAt.push(Date.now());
}

/** Run what puts choices into the address; a little later if the address has changed often. */
export function keepSoon(action) {
  clearTimeout(keeping);
  keptAt = keptAt.filter((moment) => moment > Date.now() - SPAN);
  keeping = setTimeout(action, keptAt.length < AT_ONCE ? 0 : SOON);
}
