// A line chart: one line a sampler, read by pointer or by arrow keys.

import { Tip, decades, draw, line, onReading, onWidth, roundUp, rounds, scale, words } from "./drawing.js";
import { atMost, shown, superscript } from "./fields.js";

const DASHES = ["none", "7 4", "2 3", "9 3 2 3", "4 4", "12 4"];
const LINE_HEIGHT = 15;
const FEW = 12;

/**
 * Make a chart in `container`.
 *
 * axes: { label, height, x: { name, isLog, ends }, y: { isLog, isShare } }; a share is written in
 * percent. `pick` is called with an x that a person takes by a click or by Enter.
 * The chart's show takes { xs, series: [{ name, values, hue }], chosen, at, reference, floor };
 * below the floor, { name, values }, nothing can be. Whoever does not see the hue of a line sees
 * its dashes, and its name at its end.
 */
export function lineChart(container, axes, pick) {
  const tip = new Tip(container);
  let svg;
  let state;
  let cursor = -1;
  let plot;
  const told = axes.y.isShare ? (value) => (value === null ? "–" : atMost(value)) : shown;
  const marked = axes.y.isShare ? (value) => `${axisText(value * 100)} %` : axisText;
  const kindOf = ({ name, hue }) =>
    `${hue === undefined ? "" : `hue-${hue}`} ${name === state.chosen ? `chosen ${state.kind ?? ""}` : ""}`;
  const redraw = onWidth(container, drawAt);

  function drawAt(width) {
    if (!state) return;
    const isFocused = svg && document.activeElement === svg;
    const held = cursor; // removing what is focused takes its focus, and the cursor with it
    svg?.remove();
    cursor = held;
    const { xs, series, at, reference } = state;
    const height = width < 480 ? 280 : (axes.height ?? 320);
    const bottom = height - (axes.x.ends ? 52 : 40);
    const box = { left: 56, right: width - 78, top: 14, bottom, width, height };
    const [low, high] = extent(series, reference, axes.y.isLog);
    const x = scale([xs[0], xs.at(-1)], [box.left, box.right], axes.x.isLog);
    const y = scale([low, high], [box.bottom, box.top], axes.y.isLog);
    svg = draw(null, "svg", {
      height,
      viewBox: `0 0 ${width} ${height}`,
      tabindex: 0,
      role: "slider",
      "aria-label": `${axes.label}; arrow keys read it${pick ? ", Enter takes the value" : ""}`,
      "aria-valuemin": xs[0],
      "aria-valuemax": xs.at(-1),
      "aria-valuenow": at ?? xs[0],
      "aria-valuetext": reading(nearest(xs, at ?? xs[0])),
    });
    container.prepend(svg);
    plot = { box, x, y, low, high, bounded: (value) => y(Math.min(Math.max(value, low), high)) };
    drawFloor();
    drawAxes();
    drawCurves();
    drawLabels();
    drawPlace();
    plot.marks = draw(svg, "g", { "pointer-events": "none" });
    listen();
    if (isFocused) svg.focus();
    if (cursor >= 0) read(cursor);
  }

  /** Shade what lies below the floor. */
  function drawFloor() {
    const { xs, floor } = state;
    if (!floor?.values.some((value) => value !== null)) return;
    const { x, box, bounded } = plot;
    const top = path(xs, floor.values, x, bounded);
    const [first, last] = [xs[0], xs.at(-1)].map((value) => x(value).toFixed(1));
    draw(svg, "path", { class: "floor", d: `${top}L${last},${box.bottom}L${first},${box.bottom}Z` });
    words(svg, "", [box.left + 10, box.bottom - 10], "start", floor.name);
  }

  function drawAxes() {
    const { box, x, y, low, high } = plot;
    const [first, last] = [state.xs[0], state.xs.at(-1)];
    for (const value of axes.y.isLog ? decades(low, high) : rounds(high)) {
      line(svg, "grid", [box.left, y(value)], [box.right, y(value)]);
      words(svg, "", [box.left - 8, y(value) + 4], "end", marked(value));
    }
    const ticks = axes.x.isLog ? decades(first, last) : rounds(last, { isWhole: true });
    for (const value of ticks) {
      line(svg, "axis", [x(value), box.bottom], [x(value), box.bottom + 5]);
      words(svg, "", [x(value), box.bottom + 18], "middle", axisText(value));
    }
    line(svg, "axis", [box.left, box.bottom], [box.right, box.bottom]);
    const foot = box.height - 6;
    words(svg, "strong", [(box.left + box.right) / 2, foot], "middle", axes.x.name);
    if (!axes.x.ends) return;
    words(svg, "", [box.left - 6, foot], "start", `← ${axes.x.ends[0]}`);
    words(svg, "", [box.width, foot], "end", `${axes.x.ends[1]} →`);
  }

  function drawCurves() {
    const { xs, series, chosen } = state;
    const numbered = series.map((one, i) => ({ ...one, i }));
    const isChosen = ({ name }) => name === chosen;
    for (const one of [
      ...numbered.filter((other) => !isChosen(other)),
      ...numbered.filter(isChosen),
    ]) {
      draw(svg, "path", {
        class: `curve ${kindOf(one)}`,
        d: path(xs, one.values, plot.x, plot.bounded),
        "stroke-dasharray": isChosen(one) ? "none" : DASHES[(one.hue ?? one.i) % DASHES.length],
      });
      if (xs.length <= FEW) one.values.forEach((value, i) => drawPoint(svg, one, i, value));
    }
  }

  function drawPoint(parent, one, i, value) {
    const [cx, cy] = [plot.x(state.xs[i]), plot.bounded(value)];
    draw(parent, "circle", { class: `point ${kindOf(one)}`, cx, cy, r: 4 });
  }

  function drawLabels() {
    const labels = state.series
      .map((one) => ({ ...one, last: one.values.findLast((value) => value !== null) }))
      .filter(({ last }) => last !== undefined)
      .map(({ name, hue, last }) => ({ name, hue, at: plot.bounded(last) }))
      .sort((one, other) => one.at - other.at);
    // Push apart downwards, then back up from the bottom, so that no two overlap.
    labels.forEach((one, i) => {
      if (i) one.at = Math.max(one.at, labels[i - 1].at + LINE_HEIGHT);
    });
    let floor = plot.box.bottom - 4; // above the numbers of the axis
    for (const one of labels.reverse()) {
      one.at = Math.min(one.at, floor);
      floor = one.at - LINE_HEIGHT;
      const kind = one.name === state.chosen ? `accent ${state.kind ?? ""}` : "";
      const { right } = plot.box;
      line(svg, `stub ${kindOf(one)}`, [right + 4, one.at], [right + 12, one.at]);
      words(svg, kind, [right + 15, one.at + 4], "start", one.name);
    }
  }

  /** Mark where the person is: their own x on the chosen line, and the reference. */
  function drawPlace() {
    const { xs, series, chosen, at, reference } = state;
    const { box, x, bounded } = plot;
    if (reference) {
      const level = bounded(reference.value);
      line(svg, "reference", [box.left, level], [box.right, level]);
      words(svg, "strong", [box.right, level - 6], "end", reference.name);
    }
    const followed = series.find(({ name }) => name === chosen);
    const value = at && followed ? between(xs, followed.values, at, axes.x.isLog) : null;
    if (value === null) return;
    const [across, level] = [x(at), bounded(value)];
    line(svg, "guide", [across, level], [across, box.bottom], { "stroke-dasharray": "2 3" });
    draw(svg, "circle", { class: `here ${kindOf(followed)}`, cx: across, cy: level, r: 7 });
  }

  function read(i) {
    cursor = Math.max(0, Math.min(state.xs.length - 1, i));
    const { xs, series, chosen } = state;
    const { x, box, marks } = plot;
    marks.replaceChildren();
    line(marks, "guide", [x(xs[cursor]), box.top], [x(xs[cursor]), box.bottom]);
    const rows = [];
    for (const one of series) {
      const { name } = one;
      const value = one.values[cursor] ?? null;
      rows.push({ name, value: told(value), isChosen: name === chosen, order: value ?? -1 });
      if (value !== null) drawPoint(marks, one, cursor, value);
    }
    rows.sort((one, other) => other.order - one.order);
    const title = `${axes.x.name} = ${shown(xs[cursor])}`;
    tip.show(x(xs[cursor]), (box.top + box.bottom) / 2, title, rows);
    svg.setAttribute("aria-valuenow", xs[cursor]);
    svg.setAttribute("aria-valuetext", reading(cursor));
  }

  function reading(i) {
    const values = state.series.map(({ name, values: all }) => `${name} ${told(all[i] ?? null)}`);
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
    const at = () => (cursor >= 0 ? cursor : nearest(state.xs, state.at ?? state.xs[0]));
    const last = state.xs.length - 1;
    onReading(svg, { at, last, under, read, leave, take: () => cursor >= 0 && take(cursor) });
    svg.addEventListener("click", (event) => take(under(event)));
  }

  return {
    show(next) {
      state = next;
      redraw();
    },
    /** Fade what answers a question that is no longer asked, until there is an answer again. */
    fade(isPast) {
      container.classList.toggle("past", isPast);
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
  return isLog
    ? values[i - 1] ** (1 - share) * values[i] ** share
    : values[i - 1] + share * (values[i] - values[i - 1]);
}

function nearest(xs, at) {
  const distances = xs.map((value) =>
    Math.abs(Math.log(Math.max(value, 1e-12) / Math.max(at, 1e-12))),
  );
  return distances.indexOf(Math.min(...distances));
}

function axisText(value) {
  const power = Math.log10(value);
  const isLarge = value >= 1e4 || (value > 0 && value < 1e-3);
  return isLarge && Number.isInteger(power)
    ? `10${superscript(power)}`
    : String(Number(value.toPrecision(6)));
}
