// Files that a person saves: made in the tab, since the key goes into a header and no link has it.

const SAVED_BY = 60_000;

/** Save an object as a JSON file. */
export function save(object, name) {
  const text = JSON.stringify(object, null, 2);
  const address = URL.createObjectURL(new Blob([text, "\n"], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), SAVED_BY);
}
