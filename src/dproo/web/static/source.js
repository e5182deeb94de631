// The data of a release: a file of the allowed folder as a card, or a table of a database.

import { ask } from "./api.js";
import { find, make, text } from "./drawing.js";
import { bytes } from "./fields.js";

const WITH_TABLES = /\.(duckdb|ddb|sqlite|sqlite3|db)$/i;
const MANY = 12;
let listed = [];

const card = () => document.querySelector("[name=data]:checked");

/** Return "file" or "database"; before anything is chosen, "file". */
export const source = () => card()?.dataset.source ?? "file";

/** Return the name of the chosen file, or "". */
export const fileName = () => (source() === "file" ? (card()?.value ?? "") : "");

/** Return whether a file has the name of one in the folder: of a chosen file, nothing else is known. */
export const isData = ({ name }) => listed.some((one) => one.name.split("/").pop() === name);

/** Return the size of the chosen file as the end of a sentence, or "". */
export function extent() {
  const found = listed.find(({ name }) => name === fileName());
  return found ? `, ${bytes(found.bytes)}` : "";
}

/** Return the fields that name the data, as the server takes them. */
export function dataOf() {
  const isFile = source() === "file";
  return {
    source: source(),
    data: isFile ? fileName() : text("url"),
    password: isFile ? "" : find("password").value,
    table: find("table-field").hidden ? "" : text("table"),
    dataset: text("dataset"),
    delimiter: isFile ? find("delimiter").value : "",
    encoding: isFile ? text("encoding") : "",
  };
}

/** Return whom a release protects: people, if a column tells them apart. */
export const unit = () => (find("person").value ? "person" : "record");

/** Return whether the columns can be read at once: a file without tables is chosen. */
export const isNamed = () => Boolean(fileName()) && find("table-field").hidden;

/** Show the fields of the chosen kind of data. */
export function showSource() {
  const isDatabase = source() === "database";
  for (const field of document.querySelectorAll("[data-for]"))
    field.hidden = (field.dataset.for === "database") !== isDatabase;
  find("table-field").hidden = find("look").hidden = !isDatabase && !WITH_TABLES.test(fileName());
  find("layout").hidden = !fileName();
  find("look").textContent = isDatabase ? "Connect and see the columns" : "See the columns";
}

/** Choose the file of this name, as a click on its card does; return whether there is one. */
export function choose(name) {
  const found = [...document.getElementsByName("data")].find(({ value }) => value === name);
  if (name) found?.click();
  return Boolean(name && found);
}

const leftOf = (left) => (left ? `ε ${left} left` : "no budget yet");

/** Show on the chosen card what is left of its budget, if the ledger could be read. */
export function showLeft(account) {
  if (fileName() && account !== undefined) card().parentElement.lastChild.textContent = leftOf(account?.left);
}

/** Show the files of the folder as cards; the chosen one stays chosen, unless a name is given. */
export async function showFiles(name) {
  const { folder, data, sample } = await ask("files");
  const chosen = name || fileName(); // another one may have been chosen meanwhile
  listed = data;
  find("file-hint").textContent = data.length
    ? `In ${folder}`
    : `There is no data file in ${folder}. Put one there and reload, or start dproo serve with --folder.`;
  const others = find("files").querySelectorAll("[data-source=database], #sample");
  find("files").replaceChildren();
  for (const { name, bytes: size, left } of data) {
    const label = make(find("files"), "label", { class: "file" });
    const radio = { type: "radio", name: "data", value: name, "data-source": "file", autocomplete: "off" };
    make(label, "input", radio).checked = name === chosen;
    make(label, "b", {}, name);
    const kind = name.slice(name.lastIndexOf("/") + 1).split(".").slice(1).join(".").toUpperCase();
    make(label, "span", { class: "hint" }, `${kind}, ${bytes(size)}`);
    make(label, "span", { class: "hint" }, leftOf(left));
  }
  for (const other of others) find("files").append(other.closest("label") ?? other);
  find("sample").hidden = data.some(({ name }) => name === sample);
  find("find-file").hidden = data.length <= MANY;
  showSource();
}

/** Call `take` with a file that is dropped anywhere on the page. */
export function onDrop(take) {
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  for (const name of ["dragleave", "drop"])
    addEventListener(name, (event) => {
      event.preventDefault();
      document.body.classList.remove("dropping");
      if (name === "drop") take(event.dataTransfer.files[0]);
    });
}

find("find-file").addEventListener("input", () => {
  const part = text("find-file").toLowerCase();
  for (const radio of document.querySelectorAll("[name=data][data-source=file]"))
    radio.closest("label").hidden = !radio.checked && !radio.value.toLowerCase().includes(part);
});
