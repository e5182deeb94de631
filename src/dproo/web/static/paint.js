// A histogram to paint: by dragging across the bars, or by arrow keys.

import { letter } from "./bars.js";
import { bar, draw, line, onWidth, scale, words } from "./drawing.js";
import { shown } from "./fields.js";

export const STEPS = 100;
const MOST_NUMBERED = 12;

/** Make a histogram of whole steps that a person paints; `painted` is called with the values. */
export function paintChart(container, painted) {
  let values = [];
  let step = 1;
  let svg;
  let box;
  let active = 0;
  container.classList.add("paint");
  const redraw = onWidth(container, drawAt);

  function drawAt(width) {
    if (!values.length) return;
    const hadFocus = container.contains(document.activeElement);
    svg?.remove();
    box = { left: 46, right: width - 4, top: 22, bottom: 236 };
    const { left, right, top, bottom } = box;
    svg = draw(container, "svg", {
      height: 262,
      viewBox: `0 0 ${width} 262`,
      role: "group",
      "aria-labelledby": "paint-title",
      "aria-describedby": "paint-hint",
    });
    const y = scale([0, STEPS], [bottom, top]);
    for (const value of [0, 25, 50, 75, STEPS]) {
      line(svg, "grid", [left, y(value)], [right, y(value)]);
      words(svg, "", [left - 8, y(value) + 4], "end", shown(value * step));
    }
    const wide = (right - left) / values.length;
    values.forEach((value, i) => {
      const [start, middle] = [left + i * wide, left + (i + 0.5) * wide];
      const column = draw(svg, "g", {
        role: "slider",
        tabindex: i === active ? 0 : -1,
        "aria-label": `records with value ${letter(i)}`,
        "aria-valuemin": 0,
        "aria-valuemax": STEPS * step,
        "aria-orientation": "vertical",
      });
      bar(column, "column", [start, top], wide, bottom - top, { rx: 3 });
      bar(column, "bar-painted", [start + 0.12 * wide, bottom], 0.76 * wide, 0);
      bar(column, "handle", [start + 0.12 * wide, bottom], 0.76 * wide, 3, { rx: 1.5 });
      words(column, "strong count", [middle, bottom], "middle", "");
      words(column, "", [middle, bottom + 18], "middle", letter(i));
      raise(column, value);
      column.addEventListener("keydown", (event) => press(event, i));
    });
    line(svg, "axis", [left, bottom], [right, bottom]);
    svg.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // dragging paints, and selects no text
      svg.setPointerCapture(event.pointerId);
      drag(event);
    });
    svg.addEventListener("pointermove", (event) => svg.hasPointerCapture(event.pointerId) && drag(event));
    if (hadFocus) svg.querySelectorAll("[role=slider]")[active].focus();
  }

  function set(i, value) {
    const held = Math.max(0, Math.min(STEPS, Math.round(value)));
    if (values[i] === held) return;
    values[i] = held;
    raise(svg.querySelectorAll("[role=slider]")[i], held);
    painted([...values]);
  }

  /** Give a column its height, its handle and its number. */
  function raise(column, value) {
    const { top, bottom } = box;
    const y = scale([0, STEPS], [bottom, top])(value);
    const part = (kind) => column.querySelector(kind);
    column.setAttribute("aria-valuenow", value * step);
    part(".bar-painted").setAttribute("y", y);
    part(".bar-painted").setAttribute("height", bottom - y);
    part(".handle").setAttribute("y", y - 1.5);
    part(".count").setAttribute("y", y - 7);
    const isNumbered = values.length <= MOST_NUMBERED;
    part(".count").textContent = isNumbered ? (value * step).toLocaleString("en") : "";
  }

  function drag(event) {
    const { left, right, top, bottom } = box;
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

  return {
    show(next, nextStep) {
      [values, step] = [[...next], nextStep];
      active = Math.min(active, values.length - 1);
      redraw();
    },
  };
}
