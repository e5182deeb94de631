// The data of a release: a file of the allowed folder, or a table of a database.

import { ask } from "./api.js";
import { find, make } from "./drawing.js";

const WITH_TABLES = /\.(duckdb|ddb|sqlite|sqlite3|db)$/i;

/** Return "file" or "database". */
export const source = () => document.querySelector("[name=source]:checked").value;

/** Return the fields that name the data, as the server takes them. */
export function dataOf() {
  const isFile = source() === "file";
  const text = (id) => find(id).value.trim();
  return {
    source: source(),
    data: isFile ? find("file").value : text("url"),
    password: isFile ? "" : find("password").value,
    table: find("table-field").hidden ? "" : text("table"),
    dataset: text("dataset"),
    delimiter: isFile ? find("delimiter").value : "",
    encoding: isFile ? text("encoding") : "",
  };
}

/** Tell whether enough is given to look for the columns without being told to. */
export const isNamed = () => source() === "file" && find("file").value && find("table-field").hidden;

/** Show the fields of the chosen kind of data. */
export function showSource() {
  for (const field of document.querySelectorAll("[data-for]"))
    field.hidden = field.dataset.for !== source();
  const hasTables = source() === "database" || WITH_TABLES.test(find("file").value);
  find("table-field").hidden = !hasTables;
  find("look").hidden = !hasTables;
  find("look").textContent =
    source() === "database" ? "Connect and see the columns" : "See the columns";
}

/** Offer the files of the folder; `chosen` is chosen if it is there. */
export async function showFiles(chosen) {
  const files = await ask("files");
  find("file-hint").textContent = files.data.length
    ? `In ${files.folder}`
    : `There is no data file in ${files.folder}. Put one there and reload, or start dproo serve with --folder.`;
  for (const name of files.data) make(find("file"), "option", { value: name }, name);
  for (const name of files.alphabets) make(find("alphabets"), "option", { value: name });
  if (files.data.includes(chosen)) find("file").value = chosen;
  showSource();
}
