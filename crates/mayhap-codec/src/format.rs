//! The table of formats: one row per format, and one per container.
//!
//! [`sniff`](crate::sniff), [`open`](crate::open), [`BuildOptions`], [`Parameters`], [`KeyReader`] and
//! [`StoredFilter::convert`] read these rows and match on no format themselves.
//!
//! # To add a format
//!
//! 1. Write its module: `decode`, `encode` and `create` over a filter, and a `ROW` ([`FormatRow`]). A filter that is flat bits is
//!    a [`StoredFilter::Bits`]. Anything else implements [`ForeignFilter`](crate::filter::ForeignFilter) in the same module. A
//!    container (a file that holds filters among other data) has a [`ContainerRow`].
//! 2. Add one line to `formats!` below, `mod` and doc line in lib.rs; for a container one line to `containers!`.
//! 3. Put files that the system itself wrote into `golden/`, and add their dialect to `tests/golden/`. The fuzz targets `open` and
//!    `sniff` read every golden folder and need nothing.
//! 4. Write its page in `docs/formats/`.
//!
//! A hash or a probe sequence that no other format has is a new `Scheme` in the core.

use crate::builder::{BuildError, BuildOptions, FilterBuilder, RequiredCount};
use crate::keys::KeyReader;
use crate::open::{OpenError, OpenOptions, OpenedFilter};
use crate::parameters::{ParameterError, Parameters};
use crate::{
    DecodeError, EncodeError, Limits, StoredFilter, accumulo, bip37, cassandra, clickhouse, guava,
    hadoop, hbase, leveldb, native, parquet, redis, rocksdb, spark, table,
};
use mayhap_core::KeyType;
use mayhap_core::{AnyFilter, ClassicBloom};
use std::borrow::Cow;
use std::fmt;

/// What the crate knows about one format. Every field must be given, so the compiler lists what a new format has to provide.
pub(crate) struct FormatRow {
    /// The name on the command line.
    pub(crate) name: &'static str,
    /// What writes such bytes, in a few words.
    pub(crate) description: &'static str,
    /// Whether the bytes contain a checksum, so that changed bits are detected.
    pub(crate) has_checksum: bool,
    /// How bytes of this format are recognised.
    pub(crate) detection: Detection,
    /// Reads the filters in bytes of this format.
    pub(crate) decode: Decode,
    /// Writes flat bits, for a format whose filters are [`StoredFilter::Bits`].
    pub(crate) encode_bits: Option<EncodeBits>,
    /// A filter of mayhap's in this format; an error where its bits were set by another hash.
    pub(crate) from_native: fn(AnyFilter) -> Result<StoredFilter, EncodeError>,
    /// What must be known about the keys before `create`.
    pub(crate) required_count: fn(&BuildOptions) -> RequiredCount,
    /// An empty filter for that many keys, sized by the rules of the system.
    pub(crate) create: Create,
    /// The parameters that are not in the file, or choose a variant.
    pub(crate) parameters: &'static [Parameter],
    /// Parses all parameters, so that a typing error is found before any work is done.
    pub(crate) check_parameters: fn(&Parameters) -> Result<(), ParameterError>,
    /// How a line of text becomes the bytes that the system hashes.
    pub(crate) key_reader: fn(KeyType, &Parameters) -> Result<KeyReader, ParameterError>,
}

type Decode = fn(&[u8], &OpenOptions, &Parameters) -> Result<Vec<OpenedFilter>, OpenError>;
/// Sizes an empty filter for a number of keys.
type Create = fn(&BuildOptions, u64) -> Result<FilterBuilder, BuildError>;

/// The function itself; in WebAssembly one that creates nothing. The page only reads other systems' files, and their builders would be
/// a part of what it loads.
pub(crate) const fn unless_wasm(create: Create) -> Create {
    if cfg!(target_arch = "wasm32") {
        |_, _| Err(BuildError::Native)
    } else {
        create
    }
}

type EncodeBits = fn(&ClassicBloom) -> Result<Vec<u8>, EncodeError>;
type Contents = for<'a> fn(&'a [u8], Limits) -> Result<Option<Cow<'a, [u8]>>, DecodeError>;

/// A parameter of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The values that it takes.
    pub values: &'static str,
}

/// How bytes of a format are recognised.
pub(crate) enum Detection {
    /// They begin with this magic number. Damaged files count: decoding them reports the damage.
    Magic(&'static [u8]),
    /// Decodes them: header and lengths fit each other in a way that other bytes hardly do.
    Structure(fn(&[u8], Limits) -> Result<StoredFilter, DecodeError>),
    /// The same where the bytes do not say what the bits mean, so that decoding needs the options.
    Shape {
        /// Header and lengths fit each other.
        fits: fn(&[u8]) -> bool,
        /// Files of this format, and no others, have such a name.
        is_named: fn(&str) -> bool,
    },
    /// There is no header. Bytes that could be of this format are only candidates.
    Candidate(fn(&[u8]) -> bool),
}

/// What the crate knows about a kind of file that holds filters among other data.
pub(crate) struct ContainerRow {
    /// What the file holds, uncompressed, if it is such a container.
    pub(crate) contents: Contents,
    /// The formats of the filters in it.
    pub(crate) formats: &'static [Format],
    /// Reads the filters from the contents.
    pub(crate) open: fn(&[u8], &OpenOptions) -> Result<Vec<OpenedFilter>, OpenError>,
}

macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident = $row:path,)*) => {
        /// A format of bytes.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Format {
            $($(#[$doc])* $format,)*
        }

        impl Format {
            /// All formats.
            pub const ALL: &[Self] = &[$(Self::$format),*];

            pub(crate) const fn row(self) -> &'static FormatRow {
                match self {
                    $(Self::$format => &$row,)*
                }
            }
        }
    };
}

macro_rules! containers {
    ($($(#[$doc:meta])* $container:ident = $row:path,)*) => {
        /// A file that holds filters among other data.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Container {
            $($(#[$doc])* $container,)*
        }

        impl Container {
            /// All containers.
            pub const ALL: &[Self] = &[$(Self::$container),*];

            pub(crate) const fn row(self) -> &'static ContainerRow {
                match self {
                    $(Self::$container => &$row,)*
                }
            }
        }
    };
}

formats! {
    /// mayhap's own files.
    Mayhap = native::ROW,
    /// Guava's `BloomFilter.writeTo`.
    Guava = guava::ROW,
    /// Hadoop's `BloomFilter`.
    Hadoop = hadoop::bloom::ROW,
    /// Hadoop's `CountingBloomFilter`.
    HadoopCounting = hadoop::counting::ROW,
    /// Hadoop's `DynamicBloomFilter`.
    HadoopDynamic = hadoop::dynamic::ROW,
    /// Hadoop's `RetouchedBloomFilter`.
    HadoopRetouched = hadoop::retouched::ROW,
    /// Spark's `BloomFilter.writeTo`, versions 1 and 2.
    Spark = spark::ROW,
    /// Granules of ClickHouse's `bloom_filter`.
    ClickHouse = clickhouse::ROW,
    /// A granule of ClickHouse's `tokenbf_v1` or `ngrambf_v1`.
    ClickHouseTokenbf = clickhouse::terms::ROW,
    /// LevelDB's filter.
    LevelDb = leveldb::ROW,
    /// RocksDB's full filter block.
    RocksDb = rocksdb::ROW,
    /// Parquet's bitset.
    Parquet = parquet::ROW,
    /// Header and chunks of RedisBloom's `BF.SCANDUMP`, concatenated.
    RedisBloom = redis::rows::BLOOM,
    /// Header and chunks of RedisBloom's `CF.SCANDUMP`, concatenated.
    RedisBloomCuckoo = redis::rows::CUCKOO,
    /// Redis's DUMP of either, and RDB files.
    RedisBloomDump = redis::rows::DUMP,
    /// Bitcoin's `filterload`, BIP 37.
    Bip37 = bip37::ROW,
    /// Cassandra's `*-Filter.db`.
    Cassandra = cassandra::ROW,
    /// A Bloom chunk of HBase's.
    HBase = hbase::ROW,
    /// Accumulo's `acu_bloom` block.
    Accumulo = accumulo::ROW,
}

containers! {
    /// A `.parquet` file.
    Parquet = parquet::file::CONTAINER,
    /// A Redis database file, `.rdb`.
    Rdb = redis::rdb::CONTAINER,
    /// A table of LevelDB, `.ldb`.
    LevelDbTable = table::LEVELDB_TABLE,
    /// A table of RocksDB, `.sst`.
    RocksDbTable = table::ROCKSDB_TABLE,
    /// An index of ClickHouse in its compressed frames, `.idx`.
    ClickHouseFrames = clickhouse::frames::CONTAINER,
    /// A store file of HBase's, versions 2 and 3.
    HFile = hbase::hfile::CONTAINER,
    /// A file of Accumulo's, `.rf`.
    RFile = accumulo::CONTAINER,
}

impl Format {
    /// The name on the command line, which files and users know it by.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// What writes such bytes, in a few words.
    pub const fn description(self) -> &'static str {
        self.row().description
    }

    /// Whether the bytes contain a checksum, so that changed bits are detected.
    pub const fn has_checksum(self) -> bool {
        self.row().has_checksum
    }

    /// The parameters that [`Parameters::new`] takes for it.
    pub const fn parameters(self) -> &'static [Parameter] {
        self.row().parameters
    }

    /// The format with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        let named = |format: &&Self| format.name() == name;
        Self::ALL.iter().find(named).copied()
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
