//! Sizes of a `GrowingBloom`: a chain of layers, each larger and stricter than the one before, so that the rates of all add up to
//! what was requested, however long the chain gets.
//!
//! Layer 0 has the declared capacity and 6/10 of the rate: who guessed right pays one bit per key. Each further layer makes room
//! for 1.75 times as many keys as before, and the rest of the rate falls by 0.85 a layer: 0.4 · 0.15 · 0.85^(i-1). From 100 keys to
//! 1M at 1 % that is 28.8 bits per key at the end, 37 at the worst point and 25.9 on average over all sizes (doubling layers at
//! half the rate each: 46, 57 and more). With a maximum, layers get the rate in proportion to their size, which is the optimum for
//! chains of known length; a tenth is kept back for whoever goes past the maximum.

use super::{BloomPlan, CuckooPlan, check_capacity, check_rate};
use crate::PlanError;

const FIRST_SHARE: f64 = 0.6;
const GROWTH: f64 = 1.75;
const DECAY: f64 = 0.85;
const WITHIN_MAXIMUM: f64 = 0.9;

/// How a [`GrowingBloom`](crate::GrowingBloom) grows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GrowingPlan {
    capacity: u64,
    maximum: Option<u64>,
    false_positive_rate: f64,
}

impl GrowingPlan {
    /// A chain that begins with `capacity` keys and keeps the rate at any size.
    ///
    /// # Errors
    /// As [`BloomPlan::new`], for the first layer.
    pub fn new(capacity: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self {
            capacity,
            maximum: None,
            false_positive_rate,
        }
        .checked()
    }

    /// The same for who knows that there will hardly be more than `maximum` keys: larger while small, smaller when large.
    ///
    /// # Errors
    /// As [`BloomPlan::new`]; when the maximum is below the capacity.
    pub fn with_maximum(
        capacity: u64,
        maximum: u64,
        false_positive_rate: f64,
    ) -> Result<Self, PlanError> {
        if maximum < capacity {
            return Err(PlanError::InvalidInteger {
                field: "maximum",
                value: maximum,
                accepted: "at least the capacity",
            });
        }
        Self {
            capacity,
            maximum: Some(maximum),
            false_positive_rate,
        }
        .checked()
    }

    /// The plan of a filter that exists already: as [`with_maximum`](Self::with_maximum), or [`new`](Self::new) without one.
    ///
    /// # Errors
    /// The same.
    pub fn from_shape(
        capacity: u64,
        maximum: Option<u64>,
        false_positive_rate: f64,
    ) -> Result<Self, PlanError> {
        match maximum {
            None => Self::new(capacity, false_positive_rate),
            Some(maximum) => Self::with_maximum(capacity, maximum, false_positive_rate),
        }
    }

    fn checked(self) -> Result<Self, PlanError> {
        check_capacity(self.capacity)?;
        check_rate(self.false_positive_rate)?;
        self.layer(0).map(|_| self)
    }

    /// The plan of layer `number`. Capacities are rounded up.
    ///
    /// # Errors
    /// When it is too large to be planned for.
    pub fn layer(&self, number: u32) -> Result<BloomPlan, PlanError> {
        let (capacity, rate) = self.part(number);
        BloomPlan::new(capacity, rate)
    }

    /// The plan of table `number` of a [`Cuckoo`](crate::Cuckoo) that grows: as large as the layer, and as strict.
    ///
    /// # Errors
    /// When it is too large to be planned for, or too strict: at 1e-6, from the tenth on.
    pub fn cuckoo_table(&self, number: u32) -> Result<CuckooPlan, PlanError> {
        let (capacity, rate) = self.part(number);
        CuckooPlan::new(capacity, rate)
    }

    /// The capacity and the rate of part `number` of the chain.
    fn part(&self, number: u32) -> (u64, f64) {
        let before = if number == 0 {
            0.0
        } else {
            self.total_capacity(number - 1)
        };
        // Saturates, and is refused as too large.
        let capacity = libm::ceil(self.total_capacity(number) - before) as u64;
        (capacity, self.false_positive_rate * self.share(number))
    }

    /// Bytes and layers of a chain that has just taken in its `keys`th key.
    ///
    /// # Errors
    /// When it is too large to be planned for.
    pub fn size_and_layers_at(&self, keys: u64) -> Result<(u64, u32), PlanError> {
        let (mut held, mut size_bytes, mut layers) = (0_u64, 0_u64, 0);
        while held < keys {
            let layer = self.layer(layers)?;
            held = held.saturating_add(layer.capacity());
            size_bytes = size_bytes.saturating_add(layer.size_bytes());
            layers += 1;
        }
        Ok((size_bytes, layers))
    }

    /// The part of the rate that a layer may use up; all parts together are at most 1.
    fn share(&self, number: u32) -> f64 {
        let Some(maximum) = self.maximum else {
            return if number == 0 {
                FIRST_SHARE
            } else {
                (1.0 - FIRST_SHARE) * decayed(number - 1)
            };
        };
        let last = self.layer_for(maximum);
        if number > last {
            return (1.0 - WITHIN_MAXIMUM) * decayed(number - last - 1);
        }
        let before = if number == 0 {
            0.0
        } else {
            self.total_capacity(number - 1)
        };
        WITHIN_MAXIMUM * (self.total_capacity(number) - before) / self.total_capacity(last)
    }

    /// For how many keys the layers up to `number` make room.
    fn total_capacity(&self, number: u32) -> f64 {
        self.capacity as f64 * libm::pow(GROWTH, f64::from(number))
    }

    /// The number of the layer with which the chain holds `keys` keys.
    fn layer_for(&self, keys: u64) -> u32 {
        let mut last = 0;
        while self.total_capacity(last) < keys as f64 {
            last += 1;
        }
        last
    }

    /// Keys that the first layer is planned for.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The most keys that are expected, if that was said.
    pub fn maximum(&self) -> Option<u64> {
        self.maximum
    }

    /// The rate of the whole chain.
    pub fn false_positive_rate(&self) -> f64 {
        self.false_positive_rate
    }
}

/// A geometric series that sums to 1.
fn decayed(number: u32) -> f64 {
    (1.0 - DECAY) * libm::pow(DECAY, f64::from(number))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    /// Bits a key of a chain that has just taken in its `keys`th key.
    fn bits_per_key(plan: &GrowingPlan, keys: u64) -> f64 {
        let (size_bytes, _) = plan.size_and_layers_at(keys).unwrap();
        size_bytes as f64 * 8.0 / keys as f64
    }

    #[test]
    fn what_comes_next_is_never_out_of_proportion() {
        let maxima = [None, Some(1), Some(1000), Some(1 << 40)];
        for (capacity, maximum) in [1, 10, 1000, 1_000_000]
            .into_iter()
            .flat_map(|capacity| maxima.map(|maximum| (capacity, maximum)))
        {
            for rate in [0.99, 0.5, 0.01, 1e-6, 1e-9] {
                let maximum = maximum.map(|maximum| capacity.max(maximum));
                let Ok(plan) = GrowingPlan::from_shape(capacity, maximum, rate) else {
                    continue;
                };
                let layers = |number| plan.layer(number).map(|layer| layer.size_bytes());
                let tables = |number| plan.cuckoo_table(number).map(|table| table.size_bytes());
                check_parts(layers);
                check_parts(tables);
            }
        }
    }

    /// A chain ends with the first part that cannot be planned.
    fn check_parts(size_bytes: impl Fn(u32) -> Result<u64, PlanError>) {
        let mut held = 0;
        for number in 0..60 {
            let next = size_bytes(number);
            assert!(
                number == 0 || crate::plan::check_growth(next, held).is_ok(),
                "{next:?} after {held}"
            );
            let Ok(next) = next else { return };
            held += next;
        }
    }

    #[test]
    fn the_rates_of_all_layers_add_up_to_what_was_asked() {
        for plan in [
            GrowingPlan::new(100, 0.01).unwrap(),
            GrowingPlan::with_maximum(100, 1_000_000, 0.01).unwrap(),
            GrowingPlan::with_maximum(100, 100, 0.01).unwrap(),
        ] {
            let sum: f64 = (0..200).map(|number| plan.share(number)).sum();
            assert!(sum <= 1.0 + 1e-12 && sum > 0.99, "{plan:?}: {sum}");
        }
    }

    #[test]
    fn growing_from_100_keys_to_a_million_stays_small() {
        let plan = GrowingPlan::new(100, 0.01).unwrap();
        assert!(bits_per_key(&plan, 1_000_000) <= 32.0);
        let sizes: Vec<u64> = (0..=400)
            .map(|i| libm::pow(10.0, 2.0 + f64::from(i) / 100.0) as u64)
            .collect();
        let bits: Vec<f64> = sizes
            .iter()
            .map(|&keys| bits_per_key(&plan, keys))
            .collect();
        let mean = bits.iter().sum::<f64>() / bits.len() as f64;
        assert!(mean <= 26.0, "{mean}");
        // The worst point is the first key of a new layer.
        let mut held = 0;
        for number in 0..19 {
            held += plan.layer(number).unwrap().capacity();
            let worst = bits_per_key(&plan, held + 1);
            assert!(worst <= 39.0, "{worst} bits/key at {held} keys");
        }
    }

    #[test]
    fn a_right_guess_costs_one_bit_and_a_maximum_pays_off() {
        assert!(bits_per_key(&GrowingPlan::new(10_000_000, 0.01).unwrap(), 10_000_000) <= 11.3);
        let known = GrowingPlan::with_maximum(100, 1_000_000, 0.01).unwrap();
        let last = known.layer_for(1_000_000);
        let held: u64 = (0..=last)
            .map(|number| known.layer(number).unwrap().capacity())
            .sum();
        assert!(
            bits_per_key(&known, held) <= 14.0,
            "{}",
            bits_per_key(&known, held)
        );
    }

    #[test]
    fn bad_requests_are_refused_by_name() {
        assert!(matches!(
            GrowingPlan::new(0, 0.01),
            Err(PlanError::InvalidInteger {
                field: "capacity",
                ..
            })
        ));
        assert!(matches!(
            GrowingPlan::new(10, 1.0),
            Err(PlanError::InvalidNumber {
                field: "false_positive_rate",
                ..
            })
        ));
        assert!(matches!(
            GrowingPlan::with_maximum(10, 9, 0.01),
            Err(PlanError::InvalidInteger {
                field: "maximum",
                ..
            })
        ));
    }
}
