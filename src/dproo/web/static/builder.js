// The code book of a release: its columns, a preview of their values, opened and saved as a file.

import { AGAIN, ask, latest } from "./api.js";
import { Column } from "./columns.js";
import { find, text } from "./drawing.js";
import { isSame, parse } from "./exact.js";
import { notice } from "./refusing.js";
import { save, textOf } from "./saving.js";

const FILE = "codebook.json";
const LAYOUT = ["encoding", "dialect"];

const isObject = (value) => Boolean(value) && typeof value === "object" && !Array.isArray(value);

/** Return whether a value has the outline of a code book; the server checks everything else. */
function isBook(value) {
  const fields = value?.schema?.fields;
  if (!isObject(value) || !Array.isArray(fields) || !fields.every(isObject)) return false;
  if (!fields.every(({ parents = [] }) => Array.isArray(parents))) return false;
  return new Set(fields.map(({ name }) => name)).size === fields.length;
}

/** The builder of a code book; `changed` is called when it is edited, and when it was checked. */
export class Builder {
  constructor(changed) {
    Object.assign(this, { changed, columns: [], head: {}, found: null, isSingle: false, edits: 0 });
    this.missing = new Map(); // the texts that a code book states for a column of its own
    this.savedAs = FILE; // until a review names another one
    const body = () => ({ codebook: this.book(), cell: find("cell").value });
    this.ask = latest((signal) => ask("codebook", { body: body(), signal }), {
      show: (found) => this.show(found),
      refuse: (sentence, isLost) => {
        if (this.found) return; // only a cell was tried
        for (const column of this.ticked) column.showPreview(); // the one in sight is of other values
        notice(find("book-refused"), sentence);
        this.changed();
        if (isLost) this.ask(AGAIN);
      },
    });
    find("network").addEventListener("change", () => this.edited());
    find("tick-all").addEventListener("change", ({ target }) => {
      for (const column of this.columns) if (!column.root.hidden) column.isTicked = target.checked;
      this.edited();
    });
    find("filter").addEventListener("input", (event) => {
      event.stopPropagation(); // nor does it
      this.filter();
    });
    find("cell").addEventListener("input", (event) => {
      event.stopPropagation(); // it changes nothing that is released
      if (this.ticked.length && !this.isFinding) this.ask();
    });
    find("save-book").addEventListener("click", () => save(this.described, this.savedAs));
    find("open-book").addEventListener("change", ({ target }) => {
      this.open(target.files[0]);
      target.value = "";
    });
  }

  /**
   * Offer the columns of the data; `book`, `missing` and `ticked` are what was entered for them before,
   * when `drafted` stated the layout that was chosen. The one that is chosen now takes its place.
   */
  offer({ columns, codebook }, { book, missing = null, ticked = null, drafted = {} }) {
    this.head = this.drafted = codebook;
    this.missing = new Map();
    find("columns").replaceChildren();
    find("columns-left").textContent = "";
    find("filter").value = "";
    this.columns = columns.map((column) => new Column(find("columns"), column, this));
    const stale = LAYOUT.filter((key) => isSame(book?.[key], drafted[key]));
    if (book) this.take({ ...book, ...Object.fromEntries(stale.map((key) => [key, codebook[key]])) }, missing);
    else if (this.isFinding)
      for (const column of this.columns) column.isTicked = ticked?.includes(column.name) ?? !this.isSingle;
    this.edited();
  }

  /** Show the columns whose names contain the filter; hidden ones stay as they are. */
  filter() {
    const part = text("filter").toLowerCase();
    for (const { root, name } of this.columns) root.hidden = !name.toLowerCase().includes(part);
    this.count();
  }

  /** Show how many columns are ticked, and whether all visible ones are. */
  count() {
    const shown = this.columns.filter(({ root }) => !root.hidden);
    const ticked = shown.filter((column) => column.isTicked).length;
    find("tick-all").checked = ticked > 0 && ticked === shown.length;
    find("tick-all").indeterminate = ticked > 0 && ticked < shown.length;
    find("ticked").textContent = `${this.ticked.length} of ${this.columns.length} columns`;
  }

  get ticked() {
    return this.columns.filter((column) => column.isTicked);
  }

  /** Return the names of the ticked columns. */
  get names() {
    return this.ticked.map(({ name }) => name);
  }

  get isDeclared() {
    return !this.isFinding && find("network").value === "declared";
  }

  /** Return whether the values are to be found; otherwise the columns list them. */
  get isFinding() {
    return find("row-form").classList.contains("finding");
  }

  set isFinding(isFinding) {
    const isMore = this.isSingle && this.ticked.length > 1; // of which one stays ticked
    if (isFinding === this.isFinding && !isMore) return;
    find("row-form").classList.toggle("finding", isFinding);
    const isTicked = isFinding && !this.isSingle && !this.ticked.length;
    for (const column of this.columns) column.isTicked = column.isTicked || isTicked; // the setter shows it
    this.edited();
  }

  /** Return how the columns depend on each other, or "" for a single column. */
  get network() {
    if (this.ticked.length < 2) return "";
    if (this.isFinding) return "auto";
    const isNone = this.isDeclared && !this.ticked.some(({ parent }) => parent.value);
    return isNone ? "independent" : find("network").value;
  }

  /** Return the code book as entered. */
  book() {
    const fields = this.ticked.map((column) => column.describe(this.isDeclared));
    const { schema, ...head } = this.head;
    return { ...head, schema: { fieldsMatch: "subset", missingValues: [""], ...schema, fields } };
  }

  /** Return the code book as the server has read it. */
  get described() {
    return this.withMissing(this.found.codebook);
  }

  /**
   * Return a code book with the texts that mean a missing cell in the column that tells people
   * apart: a code book that states them there does not list this column in a release.
   */
  withMissing(book) {
    const person = find("person").value;
    const own = this.missing.get(person);
    if (!own) return book;
    const { missingValues, fields, ...schema } = book.schema;
    const stated = fields.map((field) => (field.name === person ? field : { missingValues, ...field }));
    return { ...book, schema: { ...schema, missingValues: own, fields: stated } };
  }

  /** Take over a change; for one value, only the column that was ticked last stays ticked. */
  edited(column) {
    this.edits += 1;
    const only = column?.isTicked ? column : this.ticked[0];
    if (this.isSingle) for (const one of this.ticked) if (one !== only) one.isTicked = false;
    const { names } = this;
    if (!this.isFinding) for (const column of this.ticked) column.offer(names, this.isDeclared);
    this.count();
    find("row-form").classList.toggle("declared", this.isDeclared);
    find("columns-head").hidden = !names.length || this.isFinding;
    find("wiring").hidden = names.length < 2;
    this.found = null;
    find("save-book").disabled = true;
    notice(find("book-refused"));
    this.changed();
    if (names.length && !this.isFinding) this.ask();
    else this.ask.stop();
  }

  show(found) {
    found.columns.forEach((line, i) => this.ticked[i]?.showPreview(line));
    if (this.found) return; // only a cell was tried
    notice(find("book-refused"), found.error);
    this.found = found.is_complete ? found : null;
    find("save-book").disabled = !this.found;
    this.changed();
  }

  /** Return a function that returns whether nothing was offered, opened or edited since. */
  untouched() {
    const before = this.edits;
    return () => before === this.edits;
  }

  /** Read a code book that a person has chosen or dropped. */
  async open(file) {
    if (!file) return;
    const isStill = this.untouched();
    try {
      const book = parse(await textOf(file));
      if (!isStill()) return; // something else was chosen or entered meanwhile
      if (!isBook(book)) throw new TypeError();
      this.take(book);
      find("again").hidden = true; // it would not be another one of the same
      this.edited();
    } catch {
      const what = "a JSON file with schema.fields, each with a name of its own";
      if (isStill()) notice(find("book-refused"), `${file.name} is not a code book: ${what}.`);
    }
  }

  take(book, missing = null) {
    const { fields, ...schema } = book.schema;
    const { draft: _, ...head } = book;
    this.head = { ...head, schema };
    this.missing = missing ?? new Map(fields.map(({ name, missingValues }) => [name, missingValues]));
    const unknown = fields.map(({ name }) => name).filter((name) => !this.columns.some((one) => one.name === name));
    for (const column of this.columns) column.isTicked = false;
    for (const field of fields) this.columns.find(({ name }) => name === field.name)?.take(field);
    if (fields.some(({ parents }) => parents?.length)) find("network").value = "declared";
    for (const column of this.columns) column.show({ isQuiet: true });
    find("columns-left").textContent = unknown.length
      ? `Left out, since the data has no such columns: ${unknown.join(", ")}.`
      : "";
  }

  /** Show refusals at the columns that they name; return whether each one found a place. */
  refuse(sentences) {
    const placed = sentences.map((sentence) => {
      const column = this.ticked.find(({ name }) => sentence.includes(`'${name}'`));
      return column?.refuse(sentence);
    });
    return placed.every(Boolean);
  }
}
