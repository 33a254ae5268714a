//! The size of a `RibbonBlock`: how many bits a key has, and how many slots a number of bytes has. Frozen, because readers compute the
//! slots from the length.

use super::check_rate;
use crate::PlanError;
use crate::probe::ribbon::RibbonShard;

/// The strictest precision with quarters; those after it are whole bits.
const LAST_WITH_QUARTERS: u8 = 53;
/// The strictest precision, 23 bits. 63 is not used, so that erased memory, all ones, is no block.
const LAST: u8 = 62;
/// Slots of the extra column beyond the expected number of its keys: a part of all slots, and a few more.
const SPARE_PART: u64 = 64;
const SPARE_SLOTS: u64 = 3;
/// The number of seeds: two bits of the header.
pub(crate) const SEEDS: u8 = 4;
/// Blocks of more bytes are not built, and not read.
const MAX_BYTES: u64 = 1 << 32;
/// Up to so many keys, as many slots as keys are enough.
const TIGHT_KEYS: u64 = 5000;

/// How many bits each key of a [`RibbonBlock`](crate::RibbonBlock) has: 1 to 23, up to 14 in steps of a quarter. With a quarter, every fourth
/// key has one bit more than the others.
///
/// ```
/// # use mayhap_core as mayhap;
/// let precision = mayhap::plan::RibbonBlockPrecision::for_rate(0.01)?;
/// assert_eq!(precision.bits_per_key(), 6.75);
/// assert!(precision.rate() <= 0.01);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RibbonBlockPrecision(u8);

impl RibbonBlockPrecision {
    /// The strictest: 23 bits.
    pub const MAX: Self = Self(LAST);

    /// The fewest bits that keep a rate. Rates below 2^-23 get 23 bits.
    ///
    /// # Errors
    /// If the rate is not between 0 and 1.
    pub fn for_rate(false_positive_rate: f64) -> Result<Self, PlanError> {
        check_rate(false_positive_rate)?;
        let enough = (1..LAST)
            .map(Self)
            .find(|p| p.rate() <= false_positive_rate);
        Ok(enough.unwrap_or(Self::MAX))
    }

    /// The precision of a number that a file stores: 1 to 62.
    pub fn from_number(number: u8) -> Option<Self> {
        (1..=LAST).contains(&number).then_some(Self(number))
    }

    /// The number that files store.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Bits that every key has.
    pub fn columns(self) -> u8 {
        match self.0 {
            number @ ..=LAST_WITH_QUARTERS => number.div_ceil(4),
            number => number - 39,
        }
    }

    /// How many of four keys have one bit more.
    pub fn quarters(self) -> u8 {
        match self.0 {
            number @ ..=LAST_WITH_QUARTERS => (number + 3) % 4,
            _ => 0,
        }
    }

    /// Bits per key, on average.
    pub fn bits_per_key(self) -> f64 {
        f64::from(self.columns()) + f64::from(self.quarters()) / 4.0
    }

    /// The share of absent keys that are found.
    pub fn rate(self) -> f64 {
        libm::exp2(-f64::from(self.columns())) * (1.0 - f64::from(self.quarters()) / 8.0)
    }

    /// The precision and the bytes of a block for so many keys: the fewest bytes, and what fits into them. There may be more bytes if no
    /// seed solves the equations.
    pub fn plan(self, keys: u64) -> (Self, usize) {
        let keys = keys + spare_slots(keys);
        let candidates = (self.0..=LAST).map(Self);
        // Few keys have less spare room in a whole bit more than in quarters.
        let up_to_whole = candidates.clone().take(4);
        let bytes = up_to_whole.map(|p| p.min_bytes(keys)).min().unwrap_or(0);
        let fitting = candidates.rev().find(|p| p.min_bytes(keys) <= bytes);
        (fitting.unwrap_or(self), bytes)
    }

    /// Bytes in which there are at least so many slots.
    fn min_bytes(self, slots: u64) -> usize {
        let bits = match self.quarters() {
            0 => slots * u64::from(self.columns()),
            _ => (slots * self.share()).div_ceil(SPARE_PART) + SPARE_SLOTS,
        };
        bits.div_ceil(8) as usize
    }

    /// Bits per slot, in 64ths: of the whole columns, of the extra column, and one for its spare slots.
    fn share(self) -> u64 {
        SPARE_PART * u64::from(self.columns()) + SPARE_PART / 4 * u64::from(self.quarters()) + 1
    }

    /// The slots of a block of so many bytes. `None` if they are too few or too many.
    #[inline]
    pub(crate) fn shape(self, bytes: usize) -> Option<RibbonBlockShape> {
        let bytes = bytes as u64;
        if bytes > MAX_BYTES {
            return None;
        }
        let (bits, columns) = (8 * bytes, u64::from(self.columns()));
        let (slots, extra_slots) = if self.quarters() == 0 {
            (bits / columns, 0)
        } else {
            let slots = bits.saturating_sub(SPARE_SLOTS) * SPARE_PART / self.share();
            (slots, (bits - slots * columns).min(slots))
        };
        (slots > 0).then_some(RibbonBlockShape {
            columns: self.columns(),
            quarters: self.quarters(),
            slots,
            extra_slots,
        })
    }
}

/// Slots beyond one per key with which large sets are solvable: none up to 5000 keys, 5 % from 20,000 on.
fn spare_slots(keys: u64) -> u64 {
    keys.saturating_mul(keys.saturating_sub(TIGHT_KEYS).min(15_000)) / 300_000
}

/// The slots of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RibbonBlockShape {
    pub(crate) columns: u8,
    pub(crate) quarters: u8,
    pub(crate) slots: u64,
    /// Slots of the column that some keys have in addition.
    pub(crate) extra_slots: u64,
}

impl RibbonBlockShape {
    /// The equations that every key has.
    #[inline]
    pub(crate) fn shard(&self, seed: u8) -> RibbonShard {
        RibbonShard {
            first_slot: 0,
            slots: self.slots,
            seed,
        }
    }

    /// Those that some keys have in addition, with a seed that no block has.
    #[inline]
    pub(crate) fn extra_shard(&self, seed: u8) -> RibbonShard {
        RibbonShard {
            first_slot: 0,
            slots: self.extra_slots,
            seed: seed + SEEDS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precisions_have_rising_numbers_bits_and_rates() {
        let all = || (1..=LAST).map(RibbonBlockPrecision);
        for (one, next) in all().zip(all().skip(1)) {
            assert!(one.bits_per_key() < next.bits_per_key());
            assert!(one.rate() > next.rate());
            assert_eq!(RibbonBlockPrecision::for_rate(one.rate()), Ok(one));
        }
        let shape = |p: RibbonBlockPrecision| (p.columns(), p.quarters());
        assert_eq!(shape(RibbonBlockPrecision(1)), (1, 0));
        assert_eq!(shape(RibbonBlockPrecision(6)), (2, 1));
        assert_eq!(shape(RibbonBlockPrecision(LAST)), (23, 0));
        assert_eq!(RibbonBlockPrecision::from_number(0), None);
        assert_eq!(RibbonBlockPrecision::from_number(63), None);
    }

    #[test]
    fn a_planned_block_has_a_slot_for_every_key_and_wastes_less_than_a_byte() {
        for precision in (1..=LAST).map(RibbonBlockPrecision) {
            for keys in (1..3000).chain([10_000, 1_000_000]) {
                let (chosen, bytes) = precision.plan(keys);
                assert!(chosen >= precision);
                let shape = chosen.shape(bytes).unwrap();
                assert!(shape.slots >= keys, "{keys} keys, {bytes} bytes: {shape:?}");
                assert!(bytes <= precision.min_bytes(keys + spare_slots(keys)));
                let bits = shape.slots * u64::from(shape.columns) + shape.extra_slots;
                assert!(bits <= 8 * bytes as u64);
            }
        }
    }
}
