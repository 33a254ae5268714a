//! The exception layer: of the keys that the base accepts, it denies all exceptions and no positive.
//!
//! It has two levels, as in Mozilla's clubcard (eprint 2025/610). The first is a filter of the smaller set, exceptions or
//! positives, which most keys of the larger set do not pass. The second stores one bit for every key that passes, exception or
//! positive, and is therefore exact on all of them. For other keys that the base accepts, the answer is arbitrary.

use super::super::retrieval::Retrieval;
use crate::PlanError;
use crate::plan::ExceptingPlan;
use crate::store::reserved;
use alloc::vec::Vec;

/// The value of a positive in the second level; an exception has 0.
const POSITIVE: u32 = 1;

#[derive(Clone, PartialEq)]
pub(super) enum DenyLayer {
    /// The hashes of the exceptions, sorted.
    List(Vec<u64>),
    TwoLevels {
        first: FirstLevel,
        second: Retrieval,
    },
}

/// A first level.
#[derive(Clone, PartialEq)]
pub(super) enum FirstLevel {
    /// A key that does not pass is not an exception.
    OfExceptions(Retrieval),
    /// A key that does not pass is not a positive.
    OfPositives(Retrieval),
    None,
}

/// Which positives the layer needs to know.
pub(super) enum RelevantPositives {
    /// Those that pass the first level.
    Passing(Retrieval),
    All,
    /// Those that are also exceptions: the list distinguishes the others.
    Listed,
}

impl RelevantPositives {
    /// For sorted exceptions. If the hashes were chosen so that no filter can be solved for them, a list is used.
    pub(super) fn new(plan: &ExceptingPlan, exceptions: &[u64]) -> Result<Self, PlanError> {
        if plan.is_list() {
            return Ok(Self::Listed);
        }
        if plan.first_level_bits() == 0 || plan.first_level_is_of_positives() {
            return Ok(Self::All);
        }
        let hashes = exceptions.iter().copied();
        let filter = Retrieval::from_fingerprints(hashes, plan.first_level_bits());
        unless_unsolvable(filter).map(|filter| filter.map_or(Self::Listed, Self::Passing))
    }

    pub(super) fn contains(&self, hash: u64, exceptions: &[u64]) -> bool {
        match self {
            Self::Passing(filter) => filter.matches(hash),
            Self::All => true,
            Self::Listed => exceptions.binary_search(&hash).is_ok(),
        }
    }
}

/// `None` if the system of equations has no solution.
fn unless_unsolvable(result: Result<Retrieval, PlanError>) -> Result<Option<Retrieval>, PlanError> {
    match result {
        Ok(retrieval) => Ok(Some(retrieval)),
        Err(PlanError::Unsolvable { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

impl DenyLayer {
    pub(super) fn empty() -> Self {
        Self::List(Vec::new())
    }

    /// The layer for sorted exceptions and the relevant positives. No hash is in both.
    pub(super) fn new(
        plan: &ExceptingPlan,
        concerned: RelevantPositives,
        exceptions: Vec<u64>,
        positives: &[u64],
    ) -> Result<Self, PlanError> {
        let first = match concerned {
            RelevantPositives::Listed => return Ok(Self::List(exceptions)),
            RelevantPositives::Passing(filter) => FirstLevel::OfExceptions(filter),
            RelevantPositives::All if plan.first_level_bits() == 0 => FirstLevel::None,
            RelevantPositives::All => {
                let hashes = positives.iter().copied();
                let filter = Retrieval::from_fingerprints(hashes, plan.first_level_bits());
                let Some(filter) = unless_unsolvable(filter)? else {
                    return Ok(Self::List(exceptions));
                };
                FirstLevel::OfPositives(filter)
            }
        };
        let passing = || exceptions.iter().filter(|&&hash| first.passes(hash));
        let mut values = reserved((passing().count() + positives.len()) as u64)?;
        values.extend(passing().map(|&hash| (hash, POSITIVE ^ 1)));
        values.extend(positives.iter().map(|&hash| (hash, POSITIVE)));
        Ok(match unless_unsolvable(Retrieval::build(&values, 1))? {
            Some(second) => Self::TwoLevels { first, second },
            None => Self::List(exceptions),
        })
    }

    /// Whether to deny a key that the base accepts.
    #[inline]
    pub(super) fn denies(&self, hash: u64) -> bool {
        match self {
            Self::List(exceptions) => exceptions.binary_search(&hash).is_ok(),
            Self::TwoLevels { first, second } => {
                if first.passes(hash) {
                    second.get(hash) != POSITIVE
                } else {
                    matches!(first, FirstLevel::OfPositives(_))
                }
            }
        }
    }

    pub(super) fn size_bytes(&self) -> u64 {
        match self {
            Self::List(exceptions) => size_of_val(exceptions.as_slice()) as u64,
            Self::TwoLevels { first, second } => first.size_bytes() + second.size_bytes(),
        }
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self, Self::List(_))
    }
}

impl FirstLevel {
    /// Whether the second level decides.
    #[inline]
    fn passes(&self, hash: u64) -> bool {
        match self {
            Self::OfExceptions(filter) | Self::OfPositives(filter) => filter.matches(hash),
            Self::None => true,
        }
    }

    fn size_bytes(&self) -> u64 {
        match self {
            Self::OfExceptions(filter) | Self::OfPositives(filter) => filter.size_bytes(),
            Self::None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::probe::fuse::seed;
    use crate::probe::ribbon::spread;

    fn layer(exceptions: Vec<u64>, positives: &[u64]) -> DenyLayer {
        let plan = ExceptingPlan::for_corrected(positives.len() as u64, exceptions.len() as u64);
        let concerned = RelevantPositives::new(&plan, &exceptions).unwrap();
        let relevant: Vec<u64> = positives
            .iter()
            .copied()
            .filter(|&hash| concerned.contains(hash, &exceptions))
            .collect();
        DenyLayer::new(&plan, concerned, exceptions, &relevant).unwrap()
    }

    #[test]
    fn counters_used_as_hashes_are_distinguished() {
        // Hashes whose spread is a counter: spreading is a multiplication, and Newton's method finds the inverse factor.
        let factor = spread(1);
        let inverse = (0..6).fold(factor, |x: u64, _| {
            x.wrapping_mul(2_u64.wrapping_sub(factor.wrapping_mul(x)))
        });
        assert_eq!(spread(inverse.wrapping_mul(77)), 77);
        let chosen = |from: u64, to: u64| {
            let hashes = (from..to).map(|at| inverse.wrapping_mul(at));
            hashes.collect::<Vec<_>>()
        };
        let random = |from: u64, to: u64| (from..to).map(|at| seed(at, 1)).collect::<Vec<_>>();
        for (mut exceptions, positives) in [
            (chosen(0, 1000), random(0, 100_000)),
            (random(0, 1000), chosen(0, 100_000)),
            (chosen(0, 100_000), chosen(100_000, 200_000)),
            (chosen(0, 100_000), chosen(100_000, 101_000)),
            ((0..1000).collect(), (1000..100_000).collect()),
        ] {
            exceptions.sort_unstable();
            let layer = layer(exceptions.clone(), &positives);
            assert!(exceptions.iter().all(|&hash| layer.denies(hash)));
            assert!(!positives.iter().any(|&hash| layer.denies(hash)));
        }
    }

    #[test]
    fn unsolvable_layers_become_lists() {
        // One hash on both sides stands in for hashes that were chosen to be unsolvable.
        let plan = ExceptingPlan::for_corrected(1000, 1000);
        let exceptions = Vec::from([7, 9]);
        let layer = DenyLayer::new(&plan, RelevantPositives::All, exceptions, &[9, 11]).unwrap();
        assert!(layer.is_list() && layer.denies(7) && !layer.denies(11));
    }
}
