//! Cached statistics of filters. Computing the fill reads the filter, so the result is kept until the filter has changed, and for
//! some time in any case: longer if it took long. Concurrent callers share it.

use crate::engine::Engine;
use crate::keyspace::{KeyEntry, SharedValue, Version};
use mayhap_core::{Stats, Timestamp};
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::time::Instant;

/// The maximum number of filters that are listed; the rest is only in the totals.
pub(crate) const MAX_FILTERS: usize = 1000;
/// How long a result is kept for metrics, in milliseconds, even if the filter changes.
const FRESH_MS: u64 = 5000;
/// A result is kept for this many times the time that it took, so that computing takes a small share of the time.
const COST_FACTOR: u64 = 100;

/// The size of a sample: 2 ms of work. A write to the filter waits so long.
const SAMPLE_BYTES: u64 = 4 << 20;

#[derive(Default)]
pub(crate) struct StatsCache(Mutex<KnownStats>);

/// The results by name.
pub(crate) type KnownStats = HashMap<Box<[u8]>, CachedStats>;

#[derive(Clone, Copy)]
pub(crate) struct CachedStats {
    version: Version,
    /// Window filters change with time.
    is_timed: bool,
    /// When it was computed or last found unchanged, in milliseconds since 1970.
    pub(crate) at: u64,
    /// How long that took, in microseconds.
    cost: u64,
    pub(crate) kind: &'static str,
    pub(crate) stats: Stats,
}

impl CachedStats {
    /// Whether the filter is the same now.
    pub(crate) fn is_unchanged(&self, version: Version) -> bool {
        self.version == version && !self.is_timed
    }

    /// Whether the filter has not changed since, or the result is younger than `fresh_ms` or than its cost justifies.
    pub(crate) fn is_current(&self, version: Version, now: u64, fresh_ms: u64) -> bool {
        let fresh_ms = fresh_ms.max(self.cost * COST_FACTOR / 1000);
        self.is_unchanged(version) || now.saturating_sub(self.at) < fresh_ms
    }
}

impl StatsCache {
    pub(crate) fn lock(&self) -> MutexGuard<'_, KnownStats> {
        self.0.lock()
    }

    /// The first thousand filters by name. One caller at a time reads filters.
    pub(crate) fn all(&self, engine: &Engine, now: u64) -> Vec<(Box<[u8]>, &'static str, Stats)> {
        let mut names = Vec::new();
        for shard in 0..engine.keys.shards() {
            engine.keys.for_each_in_shard(shard, |key, body| {
                if body.value.is_filter() && !body.is_expired(now) {
                    names.push(Box::<[u8]>::from(key));
                }
            });
        }
        names.sort_unstable();
        let mut known = self.lock();
        known.retain(|name, _| names.binary_search(name).is_ok());
        names.truncate(MAX_FILTERS);
        let told = names.into_iter().filter_map(|name| {
            let found = refresh(&mut known, engine, &name, now, FRESH_MS)?;
            Some((name, found.kind, found.stats))
        });
        told.collect()
    }

    /// One filter, as it is now unless computing that takes long.
    pub(crate) fn one(&self, engine: &Engine, name: &[u8], now: u64) -> Option<CachedStats> {
        refresh(&mut self.lock(), engine, name, now, 0)
    }
}

/// The statistics of a filter, computed if the known ones are too old. `None` if there is no such filter, or a long command has
/// it and nothing is known.
pub(crate) fn refresh(
    known: &mut KnownStats,
    engine: &Engine,
    name: &[u8],
    now: u64,
    fresh_ms: u64,
) -> Option<CachedStats> {
    let version = engine
        .keys
        .read(name, now, |body| body.map(KeyEntry::version));
    if let (Some(version), Some(found)) = (version, known.get_mut(name)) {
        if found.is_unchanged(version) {
            found.at = now;
        }
        if found.is_current(version, now, fresh_ms) {
            return Some(*found);
        }
    }
    // Only writes to this filter wait while it is read.
    let _sharing = engine.leases.share();
    let shared = engine.keys.read(name, now, |body| {
        body.map(|body| (body.version(), body.value.share()))
    });
    match shared {
        Some((version, Some(SharedValue::Filter(slot)))) => {
            let began = Instant::now();
            let stats = slot.sampled_stats(Timestamp(now), SAMPLE_BYTES)?;
            let fresh = CachedStats {
                version,
                is_timed: slot.is_timed(),
                at: now,
                cost: began.elapsed().as_micros() as u64,
                kind: slot.type_name(),
                stats,
            };
            known.insert(name.into(), fresh);
            Some(fresh)
        }
        // A long command has leased it: return the previous result.
        Some((_, None)) => known.get(name).copied(),
        Some((_, Some(SharedValue::Text(_)))) | None => {
            known.remove(name);
            None
        }
    }
}
