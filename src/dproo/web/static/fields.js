// A number with a slider on a logarithmic scale beside it, and numbers for people.

const WHOLE = new Set(["n", "k"]);

/**
 * Return a whole number as meant: without blanks or commas between its thousands. Other texts are
 * returned as they are.
 */
export function meant(text) {
  const bare = text.trim();
  return /^[1-9]\d{0,2}([,\u00a0\u202f ]\d{3})+$/.test(bare) ? bare.replace(/\D/g, "") : bare;
}

/** Return the value of a number that may be a fraction such as 1/3. */
export function value(text) {
  const [over, under, ...rest] = text.trim().split("/");
  return rest.length || over === "" ? NaN : Number(over) / Number(under ?? 1);
}

/** Return a whole number with commas between its thousands, and any other text as it is. */
export function grouped(text) {
  const bare = meant(text);
  return /^\d+$/.test(bare) ? BigInt(bare).toLocaleString("en") : text;
}

/** Connect the text and the slider of a field; `changed` is called after either moves. */
export function logarithmic(field, changed) {
  const [text, slider] = field.querySelectorAll("input");
  const isWhole = WHOLE.has(field.dataset.name);
  const written = () => (isWhole ? meant(text.value) : text.value.trim());
  const group = () => isWhole && (text.value = grouped(text.value));
  const follow = () => {
    const number = value(written());
    if (number > 0) slider.value = Math.log10(number);
    slider.setAttribute("aria-valuetext", text.value);
  };
  text.addEventListener("input", () => {
    follow();
    changed();
  });
  text.addEventListener("change", group);
  slider.addEventListener("input", () => {
    const number = 10 ** Number(slider.value);
    text.value = isWhole ? String(Math.round(Number(number.toPrecision(2)))) : plain(number, 2);
    group();
    slider.setAttribute("aria-valuetext", text.value);
    changed();
  });
  group();
  follow();
  return {
    get value() {
      return written();
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

/** Write how many things there are. */
export const counted = (number, thing) => `${shown(number)} ${thing}${number === 1 ? "" : "s"}`;

/** Write a size for a person. */
export function bytes(size) {
  const power = Math.min(4, Math.floor(Math.log10(Math.max(size, 1)) / 3));
  return `${size / 1000 ** power}\u00a0${["bytes", "kB", "MB", "GB", "TB"][power]}`;
}

/** Write two numbers with enough digits to tell them apart. */
export function apart(one, other) {
  for (let digits = 3; digits < 12; digits++) {
    const [first, second] = [one, other].map((number) => plain(number, digits));
    if (first !== second) return [first, second];
  }
  return [String(one), String(other)];
}

/** Round a number up to so many digits, so that it never looks better than it is. */
function up(number, digits) {
  const unit = 10 ** (digits - 1 - Math.floor(Math.log10(number)));
  return Math.ceil(number * unit * (1 - 1e-12)) / unit;
}

/** Write a number for a person, rounded up where it is rounded. */
export function shownUp(number) {
  const isWhole = number === null || number === undefined || Number.isInteger(number);
  return shown(isWhole ? number : up(number, number < 1e-4 ? 2 : 3));
}

/** Write a share in percent, rounded up to two digits. */
export const atMost = (share) => `${plain(up(Math.max(share * 100, 1e-3), 2), 2)}\u00a0%`;

/** Write a share that was typed, in percent and as meant. */
export const asTyped = (share) => `${Number((share * 100).toPrecision(6))}\u00a0%`;

/** Write a certified epsilon, rounded up to six digits. */
export const certified = (epsilon) => plain(up(epsilon, 6), 6);

/** Write e to the power of a number, rounded up, however large. */
export function exponential(number) {
  if (!(number > 0)) return "…";
  const factor = Math.exp(number);
  if (factor >= 1e6) return `10${superscript(Math.ceil(number / Math.LN10))}`;
  const rounded = up(factor, factor < 10 ? 4 : 3);
  return rounded < 1000 ? plain(rounded, 4) : rounded.toLocaleString("en");
}

/** Write a power as a small number above the line. */
export const superscript = (power) =>
  [...String(power)].map((sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign] ?? "⁻").join("");
