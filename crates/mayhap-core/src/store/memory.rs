//! Fallible allocation of vectors; `simd/zeroed.rs` has zeroed memory.

use super::zeroed;
use crate::PlanError;
use alloc::vec::Vec;

/// Zeros that take no memory until they are written, like the storage of new filters.
///
/// # Errors
/// [`PlanError::OutOfMemory`].
pub fn zeroed_bytes(count: u64) -> Result<Vec<u8>, PlanError> {
    zeroed(count)
}

/// A vector with capacity for `count` items, or an error if there is not enough memory. Large ones get huge pages.
pub(crate) fn reserved<T>(count: u64) -> Result<Vec<T>, PlanError> {
    let no_memory = PlanError::OutOfMemory {
        size_bytes: count.saturating_mul(size_of::<T>() as u64),
    };
    let count = usize::try_from(count).map_err(|_| no_memory)?;
    let mut items = Vec::new();
    items.try_reserve_exact(count).map_err(|_| no_memory)?;
    crate::simd::huge_pages::advise(items.spare_capacity_mut());
    Ok(items)
}

/// Reserves capacity for `more` items at the end, with amortised growth.
pub(crate) fn reserve_more<T>(items: &mut Vec<T>, more: usize) -> Result<(), PlanError> {
    items.try_reserve(more).map_err(|_| PlanError::OutOfMemory {
        size_bytes: ((items.len() + more) as u64).saturating_mul(size_of::<T>() as u64),
    })
}
