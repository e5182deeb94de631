// Histograms to read: a law letter by letter, draws that fall on it, the datasets of a witness.

import { Tip, bar, draw, line, make, onReading, onWidth, scale, words } from "./drawing.js";
import { shown } from "./fields.js";

/** Return the name of a possible value. */
export function letter(i) {
  return String.fromCharCode(97 + i);
}

/** Make a small chart of shares and, within them, probabilities; it can be read letter by letter. */
export function lawChart(container, { height = 164 } = {}) {
  const tip = new Tip(container);
  let state;
  let svg;
  let cursor = -1;
  let tops = [];
  const redraw = onWidth(container, drawAt);

  function drawAt(width) {
    if (!state) return;
    const hadFocus = svg && document.activeElement === svg;
    const held = cursor; // removing what is focused takes its focus, and the cursor with it
    svg?.remove();
    cursor = held;
    const { name, outer, inner, most, isOutlined } = state;
    svg = draw(null, "svg", {
      height,
      viewBox: `0 0 ${width} ${height}`,
      tabindex: 0,
      role: "slider",
      "aria-label": `${name}: arrow keys read value by value`,
      "aria-valuemin": 0,
      "aria-valuemax": inner.length - 1,
    });
    container.prepend(svg);
    const bottom = height - 18;
    const y = scale([0, most], [bottom, 10]);
    const wide = width / inner.length;
    tops = inner.map((value, i) => ({ x: (i + 0.5) * wide, y: y(Math.max(value, outer[i])) }));
    inner.forEach((value, i) => {
      // `share` of the column wide, and in its middle
      const upright = (kind, level, share) =>
        bar(svg, kind, [(i + (1 - share) / 2) * wide, y(level)], share * wide, bottom - y(level));
      bar(svg, "column", [i * wide, 0], wide, bottom, { rx: 3 });
      if (!isOutlined) upright("bar-painted", outer[i], 0.84);
      upright("bar-law", value, isOutlined ? 0.76 : 0.48);
      if (isOutlined) upright("bar-outline", outer[i], 0.76);
      words(svg, "", [(i + 0.5) * wide, height - 4], "middle", letter(i));
    });
    line(svg, "axis", [0, bottom], [width, bottom]);
    svg.setAttribute("aria-valuenow", Math.max(cursor, 0));
    svg.setAttribute("aria-valuetext", reading(Math.max(cursor, 0)));
    const under = (event) => Math.floor((event.clientX - svg.getBoundingClientRect().left) / wide);
    onReading(svg, { at: () => cursor, last: inner.length - 1, under, read, leave });
    if (hadFocus) svg.focus();
    if (cursor >= 0) read(cursor);
  }

  const rows = (i) => state.rows(i).map(([name, value], j) => ({ name, value, isChosen: j === 1 }));

  function reading(i) {
    const told = rows(i).map(({ name, value }) => `${name} ${value}`);
    return `value ${letter(i)}: ${told.join(", ")}`;
  }

  function read(i) {
    cursor = Math.max(0, Math.min(state.inner.length - 1, i));
    const { x, y } = tops[cursor];
    tip.show(x, Math.max(y, 30), `value ${letter(cursor)}`, rows(cursor));
    svg.setAttribute("aria-valuenow", cursor);
    svg.setAttribute("aria-valuetext", reading(cursor));
  }

  function leave() {
    cursor = -1;
    tip.hide();
  }

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
  const read = columns.map(({ name, count }) => `${name} ${count} records`).join(", ");
  const floor = 150;
  onWidth(container, (width) => {
    container.replaceChildren();
    const svg = draw(container, "svg", {
      height: 190,
      viewBox: `0 0 ${width} 190`,
      role: "img",
      "aria-label": `${title}: ${read}`,
    });
    const y = scale([0, Math.max(...columns.map((one) => one.most), 1)], [floor, 24]);
    const wide = width / columns.length;
    columns.forEach(({ name, count, isWatched, isChanged, isLeak }, i) => {
      const middle = (i + 0.5) * wide;
      const told = isLeak ? "accent leak" : "accent";
      const kind = isWatched ? `bar-law ${isLeak ? "leak" : ""}` : "bar-plain";
      bar(svg, kind, [middle - 0.35 * wide, y(count)], 0.7 * wide, floor - y(count), { rx: 2 });
      const emphasis = isChanged ? "strong" : "";
      words(svg, isWatched ? told : emphasis, [middle, y(count) - 6], "middle", shown(count));
      name.split("\n").forEach((part, j) => {
        words(svg, isWatched ? told : "", [middle, floor + 17 + 15 * j], "middle", part);
      });
    });
    line(svg, "axis", [0, floor], [width, floor]);
  });
}
