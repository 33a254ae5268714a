//! How a filter is doing.

use crate::native::{BloomKind, NativeBloom};
use crate::slot::{AnyBloom, AnyCuckoo, Slot};
use mayhap_codec::redis;
use mayhap_core::Timestamp;

/// How a filter is doing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stats {
    /// The error rate that it was made for.
    pub rate_asked: f64,
    /// The error rate now, as far as the bits tell.
    pub rate_now: f64,
    /// The share of bits, cells or counters in use.
    pub fill: f64,
    /// About how many keys are in.
    pub keys: u64,
    /// About how many more fit before the rate is worse than asked; `u64::MAX` when it grows.
    pub keys_until_full: u64,
    /// Keys that it has room for as it is.
    pub capacity: u64,
    /// Bytes of memory.
    pub size_bytes: u64,
    /// Layers or tables.
    pub layers: u64,
}

impl Slot {
    /// How the filter is doing, if the key has one. Reads all of it.
    pub fn stats(&self, now: Timestamp) -> Option<Stats> {
        Some(match self {
            Self::Missing | Self::Other => return None,
            Self::Bloom(filter) => match &**filter {
                AnyBloom::RedisBloom(filter) => of_redis_bloom(filter),
                AnyBloom::Native(filter) => of_native_bloom(filter, now),
            },
            Self::Cuckoo(filter) => match &**filter {
                AnyCuckoo::RedisBloom(filter) => of_redis_cuckoo(filter),
                AnyCuckoo::Native(native) => {
                    let (filter, info) = (&native.filter, native.info());
                    Stats {
                        rate_asked: filter.false_positive_rate(),
                        rate_now: filter.estimated_rate(),
                        fill: filter.load(),
                        keys: info.items,
                        keys_until_full: filter.keys_until_full(),
                        capacity: filter.capacity(),
                        size_bytes: info.size_bytes,
                        layers: info.tables,
                    }
                }
            },
            Self::Counting(counting) => {
                let filter = &counting.filter;
                let keys = filter.estimated_keys();
                Stats {
                    rate_asked: filter.false_positive_rate(),
                    rate_now: filter.estimated_rate(),
                    fill: filter.set_counters() as f64 / filter.plan().counters() as f64,
                    keys,
                    keys_until_full: filter.capacity().saturating_sub(keys),
                    capacity: filter.capacity(),
                    size_bytes: counting.size_bytes(),
                    layers: 1,
                }
            }
        })
    }
}

fn of_native_bloom(filter: &NativeBloom, now: Timestamp) -> Stats {
    let info = filter.info(now);
    let (rate_asked, rate_now, keys, keys_until_full) = match &filter.kind {
        BloomKind::Fixed(filter) => {
            let keys = filter.estimated_keys();
            let until_full = filter.capacity().saturating_sub(keys);
            let (asked, now) = (filter.false_positive_rate(), filter.estimated_rate());
            (asked, now, keys, until_full)
        }
        BloomKind::Growing(filter) => (
            filter.false_positive_rate(),
            filter.estimated_rate(),
            filter.estimated_keys(),
            filter.keys_until_full(),
        ),
        BloomKind::Window(filter) => (
            filter.false_positive_rate(),
            filter.estimated_rate(now),
            filter.estimated_keys(now),
            filter.keys_until_full(now),
        ),
    };
    let layers = filter.layers();
    let bits: u64 = layers.iter().map(|layer| layer.plan().size_bits()).sum();
    let set: u64 = layers.iter().map(|layer| layer.set_bits()).sum();
    Stats {
        rate_asked,
        rate_now,
        fill: set as f64 / bits as f64,
        keys,
        keys_until_full,
        capacity: info.capacity,
        size_bytes: info.size_bytes,
        layers: info.layers,
    }
}

fn of_redis_bloom(filter: &redis::Bloom) -> Stats {
    let info = filter.info();
    let passes = filter.layers().map(|layer| 1.0 - layer.estimated_rate());
    let keys = filter
        .layers()
        .map(mayhap_core::ClassicBloom::estimated_keys);
    let keys = keys.fold(0, u64::saturating_add);
    let bits: u64 = filter.layers().map(|layer| layer.plan().bits).sum();
    let set: u64 = filter
        .layers()
        .map(mayhap_core::ClassicBloom::set_bits)
        .sum();
    Stats {
        rate_asked: filter.error(),
        rate_now: 1.0 - passes.product::<f64>(),
        fill: set as f64 / bits as f64,
        keys,
        keys_until_full: match info.expansion {
            Some(_) => u64::MAX,
            None => info.capacity.saturating_sub(info.items),
        },
        capacity: info.capacity,
        size_bytes: info.size_bytes,
        layers: info.layers,
    }
}

fn of_redis_cuckoo(filter: &redis::Cuckoo) -> Stats {
    let info = filter.info();
    let tables = filter.filter();
    let (slots, used) = (tables.capacity(), tables.used_slots());
    Stats {
        // What full buckets give: nothing was asked.
        rate_asked: 1.0 - (254.0_f64 / 255.0).powi(2 * i32::from(info.bucket_size)),
        rate_now: tables.estimated_rate(),
        fill: used as f64 / slots as f64,
        keys: info.items,
        keys_until_full: match info.expansion {
            0 => slots.saturating_sub(info.items),
            _ => u64::MAX,
        },
        capacity: tables.capacity(),
        size_bytes: info.size_bytes,
        layers: info.tables,
    }
}
