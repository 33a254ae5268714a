//! What the plans of `Fuse` and `Ribbon` have in common.

use crate::PlanError;
use core::fmt;

/// The plan of a static filter. Not for implementation outside of this crate.
pub trait StaticPlan: Copy + PartialEq + fmt::Display {
    /// The rates that are possible in spite of hash collisions.
    const ACCEPTED: &'static str;

    /// The plan for items that may repeat: accepts everything that might work.
    ///
    /// # Errors
    /// As [`StaticPlan::for_keys`], except for collisions.
    fn for_items(items: u64, false_positive_rate: f64) -> Result<Self, PlanError>;

    /// The actual false-positive rate.
    fn rate(&self) -> f64;

    /// The number of keys that the plan is for.
    fn keys(&self) -> u64;

    /// The requested rate.
    fn false_positive_rate(&self) -> f64;

    /// Whether both map keys to the same positions.
    fn has_same_layout(&self, other: &Self) -> bool;

    /// Whether the actual rate is the requested one or better. A tolerance of one millionth is too small to measure, and lets 8 bits
    /// keep 1/256.
    fn keeps_rate(&self) -> bool {
        self.rate() <= self.false_positive_rate() * 1.000_001
    }

    /// The plan for distinct keys.
    ///
    /// # Errors
    /// If the rate cannot be kept, or there are too many keys.
    fn for_keys(keys: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        let plan = Self::for_items(keys, false_positive_rate)?;
        if !plan.keeps_rate() {
            return Err(PlanError::InvalidNumber {
                field: "false_positive_rate",
                value: false_positive_rate,
                accepted: Self::ACCEPTED,
            });
        }
        Ok(plan)
    }
}

/// Rejects more keys than a static filter can be built from: 2^40, beyond every memory and far from every overflow.
pub(super) fn check_items(items: u64) -> Result<(), PlanError> {
    if items <= 1 << 40 {
        Ok(())
    } else {
        Err(PlanError::InvalidInteger {
            field: "items",
            value: items,
            accepted: "at most 2^40 keys",
        })
    }
}

/// The memory, in bits per key, that building may take at its peak in addition to the items; 100 are promised.
const PEAK_BITS: f64 = 97.0;

/// How many parts of a static filter may be solved at once, and in how many passes over the items their hashes are collected, to
/// keep the promise. Passes are cheaper than idle threads, so a pass collects enough for all of them.
pub(super) fn work(threads: u64, parts: u64, peak_bits: impl Fn(u64, u64) -> f64) -> (u64, u64) {
    let busy = |&(threads, passes): &(u64, u64)| {
        let per_pass = parts.div_ceil(passes);
        per_pass.is_multiple_of(threads) || per_pass >= 4 * threads
    };
    (1..=threads.clamp(1, parts))
        .rev()
        .flat_map(|threads| (1..=parts.min(4)).map(move |passes| (threads, passes)))
        .filter(busy)
        .find(|&(threads, passes)| peak_bits(threads, passes) <= PEAK_BITS)
        .unwrap_or((1, parts.min(4)))
}
