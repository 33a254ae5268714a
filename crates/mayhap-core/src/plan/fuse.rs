//! The size of a `Fuse`: cells of 8, 16 or 32 bits, about 1.125 per key, in shards that are solved one by one.
//!
//! Segment length and cells per key are those of Graf and Lemire, "Binary Fuse Filters" (2022), for three cells per key.

use super::check_rate;
use super::static_plan::{StaticPlan, check_items, work};
use crate::PlanError;
use core::fmt;

/// Fewer keys than this are one shard: solving it takes at most 21 MB, and six shards would need 3 % more space.
const SPLIT_FROM: u64 = 750_000;

/// The maximum number of keys in a shard, on average.
const SHARD_KEYS: u64 = 3_000_000;

/// The longest segment, as a power of two: two offsets of 16 bits come from one half of a hash.
const MAX_SEGMENT_BITS: u32 = 16;

/// The shape of a [`Fuse`](crate::Fuse): the bits of a cell, and the number of shards.
///
/// ```
/// # use mayhap_core as mayhap;
/// let plan = mayhap::plan::FusePlan::new(1_000_000, 0.01)?;
/// assert!(plan.rate() < 0.01);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FusePlan {
    keys: u64,
    false_positive_rate: f64,
    cell_bits: u8,
    shards: u64,
}

impl FusePlan {
    /// The plan for `keys` distinct keys: the smallest of 8, 16 and 32 bits per cell that keeps the rate.
    ///
    /// # Errors
    /// If the rate is not between 0 and 1, or too strict for cells of 32 bits and for 64-bit hashes; if there are more than 2^40
    /// keys.
    pub fn new(keys: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::for_keys(keys, false_positive_rate)
    }

    /// The plan of a filter that exists already, for example in a file: nothing is computed, and impossible values are rejected.
    ///
    /// # Errors
    /// If the rate is not between 0 and 1, there are more than 2^40 keys, no shards or more than 2^40, or cells do not have 8, 16
    /// or 32 bits.
    pub fn from_shape(
        keys: u64,
        false_positive_rate: f64,
        cell_bits: u8,
        shards: u64,
    ) -> Result<Self, PlanError> {
        check_rate(false_positive_rate)?;
        check_items(keys)?;
        let invalid = |field, value, accepted| {
            Err(PlanError::InvalidInteger {
                field,
                value,
                accepted,
            })
        };
        if ![8, 16, 32].contains(&cell_bits) {
            return invalid("bits of a cell", cell_bits.into(), "8, 16 or 32");
        }
        if shards == 0 || shards > 1 << 40 {
            return invalid("shards", shards, "1 to 2^40");
        }
        Ok(Self {
            keys,
            false_positive_rate,
            cell_bits,
            shards,
        })
    }

    /// The number of keys that the plan is for.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The requested rate.
    pub fn false_positive_rate(&self) -> f64 {
        self.false_positive_rate
    }

    /// The actual rate: one in 2^bits, plus hash collisions, because a shard distinguishes 2^58 hashes. 0 without keys.
    pub fn rate(&self) -> f64 {
        if self.keys == 0 {
            return 0.0;
        }
        let collisions = libm::exp2(-58.0) / self.shards.min(64) as f64;
        libm::exp2(-f64::from(self.cell_bits)) + collisions * self.keys as f64
    }

    /// Bits of a cell: 8, 16 or 32.
    pub fn cell_bits(&self) -> u8 {
        self.cell_bits
    }

    /// The number of shards, which are solved one by one.
    pub fn shards(&self) -> u64 {
        self.shards
    }

    /// Bytes of all cells.
    pub fn size_bytes(&self) -> u64 {
        if self.keys == 0 {
            return 0;
        }
        self.shards * self.shape().cells() * u64::from(self.cell_bits / 8)
    }

    /// The shape of every shard. Some have a few more keys than the mean, for which the spare cells are enough.
    pub(crate) fn shape(&self) -> FuseShardShape {
        FuseShardShape::new(self.keys.div_ceil(self.shards))
    }

    /// How many shards may be solved at once, at most `threads`, and in how many passes over the items their hashes are
    /// collected, so that the memory stays below 100 bits per key.
    pub(crate) fn work(&self, threads: u64) -> (u64, u64) {
        work(threads, self.shards, |threads, passes| {
            self.peak_bits(threads, passes)
        })
    }

    /// The peak memory of building in bits per key: the cells, the hashes of a pass, and for every shard in progress its order of
    /// keys and a word for each cell.
    fn peak_bits(&self, threads: u64, passes: u64) -> f64 {
        let shards = self.shards as f64;
        let shard_keys = self.keys.div_ceil(self.shards).max(1);
        let cells = self.shape().cells() as f64 / shard_keys as f64;
        let gathered = self.shards.div_ceil(passes) as f64 / shards;
        let working = threads as f64 / shards;
        cells * f64::from(self.cell_bits) + 64.0 * gathered + 64.0 * (1.0 + cells) * working
    }
}

impl StaticPlan for FusePlan {
    const ACCEPTED: &'static str = "a rate above 2.5e-10 (1.05 * 2^-32): stricter ones are below the collision rate of the hashes";

    fn for_items(items: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        check_rate(false_positive_rate)?;
        check_items(items)?;
        let keeps = |bits: &u8| libm::exp2(-f64::from(*bits)) <= false_positive_rate;
        let cell_bits = [8, 16, 32]
            .into_iter()
            .find(keeps)
            .ok_or(PlanError::InvalidNumber {
                field: "false_positive_rate",
                value: false_positive_rate,
                accepted: "a rate of 2^-32 (2.4e-10) or more: cells have at most 32 bits",
            })?;
        // Enough shards that two can be solved at once; wide cells leave less memory for that.
        let min_shards = match cell_bits {
            _ if items < SPLIT_FROM => 1,
            32 => 8,
            _ => 6,
        };
        Ok(Self {
            keys: items,
            false_positive_rate,
            cell_bits,
            shards: items.div_ceil(SHARD_KEYS).max(min_shards),
        })
    }

    fn rate(&self) -> f64 {
        self.rate()
    }

    fn keys(&self) -> u64 {
        self.keys
    }

    fn false_positive_rate(&self) -> f64 {
        self.false_positive_rate
    }

    fn has_same_layout(&self, other: &Self) -> bool {
        self.shards == other.shards && self.shape() == other.shape()
    }
}

impl fmt::Display for FusePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} keys at {}: cells of {} bits in {} shards",
            self.keys, self.false_positive_rate, self.cell_bits, self.shards
        )
    }
}

/// The shape of one shard: segments of 2^bits cells. A key has one cell in each of three neighbouring segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FuseShardShape {
    pub(crate) segment_bits: u32,
    /// Segments in which a key can start; there are two more.
    pub(crate) starts: u64,
}

impl FuseShardShape {
    /// A stored shape, if it is valid.
    pub(crate) fn checked(segment_bits: u32, starts: u64) -> Result<Self, PlanError> {
        if segment_bits > MAX_SEGMENT_BITS || starts == 0 || starts > 1 << 40 {
            return Err(PlanError::InvalidInteger {
                field: "segments in which a key can start",
                value: starts,
                accepted: "1 to 2^40, of at most 2^16 cells",
            });
        }
        Ok(Self {
            segment_bits,
            starts,
        })
    }

    /// Rounds up to whole segments. With one percent fewer cells, 7 % of the seeds fail instead of 0.3 %.
    pub(crate) fn new(keys: u64) -> Self {
        let ln = libm::log(keys.max(2) as f64);
        let segment_bits = libm::floor(ln / libm::log(3.33) + 2.25) as u32;
        let segment_bits = segment_bits.min(MAX_SEGMENT_BITS);
        let cells_per_key = (0.875 + 0.25 * libm::log(1e6) / ln).max(1.125);
        let cells = libm::ceil(keys as f64 * cells_per_key) as u64;
        let starts = cells.div_ceil(1 << segment_bits).saturating_sub(2).max(1);
        Self {
            segment_bits,
            starts,
        }
    }

    pub(crate) fn cells(self) -> u64 {
        (self.starts + 2) << self.segment_bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_bits_that_keep_the_rate_are_taken() {
        for (rate, bits) in [
            (0.999, 8),
            (0.01, 8),
            (1.0 / 256.0, 8),
            (0.0039, 16),
            (1.0 / 65536.0, 16),
            (1.5e-5, 32),
            (2.5e-10, 32),
        ] {
            for keys in [1, 1000, 100_000_000] {
                let plan = FusePlan::new(keys, rate).unwrap();
                assert_eq!(plan.cell_bits(), bits, "{plan}");
                assert!(plan.rate() <= rate * 1.000_001, "{plan}");
            }
        }
    }

    #[test]
    fn peak_memory_stays_below_100_bits_per_key_with_several_threads() {
        for keys in [SPLIT_FROM, 1_000_000, 10_000_000, 100_000_000, 1 << 40] {
            for rate in [0.01, 1e-4, 1e-9] {
                let Ok(plan) = FusePlan::new(keys, rate) else {
                    continue;
                };
                for threads in [1, 2, 64] {
                    let (at_work, passes) = plan.work(threads);
                    let peak = plan.peak_bits(at_work, passes);
                    assert!(peak <= 100.0, "{plan}: {peak}, {at_work} x {passes}");
                    assert!(at_work >= threads.min(2), "{plan}");
                }
            }
        }
    }

    #[test]
    fn large_filters_take_nine_bits_per_key() {
        for keys in [10_000_000, 100_000_000, 1_000_000_000] {
            let plan = FusePlan::new(keys, 0.01).unwrap();
            let bits = 8.0 * plan.size_bytes() as f64 / keys as f64;
            assert!(bits < 9.05, "{plan}: {bits}");
        }
    }
}
