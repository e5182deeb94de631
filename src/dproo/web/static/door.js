// The entrance: a token from the address is exchanged for a key, and the key is kept in this tab.

import { find, keep } from "./key.js";

const door = document.getElementById("door");

/** Send the token of a link, also of one that is pasted while this tab waits for a key. */
function enter() {
  const token = location.hash.slice(1);
  history.replaceState(null, "", "/");
  door.elements.token.value = token;
  if (token) door.submit();
  return Boolean(token);
}

addEventListener("hashchange", enter);
if ("key" in door.dataset && !enter()) {
  if (door.dataset.key) keep(door.dataset.key);
  await find();
  location.replace("/release");
}
