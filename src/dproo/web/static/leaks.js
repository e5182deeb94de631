// Where the printed DS-ROO leaks: its table beside the private one, and the certificate's witness.

import { ask, latest } from "./api.js";
import { witnessChart } from "./bars.js";
import { find, make } from "./drawing.js";
import { apart, shown } from "./fields.js";
import { lineChart } from "./lines.js";

/** Show the chosen case; `painted` gives the parameters of what is painted. */
export function showLeaks(painted) {
  const tables = lineChart(find("tables"), {
    label: "Obscuring probability q against the smallest count m",
    x: { name: "m" },
    y: {},
  });
  const isPainted = () => find("preset").value === "painted";
  const query = () => {
    if (isPainted()) return painted();
    const [n, k, epsilon] = find("preset").value.split(",");
    return { n, k, epsilon };
  };
  const refresh = latest(() => ask("tables", { query: query() }), {
    show: (answer) => show(answer, tables),
    refuse: (sentence) => (find("verdict").textContent = sentence),
    wait: 150,
  });
  find("preset").addEventListener("change", () => refresh(0));
  refresh(0);
  return { painted: () => isPainted() && refresh() };
}

function show(
  { private: ours, printed, printed_certificate: found, private_certificate: kept, probability },
  tables,
) {
  const size = Math.max(ours.length, printed.length, 2);
  const series = [
    ["ours", ours],
    ["printed", printed],
  ].map(([name, values]) => ({
    name,
    values: Array.from({ length: size }, (_, m) => values[Math.min(m, values.length - 1)]),
  }));
  tables.show({ xs: series[0].values.map((_, m) => m), series, chosen: "printed", kind: found.holds ? "" : "leak" });
  showVerdict(found, kept, probability);
  showWitness(found, probability);
}

function showVerdict(found, kept, probability) {
  const place = find("verdict");
  const claimed = value(found.claimed_epsilon);
  place.replaceChildren();
  if (found.holds) {
    place.append(
      `Here the printed table keeps its word: its worst loss is ${shown(found.epsilon)}, and ε = ${shown(claimed)} was claimed.`,
    );
  } else {
    place.append(`ε = ${shown(claimed)} is claimed. The true loss is `);
    make(place, "strong", { class: "leak" }, `${shown(found.epsilon)}, ${times(found.epsilon / claimed)}`);
    const [factor, allowed] = apart(probability.after / probability.before, Math.exp(claimed));
    place.append(`: one record changes a probability by a factor ${factor}, not ${allowed}.`);
  }
  place.append(` Our table on the same case: certified, worst loss ${shown(kept.epsilon)}.`);
}

function times(factor) {
  return factor < 1.1
    ? `${((factor - 1) * 100).toPrecision(2)} % more`
    : `${shown(Number(factor.toPrecision(3)))} times as much`;
}

/** Return the number that a fraction such as 1/100 denotes. */
function value(text) {
  const [over, under = 1] = text.split("/");
  return over / under;
}

function showWitness(found, probability) {
  const { before, after, letters } = found.witness;
  const watched = letters[0];
  const cuts = [...new Set([...edges(before), ...edges(after), watched, watched + 1])].sort(
    (a, b) => a - b,
  );
  const groups = cuts.slice(0, -1).map((start, i) => {
    const [old, next] = [countAt(before, start), countAt(after, start)];
    return { start, size: cuts[i + 1] - start, old, next, most: Math.max(old, next) };
  });
  const most = Math.max(...groups.map((group) => group.most));
  const columns = (key) =>
    groups.map(({ start, size, ...group }) => ({
      name:
        size === 1
          ? `value\n${(start + 1).toLocaleString("en")}`
          : `${size.toLocaleString("en")}\nvalues`,
      count: group[key],
      most,
      isWatched: start === watched,
      isLeak: !found.holds,
      isChanged: group.old !== group.next,
    }));
  find("witness").replaceChildren();
  for (const [key, title, share] of [
    ["old", "One dataset", probability.before],
    ["next", "Its neighbour", probability.after],
  ]) {
    witnessChart(find("witness"), {
      title,
      columns: columns(key),
      caption: `${title}: value ${(watched + 1).toLocaleString("en")} is released with probability ${share.toPrecision(4)}.`,
    });
  }
}

function edges(runs) {
  let end = 0;
  return [0, ...runs.map(([, size]) => (end += size))];
}

function countAt(runs, place) {
  let end = 0;
  for (const [count, size] of runs) {
    end += size;
    if (place < end) return count;
  }
  return 0;
}
