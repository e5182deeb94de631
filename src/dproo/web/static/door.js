// The entrance: a token from the address is exchanged for a key, and the key is kept in this tab.

import { find, keep } from "./key.js";

const door = document.getElementById("door");
const token = location.hash.slice(1);
history.replaceState(null, "", "/");

if (door.dataset.key) {
  keep(door.dataset.key);
  location.replace("/plan");
} else if (token) {
  door.elements.token.value = token;
  door.submit();
} else if (await find()) {
  location.replace("/plan");
} else {
  document.getElementById("closed").hidden = false;
}
