// A number with a slider on a logarithmic scale beside it, and numbers for people.

const WHOLE = new Set(["n", "k"]);

/** Return a number as it was meant: with neither blanks nor commas between its thousands. */
export function meant(text) {
  const bare = text.trim();
  return /^\d{1,3}([,\u00a0\u202f ]\d{3})+$/.test(bare) ? bare.replace(/\D/g, "") : bare;
}

/** Return the value of a number that may be a fraction such as 1/3. */
export function value(text) {
  const [over, under, ...rest] = meant(text).split("/");
  return rest.length || over === "" ? NaN : Number(over) / Number(under ?? 1);
}

/** Connect the text and the slider of a field; `changed` is called after either moves. */
export function logarithmic(field, changed) {
  const [text, slider] = field.querySelectorAll("input");
  const isWhole = WHOLE.has(field.dataset.name);
  const follow = () => {
    const number = value(text.value);
    if (number > 0) slider.value = Math.log10(number);
    slider.setAttribute("aria-valuetext", text.value);
  };
  text.addEventListener("input", () => {
    follow();
    changed();
  });
  slider.addEventListener("input", () => {
    const number = 10 ** Number(slider.value);
    text.value = isWhole ? String(Math.round(Number(number.toPrecision(2)))) : plain(number, 2);
    slider.setAttribute("aria-valuetext", text.value);
    changed();
  });
  follow();
  return {
    get value() {
      return meant(text.value);
    },
    set value(next) {
      text.value = next;
      follow();
      changed();
    },
  };
}

/** Write a number with so many digits and without an exponent. */
export function plain(number, digits) {
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(number)));
  return number
    .toFixed(Math.min(places, 12))
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");
}

/** Write a number for a person. */
export function shown(number) {
  if (number === null || number === undefined) return "–";
  if (Number.isInteger(number)) return number.toLocaleString("en");
  if (number >= 1000) return Math.round(number).toLocaleString("en");
  return number < 1e-4 ? number.toExponential(1) : plain(number, 3);
}

/** Write two numbers with as many digits as it takes to tell them apart. */
export function apart(one, other) {
  for (let digits = 3; digits < 12; digits++) {
    const [first, second] = [one, other].map((number) => plain(number, digits));
    if (first !== second) return [first, second];
  }
  return [String(one), String(other)];
}

/** Write a share in percent, rounded up to two digits: never better than it is. */
export function atMost(share) {
  const places = Math.max(0, 1 - Math.floor(Math.log10(share * 100)));
  const unit = 10 ** Math.min(places, 4);
  const rounded = Math.ceil(share * 100 * unit * (1 - 1e-12)) / unit;
  return `${Math.max(rounded, 1e-3)} %`;
}

/** Write e to the power of a number, however large. */
export function exponential(number) {
  if (!(number > 0)) return "…";
  const factor = Math.exp(number);
  if (factor < 1e6) return plain(factor, factor < 10 ? 4 : 3);
  return `10${superscript(Math.floor(number / Math.LN10))} and more`;
}

/** Write a power as a small number above the line. */
export function superscript(power) {
  return [...String(power)].map((sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign] ?? "⁻").join("");
}
