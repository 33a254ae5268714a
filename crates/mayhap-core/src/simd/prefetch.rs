//! Asking memory for a line before it is needed.

use super::kernel::{Kernel, UsableKernel};
use crate::store::atomic_line::AtomicLine;

/// Filters up to this size are taken to be in a core's own cache, where prefetching only costs: at 100k keys (150 kB) a
/// batch takes 2.0 ns a key without and 2.4 ns with, at 1M keys (1.5 MB) 3.3 ns without and 2.6 ns with.
pub(crate) const CACHED_BYTES: u64 = 512 << 10;

/// How many keys ahead a batch prefetches. At 10M and 100M keys: 16 ahead 7.0 and 11.4 ns a key, 32 4.8 and 10.3, 64 4.0 and
/// 10.3, 96 3.9 and 10.5.
const AHEAD: usize = 64;

/// Whether the lines of a batch have been asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefetch {
    /// By the caller, while it hashed the keys.
    ByCaller,
    /// The batch prefetches, unless the filter is in cache anyway.
    InBatch,
}

impl Prefetch {
    /// How many keys ahead to prefetch in a filter of `size_bytes`; 0 for not at all.
    #[inline]
    pub(crate) fn distance(self, size_bytes: usize) -> usize {
        if self == Self::ByCaller || size_bytes as u64 <= CACHED_BYTES {
            0
        } else {
            AHEAD
        }
    }
}

/// Starts to load the line around `line`, which need not be valid: nothing is read in the sense of the language.
#[inline(always)]
pub(crate) fn prefetch<T>(line: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch faults on no address.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(line.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// The same for a line that will be written: it comes to this core alone, so that the write need not wait for the others to
/// give it up. CPUs before AVX2 may not know the instruction.
#[inline(always)]
pub(crate) fn prefetch_to_write(kernel: UsableKernel, line: *const AtomicLine) {
    match kernel.get() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch faults on no address, and every CPU with AVX2 takes this one, if only as a no-op.
        Kernel::Avx2 | Kernel::Avx512 => unsafe {
            core::arch::asm!("prefetchw byte ptr [{}]", in(reg) line, options(nostack, preserves_flags, readonly));
        },
        _ => prefetch(line),
    }
}
