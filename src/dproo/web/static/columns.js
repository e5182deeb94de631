// One column of a code book: editors for its possible values, and how the server reads them.

import { choice, find, make, visible } from "./drawing.js";
import { integer, isSame } from "./exact.js";
import { meant } from "./fields.js";
import { notice } from "./refusing.js";
import { textOf } from "./saving.js";
import { isData } from "./source.js";

const BY_TYPE = { integer: "range", number: "bins", yearmonth: "months" };
const WAYS = find("ways").content;
/** Return whether a type lists all its values, so that nothing is left to enter. */
const isKnown = (type) => [...WAYS.querySelectorAll(".whole")].some((way) => way.value === type);
const ENDS = { min: "From", max: "To" };

const MANY = 50; // a menu of all columns at each of so many would have to be drawn at once

let made = 0;

/** Return the values of a pasted list: lines as they are, or between commas if there is only one. */
export function listed(text) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  if (lines.length !== 1) return lines;
  return lines[0].split(",").map((part) => part.trim()).filter(Boolean);
}

/** Return a list as it may be pasted, in one line where no value has a comma or a blank at its end. */
const joined = (values) => values.join(values.some((one) => /,|^\s|\s$/.test(one)) ? "\n" : ", ");

/** Return a number; other text is returned as it is, so that the server refuses it by name. */
const whole = (text) => (/^[+-]?\d+$/.test(meant(text)) ? integer(meant(text)) : text.trim());
const number = (text) => {
  const read = whole(text);
  return typeof read === "string" && Number.isFinite(Number(read)) ? Number(read) : read;
};
const isWhole = (value) => typeof value === "bigint" || Number.isInteger(value);

/** Make a field whose label is for screen readers only: the head of its column says the same. */
function field(parent, id, title, kind, { way, ...attributes } = {}) {
  const made = make(parent, "div", { class: "field", ...(way ? { "data-way": way } : {}) });
  make(made, "label", { class: "unseen", for: id }, title);
  return make(made, kind, { id, autocomplete: "off", ...attributes });
}

/** A column that a person may tick and describe; it reports every change to its builder. */
export class Column {
  constructor(parent, { name, type, values = [] }, builder) {
    const id = `column-${made++}`;
    Object.assign(this, { id, name, type, builder, start: values, field: null, parents: "", controls: {} });
    this.root = make(parent, "fieldset", { class: "column", "data-column": name });
    make(this.root, "legend", { class: "unseen" }, `Column ${name}`);
    const head = make(this.root, "div", { class: "column-head" });
    const label = make(head, "label", { class: "tick" });
    this.tick = make(label, "input", { type: "checkbox", autocomplete: "off" });
    make(label, "b", {}, visible(name));
    this.preview = make(head, "span", { class: "hint preview", id: `${id}-preview`, role: "status" });
    this.root.addEventListener("input", () => this.show());
  }

  /** Make the editors, when the column is ticked for the first time: a table may have hundreds. */
  make() {
    this.body = make(this.root, "div", { class: "column-body" });
    this.way = field(this.body, `${this.id}-way`, `Possible values of ${this.name} are`, "select");
    this.way.append(WAYS.cloneNode(true));
    const usual = isKnown(this.type) ? this.type : (BY_TYPE[this.type] ?? "list");
    this.way.value = this.start.length ? "list" : usual;
    this.makeEditors(make(this.body, "div", { class: "editors" }));
    this.parent = field(this.body, `${this.id}-parent`, "Depends on", "select");
    this.parent.parentElement.hidden = true;
    this.parent.addEventListener("input", ({ target }) => (this.parents = target.value));
    for (const event of ["pointerdown", "focus"]) this.parent.addEventListener(event, () => this.isShort && this.fill());
    if (this.start.length) this.edit({ type: this.type === "integer" ? "integer" : "string", categories: this.start });
  }

  makeEditors(row) {
    const editor = (way, key, title, kind, attributes = {}) => {
      const usual = { spellcheck: "false", "aria-describedby": this.preview.id, placeholder: title };
      const id = `${this.id}-${way}-${key}`;
      this.controls[`${way}-${key}`] = field(row, id, title, kind, { way, ...usual, ...attributes });
    };
    editor("list", "values", "One a line, or separated by commas", "textarea", { rows: 1 });
    const picker = make(row, "label", { class: "link", "data-way": "list" });
    const file = make(picker, "input", { type: "file", class: "unseen", accept: ".txt,.csv,text/*" });
    picker.append("from a file");
    file.addEventListener("change", async (event) => {
      event.stopPropagation();
      if (!file.files[0]) return;
      const isStill = this.builder.untouched();
      const [chosen] = file.files;
      const refuse = (why) => notice(find("book-refused"), `${chosen.name} is ${why}.`);
      file.value = "";
      if (isData(chosen)) return refuse("data: a list that is copied from data is a leak");
      const values = await textOf(chosen).catch(() => null);
      if (!isStill()) return; // what was entered meanwhile stands
      if (values === null) return refuse("not a text file in UTF-8");
      this.controls["list-values"].value = values;
      this.show();
    });
    for (const key of Object.keys(ENDS)) {
      editor("range", key, ENDS[key], "input", { inputmode: "numeric" });
      editor("months", key, ENDS[key], "input", { placeholder: `${ENDS[key]} 2024-01` });
    }
    editor("bins", "edges", "Edges, separated by commas", "input", { placeholder: "Edges, such as 0, 18, 65, 120" });
  }

  get isTicked() {
    return this.tick.checked;
  }

  set isTicked(isTicked) {
    this.tick.checked = isTicked;
    this.show({ isQuiet: true });
  }

  /** Show the editors of the chosen way, and report the change. */
  show({ isQuiet = false } = {}) {
    const isEdited = this.isTicked && !this.root.closest(".finding");
    if (isEdited && !this.body) this.make();
    if (this.body) {
      this.body.hidden = !isEdited;
      for (const field of this.body.querySelectorAll("[data-way]"))
        field.hidden = field.dataset.way !== this.way.value;
    }
    if (!this.isTicked) this.showPreview();
    if (!isQuiet) this.builder.edited(this);
  }

  /** Offer the other columns as parents, where these are declared. */
  offer(names, isDeclared) {
    this.parent.parentElement.hidden = !isDeclared;
    if (!isDeclared) return;
    this.others = names.filter((name) => name !== this.name);
    this.fill(names.length > MANY && this.parent !== document.activeElement);
  }

  /** Fill the menu of parents; a `short` one has only the chosen one until somebody opens it. */
  fill(isShort = false) {
    this.isShort = isShort;
    const held = this.parents;
    const offered = isShort ? this.others.filter((name) => name === held) : this.others;
    const made = [new Option("nothing", ""), ...offered.map(choice)];
    if (held.includes("\n")) made.push(new Option(held.split("\n").map(visible).join(", "), held));
    this.parent.replaceChildren(...made);
    this.parent.value = held;
    if (this.parent.selectedIndex < 0) this.parent.value = "";
  }

  /** Return the field of the code book, with its parents if they are declared. */
  describe(isDeclared) {
    const hasParents = isDeclared && this.parent.value;
    const parents = hasParents ? { parents: this.parent.value.split("\n") } : {};
    return { name: this.name, ...this.values(), ...parents };
  }

  /** Return the type and the possible values, as a field of a code book states them. */
  values() {
    const text = (key) => this.controls[key].value.trim();
    const way = this.way.value;
    const ends = (read) => ({ minimum: read(text(`${way}-min`)), maximum: read(text(`${way}-max`)) });
    if (way === "range") return { type: "integer", constraints: ends(whole) };
    if (way === "months") return { type: "yearmonth", constraints: ends(String) };
    if (isKnown(way)) return { type: way };
    if (way === "given") return { ...this.field, parents: undefined };
    if (way === "bins") {
      const bins = text("bins-edges").split(/[,;\s]+/).filter(Boolean).map(number);
      const isInteger = bins.every(isWhole) && this.type !== "number";
      return { type: isInteger ? "integer" : "number", bins };
    }
    const categories = listed(this.controls["list-values"].value);
    if (this.type !== "integer") return { type: "string", categories };
    return { type: "integer", categories: categories.map(whole) };
  }

  /** Take over a field of a code book. */
  take(field) {
    this.type = field.type ?? this.type;
    this.parents = [field.parents ?? []].flat().join("\n");
    this.isTicked = true;
    this.edit(field);
  }

  /** Put a field into the editors if they describe the very same, else leave it as it is. */
  edit(field) {
    const { name: _, parents: __, ...given } = field;
    const { type, categories, bins, constraints } = given;
    const { minimum: min = "", maximum: max = "" } = constraints ?? {};
    this.field = field;
    this.way.lastElementChild.hidden = false;
    const fill = (way, texts = {}) => {
      this.way.value = way;
      for (const [key, text] of Object.entries(texts)) this.controls[`${way}-${key}`].value = text;
    };
    if (Array.isArray(categories)) fill("list", { values: joined(categories) });
    else if (Array.isArray(bins)) fill("bins", { edges: bins.join(", ") });
    else if (["integer", "yearmonth"].includes(type)) fill(BY_TYPE[type], { min, max });
    else if (isKnown(type)) fill(type);
    if (!isSame(this.values(), given)) this.way.value = "given";
  }

  /** Show how many values the server has read, or what is wrong, in the same line. */
  showPreview({ k, values, rest, error } = {}) {
    const isEmpty = !Object.values(this.controls).some(
      (control) => !control.closest("[hidden]") && control.value.trim(),
    );
    const wrong = error && !isEmpty ? error : "";
    const found = k ? `k = ${k.toLocaleString("en")} possible values: ${values}; ${rest}` : "";
    this.preview.textContent = wrong || found;
    this.preview.classList.toggle("wrong", Boolean(wrong));
    for (const control of Object.values(this.controls)) control.ariaInvalid = wrong ? "true" : null;
  }

  /** Show a refusal at a visible field that holds text; return whether there is one. */
  refuse(error) {
    const field = Object.values(this.controls).find((one) => one.checkVisibility() && one.value.trim());
    if (field) this.showPreview({ error });
    field?.focus();
    return Boolean(field);
  }
}
