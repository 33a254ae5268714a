//! `/metrics` for Prometheus, and `/health`.

use crate::engine::Engine;
use crate::printable::printable;
use crate::system;
use mayhap_core::Stats;
use std::fmt::{Display, Write};
use std::sync::atomic::Ordering;

struct MetricsPage(String);

impl MetricsPage {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(
            self.0,
            "# HELP mayhap_{name} {help}\n# TYPE mayhap_{name} {kind}"
        );
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.head(name, kind, help);
        let _ = writeln!(self.0, "mayhap_{name} {value}");
    }
}

/// The page `/metrics`.
pub(crate) fn page(engine: &Engine) -> String {
    let now = engine.clock.now();
    let state = engine.journal.state();
    let counters = &engine.counters;
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let lag = state.unsynced_for.map_or(0.0, |time| time.as_secs_f64());
    let mut page = MetricsPage(String::new());
    page.one(
        "up_seconds",
        "counter",
        "Time since the start.",
        engine.clock.uptime_seconds(),
    );
    page.one(
        "commands_total",
        "counter",
        "Commands served.",
        count(&counters.commands),
    );
    page.one(
        "errors_total",
        "counter",
        "Commands that returned an error.",
        count(&counters.errors),
    );
    clients(engine, &mut page);
    page.one("keys", "gauge", "Keys.", engine.keys.len());
    page.one(
        "expired_total",
        "counter",
        "Keys whose time came.",
        count(&counters.expired),
    );
    page.one(
        "memory_bytes",
        "gauge",
        "Memory of all keys and served files, in bytes.",
        engine.used_bytes(),
    );
    page.one(
        "resident_bytes",
        "gauge",
        "What the process takes.",
        system::resident_bytes(),
    );
    page.one(
        "log_bytes",
        "gauge",
        "Size of the logs that a restart replays, in bytes.",
        state.log_bytes,
    );
    page.one(
        "snapshot_bytes",
        "gauge",
        "The last snapshot.",
        state.snapshot_bytes,
    );
    page.one(
        "log_lag_records",
        "gauge",
        "Records not yet known to be durable.",
        state.appended.saturating_sub(state.synced),
    );
    page.one(
        "log_lag_seconds",
        "gauge",
        "Age of the oldest record that is not durable, in seconds.",
        lag,
    );
    page.one(
        "log_broken",
        "gauge",
        "Whether writes are rejected because the disk failed.",
        u8::from(state.broken.is_some()),
    );
    page.one(
        "last_snapshot_seconds",
        "gauge",
        "Time of the last snapshot, in seconds since 1970.",
        engine.snapshots.last() / 1000,
    );
    filters(engine, now, &mut page);
    page.0
}

/// Figures about connections.
fn clients(engine: &Engine, page: &mut MetricsPage) {
    let counters = &engine.counters;
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    page.one(
        "connections_total",
        "counter",
        "Clients that came.",
        count(&counters.clients),
    );
    page.one(
        "clients",
        "gauge",
        "Clients that are there.",
        engine.clients.len(),
    );
    page.one(
        "unauthenticated_clients",
        "gauge",
        "Connected clients that have not authenticated.",
        engine.clients.unauthenticated(),
    );
    page.one(
        "refused_passwords_total",
        "counter",
        "Failed authentications.",
        count(&counters.refused_passwords),
    );
    page.one(
        "closed_before_auth_total",
        "counter",
        "Clients closed before they authenticated.",
        count(&counters.closed_unauthenticated),
    );
    page.one(
        "refused_http_requests_total",
        "counter",
        "HTTP requests to the port for Redis clients.",
        count(&counters.refused_http),
    );
    page.one(
        "lookup_hits_total",
        "counter",
        "Lookups of existing keys.",
        count(&counters.hits),
    );
    page.one(
        "lookup_misses_total",
        "counter",
        "Lookups of missing keys.",
        count(&counters.misses),
    );
}

/// Filters with longer names have no figures of their own: each figure repeats the name, which may have megabytes.
const MAX_LABEL: usize = 1024;

type Figure = fn(&Stats) -> f64;

/// Without a limit, or with every bit set, the number is the largest one.
fn number(number: Option<u64>) -> f64 {
    number.unwrap_or(u64::MAX) as f64
}

fn share(share: Option<f64>) -> f64 {
    share.unwrap_or(f64::NAN)
}

const FIGURES: [(&str, &str, Figure); 7] = [
    (
        "filter_keys",
        "Estimated number of keys in a filter.",
        |stats| number(stats.estimated_keys),
    ),
    (
        "filter_capacity",
        "Keys that the filter was planned for.",
        |stats| number(stats.capacity),
    ),
    (
        "filter_keys_until_full",
        "Keys until the filter is full.",
        |stats| number(stats.keys_until_full),
    ),
    (
        "filter_rate_asked",
        "The requested false-positive rate.",
        |stats| share(stats.false_positive_rate),
    ),
    ("filter_rate", "The current false-positive rate.", |stats| {
        share(stats.estimated_rate)
    }),
    (
        "filter_fill",
        "The fraction of its bits or cells in use.",
        |stats| share(stats.fill),
    ),
    ("filter_bytes", "The memory of the filter.", |stats| {
        stats.size_bytes as f64
    }),
];

fn filters(engine: &Engine, now: u64, page: &mut MetricsPage) {
    let mut filters = engine.stats.all(engine, now);
    filters.retain(|(key, _, _)| key.len() <= MAX_LABEL);
    for (name, help, figure) in FIGURES {
        page.head(name, "gauge", help);
        for (key, kind, stats) in &filters {
            let key = label(key);
            let value = figure(stats);
            let _ = writeln!(
                page.0,
                "mayhap_{name}{{key=\"{key}\",type=\"{kind}\"}} {value}"
            );
        }
    }
}

/// The value of a label, with backslashes and quotes escaped.
fn label(name: &[u8]) -> String {
    printable(name, &['"']).replace('\\', "\\\\")
}

/// The page `/health`: whether writes are accepted, and if not, why.
pub(crate) fn health(engine: &Engine) -> Result<&'static str, String> {
    match engine.journal.state().broken {
        None => Ok("ok\n"),
        Some(broken) => Err(format!("the log cannot be written: {broken}\n")),
    }
}
