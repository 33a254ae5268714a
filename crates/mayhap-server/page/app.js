// The shell: tabs, the state in the URL fragment, language and theme.
import { element } from "./dom.js";
import { mount as mountInspect } from "./inspect.js";
import { mount as mountPlan } from "./plan.js";
import { currentLanguage, setLanguage, t } from "./text.js";

const TABS = ["plan", "inspect", "server"];

/** Starts the page. `mountServer` is the Server tab, or what explains how to get one. */
export function start(backend, mountServer) {
  const mounts = { plan: mountPlan, inspect: mountInspect, server: mountServer };
  const mounted = {};
  const state = urlState();
  const context = { t, backend, element, state };
  let shown = null;

  chooseLanguage(state);
  chooseTheme(state);
  translateShell();

  const panel = (name) => document.getElementById(`panel-${name}`);
  const tab = (name) => document.getElementById(`tab-${name}`);

  function show(name, isUser) {
    if (name === shown) return;
    if (shown !== null) mounted[shown]?.hide?.();
    shown = name;
    for (const other of TABS) {
      const isShown = other === name;
      panel(other).hidden = !isShown;
      tab(other).setAttribute("aria-selected", String(isShown));
      tab(other).tabIndex = isShown ? 0 : -1;
    }
    if (isUser) state.set("tab", name === "plan" ? null : name);
    if (name in mounted) mounted[name]?.show?.();
    else {
      mounted[name] = mounts[name](panel(name), context) ?? {};
      mounted[name].show?.();
    }
  }

  for (const name of TABS) tab(name).addEventListener("click", () => show(name, true));
  document.getElementById("tabs").addEventListener("keydown", (event) => {
    const at = TABS.indexOf(shown);
    const next = { ArrowRight: at + 1, ArrowLeft: at + TABS.length - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const name = TABS[next % TABS.length];
    show(name, true);
    tab(name).focus();
  });
  document.getElementById("skip").addEventListener("click", (event) => {
    // The fragment is the page's state, so the link must not change it.
    event.preventDefault();
    document.getElementById("main").focus();
  });
  document.getElementById("language").addEventListener("click", () => {
    setLanguage(currentLanguage() === "en" ? "zh" : "en");
    state.set("lang", currentLanguage());
    translateShell();
    for (const name of Object.keys(mounted)) mounted[name]?.languageChanged?.();
  });
  // A file that misses the Inspect tab is inspected too; otherwise the browser would leave the page for it.
  const hasFile = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => { if (hasFile(event)) event.preventDefault(); });
  document.addEventListener("drop", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    show("inspect", true);
    mounted.inspect.choose(event.dataTransfer.files[0]);
  });
  window.addEventListener("hashchange", () => {
    if (!state.changedElsewhere()) return;
    const before = currentLanguage();
    chooseLanguage(state);
    translateShell();
    show(tabOf(state), false);
    for (const name of Object.keys(mounted)) {
      if (currentLanguage() !== before) mounted[name]?.languageChanged?.();
      mounted[name]?.stateChanged?.();
    }
  });
  show(tabOf(state), false);
}

function tabOf(state) {
  const name = state.get("tab");
  return TABS.includes(name) ? name : TABS[0];
}

/** Names and values in the URL's fragment: they never reach a server, and a link reproduces what is shown. */
function urlState() {
  let values = new URLSearchParams(location.hash.slice(1));
  let written = location.hash;
  let timer = null;
  const write = () => {
    timer = null;
    const text = values.toString();
    written = text === "" ? "" : `#${text}`;
    // Browsers allow a limited number of these calls per second, hence the timer.
    history.replaceState(null, "", written === "" ? location.pathname + location.search : written);
  };
  return {
    get: (name) => values.get(name),
    set(name, value) {
      if (value === null || value === undefined || value === "") values.delete(name);
      else values.set(name, String(value));
      timer ??= setTimeout(write, 150);
    },
    changedElsewhere() {
      if (location.hash === written) return false;
      written = location.hash;
      values = new URLSearchParams(location.hash.slice(1));
      return true;
    },
  };
}

function chooseLanguage(state) {
  const wanted = state.get("lang") ?? (navigator.language?.toLowerCase().startsWith("zh") ? "zh" : "en");
  setLanguage(wanted);
}

function chooseTheme(state) {
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const wanted = state.get("theme");
    const isDark = wanted ? wanted === "dark" : system.matches;
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    button.setAttribute("aria-pressed", String(isDark));
  };
  button.addEventListener("click", () => {
    state.set("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    apply();
  });
  system.addEventListener("change", apply);
  window.addEventListener("hashchange", apply);
  apply();
}

function translateShell() {
  document.title = t("shell.title");
  for (const name of TABS) document.getElementById(`tab-${name}`).textContent = t(`tab.${name}`);
  document.getElementById("skip").textContent = t("shell.skip");
  document.getElementById("tabs").setAttribute("aria-label", t("shell.tabs"));
  const language = document.getElementById("language");
  language.textContent = t("shell.language");
  language.title = t("shell.languageHelp");
  language.lang = currentLanguage() === "en" ? "zh-CN" : "en";
  const theme = document.getElementById("theme");
  theme.textContent = t("shell.dark");
  theme.title = t("shell.darkHelp");
}
