//! Membership filters at memory speed: a filter answers "is this key in the set?" with *definitely not* or *mayhap*, in a
//! few bits per key.
//!
//! ```
//! let mut seen = mayhap::Bloom::new(1_000_000, 0.01)?; // a million keys, a false-positive rate of 1%
//! seen.insert("https://a.example/");
//! assert!(seen.contains("https://a.example/"));        // `false` would be certain
//! # Ok::<(), mayhap::PlanError>(())
//! ```
//!
//! This crate is what programs depend on. It has no code of its own: the filters are those of [`mayhap_core`], files and
//! formats those of `mayhap_codec`.
//!
//! # Features
//!
//! * `std` (default): chooses the SIMD kernel at run time and requests huge pages for large filters. Without it the crate is
//!   `no_std` with `alloc`.
//! * `files` (default): `native`, which saves and loads every kind of filter.
//! * `formats`: `formats`, which reads and writes the filters of Guava, Hadoop, Spark, ClickHouse, LevelDB, RocksDB, Parquet,
//!   RedisBloom and Bitcoin.
//! * `parallel`: builds static filters on all cores.

#![cfg_attr(not(feature = "std"), no_std)]

#[doc(inline)]
pub use mayhap_core::*;

#[cfg(feature = "files")]
#[doc(inline)]
pub use mayhap_codec::native;

#[cfg(feature = "formats")]
#[doc(inline)]
pub use mayhap_codec as formats;

/// The programs in both READMEs are tests.
#[cfg(doctest)]
mod readme {
    #[doc = include_str!("../../../README.md")]
    struct English;
    #[doc = include_str!("../../../README.zh-CN.md")]
    struct Chinese;
}
