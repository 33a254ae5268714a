// The options of a request, as names and values.

/** Empty values are left out; a list becomes several pairs. */
export function pairs(options) {
  return Object.entries(options).flatMap(([name, value]) =>
    [value].flat().filter((one) => one !== null && one !== undefined && one !== "").map((one) => [name, String(one)]));
}
