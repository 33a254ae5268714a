//! The textbook Bloom filter: `n` keys, `m` bits, `k` probes anywhere.
//!
//! The relations between these three and the false-positive rate, and estimates from the number of set bits. The model is `(1 -
//! e^(-kn/m))^k`, which most libraries use; a filter of a few dozen bits is a little worse.
//!
//! It does not cover blocked filters (see `bloom.rs`) or the rounding rules of other systems. Counts above 2^53 are rounded to
//! the nearest `f64`, so larger sizes are exact to 16 digits only.

use core::f64::consts::LN_2;

use core::fmt;

use super::{check_capacity, check_collisions, check_rate, collision_rate};
use crate::PlanError;

/// The maximum number of probes. The strictest rate that 64-bit hashes allow needs 63; the rest is for the layouts of other
/// systems, some of which have no limit: RedisBloom's strictest rate takes 1075. A forged number must not make lookups endless.
pub const MAX_PROBES: u32 = 4096;

/// A classic filter that keeps the requested rate: the shape of a [`ClassicBloom`](crate::ClassicBloom).
///
/// ```
/// # use mayhap_core as mayhap;
/// let plan = mayhap::plan::classic::ClassicPlan::new(1_000_000, 0.01)?;
/// assert_eq!(plan.probes, 7);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassicPlan {
    /// The number of keys that the plan is for.
    pub capacity: u64,
    /// The requested rate.
    pub false_positive_rate: f64,
    /// The number of bits: the fewest that keep the rate.
    pub bits: u64,
    /// The number of probes: the best for this many bits. At least 1.
    pub probes: u32,
    /// The rate at capacity, equal to or a little below the requested one.
    pub rate_at_capacity: f64,
}

impl ClassicPlan {
    /// [`plan`] for a filter of 64-bit hashes: the rate of their collisions is subtracted first, which matters only at the
    /// strictest rates.
    ///
    /// # Errors
    ///
    /// As [`plan`], and if the rate is too strict for 64-bit hashes.
    pub fn new(capacity: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        check_capacity(capacity)?;
        check_rate(false_positive_rate)?;
        check_collisions(capacity, false_positive_rate)?;
        let collisions = collision_rate(capacity);
        let plan = plan(capacity, false_positive_rate - collisions)?;
        Ok(Self {
            false_positive_rate,
            rate_at_capacity: plan.rate_at_capacity + collisions,
            ..plan
        })
    }

    /// The plan for a given shape. Its capacity is the number of keys for which this many probes are best, `m ln 2 / k` rounded
    /// down, at least 1: half of the bits are then set. The requested rate is the rate at that capacity.
    ///
    /// # Errors
    ///
    /// No bits; no probes, or more than [`MAX_PROBES`].
    pub fn with_bits_and_probes(bits: u64, probes: u32) -> Result<Self, PlanError> {
        check_shape(bits, probes)?;
        let capacity = (libm::floor(bits as f64 * LN_2 / f64::from(probes)) as u64).max(1);
        let false_positive_rate = rate(bits, capacity, probes);
        Ok(Self {
            capacity,
            false_positive_rate,
            bits,
            probes,
            rate_at_capacity: false_positive_rate,
        })
    }

    /// The expected false-positive rate with `keys` distinct keys.
    pub fn rate_at(&self, keys: u64) -> f64 {
        (rate(self.bits, keys, self.probes) + collision_rate(keys)).min(1.0)
    }

    /// The relative variance of the rate between filters of this plan with different keys, `keys` of them: `k^2` times that of
    /// the number of set bits. A measured rate deviates from [`ClassicPlan::rate_at`] by its square root.
    pub fn relative_variance_at(&self, keys: u64) -> f64 {
        let k = f64::from(self.probes);
        let m = self.bits as f64;
        let a = k * keys as f64 / m;
        let zero = libm::exp(-a);
        let set = -libm::expm1(-a);
        if set <= 0.0 {
            return 0.0;
        }
        // Rounding can give slightly negative values for few keys.
        k * k * (zero * (1.0 - (1.0 + a) * zero)).max(0.0) / (m * set * set)
    }

    /// Bits of memory per key, at capacity.
    pub fn bits_per_key(&self) -> f64 {
        self.bits as f64 / self.capacity as f64
    }

    /// Whether this many set bits mean more keys than the capacity, by more than three standard errors.
    pub(crate) fn is_over_capacity(&self, set_bits: u64) -> bool {
        self.is_sample_over_capacity(set_bits, 1)
    }

    /// The same if the number of set bits is an estimate from one of `stride` bits.
    pub(crate) fn is_sample_over_capacity(&self, set_bits: u64, stride: u64) -> bool {
        let capacity = self.capacity as f64;
        let a = f64::from(self.probes) * capacity / self.bits as f64;
        let expected = libm::round(self.bits as f64 * -libm::expm1(-a)) as u64;
        let error = estimated_keys_error(self.bits, self.probes, expected);
        // A sample of 1/n of the bits has more than sqrt(n) times the error.
        let sampling = match stride {
            1 => 1.0,
            _ => 2.0 * libm::sqrt(stride as f64),
        };
        estimated_keys(self.bits, self.probes, set_bits) > capacity + 3.0 * error * sampling
    }
}

impl fmt::Display for ClassicPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} keys at {}: {} bits, {} probes",
            self.capacity, self.false_positive_rate, self.bits, self.probes
        )
    }
}

/// Rejects useless shapes: no bits, no probes, or too many probes.
pub(crate) fn check_shape(bits: u64, probes: u32) -> Result<(), PlanError> {
    let invalid = |field, value, accepted| {
        Err(PlanError::InvalidInteger {
            field,
            value,
            accepted,
        })
    };
    if bits == 0 {
        invalid("bits", bits, "at least 1 bit")
    } else if probes == 0 || probes > MAX_PROBES {
        invalid("probes", u64::from(probes), "1 to 4096 probes")
    } else {
        Ok(())
    }
}

/// The false-positive rate of `bits` bits with `keys` keys and `probes` probes each, to the nearest.
///
/// No bits or no probes: 1, because such a filter finds every key. Otherwise no keys: 0.
pub fn rate(bits: u64, keys: u64, probes: u32) -> f64 {
    libm::exp(ln_rate(bits, keys, probes))
}

/// The number of probes with the lowest [`rate`]: the better of the two integers around `(m/n) ln 2`, the lower one if they are
/// equal.
///
/// Never 0, which would make a filter that finds every key; 1 if the number does not matter: no bits, no keys.
pub fn best_probes(bits: u64, keys: u64) -> u32 {
    if bits == 0 || keys == 0 {
        return 1;
    }
    let low = (libm::floor(bits as f64 / keys as f64 * LN_2) as u32).max(1);
    let high = low.saturating_add(1);
    if ln_rate(bits, keys, high) < ln_rate(bits, keys, low) {
        high
    } else {
        low
    }
}

/// Bits per key for a rate if the number of probes need not be an integer: `-ln p / (ln 2)^2`, to the nearest.
///
/// Every classic filter comes close to this, and none with an integer number of probes is below. Any argument is accepted: a rate
/// of 1 gives 0 bits, a rate of 0 infinitely many.
pub fn ideal_bits_per_key(false_positive_rate: f64) -> f64 {
    -libm::log(false_positive_rate) / (LN_2 * LN_2)
}

/// Bits for a number of keys at a rate if the number of probes need not be an integer; rounded up. At least 1.
///
/// Most calculators and libraries use this size. With an integer number of probes it misses the rate by a little (1.0039 % for 1
/// %); [`plan`] does not.
///
/// # Errors
///
/// No keys, a rate outside (0, 1), or more bits than fit a `u64`.
pub fn bits(keys: u64, false_positive_rate: f64) -> Result<u64, PlanError> {
    check_capacity(keys)?;
    check_rate(false_positive_rate)?;
    let bits = libm::ceil(keys as f64 * ideal_bits_per_key(false_positive_rate));
    if bits < u64::MAX as f64 {
        Ok(bits as u64)
    } else {
        Err(too_large(keys))
    }
}

/// The fewest bits, with the best integer number of probes, whose [`rate`] at `keys` keys is at most the requested one.
///
/// # Errors
///
/// No keys, a rate outside (0, 1), or more bits than fit a `u64`.
pub fn plan(keys: u64, false_positive_rate: f64) -> Result<ClassicPlan, PlanError> {
    check_capacity(keys)?;
    check_rate(false_positive_rate)?;
    let bits = smallest_passing(|bits| best_rate(bits, keys) <= false_positive_rate)
        .ok_or(too_large(keys))?;
    let probes = best_probes(bits, keys);
    Ok(ClassicPlan {
        capacity: keys,
        false_positive_rate,
        bits,
        probes,
        rate_at_capacity: rate(bits, keys, probes),
    })
}

/// The estimated number of distinct keys in a filter with `set_bits` set bits: `-(m/k) ln(1 - X/m)`, to the nearest (Swamidass
/// and Baldi 2007, doi 10.1021/ci600526a).
///
/// Infinite if every bit is set (or more); a filter without bits counts as full. 0 if none is set.
pub fn estimated_keys(bits: u64, probes: u32, set_bits: u64) -> f64 {
    if set_bits >= bits {
        f64::INFINITY
    } else if set_bits == 0 {
        0.0
    } else {
        let fill = set_bits as f64 / bits as f64;
        -(bits as f64 / f64::from(probes)) * libm::log1p(-fill)
    }
}

/// One standard deviation of [`estimated_keys`]: `sqrt(m (e^a - 1 - a)) / k`, where `a = -ln(1 - X/m)`.
///
/// The number of keys is within two of them in 95 % of cases. Infinite for a full filter, 0 for an empty one.
pub fn estimated_keys_error(bits: u64, probes: u32, set_bits: u64) -> f64 {
    if set_bits >= bits {
        return f64::INFINITY;
    } else if set_bits == 0 {
        return 0.0;
    }
    let fill = set_bits as f64 / bits as f64;
    // e^a - 1 - a with e^-a = 1 - fill. Its leading terms cancel for nearly empty filters, which therefore use the series.
    let excess = if fill < 0.01 {
        let mut tail = 0.0;
        for i in (2_u32..=8).rev() {
            tail = tail * fill + (1.0 - 1.0 / f64::from(i));
        }
        tail * fill * fill
    } else {
        fill / (1.0 - fill) + libm::log1p(-fill)
    };
    libm::sqrt(bits as f64 * excess) / f64::from(probes)
}

/// The current rate of a filter, from its set bits: `(X/m)^k`, to the nearest. Exact for a random absent key.
///
/// No bits or no probes: 1. More set bits than bits count as all.
pub fn rate_from_set_bits(bits: u64, probes: u32, set_bits: u64) -> f64 {
    if bits == 0 || set_bits >= bits {
        1.0
    } else {
        libm::pow(set_bits as f64 / bits as f64, f64::from(probes))
    }
}

/// The logarithm of [`rate`]: it also orders rates that are too small for an `f64`.
fn ln_rate(bits: u64, keys: u64, probes: u32) -> f64 {
    if bits == 0 || probes == 0 {
        return 0.0;
    }
    let k = f64::from(probes);
    let load = k * keys as f64 / bits as f64;
    // ln(1 - e^-load): each form is accurate on its side of ln 2.
    let ln_fill = if load < LN_2 {
        libm::log(-libm::expm1(-load))
    } else {
        libm::log1p(-libm::exp(-load))
    };
    k * ln_fill
}

/// The rate with the best number of probes.
fn best_rate(bits: u64, keys: u64) -> f64 {
    rate(bits, keys, best_probes(bits, keys))
}

/// The smallest number from 1 on that passes, if all larger ones pass as well. `None` if none does.
fn smallest_passing(passes: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut fails, mut high) = (0, u64::MAX);
    if !passes(high) {
        return None;
    }
    while high - fails > 1 {
        let middle = fails + (high - fails) / 2;
        if passes(middle) {
            high = middle;
        } else {
            fails = middle;
        }
    }
    Some(high)
}

fn too_large(keys: u64) -> PlanError {
    PlanError::InvalidInteger {
        field: "capacity",
        value: keys,
        accepted: "fewer keys or a higher false_positive_rate: the bits would not fit a u64",
    }
}

#[cfg(test)]
pub(super) mod tests;
