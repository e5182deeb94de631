// One column of a code book: editors for its possible values, and how the server reads them.

import { choice, find, make, visible } from "./drawing.js";
import { meant } from "./fields.js";

const BY_TYPE = { integer: "range", number: "bins", yearmonth: "months" };
const WAYS = find("ways").content;
/** Return whether a type lists all its values, so that nothing is left to enter. */
const isKnown = (type) => [...WAYS.querySelectorAll(".whole")].some((way) => way.value === type);
const ENDS = { min: "From", max: "To" };
const PLAIN = new Set(["name", "type", "categories", "bins", "constraints", "parents"]);

const MANY = 50; // a menu of all columns at each of so many would have to be drawn at once

let made = 0;

/** Return the values of a pasted list: one a line, or between commas if there is one line only. */
export function listed(text) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  const parts = lines.length === 1 ? lines[0].split(",") : lines;
  return parts.map((part) => part.trim()).filter(Boolean);
}

/** Return a list as it may be pasted, in one line where no value has a comma. */
const joined = (values) => values.join(values.some((one) => /,/.test(one)) ? "\n" : ", ");

/** Return a number; other text is returned as it is, so that the server refuses it by name. */
const whole = (text) => (/^[+-]?\d+$/.test(meant(text)) ? Number(meant(text)) : text.trim());
const number = (text) => (Number.isNaN(Number(text)) ? text : Number(text));

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
    Object.assign(this, { id, name, type, builder, start: values, field: null, controls: {} });
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
    for (const event of ["pointerdown", "focus"]) this.parent.addEventListener(event, () => this.isShort && this.fill());
    this.controls["list-values"].value = joined(this.start);
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
      const values = await file.files[0].text();
      file.value = "";
      if (!isStill()) return; // what was entered meanwhile stands
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
    const held = this.parent.value || this.field?.parents?.join("\n") || "";
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
      const isWhole = bins.every(Number.isInteger) && this.type !== "number";
      return { type: isWhole ? "integer" : "number", bins };
    }
    const categories = listed(text("list-values"));
    if (this.type !== "integer") return { type: "string", categories };
    return { type: "integer", categories: categories.map(whole) };
  }

  /** Take over a field of a code book: into the editors where it fits, else as it is. */
  take(field) {
    const { categories, bins, constraints = {}, type } = field;
    this.field = field;
    this.type = type ?? this.type;
    this.isTicked = true;
    const isTexts = Array.isArray(categories) && categories.every((one) => typeof one !== "object");
    const fill = (way, texts = {}) => {
      this.way.value = way;
      for (const [key, text] of Object.entries(texts)) this.controls[`${way}-${key}`].value = text;
    };
    fill("given");
    this.way.lastElementChild.hidden = false;
    if (!Object.keys(field).every((key) => PLAIN.has(key))) return;
    if (isTexts && ["string", "integer"].includes(type)) fill("list", { values: joined(categories) });
    else if (Array.isArray(bins)) fill("bins", { edges: bins.join(", ") });
    else if (isKnown(type)) fill(type);
    else if (["integer", "yearmonth"].includes(type) && "minimum" in constraints)
      fill(BY_TYPE[type], { min: constraints.minimum, max: constraints.maximum ?? "" });
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
