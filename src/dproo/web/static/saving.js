// Files that a person saves: made in the tab, since the key goes into a header and no link has it.

const SAVED_BY = 60_000;

/** Save an object as a JSON file. */
export const save = (object, name) =>
  saveText(`${JSON.stringify(object, null, 2)}\n`, name, "application/json");

/** Save a text as a file. */
export function saveText(text, name, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), SAVED_BY);
}
