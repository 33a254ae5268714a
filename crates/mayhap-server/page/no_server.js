// The Server tab of the self-contained page.
import { replace } from "./dom.js";

export function mount(panel, { t, element }) {
  const draw = () =>
    replace(
      panel,
      element("div", { class: "empty" },
        element("h1", {}, t("noServer.title")),
        element("p", {}, t("noServer.text")),
        element("pre", { tabindex: "0" }, element("code", {}, "mayhap serve --http 127.0.0.1:8080")),
        element("p", {}, t("noServer.open"), " ", element("code", {}, "http://127.0.0.1:8080/")),
      ),
    );
  draw();
  return { languageChanged: draw };
}
