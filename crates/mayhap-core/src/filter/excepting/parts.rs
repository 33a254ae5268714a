//! The exceptions of a filter in parts, as files keep them: what was counted, the layer, and the keys that override it.

use super::layer::{First, Layer};
use super::{Base, ExceptError, Excepting};
use crate::PlanError;
use crate::filter::retrieval::Retrieval;
use crate::plan::ExceptingPlan;
use crate::store::ExactSet;
use alloc::vec::Vec;

/// All that an [`Excepting`] has beside its base.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exceptions {
    /// Positives that the filter was made with, repeated ones counted.
    pub positives: u64,
    /// As [`Excepting::corrected`].
    pub corrected: u64,
    /// As [`Excepting::exceptions`].
    pub exceptions: u64,
    /// As [`Excepting::settled`].
    pub settled: u64,
    /// As [`Excepting::keys_inserted`].
    pub inserted: u64,
    /// What denies the exceptions.
    pub layer: ExceptionLayer,
    /// Hashes of inserted keys that the layer would deny, by rising hashes, none twice.
    pub overrides: Vec<u64>,
}

/// What denies exceptions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExceptionLayer {
    /// The hashes of the exceptions, by rising hashes, none twice.
    List(Vec<u64>),
    /// One bit for every hash that it is asked about: 1 is no exception.
    OneLevel(Equations),
    /// A filter of the exceptions, whose bits are fingerprints, and the bits for those that it matches. Others are no exceptions.
    OfExceptions(Equations, Equations),
    /// A filter of the positives, and the bits for those that it matches. Others are exceptions.
    OfPositives(Equations, Equations),
}

/// A set of equations that gives a few bits for a hash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Equations {
    /// Bits of a value: 1 to 32.
    pub bits: u8,
    /// For every shard and the end of the last: where it begins, in the lower 24 bits, counted from 2^23 slots before where it
    /// would if all shards had 5012 slots; and its seed in the upper 8.
    pub directory: Vec<u32>,
    /// For every block of 64 slots a word of each column, those of a block together; the columns of the last block, which may
    /// have fewer slots, stand close.
    pub words: Vec<u64>,
}

impl Equations {
    fn of(retrieval: &Retrieval) -> Self {
        let (bits, directory, words) = retrieval.parts();
        Self {
            bits,
            directory: directory.to_vec(),
            words: words.to_vec(),
        }
    }

    fn checked(self) -> Result<Retrieval, PlanError> {
        Retrieval::from_parts(self.bits, self.directory, self.words)
    }

    /// The same of the level that answers.
    fn checked_second(self) -> Result<Retrieval, PlanError> {
        match self.bits {
            1 => self.checked(),
            bits => Err(PlanError::Count {
                field: "bits of the second level",
                value: bits.into(),
                accepted: "1",
            }),
        }
    }
}

impl ExceptionLayer {
    fn of(layer: &Layer) -> Self {
        match layer {
            Layer::List(exceptions) => Self::List(exceptions.clone()),
            Layer::TwoLevels { first, second } => {
                let second = Equations::of(second);
                match first {
                    First::None => Self::OneLevel(second),
                    First::OfExceptions(first) => Self::OfExceptions(Equations::of(first), second),
                    First::OfPositives(first) => Self::OfPositives(Equations::of(first), second),
                }
            }
        }
    }

    fn checked(self) -> Result<Layer, PlanError> {
        let (first, second) = match self {
            Self::List(exceptions) => {
                check_rising("exceptions", &exceptions)?;
                return Ok(Layer::List(exceptions));
            }
            Self::OneLevel(second) => (First::None, second),
            Self::OfExceptions(first, second) => (First::OfExceptions(first.checked()?), second),
            Self::OfPositives(first, second) => (First::OfPositives(first.checked()?), second),
        };
        Ok(Layer::TwoLevels {
            first,
            second: second.checked_second()?,
        })
    }
}

fn check_rising(field: &'static str, hashes: &[u64]) -> Result<(), PlanError> {
    if hashes.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    Err(PlanError::Count {
        field,
        value: hashes.len() as u64,
        accepted: "hashes in rising order, none twice",
    })
}

impl<F: Base> Excepting<F> {
    /// A copy of all but the base.
    pub fn parts(&self) -> Exceptions {
        let mut overrides: Vec<u64> = self.overrides.iter().collect();
        overrides.sort_unstable();
        Exceptions {
            positives: self.plan.positives(),
            corrected: self.plan.corrected(),
            exceptions: self.exceptions,
            settled: self.settled,
            inserted: self.inserted,
            layer: ExceptionLayer::of(&self.layer),
            overrides,
        }
    }

    /// A filter whose exceptions are there already, as [`Excepting::parts`] has them.
    ///
    /// # Errors
    /// When exceptions cannot be put on the base, the parts do not fit together, or the memory is not there.
    pub fn from_parts(base: F, parts: Exceptions) -> Result<Self, ExceptError> {
        base.check_base()?;
        check_rising("overrides", &parts.overrides)?;
        if parts.inserted > 1 << 60 {
            return Err(ExceptError::Plan(PlanError::Count {
                field: "keys inserted",
                value: parts.inserted,
                accepted: "at most 2^60",
            }));
        }
        Ok(Self {
            base,
            layer: parts.layer.checked()?,
            overrides: ExactSet::of_distinct(parts.overrides)?,
            plan: ExceptingPlan::for_corrected(parts.positives, parts.corrected),
            exceptions: parts.exceptions,
            settled: parts.settled,
            inserted: parts.inserted,
        })
    }
}
