// Small curves of the last minute.
import { svg } from "./dom.js";

const WIDTH = 120;
const HEIGHT = 28;

/** The last values of a figure, oldest first. */
export class History {
  constructor(length = 60) {
    this.length = length;
    this.values = [];
  }

  push(value) {
    this.values.push(value ?? 0);
    if (this.values.length > this.length) this.values.shift();
  }
}

/** A curve with the highest value at the top. It only repeats the number beside it, so screen readers skip it. */
export function sparkline(history) {
  const { values } = history;
  const most = Math.max(...values, 1e-9);
  // A short history fills the width, too.
  const x = (at) => (at * WIDTH) / Math.max(values.length - 1, 1);
  const y = (value) => HEIGHT - 2 - (value / most) * (HEIGHT - 4);
  const points = values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  return svg(
    "svg",
    { class: "spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true", focusable: "false" },
    svg("polygon", { points: `0,${HEIGHT} ${points} ${x(values.length - 1).toFixed(1)},${HEIGHT}` }),
    svg("polyline", { points }),
  );
}
