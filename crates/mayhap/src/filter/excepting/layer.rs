//! The exception layer: of the keys that the base accepts, it denies the exceptions, all of them, and no positive.
//!
//! Two levels (Mozilla's clubcard, eprint 2025/610, the other way round). The first is a filter of the exceptions, which most
//! positives do not pass. The second has one bit for every key that passes, exception or positive, and so is right about all of
//! them. Strangers that the base accepts and that pass the first level are denied or not, as it comes.

use super::super::retrieval::Retrieval;
use crate::PlanError;
use crate::plan::ExceptingPlan;
use crate::store::reserved;
use alloc::vec::Vec;

/// The value of a positive in the second level; that of an exception is 0.
const POSITIVE: u32 = 1;

#[derive(Clone, PartialEq)]
pub(super) enum Layer {
    /// The hashes of the exceptions, sorted.
    List(Vec<u64>),
    TwoLevels {
        first: Option<Retrieval>,
        second: Retrieval,
    },
}

/// What positives are held against: who passes here must be told from the exceptions.
pub(super) enum FirstLevel {
    Everyone,
    Filter(Retrieval),
    /// Only the exceptions themselves.
    List,
}

impl FirstLevel {
    /// The first level for sorted exceptions. Hashes that were chosen not to fit into a filter make a list.
    pub(super) fn new(plan: &ExceptingPlan, exceptions: &[u64]) -> Result<Self, PlanError> {
        if plan.is_list() {
            return Ok(Self::List);
        }
        match plan.first_level_bits() {
            0 => Ok(Self::Everyone),
            bits => match Retrieval::of_fingerprints(exceptions.iter().copied(), bits) {
                Ok(filter) => Ok(Self::Filter(filter)),
                Err(PlanError::Unsolvable { .. }) => Ok(Self::List),
                Err(error) => Err(error),
            },
        }
    }

    pub(super) fn passes(&self, hash: u64, exceptions: &[u64]) -> bool {
        match self {
            Self::Everyone => true,
            Self::Filter(filter) => filter.matches(hash),
            Self::List => exceptions.binary_search(&hash).is_ok(),
        }
    }
}

impl Layer {
    pub(super) fn nothing() -> Self {
        Self::List(Vec::new())
    }

    /// The layer for sorted exceptions, and the positives that pass its first level. No hash is both.
    pub(super) fn new(
        first: FirstLevel,
        exceptions: Vec<u64>,
        passing: &[u64],
    ) -> Result<Self, PlanError> {
        let first = match first {
            FirstLevel::List => return Ok(Self::List(exceptions)),
            FirstLevel::Everyone => None,
            FirstLevel::Filter(filter) => Some(filter),
        };
        let mut values = reserved((exceptions.len() + passing.len()) as u64)?;
        values.extend(exceptions.iter().map(|&hash| (hash, POSITIVE ^ 1)));
        values.extend(passing.iter().map(|&hash| (hash, POSITIVE)));
        match Retrieval::build(&values, 1) {
            Ok(second) => Ok(Self::TwoLevels { first, second }),
            Err(PlanError::Unsolvable { .. }) => Ok(Self::List(exceptions)),
            Err(error) => Err(error),
        }
    }

    /// Whether a key that the base accepts is to be denied.
    #[inline]
    pub(super) fn denies(&self, hash: u64) -> bool {
        match self {
            Self::List(exceptions) => exceptions.binary_search(&hash).is_ok(),
            Self::TwoLevels { first, second } => {
                first.as_ref().is_none_or(|first| first.matches(hash))
                    && second.get(hash) != POSITIVE
            }
        }
    }

    pub(super) fn size_bytes(&self) -> u64 {
        match self {
            Self::List(exceptions) => size_of_val(exceptions.as_slice()) as u64,
            Self::TwoLevels { first, second } => {
                first.as_ref().map_or(0, Retrieval::size_bytes) + second.size_bytes()
            }
        }
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self, Self::List(_))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::probe::fuse::{seed, unmix};

    fn layer(exceptions: Vec<u64>, positives: &[u64]) -> Layer {
        let plan = ExceptingPlan::for_corrected(positives.len() as u64, exceptions.len() as u64);
        let first = FirstLevel::new(&plan, &exceptions).unwrap();
        let passes = |hash: &u64| first.passes(*hash, &exceptions);
        let passing: Vec<u64> = positives.iter().copied().filter(passes).collect();
        Layer::new(first, exceptions, &passing).unwrap()
    }

    #[test]
    fn counters_in_the_place_of_hashes_are_told_apart_too() {
        let chosen = |from: u64, to: u64| (from..to).map(|at| unmix(at, 0)).collect::<Vec<_>>();
        let random = |from: u64, to: u64| (from..to).map(|at| seed(at, 1)).collect::<Vec<_>>();
        for (mut exceptions, positives) in [
            (chosen(0, 1000), random(0, 100_000)),
            (random(0, 1000), chosen(0, 100_000)),
            (chosen(0, 100_000), chosen(100_000, 200_000)),
            ((0..1000).collect(), (1000..100_000).collect()),
        ] {
            exceptions.sort_unstable();
            let layer = layer(exceptions.clone(), &positives);
            assert!(exceptions.iter().all(|&hash| layer.denies(hash)));
            assert!(!positives.iter().any(|&hash| layer.denies(hash)));
        }
    }

    #[test]
    fn what_cannot_be_solved_is_listed() {
        // One hash on both sides stands for hashes that were chosen not to fit.
        let layer = Layer::new(FirstLevel::Everyone, Vec::from([7, 9]), &[9, 11]).unwrap();
        assert!(layer.is_list() && layer.denies(7) && !layer.denies(11));
    }
}
