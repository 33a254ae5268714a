//! What the filter of a key reports about itself: the core's [`Stats`], also for filters of RedisBloom's layout.

use crate::native::BloomKind;
use crate::slot::{AnyBloom, AnyCuckoo, Slot};
use mayhap_codec::redis;
use mayhap_core::{Kind, Stats, Timestamp};

impl Slot {
    /// The stats of the filter, if the key holds one. Reads the whole filter.
    pub fn stats(&self, now: Timestamp) -> Option<Stats> {
        self.sampled_stats(now, u64::MAX)
    }

    /// The same from at most `max_bytes` of each part of a Bloom filter. Cuckoo filters count as they go.
    pub fn sampled_stats(&self, now: Timestamp, max_bytes: u64) -> Option<Stats> {
        let stats = match self {
            Self::Missing | Self::Other => return None,
            Self::Bloom(filter) => match &**filter {
                AnyBloom::RedisBloom(filter) => redis_bloom(filter, max_bytes),
                AnyBloom::Native(filter) => match &filter.kind {
                    BloomKind::Fixed(filter) => filter.sampled_stats(max_bytes),
                    BloomKind::Growing(filter) => filter.sampled_stats(max_bytes),
                    BloomKind::Window(filter) => filter.stats(now),
                    BloomKind::GrowingSet(set) => set.filter.stats(),
                    BloomKind::WindowSet(set) => set.filter.stats(now),
                },
            },
            Self::Cuckoo(filter) => match &**filter {
                AnyCuckoo::RedisBloom(filter) => redis_cuckoo(filter),
                AnyCuckoo::Native(native) => Stats {
                    // Without tables that were only planned.
                    layers: native.tables(),
                    ..native.filter.stats()
                },
            },
            Self::Counting(counting) => counting.stats(),
        };
        Some(Stats {
            // The filter's own fields included.
            size_bytes: self.size_bytes(),
            ..stats
        })
    }
}

fn redis_bloom(filter: &redis::Bloom, max_bytes: u64) -> Stats {
    let info = filter.info();
    let (mut bits, mut set_bits, mut keys, mut passes) = (0, 0.0, 0_u64, 1.0);
    for layer in filter.layers() {
        let stats = layer.sampled_stats(max_bytes);
        let layer_bits = layer.plan().bits;
        bits += layer_bits;
        set_bits += stats.fill.unwrap_or_default() * layer_bits as f64;
        keys = keys.saturating_add(stats.estimated_keys.unwrap_or(u64::MAX));
        passes *= 1.0 - stats.estimated_rate.unwrap_or_default();
    }
    let kind = match info.expansion {
        Some(_) => Kind::Growing,
        None => Kind::Classic,
    };
    Stats {
        capacity: Some(info.capacity),
        bits: Some(bits),
        fill: Some(set_bits / bits as f64),
        estimated_keys: (keys < u64::MAX).then_some(keys),
        false_positive_rate: Some(filter.error()),
        estimated_rate: Some(1.0 - passes),
        is_over_capacity: keys > info.capacity,
        keys_until_full: match info.expansion {
            Some(_) => None,
            None => Some(info.capacity.saturating_sub(info.items)),
        },
        layers: info.layers,
        ..Stats::new(kind, info.size_bytes)
    }
}

fn redis_cuckoo(filter: &redis::Cuckoo) -> Stats {
    let info = filter.info();
    let tables = filter.filter();
    let (slots, used) = (tables.capacity(), tables.used_slots());
    // No rate can be requested: this is the rate of full buckets.
    let rate = 1.0 - (254.0_f64 / 255.0).powi(2 * i32::from(info.bucket_size));
    Stats {
        capacity: Some(slots),
        bits: Some(8 * slots),
        fill: Some(used as f64 / slots as f64),
        estimated_keys: Some(info.items),
        false_positive_rate: Some(rate),
        estimated_rate: Some(tables.estimated_rate()),
        is_over_capacity: info.items > slots,
        keys_until_full: match info.expansion {
            0 => Some(slots.saturating_sub(info.items)),
            _ => None,
        },
        layers: info.tables,
        ..Stats::new(Kind::Cuckoo, info.size_bytes)
    }
}
