// The Plan tab: the request in fields and sliders, the answer of the backend below.
import { element, oncePerFrame, replace } from "./dom.js";
import { planAnswer } from "./plan_answer.js";
import { planCode } from "./plan_code.js";
import { planDemo } from "./plan_demo.js";
import { planForm } from "./plan_form.js";

export function mount(panel, context) {
  const { t, backend, state } = context;
  const message = element("div", { role: "status", class: "plan-message" });
  let form;
  let answer;
  let code;
  let demo;
  let newest = 0;

  const ask = oncePerFrame(async () => {
    newest += 1;
    const number = newest;
    const request = form.request();
    panel.setAttribute("aria-busy", "true");
    try {
      const plan = await backend.plan(request);
      if (number !== newest) return;
      replace(message);
      setStale(false);
      form.showAnswer(plan);
      answer.show(plan);
      code.show(plan, form.isHostile());
      demo.follow(Number(plan.false_positive_rate));
      form.showError(null);
    } catch (error) {
      if (number !== newest) return;
      replace(message, element("p", { class: "note danger" }, translated(t, error)));
      setStale(true);
      form.showError(error);
    }
    panel.removeAttribute("aria-busy");
    panel.dataset.answered = JSON.stringify(request);
  });

  /** What is shown is the answer to an earlier request. */
  function setStale(isStale) {
    for (const part of [answer.summary, answer.charts, answer.node, code.node]) {
      part.classList.toggle("stale", isStale);
      if (isStale) part.setAttribute("aria-disabled", "true");
      else part.removeAttribute("aria-disabled");
    }
  }

  function draw() {
    form = planForm(context, ask);
    answer = planAnswer(context);
    code = planCode(context);
    demo = planDemo(context);
    replace(
      panel,
      element("h1", {}, t("plan.title")),
      element("p", { class: "lead" }, t("plan.lead")),
      element("div", { class: "plan-layout" },
        element("div", { class: "plan-side" }, form.node),
        element("div", { class: "plan-main" }, message, answer.summary, answer.charts)),
      answer.node,
      element("div", { class: "plan-pair" }, demo.node, code.node),
    );
    ask();
  }
  draw();
  // After a login on another tab, the question is repeated.
  const show = () => { if (answer.node.classList.contains("stale")) ask(); };
  return { show, languageChanged: draw, stateChanged: () => { form.read(state); ask(); } };
}

// What a field takes.
const TYPES = { keys: "count", except: "count", lookups: "count", fpr: "rate", memory: "size" };

/** Errors come from Rust, in English and with the names of the command line's options. */
function translated(t, error) {
  const { code, field } = error.details ?? {};
  if (field) {
    const name = `plan.invalid.${TYPES[field] ?? "number"}`;
    const text = t(name);
    return t("plan.invalid", { field: t(`plan.${field}`), text: text === name ? error.message.replace(/^\w+: /, "") : text });
  }
  const conflict = error.message.match(/fixed set whose keys change|both expiry and removal|exceptions together with keys/);
  if (conflict) return t(`plan.conflict.${{ f: "fixed", b: "expiry", e: "except" }[conflict[0][0]]}`);
  const text = code ? t(`plan.error.${code}`) : "";
  return text === "" || text.startsWith("plan.error") ? error.message : text;
}
