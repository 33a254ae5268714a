//! The size of a [`CountingBloom`](crate::CountingBloom): a classic filter with a small counter instead of every bit, and the
//! probability that counters saturate.
//!
//! With `n` distinct keys, each inserted once, the number of probes on one counter is Poisson with mean `kn/m`, which is ln 2 at
//! capacity. A counter of b bits saturates at 2^b - 1. A key that is inserted 2^b - 1 times always saturates its counters.

use super::classic::ClassicPlan;
use crate::PlanError;
use core::fmt;

/// The default number of bits per counter: one counter in 6e14 is saturated at capacity.
pub const DEFAULT_COUNTER_BITS: u8 = 4;

/// The shape of a [`CountingBloom`](crate::CountingBloom).
///
/// ```
/// # use mayhap_core as mayhap;
/// let plan = mayhap::plan::counting::CountingPlan::new(1_000_000, 0.01, 4)?;
/// assert_eq!(plan.max_count(), 15);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CountingPlan {
    classic: ClassicPlan,
    counter_bits: u8,
}

impl CountingPlan {
    /// The plan for `capacity` keys at a false-positive rate, with counters of `counter_bits` bits: as many counters as a classic
    /// filter has bits.
    ///
    /// # Errors
    /// If the capacity is 0, the rate is not between 0 and 1 or too strict for 64-bit hashes, or the counters have fewer than 3
    /// or more than 8 bits.
    pub fn new(
        capacity: u64,
        false_positive_rate: f64,
        counter_bits: u8,
    ) -> Result<Self, PlanError> {
        Self::from_classic(
            ClassicPlan::new(capacity, false_positive_rate)?,
            counter_bits,
        )
    }

    /// The plan for a given shape: one counter for each bit of the classic plan.
    ///
    /// # Errors
    /// If the classic plan has no bits, no probes or more than 4096, the counters have fewer than 3 or more than 8 bits, or their
    /// total number of bits does not fit a `u64`.
    pub fn from_classic(classic: ClassicPlan, counter_bits: u8) -> Result<Self, PlanError> {
        super::classic::check_shape(classic.bits, classic.probes)?;
        if !(3..=8).contains(&counter_bits) {
            return Err(PlanError::InvalidInteger {
                field: "counter_bits",
                value: u64::from(counter_bits),
                accepted: "3 to 8 bits a counter",
            });
        }
        if classic.bits.checked_mul(u64::from(counter_bits)).is_none() {
            return Err(PlanError::InvalidInteger {
                field: "capacity",
                value: classic.capacity,
                accepted: "fewer keys or a higher false_positive_rate: the bits of all counters would not fit a u64",
            });
        }
        Ok(Self {
            classic,
            counter_bits,
        })
    }

    /// The plan of the classic filter that has a bit for every counter.
    pub fn classic(&self) -> &ClassicPlan {
        &self.classic
    }

    /// Bits of one counter.
    pub fn counter_bits(&self) -> u8 {
        self.counter_bits
    }

    /// The number of counters.
    pub fn counters(&self) -> u64 {
        self.classic.bits
    }

    /// The largest count, at which a counter saturates: 15 for 4 bits.
    pub fn max_count(&self) -> u32 {
        (1 << self.counter_bits) - 1
    }

    /// Bytes of memory: all counters, rounded up, and one more so that each can be read as a pair of bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bits().div_ceil(8) + 1
    }

    /// Bits of all counters.
    pub fn size_bits(&self) -> u64 {
        self.counters() * u64::from(self.counter_bits)
    }

    /// Bits of memory per key, at capacity.
    pub fn bits_per_key(&self) -> f64 {
        self.size_bits() as f64 / self.classic.capacity as f64
    }

    /// The mean number of probes per counter with `keys` distinct keys.
    fn load(&self, keys: u64) -> f64 {
        f64::from(self.classic.probes) * keys as f64 / self.counters() as f64
    }

    /// The probability that a given counter is saturated with `keys` distinct keys: [`poisson_tail`] from
    /// [`CountingPlan::max_count`] on.
    pub fn overflow_probability(&self, keys: u64) -> f64 {
        poisson_tail(self.load(keys), self.max_count())
    }
}

impl fmt::Display for CountingPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} keys at {}: {} counters of {} bits, {} probes",
            self.classic.capacity,
            self.classic.false_positive_rate,
            self.counters(),
            self.counter_bits,
            self.classic.probes
        )
    }
}

/// The probability that a Poisson number of mean `load` is at least `count`, to the nearest: the share of counters that were
/// probed that often.
pub fn poisson_tail(load: f64, count: u32) -> f64 {
    if count == 0 {
        return 1.0;
    }
    if load <= 0.0 {
        return 0.0;
    }
    let term = |i: f64| libm::exp(i * libm::log(load) - load - libm::lgamma(i + 1.0));
    if f64::from(count) <= load {
        // The head is the smaller part: the sum of all terms below `count`.
        let head: f64 = (0..count).map(|i| term(f64::from(i))).sum();
        return (1.0 - head).clamp(0.0, 1.0);
    }
    // Each term is the previous one times load / i, which is below 1 from here on.
    let mut i = f64::from(count);
    let mut next = term(i);
    let mut sum = 0.0;
    while next > sum * 1e-17 {
        sum += next;
        i += 1.0;
        next *= load / i;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use core::f64::consts::LN_2;
    use std::string::ToString;

    fn near(value: f64, expected: f64) {
        assert!(
            (value / expected - 1.0).abs() < 1e-9,
            "{value:e}, expected {expected:e}"
        );
    }

    #[test]
    fn the_tail_falls_with_the_count_and_stays_below_the_published_bound() {
        // (e load / count)^count (Fan, Cao, Almeida and Broder 2000, doi 10.1109/90.851975): 1.37e-15 for 16 at capacity.
        let bound = |load: f64, count: u32| {
            let count = f64::from(count);
            libm::pow(core::f64::consts::E * load / count, count).min(1.0)
        };
        assert!((bound(LN_2, 16) / 1.37e-15 - 1.0).abs() < 0.005);
        for load in [1e-9, 0.01, 0.3, LN_2, 1.0, 3.0, 20.0] {
            for count in 1..=256 {
                let tail = poisson_tail(load, count);
                assert!(
                    (0.0..=1.0).contains(&tail) && tail <= bound(load, count),
                    "{count} at {load}: {tail:e}"
                );
                assert!(tail <= poisson_tail(load, count - 1));
            }
        }
    }

    #[test]
    fn the_tail_is_the_sum_of_its_terms() {
        // Computed separately, with Python's fractions and 60 digits.
        for (load, count, expected) in POISSON {
            near(poisson_tail(load, count), expected);
        }
        near(poisson_tail(LN_2, 1), 0.5);
        near(poisson_tail(1.0, 2), 1.0 - 2.0 / core::f64::consts::E);
    }

    const POISSON: [(f64, u32, f64); 5] = [
        (LN_2, 7, 8.341_794_963_630_345e-6),
        (LN_2, 15, 1.636_946_676_111_513e-15),
        (LN_2, 16, 7.072_832_256_729_951e-17),
        (3.0, 7, 0.033_508_535_308_841_21),
        (20.0, 15, 0.895_135_718_892_015_4),
    ];

    #[test]
    fn an_empty_filter_has_no_saturated_counters() {
        let plan = CountingPlan::new(1000, 0.01, 4).unwrap();
        assert!(plan.overflow_probability(0).abs() < f64::MIN_POSITIVE);
    }

    #[test]
    fn more_bits_take_more_memory_and_saturate_less() {
        let plans: std::vec::Vec<_> = (3..=8)
            .map(|bits| CountingPlan::new(100_000, 0.01, bits).unwrap())
            .collect();
        for pair in plans.windows(2) {
            assert!(pair[0].size_bytes() < pair[1].size_bytes());
            assert!(pair[0].overflow_probability(100_000) > pair[1].overflow_probability(100_000));
            assert_eq!(pair[0].classic(), pair[1].classic());
        }
        assert!((plans[1].bits_per_key() - 38.4).abs() < 0.05);
    }

    #[test]
    fn unsupported_counter_widths_are_rejected() {
        for bits in [0, 1, 2, 9, 255] {
            let message = CountingPlan::new(1000, 0.01, bits).unwrap_err().to_string();
            assert_eq!(
                message,
                std::format!("counter_bits = {bits} is out of range: give 3 to 8 bits a counter")
            );
        }
        let huge = ClassicPlan::with_bits_and_probes(u64::MAX / 4, 3).unwrap();
        assert!(CountingPlan::from_classic(huge, 5).is_err());
    }
}
