// The form that creates a filter.
import { element, replace } from "./dom.js";
import { api } from "./server_api.js";
import { t } from "./text.js";

const KINDS = ["bloom", "cuckoo", "counting", "window"];

/** Opens a dialog. Calls `done` with the name of the new filter. */
export function createDialog({ failed, done }) {
  const field = (id, input, help) => element("div", { class: "field" }, element("label", { for: id }, t(`server.create.${id.slice(7)}`)), input, help && element("p", { class: "help", id: `${id}-help` }, help));
  const name = element("input", { type: "text", id: "create-name", required: true, autocomplete: "off", spellcheck: "false", maxlength: 5000 });
  const kind = element("select", { id: "create-kind" }, KINDS.map((value) => element("option", { value }, t(`server.kind.${value}`))));
  const capacity = element("input", { type: "number", id: "create-capacity", min: 1, step: 1, value: 1000000, required: true });
  const rate = element("input", { type: "number", id: "create-rate", min: 0, max: 1, step: "any", value: 0.01, required: true });
  const seconds = element("input", { type: "number", id: "create-seconds", min: 1, step: 1, value: 3600 });
  const grows = element("input", { type: "checkbox", id: "create-grows", checked: true });
  const windowField = field("create-seconds", seconds);
  const growsField = element("div", { class: "server-check" }, grows, element("label", { for: "create-grows" }, t("server.create.grows")));
  const result = element("div", { role: "alert" });
  const follow = () => {
    windowField.hidden = kind.value !== "window";
    growsField.hidden = !["bloom", "cuckoo"].includes(kind.value);
  };
  kind.addEventListener("change", follow);
  follow();

  async function submit(event) {
    event.preventDefault();
    const body = { key: name.value, kind: kind.value, capacity: Math.round(Number(capacity.value)), rate: Number(rate.value) };
    if (kind.value === "window") body.seconds = Math.round(Number(seconds.value));
    if (!growsField.hidden && !grows.checked) body.expansion = 0;
    try {
      const created = await api.reserve(body);
      dialog.close();
      done(created);
    } catch (error) {
      if (failed(error)) dialog.close();
      else replace(result, element("p", { class: "note danger" }, error.message));
    }
  }

  const dialog = element(
    "dialog",
    { class: "server-dialog", "aria-labelledby": "create-title" },
    element(
      "form",
      { class: "grid", onsubmit: submit },
      element("h2", { id: "create-title" }, t("server.createTitle")),
      field("create-name", name),
      field("create-kind", kind),
      element("div", { class: "server-two" }, field("create-capacity", capacity), field("create-rate", rate)),
      windowField,
      growsField,
      result,
      element(
        "div",
        { class: "server-actions" },
        element("button", { type: "button", class: "button secondary", onclick: () => dialog.close() }, t("server.cancel")),
        element("button", { type: "submit", class: "button" }, t("server.createNow")),
      ),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  name.focus();
}
