// Random requests of plans, the same in each run.

/** Numbers from 0 to 1 (mulberry32). */
export function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The parameters of `mayhap plan`: two of keys, rate and memory, some requirements, sometimes costs. */
export function randomPlan(next) {
  const keys = String(Math.round(10 ** (1 + 9 * next())));
  const fpr = String(Number((10 ** (-8 + 7.6 * next())).toPrecision(1 + Math.floor(5 * next()))));
  const memory = String(Math.round(10 ** (4 + 6 * next())));
  const request = [{ keys, fpr }, { keys, memory }, { fpr, memory }][Math.floor(3 * next())];
  for (const need of ["delete", "grow", "window", "static"]) if (next() < 0.2) request[need] = "1";
  if (next() < 0.15) request.except = String(Math.ceil(1000 * next()));
  if (next() < 0.25) {
    request.cost_skip = String(Number((next() / 10).toPrecision(3)));
    request.cost_lookup = String(Number((1 + 10 * next()).toPrecision(3)));
    request.present = String(Number(next().toPrecision(2)));
    if (next() < 0.5) request.cost_gib = String(Math.round(10 ** (3 + 4 * next())));
  }
  return request;
}

const FLAGS = ["delete", "grow", "window", "static"];

/** The same as words of the command line. */
export function words(request) {
  return ["plan", "--json", ...Object.entries(request).flatMap(([name, value]) => (FLAGS.includes(name) ? [`--${name}`] : [`--${name.replaceAll("_", "-")}`, value]))];
}
