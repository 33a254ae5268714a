// One filter: its figures, and adding, querying and deleting.
import { element, replace } from "./dom.js";
import { digits, rate, size, whole } from "./number_text.js";
import { api, encodeItems } from "./server_api.js";
import { confirm } from "./server_dialog.js";
import { duration } from "./server_figures.js";
import { meter } from "./server_filters.js";
import { shownName } from "./server_name.js";
import { t } from "./text.js";

const INTERVAL = 2000;

export function detailView({ failed, close }) {
  const node = element("section", { class: "card server-detail", "aria-labelledby": "server-detail-title", hidden: true });
  let name = null;
  let filter = null;
  let timer = null;
  let parts = null;
  let isReadOnly = false;
  let isShown = true;

  async function load() {
    clearTimeout(timer);
    const wanted = name;
    if (wanted === null) return;
    try {
      const found = await api.filter(wanted);
      if (wanted !== name) return;
      filter = found;
      draw();
    } catch (error) {
      if (wanted !== name) return;
      if (error.status === 404) {
        parts?.result.replaceChildren(element("p", { class: "note warning" }, t("server.gone")));
      } else if (!failed(error)) replace(parts.result, element("p", { class: "note danger" }, error.message));
    }
    clearTimeout(timer);
    if (name !== null && isShown) timer = setTimeout(load, INTERVAL);
  }

  function build() {
    const title = element("h2", { id: "server-detail-title", tabindex: "-1" });
    const facts = element("dl", { class: "server-facts" });
    const items = element("textarea", { id: "server-items", rows: 4, spellcheck: "false", autocomplete: "off" });
    const result = element("div", { role: "status", class: "server-result" });
    const query = element("button", { type: "button", class: "button", onclick: () => send("query") }, t("server.query"));
    const add = element("button", { type: "button", class: "button secondary", onclick: () => send("add") }, t("server.add"));
    const remove = element("button", { type: "button", class: "button danger", onclick: erase }, t("server.delete"));
    const warning = element("div", {});
    parts = { title, facts, warning, items, result, query, add, remove };
    replace(
      node,
      element("div", { class: "server-bar" }, title, element("button", { type: "button", class: "quiet", onclick: () => close() }, t("server.back"))),
      facts,
      warning,
      element("label", { for: "server-items" }, t("server.items")),
      items,
      element("p", { class: "help" }, t("server.itemsHelp")),
      element("div", { class: "server-actions" }, query, add, element("span", { class: "server-space" }), remove),
      result,
    );
  }

  function draw() {
    const shown = shownName(filter);
    replace(parts.title, element("bdi", {}, shown));
    const canChange = filter.can_change && !isReadOnly;
    parts.add.hidden = !canChange;
    parts.remove.hidden = !canChange;
    const number = (value) => (value === null || value === undefined ? null : whole(value));
    const facts = [
      ["type", `${filter.type}${filter.kind ? ` (${filter.kind})` : ""}`],
      ["keys", number(filter.keys)],
      ["capacity", number(filter.capacity)],
      ["left", filter.keys_until_full === null ? t("server.grows") : number(filter.keys_until_full)],
      ["fill", filter.fill === null ? null : [meter(filter), ` ${digits(filter.fill * 100, 4)} %`]],
      ["rate", filter.rate_now === null ? null : rate(filter.rate_now)],
      ["requested", filter.rate_requested === null ? null : rate(filter.rate_requested)],
      ["size", size(filter.size_bytes)],
      ["bits", number(filter.bits)],
      ["probes", number(filter.probes)],
      ["layers", number(filter.layers)],
      ["ttl", filter.ttl_ms === null ? t("server.never") : duration(filter.ttl_ms / 1000)],
      ["file", filter.file],
      ["format", filter.format],
      ["age", filter.age_ms === null ? t("server.pending") : t("server.ageSeconds", { seconds: digits(filter.age_ms / 1000, 1) })],
    ];
    const extra = Object.entries(filter.details ?? {}).map(([key, value]) => [null, String(value), key]);
    replace(
      parts.facts,
      [...facts, ...extra]
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([key, value, label]) => element("div", { "data-fact": key ?? label }, element("dt", {}, key ? t(`server.fact.${key}`) : label), element("dd", {}, value))),
    );
    const note = filter.is_over_capacity ? ["danger", "server.isOver"] : filter.is_nearly_full ? ["warning", "server.isNearly"] : null;
    replace(parts.warning, note && element("p", { class: `note ${note[0]}` }, t(note[1])));
  }

  async function send(action) {
    const items = parts.items.value.split("\n").filter((line) => line !== "");
    if (items.length === 0) {
      parts.items.setAttribute("aria-invalid", "true");
      replace(parts.result, element("p", { class: "note warning" }, t("server.noItems")));
      parts.items.focus();
      return;
    }
    parts.items.removeAttribute("aria-invalid");
    try {
      const body = { ...name, items: encodeItems(items, name.encoding) };
      const answers = action === "add" ? (await api.add(body)).added : (await api.query(body)).found;
      const word = (answer) => {
        if (typeof answer === "string") return ["danger", answer];
        if (action === "add") return answer ? ["good", t("server.new")] : ["", t("server.known")];
        return answer ? ["good", t("server.maybe")] : ["", t("server.absent")];
      };
      replace(
        parts.result,
        element(
          "ul",
          { class: "server-answers" },
          items.slice(0, 200).map((item, at) => {
            const [kind, text] = word(answers[at]);
            return element("li", {}, element("bdi", { class: "mono" }, item.slice(0, 200)), " ", element("span", { class: `badge ${kind}` }, text));
          }),
        ),
        items.length > 200 && element("p", { class: "muted" }, t("server.moreAnswers", { count: whole(items.length - 200) })),
      );
      if (action === "add") load();
    } catch (error) {
      if (!failed(error)) replace(parts.result, element("p", { class: "note danger" }, error.message));
    }
  }

  async function erase() {
    const shown = shownName(filter);
    const short = shown.length > 120 ? `${shown.slice(0, 120)}…` : shown;
    const keys = filter.keys === null ? "?" : whole(filter.keys);
    if (!(await confirm(t("server.deleteTitle"), t("server.deleteText", { name: short, keys, size: size(filter.size_bytes) }), t("server.delete")))) {
      parts.remove.focus();
      return;
    }
    try {
      await api.remove(name);
      close(t("server.deleted", { name: short }));
    } catch (error) {
      if (!failed(error)) replace(parts.result, element("p", { class: "note danger" }, error.message));
    }
  }

  return {
    node,
    open(wanted, readOnly) {
      name = { key: wanted.key, encoding: wanted.encoding };
      isReadOnly = readOnly;
      filter = null;
      build();
      replace(parts.title, element("bdi", {}, shownName(wanted)));
      parts.add.hidden = true;
      parts.remove.hidden = true;
      node.hidden = false;
      load();
      parts.title.focus({ preventScroll: true });
      node.scrollIntoView({ block: "nearest" });
    },
    close() {
      name = null;
      clearTimeout(timer);
      node.hidden = true;
      node.replaceChildren();
    },
    hide() {
      isShown = false;
      clearTimeout(timer);
    },
    show() {
      isShown = true;
      load();
    },
    languageChanged() {
      if (name === null) return;
      const typed = parts.items.value;
      build();
      parts.items.value = typed;
      if (filter) draw();
    },
  };
}
