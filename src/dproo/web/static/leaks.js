// Where the printed DS-ROO leaks: what the certificate finds, and the two datasets that show it.

import { ask, latest } from "./api.js";
import { find, make, tabulate } from "./drawing.js";
import { apart, shown, value } from "./fields.js";

/** Show the chosen case; `painted` gives the parameters of what is painted. */
export function showLeaks(painted) {
  const isPainted = () => find("preset").value === "painted";
  const query = () => {
    if (isPainted()) return painted();
    const [n, k, epsilon] = find("preset").value.split(",");
    return { n, k, epsilon };
  };
  const refresh = latest((signal) => ask("tables", { query: query(), signal }), {
    show: (answer) => {
      fade(false);
      showVerdict(answer);
      showWitness(answer);
    },
    refuse: (sentence) => {
      fade(false);
      find("verdict").textContent = sentence;
      find("witness").replaceChildren();
    },
    wait: 150,
  });
  const fade = (isPast) => {
    for (const id of ["verdict", "witness"]) find(id).classList.toggle("past", isPast);
  };
  const again = (delay) => {
    fade(true); // what is in sight is of the case before
    refresh(delay);
  };
  find("preset").addEventListener("change", () => again(0));
  if (!isPainted() || painted().k) refresh(0); // what is to be painted may not be there yet
  return { painted: () => isPainted() && again() };
}

function showVerdict({ printed_certificate: found, private_certificate: kept, probability }) {
  const place = find("verdict");
  const claimed = value(found.claimed_epsilon);
  if (found.holds)
    place.textContent = `Here the printed table keeps its word: its worst loss is ${shown(found.epsilon)}, and ε = ${shown(claimed)} was claimed.`;
  else {
    place.textContent = `ε = ${shown(claimed)} is claimed. The true loss is `;
    make(place, "strong", {}, `${shown(found.epsilon)}, ${times(found.epsilon / claimed)}`);
    const [factor, allowed] = apart(probability[1] / probability[0], Math.exp(claimed));
    place.append(`: one record changes a probability by a factor ${factor}, not ${allowed}.`);
  }
  place.append(` Our table on the same case: certified, worst loss ${shown(kept.epsilon)}.`);
}

const times = (factor) =>
  factor < 1.1
    ? `${((factor - 1) * 100).toPrecision(2)}\u00a0% more`
    : `${shown(Number(factor.toPrecision(3)))} times as much`;

/** Show both datasets, adjacent equal counts in one row, and what follows from them. */
function showWitness({ printed_certificate: { witness }, probability, printed, private: ours }) {
  const watched = witness.letters[0];
  const [before, after] = [witness.before, witness.after].map((runs) =>
    runs.flatMap(([count, size]) => Array(size).fill(count)),
  );
  const groups = [];
  before.forEach((count, i) => {
    const last = groups.at(-1);
    const isSame = last && last.start !== watched && i !== watched;
    if (isSame && last.counts[0] === count && last.counts[1] === after[i]) last.size++;
    else groups.push({ start: i, size: 1, counts: [count, after[i]] });
  });
  const name = (i) => `value ${shown(i + 1)}`;
  const rows = groups.map(({ start, size, counts }) => [
    size === 1 ? `Records with ${name(start)}` : `Records with each of ${shown(size)} others`,
    ...counts.map(shown),
  ]);
  const written = (shares) => (shares[0] === shares[1] ? shares.map(shown) : apart(...shares));
  rows.push([`Probability of ${name(watched)}`, ...written(probability)]);
  rows.push(["q, as printed", ...written(printed)]);
  rows.push(["q, in our table", ...written(ours)]);
  tabulate(find("witness"), ["Quantity", "One dataset", "Its neighbour"], rows, { isNamed: true });
}
