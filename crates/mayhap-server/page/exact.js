// A figure for people, with the exact value beside it: in `data-value` and as a tooltip.
import { element } from "./dom.js";
import { t } from "./text.js";

/** `field` is the figure's name in the JSON. A null is a dash. */
export function figure(field, value, format, attributes = {}) {
  const isNull = value === null || value === undefined;
  const exact = isNull ? "null" : String(value);
  const text = isNull ? "–" : format(value);
  return element(
    "data",
    { ...attributes, value: exact, "data-field": field, "data-value": exact, title: isNull || text === exact ? null : t("shell.exact", { value: exact }) },
    text,
  );
}

/** A tile with a name, a figure, and a line below. */
export function tile(name, value, more) {
  return element("div", { class: "tile" }, element("div", { class: "name" }, name), element("div", { class: "value" }, value), more ? element("div", { class: "more" }, more) : null);
}
