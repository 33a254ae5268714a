//! The walk of `Ribbon` and `Retrieval`: the shard of a hash, and its start, coefficients and fingerprint there. Frozen.
//!
//! A key's equation: the xor of those slots from `start` on whose coefficient is 1 is its value, in every column of bits. Rows
//! are 64 or 128 slots wide; a shard has so few slots that the random positions of its keys stay within half a row of an even
//! distribution, so that as many slots as keys are enough.

use super::blocked::mul_high;
use core::ops::{BitAnd, BitOr, BitXorAssign, Shl, Shr, ShrAssign};

const COEFFICIENTS: u64 = 0xD6E8_FEB8_6659_FD93;
const MORE_COEFFICIENTS: u64 = 0x9FB2_1C65_1E98_DF25;
const SPREAD: u64 = 0xA24B_AED4_963E_E407;
const START: u64 = 0xE703_7ED1_A0B4_28DB;

/// The coefficients of a row, the first slot's in the lowest bit.
pub(crate) trait Coefficients:
    crate::simd::plain_bytes::Plain
    + Default
    + Eq
    + From<u32>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXorAssign
    + Shl<u64, Output = Self>
    + Shr<u64, Output = Self>
    + ShrAssign<u32>
{
    const WIDTH: u64;

    fn from_mixed(placed: u64) -> Self;
    fn trailing_zeros(self) -> u32;
    fn count_ones(self) -> u32;
    /// The first 64 coefficients.
    fn low(self) -> u64;

    /// Without the coefficients from slot `width` on; `width` is not 0.
    #[inline(always)]
    fn first(self, width: u64) -> Self {
        let others = Self::WIDTH.saturating_sub(width);
        self << others >> others
    }

    /// Shifts by one slot: the first becomes the second, and a new one comes before it.
    #[inline(always)]
    fn preceded_by(self, bit: u32) -> Self {
        self << 1 | bit.into()
    }

    /// The parity of the coefficients after the first that meet a 1 among the values of the slots after the first.
    #[inline(always)]
    fn parity(self, after_first: Self) -> u32 {
        (after_first << 1 & self).count_ones() & 1
    }
}

/// Both halves of a product: the lower one alone is not random enough.
#[inline(always)]
fn product(placed: u64, constant: u64) -> u64 {
    mul_high(placed, constant) ^ placed.wrapping_mul(constant)
}

impl Coefficients for u64 {
    const WIDTH: u64 = 64;

    #[inline(always)]
    fn from_mixed(placed: u64) -> Self {
        product(placed, COEFFICIENTS) | 1
    }

    #[inline(always)]
    fn trailing_zeros(self) -> u32 {
        Self::trailing_zeros(self)
    }

    #[inline(always)]
    fn count_ones(self) -> u32 {
        Self::count_ones(self)
    }

    #[inline(always)]
    fn low(self) -> u64 {
        self
    }
}

impl Coefficients for u128 {
    const WIDTH: u64 = 128;

    #[inline(always)]
    fn from_mixed(placed: u64) -> Self {
        let more = product(placed, MORE_COEFFICIENTS);
        Self::from(more) << 64 | Self::from(u64::from_mixed(placed))
    }

    #[inline(always)]
    fn trailing_zeros(self) -> u32 {
        Self::trailing_zeros(self)
    }

    #[inline(always)]
    fn count_ones(self) -> u32 {
        Self::count_ones(self)
    }

    #[inline(always)]
    fn low(self) -> u64 {
        self as u64
    }
}

/// The value from which shard, start and coefficients are computed, so that counters used as hashes are spread, too. Different
/// hashes stay different.
#[inline(always)]
pub(crate) fn spread(hash: u64) -> u64 {
    hash.wrapping_mul(SPREAD)
}

/// The value that a filter compares the slots with: bits that determine neither the shard nor the start.
#[inline(always)]
pub(crate) fn fingerprint(spread: u64) -> u32 {
    (spread >> 16) as u32
}

/// Whether the rows of a `RibbonBlock` with so many slots are 64 slots wide, not 128. Positions deviate from an even distribution by about
/// sqrt(640) / 2 = 13 slots, which half a row of 32 nearly always covers.
#[inline(always)]
pub(crate) fn is_narrow(slots: u64) -> bool {
    slots <= 640
}

/// Slots that are solved together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RibbonShard {
    pub(crate) first_slot: u64,
    pub(crate) slots: u64,
    pub(crate) seed: u8,
}

impl RibbonShard {
    /// The first slot of a spread hash, relative to the shard, and its coefficients. Positions near the ends share a start, so
    /// that the density of keys is the same everywhere.
    #[inline(always)]
    pub(crate) fn row<W: Coefficients>(&self, spread: u64) -> (u64, W) {
        let max = self.slots.saturating_sub(W::WIDTH);
        let start = self.position(spread).saturating_sub(W::WIDTH / 2).min(max);
        (start, W::from_mixed(self.mixed(spread)).first(self.slots))
    }

    /// The same in a shard of at least 64 slots.
    #[inline(always)]
    pub(crate) fn row_64(&self, spread: u64) -> (u64, u64) {
        let start = self
            .position(spread)
            .saturating_sub(32)
            .min(self.slots - 64);
        (start, u64::from_mixed(self.mixed(spread)))
    }

    /// The slot in the middle of a row, except near the ends of the shard.
    #[inline(always)]
    pub(crate) fn position(&self, spread: u64) -> u64 {
        mul_high(self.mixed(spread), self.slots)
    }

    /// A number from 0 to 3 that neither the position nor the fingerprint determines: whether a key of a `RibbonBlock` has an extra bit.
    #[inline(always)]
    pub(crate) fn quarter(&self, spread: u64) -> u8 {
        (self.mixed(spread) >> 40) as u8 & 3
    }

    /// The seed is applied last, because it must be read from memory first.
    #[inline(always)]
    fn mixed(&self, spread: u64) -> u64 {
        spread
            .wrapping_mul(START)
            .wrapping_mul(2 * u64::from(self.seed) + 1)
    }
}
