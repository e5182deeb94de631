// Questions to the server; it computes, the page only draws.

import { find, forget } from "./key.js";

const key = await find(); // without one a room does not begin

/** Ask for one object; a refusal is an Error whose message is the server's sentence. */
export async function ask(path, { query, body } = {}) {
  const address = `/api/${path}${query ? `?${new URLSearchParams(query)}` : ""}`;
  const headers = { "Dproo-Key": key };
  const options = { headers };
  if (body) {
    headers["Content-Type"] = "application/json";
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  }
  let answer;
  try {
    answer = await fetch(address, options);
  } catch {
    throw new Error("The server does not answer: was dproo serve ended?");
  }
  if (answer.status === 403) forget();
  const object = await answer.json();
  if (!answer.ok) throw new Error(object.error);
  return object;
}

const PATIENCE = 300;

/**
 * Return a function that asks for `action` anew: once calls pause for `wait` milliseconds, and
 * never before the last answer is there, so that the server is not asked faster than it answers.
 * If an answer takes long, `place` says that it is busy.
 */
export function latest(action, { show, refuse, place, wait = 100 }) {
  let timer;
  let isRunning = false;
  let isWanted = false;
  const run = async () => {
    isWanted = isRunning;
    if (isRunning) return;
    isRunning = true;
    const late = setTimeout(() => place?.setAttribute("aria-busy", "true"), PATIENCE);
    try {
      show(await action());
    } catch (error) {
      refuse(error.message);
    }
    clearTimeout(late);
    place?.removeAttribute("aria-busy");
    isRunning = false;
    if (isWanted) run();
  };
  return (delay = wait) => {
    clearTimeout(timer);
    timer = setTimeout(run, delay);
  };
}

/** Show a sentence in a notice, or hide the notice if there is none. */
export function notice(element, sentence = "") {
  element.textContent = sentence;
  element.hidden = !sentence;
}
