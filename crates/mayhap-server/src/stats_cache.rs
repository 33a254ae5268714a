//! Cached statistics of filters. Computing the fill reads the whole filter, so the result is kept until the filter has changed,
//! and for a few seconds in any case. Concurrent callers share it.

use crate::engine::Engine;
use crate::keyspace::{KeyEntry, SharedValue, Version};
use mayhap_core::{Stats, Timestamp};
use parking_lot::Mutex;
use std::collections::HashMap;

/// The maximum number of filters that are listed; the rest is only in the totals.
pub(crate) const MAX_FILTERS: usize = 1000;
/// How long a result is kept, in milliseconds, even if the filter changes.
const FRESH_MS: u64 = 5000;

#[derive(Default)]
pub(crate) struct StatsCache(Mutex<HashMap<Box<[u8]>, CachedStats>>);

struct CachedStats {
    version: Version,
    /// Window filters change with time.
    is_timed: bool,
    at: u64,
    kind: &'static str,
    stats: Stats,
}

impl CachedStats {
    fn is_current(&self, version: Version, now: u64) -> bool {
        let is_same = self.version == version && !self.is_timed;
        is_same || now.saturating_sub(self.at) < FRESH_MS
    }
}

impl StatsCache {
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
        names.truncate(MAX_FILTERS);
        let mut known = self.0.lock();
        known.retain(|name, _| names.binary_search(name).is_ok());
        let told = names.into_iter().filter_map(|name| {
            refresh(&mut known, engine, &name, now);
            let known = known.get(&name)?;
            Some((name, known.kind, known.stats))
        });
        told.collect()
    }
}

fn refresh(known: &mut HashMap<Box<[u8]>, CachedStats>, engine: &Engine, name: &[u8], now: u64) {
    let version = engine
        .keys
        .read(name, now, |body| body.map(KeyEntry::version));
    let is_good =
        |known: &CachedStats| version.is_some_and(|version| known.is_current(version, now));
    if known.get(name).is_some_and(is_good) {
        return;
    }
    // Only writes to this filter wait while it is read.
    let _sharing = engine.leases.share();
    let shared = engine.keys.read(name, now, |body| {
        body.map(|body| (body.version(), body.value.share()))
    });
    match shared {
        Some((version, Some(SharedValue::Filter(slot)))) => {
            if let Some(stats) = slot.stats(Timestamp(now)) {
                let fresh = CachedStats {
                    version,
                    is_timed: slot.is_timed(),
                    at: now,
                    kind: slot.type_name(),
                    stats,
                };
                known.insert(name.into(), fresh);
            }
        }
        // A long command has leased it: return the previous result.
        Some((_, None)) => {}
        Some((_, Some(SharedValue::Text(_)))) | None => {
            known.remove(name);
        }
    }
}
