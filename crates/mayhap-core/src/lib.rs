//! Membership filters at the memory's own speed: a filter answers "is this key in the set?" with *definitely not* or *mayhap*, in a
//! few bits per key.
//!
//! ```
//! # use mayhap_core as mayhap;
//! let mut seen = mayhap::Bloom::new(1_000_000, 0.01)?; // a million keys, one wrong "mayhap" in a hundred
//! seen.insert("https://a.example/");
//! assert!(seen.contains("https://a.example/"));        // never a wrong "no"
//! # Ok::<(), mayhap::PlanError>(())
//! ```
//!
//! # The way of a key
//!
//! bytes -> [`HashScheme`] (`hash/`) -> [`KeyHash`] -> a line and bits in it (`probe/`) -> memory (`store/`, by `simd/`) -> answer.
//! On this way nothing is allocated, nothing is locked, and one cache line is touched, or two at rates below 0.3 %.
//!
//! # What is here
//!
//! * [`Bloom`]: insert-only, the default. [`SharedBloom`]: the same, filled by many threads.
//! * [`GrowingBloom`]: when the number of keys is not known. [`WindowBloom`]: when keys are to be forgotten after a while.
//! * [`AnyFilter`]: one of them, known only at run time; [`Stats`] tells how it is doing.
//! * [`Cuckoo`]: keys can be taken out again, and it is smaller than a Bloom filter below 1 %.
//! * [`ClassicBloom`]: flat bits and a numbered walk ([`Scheme`]), for bits that others read.
//!   [`ClassicCuckoo`]: buckets of bytes, for the same reason.
//! * [`CountingBloom`]: counters in the place of bits, so that keys can be removed and counted.
//! * [`Fuse`]: for a set that does not change, built once from all its keys; smaller.
//!   [`Ribbon`]: the same, as small as can be and slower to ask.
//! * [`Excepting`]: any of these, and never wrong about a list of keys that are not in.
//! * [`Retouched`]: chosen false positives are taken out, and keys with them.
//! * [`plan`]: all sizing arithmetic; [`plan::BloomPlan`] is what `Bloom::new` asks.
//! * [`foreign`]: the hash functions of other systems, for those who read their filters.
//! * [`Kernel`]: which SIMD instructions are used.
//!
//! # Features
//!
//! `std` (default): the CPU is asked at run time which kernel it can run, and big filters get huge pages. Without it the crate is
//! `no_std` with `alloc`. `parallel`: static filters are built on all cores.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod any;
mod build;
mod error;
mod filter;
mod hash;
mod key;
mod kind;
pub mod plan;
mod probe;
mod simd;
mod stats;
mod store;

pub use any::AnyFilter;
pub use error::{Full, Mismatch, OperationError, PlanError, Saturated};
pub use filter::bloom::{Bloom, BloomView};
pub use filter::classic::{ClassicBloom, ClassicView};
pub use filter::classic_cuckoo::ClassicCuckoo;
pub use filter::counting::CountingBloom;
pub use filter::cuckoo::Cuckoo;
pub use filter::excepting::{
    Excepting, ExceptingBase, ExceptingError, ExceptionLayer, ExceptionParts, InsertableBase,
    NeverFullBase, OnConflict, RetrievalParts,
};
pub use filter::fuse::{Fuse, FuseCells, FuseLayout, FuseView};
// Hidden: it measures memory, for `mayhap bench` and the benchmarks, and is of no use to programs.
pub use filter::growing::{GrowingBloom, GrowingView};
#[doc(hidden)]
pub use filter::memory_probe;
pub use filter::retouched::{
    ClearedBit, ClearingReport, ClearingStrategy, Retouched, RetouchedLists,
};
pub use filter::ribbon::{Ribbon, RibbonColumns, RibbonParts};
pub use filter::shared::SharedBloom;
pub use filter::static_filter::{BuildStatic, StaticFilter, StaticTable};
pub use filter::window::{BurstPolicy, Timestamp, WindowBloom};
pub use hash::{HashScheme, Hashed, SipKey, foreign};
pub use key::KeyHash;
pub use kind::{Kind, Operation};
pub use probe::classic::Scheme;
pub use probe::double_hash::HashPair;
pub use simd::Kernel;
pub use stats::Stats;
pub use store::{Borrowed, Owned, Storage, zeroed_bytes};
