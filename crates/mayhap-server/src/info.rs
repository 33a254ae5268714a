//! INFO: how the server is, in Redis's sections and one of our own.

use crate::engine::Engine;
use crate::printable::printable;
use crate::settings::fsync_name;
use crate::system;
use std::fmt::Write;
use std::sync::atomic::Ordering;

const SECTIONS: [&str; 7] = [
    "server",
    "clients",
    "memory",
    "persistence",
    "stats",
    "keyspace",
    "filters",
];

/// The sections that were asked for, or all but the filters.
pub(crate) fn text(engine: &Engine, now: u64, asked: &[&[u8]]) -> String {
    let asks = |name: &str| {
        let is_all = |word: &&[u8]| {
            ["all", "everything"]
                .iter()
                .any(|all| word.eq_ignore_ascii_case(all.as_bytes()))
        };
        let is_usual = |word: &&[u8]| word.eq_ignore_ascii_case(b"default") && name != "filters";
        // To tell the fill of a filter is to read all of it: only for who asks.
        (asked.is_empty() && name != "filters")
            || asked.iter().any(|word| {
                is_all(word) || is_usual(word) || word.eq_ignore_ascii_case(name.as_bytes())
            })
    };
    let mut text = String::new();
    for name in SECTIONS.iter().filter(|name| asks(name)) {
        if !text.is_empty() {
            text += "\r\n";
        }
        let title = name[..1].to_uppercase() + &name[1..];
        let _ = write!(text, "# {title}\r\n");
        for (field, value) in section(engine, now, name) {
            let _ = write!(text, "{field}:{value}\r\n");
        }
    }
    text
}

type Fields = Vec<(String, String)>;

fn section(engine: &Engine, now: u64, name: &str) -> Fields {
    match name {
        "server" => server(engine, now),
        "clients" => fields([("connected_clients", engine.clients.len().to_string())]),
        "memory" => memory(engine),
        "persistence" => persistence(engine),
        "stats" => stats(engine),
        "keyspace" => keyspace(engine),
        _ => filters(engine, now),
    }
}

fn fields<const N: usize>(fields: [(&str, String); N]) -> Fields {
    let named = fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    named.collect()
}

fn server(engine: &Engine, now: u64) -> Fields {
    let settings = engine.settings.load();
    fields([
        ("redis_version", crate::REDIS_VERSION.to_owned()),
        ("redis_mode", "standalone".to_owned()),
        ("mayhap_version", env!("CARGO_PKG_VERSION").to_owned()),
        (
            "mayhap_layout",
            settings.filters.get("mayhap-layout").unwrap_or_default(),
        ),
        ("process_id", std::process::id().to_string()),
        ("run_id", engine.run_id.clone()),
        ("tcp_port", settings.port.to_string()),
        ("server_time_usec", (now * 1000).to_string()),
        (
            "uptime_in_seconds",
            engine.clock.uptime_seconds().to_string(),
        ),
        (
            "uptime_in_days",
            (engine.clock.uptime_seconds() / 86_400).to_string(),
        ),
    ])
}

fn memory(engine: &Engine) -> Fields {
    let settings = engine.settings.load();
    fields([
        ("used_memory", engine.used_bytes().to_string()),
        ("used_memory_rss", system::resident_bytes().to_string()),
        ("maxmemory", settings.most_memory.to_string()),
        ("maxmemory_policy", "noeviction".to_owned()),
    ])
}

fn persistence(engine: &Engine) -> Fields {
    let state = engine.journal.state();
    let snapshots = &engine.snapshots;
    let failed = snapshots.last_error.lock().clone();
    let milliseconds = |time: Option<std::time::Duration>| time.map_or(0, |time| time.as_millis());
    fields([
        ("loading", "0".to_owned()),
        (
            "rdb_bgsave_in_progress",
            u8::from(snapshots.is_under_way()).to_string(),
        ),
        ("rdb_last_save_time", (snapshots.last() / 1000).to_string()),
        (
            "rdb_last_bgsave_status",
            if failed.is_none() { "ok" } else { "err" }.to_owned(),
        ),
        (
            "rdb_saves",
            snapshots.taken.load(Ordering::Relaxed).to_string(),
        ),
        ("aof_enabled", "1".to_owned()),
        (
            "aof_last_write_status",
            if state.broken.is_none() { "ok" } else { "err" }.to_owned(),
        ),
        ("aof_current_size", state.log_bytes.to_string()),
        ("aof_base_size", state.snapshot_bytes.to_string()),
        (
            "mayhap_fsync",
            fsync_name(engine.settings.load().fsync).to_owned(),
        ),
        ("mayhap_log_appended", state.appended.to_string()),
        ("mayhap_log_synced", state.synced.to_string()),
        (
            "mayhap_log_lag_records",
            state.appended.saturating_sub(state.synced).to_string(),
        ),
        (
            "mayhap_log_lag_ms",
            milliseconds(state.unsynced_for).to_string(),
        ),
        (
            "mayhap_log_error",
            state
                .broken
                .map(|broken| broken.to_string())
                .or(failed)
                .unwrap_or_default(),
        ),
    ])
}

fn stats(engine: &Engine) -> Fields {
    let counters = &engine.counters;
    let told = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed).to_string();
    fields([
        ("total_connections_received", told(&counters.clients)),
        ("total_commands_processed", told(&counters.commands)),
        ("rejected_connections", told(&counters.refused_clients)),
        ("acl_access_denied_auth", told(&counters.refused_passwords)),
        ("total_error_replies", told(&counters.errors)),
        (
            "mayhap_closed_before_auth",
            told(&counters.closed_strangers),
        ),
        ("expired_keys", told(&counters.expired)),
        ("mayhap_refused_http_requests", told(&counters.refused_http)),
    ])
}

fn keyspace(engine: &Engine) -> Fields {
    let keys = engine.keys.len();
    if keys == 0 {
        return Vec::new();
    }
    let expiring = engine.keys.expiring();
    fields([("db0", format!("keys={keys},expires={expiring},avg_ttl=0"))])
}

fn filters(engine: &Engine, now: u64) -> Fields {
    let mut fields = Vec::new();
    for (name, kind, stats) in engine.stats.each(engine, now) {
        let name = printable(&name, &[':', ',']);
        let value = format!(
            "type={kind},keys={},capacity={},until_full={},rate_asked={:e},rate_now={:e},fill={:.4},bytes={},layers={}",
            stats.keys,
            stats.capacity,
            stats.keys_until_full,
            stats.rate_asked,
            stats.rate_now,
            stats.fill,
            stats.size_bytes,
            stats.layers,
        );
        fields.push((format!("filter_{name}"), value));
    }
    for (name, served) in engine.files.all() {
        let told = &served.description;
        let value = format!(
            "file={},format={},bytes={}",
            served.file,
            told.format.name(),
            told.size_bytes
        );
        fields.push((
            format!("file_{}", printable(name.as_bytes(), &[':', ','])),
            value,
        ));
    }
    fields
}
