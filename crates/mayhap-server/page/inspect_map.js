// The fill of a filter as a picture: each square is a part of it, from empty to full, and a bar for each layer.
import { element } from "./dom.js";
import { digits, rate, whole } from "./number_text.js";

const COLUMNS = 64;

export function fillMap({ t }, { page }) {
  const { picture } = page;
  if (picture === null) return element("p", { class: "muted" }, t("inspect.noMap"));
  const { shares, unit, per_part: perPart } = picture;
  const columns = Math.min(COLUMNS, shares.length);
  const rows = Math.ceil(shares.length / columns);
  const scale = Math.max(1, Math.floor(512 / columns));
  const canvas = element("canvas", { class: "fill-map", width: columns * scale, height: rows * scale, role: "img", "aria-label": t("inspect.mapLabel", { parts: whole(shares.length), mean: rate(mean(shares)) }) });
  const values = element("p", { class: "help map-value", "aria-live": "polite" }, t(`inspect.mapHelp.${unit}`, { count: whole(perPart) }));
  const hint = values.textContent;
  const draw = () => paint(canvas, shares, columns, scale);
  // Colours follow the theme.
  new MutationObserver(draw).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  draw();
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const x = Math.floor(((event.clientX - box.left) / box.width) * columns);
    const y = Math.floor(((event.clientY - box.top) / box.height) * rows);
    const share = shares[y * columns + x];
    values.textContent = share === undefined ? hint : t("inspect.mapPart", { part: whole(y * columns + x), share: rate(share) });
  });
  canvas.addEventListener("pointerleave", () => (values.textContent = hint));
  return element("div", { class: "map" },
    canvas,
    element("div", { class: "map-scale", "aria-hidden": "true" }, element("span", {}, "0 %"), element("i", {}), element("span", {}, "100 %")),
    values,
    picture.layers.length > 1 ? layers(t, picture.layers) : null);
}

function mean(shares) {
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

function layers(t, all) {
  return element("div", { class: "layers" },
    element("h3", {}, t("inspect.layers", { count: whole(all.length) })),
    element("ol", {}, all.slice(0, 64).map((layer, number) => {
      const full = layer.fill_at_capacity;
      const meter = element("meter", { min: 0, max: 1, value: layer.share, "aria-label": t("inspect.layer", { number: number + 1 }) });
      return element("li", {}, meter, " ", rate(layer.share), full === null || full === undefined ? null : element("span", { class: "muted" }, ` / ${digits(full * 100, 3)} %`));
    })));
}

function paint(canvas, shares, columns, scale) {
  const style = getComputedStyle(document.documentElement);
  const [low, high] = ["--sunken", "--accent"].map((name) => channels(style.getPropertyValue(name).trim()));
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, canvas.width, canvas.height);
  // Gaps between small squares would show as stripes on a narrow screen.
  const gap = scale >= 12 ? 1 : 0;
  shares.forEach((share, part) => {
    const colour = low.map((from, at) => Math.round(from + (high[at] - from) * share));
    context.fillStyle = `rgb(${colour.join(" ")})`;
    context.fillRect((part % columns) * scale, Math.floor(part / columns) * scale, scale - gap, scale - gap);
  });
}

/** `#0b5fa5` as three numbers. */
function channels(colour) {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}
