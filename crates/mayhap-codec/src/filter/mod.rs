//! A filter of any format, known only at run time: what opens files of strangers and asks them.

mod convert;
mod describe;

pub use describe::{Description, Detail};

use crate::hadoop::{self, Dynamic, Retouched};
use crate::{
    EncodeError, Format, bip37, clickhouse, guava, leveldb, native, parquet, redis, rocksdb, spark,
};
use mayhap_core::{AnyFilter, ClassicBloom, CountingBloom, Full, KeyHash, Mismatch};
use std::fmt;

/// A filter and the format that it came in or is to be written in.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Filter {
    /// One of mayhap's own.
    Native(AnyFilter),
    /// Bits of another system's: Guava's, Hadoop's `BloomFilter`, Spark's, LevelDB's, RocksDB's or Parquet's.
    Bits {
        /// Whose.
        format: Format,
        /// The bits.
        filter: ClassicBloom,
    },
    /// Hadoop's `CountingBloomFilter`.
    Counting(CountingBloom),
    /// Hadoop's `DynamicBloomFilter`.
    Dynamic(Dynamic),
    /// Hadoop's `RetouchedBloomFilter`.
    Retouched(Retouched),
    /// A column of a granule of ClickHouse's `bloom_filter`. Its keys are the eight bytes of hashes.
    Column {
        /// How many distinct values the granule has.
        distinct: u64,
        /// The bits.
        filter: ClassicBloom,
    },
    /// A granule of ClickHouse's `tokenbf_v1` or, with a length, `ngrambf_v1`. Its keys are texts, which are in when all their
    /// terms are.
    Terms {
        /// The bits.
        filter: ClassicBloom,
        /// Code points of an n-gram.
        ngram: Option<usize>,
    },
    /// RocksDB's Ribbon.
    Ribbon(rocksdb::Ribbon),
    /// RedisBloom's, of either family, and the version of RDB when it is carried by DUMP.
    Redis {
        /// The filter.
        filter: redis::Filter,
        /// As in the trailer of DUMP.
        rdb: Option<u16>,
    },
    /// Bitcoin's.
    Bip37(bip37::Bip37),
    /// What LevelDB and RocksDB take for a filter without keys.
    Nothing(Format),
    /// What LevelDB and RocksDB take for one that says yes to all keys.
    Everything(Format),
}

/// What a filter of a format does not do.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Refused {
    /// The format has no way.
    Unsupported {
        /// The format.
        format: Format,
        /// What cannot be done, and what can.
        reason: &'static str,
    },
    /// One of mayhap's own refuses.
    Native(mayhap_core::OperationError),
    /// Hadoop would throw an exception.
    Hadoop(hadoop::Refused),
    /// There is no room.
    Full(Full),
    /// A counter of the key is full.
    Saturated(mayhap_core::Saturated),
    /// The two do not fit together.
    Mismatch(Mismatch),
    /// The two are of different formats.
    Formats {
        /// That of the filter that was to be changed.
        ours: Format,
        /// That of the other.
        theirs: Format,
    },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { format, reason } => write!(f, "a {format} filter {reason}"),
            Self::Native(refused) => refused.fmt(f),
            Self::Hadoop(refused) => refused.fmt(f),
            Self::Full(full) => full.fmt(f),
            Self::Saturated(saturated) => saturated.fmt(f),
            Self::Mismatch(mismatch) => mismatch.fmt(f),
            Self::Formats { ours, theirs } => write!(
                f,
                "a {ours} filter and a {theirs} filter share no bits: merge filters of one format"
            ),
        }
    }
}

impl std::error::Error for Refused {}

macro_rules! from {
    ($($error:ty => $variant:ident),*) => {
        $(impl From<$error> for Refused {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}

from! {
    mayhap_core::OperationError => Native, hadoop::Refused => Hadoop, Full => Full, mayhap_core::Saturated => Saturated, Mismatch => Mismatch
}

/// Why a filter for the caller's own hashes is not asked, after "a mayhap filter".
const NO_KEYS: &str = "that was made by `for_hashes` holds its maker's own hashes and knows no keys: ask it by `contains_hash` in the program that hashes them";

/// How many keys the filters without a batch of their own are asked at a time.
fn each<K: AsRef<[u8]>>(keys: &[K], found: &mut [bool], ask: impl Fn(&[u8]) -> bool) {
    assert_eq!(
        keys.len(),
        found.len(),
        "one place in `found` for every key"
    );
    for (key, found) in keys.iter().zip(found) {
        *found = ask(key.as_ref());
    }
}

/// The hash that the eight bytes of a key of ClickHouse's are; other keys have none.
fn column_hash(key: &[u8]) -> Option<KeyHash> {
    let bytes = key.try_into().ok()?;
    Some(KeyHash::from_u64(u64::from_le_bytes(bytes)))
}

impl Filter {
    /// The format.
    pub fn format(&self) -> Format {
        match self {
            Self::Native(_) => Format::Mayhap,
            Self::Bits { format, .. } | Self::Nothing(format) | Self::Everything(format) => *format,
            Self::Counting(_) => Format::HadoopCounting,
            Self::Dynamic(_) => Format::HadoopDynamic,
            Self::Retouched(_) => Format::HadoopRetouched,
            Self::Column { .. } => Format::ClickHouse,
            Self::Terms { .. } => Format::ClickHouseTokenbf,
            Self::Ribbon(_) => Format::RocksDb,
            Self::Redis { rdb: Some(_), .. } => Format::RedisBloomDump,
            Self::Redis { filter, rdb: None } => match filter {
                redis::Filter::Bloom(_) => Format::RedisBloom,
                redis::Filter::Cuckoo(_) => Format::RedisBloomCuckoo,
            },
            Self::Bip37(_) => Format::Bip37,
        }
    }

    /// Whether it can be asked about keys. A native filter that was made by `for_hashes` holds hashes of its maker's, and no file says
    /// how they come from keys.
    ///
    /// # Errors
    /// When it cannot.
    pub fn check_keys(&self) -> Result<(), Refused> {
        match self {
            Self::Native(filter) if !filter.accepts_key_bytes() => Err(Refused::Unsupported {
                format: Format::Mayhap,
                reason: NO_KEYS,
            }),
            _ => Ok(()),
        }
    }

    /// `false` is certain, but for retouched filters: the key was never put in. `true` is mayhap. Keys that the system refuses,
    /// as Hadoop does empty ones, are not in. Any key may be in a filter that [cannot be asked about keys](Self::check_keys).
    pub fn contains(&self, key: &[u8]) -> bool {
        match self {
            Self::Native(filter) => !filter.accepts_key_bytes() || filter.contains(key),
            Self::Bits { format, filter } => {
                (*format != Format::Hadoop || !key.is_empty()) && filter.contains(key)
            }
            Self::Counting(filter) => hadoop::counting::contains(filter, key).unwrap_or(false),
            Self::Dynamic(filter) => filter.contains(key).unwrap_or(false),
            Self::Retouched(filter) => filter.contains(key).unwrap_or(false),
            Self::Column { filter, .. } => {
                column_hash(key).is_some_and(|hash| filter.contains_hash(hash))
            }
            Self::Terms { filter, ngram } => match ngram {
                None => clickhouse::terms::contains_tokens(filter, key),
                Some(n) => clickhouse::terms::contains_ngrams(filter, key, *n),
            },
            Self::Ribbon(filter) => filter.contains(key),
            Self::Redis { filter, .. } => filter.contains(key),
            Self::Bip37(filter) => filter.filter.contains(key),
            Self::Nothing(_) => false,
            Self::Everything(_) => true,
        }
    }

    /// `contains` for many keys.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length.
    pub fn contains_each(&self, keys: &[impl AsRef<[u8]>], found: &mut [bool]) {
        match self {
            Self::Native(filter) if filter.accepts_key_bytes() => filter.contains_each(keys, found),
            Self::Bits { format, filter } if *format != Format::Hadoop => {
                filter.contains_each(keys, found);
            }
            Self::Bip37(filter) => filter.filter.contains_each(keys, found),
            _ => each(keys, found, |key| self.contains(key)),
        }
    }

    /// Puts a key in. `Ok(true)`: it was surely new.
    ///
    /// # Errors
    /// When the format or kind takes no keys, refuses this one, or there is no room. Nothing is changed then.
    pub fn insert(&mut self, key: &[u8]) -> Result<bool, Refused> {
        self.check_keys()?;
        let format = self.format();
        let unsupported = |reason| Err(Refused::Unsupported { format, reason });
        match self {
            Self::Native(filter) => Ok(filter.try_insert(key)?),
            Self::Bits { format, filter } if *format == Format::Hadoop => {
                Ok(hadoop::bloom::add(filter, key)?)
            }
            Self::Bits { filter, .. } => Ok(filter.insert(key)),
            Self::Counting(filter) => Ok(hadoop::counting::add(filter, key)?),
            Self::Dynamic(filter) => {
                let was_in = filter.contains(key)?;
                filter.add(key)?;
                Ok(!was_in)
            }
            Self::Retouched(filter) => {
                let was_in = filter.contains(key)?;
                filter.add(key, 1.0)?;
                Ok(!was_in)
            }
            Self::Terms { filter, ngram } => {
                let mut new = false;
                let mut insert = |term: &[u8]| new |= filter.insert(term);
                match ngram {
                    None => clickhouse::terms::tokens(key).for_each(&mut insert),
                    Some(n) => clickhouse::terms::ngrams(key, *n).for_each(&mut insert),
                }
                Ok(new)
            }
            Self::Redis { filter, .. } => match filter {
                redis::Filter::Bloom(filter) => Ok(filter.try_insert(key)?),
                redis::Filter::Cuckoo(filter) => {
                    let was_in = filter.contains(key);
                    filter.try_insert(key)?;
                    Ok(!was_in)
                }
            },
            Self::Bip37(filter) => Ok(filter.filter.insert(key)),
            Self::Column { .. } => unsupported(
                "is made for the distinct values of its rows and takes no more: build it anew from all of them",
            ),
            Self::Ribbon(_) | Self::Nothing(_) | Self::Everything(_) => {
                unsupported("of this kind takes no keys: build one anew from all of them")
            }
        }
    }

    /// Takes a key out. `Ok(false)`: it was certainly not in, and nothing was changed.
    ///
    /// # Errors
    /// When the format or kind does not know how, or a counter of the key is full. Nothing is changed then.
    pub fn remove(&mut self, key: &[u8]) -> Result<bool, Refused> {
        self.check_keys()?;
        match self {
            Self::Native(filter) => Ok(filter.remove(key)?),
            Self::Counting(filter) => match hadoop::counting::delete(filter, key) {
                Ok(()) => Ok(true),
                Err(hadoop::Refused::NotAMember) => Ok(false),
                Err(refused) => Err(refused.into()),
            },
            Self::Redis {
                filter: redis::Filter::Cuckoo(filter),
                ..
            } => Ok(filter.remove(key)),
            _ => Err(Refused::Unsupported {
                format: self.format(),
                reason: "cannot lose a key: a counting or cuckoo filter can",
            }),
        }
    }

    /// Takes in all keys of another filter of the same format and shape.
    ///
    /// # Errors
    /// When the two differ, or the format does not know how. Nothing is changed then.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Refused> {
        match (&mut *self, other) {
            (Self::Native(ours), Self::Native(theirs)) => Ok(ours.union_with(theirs)?),
            (
                Self::Bits { format, filter },
                Self::Bits {
                    format: other,
                    filter: theirs,
                },
            ) if format == other => Ok(filter.union_with(theirs)?),
            (Self::Counting(ours), Self::Counting(theirs)) => Ok(ours.union_with(theirs)?),
            (Self::Dynamic(ours), Self::Dynamic(theirs)) => Ok(ours.or(theirs)?),
            (
                Self::Terms { filter, ngram },
                Self::Terms {
                    filter: theirs,
                    ngram: other,
                },
            ) if ngram == other => Ok(filter.union_with(theirs)?),
            (Self::Bip37(ours), Self::Bip37(theirs)) => {
                Ok(ours.filter.union_with(&theirs.filter)?)
            }
            (ours, theirs) if ours.format() != theirs.format() => Err(Refused::Formats {
                ours: ours.format(),
                theirs: theirs.format(),
            }),
            (ours, _) => Err(Refused::Unsupported {
                format: ours.format(),
                reason: "cannot take in another: build one anew from all keys",
            }),
        }
    }

    /// The bytes of the filter in its format.
    ///
    /// # Errors
    /// When there are no bytes for it.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let refuse = |reason| {
            Err(EncodeError {
                format: self.format(),
                reason,
            })
        };
        match self {
            Self::Native(filter) => native::encode(filter),
            Self::Bits { format, filter } => match format {
                Format::Guava => guava::encode(filter),
                Format::Hadoop => hadoop::bloom::encode(filter),
                Format::Spark => spark::encode(filter),
                Format::LevelDb => leveldb::encode(filter),
                Format::RocksDb => rocksdb::encode(filter),
                Format::Parquet => parquet::encode(filter),
                _ => refuse("it is more than bits"),
            },
            Self::Counting(filter) => hadoop::counting::encode(filter),
            Self::Dynamic(filter) => hadoop::dynamic::encode(filter),
            Self::Retouched(filter) => hadoop::retouched::encode(filter),
            Self::Column { distinct, filter } => {
                let granule = clickhouse::Granule {
                    distinct: *distinct,
                    columns: vec![filter.clone()],
                };
                Ok(clickhouse::encode(&[granule]))
            }
            Self::Terms { filter, .. } => clickhouse::terms::encode(filter),
            Self::Redis { filter, rdb } => Ok(match (filter, rdb) {
                (filter, Some(rdb)) => filter.dump(*rdb),
                (redis::Filter::Bloom(filter), None) => redis::bloom::encode(filter),
                (redis::Filter::Cuckoo(filter), None) => redis::cuckoo::encode(filter),
            }),
            Self::Bip37(filter) => bip37::encode(filter),
            Self::Ribbon(_) => refuse("ribbons can be read and not written"),
            Self::Nothing(_) | Self::Everything(_) => refuse("it has no bits"),
        }
    }
}
