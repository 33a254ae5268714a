//! Converts plain lines to atomic ones and back, without copying.

use crate::simd::zeroed::Slab;
use crate::store::Line;
use crate::store::atomic_line::AtomicLine;

const _: () = assert!(
    size_of::<Line>() == size_of::<AtomicLine>() && align_of::<Line>() == align_of::<AtomicLine>(),
    "an atomic line is a line"
);

/// The same memory as atomic words.
pub(crate) fn to_atomic(lines: Slab<Line>) -> Slab<AtomicLine> {
    // SAFETY: AtomicU64 has the size and bit validity of u64, so an AtomicLine has those of a Line, and the alignments are equal
    // (asserted above).
    unsafe { lines.cast() }
}

/// The same memory as plain words.
pub(crate) fn to_plain(lines: Slab<AtomicLine>) -> Slab<Line> {
    // SAFETY: as above; the slab is owned, so no other thread can write to it.
    unsafe { lines.cast() }
}
