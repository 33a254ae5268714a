//! Plain lines to atomic ones and back, without copying.

use crate::store::Line;
use crate::store::shared::AtomicLine;
use alloc::vec::Vec;
use core::mem::ManuallyDrop;

const _: () = assert!(
    size_of::<Line>() == size_of::<AtomicLine>() && align_of::<Line>() == align_of::<AtomicLine>(),
    "an atomic line is a line"
);

/// The same memory, seen as atomic words.
pub(crate) fn to_atomic(lines: Vec<Line>) -> Vec<AtomicLine> {
    // SAFETY: AtomicU64 has the size and bit validity of u64, so an AtomicLine has a Line's, and the alignments are equal
    // (asserted above).
    unsafe { same_memory(lines) }
}

/// The same memory, seen as plain words.
pub(crate) fn to_plain(lines: Vec<AtomicLine>) -> Vec<Line> {
    // SAFETY: as above; the vector is owned, so nobody else can be writing.
    unsafe { same_memory(lines) }
}

/// # Safety
/// `A` and `B` must have one size, one alignment and one bit validity.
unsafe fn same_memory<A, B>(from: Vec<A>) -> Vec<B> {
    let mut from = ManuallyDrop::new(from);
    let (start, len, capacity) = (from.as_mut_ptr(), from.len(), from.capacity());
    // SAFETY: the parts of a vector that is not dropped, and the caller's promise.
    unsafe { Vec::from_raw_parts(start.cast(), len, capacity) }
}
