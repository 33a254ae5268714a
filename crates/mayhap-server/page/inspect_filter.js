// One filter of a file: its figures, what is wrong with it, and a picture of its bits.
import { element } from "./dom.js";
import { figure, tile } from "./exact.js";
import { fillMap } from "./inspect_map.js";
import { digits, rate, short, size, whole } from "./number_text.js";

// Shown as tiles; everything else is in the table below.
const TILES = ["format", "kind", "size_bytes", "capacity", "estimated_keys", "fill", "false_positive_rate", "estimated_rate", "bits", "probes"];
const HIDDEN = ["page", "file"];

export function inspectFilter({ t }, filter) {
  const { page } = filter;
  const one = (name, format) => figure(name, filter[name], format);
  const others = Object.entries(filter).filter(([name]) => !TILES.includes(name) && !HIDDEN.includes(name));
  const exact = (value) => (Number(value) >= 1e4 ? whole(value) : null);
  const isAbove = filter.estimated_rate !== null && filter.false_positive_rate !== null && page.warnings.some((name) => name === "over_capacity" || name === "rate_above_requested");

  return element("section", { class: "inspect-filter", "aria-label": page.location || t("inspect.filter") },
    page.location ? element("h2", {}, page.location) : null,
    page.warnings.map((name) => element("p", { class: `note ${name === "unkeyed" ? "" : "warning"}`, "data-warning": name }, t(`inspect.warning.${name}`))),
    element("div", { class: "tiles" },
      tile(t("inspect.format"), one("format", String), t(`format.${filter.format}`) === `format.${filter.format}` ? null : t(`format.${filter.format}`)),
      tile(t("inspect.kind"), one("kind", (kind) => t(`kind.${kind}`)), element("code", {}, filter.kind)),
      tile(t("inspect.size"), one("size_bytes", size), exact(filter.size_bytes)),
      tile(t("inspect.estimated"), one("estimated_keys", short), [t("inspect.capacity"), " ", one("capacity", short)]),
      tile(t("inspect.rateNow"), figure("estimated_rate", filter.estimated_rate, rate, { class: isAbove ? "above" : null }), [t("inspect.requested"), " ", one("false_positive_rate", rate)]),
      tile(t("inspect.fill"), one("fill", rate), [one("bits", short), " ", t("inspect.bits"), " · ", one("probes", whole), " ", t("inspect.probes")])),
    element("div", { class: "inspect-pair" },
      element("section", { class: "card" }, element("h2", {}, t("inspect.map")), fillMap({ t }, filter)),
      others.length === 0 ? null : element("section", { class: "card" },
        element("h2", {}, t("inspect.details")),
        element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("inspect.details") },
          element("table", {}, element("tbody", {}, others.map(([name, value]) =>
            element("tr", {}, element("th", { scope: "row" }, detailName(t, name)), element("td", {}, figure(name, value, (shown) => detailText(t, shown)))))))))));
}

function detailName(t, name) {
  const text = t(`detail.${name}`);
  return text.startsWith("detail.") ? name.replaceAll("_", " ") : text;
}

function detailText(t, value) {
  if (typeof value === "boolean") return t(value ? "inspect.yes" : "inspect.no");
  if (typeof value === "bigint" || Number.isInteger(value)) return whole(value);
  return typeof value === "number" ? digits(value, 4) : String(value);
}
