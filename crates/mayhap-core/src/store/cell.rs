//! The cells of static filters: numbers of 8, 16 or 32 bits.

use crate::simd::borrow::Plain;
use core::ops::BitXor;

/// A number that holds a fingerprint.
pub(crate) trait Cell:
    Plain + Default + Eq + BitXor<Output = Self> + Send + 'static
{
    /// The low bits of a number.
    fn truncated(number: u64) -> Self;
}

impl Cell for u8 {
    #[inline(always)]
    fn truncated(number: u64) -> Self {
        number as Self
    }
}

impl Cell for u16 {
    #[inline(always)]
    fn truncated(number: u64) -> Self {
        number as Self
    }
}

impl Cell for u32 {
    #[inline(always)]
    fn truncated(number: u64) -> Self {
        number as Self
    }
}
