//! Filters as bytes: mayhap's own files, and those of Guava, Hadoop, Spark, ClickHouse, LevelDB, RocksDB, Parquet, RedisBloom,
//! Bitcoin, Cassandra, HBase and Accumulo, read and written byte for byte.
//!
//! Most users need [`open`], which returns the filters in any file, and [`StoredFilter`], which queries, changes, describes, converts
//! and encodes one. Each system also has a module with its own types. Keys are the bytes that the system hashes.
//!
//! # Map
//!
//! | Place | What it answers |
//! | --- | --- |
//! | `format.rs` | Which formats and containers are there, and what can each do? The only table of them; how to add one |
//! | `sniff.rs` | Which format wrote these bytes? |
//! | `open.rs` | Which filters are in this file? |
//! | `filter/` | What can be done with a filter of any format: queries and changes (`mod.rs`), layouts that only one system has (`foreign.rs`), descriptions, conversions |
//! | `builder.rs` | How is a filter of another system sized and filled? |
//! | `parameters.rs` | Which settings are not in the file? |
//! | `plan_report.rs` | Which filter should it be, and how large will it be? |
//! | `values.rs` | How do people write counts, sizes and rates? |
//! | `keys.rs` | Which bytes does a system hash for a line of text? |
//! | `guava.rs`, `hadoop/`, `spark.rs`, `clickhouse/`, `leveldb/`, `rocksdb.rs`, `parquet/`, `redis/`, `bip37.rs`, `cassandra/`, `hbase/`, `accumulo/` | How does this system lay out, size and combine its filters? |
//! | `table/`, `parquet/file.rs`, `clickhouse/frames.rs`, `redis/rdb.rs`, `hbase/hfile.rs`, `accumulo/rfile.rs` | Where in a container are the filters? |
//! | `native/` | mayhap's own files: header, checksums per page, one file per kind, mapping, repair |
//! | `index/` | An index of files: a filter for each, which `mayhap index` writes and `mayhap which` queries |
//! | `cursor.rs`, `limits.rs`, `bits.rs`, `inflate.rs`, `crc_table.rs`, `error.rs` | How are untrusted bytes read? |
//! | `atomic.rs`, `key_file.rs`, `map.rs` | How are files replaced, keys stored, and files mapped (the only `unsafe` code)? |
//! | `tests/golden/` | Does every file that another system wrote decode, answer and encode as that system does? |

#![cfg_attr(
    not(feature = "formats"),
    expect(dead_code, reason = "some helpers read other formats only")
)]

mod atomic;
mod bits;
#[cfg(feature = "formats")]
mod builder;
#[cfg(feature = "formats")]
mod crc_table;
mod cursor;
mod error;
#[cfg(feature = "formats")]
mod filter;
#[cfg(feature = "formats")]
mod format;
#[cfg(feature = "formats")]
mod key_file;
#[cfg(feature = "formats")]
mod keys;
mod limits;
mod map;
#[cfg(not(feature = "formats"))]
mod native_only;
#[cfg(feature = "formats")]
mod open;
#[cfg(feature = "formats")]
mod parameters;
#[cfg(feature = "formats")]
mod plan_report;

#[cfg(feature = "formats")]
pub mod accumulo;
#[cfg(feature = "formats")]
pub mod bip37;
#[cfg(feature = "formats")]
pub mod cassandra;
#[cfg(feature = "formats")]
pub mod clickhouse;
#[cfg(feature = "formats")]
pub mod guava;
#[cfg(feature = "formats")]
pub mod hadoop;
#[cfg(feature = "formats")]
pub mod hbase;
#[cfg(feature = "formats")]
pub mod index;
#[cfg(feature = "formats")]
mod inflate;
#[cfg(feature = "formats")]
pub mod leveldb;
pub mod native;
#[cfg(feature = "formats")]
pub mod parquet;
#[cfg(feature = "formats")]
pub mod redis;
#[cfg(feature = "formats")]
pub mod rocksdb;
#[cfg(feature = "formats")]
pub mod sniff;
#[cfg(feature = "formats")]
pub mod spark;
#[cfg(feature = "formats")]
pub mod table;
pub mod values;

pub use atomic::{remove_temporaries, write_atomically};
pub use error::{DecodeError, EncodeError, Problem};
pub use limits::Limits;
#[doc(no_inline)]
pub use mayhap_core::KeyType;
#[cfg(not(feature = "formats"))]
pub use native_only::Format;
#[cfg(feature = "formats")]
pub use {
    builder::{BuildError, BuildOptions, FilterBuilder, RequiredCount},
    filter::{Description, Detail, FilterError, LayerFill, Picture, PictureUnit, StoredFilter},
    format::{Container, Format, Parameter},
    key_file::{parse_key, read_key, read_or_make_key, write_key},
    keys::{KeyError, KeyReader},
    open::{Location, OpenError, OpenOptions, OpenedFilter, Setting, open},
    parameters::{ParameterError, Parameters},
    plan_report::{CostRequest, PlanCosts, PlanReport, PlanRequest, PlanRequestError, rate_steps},
};

#[cfg(feature = "formats")]
/// Why a filter of several layers cannot be converted.
const LAYERS: &str =
    "it has several layers of different sizes, and only a filter of one layer can be converted";

#[cfg(feature = "formats")]
/// Why a filter cannot become one of another system's.
const OTHER_HASH: &str =
    "its bits were set by another hash function: build a new filter from the keys";

#[cfg(all(doctest, feature = "formats"))]
#[doc = include_str!("../../../docs/formats/coming-from.md")]
struct ComingFromElsewhere;
