// The choices of a room in its address, so that reloading, going back and a bookmark keep them.

/** Return the choices in the address. */
export const read = () => Object.fromEntries(new URLSearchParams(location.search));

/** Put choices into the address; `state` is what is too long for it, and stays in the tab. */
export function keep(choices, state = null) {
  const given = Object.entries(choices).filter(([, value]) => value);
  const query = new URLSearchParams(given).toString();
  history.replaceState(state, "", query ? `?${query}` : location.pathname);
}
