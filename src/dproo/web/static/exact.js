// JSON whose whole numbers are exact, however long: beyond 2^53 they are BigInts.

/** Return a whole number of decimal digits. */
export const integer = (digits) => (Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits));

/** Return the value of a JSON text. */
export const parse = (text) =>
  JSON.parse(text, (_, value, at) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(at.source) ? BigInt(at.source) : value,
  );

/** Return a value as JSON. A number beyond 2^53 that is no BigInt was written as a decimal. */
export const stringify = (value, indent) =>
  JSON.stringify(
    value,
    (_, one) => {
      const isDecimal = Number.isInteger(one) && !Number.isSafeInteger(one);
      if (typeof one === "bigint" || isDecimal) return JSON.rawJSON(isDecimal ? one.toExponential() : one);
      return one;
    },
    indent,
  );

const sorted = (value) =>
  value && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]))
    : value;

/** Return whether two values are the same in JSON, in whatever order their keys are. */
export const isSame = (one, other) => stringify(sorted(one)) === stringify(sorted(other));
