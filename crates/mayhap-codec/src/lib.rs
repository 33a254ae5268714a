//! Filters as bytes: mayhap's own files, and what Guava, Hadoop, Spark, ClickHouse, LevelDB, RocksDB, Parquet, RedisBloom and Bitcoin write, read and
//! written byte for byte.
//!
//! One file a system. Each has `decode` and `encode`, and `create`, which sizes an empty filter as that system does. Keys are the
//! bytes that the system hashes: integers as it encodes them.

mod bits;
mod cursor;
mod error;
mod format;
mod limits;

pub mod bip37;
pub mod clickhouse;
pub mod guava;
pub mod hadoop;
pub mod leveldb;
pub mod native;
pub mod parquet;
pub mod redis;
pub mod rocksdb;
pub mod sniff;
pub mod spark;
pub mod table;

pub use error::{DecodeError, EncodeError, Problem};
pub use format::Format;
pub use limits::Limits;

/// Why a filter cannot become one of another system's.
const OTHER_HASH: &str = "its bits come from another system's hash: build it anew from the keys";

#[cfg(doctest)]
#[doc = include_str!("../../../docs/formats/coming-from.md")]
struct ComingFromElsewhere;
