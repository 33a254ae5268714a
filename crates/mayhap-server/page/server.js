// The Server tab: login, live figures, and the filters. It follows the server through restarts.
import { element, replace } from "./dom.js";
import { ApiError, api } from "./server_api.js";
import { createDialog } from "./server_create.js";
import { detailView } from "./server_detail.js";
import { figuresView } from "./server_figures.js";
import { filtersView } from "./server_filters.js";
import { t } from "./text.js";

const MAX_DELAY = 5000;

export function mount(panel, { state }) {
  const title = element("h1", {});
  const status = element("span", { class: "badge", role: "status", id: "server-status" });
  const logout = element("button", { type: "button", class: "quiet", id: "server-logout", hidden: true, onclick: leave });
  const readOnly = element("span", { class: "badge", hidden: true });
  const message = element("div", { role: "status" });
  const content = element("div", { class: "grid" });
  replace(panel, element("div", { class: "server-head" }, title, status, readOnly, element("span", { class: "server-space" }), logout), message, content);

  const figures = figuresView();
  const filters = filtersView({ state, failed, open });
  const detail = detailView({ failed, close });
  filters.create.addEventListener("click", () => createDialog({ failed, done: (name) => { filters.load(); open(name); } }));

  let stream = null;
  let timer = null;
  let delay = 500;
  let isShown = false;
  let session = null;
  // One of connecting, live, lost, login.
  let phase = "connecting";
  let loginText = "";

  function setPhase(name) {
    const isNew = phase !== name;
    phase = name;
    const kinds = { connecting: "", live: "good", lost: "danger", login: "warning" };
    status.className = `badge ${kinds[name]}`;
    if (status.textContent !== t(`server.phase.${name}`)) status.textContent = t(`server.phase.${name}`);
    panel.dataset.phase = name;
    return isNew;
  }

  async function connect() {
    clearTimeout(timer);
    stream?.close();
    stream = null;
    if (!isShown) return;
    try {
      session = await api.session();
    } catch (error) {
      return lost(error);
    }
    if (!isShown) return;
    readOnly.hidden = !session.read_only;
    filters.create.hidden = session.read_only;
    if (session.login) return showLogin();
    logout.hidden = !session.password;
    showDashboard();
    stream = new EventSource("/api/events");
    stream.addEventListener("figures", (event) => {
      delay = 500;
      if (setPhase("live")) filters.load();
      figures.update(JSON.parse(event.data));
    });
    // The session is asked for again, so a new password leads to the login.
    stream.addEventListener("error", () => lost(null));
  }

  function lost(error) {
    stream?.close();
    stream = null;
    clearTimeout(timer);
    if (!isShown) return;
    setPhase("lost");
    if (error instanceof ApiError && error.status !== 0) replace(message, element("p", { class: "note danger" }, error.message));
    timer = setTimeout(connect, delay);
    delay = Math.min(2 * delay, MAX_DELAY);
  }

  /** Handles what is not an error of one request. Returns whether it did. */
  function failed(error) {
    if (error.status === 401) {
      connect();
      return true;
    }
    if (error.status === 0) {
      if (phase === "live") lost(error);
      return true;
    }
    return false;
  }

  function showDashboard() {
    if (content.firstChild === figures.node) return;
    replace(message);
    replace(content, figures.node, detail.node, filters.node);
    filters.show();
    openFromState();
  }

  function openFromState() {
    const key = state.get("filter");
    if (key === null) detail.close();
    else open({ key, encoding: state.get("encoding") ?? "text" });
  }

  function showLogin(text = "") {
    loginText = text;
    setPhase("login");
    logout.hidden = true;
    filters.hide();
    detail.close();
    const password = element("input", { type: "password", id: "server-password", autocomplete: "current-password", required: true, "aria-describedby": "server-login-result" });
    const result = element("div", { role: "alert", id: "server-login-result" }, text && element("p", { class: "note danger" }, text));
    const form = element(
      "form",
      {
        class: "card grid server-login",
        onsubmit: async (event) => {
          event.preventDefault();
          try {
            await api.login(password.value);
            setPhase("connecting");
            await connect();
          } catch (error) {
            const text = error.status === 0 ? t("server.noAnswer") : error.status === 401 ? t("server.wrongPassword") : error.status === 429 ? t("server.slowDown") : error.message;
            replace(result, element("p", { class: "note danger" }, text));
            password.setAttribute("aria-invalid", "true");
            password.select();
          }
        },
      },
      element("h2", {}, t("server.loginTitle")),
      element("p", { class: "help" }, t("server.loginHelp")),
      element("div", { class: "field" }, element("label", { for: "server-password" }, t("server.password")), password),
      result,
      element("div", {}, element("button", { type: "submit", class: "button" }, t("server.login"))),
    );
    replace(content, form);
    password.focus();
  }

  async function leave() {
    try {
      await api.logout();
    } catch {
      // Without an answer the session ends by itself.
    }
    connect();
  }

  function open(filter) {
    replace(message);
    state.set("filter", filter.key);
    state.set("encoding", filter.encoding === "base64" ? "base64" : null);
    detail.open(filter, session?.read_only ?? false);
  }

  function close(text) {
    state.set("filter", null);
    state.set("encoding", null);
    detail.close();
    replace(message, text && element("p", { class: "note good" }, text));
    filters.load();
    panel.querySelector("#server-search")?.focus();
  }

  function translate() {
    title.textContent = t("server.title");
    logout.textContent = t("server.logout");
    readOnly.textContent = t("server.readOnly");
    setPhase(phase);
  }
  translate();

  // A page that nobody sees has no connection: browsers allow six to a host, so more pages would wait for each other.
  let isOpen = false;
  function follow() {
    const wasShown = isShown;
    isShown = isOpen && !document.hidden;
    if (isShown === wasShown) return;
    if (isShown) {
      delay = 500;
      if (content.firstChild === figures.node) {
        filters.show();
        detail.show();
      }
      connect();
    } else {
      clearTimeout(timer);
      stream?.close();
      stream = null;
      filters.hide();
      detail.hide();
    }
  }
  document.addEventListener("visibilitychange", follow);

  return {
    show() {
      isOpen = true;
      follow();
    },
    hide() {
      isOpen = false;
      follow();
    },
    /** The URL was edited, or another one of this page was opened. */
    stateChanged() {
      filters.stateChanged();
      if (content.firstChild === figures.node) openFromState();
    },
    languageChanged() {
      translate();
      figures.redraw();
      filters.languageChanged();
      detail.languageChanged();
      if (phase === "login") showLogin(loginText);
    },
  };
}
