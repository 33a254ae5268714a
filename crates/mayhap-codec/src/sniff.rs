//! From bytes to a format, or the honest list of what they could be.

use crate::{
    Format, Limits, bip37, clickhouse, guava, hadoop, leveldb, parquet, redis, rocksdb, spark,
    table,
};

/// A file that holds filters among other things.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Container {
    /// A `.parquet` file.
    Parquet,
    /// A table of LevelDB, `.ldb`.
    LevelDbTable,
    /// A table of RocksDB, `.sst`.
    RocksDbTable,
    /// An index of ClickHouse in its compressed frames, `.idx`.
    ClickHouseFrames,
    /// A dump of Redis, `.rdb`.
    Rdb,
}

/// What bytes are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sniffed {
    /// A filter of this format: its parts fit together in a way that other bytes hardly do.
    Filter(Format),
    /// A file that holds filters.
    Container(Container),
    /// They could be a filter of one of these; somebody has to say which. Empty: of none that is known.
    Candidates(Vec<Format>),
}

/// The rates that tell ClickHouse's sizes apart: 2 to 19 bits a row.
const RATES: [f64; 8] = [0.9, 0.25, 0.1, 0.05, 0.025, 0.01, 0.001, 0.0001];

/// Looks at the bytes of a file, all of them.
pub fn sniff(bytes: &[u8]) -> Sniffed {
    if let Some(container) = container(bytes) {
        return Sniffed::Container(container);
    }
    let told = told(bytes);
    match told.as_slice() {
        [one] => Sniffed::Filter(*one),
        [] => Sniffed::Candidates(possible(bytes)),
        _ => Sniffed::Candidates(told),
    }
}

pub(crate) fn container(bytes: &[u8]) -> Option<Container> {
    if bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1") {
        return Some(Container::Parquet);
    }
    if bytes.starts_with(b"REDIS") {
        return Some(Container::Rdb);
    }
    if let Ok(table) = table::Table::open(bytes, Limits::default()) {
        return Some(match table.format() {
            Format::RocksDb => Container::RocksDbTable,
            _ => Container::LevelDbTable,
        });
    }
    // Its frames carry checksums, so that nothing else passes for them.
    let framed =
        !bytes.is_empty() && clickhouse::frames::decompress(bytes, Limits::default()).is_ok();
    framed.then_some(Container::ClickHouseFrames)
}

/// Formats whose headers and lengths fit the bytes.
fn told(bytes: &[u8]) -> Vec<Format> {
    let fits = |format: &Format| match format {
        Format::Guava => guava::decode(bytes).is_ok(),
        Format::Hadoop => hadoop::bloom::decode(bytes).is_ok(),
        Format::HadoopCounting => hadoop::counting::decode(bytes).is_ok(),
        Format::HadoopDynamic => hadoop::dynamic::decode(bytes).is_ok(),
        Format::HadoopRetouched => hadoop::retouched::decode(bytes).is_ok(),
        Format::Spark => spark::decode(bytes).is_ok(),
        Format::RocksDb => {
            let decoded = rocksdb::decode(bytes);
            matches!(
                decoded,
                Ok(rocksdb::Filter::Bloom(_) | rocksdb::Filter::Ribbon(_))
            )
        }
        Format::RedisBloom => redis::bloom::decode(bytes).is_ok(),
        Format::RedisBloomCuckoo => redis::cuckoo::decode(bytes).is_ok(),
        Format::RedisBloomDump => redis::dump::decode(bytes, Limits::default()).is_ok(),
        Format::Bip37 => bip37::decode(bytes).is_ok(),
        _ => false,
    };
    Format::ALL.into_iter().filter(fits).collect()
}

/// Formats that have no header to be told by.
fn possible(bytes: &[u8]) -> Vec<Format> {
    let could_be = |format: &Format| match format {
        Format::ClickHouse => RATES.iter().any(|&rate| {
            clickhouse::decode(bytes, rate, 1).is_ok_and(|granules| !granules.is_empty())
        }),
        Format::ClickHouseTokenbf => clickhouse::terms::decode(bytes, 1, 0).is_ok(),
        Format::LevelDb => matches!(leveldb::decode(bytes), Ok(leveldb::Filter::Bloom(_))),
        Format::Parquet => parquet::decode(bytes).is_ok(),
        _ => false,
    };
    Format::ALL.into_iter().filter(could_be).collect()
}
