//! Membership filters at memory speed: a filter answers "is this key in the set?" with *definitely not* or *mayhap*, in a
//! few bits per key.
//!
//! ```
//! let mut seen = mayhap::Bloom::new(1_000_000, 0.01)?; // a million keys, a false-positive rate of 1 %
//! assert!(seen.insert("https://a.example/"));          // true: definitely new
//! assert!(seen.contains("https://a.example/"));        // false would be certain
//! assert!(!seen.contains("https://b.example/"));
//! # Ok::<(), mayhap::PlanError>(())
//! ```
//!
//! # Which filter?
//!
//! | You want to | use | bits per key at 1 % |
//! | --- | --- | --- |
//! | insert keys, and know about how many | [`Bloom`], or [`SharedBloom`] from many threads | 9.9 |
//! | insert keys, and do not know how many | [`GrowingBloom`] | 11.1 if the guess was right, 29 if it was 10,000 times too low |
//! | the same, and remove keys; or expect far more than guessed | [`GrowingCuckoo`] | 11.3 to 16.3 below a maximum of 10M keys, 14 to 18 without one |
//! | remove keys as well | [`Cuckoo`]; [`CountingCuckoo`] also counts them | 9.8; 14 to 19 below a maximum |
//! | forget keys after a while | [`WindowCuckoo`]; [`WindowBloom`] if there are few lookups | 16.4; 16.2 |
//! | build a set once and query it fast | [`Fuse`]; [`Ribbon`] is smallest | 7.9; 6.8 |
//! | never match a list of known keys | [`Excepting`] over any of these | |
//! | share bits with another system | [`ClassicBloom`], and the feature `formats` | 9.6 |
//!
//! [`plan`] computes sizes and recommends a kind; [`Stats`] says how full a filter is and which rate it has now. Code that works
//! with every kind uses the traits [`Filter`] and [`Insert`], or the enum [`AnyFilter`].
//!
//! # Keys
//!
//! Strings, bytes, integers, addresses, tuples and more are keys: see [`Key`], which lists their bytes. The bytes are the same in
//! every interface of mayhap, so the command line and Python find what Rust inserted.
//!
//! ```
//! let mut visits = mayhap::Bloom::new(1000, 0.01)?;
//! visits.insert((42_u64, "/index.html"));
//! assert!(visits.contains((42_u64, "/index.html")));
//! # Ok::<(), mayhap::PlanError>(())
//! ```
//!
//! If strangers choose the keys, use `keyed` constructors with a [`SipKey`], so that nobody can craft keys that collide.
//!
//! # Saving
#![cfg_attr(
    feature = "files",
    doc = r#"
```
# let folder = tempfile::tempdir()?;
# let path = folder.path().join("seen.mayhap");
use mayhap::Bloom;

let seen = Bloom::from_keys(["apple", "pear"], 0.01)?;
mayhap::save(&path, &seen)?;                // atomic, with checksums; every kind can be saved
let seen: Bloom = mayhap::load(&path)?;     // errors name the path
let bytes = mayhap::to_bytes(&seen)?;       // the same bytes, in memory
let seen = mayhap::from_bytes::<Bloom>(&bytes)?;
assert!(seen.contains("pear"));
# Ok::<(), Box<dyn std::error::Error>>(())
```

[`write_to`] and [`read_from`] use streams, [`native::map`] uses a large file in place, and [`native`] has the rest: secret keys
outside of files, repair of damaged ones."#
)]
#![cfg_attr(not(feature = "files"), doc = "Needs the feature `files`.")]
//!
//! # Features
//!
//! * `std` (default): chooses the SIMD kernel at run time, requests huge pages for large filters, and has
//!   `Timestamp::now` and `SipKey::random`. Without it the crate is `no_std` with `alloc`.
//! * `files` (default): save and load.
//! * `formats`: `formats`, which reads and writes the filters of Guava, Hadoop, Spark, ClickHouse, LevelDB, RocksDB, Parquet,
//!   RedisBloom, Bitcoin, Cassandra, HBase and Accumulo.
//! * `serde`: `serde`, for filters that are fields of serialised structs.
//! * `parallel`: builds static filters on all cores.
//! * `uuid`: `uuid::Uuid` is a [`Key`].
//!
//! Where atomics have fewer than 64 bits there is no `SharedBloom`. The minimum Rust version is 1.89.

#![cfg_attr(not(feature = "std"), no_std)]

#[doc(inline)]
pub use mayhap_core::*;

#[cfg(feature = "files")]
#[doc(inline)]
pub use mayhap_codec::native::{
    self, FileError, LoadError, LoadOptions, NativeFilter, from_bytes, load, load_with, read_from,
    save, save_with, to_bytes, write_to,
};

#[cfg(feature = "formats")]
#[doc(inline)]
pub use mayhap_codec as formats;

#[cfg(feature = "serde")]
pub mod serde;

/// The programs in the READMEs and in the guide are tests.
#[cfg(all(doctest, feature = "files"))]
mod readme {
    #[doc = include_str!("../../../README.md")]
    struct English;
    #[doc = include_str!("../../../README.zh-CN.md")]
    struct Chinese;
    #[doc = include_str!("../../../docs/guide/rust.md")]
    struct Guide;
}
