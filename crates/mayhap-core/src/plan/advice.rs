//! Which kind of filter fits some requirements, how large it will be, and why.

use super::classic::ClassicPlan;
use super::counting::{self, CountingPlan};
use super::{
    BloomPlan, CuckooPlan, ExceptingPlan, FusePlan, GrowingCuckooPlan, GrowingPlan, RibbonPlan,
    WindowCuckooPlan, WindowPlan, memory,
};
use crate::{Kind, PlanError};
use alloc::vec::Vec;
use core::time::Duration;

/// A `Fuse` is faster than a `Ribbon`; it is preferred unless it is more than this many times as large.
const WORTH_ITS_SPEED: f64 = 1.25;

/// What a filter must support, besides being small.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Kind, plan::Requirements};
/// let requirements = Requirements { delete: true, ..Requirements::default() };
/// let best = requirements.choices(1_000_000, 0.001)?[0];
/// assert_eq!(best.kind, Kind::Cuckoo);
/// println!("{} bytes: {}", best.size_bytes, best.why);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent of each other"
)]
pub struct Requirements {
    /// Keys will be removed.
    pub delete: bool,
    /// The number of keys is unknown.
    pub grow: bool,
    /// Keys expire after some time.
    pub expire: bool,
    /// All keys are known before the filter is built.
    pub fixed: bool,
    /// The number of known keys that must never be false positives.
    pub exceptions: u64,
}

/// A kind that fits, its size, and a reason.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KindChoice {
    /// The kind.
    pub kind: Kind,
    /// Bytes for the given keys and rate, exceptions included.
    pub size_bytes: u64,
    /// The part of these bytes for the exceptions.
    pub exception_bytes: u64,
    /// The reason, in a sentence.
    pub why: &'static str,
}

impl Requirements {
    /// The kinds that fit this number of keys at this rate, the recommended one first. Never empty.
    ///
    /// # Errors
    /// If two requirements conflict, or the keys and the rate cannot be planned.
    pub fn choices(
        &self,
        keys: u64,
        false_positive_rate: f64,
    ) -> Result<Vec<KindChoice>, PlanError> {
        self.check()?;
        let mut choices = Vec::new();
        for &(kind, why) in self.candidates() {
            // Kinds that do not support such a strict rate or so many keys are left out; if the first one does not, its error is
            // returned.
            match size_bytes(kind, keys, false_positive_rate) {
                Ok(size_bytes) => {
                    let exception_bytes = self.exception_bytes(keys, false_positive_rate)?;
                    choices.push(KindChoice {
                        kind,
                        size_bytes: size_bytes.saturating_add(exception_bytes),
                        exception_bytes,
                        why,
                    });
                }
                Err(error) if choices.is_empty() => return Err(error),
                Err(_) => {}
            }
        }
        if let [fuse, ribbon, ..] = choices.as_mut_slice()
            && self.fixed
            && fuse.size_bytes as f64 > WORTH_ITS_SPEED * ribbon.size_bytes as f64
        {
            core::mem::swap(fuse, ribbon);
        }
        Ok(choices)
    }

    /// Bytes for the exceptions, in addition to the filter.
    fn exception_bytes(&self, keys: u64, false_positive_rate: f64) -> Result<u64, PlanError> {
        if self.exceptions == 0 {
            return Ok(0);
        }
        Ok(ExceptingPlan::new(keys, false_positive_rate, self.exceptions)?.size_bytes())
    }

    fn total_bytes(&self, kind: Kind, keys: u64, rate: f64) -> Result<u64, PlanError> {
        let exceptions = self.exception_bytes(keys, rate)?;
        Ok(size_bytes(kind, keys, rate)?.saturating_add(exceptions))
    }

    /// The lowest rate, to four digits, at which `keys` keys fit into `memory` bytes, in the usual kind for these requirements,
    /// or in the next one that fits.
    ///
    /// # Errors
    /// If two requirements conflict, or nothing fits at any rate.
    pub fn strictest_within(&self, memory: u64, keys: u64) -> Result<f64, PlanError> {
        super::check_capacity(keys)?;
        self.first_candidate(|kind| match kind {
            Kind::Bloom if self.exceptions == 0 => {
                Ok(BloomPlan::strictest_within(memory, keys)?.false_positive_rate())
            }
            kind => memory::strictest(memory, |rate| self.total_bytes(kind, keys, rate)),
        })
    }

    /// The maximum number of keys that fit into `memory` bytes at a rate, in the usual kind for these requirements, or in the
    /// next one that fits.
    ///
    /// # Errors
    /// If two requirements conflict, the rate cannot be planned, or not even one key fits.
    pub fn largest_within(&self, memory: u64, false_positive_rate: f64) -> Result<u64, PlanError> {
        self.first_candidate(|kind| {
            memory::largest(memory, |keys| {
                self.total_bytes(kind, keys, false_positive_rate)
            })
        })
    }

    /// The result of the first kind that succeeds; if none does, the error of the first kind.
    fn first_candidate<T>(
        &self,
        compute: impl Fn(Kind) -> Result<T, PlanError>,
    ) -> Result<T, PlanError> {
        self.check()?;
        let mut answers = self.candidates().iter().map(|&(kind, _)| compute(kind));
        let first = answers.next().expect("there is always a candidate");
        first.or_else(|error| answers.find_map(Result::ok).ok_or(error))
    }

    /// The kinds that fit, the usual choice first.
    fn candidates(&self) -> &'static [(Kind, &'static str)] {
        if self.fixed {
            &[
                (
                    Kind::Fuse,
                    "the set is fixed: built once, fastest lookups, smaller than a Bloom filter at rates below 5 %",
                ),
                (
                    Kind::Ribbon,
                    "the set is fixed: built once, as small as a filter can be, slower lookups",
                ),
                (Kind::Bloom, "if keys may be added later"),
            ]
        } else if self.expire {
            &[
                (
                    Kind::WindowCuckoo,
                    "keys expire after the window: one lookup, nothing to delete, nothing to rebuild",
                ),
                (
                    Kind::Window,
                    "if there are far more inserts than lookups, or a burst must take no memory: a ring of Bloom filters",
                ),
            ]
        } else if self.delete && self.grow {
            &[
                (
                    Kind::GrowingCuckoo,
                    "keys can be removed, and it grows in small steps, without a limit",
                ),
                (Kind::CountingCuckoo, "if keys must also be counted"),
            ]
        } else if self.delete {
            &[
                (
                    Kind::Cuckoo,
                    "keys can be removed, in a quarter of a counting filter's memory",
                ),
                (
                    Kind::CountingCuckoo,
                    "if keys must also be counted, or filters merged",
                ),
                (Kind::Counting, "the same if Hadoop must read the filter"),
            ]
        } else if self.exceptions > 0 && !self.grow {
            &[
                (
                    Kind::Bloom,
                    "keys are only added, and the exceptions are never found (Excepting)",
                ),
                (Kind::Classic, "if another system must read the bits"),
            ]
        } else if self.grow {
            &[
                (Kind::Growing, "keeps the rate for any number of keys"),
                (
                    Kind::GrowingCuckoo,
                    "if there may be far more keys than expected: then smaller and with faster lookups; inserts take longer",
                ),
            ]
        } else {
            &[
                (
                    Kind::Bloom,
                    "keys are only added: one hash, one or two cache lines, any number of threads",
                ),
                (
                    Kind::Cuckoo,
                    "if keys must be removed; two cache lines, and it can be full",
                ),
                (Kind::Classic, "if another system must read the bits"),
            ]
        }
    }

    fn check(&self) -> Result<(), PlanError> {
        let conflict = |first: bool, second: bool, requirements, instead| {
            if first && second {
                Err(PlanError::ConflictingRequirements {
                    requirements,
                    instead,
                })
            } else {
                Ok(())
            }
        };
        conflict(
            self.fixed,
            self.delete || self.grow || self.expire,
            "a fixed set whose keys change",
            "drop one of the two requirements",
        )?;
        conflict(
            self.expire,
            self.delete,
            "both expiry and removal of keys",
            "choose one, because a window stores a key in one of several filters and cannot remove it",
        )?;
        conflict(
            self.exceptions > 0,
            self.expire || self.delete,
            "exceptions together with keys that are removed or expire",
            "keep the exceptions outside of the filter, or rebuild it when keys are removed",
        )
    }
}

/// The size of a filter of a kind for a number of keys at a rate. For a window filter these are the keys of one window, for a
/// growing filter its initial capacity, for a growing or counting cuckoo filter its maximum; the lists of a retouched filter are not included.
///
/// # Errors
/// If it cannot be planned.
pub fn size_bytes(kind: Kind, keys: u64, false_positive_rate: f64) -> Result<u64, PlanError> {
    match kind {
        Kind::Bloom => Ok(BloomPlan::new(keys, false_positive_rate)?.size_bytes()),
        Kind::Classic | Kind::Retouched => Ok(ClassicPlan::new(keys, false_positive_rate)?
            .bits
            .div_ceil(64)
            * 8),
        Kind::Counting => {
            let plan =
                CountingPlan::new(keys, false_positive_rate, counting::DEFAULT_COUNTER_BITS)?;
            Ok(plan.size_bytes())
        }
        Kind::Growing => Ok(GrowingPlan::new(keys, false_positive_rate)?
            .layer(0)?
            .size_bytes()),
        Kind::Window => {
            // The length of a window does not affect its size.
            let plan = WindowPlan::new(keys, false_positive_rate, Duration::from_secs(1))?;
            Ok(plan
                .layer(0)?
                .size_bytes()
                .saturating_mul(u64::from(plan.slices()) + 1))
        }
        Kind::WindowCuckoo => {
            let window = Duration::from_secs(1);
            Ok(WindowCuckooPlan::new(keys, false_positive_rate, window)?.size_bytes())
        }
        Kind::Cuckoo => Ok(CuckooPlan::new(keys, false_positive_rate)?.size_bytes()),
        Kind::Fuse => Ok(FusePlan::new(keys, false_positive_rate)?.size_bytes()),
        Kind::Ribbon => Ok(RibbonPlan::new(keys, false_positive_rate)?.size_bytes()),
        Kind::GrowingCuckoo => {
            let plan = GrowingCuckooPlan::with_maximum(keys, false_positive_rate)?;
            Ok(plan.size_and_tables_at(keys).0)
        }
        Kind::CountingCuckoo => {
            let plan = GrowingCuckooPlan::with_maximum(keys, false_positive_rate)?;
            Ok(plan.counting_size_and_tables_at(keys).0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(requirements: Requirements, keys: u64, rate: f64) -> Vec<Kind> {
        let choices = requirements.choices(keys, rate).unwrap();
        choices.into_iter().map(|choice| choice.kind).collect()
    }

    const NONE: Requirements = Requirements {
        delete: false,
        grow: false,
        expire: false,
        fixed: false,
        exceptions: 0,
    };
    const FIXED: Requirements = Requirements {
        fixed: true,
        ..NONE
    };

    #[test]
    fn every_requirement_gets_the_kind_that_fulfils_it() {
        for (requirements, best) in [
            (NONE, Kind::Bloom),
            (
                Requirements {
                    exceptions: 9,
                    ..NONE
                },
                Kind::Bloom,
            ),
            (
                Requirements {
                    delete: true,
                    ..NONE
                },
                Kind::Cuckoo,
            ),
            (
                Requirements {
                    delete: true,
                    grow: true,
                    ..NONE
                },
                Kind::GrowingCuckoo,
            ),
            (Requirements { grow: true, ..NONE }, Kind::Growing),
            (
                Requirements {
                    expire: true,
                    ..NONE
                },
                Kind::WindowCuckoo,
            ),
            (
                Requirements {
                    expire: true,
                    grow: true,
                    ..NONE
                },
                Kind::WindowCuckoo,
            ),
            (FIXED, Kind::Fuse),
        ] {
            assert_eq!(
                kinds(requirements, 1_000_000, 0.003_91)[0],
                best,
                "{requirements:?}"
            );
        }
    }

    #[test]
    fn a_fixed_set_gets_a_ribbon_if_a_fuse_would_waste_a_fifth_of_its_bits() {
        for rate in [0.004, 0.001, 1e-4, 1.6e-5, 1.5e-5, 1e-6] {
            assert_eq!(kinds(FIXED, 1_000_000, rate)[0], Kind::Fuse, "{rate}");
        }
        // A cell has whole bits, and at least 4.
        for rate in [0.05, 0.2, 0.5] {
            assert_eq!(kinds(FIXED, 1_000_000, rate)[0], Kind::Ribbon, "{rate}");
        }
    }

    #[test]
    fn conflicting_requirements_are_rejected() {
        for requirements in [
            Requirements {
                delete: true,
                ..FIXED
            },
            Requirements {
                grow: true,
                ..FIXED
            },
            Requirements {
                expire: true,
                ..FIXED
            },
            Requirements {
                expire: true,
                delete: true,
                ..NONE
            },
            Requirements {
                exceptions: 1,
                delete: true,
                ..NONE
            },
            Requirements {
                exceptions: 1,
                expire: true,
                ..NONE
            },
        ] {
            let refused = |error| matches!(error, Err(PlanError::ConflictingRequirements { .. }));
            assert!(
                refused(requirements.choices(10, 0.01).map(|_| ())),
                "{requirements:?}"
            );
            assert!(refused(
                requirements.largest_within(1 << 20, 0.01).map(|_| ())
            ));
            assert!(refused(
                requirements.strictest_within(1 << 20, 10).map(|_| ())
            ));
        }
    }

    #[test]
    fn a_memory_budget_is_used_and_not_exceeded() {
        for requirements in [
            NONE,
            FIXED,
            Requirements {
                delete: true,
                ..NONE
            },
            Requirements { grow: true, ..NONE },
            Requirements {
                expire: true,
                ..NONE
            },
        ] {
            let (memory, kind) = (1 << 20, requirements.candidates()[0].0);
            let rate = requirements.strictest_within(memory, 500_000).unwrap();
            assert!(size_bytes(kind, 500_000, rate).unwrap() <= memory, "{kind}");
            assert!(
                size_bytes(kind, 500_000, rate * 0.998).map_or(true, |size| size > memory),
                "{kind}"
            );
            let keys = requirements.largest_within(memory, 0.01).unwrap();
            assert!(size_bytes(kind, keys, 0.01).unwrap() <= memory, "{kind}");
            assert!(size_bytes(kind, keys + 1, 0.01).unwrap() > memory, "{kind}");
        }
        // 4 bits per key are too few for a Fuse and enough for a Ribbon.
        assert!(FIXED.strictest_within(500_000, 1_000_000).unwrap() < 0.07);
    }
}
