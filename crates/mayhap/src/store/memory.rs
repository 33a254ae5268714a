//! Memory from the allocator without aborting: every filter's store, and the scratch of static builds, comes from here.

use crate::PlanError;
use alloc::vec::Vec;

/// `count` times the same.
pub(crate) fn filled<T: Clone>(count: u64, item: T) -> Result<Vec<T>, PlanError> {
    let mut items = reserved(count)?;
    items.resize(count as usize, item);
    Ok(items)
}

/// `count` zeros.
pub(crate) fn zeroed<T: Copy + Default>(count: u64) -> Result<Vec<T>, PlanError> {
    filled(count, T::default())
}

/// Room for `count` items, or an error where the memory is not there. Huge pages are advised before the first touch, where
/// that pays.
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

/// Makes room for `more` items at the end, a growing share at a time.
pub(crate) fn room_for<T>(items: &mut Vec<T>, more: usize) -> Result<(), PlanError> {
    items.try_reserve(more).map_err(|_| PlanError::OutOfMemory {
        size_bytes: ((items.len() + more) as u64).saturating_mul(size_of::<T>() as u64),
    })
}
