// Keys to look up in the file: one per line, each with its answer.
import { element, replace } from "./dom.js";
import { whole } from "./number_text.js";

const SHOWN = 500;

export function inspectCheck({ t, backend }, { handle, answer, options }) {
  const keys = element("textarea", { id: "inspect-keys", rows: 5, spellcheck: "false", autocomplete: "off", "aria-describedby": "inspect-keys-help" });
  const type = element("select", { id: "inspect-key-type" }, element("option", { value: "" }, t("inspect.keyTypeAuto")), answer.key_types.map((name) => element("option", { value: name }, name)));
  const scope = element("select", { id: "inspect-scope" });
  const result = element("div", { role: "status", class: "check-result" });
  let place = {};

  async function check() {
    const lines = keys.value.split("\n").map((line) => line.replace(/\r$/, ""));
    while (lines.length > 0 && lines[lines.length - 1] === "") lines.pop();
    if (lines.length === 0) return replace(result, element("p", { class: "note" }, t("inspect.noKeys")));
    try {
      const found = await backend.check(handle, lines, { ...options(), key_type: type.value, ...(scope.value === "this" ? place : {}) });
      show(lines, found);
    } catch (error) {
      replace(result, element("p", { class: "note danger" }, error.message));
    }
  }

  function show(lines, found) {
    const badge = (one) =>
      one === true ? element("span", { class: "badge accent", "data-answer": "true" }, t("inspect.maybe"))
        : one === false ? element("span", { class: "badge", "data-answer": "false" }, t("inspect.absent"))
          : element("span", { class: "badge danger", "data-answer": "error" }, String(one));
    replace(result,
      element("p", {}, t("inspect.summary", { present: whole(found.present), count: whole(lines.length) })),
      element("ul", { class: "answers" }, lines.slice(0, SHOWN).map((line, at) => element("li", {}, element("code", {}, line === "" ? t("inspect.emptyKey") : line), badge(found.answers[at])))),
      lines.length > SHOWN ? element("p", { class: "muted" }, t("inspect.shownOnly", { count: whole(SHOWN) })) : null);
  }

  const isContainer = answer.filters.length > 1;
  const node = element("section", { class: "card inspect-check" },
    element("h2", {}, t("inspect.query")),
    element("form", { onsubmit: (event) => { event.preventDefault(); check(); } },
      element("label", { for: "inspect-keys" }, t("inspect.keys")),
      keys,
      element("p", { class: "help", id: "inspect-keys-help" }, t("inspect.keysHelp")),
      element("div", { class: "check-fields" },
        element("div", { class: "field" }, element("label", { for: "inspect-key-type" }, t("inspect.keyType")), type),
        isContainer ? element("div", { class: "field" }, element("label", { for: "inspect-scope" }, t("inspect.scope")), scope) : null,
        element("button", { class: "button" }, t("inspect.ask")))),
    result);
  replace(scope, element("option", { value: "this" }, t("inspect.scopeThis")), element("option", { value: "all" }, t("inspect.scopeAll")));

  return {
    node,
    /** The filter that is shown; answers for another one are removed. */
    select(filter) {
      place = Object.fromEntries(["row_group", "column", "key", "granule"].filter((name) => name in filter).map((name) => [name, filter[name]]));
      replace(result);
    },
  };
}
