// A line chart on logarithmic scales: one line a sampler, against epsilon.

import { decades, draw, line, readable, scale, words } from "./drawing.js";
import { atMost, shown, superscript } from "./fields.js";

const DASHES = ["none", "7 4", "2 3", "9 3 2 3", "4 4", "12 4"];
const LINE_HEIGHT = 15;

/**
 * Make a chart in `container`; a share is written in percent. `pick` is called with the epsilon that
 * a person picks.
 * It shows { xs, series: [{ name, values, hue }], chosen, at, reference, floor }; no value can be
 * below the floor, { name, values }. For those who cannot tell the hues apart, each line has its
 * own dashes, and its name at its end.
 */
export function lineChart(container, { label, height = 320, isShare = false }, pick) {
  let svg;
  let state;
  let plot;
  const written = isShare ? (value) => (value === null ? "–" : atMost(value)) : shown;
  const marked = isShare ? (value) => `${axisText(value * 100)}\u00a0%` : axisText;
  const kindOf = ({ name, hue }) => `hue-${hue} ${name === state.chosen ? "chosen" : ""}`;

  function paint(made, width, next) {
    [svg, state] = [made, next];
    const { xs, series, reference } = state;
    const box = { left: 56, right: width - 78, top: 14, bottom: svg.viewBox.baseVal.height - 52, width };
    const [low, high] = extent(series, reference);
    const x = scale([xs[0], xs.at(-1)], [box.left, box.right], true);
    const y = scale([low, high], [box.bottom, box.top], true);
    plot = { box, x, y, low, high, bounded: (value) => y(Math.min(Math.max(value, low), high)) };
    drawFloor();
    drawAxes();
    drawCurves();
    drawLabels();
    drawPlace();
    plot.marks = draw(svg, "g", { "pointer-events": "none" });
    return xs.map((value, i) => ({
      x: x(value),
      y: (box.top + box.bottom) / 2,
      title: `ε ${shown(value)}`,
      rows: series
        .map(({ name, values }) => ({ name, value: values[i] ?? null, isChosen: name === state.chosen }))
        .sort((one, other) => other.value - one.value) // from the top line to the lowest
        .map((row) => ({ ...row, value: written(row.value) })),
    }));
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
    for (const value of decades(low, high)) {
      line(svg, "grid", [box.left, y(value)], [box.right, y(value)]);
      words(svg, "", [box.left - 8, y(value) + 4], "end", marked(value));
    }
    for (const value of decades(state.xs[0], state.xs.at(-1))) {
      line(svg, "axis", [x(value), box.bottom], [x(value), box.bottom + 5]);
      words(svg, "", [x(value), box.bottom + 18], "middle", axisText(value));
    }
    line(svg, "axis", [box.left, box.bottom], [box.right, box.bottom]);
    const foot = box.bottom + 46;
    words(svg, "strong", [box.right + 15, box.bottom + 18], "start", "ε");
    words(svg, "", [box.left - 6, foot], "start", "← better privacy");
    words(svg, "", [box.width, foot], "end", "better accuracy →");
  }

  function drawCurves() {
    const isChosen = ({ name }) => name === state.chosen;
    for (const one of [...state.series].sort((first, second) => isChosen(first) - isChosen(second)))
      draw(svg, "path", {
        class: `curve ${kindOf(one)}`,
        d: path(state.xs, one.values, plot.x, plot.bounded),
        "stroke-dasharray": isChosen(one) ? "none" : DASHES[one.hue],
      });
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
    const { right, bottom } = plot.box;
    let floor = bottom - 4; // above the numbers of the axis
    for (const one of labels.reverse()) {
      one.at = Math.min(one.at, floor);
      floor = one.at - LINE_HEIGHT;
      line(svg, `stub ${kindOf(one)}`, [right + 4, one.at], [right + 12, one.at]);
      words(svg, one.name === state.chosen ? "accent" : "", [right + 15, one.at + 4], "start", one.name);
    }
  }

  /** Mark the chosen epsilon on the chosen line, and the reference. */
  function drawPlace() {
    const { xs, series, chosen, at, reference } = state;
    const { box, x, bounded } = plot;
    if (reference) {
      const level = bounded(reference.value);
      line(svg, "reference", [box.left, level], [box.right, level]);
      words(svg, "strong", [box.right, level - 6], "end", reference.name);
    }
    const followed = series.find(({ name }) => name === chosen);
    const value = followed ? between(xs, followed.values, at) : null;
    if (value === null) return;
    const [across, level] = [x(at), bounded(value)];
    line(svg, "guide", [across, level], [across, box.bottom], { "stroke-dasharray": "2 3" });
    draw(svg, "circle", { class: `here ${kindOf(followed)}`, cx: across, cy: level, r: 7 });
  }

  /** Mark the place that is read, on every line. */
  function mark(i) {
    const { x, box, marks, bounded } = plot;
    marks.replaceChildren();
    if (i < 0) return;
    const across = x(state.xs[i]);
    line(marks, "guide", [across, box.top], [across, box.bottom]);
    for (const one of state.series)
      if ((one.values[i] ?? null) !== null)
        draw(marks, "circle", { class: `point ${kindOf(one)}`, cx: across, cy: bounded(one.values[i]), r: 4 });
  }

  return readable(container, {
    height: (width) => (width < 480 ? 280 : height),
    label: () => `${label}; arrow keys read it, Enter takes the value`,
    paint,
    mark,
    begin: ({ xs, at }) => Math.max(0, xs.findLastIndex((value) => value <= at)),
    take: (i) => pick(state.xs[i]),
  });
}

/** Return the interval of y, in whole decades, that holds every value. */
function extent(series, reference) {
  const values = series.flatMap((one) => one.values).filter((value) => value > 0);
  if (reference) values.push(reference.value);
  const low = 10 ** Math.floor(Math.log10(Math.min(...values)));
  return [low, Math.max(10 ** Math.ceil(Math.log10(Math.max(...values)) - 1e-9), low * 10)];
}

/** Return the path of a line, broken where there is no value. */
function path(xs, values, x, y) {
  let pen = "M";
  let text = "";
  values.forEach((value, i) => {
    if (value !== null) text += `${pen}${x(xs[i]).toFixed(1)},${y(value).toFixed(1)}`;
    pen = value === null ? "M" : "L";
  });
  return text;
}

/** Return the value of a line at `at`, between the points that are known. */
function between(xs, values, at) {
  const i = xs.findIndex((value) => value >= at);
  if (i < 0 || values[i] === null) return null;
  if (i === 0 || xs[i] === at || values[i - 1] === null) return values[i];
  const share = scale([xs[i - 1], xs[i]], [0, 1], true)(at);
  return values[i - 1] ** (1 - share) * values[i] ** share;
}

function axisText(value) {
  const power = Math.log10(value);
  const isLarge = value >= 1e4 || value < 1e-3;
  return isLarge && Number.isInteger(power)
    ? `10${superscript(power)}`
    : String(Number(value.toPrecision(6)));
}
