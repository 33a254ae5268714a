// What some files do not say about themselves: format, rate, probes, parameters, a secret key.
import { element, replace } from "./dom.js";

const FIELDS = ["fpr", "probes", "columns", "P", "key_file"];

export function inspectOptions({ t }, changed) {
  const format = element("select", { id: "inspect-format" });
  const fields = Object.fromEntries(FIELDS.map((name) => [name, element("input", { type: "text", id: `inspect-${name}`, autocomplete: "off", spellcheck: "false" })]));
  let formats = [];

  const field = (id, name, input) => element("div", { class: "field", "data-option": name }, element("label", { for: id }, t(`inspect.option.${name}`)), input, element("p", { class: "help" }, t(`inspect.option.${name}Help`)));
  const node = element("details", { class: "card inspect-options", hidden: true },
    element("summary", {}, t("inspect.options")),
    element("form", { onsubmit: (event) => { event.preventDefault(); changed(); } },
      element("div", { class: "option-fields" },
        field("inspect-format", "format", format),
        FIELDS.map((name) => field(`inspect-${name}`, name, fields[name]))),
      element("button", { class: "button" }, t("inspect.again"))));

  function showFormats(value) {
    replace(format, element("option", { value: "" }, t("inspect.detect")), formats.map((name) => element("option", { value: name, selected: name === value }, name)));
  }

  return {
    node,
    values() {
      const values = { format: format.value };
      for (const name of FIELDS) values[name] = name === "P" ? fields.P.value.split(/[\s,]+/) : fields[name].value.trim();
      return values;
    },
    /** What an error says could help; after a success the options are there, but closed. */
    offer({ formats: names, settings = [], isQuiet = false }) {
      if (names) {
        formats = names;
        showFormats(format.value);
      }
      node.hidden = formats.length === 0 && settings.length === 0;
      if (!isQuiet) node.open = !node.hidden;
      for (const part of node.querySelectorAll("[data-option]")) part.classList.toggle("wanted", settings.includes(part.dataset.option));
    },
    reset() {
      for (const name of FIELDS) fields[name].value = "";
      format.value = "";
      node.open = false;
      node.hidden = true;
    },
    /** The state of another one, when the language changes. */
    take(other) {
      const values = other.values();
      formats = other.formats();
      showFormats(values.format);
      for (const name of FIELDS) fields[name].value = name === "P" ? values.P.join(" ") : values[name];
      node.hidden = other.node.hidden;
      node.open = other.node.open;
    },
    formats: () => formats,
  };
}
