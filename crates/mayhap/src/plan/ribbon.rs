//! The size of a `Ribbon`: as many columns of bits as the rate needs, a little less than one slot a key, and two bits of
//! threshold for every 128 slots. Parameters after Dillinger, Hübschle-Schneider, Sanders and Walzer, "Fast Succinct
//! Retrieval and Approximate Membership Using Ribbon" (2022).

use super::check_rate;
use crate::PlanError;
use core::fmt;

/// Fewer keys than this are one shard.
const SPLIT_FROM: u64 = 750_000;
/// Keys in a shard at most, on average.
const SHARD_KEYS: u64 = 1_000_000;
const MAX_KEYS: u64 = 1 << 40;
/// Bits a key, beyond what the caller holds, that building may take at the peak; the promise is 100.
const PEAK_BITS: f64 = 97.0;
/// Slots for every key of a layer whose surplus goes to the next one.
const SLOTS_PER_KEY: f64 = 0.965;
/// Slots that share a threshold.
pub(crate) const BUCKET: u64 = 128;

/// The shape of a [`Ribbon`](crate::Ribbon).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RibbonPlan {
    keys: u64,
    false_positive_rate: f64,
    columns: u8,
    shards: u64,
}

impl RibbonPlan {
    /// The plan for `keys` distinct keys: the fewest whole bits a key that keep the rate.
    ///
    /// # Errors
    /// When the rate is not between 2^-32 and 1, or there are more than 2^40 keys.
    pub fn new(keys: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        let plan = Self::without_collisions(keys, false_positive_rate)?;
        // A millionth is less than can be measured, and lets 1/256 be kept by 8 columns.
        if plan.rate() > false_positive_rate * 1.000_001 {
            return Err(PlanError::Number {
                field: "false_positive_rate",
                value: false_positive_rate,
                accepted: "a rate above 2^-32 + keys / 2^64: stricter ones drown in collisions of 64-bit hashes",
            });
        }
        Ok(plan)
    }

    /// The same before the distinct keys are counted: does not look at collisions.
    pub(crate) fn without_collisions(
        keys: u64,
        false_positive_rate: f64,
    ) -> Result<Self, PlanError> {
        check_rate(false_positive_rate)?;
        if keys > MAX_KEYS {
            return Err(PlanError::Count {
                field: "items",
                value: keys,
                accepted: "at most 2^40 keys",
            });
        }
        let columns = (1..=32)
            .find(|&columns: &u8| libm::exp2(-f64::from(columns)) <= false_positive_rate)
            .ok_or(PlanError::Number {
                field: "false_positive_rate",
                value: false_positive_rate,
                accepted: "a rate of 2^-32 (2.4e-10) or more: keys have at most 32 bits",
            })?;
        let fewest = if keys < SPLIT_FROM { 1 } else { 4 };
        Ok(Self {
            keys,
            false_positive_rate,
            columns,
            shards: keys.div_ceil(SHARD_KEYS).max(fewest),
        })
    }

    /// Keys that the plan is for.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The rate that was asked for.
    pub fn false_positive_rate(&self) -> f64 {
        self.false_positive_rate
    }

    /// The rate that strangers meet: one in 2^columns, and those whose hash is also the hash of a key. 0 without keys.
    pub fn rate(&self) -> f64 {
        if self.keys == 0 {
            return 0.0;
        }
        libm::exp2(-f64::from(self.columns)) + self.keys as f64 * libm::exp2(-64.0)
    }

    /// Bits of a key: 1 to 32.
    pub fn columns(&self) -> u8 {
        self.columns
    }

    /// Parts that are solved one by one.
    pub fn shards(&self) -> u64 {
        self.shards
    }

    /// Words of all columns at most, when there are so many items.
    pub(crate) fn most_words(&self, items: u64) -> u64 {
        let slots = items + items / 64 + 1024 * self.shards;
        slots.div_ceil(64) * u64::from(self.columns)
    }

    /// How many shards may be solved at once, at most `threads`, and in how many passes over the items their hashes are
    /// gathered, so that the memory stays below 100 bits a key.
    pub(crate) fn work(&self, threads: u64) -> (u64, u64) {
        (1..=threads.clamp(1, self.shards))
            .rev()
            .flat_map(|threads| (1..=self.shards.min(4)).map(move |passes| (threads, passes)))
            .find(|&(threads, passes)| self.peak_bits(threads, passes) <= PEAK_BITS)
            .unwrap_or((1, self.shards.min(4)))
    }

    /// Bits a key at the peak: the columns, the hashes of a pass, and for every shard at work 64 bits of order, a row of 96
    /// bits, and its own columns.
    fn peak_bits(&self, threads: u64, passes: u64) -> f64 {
        let gathered = self.shards.div_ceil(passes) as f64 / self.shards as f64;
        let working = threads as f64 / self.shards as f64;
        let columns = 1.02 * f64::from(self.columns);
        columns + 64.0 * gathered + (160.0 + columns) * working
    }
}

/// Slots that a key of a layer can start at: a layer that may hand its surplus on is a little too small for its keys, the
/// last one large enough. Rounds to whole buckets.
pub(crate) fn layer_starts(keys: u64, last: bool) -> u64 {
    if keys == 0 {
        return 0;
    }
    let slots = if last {
        keys as f64 * 1.2
    } else {
        keys as f64 * SLOTS_PER_KEY
    };
    // Starts end 64 slots before the slots do.
    (libm::ceil(slots / BUCKET as f64) as u64).max(1) * BUCKET
}

impl fmt::Display for RibbonPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} keys at {}: {} columns in {} shards",
            self.keys, self.false_positive_rate, self.columns, self.shards
        )
    }
}
