//! The only intrinsics and the only `unsafe` of the crate.
//!
//! | file | question |
//! | --- | --- |
//! | `kernel.rs` | which instruction sets has this CPU? |
//! | `table.rs` | what a filter calls: lines, a walk and a kernel that are known to fit together |
//! | `cuckoo.rs` | the same for cells in windows |
//! | `fuse.rs` `ribbon.rs` | the same for the cells of a `Fuse` and the columns of a `Ribbon` |
//! | `ask.rs` | the loops over many keys of these two |
//! | `batch.rs` | the loops over many keys, written once over the trait `Vector` |
//! | `chain.rs` | one key in many tables |
//! | `portable.rs` `avx2.rs` `avx512.rs` | how one key's bits are built, tested and set |
//! | `zeroed.rs` | memory that is zero and untouched |
//! | `prefetch.rs` `huge_pages.rs` `cast.rs` `borrow.rs` | four small wishes to the machine |
//!
//! Portable is the meaning; the others are faster spellings that give equal answers and equal bytes. A single key goes
//! through a few inlined instructions (a call that may use AVX2 cannot be inlined into a program built for plain x86-64, so
//! the single-key path is inline assembly); a batch picks its loop once.

#![allow(unsafe_code)]

/// Assembly that uses AVX: lines, then operands, the vector registers 0 to 3 last.
///
/// It ends with `vzeroupper`: without it, the SSE code around pays a state change, 115 ns a key instead of 2. That clears the upper halves
/// of all sixteen registers, and a caller that is compiled for AVX in a program that is not may have something there: so all of them
/// are named as written to. (The compiler takes the narrow name for the whole register.) In a program that is built for AVX the
/// instruction is not needed.
#[cfg(all(target_arch = "x86_64", not(target_feature = "avx")))]
macro_rules! vector_asm {
    ([$($line:expr),* $(,)?], $($operands:tt)*) => {
        core::arch::asm!(
            $($line,)*
            "vzeroupper",
            $($operands)*
            out("xmm4") _,
            out("xmm5") _,
            out("xmm6") _,
            out("xmm7") _,
            out("xmm8") _,
            out("xmm9") _,
            out("xmm10") _,
            out("xmm11") _,
            out("xmm12") _,
            out("xmm13") _,
            out("xmm14") _,
            out("xmm15") _,
        )
    };
}

#[cfg(all(target_arch = "x86_64", target_feature = "avx"))]
macro_rules! vector_asm {
    ([$($line:expr),* $(,)?], $($operands:tt)*) => {
        core::arch::asm!($($line,)* $($operands)*)
    };
}

mod batch;
mod bloom_table;
mod cuckoo;
mod fuse;
mod kernel;
mod multi_table;
pub(crate) mod plain_bytes;
mod portable;
mod prefetch;
mod ribbon;
mod static_lookup;
pub(crate) mod zeroed;

#[cfg(not(loom))]
pub(crate) mod atomic_cast;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod huge_pages;

pub(crate) use bloom_table::BloomTable;
pub(crate) use cuckoo::WindowedCells;
pub(crate) use fuse::FuseTable;
pub use kernel::Kernel;
pub(crate) use kernel::UsableKernel;
pub(crate) use prefetch::{CACHED_BYTES, Prefetch, prefetch, prefetch_to_write};
pub(crate) use ribbon::RibbonTable;
pub(crate) use static_lookup::StaticLookup;

/// One bit for each word of the line that lacks a bit of the key.
#[inline(always)]
pub(crate) fn missing_words(
    kernel: UsableKernel,
    line: &crate::store::atomic_line::AtomicLine,
    walk: &crate::probe::blocked::BlockedWalk,
    hash: u64,
) -> u32 {
    match kernel.get() {
        // loom's atomics are no words in memory.
        #[cfg(all(target_arch = "x86_64", not(loom)))]
        // SAFETY: the kernel is usable; AVX-512 implies AVX2 (`Kernel::is_available`).
        Kernel::Avx2 | Kernel::Avx512 => unsafe { avx2::missing_words(line, walk, hash) },
        _ => line.missing_words(&walk.mask(hash)),
    }
}
