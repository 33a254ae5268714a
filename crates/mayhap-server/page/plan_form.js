// The request of the Plan tab: two of keys, rate and memory, what the filter must do, and costs. The state is in the URL.
import { element } from "./dom.js";
import { rate as rateText, size, whole } from "./number_text.js";

const QUANTITIES = ["keys", "fpr", "memory"];
const DEFAULTS = { keys: "1000000", fpr: "0.01", memory: "2MiB" };
const NEEDS = ["delete", "grow", "window", "static"];
const COSTS = ["cost_skip", "cost_lookup", "present", "cost_gib", "lookups"];
const COST_EXAMPLE = { cost_skip: "0.001", cost_lookup: "5", present: "0.1", cost_gib: "100000", lookups: "1000000" };
// Sliders are logarithmic: exponents of ten, or of two for memory.
const SLIDERS = { keys: [1, 12], fpr: [-9, -0.3], memory: [10, 40] };

const UNITS = ["", "KiB", "MiB", "GiB", "TiB"];

/** The text that a position of a slider stands for. */
function textAt(name, position) {
  if (name === "memory") {
    const unit = Math.min(UNITS.length - 1, Math.floor(position / 10));
    return `${Number((2 ** (position - 10 * unit)).toPrecision(3))}${UNITS[unit]}`;
  }
  const text = (10 ** position).toPrecision(2);
  return String(Number(text));
}

function positionOf(name, value) {
  const position = name === "memory" ? Math.log2(value) : Math.log10(value);
  return Math.max(SLIDERS[name][0], Math.min(SLIDERS[name][1], position));
}

/** As the command line takes it: without separators of thousands, and without the wide digits of East Asian keyboards. */
function plain(text) {
  const narrow = text.normalize("NFKC").trim();
  return /^\d{1,3}([ ,'’]\d{3})+$/.test(narrow) ? narrow.replace(/\D/g, "") : narrow;
}

/** A rough value of a text, for the slider only. */
function roughly(name, text) {
  const match = /^\s*([\d._]+(?:e[+-]?\d+)?)\s*(%|[a-z]*)\s*$/i.exec(plain(text));
  if (!match) return null;
  const number = Number(match[1].replaceAll("_", ""));
  const unit = match[2].toLowerCase();
  if (name === "fpr") return unit === "%" ? number / 100 : number;
  const binary = { kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 };
  const decimal = { "": 1, b: 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 };
  return number * (binary[unit] ?? decimal[unit] ?? NaN);
}

export function planForm({ t, state }, changed) {
  const fields = {};
  const sliders = {};
  const needs = {};
  const costs = {};
  let solve = "memory";
  /** What was computed last, as a field takes it; null before the first answer. */
  let computed = null;

  function quantity(name) {
    const id = `plan-${name}`;
    fields[name] = element("input", { type: "text", id, inputmode: name === "memory" ? "text" : "decimal", autocomplete: "off", spellcheck: "false", "aria-describedby": `${id}-help`, oninput: () => edited(name) });
    sliders[name] = element("input", {
      type: "range", min: SLIDERS[name][0], max: SLIDERS[name][1], step: 0.02, "aria-label": t(`plan.slider.${name}`),
      oninput: () => {
        fields[name].value = textAt(name, Number(sliders[name].value));
        edited(name);
      },
    });

    const radio = element("input", {
      type: "radio", name: "plan-solve", id: `${id}-solve`, value: name,
      onchange: () => {
        // The rounded text in the field would be another request, or none.
        fields[solve].value = computed ?? DEFAULTS[solve];
        solve = name;
        write("solve", name === "memory" ? null : name);
        // What was computed becomes what is given.
        for (const other of QUANTITIES) write(other, other === solve ? null : fields[other].value);
        enable();
        changed();
      },
    });
    return element("div", { class: "quantity", "data-name": name },
      element("div", { class: "quantity-head" },
        element("label", { for: id }, t(`plan.${name}`)),
        element("label", { class: "solve", for: `${id}-solve` }, radio, t("plan.solve"))),
      fields[name], sliders[name],
      element("p", { class: "help", id: `${id}-help` }, t(`plan.${name}Help`)));
  }

  function need(name) {
    const id = `plan-${name}`;
    needs[name] = element("input", { type: "checkbox", id, onchange: () => { write(name, needs[name].checked ? 1 : null); changed(); } });
    return element("div", { class: "need" }, needs[name], element("div", {}, element("label", { for: id }, t(`plan.need.${name}`)), element("p", { class: "help" }, t(`plan.need.${name}Help`))));
  }

  const except = element("input", { type: "text", id: "plan-except", inputmode: "numeric", autocomplete: "off", placeholder: "0", oninput: () => { write("except", except.value); changed(); } });

  function cost(name) {
    const id = `plan-${name}`;
    costs[name] = element("input", { type: "text", id, inputmode: "decimal", autocomplete: "off", oninput: () => { write(name, costs[name].value); changed(); } });
    return element("div", { class: "field" }, element("label", { for: id }, t(`plan.${name}`)), costs[name]);
  }

  const details = element("details", { class: "costs" },
    element("summary", {}, t("plan.costs")),
    element("p", { class: "help" }, t("plan.costsHelp")),
    element("div", { class: "cost-fields" }, COSTS.map(cost)),
    element("button", {
      type: "button", class: "button secondary",
      onclick: () => {
        const isEmpty = COSTS.every((name) => costs[name].value === "");
        for (const name of COSTS) {
          costs[name].value = isEmpty ? COST_EXAMPLE[name] : "";
          write(name, costs[name].value);
        }
        changed();
      },
    }, t("plan.costsExample")));

  const node = element("form", { class: "card plan-form", novalidate: true, onsubmit: (event) => event.preventDefault() },
    element("fieldset", {}, element("legend", {}, t("plan.quantities")), QUANTITIES.map(quantity)),
    element("fieldset", {}, element("legend", {}, t("plan.needs")), [...NEEDS, "hostile"].map(need),
      element("div", { class: "field" }, element("label", { for: "plan-except" }, t("plan.except")), except, element("p", { class: "help" }, t("plan.exceptHelp")))),
    details);

  function write(name, value) {
    state.set(name, value);
  }

  function edited(name) {
    write(name, fields[name].value);
    const value = roughly(name, fields[name].value);
    if (value > 0) sliders[name].value = positionOf(name, value);
    changed();
  }

  function enable() {
    for (const name of QUANTITIES) {
      const isSolved = name === solve;
      fields[name].readOnly = isSolved;
      sliders[name].disabled = isSolved;
      node.querySelector(`[data-name="${name}"]`).classList.toggle("solved", isSolved);
      node.querySelector(`#plan-${name}-solve`).checked = isSolved;
    }
  }

  function read() {
    const wanted = state.get("solve");
    // A link with two quantities computes the third, whatever else it says.
    const absent = QUANTITIES.filter((name) => !state.get(name));
    solve = QUANTITIES.includes(wanted) ? wanted : absent.length === 1 ? absent[0] : "memory";
    for (const name of QUANTITIES) {
      fields[name].value = state.get(name) ?? DEFAULTS[name];
      const value = roughly(name, fields[name].value);
      if (value > 0) sliders[name].value = positionOf(name, value);
    }
    for (const name of [...NEEDS, "hostile"]) needs[name].checked = state.get(name) === "1";
    except.value = state.get("except") ?? "";
    for (const name of COSTS) costs[name].value = state.get(name) ?? "";
    details.open = details.open || COSTS.some((name) => costs[name].value !== "");
    enable();
  }
  read();

  return {
    node,
    read,
    isHostile: () => needs.hostile.checked,
    /** The parameters of `mayhap plan`. */
    request() {
      const request = {};
      for (const name of QUANTITIES) if (name !== solve) request[name] = plain(fields[name].value);
      for (const name of NEEDS) if (needs[name].checked) request[name] = "1";
      if (except.value.trim() !== "" && except.value.trim() !== "0") request.except = plain(except.value);
      for (const name of COSTS) if (costs[name].value.trim() !== "") request[name] = plain(costs[name].value);
      return request;
    },
    /** Shows what was computed in its field. */
    showAnswer(plan) {
      const value = { keys: plan.keys, fpr: plan.false_positive_rate, memory: plan.size_bytes }[solve];
      computed = solve === "fpr" ? String(Number(value.toPrecision(6))) : String(value);
      const text = { keys: whole, fpr: (rate) => rateText(rate, 4), memory: size }[solve];
      fields[solve].value = text(value);
      sliders[solve].value = positionOf(solve, Number(value));
    },
    showError(error) {
      if (error) fields[solve].value = "–";
      for (const [name, field] of [...Object.entries(fields), ...Object.entries(costs), ["except", except]]) {
        if (error?.details?.field === name) field.setAttribute("aria-invalid", "true");
        else field.removeAttribute("aria-invalid");
      }
    },
  };
}
