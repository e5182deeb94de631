// The entrance: a token from the address is exchanged for a key, and the key is kept in this tab.

import { find, keep } from "./key.js";

const door = document.getElementById("door");
const token = location.hash.slice(1);
history.replaceState(null, "", "/");

if (token) {
  door.elements.token.value = token;
  door.submit();
} else {
  if (door.dataset.key) keep(door.dataset.key);
  await find();
  location.replace("/release");
}
