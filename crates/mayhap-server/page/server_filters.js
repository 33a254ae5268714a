// The table of filters: sorted, searched and paged by the server.
import { element, replace } from "./dom.js";
import { digits, rate, short, size, whole } from "./number_text.js";
import { api } from "./server_api.js";
import { duration } from "./server_figures.js";
import { shownName } from "./server_name.js";
import { t } from "./text.js";

const PER = 25;
const INTERVAL = 3000;
const COLUMNS = [["name", false], ["type", false], ["keys", true], ["fill", true], ["rate", true], ["left", true], ["size", true], ["ttl", true]];

export function filtersView({ state, failed, open }) {
  const search = element("input", { type: "search", id: "server-search", autocomplete: "off", spellcheck: "false", maxlength: 200, value: state.get("search") ?? "" });
  const label = element("label", { for: "server-search" });
  const create = element("button", { type: "button", class: "button", id: "server-create" });
  const body = element("div", {});
  const summary = element("p", { class: "help", role: "status" });
  const title = element("h2", {});
  const node = element(
    "section",
    { class: "card server-filters" },
    element("div", { class: "server-bar" }, title, element("div", { class: "server-search" }, label, search), create),
    body,
    summary,
  );
  let answer = null;
  let timer = null;
  let number = 0;
  let isShown = false;

  const page = () => Math.max(1, Number.parseInt(state.get("page") ?? "1", 10) || 1);
  const sort = () => (COLUMNS.some(([name]) => name === state.get("sort")) ? state.get("sort") : "name");
  const order = () => (state.get("order") === "desc" ? "desc" : "asc");

  async function load() {
    clearTimeout(timer);
    number += 1;
    const mine = number;
    try {
      const found = await api.filters({ page: page(), per: PER, sort: sort(), order: order(), search: search.value });
      if (mine !== number) return;
      answer = found;
      const pages = Math.max(1, Math.ceil(answer.matching / PER));
      if (page() > pages) {
        state.set("page", pages === 1 ? null : pages);
        return load();
      }
      draw();
    } catch (error) {
      if (mine === number && !failed(error)) summary.textContent = error.message;
    }
    clearTimeout(timer);
    if (isShown && mine === number) timer = setTimeout(load, INTERVAL);
  }

  search.addEventListener("input", () => {
    state.set("search", search.value);
    state.set("page", null);
    clearTimeout(timer);
    timer = setTimeout(load, 200);
  });

  function sortBy(name, isNumber) {
    const isSame = sort() === name;
    state.set("order", isSame ? (order() === "asc" ? "desc" : null) : isNumber && name !== "left" && name !== "ttl" ? "desc" : null);
    state.set("sort", name === "name" ? null : name);
    state.set("page", null);
    load();
  }

  function header([name, isNumber]) {
    const isSorted = sort() === name;
    const arrow = isSorted ? (order() === "asc" ? " ↑" : " ↓") : "";
    return element(
      "th",
      { scope: "col", "data-column": name, class: isNumber ? "number" : null, "aria-sort": isSorted ? (order() === "asc" ? "ascending" : "descending") : null },
      element("button", { type: "button", class: "server-sort", "data-sort": name, onclick: () => sortBy(name, isNumber) }, t(`server.column.${name}`), element("span", { "aria-hidden": "true" }, arrow)),
    );
  }

  function draw() {
    const focused = document.activeElement;
    const kept = node.contains(focused) ? (focused.dataset.sort && `[data-sort="${focused.dataset.sort}"]`) || (focused.dataset.row && `[data-row="${focused.dataset.row}"]`) || (focused.dataset.page && `[data-page="${focused.dataset.page}"]`) : null;
    const pages = Math.max(1, Math.ceil(answer.matching / PER));
    const go = (to) => () => {
      state.set("page", to === 1 ? null : to);
      load();
    };
    replace(
      body,
      answer.filters.length === 0
        ? element("p", { class: "muted" }, answer.total === 0 ? t("server.noFilters") : t("server.noMatch"))
        : element(
            "div",
            { class: "scroll", tabindex: "0", role: "region", "aria-label": t("server.filters") },
            element("table", { id: "server-table" }, element("thead", {}, element("tr", {}, COLUMNS.map(header))), element("tbody", {}, answer.filters.map(row))),
          ),
      element(
        "nav",
        { class: "server-pages", "aria-label": t("server.pages") },
        element("button", { type: "button", class: "quiet", "data-page": "previous", disabled: page() <= 1, onclick: go(page() - 1) }, t("server.previous")),
        element("span", {}, t("server.pageOf", { page: whole(page()), pages: whole(pages) })),
        element("button", { type: "button", class: "quiet", "data-page": "next", disabled: page() >= pages, onclick: go(page() + 1) }, t("server.next")),
      ),
    );
    const ages = answer.filters.map((filter) => filter.age_ms ?? 0);
    const age = whole(Math.ceil(Math.max(1, ...ages) / 1000));
    const text = t("server.summary", { matching: whole(answer.matching), total: whole(answer.total), age });
    const isPending = answer.filters.some((filter) => filter.age_ms === null);
    summary.textContent = [text, isPending && t("server.pendingRows"), answer.is_cut && t("server.cut")].filter(Boolean).join(" ");
    if (kept) node.querySelector(kept)?.focus();
  }

  function row(filter, at) {
    const cell = (column, text, attributes = {}) => element("td", { class: "number", "data-column": column, ...attributes }, text ?? "–");
    const badge = filter.is_over_capacity ? element("span", { class: "badge danger" }, t("server.badgeOver")) : filter.is_nearly_full && element("span", { class: "badge warning" }, t("server.badgeNearly"));
    const isWorse = filter.rate_now !== null && filter.rate_requested !== null && filter.rate_now > filter.rate_requested * 1.1;
    const name = shownName(filter).slice(0, 300);
    const shown = element("bdi", {}, name);
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, 
        // A name of megabytes does not fit into a request.
        filter.encoding === "cut"
          ? element("span", { class: "server-name", title: name }, shown)
          : element("button", { type: "button", class: "server-name", "data-row": at, title: name, onclick: () => open(filter) }, shown), " ", badge),
      element("td", { "data-column": "type" }, element("span", { class: "badge" }, filter.kind ?? filter.type)),
      cell("keys", filter.keys === null ? null : short(filter.keys), { title: filter.keys === null ? null : whole(filter.keys) }),
      cell("fill", filter.fill === null ? null : [meter(filter), element("span", { class: "server-percent" }, `${digits(filter.fill * 100, 2)} %`)]),
      cell(
        "rate",
        filter.rate_now === null
          ? null
          : [element("span", { class: isWorse ? "server-worse" : null }, rate(filter.rate_now, 2)), filter.rate_requested !== null && element("span", { class: "muted" }, ` / ${rate(filter.rate_requested, 2)}`)],
      ),
      cell("left", filter.keys_until_full === null ? (filter.age_ms === null ? null : t("server.grows")) : short(filter.keys_until_full)),
      cell("size", size(filter.size_bytes)),
      cell("ttl", filter.ttl_ms === null ? null : duration(filter.ttl_ms / 1000)),
    );
  }

  function languageChanged() {
    title.textContent = t("server.filters");
    label.textContent = t("server.search");
    create.textContent = t("server.create");
    if (answer) draw();
  }
  languageChanged();

  return {
    node,
    create,
    load,
    languageChanged,
    stateChanged() {
      search.value = state.get("search") ?? "";
      if (isShown) load();
    },
    show() {
      isShown = true;
      load();
    },
    hide() {
      isShown = false;
      number += 1;
      clearTimeout(timer);
    },
  };
}

/** How full it is, as a bar. The number is beside it. */
export function meter(filter) {
  const kind = filter.is_over_capacity ? " over" : filter.is_nearly_full ? " nearly" : "";
  const bar = element("span", {});
  bar.style.width = `${Math.min(100, filter.fill * 100)}%`;
  return element("span", { class: `server-meter${kind}`, "aria-hidden": "true" }, bar);
}
