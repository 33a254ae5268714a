//! The cells of `Fuse`: numbers of 8, 16 or 32 bits.

use crate::simd::plain_bytes::Plain;
use core::ops::BitXor;

/// A number that holds a fingerprint.
pub(crate) trait FuseCell:
    Plain + Default + Eq + BitXor<Output = Self> + Send + 'static
{
    /// The low bits of a number.
    fn truncated(number: u64) -> Self;
}

impl FuseCell for u8 {
    #[inline(always)]
    fn truncated(number: u64) -> Self {
        number as Self
    }
}

impl FuseCell for u16 {
    #[inline(always)]
    fn truncated(number: u64) -> Self {
        number as Self
    }
}

impl FuseCell for u32 {
    #[inline(always)]
    fn truncated(number: u64) -> Self {
        number as Self
    }
}
