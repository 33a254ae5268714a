//! What the plans of `Fuse` and `Ribbon` have in common.

use crate::PlanError;
use core::fmt;

/// The plan of a static filter. Not for implementation outside of this crate.
pub trait StaticPlan: Copy + PartialEq + fmt::Display {
    /// Rates that can be kept in spite of collisions.
    const ACCEPTED: &'static str;

    /// For items that may repeat: nothing is refused that might work.
    ///
    /// # Errors
    /// As [`StaticPlan::for_keys`], but for collisions.
    fn for_items(items: u64, false_positive_rate: f64) -> Result<Self, PlanError>;

    /// The rate for absent keys.
    fn rate(&self) -> f64;

    /// Keys that the plan is for.
    fn keys(&self) -> u64;

    /// The requested rate.
    fn false_positive_rate(&self) -> f64;

    /// Whether keys go to the same places in both.
    fn has_same_layout(&self, other: &Self) -> bool;

    /// For distinct keys.
    ///
    /// # Errors
    /// When the rate cannot be kept, or there are too many keys.
    fn for_keys(keys: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        let plan = Self::for_items(keys, false_positive_rate)?;
        // A millionth is less than can be measured, and lets 1/256 be kept by 8 bits.
        if plan.rate() > false_positive_rate * 1.000_001 {
            return Err(PlanError::InvalidNumber {
                field: "false_positive_rate",
                value: false_positive_rate,
                accepted: Self::ACCEPTED,
            });
        }
        Ok(plan)
    }
}

/// Refuses more keys than a static filter can be built from: 2^40, far beyond every memory and far from every overflow.
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

/// Bits a key, beyond what the caller holds, that building a static filter may take at the peak; the promise is 100.
const PEAK_BITS: f64 = 97.0;

/// How many parts of a static filter may be solved at once, and in how many passes over the items their hashes are gathered, so
/// that the promise is kept. Passes are cheaper than idle threads, so a pass gathers enough for all of them.
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
