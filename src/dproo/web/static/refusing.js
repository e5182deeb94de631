// Refusals: the server's sentence is shown at the field that it names, in the words of its label.

const REMEDIES = [
  [/ Add --delimiter ('.*?')\.$/, " Write $1 as the separator, under “If the columns look wrong”."],
  [/ Add --delimiter ('.*?') or the one that/, " Under “If the columns look wrong”, write $1 or the one that"],
  [/, add --encoding, --delimiter or --format; .*$/, ", say how under “If the columns look wrong”."],
  [/ (List the columns|See what is left to do): dproo .*$/, ""],
  [/ Declare a budget first: dproo .*$/, " Declare a budget first."],
  [/; see dproo plan\.$/, "; see Plan."],
  [/([:,]) dproo ledger print .* prints it again(, for free)?\.$/, "$1 see Ledger."],
  [/^(.* --[a-z].*)$/s, "$1 Such an option is one of the command line; the page has none."],
];

/** Show a sentence in a notice, or hide the notice if there is none. */
export function notice(element, sentence = "") {
  element.textContent = sentence;
  element.hidden = !sentence;
}

/** Remove every refusal from a part of the page. */
export function clear(root) {
  for (const shown of root.querySelectorAll(".notice")) notice(shown);
  for (const shown of root.querySelectorAll("p.wrong")) shown.remove();
  for (const preview of root.querySelectorAll(".preview.wrong")) {
    preview.textContent = ""; // the element stays, for the next preview
    preview.classList.remove("wrong");
  }
  for (const control of root.querySelectorAll("[aria-invalid]"))
    for (const name of ["aria-invalid", "aria-errormessage"]) control.removeAttribute(name);
}

/** Show a notice to a person, who continues from there if what had the focus is gone. */
function reach(place) {
  place.scrollIntoView({ block: "nearest" });
  if (document.activeElement !== document.body) return;
  place.tabIndex = -1;
  place.focus();
}

/**
 * Show a refusal at the field of `root` that it names, or else in `rest`, the notice of `root`.
 * With `focuses` the field takes the focus; without, a person may still be typing elsewhere.
 */
export function refuse(root, sentence, { rest = root.querySelector(".notice"), focuses = false } = {}) {
  clear(root);
  const shown = REMEDIES.reduce((text, [words, remedy]) => text.replace(words, remedy), sentence);
  const name = /^[\w.-]+/.exec(shown)?.[0] ?? "";
  const field = [...root.querySelectorAll("[data-name]")].find(
    (one) => one.dataset.name === name && one.checkVisibility(),
  );
  const control = field?.querySelector("input, select, textarea");
  if (!control) {
    notice(rest, shown.charAt(0).toUpperCase() + shown.slice(1));
    root.addEventListener("input", () => notice(rest), { once: true });
    if (focuses) reach(rest);
    return;
  }
  const label = field.querySelector("label").textContent.trim().replace(/\s+/g, " ");
  const place = document.createElement("p");
  Object.assign(place, { className: "wrong", id: `${control.id}-wrong`, role: "alert" });
  place.textContent = shown.replace(name, label);
  field.append(place);
  place.style.top = `${control.offsetTop + control.offsetHeight + 4}px`; // it moves nothing
  field.addEventListener("input", () => clear(field), { once: true });
  control.setAttribute("aria-invalid", "true");
  control.setAttribute("aria-errormessage", place.id);
  if (focuses) control.focus();
}
