// The answer of a plan: the recommendation, its curves, and every kind side by side.
import { chart, decades, rounds } from "./chart.js";
import { element, replace } from "./dom.js";
import { figure, tile } from "./exact.js";
import { digits, rate, short, size, whole } from "./number_text.js";
import { currentLanguage } from "./text.js";

const COLOURS = { bloom: "series-1", cuckoo: "series-2", fuse: "series-3", growing: "series-4", ribbon: "series-5", classic: "series-0", "growing-cuckoo": "series-6", "window-cuckoo": "series-7", counting: "series-8", limit: "series-text", no_filter: "series-0", exact: "series-text", lookups: "series-1", memory: "series-2", together: "series-3" };
const ABILITIES = ["insert", "delete", "grow", "window", "count", "merge", "except"];

export function planAnswer({ t }) {
  const summary = element("section", { class: "plan-summary", "aria-label": t("plan.recommended") });
  const past = chart();
  const sizes = chart();
  const costs = chart();
  const costCard = card(t("plan.chart.costs"), t("plan.chart.costsHelp"), costs.node);
  const charts = element("div", { class: "plan-charts", hidden: true },
    card(t("plan.chart.past"), t("plan.chart.pastHelp"), past.node),
    card(t("plan.chart.sizes"), t("plan.chart.sizesHelp"), sizes.node),
    costCard);
  const body = element("tbody", {});
  const node = element("section", { class: "card plan-kinds", hidden: true },
    element("h2", {}, t("plan.kinds")),
    element("p", { class: "help" }, t("plan.kindsHelp")),
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("plan.kinds") },
      element("table", {},
        element("thead", {}, element("tr", {}, ["kind", "size", "bits", "probes", "lines", "can", "why"].map((name) => element("th", { scope: "col", class: ["size", "bits", "probes", "lines"].includes(name) ? "number" : null }, t(`plan.column.${name}`))))),
        body)));

  function card(title, help, content) {
    return element("section", { class: "card" }, element("h2", {}, title), element("p", { class: "help" }, help), content);
  }

  function why(text) {
    return currentLanguage() === "en" ? text : t(`why.${text}`).replace(/^why\./, "");
  }

  function showSummary(plan) {
    const per = t("plan.bitsPerKey");
    const kind = t(`kind.${plan.kind}`);
    replace(summary,
      element("div", { class: "recommendation" },
        element("span", { class: "badge accent" }, t("plan.recommended")),
        element("h2", {}, figure("kind", plan.kind, () => kind), " ", element("code", {}, plan.kind)),
        element("p", { "data-field": "why", "data-value": plan.why }, why(plan.why))),
      element("div", { class: "tiles" },
        tile(t("plan.size"), figure("size_bytes", plan.size_bytes, size), plan.memory_bytes === null ? `${whole(plan.size_bytes)} ${t("plan.bytes")}` : [t("plan.of"), " ", figure("memory_bytes", plan.memory_bytes, size)]),
        tile(t("plan.bits"), figure("bits_per_key", plan.bits_per_key, digits), [t("plan.limit"), " ", figure("limit_bits_per_key", plan.limit_bits_per_key, digits)]),
        tile(t("plan.keys"), figure("keys", plan.keys, Number(plan.keys) < 1e7 ? whole : short), Number(plan.keys) < 1e7 ? null : whole(plan.keys)),
        tile(t("plan.fpr"), figure("false_positive_rate", plan.false_positive_rate, rate), "rate_at_2x_capacity" in plan ? [t("plan.at2x"), " ", figure("rate_at_2x_capacity", plan.rate_at_2x_capacity, rate)] : null),
        "lines" in plan ? tile(t("plan.perLookup"), [figure("bits_set_per_key", plan.bits_set_per_key, whole), ` ${per}`], [t("plan.inLines"), " ", figure("lines_per_key", plan.lines_per_key, whole), " / ", figure("lines", plan.lines, whole)]) : null,
        "lines" in plan ? tile(t("plan.rateNow"), figure("rate_at_capacity", plan.rate_at_capacity, rate), [t("plan.at15x"), " ", figure("rate_at_1_5x_capacity", plan.rate_at_1_5x_capacity, rate)]) : null,
        "exceptions" in plan ? tile(t("plan.except"), figure("exceptions", plan.exceptions, whole), figure("exception_bytes", plan.exception_bytes, size)) : null,
        plan.cost ? costTiles(plan.cost) : null));
  }

  function costTiles(cost) {
    const one = (name) => figure(`cost.${name}`, cost[name], digits);
    return [
      tile(t("plan.cost.filter"), one("filter"), [t("plan.cost.none"), " ", one("none"), " · ", t("plan.cost.exact"), " ", one("exact")]),
      tile(t("plan.cost.saved"), one("saved_per_million"), [t("plan.cost.delta"), " ", one("delta")]),
      tile(t("plan.cost.skipped"), figure("cost.skipped_share", cost.skipped_share, rate), [t("plan.cost.wasted"), " ", figure("cost.wasted_share", cost.wasted_share, rate)]),
      cost.best ? tile(t("plan.cost.best"), figure("cost.best.false_positive_rate", cost.best.false_positive_rate, rate), [t("plan.cost.bestSaves"), " ", figure("cost.best.saved", cost.best.saved, digits)]) : null,
    ];
  }

  function showKinds(plan) {
    replace(body, plan.page.kinds.map((row) =>
      element("tr", { class: row.is_best ? "best" : row.is_suitable ? "suitable" : "unsuitable", "data-kind": row.kind, "data-suitable": row.is_suitable },
        element("th", { scope: "row" }, element("span", { class: "kind-name" }, t(`kind.${row.kind}`)), element("code", {}, row.kind), row.is_best ? element("span", { class: "badge accent" }, t("plan.recommended")) : null),
        element("td", { class: "number" }, figure("size_bytes", row.size_bytes, size)),
        element("td", { class: "number" }, figure("bits_per_key", row.bits_per_key, digits)),
        element("td", { class: "number" }, figure("probes", row.probes, whole)),
        element("td", { class: "number" }, figure("lines", row.lines, whole)),
        element("td", {}, element("ul", { class: "abilities" }, ABILITIES.filter((name) => row.can.includes(name)).map((name) => element("li", { class: "badge" }, t(`can.${name}`))))),
        element("td", { class: "why" }, reasons(row)))));
  }

  function reasons(row) {
    if (row.why) return element("span", { "data-field": "why", "data-value": row.why }, why(row.why));
    if (row.size_bytes === null) return t("plan.impossible");
    if (row.missing.length > 0) return row.missing.map((name) => t(`missing.${name}`)).join(currentLanguage() === "zh" ? "" : " ");
    return t(Number(row.times_best) > 1 ? "plan.larger" : "plan.smaller", { times: digits(row.times_best, 2) });
  }

  function line(found, strong) {
    return { name: t(`line.${found.name}`), colour: COLOURS[found.name] ?? "series-0", points: found.points, isDashed: ["limit", "no_filter", "exact"].includes(found.name), isStrong: found.name === strong };
  }

  function showCharts(plan) {
    const { past_capacity: over, sizes: bits, costs: money } = plan.page;
    const capacity = Number(over.capacity);
    const requested = Number(over.rate);
    const low = Math.min(requested / 10, 0.1);
    past.update({
      label: t("plan.chart.pastLabel", { rate: rate(requested) }),
      hint: t("plan.chart.hint"),
      x: { name: t("plan.chart.keys"), from: 0, to: capacity * 4, ticks: [0, 1, 2, 3, 4].map((times) => [capacity * times, times === 0 ? "0" : times === 1 ? short(capacity) : `${times}×`]), format: (keys) => `${short(keys)} ${t("plan.keysUnit")}` },
      y: { name: t("plan.fpr"), isLog: true, from: low, to: 1, ticks: decades(low, 1, (value) => rate(value, 1)), format: rate },
      lines: over.lines.map((found) => line(found, plan.kind)),
      marks: [{ x: capacity, y: requested, text: t("plan.chart.capacity") }],
    });
    const chosen = Number(bits.rate);
    const most = Math.max(32, Number(bits.bits_per_key) * 1.25);
    sizes.update({
      label: t("plan.chart.sizesLabel", { bits: digits(bits.bits_per_key), rate: rate(chosen) }),
      hint: t("plan.chart.hint"),
      x: { name: t("plan.fpr"), isLog: true, from: 0.5, to: 1e-6, ticks: decades(0.5, 1e-6, (value) => rate(value, 1)), format: rate },
      y: { name: t("plan.bits"), from: 0, to: most, ticks: rounds(most, short), format: digits },
      lines: bits.lines.filter((found) => found.points.length > 1).map((found) => line(found, plan.kind)),
      marks: [{ x: chosen, y: Number(bits.bits_per_key), text: t("plan.chart.here") }],
    });
    costCard.hidden = money === null;
    if (money !== null) {
      const ceiling = 1.6 * Math.max(...money.lines.filter((found) => found.name !== "memory" && found.name !== "together").flatMap((found) => found.points.map(([, y]) => y)));
      costs.update({
        label: t("plan.chart.costsLabel", { cost: digits(money.cost), rate: rate(money.rate) }),
        hint: t("plan.chart.hint"),
        x: { name: t("plan.fpr"), isLog: true, from: 0.5, to: 1e-6, ticks: decades(0.5, 1e-6, (value) => rate(value, 1)), format: rate },
        y: { name: t("plan.chart.cost"), from: 0, to: ceiling, ticks: rounds(ceiling, short), format: digits },
        lines: money.lines.map((found) => line(found, "together")),
        marks: [{ x: Number(money.rate), y: Number(money.cost), text: t("plan.chart.here") }, ...(money.best === null ? [] : [{ x: Number(money.best), y: Number(money.best_cost), text: t("plan.chart.best"), row: 1 }])],
      });
    }
  }

  return {
    summary,
    charts,
    node,
    show(plan) {
      // Before the first answer there is nothing to draw.
      charts.hidden = false;
      node.hidden = false;
      showSummary(plan);
      showKinds(plan);
      showCharts(plan);
    },
  };
}
