//! What a filter costs and saves, and therefore which false-positive rate is worth its memory.
//!
//! The model is a filter in front of something slow, a disk or a network. A lookup that the filter answers costs `C1`, one that
//! passes it costs `C2`; `P3` of the lookups are for present keys, the others pass with the filter's false-positive rate. Costs
//! can be in any unit, seconds or money, as long as it is the same throughout.
//!
//! The cost of the filter lookup itself is not modelled: include it in `C1` and `C2` if it matters.

use super::{check_capacity, classic};
use crate::PlanError;

/// The range of rates to search.
const RATES: (f64, f64) = (1e-9, 0.5);
const BITS_PER_GIB: f64 = 8.0 * 1024.0 * 1024.0 * 1024.0;

/// The lookups in front of which a filter is placed.
///
/// Of all lookups, `P1` are for absent keys and answered by the filter, `P2` are for absent keys and pass it, `P3` are for
/// present keys. Nothing is rounded except by `f64`.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::plan::cost::LookupCosts;
/// // A skipped lookup costs nothing, one on disk 5 ms; a tenth of the keys are present.
/// let costs = LookupCosts::new(0.0, 5.0, 0.1)?;
/// assert!(costs.filter_cost(0.01) < costs.no_filter_cost());
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LookupCosts {
    skip_cost: f64,
    lookup_cost: f64,
    present_share: f64,
}

/// The rate at which lookups and memory together cost least, and these costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestRate {
    /// The rate, between 1e-9 and 0.5.
    pub false_positive_rate: f64,
    /// The cost of all lookups of the period, with a filter of this rate.
    pub lookup_cost: f64,
    /// The cost of the filter's memory for the period.
    pub memory_cost: f64,
    /// How much more lookups without a filter would cost. If negative, do not use a filter.
    pub saved: f64,
}

impl LookupCosts {
    /// Lookups that cost `skip_cost` (`C1`) if the filter answers and `lookup_cost` (`C2`) if they pass it, `present_share`
    /// (`P3`) of them for present keys.
    ///
    /// # Errors
    ///
    /// A cost that is negative or not finite, a lookup that is cheaper than skipping it, a share outside 0 to 1.
    pub fn new(skip_cost: f64, lookup_cost: f64, present_share: f64) -> Result<Self, PlanError> {
        check_amount("skip_cost", skip_cost)?;
        check_amount("lookup_cost", lookup_cost)?;
        if lookup_cost < skip_cost {
            return Err(PlanError::InvalidNumber {
                field: "lookup_cost",
                value: lookup_cost,
                accepted: "at least skip_cost, or there is nothing to save",
            });
        }
        if !(0.0..=1.0).contains(&present_share) {
            return Err(PlanError::InvalidNumber {
                field: "present_share",
                value: present_share,
                accepted: "a share from 0 to 1",
            });
        }
        Ok(Self {
            skip_cost,
            lookup_cost,
            present_share,
        })
    }

    /// `P1`, the share of lookups that the filter answers.
    pub fn skipped_share(&self, false_positive_rate: f64) -> f64 {
        (1.0 - self.present_share) * (1.0 - false_positive_rate)
    }

    /// `P2`, the share of lookups that pass the filter for absent keys.
    pub fn wasted_share(&self, false_positive_rate: f64) -> f64 {
        (1.0 - self.present_share) * false_positive_rate
    }

    /// The average cost of a lookup with a filter: `P1 C1 + (P2 + P3) C2`.
    pub fn filter_cost(&self, false_positive_rate: f64) -> f64 {
        let through = self.wasted_share(false_positive_rate) + self.present_share;
        self.skipped_share(false_positive_rate) * self.skip_cost + through * self.lookup_cost
    }

    /// The average cost of a lookup with an exact set: `(P1 + P2) C1 + P3 C2`.
    pub fn exact_cost(&self) -> f64 {
        (1.0 - self.present_share) * self.skip_cost + self.present_share * self.lookup_cost
    }

    /// The cost of a lookup without a filter: `C2`.
    pub fn no_filter_cost(&self) -> f64 {
        self.lookup_cost
    }

    /// How much more a lookup costs with a filter than with an exact set: `P2 (C2 - C1)`.
    pub fn extra_cost(&self, false_positive_rate: f64) -> f64 {
        self.wasted_share(false_positive_rate) * (self.lookup_cost - self.skip_cost)
    }

    /// How much a filter saves in a million lookups: `1e6 P1 (C2 - C1)`. Never below 0.
    pub fn saved_per_million(&self, false_positive_rate: f64) -> f64 {
        let saved = self.lookup_cost - self.skip_cost;
        1e6 * self.skipped_share(false_positive_rate) * saved
    }

    /// The best rate for a classic filter of `keys` keys: see [`best_rate_with`](Self::best_rate_with).
    ///
    /// # Errors
    ///
    /// No keys; lookups or a cost that are negative or not finite.
    pub fn best_rate(&self, keys: u64, lookups: f64, gib_cost: f64) -> Result<BestRate, PlanError> {
        self.best_rate_with(keys, lookups, gib_cost, classic::ideal_bits_per_key)
    }

    /// The rate at which lookups and memory together cost least.
    ///
    /// `lookups` is the number of lookups in some period, and `gib_cost` the cost of one GiB (2^30 bytes) for the same period, in
    /// the unit of the other costs: for example the lookups of a month, and cents per GiB and month. `bits_per_key` is the memory
    /// per key for a rate, and must fall as the rate rises.
    ///
    /// A golden-section search over the logarithm of the rate, from 1e-9 to 0.5; the answer is an end of this range if the cost
    /// only rises or only falls. Accurate to about 1 part in 10^6, where the cost no longer changes. If `bits_per_key` has steps,
    /// the result may be a local minimum.
    ///
    /// # Errors
    ///
    /// No keys; lookups or a cost that are negative or not finite.
    pub fn best_rate_with(
        &self,
        keys: u64,
        lookups: f64,
        gib_cost: f64,
        bits_per_key: impl Fn(f64) -> f64,
    ) -> Result<BestRate, PlanError> {
        check_capacity(keys)?;
        check_amount("lookups", lookups)?;
        check_amount("gib_cost", gib_cost)?;
        let bit_cost = keys as f64 * gib_cost / BITS_PER_GIB;
        // Only what depends on the rate: compared with the total cost the differences would be lost to rounding.
        let cost = |rate| lookups * self.extra_cost(rate) + bit_cost * bits_per_key(rate);
        let ln_rates = (libm::log(RATES.0), libm::log(RATES.1));
        let mut rate = libm::exp(golden_section(ln_rates, |ln_rate| cost(libm::exp(ln_rate))));
        for end in [RATES.0, RATES.1] {
            if cost(end) <= cost(rate) {
                rate = end;
            }
        }
        let lookup_cost = lookups * self.filter_cost(rate);
        let memory_cost = bit_cost * bits_per_key(rate);
        Ok(BestRate {
            false_positive_rate: rate,
            lookup_cost,
            memory_cost,
            saved: lookups * self.no_filter_cost() - lookup_cost - memory_cost,
        })
    }
}

/// The minimum of a function that falls and then rises, to 1 part in 10^8 of the range.
fn golden_section((mut low, mut high): (f64, f64), cost: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let mut left = high - GOLDEN * (high - low);
    let mut right = low + GOLDEN * (high - low);
    let (mut left_cost, mut right_cost) = (cost(left), cost(right));
    for _ in 0..40 {
        if left_cost <= right_cost {
            (high, right, right_cost) = (right, left, left_cost);
            left = high - GOLDEN * (high - low);
            left_cost = cost(left);
        } else {
            (low, left, left_cost) = (left, right, right_cost);
            right = low + GOLDEN * (high - low);
            right_cost = cost(right);
        }
    }
    f64::midpoint(low, high)
}

fn check_amount(field: &'static str, value: f64) -> Result<(), PlanError> {
    if value >= 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(PlanError::InvalidNumber {
            field,
            value,
            accepted: "a finite number, 0 or above",
        })
    }
}

#[cfg(test)]
mod tests {
    use core::f64::consts::LN_2;

    use super::*;

    /// A skipped lookup costs 1, a real one 101, and three quarters of the lookups are for absent keys.
    fn disk() -> LookupCosts {
        LookupCosts::new(1.0, 101.0, 0.25).unwrap()
    }

    fn close(value: f64, expected: f64, share: f64) -> bool {
        (value - expected).abs() <= share * expected.abs()
    }

    #[test]
    fn costs_match_manual_calculation() {
        let disk = disk();
        // Of 100 lookups at a rate of 4 %: 72 skipped, 3 passed for absent keys, 25 for present keys.
        for (value, expected) in [
            (disk.skipped_share(0.04), 0.72),
            (disk.wasted_share(0.04), 0.03),
            (disk.filter_cost(0.04), 0.72 + 0.28 * 101.0),
            (disk.exact_cost(), 0.75 + 0.25 * 101.0),
            (disk.no_filter_cost(), 101.0),
            (disk.extra_cost(0.04), 3.0),
            (disk.saved_per_million(0.04), 72e6),
        ] {
            assert!(close(value, expected, 1e-15), "{value}, not {expected}");
        }
    }

    #[test]
    fn the_three_costs_differ_by_the_documented_amounts() {
        for (c1, c2, p3) in [
            (0.0, 1.0, 0.0),
            (1.0, 1.0, 0.5),
            (0.2, 7.0, 0.9),
            (3.0, 5e6, 1.0),
        ] {
            let lookups = LookupCosts::new(c1, c2, p3).unwrap();
            for rate in [0.0, 1e-6, 0.01, 0.5, 1.0] {
                let filter = lookups.filter_cost(rate);
                let over_exact = lookups.exact_cost() + lookups.extra_cost(rate);
                let under_none = lookups.no_filter_cost() - lookups.saved_per_million(rate) / 1e6;
                let (low, high) = (filter - 1e-14 * c2, filter + 1e-14 * c2);
                assert!((low..=high).contains(&over_exact) && (low..=high).contains(&under_none));
                let present = 1.0 - lookups.skipped_share(rate) - lookups.wasted_share(rate);
                assert!((present - p3).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn the_best_rate_of_a_classic_filter_is_where_its_derivative_is_zero() {
        let disk = disk();
        for (keys, lookups, gib_cost) in [
            (1_000_000, 1e6, 3e9),
            (1_000_000_000, 1e9, 2e6),
            (50_000, 1e6, 1e4),
            (7, 123.0, 8e10),
        ] {
            let best = disk.best_rate(keys, lookups, gib_cost).unwrap();
            // lookups (1 - P3) (C2 - C1) = keys * cost of a bit / (p (ln 2)^2)
            let bits_cost = keys as f64 * gib_cost / 8_589_934_592.0;
            let expected = bits_cost / (LN_2 * LN_2 * lookups * 0.75 * 100.0);
            assert!(
                expected > 1e-9 && expected < 0.5,
                "the search must have something to find"
            );
            assert!(
                close(best.false_positive_rate, expected, 1e-6),
                "{best:?} {expected}"
            );

            let memory = bits_cost * -libm::log(expected) / (LN_2 * LN_2);
            assert!(close(best.memory_cost, memory, 1e-6));
            assert!(close(
                best.lookup_cost,
                lookups * disk.filter_cost(expected),
                1e-6
            ));
            let without = lookups * disk.no_filter_cost();
            let sum = best.lookup_cost + best.memory_cost + best.saved;
            assert!(close(sum, without, 1e-12));
        }
    }

    #[test]
    fn no_other_rate_is_cheaper() {
        let disk = disk();
        // A block-aware curve and a steep one; the cost range puts the optimum of the first inside.
        let curves: [fn(f64) -> f64; 2] = [
            |rate| 9.9 + 1.7 * libm::log(0.01 / rate),
            |rate| 1.0 / libm::sqrt(rate),
        ];
        for bits_per_key in curves {
            for gib_cost in [1e2, 1e5, 1e7, 1e8] {
                let best = disk
                    .best_rate_with(1_000_000, 1e6, gib_cost, bits_per_key)
                    .unwrap();
                let total = best.lookup_cost + best.memory_cost;
                for step in 0_u32..=1_000 {
                    let rate = 1e-9 * libm::pow(5e8, f64::from(step) / 1e3);
                    let memory = 1e6 * gib_cost / BITS_PER_GIB * bits_per_key(rate);
                    let other = 1e6 * disk.filter_cost(rate) + memory;
                    assert!(total <= other * (1.0 + 1e-12), "{best:?} {rate}");
                }
            }
        }
    }

    #[test]
    fn if_only_one_side_costs_the_best_rate_is_an_end_of_the_range() {
        let disk = disk();
        let rate = |lookups, gib_cost| {
            let best = disk.best_rate(1_000, lookups, gib_cost).unwrap();
            best.false_positive_rate.to_bits()
        };
        assert_eq!(rate(1e6, 0.0), f64::to_bits(1e-9));
        assert_eq!(rate(0.0, 1e6), f64::to_bits(0.5));
        // All keys are present: a filter only costs memory.
        let present = LookupCosts::new(1.0, 101.0, 1.0).unwrap();
        let best = present.best_rate(1_000, 1e6, 1e6).unwrap();
        assert!(close(best.false_positive_rate, 0.5, 1e-15) && best.saved < 0.0);
    }

    #[test]
    fn invalid_requests_name_the_field() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        for (c1, c2, p3, name) in [
            (-1.0, 5.0, 0.5, "skip_cost"),
            (nan, 5.0, 0.5, "skip_cost"),
            (1.0, inf, 0.5, "lookup_cost"),
            (1.0, nan, 0.5, "lookup_cost"),
            (1.0, 0.5, 0.5, "lookup_cost"),
            (1.0, 5.0, -0.1, "present_share"),
            (1.0, 5.0, 1.1, "present_share"),
            (1.0, 5.0, nan, "present_share"),
        ] {
            let refused = LookupCosts::new(c1, c2, p3);
            assert!(
                matches!(refused, Err(PlanError::InvalidNumber { field, .. }) if field == name)
            );
        }
        let disk = disk();
        for (lookups, gib_cost, name) in [(-1.0, 1.0, "lookups"), (1.0, nan, "gib_cost")] {
            let refused = disk.best_rate(9, lookups, gib_cost);
            assert!(
                matches!(refused, Err(PlanError::InvalidNumber { field, .. }) if field == name)
            );
        }
        let no_keys = disk.best_rate(0, 1.0, 1.0);
        assert!(matches!(
            no_keys,
            Err(PlanError::InvalidInteger {
                field: "capacity",
                value: 0,
                ..
            })
        ));
    }
}
