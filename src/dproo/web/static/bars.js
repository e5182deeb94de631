// A histogram to read: a law letter by letter, and draws that fall on it.

import { bar, draw, line, readable, scale, words } from "./drawing.js";

/** Return the name of a possible value. */
export const letter = (i) => String.fromCharCode(97 + i);

/**
 * Make a small chart of shares and, within them, probabilities. It shows { name, outer, inner, most,
 * isOutlined, rows }; `rows` returns the names and numbers to show for a letter.
 */
export function lawChart(container, { height = 164 } = {}) {
  let svg;
  let tops = [];

  function paint(made, width, { outer, inner, most, isOutlined, rows }) {
    svg = made;
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
    return tops.map(({ x, y: top }, i) => ({
      x,
      y: Math.max(top, 30),
      title: `value ${letter(i)}`,
      rows: rows(i).map(([name, value], j) => ({ name, value, isChosen: j === 1 })),
    }));
  }

  return {
    show: readable(container, {
      height: () => height,
      label: ({ name }) => `${name}: arrow keys read value by value`,
      paint,
    }),
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
