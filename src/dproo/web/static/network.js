// The network of a row: its columns from left to right, each with what it costs, and arrows.

import { draw, line, onWidth, words } from "./drawing.js";
import { shown } from "./fields.js";

const [WIDE, HIGH, GAP] = [132, 46, 12];

/** Return how far each column is from one that depends on nothing. */
function depths(columns) {
  const found = new Map();
  for (const { column, parents } of columns)
    found.set(column, parents.length ? 1 + Math.max(...parents.map((one) => found.get(one) ?? 0)) : 0);
  return found;
}

const short = (text) => (text.length <= 16 ? text : `${text.slice(0, 15)}…`);

/** Make a drawing of the steps of a row in `container`. */
export function networkChart(container) {
  let plan;
  let svg;
  const redraw = onWidth(container, (width) => {
    svg?.remove();
    if (!plan) return;
    const isLearned = plan.network === "learned";
    const depth = isLearned ? new Map() : depths(plan.columns);
    const most = Math.max(1, Math.floor((width + GAP) / (WIDE + GAP)));
    // One line for each depth, broken where it is too long.
    const lines = [];
    for (const step of plan.columns) {
      const at = depth.get(step.column) ?? 0;
      const last = lines.findLast((one) => one.at === at);
      if (last && last.steps.length < most) last.steps.push(step);
      else lines.push({ at, steps: [step] });
    }
    lines.sort((one, other) => one.at - other.at);
    const height = lines.length * (HIGH + 30) - 20;
    const told = plan.columns.map(
      ({ column, parents, epsilon }) =>
        `${column} ε ${shown(epsilon)}${!isLearned && parents.length ? ` given ${parents.join(" and ")}` : ""}`,
    );
    svg = draw(container, "svg", {
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `The columns of the row: ${told.join("; ")}`,
    });
    const places = new Map();
    lines.forEach(({ steps }, i) =>
      steps.forEach(({ column }, j) => {
        const start = (width - steps.length * (WIDE + GAP) + GAP) / 2;
        places.set(column, [Math.max(0, start) + j * (WIDE + GAP), i * (HIGH + 30)]);
      }),
    );
    if (!isLearned)
      for (const { column, parents } of plan.columns)
        for (const parent of parents) {
          const [[x1, y1], [x2, y2]] = [places.get(parent), places.get(column)];
          line(svg, "guide", [x1 + WIDE / 2, y1 + HIGH], [x2 + WIDE / 2, y2 - 5]);
          draw(svg, "path", {
            class: "point",
            d: `M${x2 + WIDE / 2},${y2}l-4,-7h8z`,
          });
        }
    for (const { column, k, epsilon } of plan.columns) {
      const [x, y] = places.get(column);
      draw(svg, "rect", { class: "node", x: x + 1, y, width: WIDE - 2, height: HIGH, rx: 8 });
      words(svg, "strong", [x + WIDE / 2, y + 20], "middle", short(column));
      words(svg, "", [x + WIDE / 2, y + 37], "middle", `k ${shown(k)} · ε ${shown(epsilon)}`);
    }
  });
  return {
    show(next) {
      plan = next;
      redraw();
      if (!next) svg?.remove();
    },
  };
}
