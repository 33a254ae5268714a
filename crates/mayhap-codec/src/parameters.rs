//! What a format does not keep in its files, or is to be told when one is made: `name=value`, as the command line's `-P` has it.

use crate::clickhouse::Type;
use crate::guava::Strategy;
use crate::hadoop::{Clearing, HashType};
use crate::keys::{Funnel, KeyReader, KeyType};
use crate::{Format, redis, spark};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Parameters of a format; what was not given has the system's own default.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameters {
    /// The format that they are for.
    pub format: Format,
    given: Vec<(String, String)>,
}

/// A parameter that a format does not have, or not with this value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParameterError {
    given: String,
    expected: String,
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "-P {}: give {}", self.given, self.expected)
    }
}

impl std::error::Error for ParameterError {}

/// The names that each format knows.
fn names(format: Format) -> &'static [&'static str] {
    match format {
        Format::Guava => &["strategy", "funnel", "k"],
        Format::Hadoop | Format::HadoopCounting => &["hash"],
        Format::HadoopDynamic => &["hash", "nr"],
        Format::HadoopRetouched => &["hash", "scheme", "false_positives"],
        Format::Spark => &["version", "seed"],
        Format::ClickHouse => &["type"],
        Format::ClickHouseTokenbf => &["seed", "ngram"],
        Format::LevelDb => &["bits_per_key"],
        Format::RocksDb => &["bits_per_key", "variant"],
        Format::RedisBloom => &["expansion"],
        Format::RedisBloomCuckoo => &["bucket", "iterations", "expansion"],
        Format::RedisBloomDump => &["family", "rdb", "expansion", "bucket", "iterations"],
        Format::Bip37 => &["tweak", "flags"],
        // Of its retouched filters.
        Format::Mayhap => &["scheme", "false_positives"],
        Format::Parquet => &[],
    }
}

impl Parameters {
    /// Reads `name=value` for a format; every value is checked.
    ///
    /// # Errors
    /// When the format has no such parameter, or it cannot have this value.
    pub fn new(
        format: Format,
        given: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, ParameterError> {
        let mut parameters = Self {
            format,
            given: Vec::new(),
        };
        for text in given {
            let text = text.as_ref();
            let known = names(format);
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            if !known.contains(&name) || value.is_empty() {
                return Err(ParameterError {
                    given: text.to_owned(),
                    expected: match known {
                        [] => format!("none: a {format} filter has no parameters of its own"),
                        known => {
                            format!("name=value: a {format} filter knows {}", known.join(", "))
                        }
                    },
                });
            }
            parameters.given.push((name.to_owned(), value.to_owned()));
        }
        parameters.check()?;
        Ok(parameters)
    }

    /// All of them, so that a typing error is found before any work is done.
    fn check(&self) -> Result<(), ParameterError> {
        match self.format {
            Format::Guava => {
                self.strategy()?;
                self.probes()?;
                self.funnel()?;
            }
            Format::Hadoop | Format::HadoopCounting => drop(self.hash_type()?),
            Format::HadoopDynamic => {
                self.hash_type()?;
                self.keys_a_row()?;
            }
            Format::HadoopRetouched => {
                self.hash_type()?;
                self.clearing()?;
            }
            Format::Mayhap => drop(self.clearing()?),
            Format::Spark => drop(self.spark_version()?),
            Format::ClickHouse => drop(self.column_type()?),
            Format::ClickHouseTokenbf => {
                self.seed()?;
                self.ngram()?;
            }
            Format::LevelDb | Format::RocksDb => {
                self.bits_per_key()?;
                self.is_legacy()?;
            }
            Format::RedisBloom => drop(self.expansion()?),
            Format::RedisBloomCuckoo => drop(self.cuckoo_shape()?),
            Format::RedisBloomDump => {
                self.rdb()?;
                if self.is_cuckoo()? {
                    self.cuckoo_shape()?;
                } else {
                    self.expansion()?;
                }
            }
            Format::Bip37 => drop(self.tweak_and_flags()?),
            Format::Parquet => {}
        }
        Ok(())
    }

    fn get(&self, name: &str) -> Option<&str> {
        // The last one counts, as with flags.
        let given = self.given.iter().rev().find(|given| given.0 == name);
        given.map(|(_, value)| value.as_str())
    }

    fn one_of<T>(
        &self,
        name: &'static str,
        expected: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ParameterError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match read(value) {
            Some(read) => Ok(Some(read)),
            None => Err(ParameterError {
                given: format!("{name}={value}"),
                expected: expected.to_owned(),
            }),
        }
    }

    fn number<T: FromStr>(
        &self,
        name: &'static str,
        expected: &str,
        accept: impl FnOnce(&T) -> bool,
    ) -> Result<Option<T>, ParameterError> {
        self.one_of(name, expected, |value| value.parse().ok().filter(accept))
    }

    pub(crate) fn strategy(&self) -> Result<Strategy, ParameterError> {
        let given = self.one_of("strategy", "mitz32 or mitz64", |value| match value {
            "mitz32" => Some(Strategy::Mitz32),
            "mitz64" => Some(Strategy::Mitz64),
            _ => None,
        })?;
        Ok(given.unwrap_or(Strategy::Mitz64))
    }

    fn funnel(&self) -> Result<Option<Funnel>, ParameterError> {
        self.one_of("funnel", "bytes, chars, int or long", |value| match value {
            "bytes" => Some(Funnel::Bytes),
            "chars" => Some(Funnel::Chars),
            "int" => Some(Funnel::Int),
            "long" => Some(Funnel::Long),
            _ => None,
        })
    }

    pub(crate) fn probes(&self) -> Result<Option<u32>, ParameterError> {
        self.number("k", "1 to 255", |k| (1..=255).contains(k))
    }

    pub(crate) fn hash_type(&self) -> Result<HashType, ParameterError> {
        let given = self.one_of("hash", "murmur or jenkins", |value| match value {
            "murmur" => Some(HashType::Murmur),
            "jenkins" => Some(HashType::Jenkins),
            _ => None,
        })?;
        Ok(given.unwrap_or(HashType::Murmur))
    }

    pub(crate) fn keys_a_row(&self) -> Result<Option<i32>, ParameterError> {
        self.number("nr", "keys a row, 1 to 2^31 - 1", |&nr| nr > 0)
    }

    /// Which bit is cleared for each false positive; none is when nobody says.
    ///
    /// # Errors
    /// None that [`Parameters::new`] has not told of.
    pub fn clearing(&self) -> Result<Option<Clearing>, ParameterError> {
        let names = "random, minimum_fn, maximum_fp or ratio";
        self.one_of("scheme", names, |value| {
            match value.to_ascii_lowercase().as_str() {
                "random" | "0" => Some(Clearing::Random { number: 0 }),
                "minimum_fn" | "1" => Some(Clearing::MinimumFalseNegatives),
                "maximum_fp" | "2" => Some(Clearing::MaximumFalsePositives),
                "ratio" | "3" => Some(Clearing::Ratio),
                _ => None,
            }
        })
    }

    /// The file that lists the false positives to be cleared.
    pub fn false_positives(&self) -> Option<PathBuf> {
        self.get("false_positives").map(PathBuf::from)
    }

    pub(crate) fn spark_version(&self) -> Result<spark::Version, ParameterError> {
        let version = self.number("version", "1 or 2", |version| (1..=2).contains(version))?;
        let seed = self.number("seed", "a whole number of 32 bits", |_: &i32| true)?;
        match (version.unwrap_or(2), seed) {
            (1, None) => Ok(spark::Version::One),
            (1, Some(seed)) => Err(ParameterError {
                given: format!("seed={seed}"),
                expected: "version=2 with a seed: version 1 has none".into(),
            }),
            (_, seed) => Ok(spark::Version::Two {
                seed: seed.unwrap_or(0),
            }),
        }
    }

    pub(crate) fn column_type(&self) -> Result<Option<Type>, ParameterError> {
        let names = "a type of ClickHouse's: u8..i64, string, fixedstring(N), float32, float64, date, datetime, uuid, u128, \
                     nullable(..) or array(..)";
        self.one_of("type", names, Type::parse)
    }

    pub(crate) fn seed(&self) -> Result<u64, ParameterError> {
        let given = self.number("seed", "a whole number of 64 bits", |_: &u64| true)?;
        Ok(given.unwrap_or(0))
    }

    pub(crate) fn ngram(&self) -> Result<Option<usize>, ParameterError> {
        self.number("ngram", "1 to 1000", |n| (1..=1000).contains(n))
    }

    pub(crate) fn bits_per_key(&self) -> Result<Option<f64>, ParameterError> {
        let accepted = "bits for a key, 1 to 100";
        self.number("bits_per_key", accepted, |bits| {
            (1.0..=100.0).contains(bits)
        })
    }

    pub(crate) fn is_legacy(&self) -> Result<bool, ParameterError> {
        let given = self.one_of("variant", "fast or legacy", |value| match value {
            "fast" => Some(false),
            "legacy" => Some(true),
            _ => None,
        })?;
        Ok(given.unwrap_or(false))
    }

    /// How many times as large each layer is; none when the filter does not grow.
    pub(crate) fn expansion(&self) -> Result<Option<u32>, ParameterError> {
        let accepted = "nonscaling, or how many times as large each layer is, 1 to 32768";
        let given = self.one_of("expansion", accepted, |value| match value {
            "nonscaling" => Some(None),
            number => {
                let number = number.parse().ok();
                number.filter(|n| (1..=32_768).contains(n)).map(Some)
            }
        })?;
        Ok(given.unwrap_or(Some(redis::Bloom::DEFAULTS.2)))
    }

    /// Bucket size, iterations and expansion.
    pub(crate) fn cuckoo_shape(&self) -> Result<(u8, u16, u16), ParameterError> {
        let (_, bucket, iterations, expansion) = redis::Cuckoo::DEFAULTS;
        let given =
            |name, accepted, most: u16| self.number(name, accepted, move |&number| number <= most);
        let bucket_given = given("bucket", "1 to 255", 255)?.map(|bucket| bucket as u8);
        Ok((
            bucket_given.unwrap_or(bucket),
            given("iterations", "1 to 65535", u16::MAX)?.unwrap_or(iterations),
            given("expansion", "0 to 32768", 32_768)?.unwrap_or(expansion),
        ))
    }

    pub(crate) fn is_cuckoo(&self) -> Result<bool, ParameterError> {
        let given = self.one_of("family", "bf or cf", |value| match value {
            "bf" => Some(false),
            "cf" => Some(true),
            _ => None,
        })?;
        Ok(given.unwrap_or(false))
    }

    pub(crate) fn rdb(&self) -> Result<u16, ParameterError> {
        let accepted = "the engine's version of RDB: 10 for Redis 7.0, 12 for 7.4 and later";
        let given = self.number("rdb", accepted, |rdb| (1..=999).contains(rdb))?;
        Ok(given.unwrap_or(10))
    }

    pub(crate) fn tweak_and_flags(&self) -> Result<(u32, u8), ParameterError> {
        let tweak = self.number("tweak", "a whole number of 32 bits", |_: &u32| true)?;
        let flags = self.number("flags", "0 to 255", |_: &u8| true)?;
        Ok((tweak.unwrap_or(0), flags.unwrap_or(0)))
    }

    /// What turns lines into keys of this format.
    ///
    /// # Errors
    /// None that [`Parameters::new`] has not told of.
    pub fn key_reader(&self, key_type: KeyType) -> Result<KeyReader, ParameterError> {
        let reader = KeyReader::new(self.format, key_type);
        Ok(match self.format {
            Format::Guava => match self.funnel()? {
                Some(funnel) => reader.funnel(funnel),
                None => reader,
            },
            Format::ClickHouse => match self.column_type()? {
                Some(column) => reader.column_type(column),
                None => reader,
            },
            _ => reader,
        })
    }
}
