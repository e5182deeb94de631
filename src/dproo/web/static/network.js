// The steps of a row: its columns in the order of drawing, what each costs and depends on.

import { make } from "./drawing.js";
import { shown } from "./fields.js";

const MOST = 20;

/** Show the steps of a plan in `place`, the first of them if they are many; without one, none. */
export function showNetwork(place, plan) {
  place.replaceChildren();
  if (!plan) return;
  const list = make(place, "ul", { class: "network", "aria-label": "The columns of the row" });
  for (const { column, k, epsilon, parents } of plan.columns.slice(0, MOST)) {
    const item = make(list, "li", { class: "node" });
    make(item, "b", {}, column);
    const given = plan.network !== "learned" && parents.length ? `, given ${parents.join(" and ")}` : "";
    item.append(` k ${shown(k)} · ε ${shown(epsilon)}${given}`);
  }
  const more = plan.columns.length - MOST;
  if (more > 0) make(list, "li", {}, `and ${shown(more)} more`);
}
