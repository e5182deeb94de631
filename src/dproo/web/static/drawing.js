// What all charts share: elements, scales, a tip that follows, a redraw when the width changes.

const SVG = "http://www.w3.org/2000/svg";

/** Return the element of the page with this id. */
export const find = (id) => document.getElementById(id);

/** Make an SVG element within `parent`. */
export function draw(parent, name, attributes = {}, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

/** Draw a line from one point to another. */
export function line(parent, kind, [x1, y1], [x2, y2], attributes = {}) {
  return draw(parent, "line", { class: kind, x1, y1, x2, y2, ...attributes });
}

/** Draw a rectangle from its upper left corner. */
export function bar(parent, kind, [x, y], width, height, attributes = {}) {
  return draw(parent, "rect", { class: kind, x, y, width, height, ...attributes });
}

/** Write words at a point: the "start", "middle" or "end" of them. */
export function words(parent, kind, [x, y], anchor, text) {
  return draw(parent, "text", { class: kind, x, y, "text-anchor": anchor }, text);
}

/** Make an HTML element within `parent`. */
export function make(parent, name, attributes = {}, text) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

/** Return the map of one interval to another, on a logarithmic scale if asked. */
export function scale([low, high], [from, to], isLogarithmic = false) {
  const at = isLogarithmic ? Math.log10 : (value) => value;
  const span = at(high) - at(low) || 1;
  return (value) => from + ((at(value) - at(low)) / span) * (to - from);
}

/** Return the powers of ten in an interval, thinned out to at most `most`. */
export function decades(low, high, most = 9) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.ceil((last - first + 1) / most);
  const powers = [];
  for (let power = first; power <= last; power += step) powers.push(Number(`1e${power}`));
  return powers;
}

/** Return about `count` round numbers from 0 to `high`, whole ones if asked. */
export function rounds(high, { count = 4, isWhole = false } = {}) {
  const raw = high / count;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const round = [1, 2, 2.5, 5, 10].find((factor) => factor * unit >= raw * 0.999) * unit;
  const step = isWhole ? Math.max(1, Math.ceil(round)) : round;
  const values = [];
  for (let i = 0; i * step <= high * 1.001; i++) values.push(i * step);
  return values;
}

/** Return the least round number that is not below `high`. */
export function roundUp(high) {
  const unit = 10 ** Math.floor(Math.log10(high));
  return (
    [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((factor) => factor * unit >= high * 0.999) * unit
  );
}

/**
 * Call `redraw` with the width of `container`, now and whenever it changes.
 * Return a function that calls it once more, as soon as there is a width.
 */
export function onWidth(container, redraw) {
  let width = 0;
  const fit = () => {
    const now = Math.floor(container.clientWidth);
    if (now && now !== width) redraw((width = now));
  };
  new ResizeObserver(fit).observe(container);
  fit();
  return () => width && redraw(width);
}

/**
 * Let a chart be read by pointer and by arrow keys; a touch stays. `read` takes a place up to
 * `last`: the one `under` an event, or beside the one that the cursor is `at`.
 */
export function onReading(chart, { at, last, under, read, leave, take }) {
  const point = (event) => read(under(event));
  chart.addEventListener("pointerdown", point);
  chart.addEventListener("pointermove", point);
  chart.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && leave());
  chart.addEventListener("blur", leave);
  chart.addEventListener("keydown", (event) => {
    const [before, after] = [at() - 1, at() + 1];
    const sides = { ArrowLeft: before, ArrowDown: before, ArrowRight: after, ArrowUp: after };
    const moves = { ...sides, Home: 0, End: last };
    if (event.key in moves) read(moves[event.key]);
    else if (event.key === "Enter" && take) take();
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
  });
}

/** A small box of names and values beside a point of a chart. */
export class Tip {
  constructor(container) {
    this.container = container;
    this.box = make(container, "div", { class: "tip", "aria-hidden": "true" });
    this.box.hidden = true;
  }

  show(x, y, title, rows) {
    this.box.replaceChildren();
    make(this.box, "strong", {}, title);
    const list = make(this.box, "dl");
    for (const { name, value, isChosen } of rows) {
      const kind = isChosen ? { class: "chosen" } : {};
      make(list, "dt", kind, name);
      make(list, "dd", kind, value);
    }
    this.box.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const { left: start } = this.container.getBoundingClientRect();
    const last = document.documentElement.clientWidth - 8 - width - start;
    const left = x + 14 <= last ? x + 14 : Math.max(8 - start, Math.min(x - 14 - width, last));
    this.box.style.transform = `translate(${Math.round(left)}px, ${Math.round(Math.max(0, y - height / 2))}px)`;
  }

  hide() {
    this.box.hidden = true;
  }
}
