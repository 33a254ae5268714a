//! The table of all filters that the page shows: a copy of names, sizes and statistics that is sorted and searched without
//! touching the keys.
//!
//! A refresh lists the keys, shard by shard, and then computes statistics for a limited time, those that are missing or oldest
//! first. So with ten thousand filters some figures are a few seconds old, and every row says how old.

use crate::engine::Engine;
use crate::keyspace::Version;
use crate::stats_cache::{KnownStats, refresh};
use mayhap_core::Stats;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The maximum number of rows: about 40 MB. Other keys are only counted.
const MAX_ROWS: usize = 100_000;
/// A younger table is not refreshed.
const FRESH: Duration = Duration::from_secs(1);
/// The time for statistics in one refresh: two percent of a core if there is one every second.
const BUDGET: Duration = Duration::from_millis(20);
/// The same while filters have none yet, so that the first answers have most of them.
const FIRST_BUDGET: Duration = Duration::from_millis(250);
/// How old the statistics of a filter that changes may be, in milliseconds.
const FRESH_MS: u64 = 1000;
/// A table that nobody asked for in this time is dropped.
const FORGET_AFTER: Duration = Duration::from_secs(60);

/// A filter.
#[derive(Clone)]
pub(crate) struct FilterRow {
    pub(crate) name: Box<[u8]>,
    pub(crate) type_name: &'static str,
    pub(crate) size_bytes: u64,
    /// When it expires, in milliseconds since 1970.
    pub(crate) expires: Option<u64>,
    /// What is known of its content, and since when.
    pub(crate) stats: Option<(Stats, u64)>,
}

impl FilterRow {
    pub(crate) fn stat<R>(&self, see: impl FnOnce(&Stats) -> Option<R>) -> Option<R> {
        self.stats.as_ref().and_then(|(stats, _)| see(stats))
    }
}

/// All filters at one moment.
#[derive(Default)]
pub(crate) struct FilterRows {
    pub(crate) rows: Vec<FilterRow>,
    /// The number of filters, which may be larger than that of the rows.
    pub(crate) total: usize,
}

impl FilterRows {
    /// How many rows fulfil a condition on their statistics.
    pub(crate) fn count(&self, is_counted: impl Fn(&Stats) -> bool) -> usize {
        let rows = self.rows.iter();
        rows.filter(|row| {
            row.stats
                .as_ref()
                .is_some_and(|(stats, _)| is_counted(stats))
        })
        .count()
    }
}

#[derive(Default)]
pub(crate) struct FilterTable {
    current: Mutex<Option<(Instant, Arc<FilterRows>)>>,
    /// One refresh at a time.
    refreshing: Mutex<()>,
}

impl FilterTable {
    /// The filters as of the last second.
    pub(crate) fn rows(&self, engine: &Engine) -> Arc<FilterRows> {
        if let Some(rows) = self.younger_than(FRESH) {
            return rows;
        }
        let _one = self.refreshing.lock();
        // Another thread may have refreshed it meanwhile.
        if let Some(rows) = self.younger_than(FRESH) {
            return rows;
        }
        let rows = Arc::new(read(engine));
        *self.current.lock() = Some((Instant::now(), Arc::clone(&rows)));
        rows
    }

    fn younger_than(&self, age: Duration) -> Option<Arc<FilterRows>> {
        let current = self.current.lock();
        let (at, rows) = current.as_ref()?;
        (at.elapsed() < age).then(|| Arc::clone(rows))
    }

    /// Frees the memory of a table that nobody looks at.
    pub(crate) fn forget(&self) {
        let mut current = self.current.lock();
        if current
            .as_ref()
            .is_some_and(|(at, _)| at.elapsed() >= FORGET_AFTER)
        {
            *current = None;
        }
    }
}

fn read(engine: &Engine) -> FilterRows {
    let now = engine.clock.now();
    let mut table = FilterRows::default();
    let mut versions = Vec::new();
    for shard in 0..engine.keys.shards() {
        engine.keys.for_each_in_shard(shard, |key, body| {
            if !body.value.is_filter() || body.is_expired(now) {
                return;
            }
            table.total += 1;
            if table.rows.len() < MAX_ROWS {
                versions.push(body.version());
                table.rows.push(FilterRow {
                    name: key.into(),
                    type_name: body.value.type_name(),
                    size_bytes: body.size_bytes(key),
                    expires: body.expires(),
                    stats: None,
                });
            }
        });
    }
    let mut known = engine.stats.lock();
    forget_removed(&mut known, &table.rows);
    update(engine, &mut known, (&table.rows, &versions), now);
    for row in &mut table.rows {
        let found = known.get(&row.name);
        row.stats = found.map(|found| (found.stats, found.at));
    }
    drop(known);
    add_files(engine, now, &mut table);
    table
}

fn forget_removed(known: &mut KnownStats, rows: &[FilterRow]) {
    let kept = rows
        .iter()
        .filter_map(|row| known.remove_entry(&row.name))
        .collect();
    *known = kept;
}

/// Computes statistics until the time is over: the missing ones first, then the oldest.
fn update(
    engine: &Engine,
    known: &mut KnownStats,
    (rows, versions): (&[FilterRow], &[Version]),
    now: u64,
) {
    let pairs = rows.iter().zip(versions);
    let due = pairs.filter_map(|(row, version)| {
        let Some(found) = known.get_mut(&row.name) else {
            return Some((0, row));
        };
        if found.is_unchanged(*version) {
            found.at = now;
        }
        let is_due = !found.is_current(*version, now, FRESH_MS);
        is_due.then_some((found.at, row))
    });
    let mut due: Vec<(u64, &FilterRow)> = due.collect();
    due.sort_by_key(|(at, _)| *at);
    let began = Instant::now();
    for (at, row) in due {
        let budget = if at == 0 { FIRST_BUDGET } else { BUDGET };
        if began.elapsed() >= budget {
            return;
        }
        refresh(known, engine, &row.name, now, FRESH_MS);
    }
}

/// Files in the data folder are listed like keys.
fn add_files(engine: &Engine, now: u64, table: &mut FilterRows) {
    for name in engine.served_files(now) {
        table.total += 1;
        if let Some(served) = engine.files.get(&name)
            && table.rows.len() < MAX_ROWS
        {
            let stats = served.description.stats;
            table.rows.push(FilterRow {
                name,
                type_name: crate::files::TYPE_NAME,
                size_bytes: stats.size_bytes,
                expires: None,
                stats: Some((stats, now)),
            });
        }
    }
}
