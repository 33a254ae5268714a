//! Creates a filter of any format from a number of keys and a rate, or from its exact shape.

use crate::clickhouse::GranuleBuilder;
use crate::filter::{FilterError, StoredFilter};
use crate::format::Format;
use crate::hadoop;
use crate::open::{Setting, joined};
use crate::parameters::{ParameterError, Parameters};
use mayhap_core::plan::classic::{self, ClassicPlan};
use mayhap_core::{ClassicBloom, PlanError};
use std::fmt;

/// The format and the shape of a filter of another system that is to be built.
#[derive(Clone, PartialEq, Debug)]
pub struct BuildOptions {
    /// The format, and the parameters that only it has.
    pub parameters: Parameters,
    /// The number of keys that it is sized for.
    pub capacity: Option<u64>,
    /// The false-positive rate.
    pub rate: Option<f64>,
    /// Bits, instead of capacity and rate.
    pub bits: Option<u64>,
    /// Bits that a key sets.
    pub probes: Option<u32>,
}

/// What must be known about the keys before a filter can be sized.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequiredCount {
    /// Nothing: the options give the shape.
    Nothing,
    /// The number of keys.
    Keys,
    /// The number of distinct keys.
    DistinctKeys,
}

/// Why a filter cannot be created.
#[derive(Clone, PartialEq, Debug)]
pub enum BuildError {
    /// No filter has this shape.
    Plan(PlanError),
    /// A parameter is wrong.
    Parameter(ParameterError),
    /// The format needs settings that the options do not have.
    Missing {
        /// The format.
        format: Format,
        /// The settings, of which all are needed.
        all_of: &'static [Setting],
        /// Where their values are found.
        definition: &'static str,
    },
    /// mayhap's own filters have kinds, and are created by their own types.
    Native,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::Parameter(error) => error.fmt(f),
            Self::Missing {
                format,
                all_of,
                definition,
            } => write!(
                f,
                "a {format} filter needs {}, as in {definition}",
                joined(all_of, " and ")
            ),
            Self::Native => {
                f.write_str("native filters are built by kind: use the types of mayhap")
            }
        }
    }
}

impl std::error::Error for BuildError {}

impl From<PlanError> for BuildError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl From<ParameterError> for BuildError {
    fn from(error: ParameterError) -> Self {
        Self::Parameter(error)
    }
}

/// The false-positive rate if none is given.
const DEFAULT_RATE: f64 = 0.01;
/// The default that LevelDB and RocksDB recommend.
const DEFAULT_BITS_PER_KEY: f64 = 10.0;

impl BuildOptions {
    /// What must be counted before [`BuildOptions::start`].
    pub fn required_count(&self) -> RequiredCount {
        (self.parameters.format.row().required_count)(self)
    }

    /// An empty filter; `count` is what [`BuildOptions::required_count`] asks for.
    ///
    /// # Errors
    /// When no filter has this shape, or a setting is missing.
    pub fn start(&self, count: u64) -> Result<FilterBuilder, BuildError> {
        let keys = self.capacity.unwrap_or(count);
        (self.parameters.format.row().create)(self, keys)
    }

    pub(crate) fn rate(&self) -> f64 {
        self.rate.unwrap_or(DEFAULT_RATE)
    }

    /// Bits per key of LevelDB and RocksDB: the parameter, or as many as a textbook Bloom filter has at the rate.
    pub(crate) fn bits_per_key(&self) -> Result<f64, BuildError> {
        if let Some(given) = self.parameters.bits_per_key()? {
            return Ok(given);
        }
        Ok(match self.rate {
            Some(rate) => classic::ideal_bits_per_key(rate).ceil().clamp(1.0, 100.0),
            None => DEFAULT_BITS_PER_KEY,
        })
    }

    /// The filter with the bits and probes of the options instead of its own, if they have any; bits are rounded up to a
    /// multiple.
    pub(crate) fn reshape(
        &self,
        filter: ClassicBloom,
        bits_multiple: u64,
        probes: Option<u32>,
    ) -> Result<ClassicBloom, PlanError> {
        if self.bits.is_none() && probes.is_none() {
            return Ok(filter);
        }
        let plan = filter.plan();
        let bits = self.bits.map(|bits| bits.next_multiple_of(bits_multiple));
        let plan = ClassicPlan {
            capacity: plan.capacity,
            false_positive_rate: plan.false_positive_rate,
            ..ClassicPlan::with_bits_and_probes(
                bits.unwrap_or(plan.bits),
                probes.unwrap_or(plan.probes),
            )?
        };
        ClassicBloom::from_plan(plan, filter.scheme(), filter.hash_scheme())
    }

    // For `FormatRow::required_count`.

    /// A filter that is sized by the number of its keys.
    pub(crate) fn count_keys(&self) -> RequiredCount {
        match self.capacity {
            Some(_) => RequiredCount::Nothing,
            None => RequiredCount::Keys,
        }
    }

    /// A filter that is sized by the number of its distinct keys.
    pub(crate) fn count_distinct_keys(&self) -> RequiredCount {
        match self.capacity {
            Some(_) => RequiredCount::Nothing,
            None => RequiredCount::DistinctKeys,
        }
    }

    /// A filter whose bits and probes may be given, and that is sized by the number of its keys otherwise.
    pub(crate) fn count_keys_without_shape(&self) -> RequiredCount {
        match (self.bits, self.probes) {
            (Some(_), Some(_)) => RequiredCount::Nothing,
            _ => self.count_keys(),
        }
    }
}

/// A filter that is being filled.
#[derive(Clone, PartialEq, Debug)]
pub struct FilterBuilder(Stage);

#[derive(Clone, PartialEq, Debug)]
enum Stage {
    /// Keys go straight into it.
    Filter(Box<StoredFilter>),
    /// ClickHouse sizes a granule by its distinct values, so these are collected first.
    Granule(GranuleBuilder),
}

impl From<StoredFilter> for FilterBuilder {
    fn from(filter: StoredFilter) -> Self {
        Self(Stage::Filter(Box::new(filter)))
    }
}

impl From<GranuleBuilder> for FilterBuilder {
    fn from(granule: GranuleBuilder) -> Self {
        Self(Stage::Granule(granule))
    }
}

impl FilterBuilder {
    /// Inserts a key, as a [`KeyReader`](crate::KeyReader) with the same parameters read it.
    ///
    /// # Errors
    /// As [`StoredFilter::insert`].
    pub fn insert(&mut self, key: &[u8]) -> Result<(), FilterError> {
        match &mut self.0 {
            Stage::Filter(filter) => filter.insert(key).map(drop),
            Stage::Granule(granule) => granule.insert(key),
        }
    }

    /// The filter with all its keys.
    ///
    /// # Errors
    /// When a granule has no values, or there is not enough memory for it.
    pub fn finish(self) -> Result<StoredFilter, BuildError> {
        match self.0 {
            Stage::Filter(filter) => Ok(*filter),
            Stage::Granule(granule) => Ok(granule.finish()?),
        }
    }

    /// Adds keys that are not members to the false positives of a retouched filter of Hadoop, and clears a bit for each that is
    /// still found, by the clearing scheme in the parameters, if there is one. Returns how many were cleared: none in a filter
    /// of another format.
    ///
    /// # Errors
    /// When the parameters are wrong.
    pub fn retouch(
        &mut self,
        false_positives: &[impl AsRef<[u8]>],
        parameters: &Parameters,
    ) -> Result<u64, BuildError> {
        let clearing = parameters.clearing()?;
        let Stage::Filter(filter) = &mut self.0 else {
            return Ok(0);
        };
        Ok(match filter.foreign_mut::<hadoop::Retouched>() {
            Some(filter) => filter.clear_false_positives(false_positives, clearing),
            None => 0,
        })
    }
}
