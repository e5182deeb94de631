// Questions to the server; it computes, the page only draws.

/** Ask for one object; a refusal is an Error whose message is the server's sentence. */
export async function ask(path, { query, body } = {}) {
  const address = `/api/${path}${query ? `?${new URLSearchParams(query)}` : ""}`;
  const options = body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  let answer;
  try {
    answer = await fetch(address, options);
  } catch {
    throw new Error("The server does not answer: was dproo serve ended?");
  }
  const object = await answer.json();
  if (!answer.ok) throw new Error(object.error);
  return object;
}

/** Return a function that runs `action` once calls pause, and shows only the newest result. */
export function latest(action, { show, refuse, wait = 120 }) {
  let newest = 0;
  let timer;
  return (delay = wait) => {
    const mine = ++newest;
    clearTimeout(timer);
    timer = setTimeout(async () => {
      try {
        const result = await action();
        if (mine === newest) show(result);
      } catch (error) {
        if (mine === newest) refuse(error.message);
      }
    }, delay);
  };
}

/** Show a sentence in a notice, or hide the notice if there is none. */
export function notice(element, sentence = "") {
  element.textContent = sentence;
  element.hidden = !sentence;
}
