// Histograms: one to paint, one to read a law from, one for draws to fall on, one for a witness.

import { Tip, draw, make, onPointer, onWidth, rounds, scale } from "./drawing.js";
import { shown } from "./fields.js";

export const STEPS = 100;
const MOST_NUMBERED = 12;

/** Return the name of a letter. */
export function letter(i) {
  return String.fromCharCode(97 + i);
}

/** Make a histogram of whole steps that a person paints; `painted` is called with the values. */
export function paintChart(container, painted) {
  let values = [];
  let step = 1;
  let svg;
  let width = 0;
  let active = 0;
  let isPainting = false;
  container.classList.add("paint");

  const box = () => ({ left: 46, right: width - 4, top: 22, bottom: 236 });

  function redraw() {
    if (!width || !values.length) return;
    const hadFocus = container.contains(document.activeElement);
    svg?.remove();
    const { left, right, top, bottom } = box();
    svg = draw(container, "svg", { height: 262, viewBox: `0 0 ${width} 262`, role: "group", "aria-labelledby": "paint-title", "aria-describedby": "paint-hint" });
    const y = scale([0, STEPS], [bottom, top]);
    for (const value of rounds(STEPS)) {
      draw(svg, "line", { class: "grid", x1: left, x2: right, y1: y(value), y2: y(value) });
      draw(svg, "text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, shown(value * step));
    }
    const wide = (right - left) / values.length;
    values.forEach((value, i) => {
      const bar = draw(svg, "g", {
        role: "slider", tabindex: i === active ? 0 : -1, "aria-label": `records with letter ${letter(i)}`,
        "aria-valuemin": 0, "aria-valuemax": STEPS * step, "aria-valuenow": value * step, "aria-orientation": "vertical",
      });
      draw(bar, "rect", { class: "column", x: left + i * wide, y: top, width: wide, height: bottom - top, rx: 3 });
      const side = { x: left + (i + 0.12) * wide, width: wide * 0.76 };
      draw(bar, "rect", { class: "bar-painted", ...side });
      draw(bar, "rect", { class: "handle", ...side, height: 3, rx: 1.5 });
      draw(bar, "text", { class: "strong count", x: left + (i + 0.5) * wide, "text-anchor": "middle" });
      draw(bar, "text", { x: left + (i + 0.5) * wide, y: bottom + 18, "text-anchor": "middle" }, letter(i));
      raise(bar, value);
      bar.addEventListener("keydown", (event) => press(event, i));
    });
    draw(svg, "line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom });
    svg.addEventListener("pointerdown", (event) => {
      isPainting = true;
      svg.setPointerCapture(event.pointerId);
      drag(event);
    });
    svg.addEventListener("pointermove", (event) => isPainting && drag(event));
    svg.addEventListener("pointerup", () => (isPainting = false));
    svg.addEventListener("pointercancel", () => (isPainting = false));
    if (hadFocus) svg.querySelectorAll("[role=slider]")[active].focus();
  }

  function set(i, value) {
    const held = Math.max(0, Math.min(STEPS, Math.round(value)));
    if (values[i] === held) return;
    values[i] = held;
    raise(svg.querySelectorAll("[role=slider]")[i], held);
    painted([...values]);
  }

  /** Give a bar its height, its handle and its number. */
  function raise(bar, value) {
    const { top, bottom } = box();
    const y = scale([0, STEPS], [bottom, top])(value);
    const [rect, handle, count] = [".bar-painted", ".handle", ".count"].map((part) => bar.querySelector(part));
    bar.setAttribute("aria-valuenow", value * step);
    rect.setAttribute("y", y);
    rect.setAttribute("height", bottom - y);
    handle.setAttribute("y", y - 1.5);
    count.setAttribute("y", y - 7);
    count.textContent = values.length <= MOST_NUMBERED ? (value * step).toLocaleString("en") : "";
  }

  function drag(event) {
    const { left, right, top, bottom } = box();
    const frame = svg.getBoundingClientRect();
    const i = Math.floor(((event.clientX - frame.left - left) / (right - left)) * values.length);
    if (i < 0 || i >= values.length) return;
    focusOn(i, false);
    set(i, scale([bottom, top], [0, STEPS])(event.clientY - frame.top));
  }

  function focusOn(i, moves) {
    const bars = svg.querySelectorAll("[role=slider]");
    bars[active]?.setAttribute("tabindex", -1);
    active = (i + values.length) % values.length;
    bars[active].setAttribute("tabindex", 0);
    if (moves) bars[active].focus();
  }

  function press(event, i) {
    const changes = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
    if (event.key in changes) set(i, values[i] + changes[event.key]);
    else if (event.key === "Home") set(i, 0);
    else if (event.key === "End") set(i, STEPS);
    else if (event.key === "ArrowLeft") focusOn(i - 1, true);
    else if (event.key === "ArrowRight") focusOn(i + 1, true);
    else return;
    event.preventDefault();
  }

  onWidth(container, (now) => {
    width = now;
    redraw();
  });
  return {
    show(next, nextStep) {
      [values, step] = [[...next], nextStep];
      active = Math.min(active, values.length - 1);
      redraw();
    },
  };
}

/** Make a small chart of shares and, within them, probabilities; it can be read letter by letter. */
export function lawChart(container, { height = 164 } = {}) {
  const tip = new Tip(container);
  let state;
  let svg;
  let width = 0;
  let cursor = -1;
  let tops = [];

  function redraw() {
    if (!width || !state) return;
    const hadFocus = svg && document.activeElement === svg;
    const held = cursor; // removing what is focused takes its focus, and the cursor with it
    svg?.remove();
    cursor = held;
    const { name, outer, inner, most, isOutlined } = state;
    svg = draw(null, "svg", { height, viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "slider", "aria-label": `${name}: arrow keys read letter by letter`, "aria-valuemin": 0, "aria-valuemax": inner.length - 1 });
    container.prepend(svg);
    const bottom = height - 18;
    const y = scale([0, most], [bottom, 10]);
    const wide = width / inner.length;
    tops = inner.map((value, i) => ({ x: (i + 0.5) * wide, y: y(Math.max(value, outer[i])) }));
    inner.forEach((value, i) => {
      draw(svg, "rect", { class: "column", x: i * wide, y: 0, width: wide, height: bottom, rx: 3 });
      if (!isOutlined) draw(svg, "rect", { class: "bar-painted", x: (i + 0.08) * wide, y: y(outer[i]), width: wide * 0.84, height: bottom - y(outer[i]) });
      const side = isOutlined ? 0.12 : 0.26;
      draw(svg, "rect", { class: "bar-law", x: (i + side) * wide, y: y(value), width: wide * (1 - 2 * side), height: bottom - y(value) });
      if (isOutlined) draw(svg, "rect", { class: "bar-outline", x: (i + 0.12) * wide, y: y(outer[i]), width: wide * 0.76, height: bottom - y(outer[i]) });
      draw(svg, "text", { x: (i + 0.5) * wide, y: height - 4, "text-anchor": "middle" }, letter(i));
    });
    draw(svg, "line", { class: "axis", x1: 0, x2: width, y1: bottom, y2: bottom });
    svg.setAttribute("aria-valuenow", Math.max(cursor, 0));
    svg.setAttribute("aria-valuetext", reading(Math.max(cursor, 0)));
    onPointer(svg, (event) => read(Math.floor((event.clientX - svg.getBoundingClientRect().left) / wide)), leave);
    svg.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: cursor - 1, ArrowRight: cursor + 1, Home: 0, End: inner.length - 1 };
      if (event.key in moves) read(moves[event.key]);
      else if (event.key === "Escape") leave();
      else return;
      event.preventDefault();
    });
    if (hadFocus) svg.focus();
    if (cursor >= 0) read(cursor);
  }

  const rows = (i) => state.rows(i).map(([name, value], j) => ({ name, value, isChosen: j === 1 }));

  function reading(i) {
    return `letter ${letter(i)}: ${rows(i).map(({ name, value }) => `${name} ${value}`).join(", ")}`;
  }

  function read(i) {
    cursor = Math.max(0, Math.min(state.inner.length - 1, i));
    tip.show(tops[cursor].x, Math.max(tops[cursor].y, 30), `letter ${letter(cursor)}`, rows(cursor));
    svg.setAttribute("aria-valuenow", cursor);
    svg.setAttribute("aria-valuetext", reading(cursor));
  }

  function leave() {
    cursor = -1;
    tip.hide();
  }

  onWidth(container, (now) => {
    width = now;
    redraw();
  });
  return {
    show(next) {
      state = next;
      redraw();
    },
    /** Let a ball fall on the bar of letter `i`. */
    drop(i) {
      if (!svg || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
      const ball = draw(svg, "circle", { class: "drop", cx: tops[i].x, cy: 0, r: 4 });
      const fall = ball.animate(
        [{ transform: "translateY(0)" }, { transform: `translateY(${tops[i].y}px)` }],
        { duration: 380, easing: "cubic-bezier(0.5, 0, 1, 0.6)" },
      );
      fall.onfinish = () => ball.remove();
    },
  };
}

/** Draw one dataset of a witness: columns of letters with equal counts, the watched one marked. */
export function witnessChart(parent, { title, columns, caption }) {
  const figure = make(parent, "figure");
  const container = make(figure, "div", { class: "chart" });
  make(figure, "figcaption", {}, caption);
  onWidth(container, (width) => {
    container.replaceChildren();
    const svg = draw(container, "svg", { height: 190, viewBox: `0 0 ${width} 190`, role: "img", "aria-label": `${title}: ${columns.map((one) => `${one.name} ${one.count} records`).join(", ")}` });
    const y = scale([0, Math.max(...columns.map((one) => one.most), 1)], [150, 24]);
    const wide = width / columns.length;
    columns.forEach(({ name, count, isWatched, isChanged }, i) => {
      draw(svg, "rect", { class: isWatched ? "bar-law" : "bar-plain", x: (i + 0.15) * wide, y: y(count), width: wide * 0.7, height: 150 - y(count), rx: 2 });
      const kind = isWatched ? "accent" : isChanged ? "strong" : "";
      draw(svg, "text", { class: kind, x: (i + 0.5) * wide, y: y(count) - 6, "text-anchor": "middle" }, shown(count));
      name.split("\n").forEach((line, j) => draw(svg, "text", { class: isWatched ? "accent" : "", x: (i + 0.5) * wide, y: 167 + 15 * j, "text-anchor": "middle" }, line));
    });
    draw(svg, "line", { class: "axis", x1: 0, x2: width, y1: 150, y2: 150 });
  });
}
