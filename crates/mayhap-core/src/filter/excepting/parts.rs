//! The parts of a filter with exceptions, as files store them: the counts, the layer, and the keys that override it.

use super::layer::{DenyLayer, FirstLevel};
use super::{Excepting, ExceptingBase, ExceptingError};
use crate::PlanError;
use crate::filter::retrieval::Retrieval;
use crate::plan::ExceptingPlan;
use crate::store::ExactSet;
use alloc::vec::Vec;

/// Everything that an [`Excepting`] has besides its base.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExceptionParts {
    /// The number of positives that the filter was built with, duplicates included.
    pub positives: u64,
    /// As [`Excepting::corrected`].
    pub corrected: u64,
    /// As [`Excepting::exceptions`].
    pub exceptions: u64,
    /// As [`Excepting::resolved_conflicts`].
    pub resolved_conflicts: u64,
    /// As [`Excepting::keys_inserted`].
    pub inserted: u64,
    /// The layer that denies the exceptions.
    pub layer: ExceptionLayer,
    /// Hashes of inserted keys that the layer would deny, ascending and distinct.
    pub overrides: Vec<u64>,
}

/// How exceptions are denied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExceptionLayer {
    /// The hashes of the exceptions, ascending and distinct.
    List(Vec<u64>),
    /// One bit per hash: 1 means no exception.
    OneLevel(RetrievalParts),
    /// A filter of the exceptions, whose values are fingerprints, and the bits for the hashes that it matches. Other hashes are
    /// no exceptions.
    OfExceptions(RetrievalParts, RetrievalParts),
    /// A filter of the positives, and the bits for the hashes that it matches. Other hashes are exceptions.
    OfPositives(RetrievalParts, RetrievalParts),
}

/// A retrieval structure: a few bits for each hash of a set, as the solution of a system of equations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RetrievalParts {
    /// Bits per value: 1 to 32.
    pub bits: u8,
    /// For every shard, and for the end of the last: its start in the lower 24 bits, relative to 2^23 slots before the start that
    /// it would have if all shards had 5012 slots; and its seed in the upper 8 bits.
    pub directory: Vec<u32>,
    /// For every block of 64 slots a word of each column, block by block. The columns of the last block, which may have fewer
    /// slots, are packed without gaps.
    pub words: Vec<u64>,
}

impl RetrievalParts {
    fn from_retrieval(retrieval: &Retrieval) -> Self {
        let (bits, directory, words) = retrieval.parts();
        Self {
            bits,
            directory: directory.to_vec(),
            words: words.to_vec(),
        }
    }

    fn into_checked(self) -> Result<Retrieval, PlanError> {
        Retrieval::from_parts(self.bits, self.directory, self.words)
    }

    /// The same for the second level, whose values have one bit.
    fn into_checked_second(self) -> Result<Retrieval, PlanError> {
        match self.bits {
            1 => self.into_checked(),
            bits => Err(PlanError::InvalidInteger {
                field: "bits of the second level",
                value: bits.into(),
                accepted: "1",
            }),
        }
    }
}

impl ExceptionLayer {
    fn from_layer(layer: &DenyLayer) -> Self {
        match layer {
            DenyLayer::List(exceptions) => Self::List(exceptions.clone()),
            DenyLayer::TwoLevels { first, second } => {
                let second = RetrievalParts::from_retrieval(second);
                match first {
                    FirstLevel::None => Self::OneLevel(second),
                    FirstLevel::OfExceptions(first) => {
                        Self::OfExceptions(RetrievalParts::from_retrieval(first), second)
                    }
                    FirstLevel::OfPositives(first) => {
                        Self::OfPositives(RetrievalParts::from_retrieval(first), second)
                    }
                }
            }
        }
    }

    fn checked(self) -> Result<DenyLayer, PlanError> {
        let (first, second) = match self {
            Self::List(exceptions) => {
                check_rising("exceptions", &exceptions)?;
                return Ok(DenyLayer::List(exceptions));
            }
            Self::OneLevel(second) => (FirstLevel::None, second),
            Self::OfExceptions(first, second) => {
                (FirstLevel::OfExceptions(first.into_checked()?), second)
            }
            Self::OfPositives(first, second) => {
                (FirstLevel::OfPositives(first.into_checked()?), second)
            }
        };
        Ok(DenyLayer::TwoLevels {
            first,
            second: second.into_checked_second()?,
        })
    }
}

fn check_rising(field: &'static str, hashes: &[u64]) -> Result<(), PlanError> {
    if hashes.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    Err(PlanError::InvalidInteger {
        field,
        value: hashes.len() as u64,
        accepted: "ascending, distinct hashes",
    })
}

impl<F: ExceptingBase> Excepting<F> {
    /// A copy of everything except the base.
    pub fn parts(&self) -> ExceptionParts {
        let mut overrides: Vec<u64> = self.overrides.iter().collect();
        overrides.sort_unstable();
        ExceptionParts {
            positives: self.plan.positives(),
            corrected: self.plan.corrected(),
            exceptions: self.exceptions,
            resolved_conflicts: self.resolved_conflicts,
            inserted: self.inserted,
            layer: ExceptionLayer::from_layer(&self.layer),
            overrides,
        }
    }

    /// A filter from stored parts, as [`Excepting::parts`] returns them.
    ///
    /// # Errors
    /// If the base cannot have exceptions, the parts are inconsistent, or there is not enough memory.
    pub fn from_parts(base: F, parts: ExceptionParts) -> Result<Self, ExceptingError> {
        base.check_base()?;
        check_rising("overrides", &parts.overrides)?;
        if parts.inserted > 1 << 60 {
            return Err(ExceptingError::Plan(PlanError::InvalidInteger {
                field: "keys inserted",
                value: parts.inserted,
                accepted: "at most 2^60",
            }));
        }
        Ok(Self {
            base,
            layer: parts.layer.checked()?,
            overrides: ExactSet::from_distinct(parts.overrides)?,
            plan: ExceptingPlan::for_corrected(parts.positives, parts.corrected),
            exceptions: parts.exceptions,
            resolved_conflicts: parts.resolved_conflicts,
            inserted: parts.inserted,
        })
    }
}
