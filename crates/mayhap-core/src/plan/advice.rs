//! Which kind of filter serves a list of wishes, how large it gets, and why this one.

use super::classic::ClassicPlan;
use super::counting::{self, CountingPlan};
use super::{
    BloomPlan, CuckooPlan, ExceptingPlan, FusePlan, GrowingPlan, RibbonPlan, WindowPlan, memory,
};
use crate::{Kind, PlanError};
use alloc::vec::Vec;
use core::time::Duration;

/// A `Fuse` is asked faster than a `Ribbon`; it may be so much larger before that stops being worth it.
const WORTH_ITS_SPEED: f64 = 1.25;

/// What a filter is to do, besides being small.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent of each other"
)]
pub struct Requirements {
    /// Keys are taken out again.
    pub delete: bool,
    /// Nobody knows how many keys will come.
    pub grow: bool,
    /// Keys are to be forgotten after a while.
    pub expire: bool,
    /// All keys are there before the filter is built.
    pub fixed: bool,
    /// So many known keys must never be taken for members.
    pub exceptions: u64,
}

/// A kind that serves, its size, and what speaks for it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KindChoice {
    /// The kind.
    pub kind: Kind,
    /// Bytes for the keys and the rate that were asked about, exceptions included.
    pub size_bytes: u64,
    /// Bytes of these for the exceptions.
    pub exception_bytes: u64,
    /// In a sentence.
    pub why: &'static str,
}

impl Requirements {
    /// The kinds that serve for a number of keys at such a rate, the recommended one first. Never empty.
    ///
    /// # Errors
    /// When two wishes exclude each other, or keys and rate cannot be planned for.
    pub fn choices(
        &self,
        keys: u64,
        false_positive_rate: f64,
    ) -> Result<Vec<KindChoice>, PlanError> {
        self.check()?;
        let mut choices = Vec::new();
        for &(kind, why) in self.candidates() {
            // A kind that does not reach so strict a rate or so many keys does not serve; the first one says why.
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

    /// What the exceptions take on top of a filter.
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

    /// The lowest rate, to four digits, at which `keys` keys fit into `memory` bytes, in the usual kind for these wishes or else
    /// the next that fits.
    ///
    /// # Errors
    /// When two wishes exclude each other, or nothing fits at any rate.
    pub fn strictest_within(&self, memory: u64, keys: u64) -> Result<f64, PlanError> {
        super::check_capacity(keys)?;
        self.first_candidate(|kind| match kind {
            Kind::Bloom if self.exceptions == 0 => {
                Ok(BloomPlan::strictest_within(memory, keys)?.false_positive_rate())
            }
            kind => memory::strictest(memory, |rate| self.total_bytes(kind, keys, rate)),
        })
    }

    /// The most keys that fit into `memory` bytes at a rate, in the usual kind for these wishes or else the next that fits.
    ///
    /// # Errors
    /// When two wishes exclude each other, the rate cannot be planned for, or not even one key fits.
    pub fn largest_within(&self, memory: u64, false_positive_rate: f64) -> Result<u64, PlanError> {
        self.first_candidate(|kind| {
            memory::largest(memory, |keys| {
                self.total_bytes(kind, keys, false_positive_rate)
            })
        })
    }

    /// What the first kind says that has an answer; if none has, the first's reason.
    fn first_candidate<T>(
        &self,
        ask: impl Fn(Kind) -> Result<T, PlanError>,
    ) -> Result<T, PlanError> {
        self.check()?;
        let mut answers = self.candidates().iter().map(|&(kind, _)| ask(kind));
        let first = answers.next().expect("there is always a candidate");
        first.or_else(|error| answers.find_map(Result::ok).ok_or(error))
    }

    /// The kinds that can do it, the usual choice first.
    fn candidates(&self) -> &'static [(Kind, &'static str)] {
        if self.fixed {
            &[
                (
                    Kind::Fuse,
                    "the set is fixed: built once, asked fastest, smaller than a Bloom filter at the rates that fit its 8, 16 or 32 bits",
                ),
                (
                    Kind::Ribbon,
                    "the set is fixed: built once, as small as a filter can be, slower to ask",
                ),
                (Kind::Bloom, "if the set may yet get more keys"),
            ]
        } else if self.expire {
            &[(
                Kind::Window,
                "keys are forgotten after the window: nothing to delete, nothing to rebuild",
            )]
        } else if self.delete && self.grow {
            &[(
                Kind::Cuckoo,
                "keys can be removed, and it opens another table when one is full (Cuckoo::growing)",
            )]
        } else if self.delete {
            &[
                (
                    Kind::Cuckoo,
                    "keys can be removed, in a quarter of a counting filter's memory",
                ),
                (
                    Kind::Counting,
                    "if filters are to be merged or keys counted as well",
                ),
            ]
        } else if self.exceptions > 0 && !self.grow {
            &[
                (
                    Kind::Bloom,
                    "keys are only added, and the exceptions are never found (Excepting)",
                ),
                (Kind::Classic, "if another system is to read the bits"),
            ]
        } else if self.grow {
            &[(Kind::Growing, "the rate is kept however many keys come")]
        } else {
            &[
                (
                    Kind::Bloom,
                    "keys are only added: one hash, one or two cache lines, any number of threads",
                ),
                (
                    Kind::Cuckoo,
                    "if keys are to be removed; two cache lines, and it can be full",
                ),
                (Kind::Classic, "if another system is to read the bits"),
            ]
        }
    }

    fn check(&self) -> Result<(), PlanError> {
        let clash = |first: bool, second: bool, wishes, instead| {
            if first && second {
                Err(PlanError::ConflictingRequirements {
                    requirements: wishes,
                    instead,
                })
            } else {
                Ok(())
            }
        };
        clash(
            self.fixed,
            self.delete || self.grow || self.expire,
            "a fixed set, and one that changes",
            "leave out the first, or the others",
        )?;
        clash(
            self.expire,
            self.delete,
            "to forget by time, and to delete",
            "choose one: a window holds a key in one of several filters and cannot take it out",
        )?;
        clash(
            self.exceptions > 0,
            self.expire || self.delete,
            "exceptions, and keys that go away",
            "keep the exceptions beside the filter, or build it anew when keys go",
        )
    }
}

/// What a filter of a kind takes for a number of keys at a rate: a window's keys are those of one window, a growing filter's those
/// that it begins with, and a retouched filter's lists of keys are left out.
///
/// # Errors
/// When it cannot be planned.
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
            // How long a window is does not matter to its size.
            let plan = WindowPlan::new(keys, false_positive_rate, Duration::from_secs(1))?;
            Ok(plan
                .layer(0)?
                .size_bytes()
                .saturating_mul(u64::from(plan.slices()) + 1))
        }
        Kind::Cuckoo => Ok(CuckooPlan::new(keys, false_positive_rate)?.size_bytes()),
        Kind::Fuse => Ok(FusePlan::new(keys, false_positive_rate)?.size_bytes()),
        Kind::Ribbon => Ok(RibbonPlan::new(keys, false_positive_rate)?.size_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(wishes: Requirements, keys: u64, rate: f64) -> Vec<Kind> {
        let choices = wishes.choices(keys, rate).unwrap();
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
    fn every_wish_leads_to_the_kind_that_fulfils_it() {
        for (wishes, best) in [
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
                Kind::Cuckoo,
            ),
            (Requirements { grow: true, ..NONE }, Kind::Growing),
            (
                Requirements {
                    expire: true,
                    ..NONE
                },
                Kind::Window,
            ),
            (
                Requirements {
                    expire: true,
                    grow: true,
                    ..NONE
                },
                Kind::Window,
            ),
            (FIXED, Kind::Fuse),
        ] {
            assert_eq!(kinds(wishes, 1_000_000, 0.003_91)[0], best, "{wishes:?}");
        }
    }

    #[test]
    fn a_fixed_set_gets_a_ribbon_where_a_fuse_would_waste_half_of_its_bits() {
        // 8 bits hold 0.39 %; 0.1 % needs 16.
        assert_eq!(kinds(FIXED, 1_000_000, 0.004)[0], Kind::Fuse);
        assert_eq!(kinds(FIXED, 1_000_000, 0.001)[0], Kind::Ribbon);
        assert_eq!(kinds(FIXED, 1_000_000, 0.05)[0], Kind::Ribbon);
        assert_eq!(kinds(FIXED, 1_000_000, 1.6e-5)[0], Kind::Fuse);
    }

    #[test]
    fn wishes_that_exclude_each_other_are_refused() {
        for wishes in [
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
            assert!(refused(wishes.choices(10, 0.01).map(|_| ())), "{wishes:?}");
            assert!(refused(wishes.largest_within(1 << 20, 0.01).map(|_| ())));
            assert!(refused(wishes.strictest_within(1 << 20, 10).map(|_| ())));
        }
    }

    #[test]
    fn a_budget_is_used_up_and_kept() {
        for wishes in [
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
            let (memory, kind) = (1 << 20, wishes.candidates()[0].0);
            let rate = wishes.strictest_within(memory, 500_000).unwrap();
            assert!(size_bytes(kind, 500_000, rate).unwrap() <= memory, "{kind}");
            assert!(
                size_bytes(kind, 500_000, rate * 0.998).map_or(true, |size| size > memory),
                "{kind}"
            );
            let keys = wishes.largest_within(memory, 0.01).unwrap();
            assert!(size_bytes(kind, keys, 0.01).unwrap() <= memory, "{kind}");
            assert!(size_bytes(kind, keys + 1, 0.01).unwrap() > memory, "{kind}");
        }
        // 7.1 bits per key are too few for a Fuse and enough for a Ribbon.
        assert!(FIXED.strictest_within(885_000, 1_000_000).unwrap() < 0.01);
    }
}
