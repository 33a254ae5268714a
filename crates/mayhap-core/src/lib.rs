//! Approximate membership filters at memory speed: a filter answers "is this key in the set?" with *definitely not* or *mayhap*, in
//! a few bits per key.
//!
//! ```
//! # use mayhap_core as mayhap;
//! let mut seen = mayhap::Bloom::new(1_000_000, 0.01)?; // a million keys, a false-positive rate of 1%
//! seen.insert("https://a.example/");
//! assert!(seen.contains("https://a.example/"));        // there are no false negatives
//! # Ok::<(), mayhap::PlanError>(())
//! ```
//!
//! # Contents
//!
//! * [`Bloom`]: insert-only, the default. [`SharedBloom`]: the same, filled by many threads.
//! * [`GrowingBloom`]: for an unknown number of keys. [`WindowBloom`]: for keys that expire.
//! * [`GrowingCuckoo`]: the same for keys that may be removed; it grows in place, in small steps.
//! * [`Cuckoo`]: keys can be removed; smaller than a Bloom filter below 1 %.
//! * [`CountingBloom`]: counters instead of bits, so that keys can be removed and counted.
//! * [`CountingCuckoo`]: the same in a third of the memory and with faster lookups; counters never saturate, and it grows.
//! * [`Fuse`]: for a fixed set, built once from all its keys; fastest. [`Ribbon`]: the same, smallest, with slower lookups.
//! * [`Excepting`]: any of these, without false positives on a list of known keys.
//! * [`Retouched`]: removes chosen false positives at the cost of false negatives.
//! * [`ClassicBloom`]: flat bits and a numbered [`Scheme`], for bits that other systems read. [`ClassicCuckoo`]: buckets of bytes,
//!   for the same reason.
//! * [`RibbonBlock`]: a ribbon filter of a few keys in borrowed bytes, for blocks of storage engines.
//! * [`AnyFilter`]: a filter whose [`Kind`] is known only at run time. [`Stats`]: what every filter reports about itself.
//! * [`plan`]: all sizing arithmetic. [`foreign`]: the hash functions of other systems. [`Kernel`]: the SIMD instructions in use.
//!
//! # The path of a key
//!
//! [`Key`] -> bytes -> [`HashScheme`] (`hash/`) -> [`KeyHash`] -> positions (`probe/`) -> memory (`store/`, through `simd/`) -> answer.
//! This path allocates nothing and takes no locks. `Bloom` reads one cache line, or two at rates below 0.3 %.
//!
//! # Map of the crate
//!
//! | place | what it answers |
//! | --- | --- |
//! | `key.rs`, `key_type.rs` | Which bytes is a key, and how do other programs spell it? Frozen. |
//! | `hash/` | How are key bytes hashed to 64 bits? Frozen. `hash/foreign/` has the hash functions of other systems. |
//! | `probe/` | Which positions does a hash have? Frozen: it defines the meaning of every stored filter. `blocked.rs`: lines of `Bloom`; `classic.rs`: flat bits by a numbered `Scheme`, with `foreign.rs` for other systems, `modulo.rs` for exact remainders, `prefetched.rs` for batches and `double_hash.rs` for RedisBloom's two hashes; `cuckoo.rs`, `fuse.rs`, `ribbon.rs`: those kinds; `slice.rs`: `GrowingCuckoo` |
//! | `store/` | How are positions stored? Lines, plain and atomic; flat bits; packed counters and cells; shard directories; exact sets of the few keys that must be known exactly; owned or borrowed memory |
//! | `simd/` | How is it done fast? All `unsafe` code of the crate. `dispatch.rs` maps a `Kernel` to its code; `zeroed.rs` allocates memory that takes no pages until keys are inserted |
//! | `build/` | How is a static filter solved, in at most 100 bits per key in addition to its items? |
//! | `filter/` | What do callers use? One kind per file |
//! | `plan/` | How large, and how many probes? All sizing arithmetic, one file per kind; `clickhouse.rs` repeats the choice of another system, `memory.rs` plans for a budget, `advice.rs` recommends a kind, `cost.rs` computes what a rate is worth |
//! | `traits.rs` | What does generic code use? |
//! | `any.rs`, `kind.rs` | What if the kind is known only at run time, and what does each kind support? |
//! | `stats.rs`, `error.rs` | What does a filter report, and what can fail? |
//! | `tests/it/` | What does every filter guarantee? By behaviour; `tests/loom.rs` checks all interleavings of two threads |
//!
//! # Features
//!
//! * `std` (default): detects at run time which kernel the CPU can run, and requests huge pages for large filters. It also has
//!   `Timestamp::now` and `SipKey::random`, which only callers use. Without it the crate is `no_std` with `alloc`.
//! * `uuid`: `uuid::Uuid` is a [`Key`].
//! * `parallel`: builds static filters on all cores.
//!
//! `SharedBloom` needs 64-bit atomics, and is absent on targets without them.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod any;
mod build;
mod error;
mod filter;
mod hash;
mod key;
mod key_type;
mod kind;
pub mod plan;
mod probe;
mod simd;
mod stats;
mod store;
mod traits;

pub use any::AnyFilter;
pub use error::{Full, Mismatch, OperationError, PlanError, Saturated, UnknownKind, WrongKind};
pub use filter::bloom::{Bloom, BloomView};
pub use filter::classic::{ClassicBloom, ClassicView};
pub use filter::classic_cuckoo::ClassicCuckoo;
pub use filter::counting::CountingBloom;
pub use filter::counting_cuckoo::{CountingCuckoo, CountingCuckooTable};
pub use filter::cuckoo::Cuckoo;
pub use filter::excepting::{
    Excepting, ExceptingBase, ExceptingError, ExceptionLayer, ExceptionParts, InsertableBase,
    NeverFullBase, OnConflict, RetrievalParts,
};
pub use filter::fuse::{Fuse, FuseCells, FuseLayout, FuseView};
// Hidden: it measures memory, for `mayhap bench` and the benchmarks, and is of no use to programs.
pub use filter::growing::{GrowingBloom, GrowingView};
pub use filter::growing_cuckoo::{GrowingCuckoo, GrowingCuckooTable};
#[doc(hidden)]
pub use filter::memory_probe;
pub use filter::retouched::{
    ClearedBit, ClearingReport, ClearingStrategy, Retouched, RetouchedLists,
};
pub use filter::ribbon::{Ribbon, RibbonColumns, RibbonParts, RibbonView};
pub use filter::ribbon_block::{RibbonBlock, RibbonBlockParts};
#[cfg(target_has_atomic = "64")]
pub use filter::shared::SharedBloom;
pub use filter::slice_table::SliceTableParts;
pub use filter::static_filter::{BuildStatic, StaticFilter, StaticTable};
pub use filter::window::{BurstPolicy, Timestamp, WindowBloom};
pub use filter::window_cuckoo::WindowCuckoo;
pub use hash::{HashScheme, Hashed, KeyHash, SipKey, foreign};
pub use key::Key;
pub use key_type::{KeyType, UnknownKeyType};
pub use kind::{Kind, Operation};
pub use probe::classic::Scheme;
pub use probe::double_hash::HashPair;
pub use probe::slice_lengths::SliceLengths;
pub use simd::Kernel;
pub use stats::Stats;
pub use store::{Borrowed, Owned, Storage, zeroed_bytes};
pub use traits::{Filter, Insert};
