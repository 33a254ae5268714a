//! The size of the exception layer of an `Excepting`: two levels, or a list if that is smaller.
//!
//! With n positives and a exceptions that the base accepts, the first level is a filter of the smaller set, say a, with `r =
//! floor(log2(n / a))` bits, which n / 2^r of the others pass by chance; the second has one bit for each of both. One more bit in
//! the first level costs a bits and saves n / 2^(r + 1), so this r is the best. No layer can take fewer than `log2 C(n + a, a)`
//! bits: it distinguishes which a of n + a keys are the exceptions.

use super::{check_rate, shard_slots, wide_shards};
use crate::PlanError;
use core::fmt;

/// The maximum number of bits of the first level.
const MAX_BITS: u8 = 32;

/// More keys exceed any machine; sizes are computed for this many instead.
const MAX_KEYS: u64 = 1 << 50;

/// The shape of the exception layer of an [`Excepting`](crate::Excepting).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExceptingPlan {
    positives: u64,
    corrected: u64,
    first_level_bits: u8,
    is_list: bool,
    size_bytes: u64,
}

impl ExceptingPlan {
    /// The expected layer for `exceptions` distinct exceptions to a base filter that holds `positives` keys and accepts a share
    /// of `base_rate` of all others. Rounds to the nearest.
    ///
    /// # Errors
    /// If the rate is not between 0 and 1.
    pub fn new(positives: u64, base_rate: f64, exceptions: u64) -> Result<Self, PlanError> {
        check_rate(base_rate)?;
        let corrected = libm::round(base_rate * exceptions as f64) as u64;
        Ok(Self::for_corrected(positives, corrected))
    }

    /// The layer for a known number of exceptions that the base filter accepts. Its size is an expectation, because the number of
    /// positives that pass the first level is random.
    pub fn for_corrected(positives: u64, corrected: u64) -> Self {
        let (fewer, more) = (corrected.min(positives), corrected.max(positives));
        // If one side is empty, there is nothing to distinguish.
        let ratio = more.checked_div(fewer).unwrap_or(1);
        let first_level_bits = (ratio.ilog2() as u8).min(MAX_BITS);
        let passing = libm::ldexp(more as f64, -i32::from(first_level_bits));
        let second = fewer.saturating_add(libm::round(passing) as u64);
        let two_levels = retrieval_bytes(fewer, first_level_bits) + retrieval_bytes(second, 1);
        let list = corrected.saturating_mul(8);
        Self {
            positives,
            corrected,
            first_level_bits,
            is_list: list <= two_levels,
            size_bytes: list.min(two_levels),
        }
    }

    /// The number of keys in the base filter.
    pub fn positives(&self) -> u64 {
        self.positives
    }

    /// The number of exceptions that the base filter accepts, and the layer must deny.
    pub fn corrected(&self) -> u64 {
        self.corrected
    }

    /// Bits of the first level; 0 if there is none, because there are about as many exceptions as positives.
    pub fn first_level_bits(&self) -> u8 {
        self.first_level_bits
    }

    /// Whether the first level is a filter of the positives, which are fewer than the exceptions.
    pub fn first_level_is_of_positives(&self) -> bool {
        self.positives < self.corrected
    }

    /// Whether a sorted list of hashes, 8 bytes each, is smaller than two levels, as for a handful of exceptions.
    pub fn is_list(&self) -> bool {
        self.is_list
    }

    /// Bytes for the layer, in addition to the base filter.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The share of absent keys accepted by the base that the layer also accepts: half of those that pass its first level, and
    /// all or none of the others.
    pub fn rate_factor(&self) -> f64 {
        let half_of_passing = libm::exp2(-1.0 - f64::from(self.first_level_bits));
        if self.is_list {
            1.0
        } else if self.first_level_is_of_positives() {
            half_of_passing
        } else {
            1.0 - half_of_passing
        }
    }
}

/// Bytes of a retrieval structure; 0 if values have no bits.
fn retrieval_bytes(keys: u64, bits: u8) -> u64 {
    if bits == 0 {
        return 0;
    }
    let keys = keys.min(MAX_KEYS);
    let shards = wide_shards(keys);
    let slots = shard_slots(keys, 0);
    (slots * u64::from(bits)).div_ceil(8) + 4 * (shards + 1)
}

impl fmt::Display for ExceptingPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} exceptions to {} keys: ",
            self.corrected, self.positives
        )?;
        if self.is_list {
            write!(f, "a list of {} bytes", self.size_bytes)
        } else {
            let bits = self.first_level_bits;
            write!(f, "{bits} bits and one, {} bytes", self.size_bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn layers_match_the_published_sizes_and_are_close_to_the_limit() {
        // 1 % of lists of n/100 .. 100 n exceptions for n = 1e6: bits per positive, and log2 C(n + a, a) / n.
        for (corrected, bits, limit) in [
            (100, 0.0016, 0.0015),
            (1000, 0.012, 0.011),
            (10_000, 0.087, 0.081),
            (100_000, 0.54, 0.48),
            (1_000_000, 2.04, 2.00),
        ] {
            let plan = ExceptingPlan::new(1_000_000, 0.01, corrected * 100).unwrap();
            assert_eq!(plan, ExceptingPlan::for_corrected(1_000_000, corrected));
            assert!(!plan.is_list());
            let n = 1_000_000.0;
            let planned = 8.0 * plan.size_bytes() as f64 / n;
            assert!(
                planned < 1.05 * bits && planned > 0.9 * bits,
                "{plan}: {planned}"
            );
            let a = corrected as f64;
            let ln_choices =
                libm::lgamma(n + a + 1.0) - libm::lgamma(n + 1.0) - libm::lgamma(a + 1.0);
            let least = ln_choices / core::f64::consts::LN_2 / n;
            assert!((least / limit - 1.0).abs() < 0.06, "{plan}: {least}");
            assert!(planned < 1.15 * least, "{plan}: {planned} over {least}");
        }
    }

    #[test]
    fn one_bit_more_or_less_in_the_first_level_saves_nothing() {
        let bits = |n: u64, a: u64, r: i32| {
            n.min(a) as f64 * f64::from(r) + libm::ldexp(n.max(a) as f64, -r)
        };
        for n in [1000, 77_777, 1_000_000_000] {
            for a in [1, 7, 100, 999, 1000, 5000, 1_000_000] {
                let plan = ExceptingPlan::for_corrected(n, a);
                assert_eq!(plan.first_level_is_of_positives(), n < a);
                let r = i32::from(plan.first_level_bits());
                assert!(bits(n, a, r) <= bits(n, a, r + 1), "{n} {a}");
                assert!(r == 0 || bits(n, a, r) <= bits(n, a, r - 1), "{n} {a}");
            }
        }
    }

    #[test]
    fn few_exceptions_are_a_list_and_extremes_are_planned() {
        assert_eq!(ExceptingPlan::for_corrected(1000, 0).size_bytes(), 0);
        assert!(ExceptingPlan::for_corrected(1_000_000, 2).is_list());
        for n in [0, 1, u64::MAX] {
            for a in [0, 1, u64::MAX] {
                let plan = ExceptingPlan::for_corrected(n, a);
                assert!(plan.first_level_bits() <= MAX_BITS && plan.rate_factor() <= 1.0);
                assert!(plan.is_list() || plan.size_bytes() < a.saturating_mul(8));
            }
        }
        assert!(ExceptingPlan::new(10, 0.0, 10).is_err());
        assert!(ExceptingPlan::new(10, f64::NAN, 10).is_err());
    }
}
