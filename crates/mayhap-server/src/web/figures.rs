//! The figures of the dashboard, once per second.

use crate::command_times::{TimesOfCommand, TimesSnapshot};
use crate::engine::Engine;
use crate::settings::fsync_name;
use crate::slowlog::SlowCommand;
use crate::system;
use mayhap_core::Stats;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The number of entries of the slow log.
const SLOW_COMMANDS: usize = 20;
/// How often the filters are counted.
const FILTERS_INTERVAL: Duration = Duration::from_secs(5);
/// A filter with less than this share of its capacity left is nearly full.
const NEARLY_FULL: f64 = 0.1;

#[derive(Serialize)]
struct Figures {
    /// Milliseconds since 1970.
    time: u64,
    version: &'static str,
    /// Another one after a restart.
    run_id: String,
    uptime_seconds: u64,
    commands: CommandFigures,
    memory: MemoryFigures,
    log: LogFigures,
    snapshot: SnapshotFigures,
    clients: ClientFigures,
    keys: KeyFigures,
    filters: FilterCounts,
    slowlog: Vec<SlowCommand>,
    slowlog_length: usize,
}

#[derive(Serialize)]
struct CommandFigures {
    total: u64,
    errors: u64,
    /// `null` in the first event of a stream.
    per_second: Option<f64>,
    errors_per_second: Option<f64>,
    by_name: Vec<CommandFigure>,
}

#[derive(Serialize)]
struct CommandFigure {
    name: &'static str,
    total: u64,
    per_second: Option<f64>,
    /// The time in the server, in microseconds, of the calls in the last second.
    p50_us: Option<f64>,
    p95_us: Option<f64>,
    p99_us: Option<f64>,
    max_us: Option<f64>,
}

#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the unit is part of a name")]
struct MemoryFigures {
    used_bytes: u64,
    /// 0 means none.
    limit_bytes: u64,
    files_bytes: u64,
    resident_bytes: u64,
}

#[derive(Serialize)]
struct LogFigures {
    bytes: u64,
    fsync: &'static str,
    lag_records: u64,
    lag_seconds: f64,
    /// Why writes are rejected.
    broken: Option<String>,
}

#[derive(Serialize)]
struct SnapshotFigures {
    bytes: u64,
    is_running: bool,
    /// Milliseconds since 1970.
    last: u64,
    taken: u64,
    error: Option<String>,
}

#[derive(Serialize)]
struct ClientFigures {
    connected: usize,
    limit: usize,
    unauthenticated: usize,
    event_streams: usize,
}

#[derive(Serialize)]
struct KeyFigures {
    total: usize,
    expiring: usize,
    hits_per_second: Option<f64>,
    misses_per_second: Option<f64>,
}

#[derive(Clone, Copy, Default, Serialize)]
struct FilterCounts {
    total: usize,
    over_capacity: usize,
    nearly_full: usize,
}

/// Whether the filter is not over capacity, but will soon be.
pub(super) fn is_nearly_full(stats: &Stats) -> bool {
    let left = stats.keys_until_full.zip(stats.capacity);
    !stats.is_over_capacity
        && stats.estimated_keys != Some(0)
        && left.is_some_and(|(left, capacity)| (left as f64) < NEARLY_FULL * capacity as f64)
}

/// The counters at the last event.
struct Sample {
    at: Instant,
    commands: u64,
    errors: u64,
    hits: u64,
    misses: u64,
    times: TimesSnapshot,
}

impl Sample {
    fn take(engine: &Engine) -> Self {
        let counters = &engine.counters;
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Self {
            at: Instant::now(),
            commands: count(&counters.commands),
            errors: count(&counters.errors),
            hits: count(&counters.hits),
            misses: count(&counters.misses),
            times: engine.times.snapshot(),
        }
    }
}

#[derive(Default)]
pub(super) struct FigureSampler {
    before: Option<Sample>,
    filters: Option<(Instant, FilterCounts)>,
}

impl FigureSampler {
    /// The bytes of the next event.
    pub(super) fn event(&mut self, engine: &Engine, event_streams: usize) -> Arc<[u8]> {
        // Nothing is shown that a crash would undo.
        let _ = engine.journal.commit(engine.journal.last_lsn());
        let figures = self.figures(engine, event_streams);
        let json = serde_json::to_string(&figures).unwrap_or_default();
        format!("event: figures\ndata: {json}\n\n")
            .into_bytes()
            .into()
    }

    fn figures(&mut self, engine: &Engine, event_streams: usize) -> Figures {
        let filters = self.count_filters(engine);
        let now = Sample::take(engine);
        let settings = engine.settings.load();
        let state = engine.journal.state();
        let before = self.before.as_ref();
        let seconds = before.map(|before| (now.at - before.at).as_secs_f64());
        let rate = |see: fn(&Sample) -> u64| {
            let count = see(&now).saturating_sub(see(before?));
            Some(count as f64 / seconds?)
        };
        let by_name = now
            .times
            .since(before.map_or(&now.times, |before| &before.times));
        let figures = Figures {
            time: engine.clock.now(),
            version: env!("CARGO_PKG_VERSION"),
            run_id: engine.run_id.clone(),
            uptime_seconds: engine.clock.uptime_seconds(),
            commands: CommandFigures {
                total: now.commands,
                errors: now.errors,
                per_second: rate(|sample| sample.commands),
                errors_per_second: rate(|sample| sample.errors),
                by_name: by_name
                    .iter()
                    .map(|times| CommandFigure::new(times, seconds))
                    .collect(),
            },
            memory: MemoryFigures {
                used_bytes: engine.used_bytes(),
                limit_bytes: settings.max_memory,
                files_bytes: engine.files.used_bytes(),
                resident_bytes: system::resident_bytes(),
            },
            log: LogFigures {
                bytes: state.log_bytes,
                fsync: fsync_name(settings.fsync),
                lag_records: state.appended.saturating_sub(state.synced),
                lag_seconds: state.unsynced_for.map_or(0.0, |time| time.as_secs_f64()),
                broken: state.broken.map(|broken| broken.to_string()),
            },
            snapshot: SnapshotFigures {
                bytes: state.snapshot_bytes,
                is_running: engine.snapshots.is_running(),
                last: engine.snapshots.last(),
                taken: engine.snapshots.taken.load(Ordering::Relaxed),
                error: engine.snapshots.last_error.lock().clone(),
            },
            clients: ClientFigures {
                connected: engine.clients.len(),
                limit: settings.max_clients,
                unauthenticated: engine.clients.unauthenticated(),
                event_streams,
            },
            keys: KeyFigures {
                total: engine.keys.len(),
                expiring: engine.keys.expiring(),
                hits_per_second: rate(|sample| sample.hits),
                misses_per_second: rate(|sample| sample.misses),
            },
            filters,
            slowlog: engine.slowlog.newest(SLOW_COMMANDS),
            slowlog_length: engine.slowlog.len(),
        };
        self.before = Some(now);
        figures
    }

    fn count_filters(&mut self, engine: &Engine) -> FilterCounts {
        match self.filters {
            Some((at, counts)) if at.elapsed() < FILTERS_INTERVAL => counts,
            _ => {
                let table = engine.filter_table.rows(engine);
                let counts = FilterCounts {
                    total: table.total,
                    over_capacity: table.count(|stats| stats.is_over_capacity),
                    nearly_full: table.count(is_nearly_full),
                };
                self.filters = Some((Instant::now(), counts));
                counts
            }
        }
    }
}

impl CommandFigure {
    fn new(times: &TimesOfCommand, seconds: Option<f64>) -> Self {
        let microseconds = |share| Some(times.percentile(share)? as f64 / 1000.0);
        Self {
            name: times.name,
            total: times.total,
            per_second: seconds.map(|seconds| times.calls() as f64 / seconds),
            p50_us: microseconds(0.5),
            p95_us: microseconds(0.95),
            p99_us: microseconds(0.99),
            max_us: microseconds(1.0),
        }
    }
}
