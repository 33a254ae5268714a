//! One cache line of bits, and how a run of them is had from the allocator without aborting.

use crate::PlanError;
use alloc::vec::Vec;

/// 512 bits that are fetched from memory together. Bit `i` is bit `i % 64` of word `i / 64`.
#[repr(C, align(64))]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line(pub(crate) [u64; 8]);

/// Empty lines.
pub(crate) fn zeroed_lines(count: u64) -> Result<Vec<Line>, PlanError> {
    filled(count, Line([0; 8]))
}

/// `count` times the same, or an error where the memory is not there. Huge pages are advised before the first touch, where
/// that pays.
pub(crate) fn filled<T: Clone>(count: u64, item: T) -> Result<Vec<T>, PlanError> {
    let no_memory = PlanError::OutOfMemory {
        size_bytes: count.saturating_mul(size_of::<T>() as u64),
    };
    let count = usize::try_from(count).map_err(|_| no_memory)?;
    let mut items = Vec::new();
    items.try_reserve_exact(count).map_err(|_| no_memory)?;
    crate::simd::huge_pages::advise(items.spare_capacity_mut());
    items.resize(count, item);
    Ok(items)
}
