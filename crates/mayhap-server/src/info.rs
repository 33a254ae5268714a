//! INFO: the sections of Redis, and one of our own for filters.

use crate::engine::Engine;
use crate::printable::printable;
use crate::settings::fsync_name;
use crate::system;
use std::fmt::Write;
use std::sync::atomic::Ordering;

const SECTIONS: [&str; 11] = [
    "server",
    "clients",
    "memory",
    "persistence",
    "stats",
    "replication",
    "cpu",
    "modules",
    "cluster",
    "keyspace",
    "filters",
];

/// The requested sections, or all except the filters.
pub(crate) fn text(engine: &Engine, now: u64, asked: &[&[u8]]) -> String {
    let asks = |name: &str| {
        let is_all = |word: &&[u8]| {
            ["all", "everything"]
                .iter()
                .any(|all| word.eq_ignore_ascii_case(all.as_bytes()))
        };
        let is_usual = |word: &&[u8]| word.eq_ignore_ascii_case(b"default") && name != "filters";
        // Only on request, because the fill of a filter requires reading all of it.
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
        "clients" => clients(engine, now),
        "memory" => memory(engine),
        "persistence" => persistence(engine),
        "stats" => stats(engine),
        "replication" => replication(engine),
        "cpu" => cpu(),
        "modules" => modules(),
        "cluster" => fields([("cluster_enabled", "0".to_owned())]),
        "keyspace" => keyspace(engine, now),
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
        ("redis_git_sha1", "00000000".to_owned()),
        ("redis_git_dirty", "0".to_owned()),
        ("redis_mode", "standalone".to_owned()),
        ("os", system::name()),
        ("arch_bits", usize::BITS.to_string()),
        ("multiplexing_api", "epoll".to_owned()),
        ("mayhap_version", env!("CARGO_PKG_VERSION").to_owned()),
        (
            "mayhap_layout",
            settings.filters.get("mayhap-layout").unwrap_or_default(),
        ),
        ("process_id", std::process::id().to_string()),
        ("process_supervised", "no".to_owned()),
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

fn clients(engine: &Engine, now: u64) -> Fields {
    let settings = engine.settings.load();
    fields([
        ("connected_clients", engine.clients.len().to_string()),
        ("cluster_connections", "0".to_owned()),
        ("maxclients", settings.max_clients.to_string()),
        // There are no blocking commands.
        ("blocked_clients", "0".to_owned()),
        ("tracking_clients", "0".to_owned()),
        ("pubsub_clients", "0".to_owned()),
        ("paused_actions", engine.pause.name(now).to_owned()),
        (
            "mayhap_unauthenticated_clients",
            engine.clients.unauthenticated().to_string(),
        ),
    ])
}

/// Human-readable sizes, rounded as in Redis.
fn human(bytes: u64) -> String {
    let units = ["K", "M", "G", "T", "P"];
    let mut size = bytes as f64 / 1024.0;
    if size < 1.0 {
        return format!("{bytes}B");
    }
    let mut at = 0;
    while size >= 1024.0 && at + 1 < units.len() {
        size /= 1024.0;
        at += 1;
    }
    format!("{size:.2}{}", units.get(at).copied().unwrap_or_default())
}

fn memory(engine: &Engine) -> Fields {
    let settings = engine.settings.load();
    let (used, resident, all) = (
        engine.used_bytes(),
        system::resident_bytes(),
        system::memory_bytes(),
    );
    fields([
        ("used_memory", used.to_string()),
        ("used_memory_human", human(used)),
        ("mayhap_served_bytes", engine.files.used_bytes().to_string()),
        ("used_memory_rss", resident.to_string()),
        ("used_memory_rss_human", human(resident)),
        ("total_system_memory", all.to_string()),
        ("total_system_memory_human", human(all)),
        ("maxmemory", settings.max_memory.to_string()),
        ("maxmemory_human", human(settings.max_memory)),
        ("maxmemory_policy", "noeviction".to_owned()),
        ("mem_allocator", "libc".to_owned()),
    ])
}

/// There are no replicas.
fn replication(engine: &Engine) -> Fields {
    fields([
        ("role", "master".to_owned()),
        ("connected_slaves", "0".to_owned()),
        ("master_failover_state", "no-failover".to_owned()),
        ("master_replid", engine.run_id.clone()),
        ("master_repl_offset", "0".to_owned()),
        ("repl_backlog_active", "0".to_owned()),
    ])
}

fn cpu() -> Fields {
    let (system, user) = system::cpu_seconds();
    fields([
        ("used_cpu_sys", format!("{system:.6}")),
        ("used_cpu_user", format!("{user:.6}")),
    ])
}

fn modules() -> Fields {
    let modules = crate::MODULES.iter();
    let lines = modules.map(|(name, version)| {
        let value =
            format!("name={name},ver={version},api=1,filters=0,usedby=[],using=[],options=[]");
        ("module".to_owned(), value)
    });
    lines.collect()
}

fn persistence(engine: &Engine) -> Fields {
    let state = engine.journal.state();
    let snapshots = &engine.snapshots;
    let failed = snapshots.last_error.lock().clone();
    let milliseconds = |time: Option<std::time::Duration>| time.map_or(0, |time| time.as_millis());
    fields([
        ("loading", "0".to_owned()),
        ("async_loading", "0".to_owned()),
        (
            "rdb_bgsave_in_progress",
            u8::from(snapshots.is_running()).to_string(),
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
        // A snapshot also rewrites the log.
        (
            "aof_rewrite_in_progress",
            u8::from(snapshots.is_running()).to_string(),
        ),
        ("aof_rewrite_scheduled", "0".to_owned()),
        (
            "aof_last_bgrewrite_status",
            if failed.is_none() { "ok" } else { "err" }.to_owned(),
        ),
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
    let count =
        |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed).to_string();
    fields([
        ("total_connections_received", count(&counters.clients)),
        ("total_commands_processed", count(&counters.commands)),
        (
            "instantaneous_ops_per_sec",
            counters.commands_per_second().to_string(),
        ),
        ("rejected_connections", count(&counters.refused_clients)),
        ("acl_access_denied_auth", count(&counters.refused_passwords)),
        ("total_error_replies", count(&counters.errors)),
        (
            "mayhap_closed_before_auth",
            count(&counters.closed_unauthenticated),
        ),
        ("expired_keys", count(&counters.expired)),
        ("evicted_keys", "0".to_owned()),
        ("keyspace_hits", count(&counters.hits)),
        ("keyspace_misses", count(&counters.misses)),
        ("pubsub_channels", "0".to_owned()),
        ("pubsub_patterns", "0".to_owned()),
        // Snapshots do not fork.
        ("latest_fork_usec", "0".to_owned()),
        (
            "mayhap_refused_http_requests",
            count(&counters.refused_http),
        ),
    ])
}

fn keyspace(engine: &Engine, now: u64) -> Fields {
    let keys = engine.keys.len() + engine.served_files(now).len();
    if keys == 0 {
        return Vec::new();
    }
    let expiring = engine.keys.expiring();
    fields([("db0", format!("keys={keys},expires={expiring},avg_ttl=0"))])
}

fn filters(engine: &Engine, now: u64) -> Fields {
    // Without a limit, or with every bit set, the number is the largest one.
    let number = |number: Option<u64>| number.unwrap_or(u64::MAX);
    let share = |share: Option<f64>| share.unwrap_or(f64::NAN);
    let mut fields = Vec::new();
    for (name, kind, stats) in engine.stats.all(engine, now) {
        let name = printable(&name, &[':', ',']);
        let value = format!(
            "type={kind},keys={},capacity={},until_full={},rate_asked={:e},rate_now={:e},fill={:.4},bytes={},layers={}",
            number(stats.estimated_keys),
            number(stats.capacity),
            number(stats.keys_until_full),
            share(stats.false_positive_rate),
            share(stats.estimated_rate),
            share(stats.fill),
            stats.size_bytes,
            stats.layers,
        );
        fields.push((format!("filter_{name}"), value));
    }
    for (name, served) in engine.files.all() {
        let description = &served.description;
        let value = format!(
            "file={},format={},bytes={}",
            served.file,
            description.format.name(),
            description.stats.size_bytes
        );
        fields.push((
            format!("file_{}", printable(name.as_bytes(), &[':', ','])),
            value,
        ));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn sizes_are_rounded_as_redis_does() {
        for (bytes, text) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1.00K"),
            (1_600_000, "1.53M"),
            (3 << 30, "3.00G"),
            (u64::MAX, "16384.00P"),
        ] {
            assert_eq!(human(bytes), text);
        }
    }
}
