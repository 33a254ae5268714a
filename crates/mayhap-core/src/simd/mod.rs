//! The fast versions of lookups and inserts: all intrinsics, all assembly and all `unsafe` code of the crate.
//!
//! | file | contents |
//! | --- | --- |
//! | `kernel.rs` | which instruction sets this CPU has |
//! | `dispatch.rs` | from a `Kernel` to its functions, in one place |
//! | `bloom_table.rs` | the lines of a `Bloom` with their walk and kernel |
//! | `cuckoo.rs` | the cells of a `Cuckoo` with their windows |
//! | `cuckoo_batch.rs` | the batch loop of `Cuckoo`, written once over the trait `CuckooOps` |
//! | `cuckoo_avx2.rs`, `cuckoo_avx512.rs` | how several keys of a `Cuckoo` are looked up at once |
//! | `slice_cells.rs` | the cells of filters that store slices |
//! | `slice_lookup.rs` | one lookup in them, with vectors |
//! | `slice_decode.rs` | how a rewrite reads them |
//! | `fuse.rs`, `packed_fuse.rs`, `ribbon.rs` | the cells of a `Fuse`, typed or packed, and the columns of a `Ribbon` |
//! | `static_lookup.rs`, `fuse_batch.rs` | batch lookups of these, and of a `Fuse` in AVX2 |
//! | `batch.rs` | the batch loops of `Bloom`, written once over the trait `LineOps` |
//! | `multi_table.rs` | one key in several tables |
//! | `portable.rs`, `neon.rs`, `avx2.rs`, `avx512.rs` | the kernels: how the bits of one key are computed, tested and set |
//! | `zeroed.rs` | zeroed memory that takes no pages until it is written |
//! | `prefetch.rs`, `huge_pages.rs` | requests to the CPU and the operating system |
//! | `atomic_lines.rs` | the lines of a `SharedBloom`; absent where the CPU has no 64-bit atomics |
//! | `plain_bytes.rs` | views of the same memory with other types |
//!
//! The portable kernel defines the behaviour; the others are faster and give equal answers and equal bytes. A single key runs
//! through a few inlined instructions: a function that may use AVX2 cannot be inlined into a program built for plain x86-64, so
//! the single-key path of `Bloom` is inline assembly. A batch chooses its loop once.

#![allow(unsafe_code)]

/// Assembly that uses AVX: lines, then operands, the vector registers 0 to 3 last.
///
/// It ends with `vzeroupper`: without it, the surrounding SSE code pays for a state transition, 115 ns per key instead of 2. That
/// instruction clears the upper halves of all sixteen registers, and a caller that is compiled for AVX in a program that is not
/// may hold values there, so all of them are declared as clobbered. (The compiler takes the narrow name for the whole register.) A
/// program that is built for AVX does not need the instruction.
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

#[macro_use]
mod dispatch;

mod batch;
mod bloom_table;
mod cuckoo;
#[cfg(target_arch = "x86_64")]
mod cuckoo_avx2;
#[cfg(target_arch = "x86_64")]
mod cuckoo_avx512;
mod cuckoo_batch;
mod fuse;
mod fuse_batch;
pub(crate) mod kernel;
mod multi_table;
mod packed_fuse;
pub(crate) mod plain_bytes;
mod portable;
mod prefetch;
mod ribbon;
mod slice_cells;
mod slice_decode;
#[cfg(target_arch = "x86_64")]
mod slice_lookup;
mod static_lookup;
pub(crate) mod zeroed;

#[cfg(target_has_atomic = "64")]
pub(crate) mod atomic_lines;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod huge_pages;
#[cfg(all(
    target_arch = "aarch64",
    target_feature = "neon",
    target_endian = "little"
))]
mod neon;

// Kernels of other architectures are never usable; their names stand for the portable one, so that `dispatch.rs` needs no
// conditions.
#[cfg(not(all(
    target_arch = "aarch64",
    target_feature = "neon",
    target_endian = "little"
)))]
use portable as neon;
#[cfg(not(target_arch = "x86_64"))]
use {portable as avx2, portable as avx512};

pub(crate) use bloom_table::BloomTable;
pub(crate) use cuckoo::WindowedCells;
pub(crate) use fuse::{EmptyFuseTable, FuseTable};
pub use kernel::Kernel;
pub(crate) use packed_fuse::{CellWord, PackedFuseTable};
pub(crate) use prefetch::{CACHED_BYTES, Prefetch, prefetch};
pub(crate) use ribbon::RibbonTable;
pub(crate) use slice_cells::{SliceAnswer, SliceCells};
pub(crate) use slice_decode::for_each_slice;
pub(crate) use static_lookup::StaticLookup;
