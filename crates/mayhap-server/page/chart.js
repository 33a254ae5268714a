// Line charts as SVG: axes, a legend, and values under the pointer or the arrow keys. The points come from Rust; this file only maps
// them to pixels.
import { append, element, replace, svg } from "./dom.js";

const HEIGHT = 280;
const MARGIN = { top: 26, right: 16, bottom: 40, left: 52 };

/**
 * A chart that redraws itself when its width changes. `update` takes
 * { label, x: { name, isLog, from, to, ticks: [[value, text]], format }, y: same,
 *   lines: [{ name, colour, points: [[x, y]], isDashed, isStrong }], marks: [{ x, y, text }] }.
 */
export function chart() {
  const picture = element("div", { class: "chart-picture" });
  const values = element("p", { class: "chart-values", "aria-live": "polite" });
  const legend = element("ul", { class: "legend" });
  const node = element("div", { class: "chart" }, picture, values, legend);
  let spec = null;
  let cursor = null;

  const draw = () => {
    if (spec === null || picture.clientWidth === 0) return;
    const drawn = drawing(spec, picture.clientWidth, cursor);
    const hadFocus = picture.contains(document.activeElement);
    replace(picture, drawn);
    if (hadFocus) drawn.focus();
    drawn.addEventListener("pointermove", (event) => {
      const box = drawn.getBoundingClientRect();
      moveTo(nearest(spec, valueAt(spec.x, event.clientX - box.left, box.width)));
    });
    drawn.addEventListener("pointerleave", () => moveTo(null));
    drawn.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const at = longest(spec).points.map(([x]) => x);
      if (spec.x.from > spec.x.to) at.sort((a, b) => b - a);
      const next = cursor === null ? 0 : at.indexOf(cursor) + step;
      moveTo(at[Math.max(0, Math.min(at.length - 1, next))]);
    });
  };

  function moveTo(x) {
    if (x === cursor) return;
    cursor = x;
    const old = picture.querySelector(".cursor");
    old?.replaceWith(cursorOf(spec, picture.clientWidth, cursor));
    showValues();
  }

  function showValues() {
    if (cursor === null) {
      values.textContent = spec.hint ?? "";
      return;
    }
    replace(
      values,
      element("strong", {}, spec.x.format(cursor)),
      spec.lines.map((line) => {
        const y = valueOf(line, cursor);
        return y === null ? null : element("span", {}, swatch(line), `${line.name} ${spec.y.format(y)}`);
      }),
    );
  }

  new ResizeObserver(draw).observe(picture);
  return {
    node,
    update(newSpec) {
      spec = newSpec;
      cursor = null;
      replace(legend, spec.lines.map((line) => element("li", {}, swatch(line), line.name)));
      showValues();
      draw();
    },
  };
}

function swatch(line) {
  const mark = svg("svg", { class: "swatch", viewBox: "0 0 18 8", width: 18, height: 8, "aria-hidden": "true" });
  append(mark, svg("line", { x1: 0, x2: 18, y1: 4, y2: 4, class: line.colour, "stroke-width": line.isStrong ? 4 : 2.5, "stroke-dasharray": line.isDashed ? "4 3" : null }));
  return mark;
}

function share(axis, value) {
  if (axis.isLog) return Math.log(value / axis.from) / Math.log(axis.to / axis.from);
  return (value - axis.from) / (axis.to - axis.from);
}

function isInside(axis, value) {
  if (value === null || value === undefined) return false;
  const at = share(axis, value);
  return at > -0.001 && at < 1.001;
}

function valueAt(axis, pixels, width) {
  const at = Math.max(0, Math.min(1, (pixels - MARGIN.left) / (width - MARGIN.left - MARGIN.right)));
  return axis.isLog ? axis.from * (axis.to / axis.from) ** at : axis.from + at * (axis.to - axis.from);
}

function longest(spec) {
  return spec.lines.reduce((most, line) => (line.points.length > most.points.length ? line : most));
}

function nearest(spec, value) {
  let best = null;
  for (const [x] of longest(spec).points) {
    const distance = Math.abs(share(spec.x, x) - share(spec.x, value));
    if (best === null || distance < best.distance) best = { x, distance };
  }
  return best.x;
}

/** The value of a line at one of the points of the longest one; null beyond its end. */
function valueOf(line, x) {
  const point = line.points.find(([at]) => at === x);
  return point ? point[1] : null;
}

function drawing(spec, width, cursor) {
  const right = width - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const px = (value) => MARGIN.left + share(spec.x, value) * (right - MARGIN.left);
  const py = (value) => bottom - share(spec.y, value) * (bottom - MARGIN.top);
  const root = svg("svg", { class: "chart-svg", viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", tabindex: 0, "aria-label": spec.label });
  for (const [value, text] of spec.y.ticks) {
    const y = py(value);
    append(root, svg("line", { class: "grid-line", x1: MARGIN.left, x2: right, y1: y, y2: y }), svg("text", { class: "tick", x: MARGIN.left - 8, y: y + 4, "text-anchor": "end" }, text));
  }
  let end = -Infinity;
  for (const [value, text] of spec.x.ticks) {
    const x = px(value);
    append(root, svg("line", { class: "grid-line", x1: x, x2: x, y1: MARGIN.top, y2: bottom }));
    // Labels that would overlap are left out. A digit takes about 7 pixels.
    const half = text.length * 3.5 + 3;
    if (x - half > end) {
      append(root, svg("text", { class: "tick", x, y: bottom + 17, "text-anchor": "middle" }, text));
      end = x + half;
    }
  }
  append(root, svg("text", { class: "axis-name", x: right, y: HEIGHT - 5, "text-anchor": "end" }, spec.x.name));
  append(root, svg("text", { class: "axis-name", x: 0, y: 12 }, spec.y.name));
  // What is outside of the axes is cut off; a line along their edge would look like values.
  const frame = [MARGIN.left - 2, MARGIN.top - 2, right - MARGIN.left + 4, bottom - MARGIN.top + 4];
  const plot = svg("svg", { x: frame[0], y: frame[1], width: frame[2], height: frame[3], viewBox: frame.join(" ") });
  append(root, plot);
  for (const line of spec.lines) {
    const inside = line.points.filter(([, y]) => !spec.y.isLog || y > 0);
    const path = inside.map(([x, y], at) => `${at === 0 ? "M" : "L"}${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join("");
    append(plot, svg("path", { class: `line ${line.colour}`, d: path, "stroke-width": line.isStrong ? 3.2 : 1.8, "stroke-dasharray": line.isDashed ? "5 4" : null }));
  }
  for (const mark of spec.marks ?? []) {
    const x = px(mark.x);
    if (x < MARGIN.left - 1 || x > right + 1) continue;
    append(root, svg("line", { class: "mark-line", x1: x, x2: x, y1: MARGIN.top, y2: bottom }));
    if (isInside(spec.y, mark.y)) append(root, svg("circle", { class: "mark-dot", cx: x, cy: py(mark.y), r: 5 }));
    const isLeft = x > right - 120;
    append(root, svg("text", { class: "mark-text", x: x + (isLeft ? -8 : 8), y: bottom - 8 - (mark.row ?? 0) * 16, "text-anchor": isLeft ? "end" : "start" }, mark.text));
  }
  append(root, cursorOf(spec, width, cursor));
  return root;
}

function cursorOf(spec, width, cursor) {
  const group = svg("g", { class: "cursor" });
  if (cursor === null) return group;
  const right = width - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const x = MARGIN.left + share(spec.x, cursor) * (right - MARGIN.left);
  append(group, svg("line", { class: "cursor-line", x1: x, x2: x, y1: MARGIN.top, y2: bottom }));
  for (const line of spec.lines) {
    const value = valueOf(line, cursor);
    if (!isInside(spec.y, value)) continue;
    const y = bottom - share(spec.y, value) * (bottom - MARGIN.top);
    append(group, svg("circle", { class: `dot ${line.colour}`, cx: x, cy: y, r: 3.5 }));
  }
  return group;
}

/** Powers of ten between two numbers, as ticks. */
export function decades(from, to, format) {
  const ticks = [];
  const [low, high] = from < to ? [from, to] : [to, from];
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const count = Math.floor(Math.log10(high) + 1e-9) - first + 1;
  const step = Math.max(1, Math.ceil(count / 7));
  for (let power = 0; power < count; power += step) {
    const value = Number(`1e${first + power}`);
    ticks.push([value, format(value)]);
  }
  return from < to ? ticks : ticks.reverse();
}

/** Round numbers from 0 to a maximum, as ticks. */
export function rounds(max, format, count = 5) {
  if (!(max > 0)) return [[0, format(0)]];
  const raw = max / count;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((step) => step >= raw);
  const ticks = [];
  for (let number = 0; number * step <= max * 1.0001; number += 1) ticks.push([number * step, format(number * step)]);
  return ticks;
}
