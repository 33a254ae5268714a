// Questions before something that cannot be undone.
import { element } from "./dom.js";
import { t } from "./text.js";

/** Asks, and resolves to whether the user confirmed. Escape and Cancel mean no. */
export function confirm(title, text, action) {
  return new Promise((resolve) => {
    const cancel = element("button", { type: "button", class: "button secondary", autofocus: true, onclick: () => dialog.close("") }, t("server.cancel"));
    const go = element("button", { type: "button", class: "button danger", onclick: () => dialog.close("yes") }, action);
    const dialog = element(
      "dialog",
      { class: "server-dialog", "aria-labelledby": "server-dialog-title", "aria-describedby": "server-dialog-text" },
      element("h2", { id: "server-dialog-title" }, title),
      element("p", { id: "server-dialog-text" }, text),
      element("div", { class: "server-actions" }, cancel, go),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
