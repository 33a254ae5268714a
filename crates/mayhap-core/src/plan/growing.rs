//! The sizes of a `GrowingBloom`: a chain of layers, each larger and stricter than the one before, so that their rates add up to
//! the requested one, however long the chain gets.
//!
//! Layer 0 has the declared capacity and 6/10 of the rate: if the capacity is right, this costs one bit per key. Each further
//! layer increases the total capacity by a factor of 1.75, and the rest of the rate falls by 0.85 per layer: 0.4 · 0.15 ·
//! 0.85^(i-1). From 100 keys to 1M at 1 % that is 28.8 bits per key at the end, 37 at the worst point and 25.9 on average over
//! all sizes (doubling layers at half the rate each: 46, 57 and more). With a maximum, layers get the rate in proportion to their
//! size, which is the optimum for chains of known length; a tenth is reserved for growth beyond the maximum.

use super::{BloomPlan, CuckooPlan, check_capacity, check_rate};
use crate::PlanError;

const FIRST_SHARE: f64 = 0.6;
const GROWTH: f64 = 1.75;
const DECAY: f64 = 0.85;
const WITHIN_MAXIMUM: f64 = 0.9;

/// How a [`GrowingBloom`](crate::GrowingBloom) grows.
///
/// ```
/// # use mayhap_core as mayhap;
/// let plan = mayhap::plan::GrowingPlan::new(1000, 0.01)?;
/// let (bytes, layers) = plan.size_and_layers_at(1_000_000)?;
/// println!("a million keys: {bytes} bytes in {layers} layers");
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GrowingPlan {
    capacity: u64,
    maximum: Option<u64>,
    false_positive_rate: f64,
}

impl GrowingPlan {
    /// A chain that starts with `capacity` keys and keeps the rate at any size.
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

    /// The same if there will hardly be more than `maximum` keys: larger while small, smaller when large.
    ///
    /// # Errors
    /// As [`BloomPlan::new`]; also if the maximum is below the capacity.
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

    /// The plan of a filter that exists already: as [`with_maximum`](Self::with_maximum), or as [`new`](Self::new) without one.
    ///
    /// # Errors
    /// As `with_maximum`.
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
    /// If it is too large to be planned.
    pub fn layer(&self, number: u32) -> Result<BloomPlan, PlanError> {
        let (capacity, rate) = self.part(number);
        BloomPlan::new(capacity, rate)
    }

    /// The plan of table `number` of a growing [`Cuckoo`](crate::Cuckoo): with the capacity and the rate of the layer.
    ///
    /// # Errors
    /// If it is too large to be planned, or too strict: at 1e-6, from the tenth on.
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
        // Saturates, and is then rejected as too large.
        let capacity = libm::ceil(self.total_capacity(number) - before) as u64;
        (capacity, self.false_positive_rate * self.share(number))
    }

    /// Bytes and layers of a chain after its `keys`th key.
    ///
    /// # Errors
    /// If it is too large to be planned.
    pub fn size_and_layers_at(&self, keys: u64) -> Result<(u64, u32), PlanError> {
        let (mut present, mut size_bytes, mut layers) = (0_u64, 0_u64, 0);
        while present < keys {
            let layer = self.layer(layers)?;
            present = present.saturating_add(layer.capacity());
            size_bytes = size_bytes.saturating_add(layer.size_bytes());
            layers += 1;
        }
        Ok((size_bytes, layers))
    }

    /// The share of the rate for a layer; all shares together are at most 1.
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

    /// The capacity of the layers up to `number`.
    fn total_capacity(&self, number: u32) -> f64 {
        self.capacity as f64 * libm::pow(GROWTH, f64::from(number))
    }

    /// The number of the layer in which the `keys`th key is stored.
    fn layer_for(&self, keys: u64) -> u32 {
        let mut last = 0;
        while self.total_capacity(last) < keys as f64 {
            last += 1;
        }
        last
    }

    /// The number of keys that the first layer is planned for.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The expected maximum number of keys, if there is one.
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

    /// Bits per key of a chain after its `keys`th key.
    fn bits_per_key(plan: &GrowingPlan, keys: u64) -> f64 {
        let (size_bytes, _) = plan.size_and_layers_at(keys).unwrap();
        size_bytes as f64 * 8.0 / keys as f64
    }

    #[test]
    fn the_next_part_is_never_out_of_proportion() {
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
        let mut present = 0;
        for number in 0..60 {
            let next = size_bytes(number);
            assert!(
                number == 0 || crate::plan::check_growth(next, present).is_ok(),
                "{next:?} after {present}"
            );
            let Ok(next) = next else { return };
            present += next;
        }
    }

    #[test]
    fn the_rates_of_all_layers_add_up_to_the_requested_one() {
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
        let mut present = 0;
        for number in 0..19 {
            present += plan.layer(number).unwrap().capacity();
            let worst = bits_per_key(&plan, present + 1);
            assert!(worst <= 39.0, "{worst} bits/key at {present} keys");
        }
    }

    #[test]
    fn a_right_capacity_costs_one_bit_and_a_maximum_pays_off() {
        assert!(bits_per_key(&GrowingPlan::new(10_000_000, 0.01).unwrap(), 10_000_000) <= 11.3);
        let known = GrowingPlan::with_maximum(100, 1_000_000, 0.01).unwrap();
        let last = known.layer_for(1_000_000);
        let present: u64 = (0..=last)
            .map(|number| known.layer(number).unwrap().capacity())
            .sum();
        assert!(
            bits_per_key(&known, present) <= 14.0,
            "{}",
            bits_per_key(&known, present)
        );
    }

    #[test]
    fn invalid_requests_name_the_field() {
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
