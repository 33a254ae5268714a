//! The size of a `Ribbon`: as many columns of bits as the rate needs, one of them for some of the slots only, and hardly more
//! than one slot per key.

use super::check_rate;
use super::ribbon_shards::{narrow_shards, shard_slots};
use super::static_plan::{StaticPlan, check_items, work};
use crate::PlanError;
use core::fmt;

/// Fewer keys than this are one part; larger filters have so many parts that two can be solved at once.
const SPLIT_FROM: u64 = 750_000;
/// The maximum number of keys in a part, on average.
const PART_KEYS: u64 = 1_000_000;

/// The shape of a [`Ribbon`](crate::Ribbon).
///
/// ```
/// # use mayhap_core as mayhap;
/// let plan = mayhap::plan::RibbonPlan::new(1_000_000, 0.01)?;
/// assert!(8 * plan.size_bytes() < 6_900_000);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RibbonPlan {
    keys: u64,
    false_positive_rate: f64,
    columns: u8,
    wide_share: f64,
    parts: u64,
    shards_per_part: u64,
}

impl RibbonPlan {
    /// The plan for `keys` distinct keys: the fewest bits per key that keep the rate. Between two powers of two, some keys have
    /// one bit more than the others. That takes up to 0.086 bits more than log2(1/rate), which is 1.2 % at a rate of 1 %, less at
    /// stricter rates and 2 % at 5 %.
    ///
    /// # Errors
    /// If the rate is not between 2^-32 and 1, or there are more than 2^40 keys.
    pub fn new(keys: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::for_keys(keys, false_positive_rate)
    }

    /// The plan of a filter that exists already, for example in a file: nothing is computed, and impossible values are rejected.
    ///
    /// # Errors
    /// If the rate is not between 0 and 1, there are more than 2^40 keys, more than 32 columns, a share outside 0 to 1, or no
    /// shards or more than 2^40.
    pub fn from_shape(
        keys: u64,
        false_positive_rate: f64,
        columns: u8,
        wide_share: f64,
        parts: u64,
        shards_per_part: u64,
    ) -> Result<Self, PlanError> {
        check_rate(false_positive_rate)?;
        check_items(keys)?;
        if columns > 32 {
            return Err(PlanError::InvalidInteger {
                field: "columns",
                value: columns.into(),
                accepted: "at most 32",
            });
        }
        if !(0.0..=1.0).contains(&wide_share) {
            return Err(PlanError::InvalidNumber {
                field: "share of keys with an extra bit",
                value: wide_share,
                accepted: "0 to 1",
            });
        }
        let shards = parts.saturating_mul(shards_per_part);
        if shards == 0 || shards > 1 << 40 {
            return Err(PlanError::InvalidInteger {
                field: "shards",
                value: shards,
                accepted: "1 to 2^40",
            });
        }
        Ok(Self {
            keys,
            false_positive_rate,
            columns,
            wide_share,
            parts,
            shards_per_part,
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

    /// The actual rate: as requested, or that of 32 bits, including hash collisions. 0 without keys.
    pub fn rate(&self) -> f64 {
        self.rate_with(self.wide_share)
    }

    /// The rate if this share of all positions has an extra bit, after rounding to whole blocks.
    pub(crate) fn rate_with(&self, wide_share: f64) -> f64 {
        if self.keys == 0 {
            return 0.0;
        }
        libm::exp2(-f64::from(self.columns)) * (1.0 - wide_share / 2.0)
            + super::collision_rate(self.keys)
    }

    /// Bits of every key: 0 to 32.
    pub fn columns(&self) -> u8 {
        self.columns
    }

    /// The share of keys with an extra bit.
    pub fn wide_share(&self) -> f64 {
        self.wide_share
    }

    /// The number of parts, which are solved one by one.
    pub fn parts(&self) -> u64 {
        self.parts
    }

    /// The number of systems of equations in a part.
    pub fn shards_per_part(&self) -> u64 {
        self.shards_per_part
    }

    /// The total number of systems of equations.
    pub fn shards(&self) -> u64 {
        self.parts * self.shards_per_part
    }

    /// Bytes of a filter, accurate to one percent for a thousand keys and more.
    pub fn size_bytes(&self) -> u64 {
        let slots = shard_slots(self.keys, 0).next_multiple_of(64);
        let bits = slots as f64 * (f64::from(self.columns) + self.wide_share);
        libm::ceil(bits / 8.0) as u64 + 4 * (self.shards() + 1)
    }

    /// The number of the shard that is partly wide, and the share of it; all shards before it are wide.
    pub(crate) fn boundary(&self) -> (u64, f64) {
        let shards = self.wide_share * self.shards() as f64;
        (shards as u64, shards - libm::floor(shards))
    }

    /// The number of blocks of 64 slots, from the start, that need an extra column if a share of the positions in the boundary
    /// shard is wide. Rounds up.
    pub(crate) fn wide_blocks(first_slot: u64, slots: u64, share: f64) -> u64 {
        if share <= 0.0 {
            return first_slot.div_ceil(64);
        }
        // A position is half a row after its start, except at the ends of the shard.
        let places = libm::ceil(share * slots as f64) as u64;
        let starts = places.saturating_sub(32).clamp(1, slots - 63);
        (first_slot + starts + 63).div_ceil(64)
    }

    /// The share of a shard's positions that are wide with this many wide blocks.
    pub(crate) fn wide_part(first_slot: u64, slots: u64, wide_blocks: u64) -> f64 {
        let starts = (64 * wide_blocks).saturating_sub(first_slot + 63);
        match starts {
            0 => 0.0,
            _ if starts > slots - 64 => 1.0,
            _ => (starts + 32) as f64 / slots as f64,
        }
    }

    /// The maximum number of words of all columns for this many items.
    pub(crate) fn max_words(&self, items: u64) -> u64 {
        let slots = items + items / 128 + 128 * self.parts;
        slots.div_ceil(64) * u64::from(self.columns + 1)
    }

    /// How many parts may be solved at once, at most `threads`, and in how many passes over the items their hashes are collected,
    /// so that the memory stays below 100 bits per key.
    pub(crate) fn work(&self, threads: u64) -> (u64, u64) {
        work(threads, self.parts, |threads, passes| {
            self.peak_bits(threads, passes)
        })
    }

    /// The peak memory in bits per key: the columns, the hashes of a pass, and for every part in progress 64 bits of order and
    /// its own columns.
    fn peak_bits(&self, threads: u64, passes: u64) -> f64 {
        let gathered = self.parts.div_ceil(passes) as f64 / self.parts as f64;
        let working = threads as f64 / self.parts as f64;
        let columns = 1.04 * (f64::from(self.columns) + 1.0);
        columns + 64.0 * gathered + (64.0 + columns) * working
    }
}

impl StaticPlan for RibbonPlan {
    const ACCEPTED: &'static str = "a rate above 2^-32 + keys / 2^64: stricter ones are below the collision rate of 64-bit hashes";

    fn for_items(items: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        check_rate(false_positive_rate)?;
        check_items(items)?;
        let rate_of = |columns: u8| libm::exp2(-f64::from(columns));
        if false_positive_rate < rate_of(32) {
            return Err(PlanError::InvalidNumber {
                field: "false_positive_rate",
                value: false_positive_rate,
                accepted: "a rate of 2^-32 (2.4e-10) or more: keys have at most 32 bits",
            });
        }
        // Rounded, so that a few keys more or less do not change the layout.
        let collisions = super::collision_rate(items.next_power_of_two());
        let target = (false_positive_rate - collisions).max(rate_of(32));
        let keeps = |columns: &u8| rate_of(*columns) <= target * 1.000_001;
        let enough = (1..=32).find(keeps).unwrap_or(32);
        // The share w of wide keys makes w / 2 + (1 - w) of the rate of narrow keys the target.
        let narrow = enough - 1;
        let wide_share = 2.0 * (1.0 - target / rate_of(narrow));
        let (columns, wide_share) = if wide_share > 0.9999 {
            (enough, 0.0)
        } else {
            (narrow, wide_share.max(0.0))
        };
        let parts = if items < SPLIT_FROM {
            1
        } else {
            items.div_ceil(PART_KEYS).max(8)
        };
        Ok(Self {
            keys: items,
            false_positive_rate,
            columns,
            wide_share,
            parts,
            shards_per_part: narrow_shards(items / parts),
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
        let keys = other.keys;
        Self { keys, ..*self } == *other
    }
}

impl fmt::Display for RibbonPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} keys at {}: {:.2} columns in {} shards",
            self.keys,
            self.false_positive_rate,
            f64::from(self.columns) + self.wide_share,
            self.shards()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_rate_is_kept_with_the_fewest_bits() {
        for rate in [
            0.9,
            0.5,
            0.3,
            0.05,
            0.01,
            1.0 / 256.0,
            0.001,
            1e-4,
            1e-9,
            2.4e-10,
        ] {
            for keys in [1, 1000, 100_000_000] {
                let plan = RibbonPlan::new(keys, rate).unwrap();
                assert!(plan.rate() <= rate * 1.000_001, "{plan}");
                assert!(plan.rate() >= rate * 0.99, "{plan}");
                let bits = f64::from(plan.columns()) + plan.wide_share();
                assert!(bits <= -libm::log2(rate) + 0.0861, "{plan}");
            }
        }
        let plan = RibbonPlan::new(1000, 1.0 / 256.0).unwrap();
        assert!(plan.columns() == 8 && plan.wide_share() <= 0.0);
    }

    #[test]
    fn peak_memory_stays_below_100_bits_per_key_with_several_threads() {
        for keys in [SPLIT_FROM, 1_000_000, 10_000_000, 100_000_000, 1 << 40] {
            for rate in [0.01, 1e-4, 1e-9] {
                let Ok(plan) = RibbonPlan::new(keys, rate) else {
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
    fn wide_blocks_cover_the_requested_share() {
        for first_slot in [0, 1, 63, 64, 7000] {
            for slots in [64, 65, 200, 1403] {
                for share in [0.0, 0.001, 0.3, 0.999] {
                    let blocks = RibbonPlan::wide_blocks(first_slot, slots, share);
                    let found = RibbonPlan::wide_part(first_slot, slots, blocks);
                    assert!(found >= share, "{first_slot} {slots} {share}: {found}");
                    let fewer = RibbonPlan::wide_part(first_slot, slots, blocks.saturating_sub(1));
                    assert!(
                        fewer < share || share <= 0.0,
                        "{first_slot} {slots} {share}: {fewer}"
                    );
                }
            }
        }
    }
}
