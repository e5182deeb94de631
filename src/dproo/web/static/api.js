// Questions to the server; it computes, the page only draws.

import { parse, stringify } from "./exact.js";
import { find, forget } from "./key.js";

const key = await find(); // without one a room does not begin
const changes = new BroadcastChannel("dproo-ledger");
const tab = crypto.randomUUID();
const lost = document.getElementById("lost");
let places = 0;

// Other answers are only drawn, and charts take no BigInts.
const HOLDS_VALUES = /^(codebook|columns|ledger|order|release)\b/;

/** No answer has come, or only a part: whether the server has acted is not known. */
export class Lost extends Error {
  constructor() {
    super(lost.textContent);
  }
}

/**
 * Ask for one object; a refusal is an Error whose message is the server's sentence. The signal
 * names the place that waits: a new question from it replaces its last one on the server. `part`
 * tells apart questions that one place asks at the same time.
 */
export async function ask(path, { query, body, signal, part = "" } = {}) {
  const address = `/api/${path}${query ? `?${new URLSearchParams(query)}` : ""}`;
  const headers = { "Dproo-Key": key };
  const options = { headers, signal };
  if (signal?.place) headers["Dproo-Place"] = `${tab}.${signal.place}_${part}`;
  if (body) {
    headers["Content-Type"] = "application/json";
    Object.assign(options, { method: "POST", body: stringify(body) });
  }
  let answer;
  try {
    answer = await fetch(address, options);
  } catch (error) {
    if (signal?.aborted) throw error;
    lost.hidden = false;
    throw new Lost();
  }
  lost.hidden = true;
  if (answer.status === 403) forget();
  const read = HOLDS_VALUES.test(path) ? parse : JSON.parse;
  const object = await answer.text().then(read).catch(() => {
    throw signal?.aborted ? signal.reason : new Lost();
  });
  if (!answer.ok) throw new Error(object.error);
  return object;
}

const PATIENCE = 300;

/** Milliseconds until a lost question is asked again. */
export const AGAIN = 3000;

/**
 * Return a function that runs `action` once its calls pause for `wait` milliseconds. A new call
 * cancels the question before, whose answer is never shown; `stop` of the function cancels it
 * without another one. A call resolves when the newest answer is shown, and never if it is stopped.
 * While an answer takes long, `place` is marked as busy. `refuse` gets the sentence, and whether
 * the answer was lost.
 */
export function latest(action, { show, refuse, place, wait = 100 }) {
  let timer;
  let running;
  let waiting = [];
  const here = ++places;
  const run = async () => {
    const mine = new AbortController();
    mine.signal.place = here;
    running = mine;
    const late = setTimeout(() => place?.setAttribute("aria-busy", "true"), PATIENCE);
    try {
      const answer = await action(mine.signal);
      if (running === mine) show(answer);
    } catch (error) {
      if (running === mine) refuse(error.message, error instanceof Lost);
    }
    clearTimeout(late);
    if (running !== mine) return;
    place?.removeAttribute("aria-busy");
    for (const proceed of waiting.splice(0)) proceed();
  };
  const cancel = () => {
    clearTimeout(timer);
    running?.abort();
    running = undefined;
    place?.removeAttribute("aria-busy");
  };
  const stop = () => {
    cancel();
    waiting = [];
  };
  const start = (delay = wait) => {
    cancel();
    timer = setTimeout(run, delay);
    return new Promise((proceed) => waiting.push(proceed));
  };
  return Object.assign(start, { stop });
}

/** Tell the other tabs that the ledger has changed. */
export const tellChange = () => changes.postMessage("changed");

/** Call `refresh` when the ledger may have changed: in another tab, or while this one was hidden. */
export function onChange(refresh) {
  changes.addEventListener("message", refresh);
  document.addEventListener("visibilitychange", () => document.hidden || refresh());
}
