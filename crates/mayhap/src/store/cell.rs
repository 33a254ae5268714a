//! The cells of static filters: numbers of 8, 16 or 32 bits, and how many of them, or of anything plain, are had from the
//! allocator without aborting.

use crate::PlanError;
use alloc::vec::Vec;
use core::ops::BitXor;

/// A number that holds a fingerprint.
pub(crate) trait Cell: Copy + Default + Eq + BitXor<Output = Self> + Send {
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

/// `count` zeros. Huge pages are advised before the first touch, where that pays.
pub(crate) fn zeroed<T: Copy + Default>(count: u64) -> Result<Vec<T>, PlanError> {
    let mut values = reserved(count)?;
    values.resize(count as usize, T::default());
    Ok(values)
}

/// Room for `count` values.
pub(crate) fn reserved<T>(count: u64) -> Result<Vec<T>, PlanError> {
    let no_memory = PlanError::OutOfMemory {
        size_bytes: count.saturating_mul(size_of::<T>() as u64),
    };
    let count = usize::try_from(count).map_err(|_| no_memory)?;
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| no_memory)?;
    crate::simd::huge_pages::advise(values.spare_capacity_mut());
    Ok(values)
}
