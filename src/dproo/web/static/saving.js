// Files to save, made in the tab because no link carries the key; files to read; texts to copy.

import { stringify } from "./exact.js";

const SAVED_BY = 60_000;

/** Save an object as a JSON file. */
export const save = (object, name) =>
  saveText(`${stringify(object, 2)}\n`, name, "application/json");

/** Save a text, or bytes, as a file. */
export function saveText(text, name, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), SAVED_BY);
}

/** Return the text of a file that a person has chosen; raise if it is not UTF-8. */
export const textOf = async (file) =>
  new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());

/** Connect every button that names what it copies. */
export function copies() {
  for (const button of document.querySelectorAll("[data-copies]")) {
    const title = button.textContent;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copies);
      try {
        await navigator.clipboard.writeText(source.innerText || source.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(source);
        button.textContent = "Selected: copy it by keyboard";
      }
      setTimeout(() => (button.textContent = title), 1600);
    });
  }
}
