// A number with a slider on a logarithmic scale beside it.

const WHOLE = new Set(["n", "k"]);

/** Connect the text and the slider of a field; `changed` is called after either moves. */
export function logarithmic(field, changed) {
  const [text, slider] = field.querySelectorAll("input");
  const isWhole = WHOLE.has(field.dataset.name);
  const follow = () => {
    const value = Number(text.value);
    if (value > 0) slider.value = Math.log10(value);
    slider.setAttribute("aria-valuetext", text.value);
  };
  text.addEventListener("input", () => {
    follow();
    changed();
  });
  slider.addEventListener("input", () => {
    const value = 10 ** Number(slider.value);
    text.value = isWhole ? String(Math.round(Number(value.toPrecision(2)))) : plain(value, 2);
    slider.setAttribute("aria-valuetext", text.value);
    changed();
  });
  follow();
  return {
    get value() {
      return text.value.trim();
    },
    set value(value) {
      text.value = value;
      follow();
      changed();
    },
  };
}

/** Write a number with so many digits and without an exponent. */
export function plain(value, digits) {
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(value)));
  return value
    .toFixed(Math.min(places, 12))
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");
}

/** Write a number for a person. */
export function shown(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  if (value >= 1000) return Math.round(value).toLocaleString("en");
  return value < 1e-4 ? value.toExponential(1) : plain(value, 3);
}
