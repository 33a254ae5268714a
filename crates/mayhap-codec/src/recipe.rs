//! Making a filter of any format from a number of keys and a rate, or from its own measures.

use crate::filter::{Filter, Refused};
use crate::hadoop::{self, Clearing};
use crate::parameters::{ParameterError, Parameters};
use crate::{Format, bip37, clickhouse, guava, leveldb, parquet, redis, rocksdb, spark};
use mayhap_core::plan::classic::{self, ClassicPlan};
use mayhap_core::{ClassicBloom, HashScheme, PlanError, Scheme};
use std::collections::BTreeSet;
use std::fmt;

/// What a filter of another system's is to be.
#[derive(Clone, PartialEq, Debug)]
pub struct Recipe {
    /// The format, and what only it knows.
    pub parameters: Parameters,
    /// Keys that it is for.
    pub capacity: Option<u64>,
    /// The false-positive rate.
    pub rate: Option<f64>,
    /// Bits, in the place of capacity and rate.
    pub bits: Option<u64>,
    /// Bits that a key sets.
    pub probes: Option<u32>,
}

/// What has to be known of the keys before a filter can be sized.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs {
    /// Nothing: all measures are given.
    Nothing,
    /// How many there are.
    Count,
    /// How many different ones there are.
    Distinct,
}

/// Why there is no such filter.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum RecipeError {
    /// The measures do not make a filter.
    Plan(PlanError),
    /// A parameter is wrong.
    Parameter(ParameterError),
    /// Something must be given.
    Missing {
        /// The format.
        format: Format,
        /// What.
        what: &'static str,
    },
    /// mayhap's own filters are made by `mayhap` itself.
    Native,
}

impl fmt::Display for RecipeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::Parameter(error) => error.fmt(f),
            Self::Missing { format, what } => write!(f, "a {format} filter needs {what}"),
            Self::Native => f.write_str("mayhap's own filters have kinds, not recipes"),
        }
    }
}

impl std::error::Error for RecipeError {}

impl From<PlanError> for RecipeError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl From<ParameterError> for RecipeError {
    fn from(error: ParameterError) -> Self {
        Self::Parameter(error)
    }
}

/// The rate when none is given.
const RATE: f64 = 0.01;
/// LevelDB's and RocksDB's own advice.
const BITS_PER_KEY: f64 = 10.0;

impl Recipe {
    /// What has to be known of the keys first.
    pub fn needs(&self) -> Needs {
        let is_sized = self.capacity.is_some();
        match self.parameters.format {
            // One collects the values themselves, the other is told its size.
            Format::ClickHouse | Format::ClickHouseTokenbf => Needs::Nothing,
            Format::RocksDb if !is_sized => Needs::Distinct,
            Format::Parquet if self.bits.is_none() && !is_sized => Needs::Distinct,
            Format::Hadoop
            | Format::HadoopCounting
            | Format::HadoopDynamic
            | Format::HadoopRetouched
                if self.bits.is_some() && self.probes.is_some() =>
            {
                Needs::Nothing
            }
            _ if is_sized => Needs::Nothing,
            _ => Needs::Count,
        }
    }

    /// Begins a filter; `count` is what [`Recipe::needs`] asked for.
    ///
    /// # Errors
    /// When the measures do not make a filter, or one is missing.
    pub fn start(&self, count: u64) -> Result<Builder, RecipeError> {
        let format = self.parameters.format;
        let keys = self.capacity.unwrap_or(count);
        let filter = match format {
            Format::Mayhap => return Err(RecipeError::Native),
            Format::Guava => self.guava(keys)?,
            Format::Spark => self.spark(keys)?,
            Format::Hadoop
            | Format::HadoopCounting
            | Format::HadoopDynamic
            | Format::HadoopRetouched => self.hadoop(keys)?,
            Format::ClickHouse => {
                let Some(rate) = self.rate else {
                    return Err(self.missing("--fpr: the rate of the index, bloom_filter(rate)"));
                };
                let column = self.parameters.column_type()?;
                return Ok(Builder::Granule {
                    rate,
                    hashes: BTreeSet::new(),
                    is_array: matches!(column, Some(clickhouse::Type::Array(_))),
                });
            }
            Format::ClickHouseTokenbf => {
                let (Some(bits), Some(probes)) = (self.bits, self.probes) else {
                    return Err(
                        self.missing("--bits and --probes, as in tokenbf_v1(bytes, hashes, seed)")
                    );
                };
                let filter =
                    clickhouse::terms::create(bits.div_ceil(8), probes, self.parameters.seed()?)?;
                Filter::Terms {
                    filter,
                    ngram: self.parameters.ngram()?,
                }
            }
            Format::LevelDb => {
                let bits_per_key = self.bits_per_key()?;
                bits(format, leveldb::create(keys, bits_per_key as u32)?)
            }
            Format::RocksDb => {
                let bits_per_key = self.bits_per_key()?;
                let filter = if self.parameters.is_legacy()? {
                    rocksdb::create_legacy(keys, bits_per_key as u32)?
                } else {
                    rocksdb::create(keys, bits_per_key)?
                };
                bits(format, filter)
            }
            Format::Parquet => {
                let rate = self.rate.unwrap_or(RATE);
                let all = self.bits.unwrap_or_else(|| parquet::bits(keys, rate));
                bits(format, parquet::with_bytes(all.div_ceil(8))?)
            }
            Format::RedisBloom | Format::RedisBloomCuckoo | Format::RedisBloomDump => {
                self.redis(keys)?
            }
            Format::Bip37 => {
                let (tweak, flags) = self.parameters.tweak_and_flags()?;
                Filter::Bip37(self.bip37(keys, tweak, flags)?)
            }
        };
        Ok(Builder::Filter(Box::new(filter)))
    }

    fn missing(&self, what: &'static str) -> RecipeError {
        RecipeError::Missing {
            format: self.parameters.format,
            what,
        }
    }

    fn rate(&self) -> f64 {
        self.rate.unwrap_or(RATE)
    }

    fn guava(&self, keys: u64) -> Result<Filter, RecipeError> {
        let strategy = self.parameters.strategy()?;
        let probes = self.parameters.probes()?.or(self.probes);
        let mut filter = guava::create(keys, self.rate(), strategy, guava::ProbeRule::FromRate)?;
        if self.bits.is_some() || probes.is_some() {
            let all = self.bits.map(|bits| bits.next_multiple_of(64));
            let plan = filter.plan();
            let plan = ClassicPlan {
                capacity: plan.capacity,
                false_positive_rate: plan.false_positive_rate,
                ..ClassicPlan::with_bits_and_probes(
                    all.unwrap_or(plan.bits),
                    probes.unwrap_or(plan.probes),
                )?
            };
            filter = ClassicBloom::from_plan(plan, filter.scheme(), HashScheme::Caller)?;
        }
        Ok(bits(Format::Guava, filter))
    }

    fn spark(&self, keys: u64) -> Result<Filter, RecipeError> {
        let version = self.parameters.spark_version()?;
        let mut filter = match self.bits {
            Some(all) => spark::with_bits(keys, all, version)?,
            None => spark::create(keys, self.rate(), version)?,
        };
        if let Some(probes) = self.probes {
            let plan = ClassicPlan {
                capacity: filter.plan().capacity,
                false_positive_rate: filter.plan().false_positive_rate,
                ..ClassicPlan::with_bits_and_probes(filter.plan().bits, probes)?
            };
            filter = ClassicBloom::from_plan(plan, filter.scheme(), HashScheme::Caller)?;
        }
        Ok(bits(Format::Spark, filter))
    }

    /// Hadoop has no rule of its own for sizes; the best ones are taken.
    fn hadoop(&self, keys: u64) -> Result<Filter, RecipeError> {
        let format = self.parameters.format;
        // A row of a dynamic filter takes so many keys, and the measures are a row's.
        let row = match format {
            Format::HadoopDynamic => self.parameters.keys_a_row()?,
            _ => None,
        };
        let keys = row.map_or(keys, |row| u64::from(row.unsigned_abs())).max(1);
        let all = match self.bits {
            Some(all) => all,
            None => classic::bits(keys, self.rate())?,
        };
        let probes = self
            .probes
            .unwrap_or_else(|| classic::best_probes(all, keys));
        let vector_size = u32::try_from(all).map_err(|_| PlanError::InvalidInteger {
            field: "bits",
            value: all,
            accepted: "at most 2^31 - 1: fewer keys or a looser rate",
        })?;
        let hash = self.parameters.hash_type()?;
        Ok(match format {
            Format::HadoopCounting => {
                Filter::Counting(hadoop::counting::create(vector_size, probes, hash)?)
            }
            Format::HadoopDynamic => {
                let row = row.unwrap_or_else(|| i32::try_from(keys).unwrap_or(i32::MAX));
                Filter::Dynamic(hadoop::dynamic::create(vector_size, probes, hash, row)?)
            }
            Format::HadoopRetouched => {
                Filter::Retouched(hadoop::retouched::create(vector_size, probes, hash)?)
            }
            _ => bits(format, hadoop::bloom::create(vector_size, probes, hash)?),
        })
    }

    fn bits_per_key(&self) -> Result<f64, RecipeError> {
        if let Some(given) = self.parameters.bits_per_key()? {
            return Ok(given);
        }
        Ok(match self.rate {
            // As many bits as the textbook's filter has at that rate.
            Some(rate) => classic::ideal_bits_per_key(rate).ceil().clamp(1.0, 100.0),
            None => BITS_PER_KEY,
        })
    }

    fn redis(&self, keys: u64) -> Result<Filter, RecipeError> {
        let parameters = &self.parameters;
        let is_dump = parameters.format == Format::RedisBloomDump;
        let is_cuckoo = match parameters.format {
            Format::RedisBloomCuckoo => true,
            Format::RedisBloomDump => parameters.is_cuckoo()?,
            _ => false,
        };
        let filter = if is_cuckoo {
            let (bucket, iterations, expansion) = parameters.cuckoo_shape()?;
            let filter = redis::Cuckoo::reserve(keys.max(1), bucket, iterations, expansion)?;
            redis::Filter::Cuckoo(filter)
        } else {
            let expansion = parameters.expansion()?;
            redis::Filter::Bloom(redis::Bloom::reserve(self.rate(), keys.max(1), expansion)?)
        };
        let rdb = is_dump.then(|| parameters.rdb()).transpose()?;
        Ok(Filter::Redis { filter, rdb })
    }

    fn bip37(&self, keys: u64, tweak: u32, flags: u8) -> Result<bip37::Bip37, RecipeError> {
        let mut made = bip37::create(keys.max(1), self.rate(), tweak, flags)?;
        if self.bits.is_some() || self.probes.is_some() {
            let plan = made.filter.plan();
            let all = self.bits.map_or(plan.bits, |bits| bits.next_multiple_of(8));
            let plan = ClassicPlan {
                capacity: plan.capacity,
                false_positive_rate: plan.false_positive_rate,
                ..ClassicPlan::with_bits_and_probes(all, self.probes.unwrap_or(plan.probes))?
            };
            let scheme = Scheme::Bip37 { tweak };
            made.filter = ClassicBloom::from_plan(plan, scheme, HashScheme::Caller)?;
        }
        Ok(made)
    }
}

fn bits(format: Format, filter: ClassicBloom) -> Filter {
    Filter::Bits { format, filter }
}

/// A filter that is being filled.
#[derive(Clone, PartialEq, Debug)]
pub enum Builder {
    /// Keys go straight into it.
    Filter(Box<Filter>),
    /// ClickHouse sizes a granule by its distinct values, so that they are gathered first.
    Granule {
        /// Of the index.
        rate: f64,
        /// The distinct hashes.
        hashes: BTreeSet<u64>,
        /// Whether values are elements of arrays.
        is_array: bool,
    },
}

impl Builder {
    /// Puts a key in, as a [`KeyReader`](crate::KeyReader) of the same parameters made it.
    ///
    /// # Errors
    /// As [`Filter::insert`].
    pub fn insert(&mut self, key: &[u8]) -> Result<(), Refused> {
        match self {
            Self::Filter(filter) => filter.insert(key).map(drop),
            Self::Granule { hashes, .. } => match key.try_into() {
                Ok(hash) => {
                    hashes.insert(u64::from_le_bytes(hash));
                    Ok(())
                }
                Err(_) => Err(Refused::Unsupported {
                    format: Format::ClickHouse,
                    reason: "takes hashes of values: read keys with a reader of its parameters",
                }),
            },
        }
    }

    /// The filter with all its keys.
    ///
    /// # Errors
    /// When a granule has no values, or there is no memory for it.
    pub fn finish(self) -> Result<Filter, RecipeError> {
        match self {
            Self::Filter(filter) => Ok(*filter),
            Self::Granule {
                rate,
                mut hashes,
                is_array,
            } => {
                if is_array && hashes.is_empty() {
                    // ClickHouse adds the hash 0 when all arrays are empty.
                    hashes.insert(0);
                }
                let mut granule = clickhouse::Granule::build(&[hashes], rate)?;
                Ok(Filter::Column {
                    distinct: granule.distinct,
                    filter: granule.columns.remove(0),
                })
            }
        }
    }

    /// For a retouched filter: lists keys that were found to be in and are not, and clears a bit for each that still is, by the
    /// scheme of the parameters, if they have one. How many bits were cleared.
    ///
    /// # Errors
    /// When the filter is of another format, or a key is empty.
    pub fn retouch(
        &mut self,
        false_positives: &[impl AsRef<[u8]>],
        parameters: &Parameters,
    ) -> Result<u64, RecipeError> {
        let clearing = parameters.clearing()?;
        let Self::Filter(filter) = self else {
            return Ok(0);
        };
        let Filter::Retouched(filter) = &mut **filter else {
            return Ok(0);
        };
        for key in false_positives {
            // An empty key is in no filter of Hadoop's.
            let _ = filter.add_false_positive(key, 1.0);
        }
        let Some(clearing) = clearing else {
            return Ok(0);
        };
        let mut cleared = 0;
        for (number, key) in (0..).zip(false_positives) {
            let clearing = match clearing {
                // Any number does; a filter that is made again is to have the same bytes.
                Clearing::Random { .. } => Clearing::Random { number },
                other => other,
            };
            if filter.selective_clearing(key, clearing).is_ok() {
                cleared += 1;
            }
        }
        Ok(cleared)
    }
}
