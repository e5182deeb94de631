// One column of a code book: how its possible values are told, and what the server makes of them.

import { find, make } from "./drawing.js";

const BY_TYPE = { integer: "range", number: "bins", yearmonth: "months" };
const WAYS = find("ways").content;
/** Whether all values of a type are known, so that nothing is left to tell. */
const isKnown = (type) => [...WAYS.querySelectorAll(".whole")].some((way) => way.value === type);
const NAME = { min: "From", max: "To" };

let made = 0;

/** Return the values of a pasted list: one a line, or between commas if there is one line only. */
export function listed(text) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  const parts = lines.length === 1 ? lines[0].split(",") : lines;
  return parts.map((part) => part.trim()).filter(Boolean);
}

/** Return a list as it may be pasted, in one line where no value has a comma. */
const joined = (values) => values.join(values.some((one) => /,/.test(one)) ? "\n" : ", ");

const whole = (text) => (/^[+-]?\d+$/.test(text.trim()) ? Number(text) : text.trim());
const number = (text) => (text.trim() === "" ? "" : Number(text));

/** A column that a person may tick and describe; `changed` is called after every change. */
export class Column {
  constructor(parent, { name, type, values = [] }, changed) {
    Object.assign(this, { name, type, changed, field: null, controls: {} });
    const id = `column-${made++}`;
    this.root = make(parent, "fieldset", { class: "column", "data-column": name });
    make(this.root, "legend", { class: "unseen" }, `Column ${name}`);
    const head = make(this.root, "div", { class: "column-head" });
    const label = make(head, "label", { class: "tick" });
    this.tick = make(label, "input", { type: "checkbox", autocomplete: "off" });
    make(label, "b", {}, name);
    this.preview = make(head, "span", { class: "hint preview", id: `${id}-preview`, role: "status" });
    Object.assign(this, { id, start: values });
    this.root.addEventListener("input", () => this.show());
  }

  /** Make the editors, when the column is ticked for the first time: a table may have hundreds. */
  make() {
    const { id } = this;
    this.body = make(this.root, "div", { class: "column-body" });
    const way = make(this.body, "div", { class: "field" });
    make(way, "label", { class: "unseen", for: `${id}-way` }, `Possible values of ${this.name} are`);
    this.way = make(way, "select", { id: `${id}-way`, autocomplete: "off" });
    this.way.append(WAYS.cloneNode(true));
    const usual = isKnown(this.type) ? this.type : (BY_TYPE[this.type] ?? "list");
    this.way.value = this.start.length ? "list" : usual;
    this.makeEditors(make(this.body, "div", { class: "editors" }), id);
    const parents = make(this.body, "div", { class: "field", "data-parents": "" });
    parents.hidden = true;
    make(parents, "label", { class: "unseen", for: `${id}-parent` }, "Depends on");
    this.parent = make(parents, "select", { id: `${id}-parent`, autocomplete: "off" });
    this.controls.list.value = joined(this.start);
  }

  makeEditors(row, id) {
    const editor = (way, key, title, kind, attributes = {}) => {
      const field = make(row, "div", { class: "field", "data-way": way });
      make(field, "label", { class: "unseen", for: `${id}-${way}-${key}` }, title);
      const control = make(field, kind, {
        id: `${id}-${way}-${key}`,
        autocomplete: "off",
        spellcheck: "false",
        "aria-describedby": `${id}-preview`,
        placeholder: title,
        ...attributes,
      });
      this.controls[way === "list" ? "list" : `${way}-${key}`] = control;
      return field;
    };
    editor("list", "values", "One a line, or separated by commas", "textarea", { rows: 1 });
    const picker = make(row, "label", { class: "link", "data-way": "list" });
    const file = make(picker, "input", { type: "file", class: "unseen", accept: ".txt,.csv,text/*" });
    picker.append("from a file");
    file.addEventListener("change", async (event) => {
      event.stopPropagation();
      if (!file.files[0]) return;
      this.controls.list.value = await file.files[0].text();
      file.value = "";
      this.show();
    });
    for (const key of ["min", "max"]) {
      editor("range", key, NAME[key], "input", { inputmode: "numeric" });
      editor("months", key, NAME[key], "input", { placeholder: `${NAME[key]} 2024-01` });
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

  /** Show what belongs to the chosen way, and tell that something has changed. */
  show({ isQuiet = false } = {}) {
    const isEdited = this.isTicked && !this.root.closest(".finding");
    if (isEdited && !this.body) this.make();
    if (this.body) {
      this.body.hidden = !isEdited;
      for (const field of this.body.querySelectorAll("[data-way]"))
        field.hidden = field.dataset.way !== this.way.value;
    }
    if (!this.isTicked) this.tell();
    if (!isQuiet) this.changed();
  }

  /** Offer the other columns as what this one depends on, where that is declared. */
  offer(names, isDeclared) {
    this.parent.closest("[data-parents]").hidden = !isDeclared;
    if (!isDeclared) return;
    const held = this.parent.value || this.field?.parents?.join("\n") || "";
    const others = names.filter((name) => name !== this.name);
    const made = [["", "nothing"], ...others.map((name) => [name, name])];
    if (held.includes("\n")) made.push([held, held.replaceAll("\n", ", ")]);
    this.parent.replaceChildren(...made.map(([value, text]) => new Option(text, value)));
    this.parent.value = held;
    if (this.parent.selectedIndex < 0) this.parent.value = "";
  }

  /** Return the field of the code book, with its parents if they are declared. */
  describe(isDeclared) {
    const text = (key) => this.controls[key].value;
    const hasParents = isDeclared && this.parent.value;
    const parents = hasParents ? { parents: this.parent.value.split("\n") } : {};
    const isInteger = this.type === "integer";
    const name = { name: this.name };
    if (isKnown(this.way.value)) return { ...name, type: this.way.value, ...parents };
    switch (this.way.value) {
      case "range":
        return {
          ...name,
          type: "integer",
          constraints: { minimum: whole(text("range-min")), maximum: whole(text("range-max")) },
          ...parents,
        };
      case "months":
        return {
          ...name,
          type: "yearmonth",
          constraints: { minimum: text("months-min").trim(), maximum: text("months-max").trim() },
          ...parents,
        };
      case "bins": {
        const bins = text("bins-edges").split(/[,;\s]+/).filter(Boolean).map(number);
        const kind = bins.every(Number.isInteger) && this.type !== "number" ? "integer" : "number";
        return { ...name, type: kind, bins, ...parents };
      }
      case "given": {
        const { parents: _, ...field } = this.field;
        return { ...field, ...parents };
      }
      default: {
        const values = listed(text("list"));
        const categories = isInteger ? values.map(whole) : values;
        return { ...name, type: isInteger ? "integer" : "string", categories, ...parents };
      }
    }
  }

  /** Take over a field of a code book: into the form where it fits, else as it is. */
  take(field) {
    const { categories, bins, constraints = {}, type } = field;
    this.field = field;
    this.type = type ?? this.type;
    this.isTicked = true;
    const known = new Set(["name", "type", "categories", "bins", "constraints", "parents"]);
    const isPlain = Object.keys(field).every((key) => known.has(key));
    const isTexts = Array.isArray(categories) && categories.every((one) => typeof one !== "object");
    const fill = (key, value) => (this.controls[key].value = value);
    this.way.value = "given";
    this.way.lastElementChild.hidden = false;
    if (!isPlain) return;
    if (isTexts && ["string", "integer"].includes(type)) {
      this.way.value = "list";
      fill("list", joined(categories));
    } else if (Array.isArray(bins)) {
      this.way.value = "bins";
      fill("bins-edges", bins.join(", "));
    } else if (isKnown(type)) this.way.value = type;
    else if (["integer", "yearmonth"].includes(type) && "minimum" in constraints) {
      this.way.value = type === "integer" ? "range" : "months";
      fill(`${this.way.value}-min`, constraints.minimum);
      fill(`${this.way.value}-max`, constraints.maximum ?? "");
    }
  }

  /** Show how many values the server has found, or what is wrong, in the same line. */
  tell({ k, values, rest, error } = {}) {
    const isEmpty = !Object.values(this.controls).some(
      (control) => !control.closest("[hidden]") && control.value.trim(),
    );
    const wrong = error && !isEmpty ? error : "";
    const found = k ? `k = ${k.toLocaleString("en")} possible values: ${values}; ${rest}` : "";
    this.preview.textContent = wrong || found;
    this.preview.classList.toggle("wrong", Boolean(wrong));
    for (const control of Object.values(this.controls)) {
      if (wrong) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
    }
  }

  /** Put the focus where something is wrong or missing. */
  focus(sentence) {
    if (sentence) this.tell({ error: sentence });
    const shown = Object.values(this.controls).find((control) => control.checkVisibility());
    (shown ?? this.way).focus();
  }
}
