//! Zeroed memory that is not touched: the storage of every filter.
//!
//! The allocator passes on zeroed pages from the system, so that a filter for a billion keys is created at once and takes memory
//! only as keys are inserted. That works only up to the allocator's usual alignment: Rust's default allocator writes zeros to
//! memory with a larger one. Therefore a [`Slab`] allocates a little more than a line extra and aligns its start inside of the
//! block.

use super::huge_pages;
use super::plain_bytes::Plain;
use crate::PlanError;
use alloc::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::{ManuallyDrop, needs_drop};
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::slice;

/// The alignment that every allocator guarantees; most of them guarantee twice as much.
const USUAL_ALIGNMENT: usize = 8;

/// From this size on, allocating new zeros is faster than overwriting.
const MANY_BYTES: usize = 1 << 20;

/// Copies skip zeros in units of this many bytes, so that the pages of a mostly empty filter stay untouched.
const PAGE_BYTES: usize = 4096;

/// `count` zeros.
pub(crate) fn zeroed<T: Plain>(count: u64) -> Result<Vec<T>, PlanError> {
    const { assert!(align_of::<T>() <= 2 * USUAL_ALIGNMENT) };
    let (block, layout) = block::<T>(count)?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    let count = layout.size() / size_of::<T>();
    let items = NonNull::slice_from_raw_parts(block.cast(), count);
    // SAFETY: the block has this layout, which is that of an array of `count`, and zeros are valid values of a plain type.
    Ok(unsafe { Box::from_raw(items.as_ptr()) }.into_vec())
}

/// A copy of the items.
pub(crate) fn copied<T: Plain>(items: &[T]) -> Result<Vec<T>, PlanError> {
    let mut copy = zeroed(items.len() as u64)?;
    copy_nonzero_pages(items, &mut copy);
    Ok(copy)
}

/// Sets all items to zero. For many items it allocates new memory, which the system has already zeroed.
pub(crate) fn clear<T: Plain>(items: &mut Vec<T>) {
    if size_of_val(items.as_slice()) >= MANY_BYTES
        && let Ok(zeros) = zeroed(items.len() as u64)
    {
        *items = zeros;
    } else {
        // SAFETY: zeros are valid values of a plain type.
        unsafe { items.as_mut_ptr().write_bytes(0, items.len()) };
    }
}

/// Copies items into zeroed memory of the same length.
fn copy_nonzero_pages<T: Plain>(from: &[T], to: &mut [T]) {
    let items = (PAGE_BYTES / size_of::<T>()).max(1);
    for (from, to) in from.chunks(items).zip(to.chunks_mut(items)) {
        // SAFETY: every bit pattern is a valid `u8`, and plain types have no padding.
        let (_, bytes, _) = unsafe { from.align_to::<u8>() };
        if bytes.iter().fold(0, |any, byte| any | byte) != 0 {
            to.copy_from_slice(from);
        }
    }
}

/// A block of zeros for `count` items, with room to align them. Large blocks get huge pages. A layout of 0 bytes has no block.
fn block<T>(count: u64) -> Result<(NonNull<u8>, Layout), PlanError> {
    let no_memory = PlanError::OutOfMemory {
        size_bytes: count.saturating_mul(size_of::<T>() as u64),
    };
    let count = usize::try_from(count).map_err(|_| no_memory)?;
    let items = Layout::array::<T>(count).map_err(|_| no_memory)?;
    let layout = if items.align() <= 2 * USUAL_ALIGNMENT || items.size() == 0 {
        items
    } else {
        let size = items.size().checked_add(items.align() - USUAL_ALIGNMENT);
        let layout = size.map(|size| Layout::from_size_align(size, USUAL_ALIGNMENT));
        layout.and_then(Result::ok).ok_or(no_memory)?
    };
    if layout.size() == 0 {
        return Ok((NonNull::dangling(), layout));
    }
    // SAFETY: the size is not zero.
    let block = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(no_memory)?;
    // SAFETY: the block has this size and nobody else has access; zeros are bytes.
    huge_pages::advise::<u8>(unsafe {
        slice::from_raw_parts_mut(block.as_ptr().cast(), layout.size())
    });
    Ok((block, layout))
}

/// The owned items of a filter, aligned as they need.
pub struct Slab<T> {
    start: NonNull<T>,
    count: usize,
    /// The allocation that contains the items.
    block: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it owns its items, as a vector does.
unsafe impl<T: Send> Send for Slab<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Slab<T> {}

impl<T: Plain> Slab<T> {
    /// `count` zeros.
    pub(crate) fn zeroed(count: u64) -> Result<Self, PlanError> {
        Self::zeroed_items(count)
    }

    /// As [`clear`].
    pub(crate) fn clear(&mut self) {
        if size_of_val(&**self) >= MANY_BYTES
            && let Ok(zeros) = Self::zeroed(self.count as u64)
        {
            *self = zeros;
        } else {
            // SAFETY: zeros are valid values of a plain type.
            unsafe { self.start.write_bytes(0, self.count) };
        }
    }

    /// A copy of the items.
    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        let mut copy = Self::zeroed(self.count as u64)?;
        copy_nonzero_pages(self, &mut copy);
        Ok(copy)
    }
}

impl<T: Copy> Slab<T> {
    /// Zeroed items. The caller knows that zeros are valid values, or overwrites them.
    fn zeroed_items(count: u64) -> Result<Self, PlanError> {
        const { assert!(!needs_drop::<T>()) };
        let (block, layout) = block::<T>(count)?;
        if layout.size() == 0 {
            return Ok(Self::from(Vec::new()));
        }
        let skipped =
            block.as_ptr().addr().next_multiple_of(align_of::<T>()) - block.as_ptr().addr();
        // SAFETY: the block has room for the skipped bytes and the items.
        let start = unsafe { block.add(skipped) };
        Ok(Self {
            start: start.cast(),
            count: count as usize,
            block,
            layout,
        })
    }
}

impl<T> Slab<T> {
    /// The same memory with items of another type.
    ///
    /// # Safety
    /// Both types must have the same size, alignment and bit validity, and no destructor.
    #[cfg(all(target_has_atomic = "64", not(loom)))]
    pub(super) unsafe fn cast<U>(self) -> Slab<U> {
        let this = ManuallyDrop::new(self);
        Slab {
            start: this.start.cast(),
            count: this.count,
            block: this.block,
            layout: this.layout,
        }
    }
}

impl<T: Copy> From<Vec<T>> for Slab<T> {
    /// Takes over the vector's memory.
    fn from(items: Vec<T>) -> Self {
        let mut items = ManuallyDrop::new(items);
        let start = NonNull::from(items.as_mut_slice()).cast::<T>();
        let layout = Layout::array::<T>(items.capacity()).unwrap_or(Layout::new::<()>());
        Self {
            start,
            count: items.len(),
            block: start.cast(),
            layout,
        }
    }
}

impl<T> Deref for Slab<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: there are `count` items, and nobody writes to them while the slab is borrowed.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.count) }
    }
}

impl<T> DerefMut for Slab<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the slab is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.count) }
    }
}

impl<T: Copy> Clone for Slab<T> {
    /// Aborts if there is not enough memory, as a vector does; see [`Slab::try_clone`].
    fn clone(&self) -> Self {
        let Ok(clone) = Self::zeroed_items(self.count as u64) else {
            handle_alloc_error(self.layout);
        };
        // SAFETY: the clone has room for as many items, and is a new allocation, so they do not overlap.
        unsafe { clone.start.copy_from_nonoverlapping(self.start, self.count) };
        clone
    }
}

impl<T> Drop for Slab<T> {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: allocated with this layout, by `block` or by the vector.
            unsafe { dealloc(self.block.as_ptr(), self.layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::store::Line;
    use std::vec;

    #[test]
    fn zeros_of_any_number_are_aligned_and_copied() {
        for count in [0, 1, 2, 63, 64, 65, 1000, 100_000] {
            let mut lines = Slab::<Line>::zeroed(count).unwrap();
            assert_eq!(lines.len() as u64, count);
            assert!(lines.as_ptr().addr().is_multiple_of(64));
            assert!(lines.iter().all(|line| line.0 == [0; 8]));
            for (at, line) in lines.iter_mut().enumerate().step_by(77) {
                line.0[at % 8] = at as u64 + 1;
            }
            let clone = lines.clone();
            assert!(clone.as_ptr().addr().is_multiple_of(64) && *clone == *lines);
            assert!(*lines.try_clone().unwrap() == *lines);
            let mut numbers: Vec<u64> = zeroed(count).unwrap();
            assert_eq!(numbers, vec![0; count as usize]);
            numbers
                .iter_mut()
                .step_by(999)
                .for_each(|number| *number = 7);
            assert_eq!(copied(&numbers).unwrap(), numbers);
            assert!(*Slab::from(numbers.clone()) == *numbers);
        }
    }

    #[test]
    fn impossible_allocations_are_errors() {
        for count in [1 << 55, u64::MAX / 64, u64::MAX] {
            assert!(matches!(
                Slab::<Line>::zeroed(count),
                Err(PlanError::OutOfMemory { .. })
            ));
            assert!(zeroed::<u64>(count).is_err() && zeroed::<u8>(u64::MAX).is_err());
        }
    }
}
