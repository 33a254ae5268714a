// Reads and writes JSON without rounding: whole numbers that a double cannot hold become BigInts.

export function parse(text) {
  return JSON.parse(text, (_, value, context) => {
    if (typeof value !== "number" || Number.isSafeInteger(value) || !Number.isInteger(value)) return value;
    const source = context?.source;
    return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
  });
}

export function stringify(value) {
  return JSON.stringify(value, (_, one) => {
    if (typeof one !== "bigint") return one;
    return JSON.rawJSON ? JSON.rawJSON(String(one)) : Number(one);
  });
}
