//! The formats, by the names that the command line uses.

use std::fmt;

/// A format of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Format {
    /// Our own files.
    Mayhap,
    /// Guava's `BloomFilter.writeTo`.
    Guava,
    /// Hadoop's `BloomFilter`.
    Hadoop,
    /// Hadoop's `CountingBloomFilter`.
    HadoopCounting,
    /// Hadoop's `DynamicBloomFilter`.
    HadoopDynamic,
    /// Hadoop's `RetouchedBloomFilter`.
    HadoopRetouched,
    /// Spark's `BloomFilter.writeTo`, versions 1 and 2.
    Spark,
    /// Granules of ClickHouse's `bloom_filter`.
    ClickHouse,
    /// A granule of ClickHouse's `tokenbf_v1` or `ngrambf_v1`.
    ClickHouseTokenbf,
    /// LevelDB's filter.
    LevelDb,
    /// RocksDB's full filter block.
    RocksDb,
    /// Parquet's bitset.
    Parquet,
    /// Header and chunks of RedisBloom's `BF.SCANDUMP`, end to end.
    RedisBloom,
    /// The same of `CF.SCANDUMP`.
    RedisBloomCuckoo,
    /// Redis's DUMP of either, and RDB files.
    RedisBloomDump,
    /// Bitcoin's `filterload`, BIP 37.
    Bip37,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 16] = [
        Self::Mayhap,
        Self::Guava,
        Self::Hadoop,
        Self::HadoopCounting,
        Self::HadoopDynamic,
        Self::HadoopRetouched,
        Self::Spark,
        Self::ClickHouse,
        Self::ClickHouseTokenbf,
        Self::LevelDb,
        Self::RocksDb,
        Self::Parquet,
        Self::RedisBloom,
        Self::RedisBloomCuckoo,
        Self::RedisBloomDump,
        Self::Bip37,
    ];

    /// As `--format` has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mayhap => "mayhap",
            Self::Guava => "guava",
            Self::Hadoop => "hadoop",
            Self::HadoopCounting => "hadoop-counting",
            Self::HadoopDynamic => "hadoop-dynamic",
            Self::HadoopRetouched => "hadoop-retouched",
            Self::Spark => "spark",
            Self::ClickHouse => "clickhouse",
            Self::ClickHouseTokenbf => "clickhouse-tokenbf",
            Self::LevelDb => "leveldb",
            Self::RocksDb => "rocksdb",
            Self::Parquet => "parquet",
            Self::RedisBloom => "redisbloom",
            Self::RedisBloomCuckoo => "redisbloom-cuckoo",
            Self::RedisBloomDump => "redisbloom-dump",
            Self::Bip37 => "bip37",
        }
    }

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
