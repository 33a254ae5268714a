//! The lines of `SharedBloom`: lookups and prefetches by the kernel, and conversions to plain lines and back without copying.

use super::kernel::{Kernel, UsableKernel};
use crate::probe::blocked::BlockedWalk;
use crate::store::atomic_line::AtomicLine;

/// One bit for each word of the line that lacks a bit of the key.
#[inline(always)]
pub(crate) fn missing_words(
    kernel: UsableKernel,
    line: &AtomicLine,
    walk: &BlockedWalk,
    hash: u64,
) -> u32 {
    // SAFETY: the kernel is usable.
    unsafe { call_kernel!(kernel, missing_words(line, walk, hash)) }
}

/// Prefetches a line that will be written, with exclusive access where the CPU supports that.
#[inline(always)]
pub(crate) fn prefetch_to_write(kernel: UsableKernel, line: *const AtomicLine) {
    // SAFETY: the kernel is usable.
    unsafe { call_kernel!(kernel, prefetch_to_write(line)) }
}

// loom's atomics are larger than plain words, so there the lines are copied (`filter/shared.rs`).
#[cfg(not(loom))]
pub(crate) use cast::{to_atomic, to_plain};

#[cfg(not(loom))]
mod cast {
    use crate::simd::zeroed::Slab;
    use crate::store::Line;
    use crate::store::atomic_line::AtomicLine;

    const _: () = assert!(
        size_of::<Line>() == size_of::<AtomicLine>()
            && align_of::<Line>() == align_of::<AtomicLine>(),
        "an atomic line is a line"
    );

    /// The same memory as atomic words.
    pub(crate) fn to_atomic(lines: Slab<Line>) -> Slab<AtomicLine> {
        // SAFETY: AtomicU64 has the size and bit validity of u64, so an AtomicLine has those of a Line, and the alignments are
        // equal (asserted above).
        unsafe { lines.cast() }
    }

    /// The same memory as plain words.
    pub(crate) fn to_plain(lines: Slab<AtomicLine>) -> Slab<Line> {
        // SAFETY: as above; the slab is owned, so no other thread can write to it.
        unsafe { lines.cast() }
    }
}
