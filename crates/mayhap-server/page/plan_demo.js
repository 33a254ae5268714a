// A small filter that fills up: add keys, click one and see its bits, ask for another. The bits come from the core.
import { append, element, oncePerFrame, replace, svg } from "./dom.js";
import { figure } from "./exact.js";
import { rate as rateText, whole } from "./number_text.js";

const CAPACITY = 24;
const NAMES = ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy", "mallory", "niaj", "olivia", "peggy", "rupert", "sybil", "trent", "victor", "walter", "wendy"];

function name(number) {
  const round = Math.floor(number / NAMES.length);
  return NAMES[number % NAMES.length] + (round === 0 ? "" : String(round + 1));
}

export function planDemo({ t, backend }) {
  let kind = "classic";
  let rate = 0.01;
  let keys = [];
  let chosen = null;
  let query = null;
  let timer = null;

  const picture = element("div", { class: "demo-picture" });
  const figures = element("p", { class: "demo-figures", "aria-live": "polite" });
  const list = element("div", { class: "demo-keys", role: "group", "aria-label": t("demo.keys") });
  const verdict = element("p", { class: "demo-verdict", role: "status" });
  const key = element("input", { type: "text", id: "demo-key", autocomplete: "off", spellcheck: "false", maxlength: 60 });
  const button = (text, onclick, style = "secondary") => element("button", { type: "button", class: `button ${style}`, onclick }, text);

  const fillButton = button(t("demo.fill"), () => (timer === null ? play() : stop()));
  const kinds = element("div", { class: "demo-kinds", role: "group", "aria-label": t("demo.layout") }, ["classic", "bloom"].map((name) =>
    element("button", {
      type: "button", class: "quiet", "data-demo-kind": name, "aria-pressed": String(name === kind),
      onclick: (event) => {
        kind = name;
        for (const other of kinds.children) other.setAttribute("aria-pressed", String(other === event.currentTarget));
        ask();
      },
    }, t(`demo.${name}`))));

  const node = element("section", { class: "card plan-demo" },
    element("h2", {}, t("demo.title")),
    element("p", { class: "help" }, t("demo.help")),
    kinds, picture, figures, list, verdict,
    element("form", { class: "demo-form", onsubmit: (event) => { event.preventDefault(); add(key.value.trim() || name(keys.length)); key.value = ""; } },
      element("label", { for: "demo-key" }, t("demo.key")), key,
      element("div", { class: "demo-buttons" },
        element("button", { class: "button" }, t("demo.add")),
        button(t("demo.query"), () => {
          query = key.value.trim() || "zoe";
          chosen = null;
          ask();
        }),
        fillButton,
        button(t("demo.reset"), () => { stop(); keys = []; chosen = null; query = null; ask(); }))));

  function add(text) {
    if (!keys.includes(text)) keys.push(text);
    chosen = text;
    query = null;
    ask();
  }

  function play() {
    fillButton.textContent = t("demo.stop");
    timer = setInterval(() => {
      if (keys.length >= 3 * CAPACITY || !node.isConnected) stop();
      else add(name(keys.length));
    }, 250);
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    fillButton.textContent = t("demo.fill");
  }

  let newest = 0;
  const ask = oncePerFrame(async () => {
    newest += 1;
    const number = newest;
    try {
      const answer = await backend.demo({ kind, capacity: CAPACITY, rate, keys, query });
      if (number === newest) show(answer);
    } catch (error) {
      if (number === newest) replace(picture, element("p", { class: "note danger" }, error.message));
    }
  });

  function show(answer) {
    const shown = query === null ? answer.keys.find((found) => found.key === chosen) : answer.query;
    const highlighted = new Set(shown?.bits ?? []);
    const set = new Set(answer.set);
    const columns = kind === "bloom" ? 64 : 24;
    const rows = Math.ceil(answer.bits / columns);
    const root = svg("svg", { viewBox: `0 0 ${columns * 10} ${rows * 10}`, role: "img", "aria-label": t("demo.picture", { set: set.size, bits: answer.bits }) });
    for (let bit = 0; bit < answer.bits; bit += 1) {
      const state = highlighted.has(bit) ? (set.has(bit) ? "hit" : "miss") : set.has(bit) ? "set" : "clear";
      append(root, svg("rect", { class: `bit ${state}`, x: (bit % columns) * 10 + 1, y: Math.floor(bit / columns) * 10 + 1, width: 8, height: 8, rx: 2 }));
    }
    replace(picture, root);
    replace(figures,
      element("span", {}, t("demo.count", { keys: answer.keys.length, capacity: CAPACITY })),
      element("span", {}, t("demo.fillNow"), " ", figure("demo.fill", answer.fill, rateText)),
      element("span", {}, t("demo.rateNow"), " ", figure("demo.estimated_rate", answer.estimated_rate, rateText)),
      element("span", {}, t("demo.shape", { bits: whole(answer.bits), probes: answer.probes })));
    replace(list, answer.keys.map((found) =>
      element("button", { type: "button", class: "chip", "aria-pressed": String(found.key === chosen && query === null), onclick: () => { chosen = found.key; query = null; ask(); } }, found.key)));
    verdict.className = "demo-verdict note";
    if (query !== null) {
      const { answer: isYes, was_inserted: isMember } = answer.query;
      verdict.classList.add(!isYes ? "good" : isMember ? "accent" : "warning");
      verdict.textContent = t(!isYes ? "demo.no" : isMember ? "demo.yes" : "demo.false", { key: query });
    } else if (shown) {
      verdict.textContent = t(shown.is_new ? "demo.bitsOf" : "demo.notNew", { key: shown.key, bits: shown.bits.length });
    } else verdict.textContent = t("demo.start");
  }
  for (let number = 0; number < 8; number += 1) keys.push(name(number));
  chosen = keys[2];
  ask();

  return {
    node,
    /** The rate of the plan, as far as a small picture can show it. */
    follow(planned) {
      const shown = Math.max(0.001, Math.min(0.3, planned));
      if (shown === rate) return;
      rate = shown;
      ask();
    },
  };
}
