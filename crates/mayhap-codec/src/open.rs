//! From the bytes of a file to the filters in it, whatever system wrote them.

use crate::filter::Filter;
use crate::parameters::{ParameterError, Parameters};
use crate::sniff::{self, Container, Sniffed};
use crate::table::{Filters, Table};
use crate::{
    DecodeError, Format, Limits, Problem, bip37, clickhouse, guava, hadoop, leveldb, native,
    parquet, redis, rocksdb, spark,
};
use mayhap_core::SipKey;
use std::fmt;

/// What a file does not say by itself.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Opening {
    /// The format; by the bytes when not given.
    pub format: Option<Format>,
    /// `name=value`, as the format knows them.
    pub parameters: Vec<String>,
    /// The rate of a ClickHouse index.
    pub rate: Option<f64>,
    /// The hashes of a ClickHouse index of terms.
    pub probes: Option<u32>,
    /// Columns of a ClickHouse index; 1 when not given.
    pub columns: Option<usize>,
    /// The secret key of a native file that does not contain it.
    pub key: Option<SipKey>,
    /// How much memory may be taken.
    pub limits: Limits,
}

/// Where in a file a filter was.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// The row group of a Parquet file.
    pub row_group: Option<u64>,
    /// The column of a Parquet file, or its number in an index of ClickHouse's.
    pub column: Option<String>,
    /// How the column's values are stored.
    pub physical_type: Option<i64>,
    /// The key in an RDB file.
    pub key: Option<Vec<u8>>,
    /// The number of a granule, or of a filter in a table of LevelDB's.
    pub granule: Option<u64>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.row_group.map(|number| format!("row group {number}")),
            self.column.as_ref().map(|name| format!("column {name}")),
            self.key
                .as_ref()
                .map(|key| format!("key {:?}", String::from_utf8_lossy(key))),
            self.granule.map(|number| format!("granule {number}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}

/// A filter and its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// Where it was; empty in a file that is a filter and nothing else.
    pub place: Place,
    /// The filter.
    pub filter: Filter,
}

/// Why a file was not opened.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// It could be of several formats, and nobody said which.
    Ambiguous(Vec<Format>),
    /// It is of no format that is known.
    Unknown,
    /// The format does not keep this in its files.
    Missing {
        /// The format.
        format: Format,
        /// What must be said.
        what: &'static str,
    },
    /// A parameter is wrong.
    Parameter(ParameterError),
    /// It is damaged, or of another format than was said.
    Decode(DecodeError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ambiguous(formats) => {
                let names: Vec<&str> = formats.iter().map(|format| format.name()).collect();
                write!(
                    f,
                    "it could be of these formats: {}; say which with --from",
                    names.join(", ")
                )
            }
            Self::Unknown => f.write_str("it is no filter of a format that is known"),
            Self::Missing { format, what } => {
                write!(f, "a {format} file does not say all: give {what}")
            }
            Self::Parameter(error) => error.fmt(f),
            Self::Decode(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<DecodeError> for OpenError {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

impl From<ParameterError> for OpenError {
    fn from(error: ParameterError) -> Self {
        Self::Parameter(error)
    }
}

/// Opens the bytes of a file: a filter, or a container of filters.
///
/// # Errors
/// When nobody can say what it is, something that it does not say was not said, or it is damaged.
pub fn open(bytes: &[u8], opening: &Opening) -> Result<Vec<Found>, OpenError> {
    // Only the magic: a damaged file of ours is to be told as such.
    if bytes.starts_with(&native::MAGIC) && opening.format.is_none() {
        return filters(bytes, Format::Mayhap, opening);
    }
    // Whoever says `leveldb` may mean a table as well as a filter: containers can be told from filters.
    if let Some(container) = sniff::container(bytes)
        && opening.format.is_none_or(|told| holds(container, told))
    {
        return in_container(bytes, container, opening);
    }
    match opening.format {
        Some(format) => filters(bytes, format, opening),
        None => match sniff::sniff(bytes) {
            Sniffed::Filter(format) => filters(bytes, format, opening),
            Sniffed::Container(container) => in_container(bytes, container, opening),
            Sniffed::Candidates(formats) if formats.is_empty() => Err(OpenError::Unknown),
            Sniffed::Candidates(formats) => Err(OpenError::Ambiguous(formats)),
        },
    }
}

/// Whether filters of that format lie in such containers.
fn holds(container: Container, format: Format) -> bool {
    match container {
        Container::Parquet => format == Format::Parquet,
        Container::LevelDbTable => format == Format::LevelDb,
        Container::RocksDbTable => format == Format::RocksDb,
        Container::ClickHouseFrames => {
            matches!(format, Format::ClickHouse | Format::ClickHouseTokenbf)
        }
        Container::Rdb => matches!(
            format,
            Format::RedisBloomDump | Format::RedisBloom | Format::RedisBloomCuckoo
        ),
    }
}

fn alone(filter: Filter) -> Vec<Found> {
    vec![Found {
        place: Place::default(),
        filter,
    }]
}

fn filters(bytes: &[u8], format: Format, opening: &Opening) -> Result<Vec<Found>, OpenError> {
    let parameters = Parameters::new(format, &opening.parameters)?;
    let bits = |filter| Filter::Bits { format, filter };
    Ok(alone(match format {
        Format::Mayhap => Filter::Native(match opening.key {
            None => native::decode(bytes, opening.limits)?,
            Some(key) => native::decode_with_key(bytes, opening.limits, key)?,
        }),
        Format::Guava => bits(guava::decode(bytes)?),
        Format::Hadoop => bits(hadoop::bloom::decode(bytes)?),
        Format::HadoopCounting => Filter::Counting(hadoop::counting::decode(bytes)?),
        Format::HadoopDynamic => Filter::Dynamic(hadoop::dynamic::decode(bytes)?),
        Format::HadoopRetouched => Filter::Retouched(hadoop::retouched::decode(bytes)?),
        Format::Spark => bits(spark::decode(bytes)?),
        Format::ClickHouse => return granules(bytes, opening),
        Format::ClickHouseTokenbf => return terms(bytes, opening, &parameters),
        Format::LevelDb => leveldb_filter(leveldb::decode(bytes)?),
        Format::RocksDb => rocksdb_filter(rocksdb::decode(bytes)?),
        Format::Parquet => bits(parquet::decode(bytes)?),
        Format::RedisBloom => Filter::Redis {
            filter: redis::Filter::Bloom(redis::bloom::decode(bytes)?),
            rdb: None,
        },
        Format::RedisBloomCuckoo => Filter::Redis {
            filter: redis::Filter::Cuckoo(redis::cuckoo::decode(bytes)?),
            rdb: None,
        },
        Format::RedisBloomDump => Filter::Redis {
            filter: redis::dump::decode(bytes, opening.limits)?,
            rdb: redis::dump::rdb_version(bytes),
        },
        Format::Bip37 => Filter::Bip37(bip37::decode(bytes)?),
    }))
}

fn leveldb_filter(filter: leveldb::Filter) -> Filter {
    match filter {
        leveldb::Filter::Nothing => Filter::Nothing(Format::LevelDb),
        leveldb::Filter::Everything => Filter::Everything(Format::LevelDb),
        leveldb::Filter::Bloom(filter) => Filter::Bits {
            format: Format::LevelDb,
            filter,
        },
    }
}

fn rocksdb_filter(filter: rocksdb::Filter) -> Filter {
    match filter {
        rocksdb::Filter::Nothing => Filter::Nothing(Format::RocksDb),
        rocksdb::Filter::Everything => Filter::Everything(Format::RocksDb),
        rocksdb::Filter::Ribbon(filter) => Filter::Ribbon(filter),
        rocksdb::Filter::Bloom(filter) => Filter::Bits {
            format: Format::RocksDb,
            filter,
        },
    }
}

/// A filter by itself takes so many bytes besides its bits.
const FILTER_BYTES: u64 = 256;

/// Whether so many filters may be made of so few bytes.
fn check_count(
    format: Format,
    filters: usize,
    bytes: &[u8],
    limits: Limits,
) -> Result<(), OpenError> {
    let needed = FILTER_BYTES * filters as u64 + bytes.len() as u64;
    if needed <= limits.max_bytes {
        return Ok(());
    }
    Err(OpenError::Decode(DecodeError {
        format,
        offset: 0,
        problem: Problem::TooLarge {
            bytes: needed,
            limit: limits.max_bytes,
        },
    }))
}

fn granules(bytes: &[u8], opening: &Opening) -> Result<Vec<Found>, OpenError> {
    let format = Format::ClickHouse;
    let Some(rate) = opening.rate else {
        let what = "--fpr, the rate of the index, bloom_filter(rate)";
        return Err(OpenError::Missing { format, what });
    };
    let columns = opening.columns.unwrap_or(1);
    let granules = clickhouse::decode(bytes, rate, columns)?;
    check_count(format, granules.len() * columns, bytes, opening.limits)?;
    let mut found = Vec::with_capacity(granules.len() * columns);
    for number in 0..granules.len() {
        let granule = granules.get(number)?;
        for (column, filter) in (1..).zip(granule.columns) {
            found.push(Found {
                place: Place {
                    granule: (granules.len() > 1).then_some(number as u64),
                    column: (columns > 1).then(|| format!("{column}")),
                    ..Place::default()
                },
                filter: Filter::Column {
                    distinct: granule.distinct,
                    filter,
                },
            });
        }
    }
    Ok(found)
}

fn terms(
    bytes: &[u8],
    opening: &Opening,
    parameters: &Parameters,
) -> Result<Vec<Found>, OpenError> {
    let format = Format::ClickHouseTokenbf;
    let Some(probes) = opening.probes else {
        let what = "--probes, and -P seed= if it has one, as in tokenbf_v1(bytes, hashes, seed)";
        return Err(OpenError::Missing { format, what });
    };
    let filter = clickhouse::terms::decode(bytes, probes, parameters.seed()?)?;
    let ngram = parameters.ngram()?;
    Ok(alone(Filter::Terms { filter, ngram }))
}

fn in_container(
    bytes: &[u8],
    container: Container,
    opening: &Opening,
) -> Result<Vec<Found>, OpenError> {
    match container {
        Container::Parquet => {
            let mut found = Vec::new();
            for column in parquet::file::columns(bytes)? {
                let filter = parquet::file::filter(bytes, &column)?;
                found.push(Found {
                    place: Place {
                        row_group: Some(column.row_group as u64),
                        column: Some(column.name),
                        physical_type: Some(column.physical_type),
                        ..Place::default()
                    },
                    filter: Filter::Bits {
                        format: Format::Parquet,
                        filter,
                    },
                });
            }
            Ok(found)
        }
        Container::LevelDbTable | Container::RocksDbTable => in_table(bytes, opening),
        Container::ClickHouseFrames => {
            let inside = clickhouse::frames::decompress(bytes, opening.limits)?;
            match opening.format {
                Some(format) => filters(&inside, format, opening),
                None if opening.rate.is_some() => filters(&inside, Format::ClickHouse, opening),
                None if opening.probes.is_some() => {
                    filters(&inside, Format::ClickHouseTokenbf, opening)
                }
                None => Err(OpenError::Missing {
                    format: Format::ClickHouse,
                    what: "--fpr, the rate of a bloom_filter index, or --probes of a tokenbf_v1 or ngrambf_v1",
                }),
            }
        }
        Container::Rdb => {
            let entries = redis::rdb::filters(bytes, opening.limits)?.into_iter();
            let found = entries.map(|entry| Found {
                place: Place {
                    key: Some(entry.key),
                    ..Place::default()
                },
                filter: Filter::Redis {
                    filter: entry.filter,
                    rdb: Some(10),
                },
            });
            Ok(found.collect())
        }
    }
}

fn in_table(bytes: &[u8], opening: &Opening) -> Result<Vec<Found>, OpenError> {
    match Table::open(bytes, opening.limits)?.filters()? {
        None => Ok(Vec::new()),
        Some(Filters::Whole(filter)) => Ok(alone(rocksdb_filter(filter))),
        Some(Filters::Blocks(block)) => {
            check_count(Format::LevelDb, block.len(), bytes, opening.limits)?;
            let filter = |number| -> Result<Found, OpenError> {
                Ok(Found {
                    place: Place {
                        granule: Some(number as u64),
                        ..Place::default()
                    },
                    filter: leveldb_filter(block.filter(number)?),
                })
            };
            (0..block.len()).map(filter).collect()
        }
    }
}
