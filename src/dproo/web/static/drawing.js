// Elements and tables, and what all charts share: scales, redrawing, and reading by pointer or keys.

const SVG = "http://www.w3.org/2000/svg";

/** Return the element of the page with this id. */
export const find = (id) => document.getElementById(id);

/** Return the text of a field. */
export const text = (id) => find(id).value.trim();

function put(parent, made, attributes = {}, text = "") {
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  if (/^\s|\s\s|\s$/.test(text)) made.style.whiteSpace = "pre-wrap"; // two names may differ by a blank
  parent?.append(made);
  return made;
}

/** Return a name with visible blanks where two names may differ by one. */
export const visible = (name) =>
  name.replace(/^\s+|\s+$|\s{2,}|[^\S ]/g, (blanks) => blanks.replace(/ /g, "␣").replace(/\s/g, "⍽"));

/** Return a choice of a menu; menus show several blanks as one, or none. */
export const choice = (name) => new Option(visible(name), name);

/** Make an HTML element within `parent`. */
export const make = (parent, name, attributes, text) =>
  put(parent, document.createElement(name), attributes, text);

/** Make an SVG element within `parent`. */
export const draw = (parent, name, attributes, text) =>
  put(parent, document.createElementNS(SVG, name), attributes, text);

/** Draw a line from one point to another. */
export function line(parent, kind, [x1, y1], [x2, y2], attributes = {}) {
  return draw(parent, "line", { class: kind, x1, y1, x2, y2, ...attributes });
}

/** Draw a rectangle from its upper left corner. */
export function bar(parent, kind, [x, y], width, height, attributes = {}) {
  return draw(parent, "rect", { class: kind, x, y, width, height, ...attributes });
}

/** Write words whose "start", "middle" or "end" is at a point. */
export function words(parent, kind, [x, y], anchor, text) {
  return draw(parent, "text", { class: kind, x, y, "text-anchor": anchor }, text);
}

/** Fill a table: titles, then rows of texts or elements; the first of a row is its name, if asked. */
export function tabulate(table, titles, rows, { isNamed = false } = {}) {
  table.replaceChildren();
  const head = make(make(table, "thead"), "tr");
  for (const title of titles) make(head, "th", { scope: "col" }, title);
  const body = make(table, "tbody");
  for (const row of rows) {
    const line = make(body, "tr");
    row.forEach((cell, i) => make(line, isNamed && !i ? "th" : "td").append(cell));
  }
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
 * Make a chart that is read place by place: by pointer, by touch, or by arrow keys.
 *
 * `paint` draws what is shown into an svg and returns its places, { x, y, title, rows } each; a row
 * is { name, value, isChosen }. `mark` marks the place that is read, `begin` returns the first one,
 * and `take` is called with a place that a person picks by a click or by Enter.
 */
export function readable(container, { height, label, paint, mark, begin = () => 0, take }) {
  const tip = make(container, "div", { class: "tip", "aria-hidden": "true" });
  tip.hidden = true;
  let [svg, shown, places, cursor] = [null, null, [], -1];
  const redraw = onWidth(container, (width) => {
    if (!shown) return;
    const hadFocus = svg && document.activeElement === svg;
    const held = cursor; // removing what is focused takes its focus, and the cursor with it
    svg?.remove();
    cursor = held;
    const tall = height(width);
    svg = draw(container, "svg", { height: tall, viewBox: `0 0 ${width} ${tall}`, tabindex: 0, role: "slider" });
    container.prepend(svg);
    places = paint(svg, width, shown);
    Object.assign(svg, { ariaLabel: label(shown), ariaValueMin: 0, ariaValueMax: places.length - 1 });
    say(begin(shown));
    listen();
    if (hadFocus) svg.focus();
    if (cursor >= 0) read(cursor);
  });

  function say(i) {
    const { title, rows } = places[i];
    const values = rows.map(({ name, value }) => `${name} ${value}`).join(", ");
    Object.assign(svg, { ariaValueNow: i, ariaValueText: `${title}: ${values}` });
  }

  function read(i) {
    cursor = Math.max(0, Math.min(places.length - 1, i));
    say(cursor);
    mark?.(cursor);
    const { x, y, title, rows } = places[cursor];
    tip.replaceChildren();
    make(tip, "strong", {}, title);
    const list = make(tip, "dl");
    for (const { name, value, isChosen } of rows)
      for (const [kind, text] of [["dt", name], ["dd", value]])
        make(list, kind, isChosen ? { class: "chosen" } : {}, text);
    tip.hidden = false;
    const { offsetWidth: width, offsetHeight: tall } = tip;
    const { left: start } = container.getBoundingClientRect();
    const last = document.documentElement.clientWidth - 8 - width - start;
    const left = x + 14 <= last ? x + 14 : Math.max(8 - start, Math.min(x - 14 - width, last));
    const top = Math.max(0, y - tall / 2);
    tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  function leave() {
    cursor = -1;
    tip.hidden = true;
    mark?.(cursor);
  }

  function listen() {
    const under = ({ clientX }) => {
      const across = clientX - svg.getBoundingClientRect().left;
      const distances = places.map(({ x }) => Math.abs(x - across));
      return distances.indexOf(Math.min(...distances));
    };
    for (const name of ["pointerdown", "pointermove"])
      svg.addEventListener(name, (event) => read(under(event)));
    svg.addEventListener("pointerleave", ({ pointerType }) => pointerType !== "touch" && leave());
    svg.addEventListener("blur", leave);
    svg.addEventListener("click", (event) => take?.(under(event)));
    svg.addEventListener("keydown", (event) => {
      const at = cursor < 0 ? begin(shown) : cursor;
      const sides = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1 };
      const moves = { ...sides, Home: 0, End: places.length - 1 };
      if (event.key in moves) read(moves[event.key]);
      else if (event.key === "Enter" && cursor >= 0) take?.(cursor);
      else if (event.key === "Escape") leave();
      else return;
      event.preventDefault();
    });
  }

  return (next) => {
    shown = next;
    redraw();
  };
}
