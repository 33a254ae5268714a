//! Where a hash goes in a static set of equations: its shard, and there a start, coefficients and a fingerprint. Frozen.
//!
//! A key's equation: the xor of those slots from `start` on whose coefficient is 1 is its value, in every column of bits.
//! Rows are 64 or 128 slots wide; a shard has so few slots that the keys' places, which are random, stay within half a row of
//! an even spread, so that as many slots as keys are enough.

use super::blocked::mul_high;
use super::fuse::mix;
use core::ops::{BitXorAssign, ShrAssign};

const COEFFICIENTS: u64 = 0xD6E8_FEB8_6659_FD93;
const MORE_COEFFICIENTS: u64 = 0x9FB2_1C65_1E98_DF25;
const FINGERPRINT: u64 = 0xA24B_AED4_963E_E407;
const START: u64 = 0xE703_7ED1_A0B4_28DB;

/// The coefficients of a row, the first slot's in the lowest bit.
pub(crate) trait Coefficients:
    Copy + Eq + BitXorAssign + ShrAssign<u32> + From<u64>
{
    const WIDTH: u64;

    /// `change` is the shard's: another one gives other coefficients.
    fn of(hash: u64, change: u64) -> Self;
    /// Without those from slot `width` on.
    fn first(self, width: u64) -> Self;
    fn trailing_zeros(self) -> u32;
    /// One slot further: what was the first coefficient is the second, and a new one comes before it.
    fn preceded_by(self, bit: u32) -> Self;
    /// Whether an odd number of coefficients, the first left out, meets a 1 among the values of the slots after the first.
    fn is_odd(self, after_first: Self) -> u32;
    /// The first 64.
    fn low(self) -> u64;
}

/// Both halves of a product: the lower one is not random by itself.
#[inline(always)]
fn product(hash: u64, constant: u64, change: u64) -> u64 {
    let changed = hash ^ change;
    mul_high(changed, constant) ^ changed.wrapping_mul(constant)
}

impl Coefficients for u64 {
    const WIDTH: u64 = 64;

    #[inline(always)]
    fn of(hash: u64, change: u64) -> Self {
        product(hash, COEFFICIENTS, change) | 1
    }

    #[inline(always)]
    fn first(self, width: u64) -> Self {
        if width < 64 {
            self & ((1 << width) - 1)
        } else {
            self
        }
    }

    #[inline(always)]
    fn trailing_zeros(self) -> u32 {
        Self::trailing_zeros(self)
    }

    #[inline(always)]
    fn preceded_by(self, bit: u32) -> Self {
        self << 1 | Self::from(bit)
    }

    #[inline(always)]
    fn is_odd(self, after_first: Self) -> u32 {
        (after_first << 1 & self).count_ones() & 1
    }

    #[inline(always)]
    fn low(self) -> u64 {
        self
    }
}

impl Coefficients for u128 {
    const WIDTH: u64 = 128;

    #[inline(always)]
    fn of(hash: u64, change: u64) -> Self {
        let more = product(hash, MORE_COEFFICIENTS, change);
        Self::from(more) << 64 | Self::from(product(hash, COEFFICIENTS, change) | 1)
    }

    #[inline(always)]
    fn first(self, width: u64) -> Self {
        if width < 128 {
            self & ((1 << width) - 1)
        } else {
            self
        }
    }

    #[inline(always)]
    fn trailing_zeros(self) -> u32 {
        Self::trailing_zeros(self)
    }

    #[inline(always)]
    fn preceded_by(self, bit: u32) -> Self {
        self << 1 | Self::from(bit)
    }

    #[inline(always)]
    fn is_odd(self, after_first: Self) -> u32 {
        (after_first << 1 & self).count_ones() & 1
    }

    #[inline(always)]
    fn low(self) -> u64 {
        self as u64
    }
}

/// What shards, starts and coefficients are taken from: counters in the place of hashes are spread, too.
#[inline(always)]
pub(crate) fn spread(hash: u64) -> u64 {
    mix(hash, 0)
}

/// What a filter compares the slots with.
#[inline(always)]
pub(crate) fn fingerprint(spread: u64) -> u32 {
    (spread.rotate_left(32).wrapping_mul(FINGERPRINT) >> 32) as u32
}

/// Slots that are solved together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shard {
    pub(crate) first_slot: u64,
    pub(crate) slots: u64,
    pub(crate) seed: u8,
}

impl Shard {
    /// A spread hash's first slot, counted from the shard's, and its coefficients. Places near the ends share a start, so that
    /// the density of keys is the same everywhere.
    #[inline(always)]
    pub(crate) fn row<W: Coefficients>(&self, spread: u64) -> (u64, W) {
        let multiplier = START.wrapping_mul(2 * u64::from(self.seed) + 1);
        let place = mul_high(spread.wrapping_mul(multiplier), self.slots);
        let most = self.slots.saturating_sub(W::WIDTH);
        let start = place.saturating_sub(W::WIDTH / 2).min(most);
        (start, W::of(spread, multiplier).first(self.slots))
    }
}
