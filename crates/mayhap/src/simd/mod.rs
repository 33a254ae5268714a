//! The only intrinsics and the only `unsafe` of the crate.
//!
//! | file | question |
//! | --- | --- |
//! | `kernel.rs` | which instruction sets has this CPU? |
//! | `table.rs` | what a filter calls: lines, a walk and a kernel that are known to fit together |
//! | `batch.rs` | the loops over many keys, written once over the trait `Vector` |
//! | `portable.rs` `avx2.rs` `avx512.rs` | how one key's bits are built, tested and set |
//! | `prefetch.rs` `huge_pages.rs` `cast.rs` | three small wishes to the machine |
//!
//! Portable is the meaning; the others are faster spellings that give equal answers and equal bytes. A single key goes
//! through a few inlined instructions (a call that may use AVX2 cannot be inlined into a program built for plain x86-64, so
//! the single-key path is inline assembly); a batch picks its loop once.

#![allow(unsafe_code)]

mod batch;
mod kernel;
mod portable;
mod prefetch;
mod table;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(not(loom))]
pub(crate) mod cast;
pub(crate) mod huge_pages;

pub use kernel::Kernel;
pub(crate) use prefetch::{CACHED_BYTES, Fetched, prefetch, prefetch_to_write};
pub(crate) use table::Table;
