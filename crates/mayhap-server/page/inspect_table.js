// The filters of a container: a table from which one is chosen. Long ones are shown in pages.
import { element, replace } from "./dom.js";
import { figure } from "./exact.js";
import { rate, size, whole } from "./number_text.js";

const PER_PAGE = 25;

export function inspectTable({ t }, filters, chosen, choose) {
  let selected = chosen;
  let first = Math.floor(chosen / PER_PAGE) * PER_PAGE;
  const body = element("tbody", {});
  const position = element("span", { class: "muted", role: "status" });
  const turn = (by) => { first = Math.max(0, Math.min(first + by, Math.floor((filters.length - 1) / PER_PAGE) * PER_PAGE)); draw(); };
  const back = element("button", { type: "button", class: "button secondary", onclick: () => turn(-PER_PAGE) }, t("inspect.back"));
  const next = element("button", { type: "button", class: "button secondary", onclick: () => turn(PER_PAGE) }, t("inspect.next"));

  function draw() {
    const last = Math.min(first + PER_PAGE, filters.length);
    replace(body, filters.slice(first, last).map((filter, at) => {
      const number = first + at;
      return element("tr", { class: number === selected ? "best" : null },
        element("th", { scope: "row" }, element("button", {
          type: "button", class: "row-button", "aria-pressed": String(number === selected),
          onclick: () => { selected = number; draw(); body.querySelector('[aria-pressed="true"]').focus(); choose(number); },
        }, filter.page.location || String(number))),
        element("td", {}, t(`kind.${filter.kind}`)),
        element("td", { class: "number" }, figure("size_bytes", filter.size_bytes, size)),
        element("td", { class: "number" }, figure("estimated_keys", filter.estimated_keys, whole)),
        element("td", { class: "number" }, figure("fill", filter.fill, rate)),
        element("td", { class: "number" }, figure("estimated_rate", filter.estimated_rate, rate)),
        element("td", {}, filter.page.warnings.filter((name) => name !== "unkeyed").map((name) => element("span", { class: "badge warning" }, t(`inspect.badge.${name}`)))));
    }));
    position.textContent = t("inspect.rows", { from: whole(first + 1), to: whole(last), count: whole(filters.length) });
    back.disabled = first === 0;
    next.disabled = last === filters.length;
  }
  draw();
  const columns = ["place", "kind", "size", "estimated", "fill", "rateNow", "warnings"];
  return element("section", { class: "card inspect-table" },
    element("h2", {}, t("inspect.filters")),
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("inspect.filters") },
      element("table", {},
        element("thead", {}, element("tr", {}, columns.map((name) => element("th", { scope: "col", class: ["size", "estimated", "fill", "rateNow"].includes(name) ? "number" : null }, t(`inspect.${name}`))))),
        body)),
    filters.length > PER_PAGE ? element("div", { class: "pager" }, back, next, position) : null);
}
