// A line chart: one line a sampler, read by pointer or by arrow keys.

import { Tip, decades, draw, onPointer, onWidth, roundUp, rounds, scale } from "./drawing.js";
import { shown } from "./fields.js";

const DASHES = ["none", "7 4", "2 3", "9 3 2 3", "4 4", "12 4"];
const LINE_HEIGHT = 15;
const FEW = 12;

/**
 * Make a chart in `container`.
 *
 * axes: { label, x: { name, isLog, ends }, y: { isLog } }; `pick` is called with an x that a
 * person takes by a click or by Enter.
 * The chart's show takes { xs, series: [{ name, values }], chosen, at, reference }.
 */
export function lineChart(container, axes, pick) {
  const tip = new Tip(container);
  let svg;
  let state;
  let width = 0;
  let cursor = -1;
  let plot;

  function redraw() {
    if (!state || !width) return;
    const isFocused = svg && document.activeElement === svg;
    const held = cursor; // removing what is focused takes its focus, and the cursor with it
    svg?.remove();
    cursor = held;
    const height = width < 480 ? 280 : 320;
    const { xs, series, chosen, at, reference } = state;
    const box = { left: 50, right: width - 70, top: 14, bottom: height - (axes.x.ends ? 52 : 40) };
    const [low, high] = extent(series, reference, axes.y.isLog);
    const x = scale([xs[0], xs.at(-1)], [box.left, box.right], axes.x.isLog);
    const y = scale([low, high], [box.bottom, box.top], axes.y.isLog);
    const bounded = (value) => y(Math.min(Math.max(value, low), high));
    svg = draw(null, "svg", {
      height, viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "slider",
      "aria-label": `${axes.label}; arrow keys read it${pick ? ", Enter takes the value" : ""}`,
      "aria-valuemin": xs[0], "aria-valuemax": xs.at(-1), "aria-valuenow": at ?? xs[0],
      "aria-valuetext": reading(nearest(xs, at ?? xs[0])),
    });
    container.prepend(svg);

    for (const value of axes.y.isLog ? decades(low, high) : rounds(high)) {
      draw(svg, "line", { class: "grid", x1: box.left, x2: box.right, y1: y(value), y2: y(value) });
      draw(svg, "text", { x: box.left - 8, y: y(value) + 4, "text-anchor": "end" }, axisText(value));
    }
    for (const value of axes.x.isLog ? decades(xs[0], xs.at(-1)) : rounds(xs.at(-1), { isWhole: true })) {
      draw(svg, "text", { x: x(value), y: box.bottom + 18, "text-anchor": "middle" }, axisText(value));
      draw(svg, "line", { class: "axis", x1: x(value), x2: x(value), y1: box.bottom, y2: box.bottom + 5 });
    }
    draw(svg, "line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom });
    const middle = (box.left + box.right) / 2;
    draw(svg, "text", { class: "strong", x: middle, y: height - 6, "text-anchor": "middle" }, axes.x.name);
    if (axes.x.ends) {
      draw(svg, "text", { x: box.left - 6, y: height - 6 }, `← ${axes.x.ends[0]}`);
      draw(svg, "text", { x: width, y: height - 6, "text-anchor": "end" }, `${axes.x.ends[1]} →`);
    }

    const ordered = series.map((one, i) => ({ ...one, i })).sort((one) => (one.name === chosen ? 1 : -1));
    for (const { name, values, i } of ordered) {
      const kind = name === chosen ? "curve chosen" : "curve";
      const dashes = name === chosen ? "none" : DASHES[i % DASHES.length];
      draw(svg, "path", { class: kind, d: path(xs, values, x, bounded), "stroke-dasharray": dashes });
      if (xs.length > FEW) continue;
      values.forEach((value, j) => draw(svg, "circle", { class: name === chosen ? "point chosen" : "point", cx: x(xs[j]), cy: bounded(value), r: 4 }));
    }
    label(series, chosen, box, bounded);
    if (reference !== undefined) {
      draw(svg, "line", { class: "reference", x1: box.left, x2: box.right, y1: bounded(reference.value), y2: bounded(reference.value) });
      draw(svg, "text", { class: "strong", x: box.right, y: bounded(reference.value) - 6, "text-anchor": "end" }, reference.name);
    }
    const marked = series.find(({ name }) => name === chosen);
    const level = at && marked ? between(xs, marked.values, at, axes.x.isLog) : null;
    if (level !== null) {
      draw(svg, "line", { class: "guide", x1: x(at), x2: x(at), y1: bounded(level), y2: box.bottom, "stroke-dasharray": "2 3" });
      draw(svg, "circle", { class: "here", cx: x(at), cy: bounded(level), r: 7 });
    }
    plot = { x, bounded, box, marks: draw(svg, "g", { "pointer-events": "none" }) };
    listen();
    if (isFocused) svg.focus();
    if (cursor >= 0) read(cursor);
  }

  function label(series, chosen, box, y) {
    const labels = series
      .filter(({ values }) => values.at(-1) !== null)
      .map(({ name, values }) => ({ name, at: y(values.at(-1)) }))
      .sort((one, other) => one.at - other.at);
    // Push apart downwards, then back up from the bottom, so that no two overlap.
    labels.forEach((one, i) => {
      if (i) one.at = Math.max(one.at, labels[i - 1].at + LINE_HEIGHT);
    });
    let floor = box.bottom + 4;
    for (const one of [...labels].reverse()) {
      one.at = Math.min(one.at, floor);
      floor = one.at - LINE_HEIGHT;
      draw(svg, "text", { class: one.name === chosen ? "accent" : "", x: box.right + 7, y: one.at + 4 }, one.name);
    }
  }

  function read(i) {
    cursor = Math.max(0, Math.min(state.xs.length - 1, i));
    const { xs, series, chosen } = state;
    const { x, bounded, box, marks } = plot;
    marks.replaceChildren();
    draw(marks, "line", { class: "guide", x1: x(xs[cursor]), x2: x(xs[cursor]), y1: box.top, y2: box.bottom });
    const rows = [];
    for (const { name, values } of series) {
      const value = values[cursor] ?? null;
      const isChosen = name === chosen;
      rows.push({ name, value: shown(value), isChosen, order: value ?? -1 });
      if (value !== null) draw(marks, "circle", { class: isChosen ? "point chosen" : "point", cx: x(xs[cursor]), cy: bounded(value), r: 4 });
    }
    rows.sort((one, other) => other.order - one.order);
    tip.show(x(xs[cursor]), (box.top + box.bottom) / 2, `${axes.x.name} = ${shown(xs[cursor])}`, rows);
    svg.setAttribute("aria-valuenow", xs[cursor]);
    svg.setAttribute("aria-valuetext", reading(cursor));
  }

  function reading(i) {
    const values = state.series.map(({ name, values: all }) => `${name} ${shown(all[i] ?? null)}`);
    return `${axes.x.name} ${shown(state.xs[i])}: ${values.join(", ")}`;
  }

  function leave() {
    plot.marks.replaceChildren();
    tip.hide();
    cursor = -1;
  }

  function take(i) {
    if (!pick) return;
    state = { ...state, at: state.xs[i] };
    redraw();
    pick(state.at);
  }

  function listen() {
    const under = (event) => {
      const left = event.clientX - svg.getBoundingClientRect().left;
      const distances = state.xs.map((value) => Math.abs(plot.x(value) - left));
      return distances.indexOf(Math.min(...distances));
    };
    onPointer(svg, (event) => read(under(event)), leave);
    svg.addEventListener("click", (event) => take(under(event)));
    svg.addEventListener("keydown", (event) => {
      const start = cursor >= 0 ? cursor : nearest(state.xs, state.at ?? state.xs[0]);
      const moves = { ArrowLeft: start - 1, ArrowDown: start - 1, ArrowRight: start + 1, ArrowUp: start + 1, Home: 0, End: state.xs.length - 1 };
      if (event.key in moves) read(moves[event.key]);
      else if (event.key === "Enter" && cursor >= 0) take(cursor);
      else if (event.key === "Escape") leave();
      else return;
      event.preventDefault();
    });
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
  };
}

/** Return the interval of y that holds every value. */
function extent(series, reference, isLog) {
  const values = series.flatMap((one) => one.values).filter((value) => value !== null);
  if (reference) values.push(reference.value);
  if (!isLog) return [0, roundUp(Math.max(...values, 1e-12))];
  const positive = values.filter((value) => value > 0);
  const low = 10 ** Math.floor(Math.log10(Math.min(...positive)));
  return [low, Math.max(10 ** Math.ceil(Math.log10(Math.max(...positive)) - 1e-9), low * 10)];
}

/** Return the path of a line, broken where there is no value. */
function path(xs, values, x, y) {
  let pen = "M";
  let text = "";
  values.forEach((value, i) => {
    if (value === null) pen = "M";
    else {
      text += `${pen}${x(xs[i]).toFixed(1)},${y(value).toFixed(1)}`;
      pen = "L";
    }
  });
  return text;
}

/** Return the value of a line at `at`, between the points that are known. */
function between(xs, values, at, isLog) {
  const i = xs.findIndex((value) => value >= at);
  if (i < 0 || values[i] === null) return null;
  if (i === 0 || xs[i] === at || values[i - 1] === null) return values[i];
  const share = scale([xs[i - 1], xs[i]], [0, 1], isLog)(at);
  return isLog ? values[i - 1] ** (1 - share) * values[i] ** share : values[i - 1] + share * (values[i] - values[i - 1]);
}

function nearest(xs, at) {
  const distances = xs.map((value) => Math.abs(Math.log(Math.max(value, 1e-12) / Math.max(at, 1e-12))));
  return distances.indexOf(Math.min(...distances));
}

function axisText(value) {
  const power = Math.log10(value);
  const isLarge = value >= 1e4 || (value > 0 && value < 1e-3);
  return isLarge && Number.isInteger(power) ? `10${superscript(power)}` : String(Number(value.toPrecision(6)));
}

function superscript(power) {
  return [...String(power)].map((sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign] ?? "⁻").join("");
}
