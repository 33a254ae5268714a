// Live figures: tiles with curves, commands with their latencies, the slow log, warnings.
import { element, replace } from "./dom.js";
import { digits, locale, short, size, whole } from "./number_text.js";
import { History, sparkline } from "./server_spark.js";
import { t } from "./text.js";

const microseconds = (value) => {
  if (value === null || value === undefined) return "–";
  if (value < 1000) return `${digits(value, 2)} µs`;
  if (value < 1e6) return `${digits(value / 1000, 2)} ms`;
  return `${digits(value / 1e6, 2)} s`;
};

const time = (milliseconds) => new Date(milliseconds).toLocaleTimeString(locale());

export function duration(seconds) {
  const units = [["d", 86400], ["h", 3600], ["min", 60]];
  for (const [name, length] of units) {
    if (seconds >= 2 * length) return t(`server.${name}`, { count: whole(Math.floor(seconds / length)) });
  }
  return t("server.s", { count: whole(Math.floor(seconds)) });
}

/** The part of the tab that follows the events. */
export function figuresView() {
  const warnings = element("div", { role: "status", "aria-live": "polite", class: "server-warnings" });
  const tiles = element("div", { class: "tiles server-tiles" });
  const commands = element("div", { class: "card" });
  const slow = element("div", { class: "card" });
  const node = element("div", { class: "grid server-figures" }, warnings, tiles, element("div", { class: "server-two" }, commands, slow));
  const histories = Object.fromEntries(["commands", "latency", "memory", "clients"].map((name) => [name, new History()]));
  let newest = null;
  let shownWarnings = "";

  function tile(name, value, more, history) {
    return element(
      "div",
      { class: "tile", "data-figure": name },
      element("div", { class: "name" }, t(`server.${name}`)),
      element("div", { class: "value" }, value),
      history && sparkline(history),
      more && element("div", { class: "more" }, more),
    );
  }

  function slowest(figures) {
    const busy = figures.commands.by_name.filter((row) => row.p99_us !== null);
    return busy.length === 0 ? null : Math.max(...busy.map((row) => row.p99_us));
  }

  function draw() {
    const { commands: all, memory, log, snapshot, clients, keys, filters } = newest;
    const limit = memory.limit_bytes;
    const share = limit > 0 ? memory.used_bytes / limit : 0;
    replace(
      tiles,
      tile("commands", all.per_second === null ? "–" : short(Math.round(all.per_second)), t("server.commandsMore", { total: short(all.total), errors: whole(all.errors) }), histories.commands),
      tile("latency", microseconds(slowest(newest)), t("server.latencyMore"), histories.latency),
      tile("memory", size(memory.used_bytes), limit > 0 ? t("server.memoryMore", { limit: size(limit), share: digits(share * 100, 2) }) : t("server.noLimit"), histories.memory),
      tile("clients", whole(clients.connected), t("server.clientsMore", { limit: whole(clients.limit), pages: whole(clients.event_streams) }), histories.clients),
      tile("keys", whole(keys.total), t("server.keysMore", { filters: whole(filters.total), expiring: whole(keys.expiring) })),
      tile("log", size(log.bytes), log.lag_seconds >= 2 ? t("server.logLag", { seconds: digits(log.lag_seconds, 2) }) : t("server.logMore", { fsync: log.fsync })),
      tile("snapshot", snapshot.is_running ? t("server.snapshotRunning") : snapshot.last === 0 ? t("server.noSnapshot") : size(snapshot.bytes), snapshot.last > 0 && time(snapshot.last)),
      tile("uptime", duration(newest.uptime_seconds), t("server.version", { version: newest.version })),
    );
    drawWarnings();
    drawCommands();
    drawSlow();
  }

  function drawWarnings() {
    const { memory, log, snapshot, filters } = newest;
    const notes = [];
    if (log.broken) notes.push(["danger", t("server.logBroken", { reason: log.broken })]);
    if (snapshot.error) notes.push(["danger", t("server.snapshotFailed", { reason: snapshot.error })]);
    if (memory.limit_bytes > 0 && memory.used_bytes > 0.9 * memory.limit_bytes) {
      notes.push(["warning", t("server.memoryHigh", { used: size(memory.used_bytes), limit: size(memory.limit_bytes) })]);
    }
    if (filters.over_capacity > 0) notes.push(["warning", t("server.overCapacity", { count: whole(filters.over_capacity) })]);
    if (filters.nearly_full > 0) notes.push(["warning", t("server.nearlyFull", { count: whole(filters.nearly_full) })]);
    // Screen readers read a changed region, so it changes only with its text.
    const text = JSON.stringify(notes);
    if (text === shownWarnings) return;
    shownWarnings = text;
    replace(warnings, notes.map(([kind, note]) => element("p", { class: `note ${kind}` }, note)));
  }

  function drawCommands() {
    const rows = [...newest.commands.by_name].sort((one, other) => (other.per_second ?? 0) - (one.per_second ?? 0) || other.total - one.total);
    const cell = (text) => element("td", { class: "number" }, text);
    replace(
      commands,
      element("h2", {}, t("server.commandsTitle")),
      element("p", { class: "help" }, t("server.commandsHelp")),
      element(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": t("server.commandsTitle") },
        element(
          "table",
          { class: "server-commands" },
          element("thead", {}, element("tr", {}, ["command", "perSecond", "p50", "p95", "p99", "max", "total"].map((name, at) => element("th", { scope: "col", class: at > 0 ? "number" : null }, t(`server.${name}`))))),
          element(
            "tbody",
            {},
            rows.slice(0, 12).map((row) =>
              element(
                "tr",
                { "data-command": row.name },
                element("th", { scope: "row" }, element("code", {}, row.name.toUpperCase())),
                cell(row.per_second === null ? "–" : short(Math.round(row.per_second))),
                cell(microseconds(row.p50_us)),
                cell(microseconds(row.p95_us)),
                cell(microseconds(row.p99_us)),
                cell(microseconds(row.max_us)),
                cell(short(row.total)),
              ),
            ),
          ),
        ),
      ),
      rows.length === 0 && element("p", { class: "muted" }, t("server.noCommands")),
    );
  }

  function drawSlow() {
    replace(
      slow,
      element("h2", {}, t("server.slowTitle", { count: whole(newest.slowlog_length) })),
      newest.slowlog.length === 0
        ? element("p", { class: "muted" }, t("server.noSlow"))
        : element(
            "ul",
            { class: "server-slow" },
            newest.slowlog.slice(0, 6).map((entry) =>
              element(
                "li",
                {},
                element("span", { class: "badge warning" }, microseconds(entry.microseconds)),
                " ",
                element("code", { class: "server-cut" }, entry.words.join(" ").slice(0, 200)),
                element("div", { class: "muted" }, `${time(entry.time * 1000)} · ${entry.peer}`),
              ),
            ),
          ),
    );
  }

  return {
    node,
    update(figures) {
      newest = figures;
      if (figures.commands.per_second !== null) histories.commands.push(figures.commands.per_second);
      histories.latency.push(slowest(figures));
      histories.memory.push(figures.memory.used_bytes);
      histories.clients.push(figures.clients.connected);
      draw();
    },
    redraw() {
      shownWarnings = "";
      if (newest) draw();
    },
  };
}
