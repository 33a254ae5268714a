//! The size of a `Fuse`: cells of 4 to 32 bits, about 1.125 per key, in shards that are solved one by one.
//!
//! Segment length and cells per key are those of Graf and Lemire, "Binary Fuse Filters" (2022), for three cells per key.

use super::check_rate;
use super::static_plan::{StaticPlan, check_items, work};
use crate::PlanError;
use crate::store::packed_size_bytes;
use core::fmt;
use core::ops::RangeInclusive;

/// Fewer keys than this are one shard: solving it takes at most 21 MB.
const SPLIT_FROM: u64 = 750_000;

/// From there up to this many keys they are still one shard, because six would need 5 % more space, and it is solved in another
/// way, in 100 bits per key on one thread. More keys fill six shards well.
const WHOLE_BELOW: u64 = 5_000_000;

/// The widest cells that leave enough memory for that.
const MAX_WHOLE_BITS: u8 = 23;

/// The maximum number of keys in a shard, on average.
const SHARD_KEYS: u64 = 3_000_000;

/// The bits of a cell.
const CELL_BITS: RangeInclusive<u8> = 4..=32;

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
    /// The plan for `keys` distinct keys: the fewest bits per cell, 4 to 32, that keep the rate.
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
    /// If the rate is not between 0 and 1, there are more than 2^40 keys, no shards or more than 2^40, or cells do not have 4
    /// to 32 bits.
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
        if !CELL_BITS.contains(&cell_bits) {
            return invalid("bits of a cell", cell_bits.into(), "4 to 32");
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

    /// Bits of a cell: 4 to 32.
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
        self.cells_size_bytes(self.shards * self.shape().cells()) as u64
    }

    /// Bytes of this many cells: numbers of 8, 16 or 32 bits, and packed cells otherwise.
    pub(crate) fn cells_size_bytes(&self, cells: u64) -> u128 {
        match self.cell_bits {
            8 | 16 | 32 => u128::from(cells) * u128::from(self.cell_bits / 8),
            bits => packed_size_bytes(cells, bits.into()),
        }
    }

    /// The shape of every shard. Some have a few more keys than the mean, for which the spare cells are enough.
    pub(crate) fn shape(&self) -> FuseShardShape {
        FuseShardShape::new(self.keys.div_ceil(self.shards))
    }

    /// Whether the only shard has so many keys that its hashes are not collected.
    pub(crate) fn is_solved_whole(&self) -> bool {
        self.shards == 1 && self.keys >= SPLIT_FROM
    }

    /// How many shards may be solved at once, at most `threads`, and in how many passes over the items their hashes are
    /// collected, so that the memory stays below 100 bits per key.
    pub(crate) fn work(&self, threads: u64) -> (u64, u64) {
        work(threads, self.shards, |threads, passes| {
            self.peak_bits(threads, passes)
        })
    }

    /// The same for a filter that is solved whole: a word for each cell, and three bytes for each key or later the cells.
    #[cfg(test)]
    fn whole_peak_bits(&self) -> f64 {
        let cells = self.shape().cells() as f64 / self.keys as f64;
        64.0 * cells + (cells * f64::from(self.cell_bits)).max(24.0)
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
        let with_bits = |cell_bits| {
            // Enough shards that two can be solved at once; wide cells leave less memory for that.
            let shards = match cell_bits {
                _ if items < SPLIT_FROM => 1,
                ..=MAX_WHOLE_BITS if items < WHOLE_BELOW => 1,
                ..27 => items.div_ceil(SHARD_KEYS).max(6),
                27.. => items.div_ceil(SHARD_KEYS).max(8),
            };
            Self {
                keys: items,
                false_positive_rate,
                cell_bits,
                shards,
            }
        };
        let is_wide_enough = |bits: &u8| libm::exp2(-f64::from(*bits)) <= false_positive_rate;
        let mut widths = CELL_BITS.filter(is_wide_enough).map(with_bits).peekable();
        let narrowest = *widths.peek().ok_or(PlanError::InvalidNumber {
            field: "false_positive_rate",
            value: false_positive_rate,
            accepted: "a rate of 2^-32 (2.4e-10) or more: cells have at most 32 bits",
        })?;
        // One more bit makes up for collisions, if that is possible.
        Ok(widths.find(Self::keeps_rate).unwrap_or(narrowest))
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

    /// A thousandth for collisions is still too small to measure. A strict rate of 2^-bits would cost a bit per cell without it.
    fn keeps_rate(&self) -> bool {
        self.rate() <= self.false_positive_rate * 1.001
    }

    fn has_same_layout(&self, other: &Self) -> bool {
        self.cell_bits == other.cell_bits
            && self.shards == other.shards
            && self.shape() == other.shape()
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

    /// Rounds up to whole segments. With one percent fewer cells, 7 % of the seeds fail instead of 0.3 %. Between 50,000 and 150,000
    /// keys, the nearest number of segments is enough: at 100,000, 39 of 40 seeds work.
    pub(crate) fn new(keys: u64) -> Self {
        let ln = libm::log(keys.max(2) as f64);
        let segment_bits = libm::floor(ln / libm::log(3.33) + 2.25) as u32;
        let segment_bits = segment_bits.min(MAX_SEGMENT_BITS);
        let cells_per_key = (0.875 + 0.25 * libm::log(1e6) / ln).max(1.125);
        let cells = libm::ceil(keys as f64 * cells_per_key) as u64;
        let spare = if (50_000..150_000).contains(&keys) {
            1 << (segment_bits - 1)
        } else {
            (1 << segment_bits) - 1
        };
        let segments = (cells + spare) >> segment_bits;
        let starts = segments.saturating_sub(2).max(1);
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
            (0.999, 4),
            (0.07, 4),
            (0.05, 5),
            (0.01, 7),
            (0.004, 8),
            (1.0 / 256.0, 8),
            (0.0039, 9),
            (0.001, 10),
            (1e-4, 14),
            (1.0 / 65536.0, 16),
            (1.5e-5, 17),
            (1e-9, 30),
            (2.5e-10, 32),
        ] {
            for keys in [0, 1, 1000, 100_000, 1_000_000, 10_000_000] {
                let plan = FusePlan::new(keys, rate).unwrap();
                assert_eq!(plan.cell_bits(), bits, "{plan}");
                assert!(plan.rate() <= rate * 1.001, "{plan}");
            }
        }
    }

    #[test]
    fn one_more_bit_makes_up_for_collisions() {
        let rate = libm::exp2(-24.0);
        assert_eq!(FusePlan::new(1_000_000, rate).unwrap().cell_bits(), 24);
        let plan = FusePlan::new(10_000_000_000, rate).unwrap();
        assert!(plan.cell_bits() == 25 && plan.rate() < rate, "{plan}");
    }

    #[test]
    fn the_size_follows_the_width() {
        for bits in *CELL_BITS.start()..=*CELL_BITS.end() {
            let rate = 1.2 * libm::exp2(-f64::from(bits));
            for (keys, max) in [
                (100_000, 1.18),
                (1_000_000, 1.131),
                (2_000_000, 1.131),
                (10_000_000, 1.131),
                (1_000_000_000, 1.131),
            ] {
                // So many keys need another bit for collisions.
                if bits > 20 && keys > 10_000_000 {
                    continue;
                }
                let plan = FusePlan::new(keys, rate).unwrap();
                let cells = 8.0 * plan.size_bytes() as f64 / f64::from(bits) / keys as f64;
                // So many keys in wide cells are eight shards, for the memory of building.
                let max = if bits > MAX_WHOLE_BITS && keys < WHOLE_BELOW {
                    1.19
                } else {
                    max
                };
                assert_eq!(plan.cell_bits(), bits);
                assert!(cells < max, "{plan}: {cells} cells per key");
            }
        }
    }

    #[test]
    fn peak_memory_stays_below_100_bits_per_key_with_several_threads() {
        for keys in [SPLIT_FROM, 1_000_000, 10_000_000, 100_000_000, 1 << 40] {
            for rate in [0.1, 0.01, 1e-4, 1e-6, 1.2e-7, 1e-7, 1e-8, 1e-9] {
                let Ok(plan) = FusePlan::new(keys, rate) else {
                    continue;
                };
                if plan.is_solved_whole() {
                    assert!(plan.whole_peak_bits() <= 100.0, "{plan}");
                    continue;
                }
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
            let plan = FusePlan::new(keys, 0.004).unwrap();
            let bits = 8.0 * plan.size_bytes() as f64 / keys as f64;
            assert!(bits < 9.05, "{plan}: {bits}");
        }
    }
}
