// The Inspect tab: choose or drop a file, see what is in it, and query it.
import { element, replace } from "./dom.js";
import { inspectCheck } from "./inspect_check.js";
import { inspectFilter } from "./inspect_filter.js";
import { inspectOptions } from "./inspect_options.js";
import { inspectTable } from "./inspect_table.js";
import { stringify } from "./json.js";
import { size, whole } from "./number_text.js";

export function mount(panel, context) {
  const { t, backend } = context;
  /** The chosen file: `{ bytes, fileName }`, or null. */
  let handle = null;
  let answer = null;
  let shown = 0;
  let newest = 0;
  let parts = null;

  async function choose(file) {
    if (!file) return;
    newest += 1;
    const number = newest;
    handle = null;
    answer = null;
    parts.options.reset();
    busy(file.name);
    if (file.size > backend.maxFileBytes) return fail(new Error(t("inspect.tooLarge", { limit: size(backend.maxFileBytes) })), file.name);
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      if (number !== newest) return;
      handle = { bytes, fileName: file.name };
    } catch (error) {
      return fail(error, file.name);
    }
    await ask();
  }

  async function ask() {
    if (handle === null) return;
    newest += 1;
    const number = newest;
    busy(handle.fileName);
    try {
      const found = await backend.inspect(handle.bytes, handle.fileName, parts.options.values());
      if (number !== newest) return;
      answer = found;
      shown = 0;
      drawAnswer();
      panel.dataset.inspected = handle.fileName;
    } catch (error) {
      if (number === newest) fail(error);
    }
  }

  function busy(name) {
    delete panel.dataset.inspected;
    panel.setAttribute("aria-busy", "true");
    replace(parts.result);
    replace(parts.message, element("p", { class: "note" }, t("inspect.reading", { name })));
  }

  function fail(error, name = handle?.fileName ?? "") {
    panel.removeAttribute("aria-busy");
    const { details = {} } = error;
    const damaged = details.damaged_pages;
    replace(parts.result);
    replace(parts.message,
      element("div", { class: "note danger" },
        element("strong", {}, t("inspect.failed", { name })),
        element("p", {}, details.code === "login" ? t("inspect.login") : error.message),
        damaged ? element("p", {}, t("inspect.damaged", { count: whole(damaged.length), pages: whole(details.pages), list: damaged.slice(0, 20).join(", ") })) : null));
    if (handle !== null) parts.options.offer(details);
    panel.dataset.inspected = name;
  }

  function drawAnswer() {
    panel.removeAttribute("aria-busy");
    const filters = answer.filters;
    parts.options.offer({ formats: answer.formats, isQuiet: true });
    replace(parts.message,
      element("p", { class: "inspect-file" },
        element("strong", {}, handle.fileName), " ",
        element("span", { class: "muted" }, t(answer.found === 1 ? "inspect.one" : "inspect.many", { size: size(answer.bytes), count: whole(answer.found) })),
        answer.found > filters.length ? element("span", { class: "muted" }, " ", t("inspect.more", { count: whole(filters.length) })) : null));
    const detail = element("div", { class: "inspect-detail" });
    const check = inspectCheck(context, { handle, answer, options: () => parts.options.values() });
    const show = (number) => {
      shown = number;
      replace(detail, inspectFilter(context, filters[number]));
      check.select(filters[number]);
    };
    const raw = filters.map(({ page, ...filter }) => stringify(filter)).join("\n");
    replace(parts.result,
      filters.length > 1 ? inspectTable(context, filters, shown, show) : null,
      detail,
      check.node,
      element("details", { class: "card inspect-json" },
        element("summary", {}, t("inspect.json")),
        element("pre", { tabindex: 0 }, element("code", { id: "inspect-json" }, raw))));
    show(shown);
  }

  function draw() {
    const input = element("input", { type: "file", id: "inspect-file", class: "visually-hidden", onchange: () => { choose(input.files[0]); input.value = ""; } });
    const zone = element("div", {
      class: "drop",
      ondragover: () => zone.classList.add("over"),
      ondragleave: () => zone.classList.remove("over"),
      // The document receives the file, wherever it is dropped.
      ondrop: () => zone.classList.remove("over"),
    },
      element("p", { class: "drop-title" }, t("inspect.drop")),
      input,
      element("label", { class: "button", for: "inspect-file" }, t("inspect.choose")),
      element("p", { class: "help" }, t(backend.isLocal ? "inspect.local" : "inspect.remote")));
    const old = parts;
    parts = { message: element("div", { role: "status", class: "inspect-message" }), result: element("div", { class: "inspect-result" }), options: inspectOptions(context, ask) };
    if (old !== null) parts.options.take(old.options);
    replace(panel,
      element("h1", {}, t("inspect.title")),
      element("p", { class: "lead" }, t("inspect.lead")),
      zone, parts.message, parts.options.node, parts.result);
    if (answer !== null) drawAnswer();
    else if (handle !== null) ask();
  }
  draw();
  return { languageChanged: draw, choose };
}
