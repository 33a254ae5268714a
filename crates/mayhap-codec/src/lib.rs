//! Filters as bytes: mayhap's own files, and what Guava, Hadoop, Spark, ClickHouse, LevelDB, RocksDB, Parquet, RedisBloom and Bitcoin write, read and
//! written byte for byte.
//!
//! One file a system. Each has `decode` and `encode`, and `create`, which sizes an empty filter as that system does. Keys are the
//! bytes that the system hashes: integers as it encodes them.

mod atomic;
mod bits;
mod cursor;
mod error;
mod filter;
mod format;
mod key_file;
mod keys;
mod limits;
mod map;
mod open;
mod parameters;
mod recipe;

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

pub use atomic::{remove_temporaries, write_atomically};
pub use error::{DecodeError, EncodeError, Problem};
pub use filter::{Description, Detail, Filter, Refused};
pub use format::Format;
pub use key_file::{parse_key, read_key, read_or_make_key, write_key};
pub use keys::{Funnel, KeyError, KeyReader, KeyType};
pub use limits::Limits;
pub use open::{Found, OpenError, Opening, Place, open};
pub use parameters::{ParameterError, Parameters};
pub use recipe::{Builder, Needs, Recipe, RecipeError};

/// Why a filter cannot become one of another system's.
const OTHER_HASH: &str = "its bits come from another system's hash: build it anew from the keys";

#[cfg(doctest)]
#[doc = include_str!("../../../docs/formats/coming-from.md")]
struct ComingFromElsewhere;
