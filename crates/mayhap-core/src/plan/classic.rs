//! The textbook Bloom filter: `n` keys, `m` bits, `k` probes that may fall anywhere.
//!
//! Every relation between those three and the false-positive rate, in all directions, and what the
//! number of set bits tells about a filter that is in use. The model is `(1 - e^(-kn/m))^k`, by
//! which most libraries size; a filter of a few dozen bits does a little worse than it says.
//!
//! It does not know blocks (see [`blocked`](super::blocked)) nor the rounding rules of other
//! systems. Counts above 2^53 are rounded to the nearest `f64`, so that sizes beyond it are exact
//! to 16 digits only.

use core::f64::consts::LN_2;

use core::fmt;

use super::{check_capacity, check_collisions, check_rate, collision_rate};
use crate::PlanError;

/// The most probes of a filter here. The strictest rate that 64-bit hashes can keep takes 63; the rest is for the layouts of
/// others, some of which know no limit: RedisBloom's strictest rate takes 1075. A forged number must not make every question endless.
pub const MAX_PROBES: u32 = 4096;

/// A classic filter that keeps the requested rate: the shape of a [`ClassicBloom`](crate::ClassicBloom).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassicPlan {
    /// Keys the plan was planned for.
    pub capacity: u64,
    /// The requested rate.
    pub false_positive_rate: f64,
    /// How many bits, the fewest that will do.
    pub bits: u64,
    /// How many probes, the best number for so many bits. At least 1.
    pub probes: u32,
    /// The rate at full capacity, at or a little below the requested one.
    pub rate_at_capacity: f64,
}

impl ClassicPlan {
    /// [`plan`] for a filter of 64-bit hashes: what their collisions add to the rate is taken off first, which shows at the
    /// strictest rates only.
    ///
    /// # Errors
    ///
    /// As [`plan`], and when the rate is below what 64-bit hashes can tell apart.
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

    /// The plan of a given shape. Its capacity is the number of keys for which so many probes are best, `m ln 2 / k` rounded
    /// down, at least 1: half of the bits are set then. The rate asked is the rate at that capacity.
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

    /// The false-positive rate to expect when `keys` distinct keys are in.
    pub fn rate_at(&self, keys: u64) -> f64 {
        (rate(self.bits, keys, self.probes) + collision_rate(keys)).min(1.0)
    }

    /// The relative variance of the rate between filters of this plan that hold different keys, `keys` of them: `k^2` times
    /// that of the number of set bits. A measured rate wanders by its square root around [`ClassicPlan::rate_at`].
    pub fn relative_variance_at(&self, keys: u64) -> f64 {
        let k = f64::from(self.probes);
        let m = self.bits as f64;
        let a = k * keys as f64 / m;
        let zero = libm::exp(-a);
        let set = -libm::expm1(-a);
        if set <= 0.0 {
            return 0.0;
        }
        // Rounding can leave a little less than nothing when almost no key is in.
        k * k * (zero * (1.0 - (1.0 + a) * zero)).max(0.0) / (m * set * set)
    }

    /// Bits of memory per key, when full.
    pub fn bits_per_key(&self) -> f64 {
        self.bits as f64 / self.capacity as f64
    }

    /// Whether so many set bits mean more keys than the capacity, by more than the estimate can err (three standard errors).
    pub(crate) fn is_over_capacity(&self, set_bits: u64) -> bool {
        let capacity = self.capacity as f64;
        let a = f64::from(self.probes) * capacity / self.bits as f64;
        let expected = libm::round(self.bits as f64 * -libm::expm1(-a)) as u64;
        let error = estimated_keys_error(self.bits, self.probes, expected);
        estimated_keys(self.bits, self.probes, set_bits) > capacity + 3.0 * error
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

/// Refuses shapes that answer nothing: no bits, no probes, or probes without end.
pub(crate) fn check_shape(bits: u64, probes: u32) -> Result<(), PlanError> {
    let refuse = |field, value, accepted| {
        Err(PlanError::InvalidInteger {
            field,
            value,
            accepted,
        })
    };
    if bits == 0 {
        refuse("bits", bits, "at least 1 bit")
    } else if probes == 0 || probes > MAX_PROBES {
        refuse("probes", u64::from(probes), "1 to 4096 probes")
    } else {
        Ok(())
    }
}

/// The false-positive rate of `bits` bits that hold `keys` keys at `probes` probes each, to the
/// nearest.
///
/// No bits or no probes: 1, since such a filter says yes to everything. Otherwise no keys: 0.
pub fn rate(bits: u64, keys: u64, probes: u32) -> f64 {
    libm::exp(ln_rate(bits, keys, probes))
}

/// The number of probes with the lowest [`rate`]: of the two whole numbers around `(m/n) ln 2` the
/// better one, the lower one where they are equal.
///
/// Never 0, which would make a filter that says yes to everything, and 1 where any number is as
/// good: no bits, no keys.
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

/// Bits a key for a rate, if the number of probes need not be whole: `-ln p / (ln 2)^2`, to the
/// nearest.
///
/// What any classic filter comes close to and none with whole probes goes below. Takes what it is
/// given: a rate of 1 is 0 bits, a rate of 0 infinitely many.
pub fn ideal_bits_per_key(false_positive_rate: f64) -> f64 {
    -libm::log(false_positive_rate) / (LN_2 * LN_2)
}

/// Bits for a number of keys at a rate, if the number of probes need not be whole; rounded up. At least 1.
///
/// This is the size that most calculators and libraries give. With whole probes it misses the rate by a little (1.0039 % for 1 %);
/// [`plan`] does not.
///
/// # Errors
///
/// No keys, a rate outside (0, 1), or more bits than a `u64` counts.
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

/// The fewest bits, with the best whole number of probes for them, whose [`rate`] at `keys` keys is at most the requested one.
///
/// # Errors
///
/// No keys, a rate outside (0, 1), or more bits than a `u64` counts.
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

/// How many different keys went into a filter of which `set_bits` bits are set: `-(m/k) ln(1 -
/// X/m)`, to the nearest (Swamidass and Baldi 2007, doi 10.1021/ci600526a).
///
/// Infinite when every bit is set, or more than every bit; a filter without bits counts as full. 0
/// when none is set.
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

/// One standard deviation of [`estimated_keys`]: `sqrt(m (e^a - 1 - a)) / k`, where `a = -ln(1 -
/// X/m)`.
///
/// Keys come out within two of them 95 times in 100. Infinite for a full filter, 0 for an empty
/// one.
pub fn estimated_keys_error(bits: u64, probes: u32, set_bits: u64) -> f64 {
    if set_bits >= bits {
        return f64::INFINITY;
    } else if set_bits == 0 {
        return 0.0;
    }
    let fill = set_bits as f64 / bits as f64;
    // e^a - 1 - a with e^-a = 1 - fill. Its leading terms cancel while the filter is nearly empty,
    // so there the series.
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

/// The rate of a filter as it is now, by its set bits: `(X/m)^k`, to the nearest. Exact for a
/// random absent key.
///
/// No bits or no probes: 1. More set bits than bits count as all.
pub fn rate_from_set_bits(bits: u64, probes: u32, set_bits: u64) -> f64 {
    if bits == 0 || set_bits >= bits {
        1.0
    } else {
        libm::pow(set_bits as f64 / bits as f64, f64::from(probes))
    }
}

/// The logarithm of [`rate`]: it still orders rates that are too small for an `f64`.
fn ln_rate(bits: u64, keys: u64, probes: u32) -> f64 {
    if bits == 0 || probes == 0 {
        return 0.0;
    }
    let k = f64::from(probes);
    let load = k * keys as f64 / bits as f64;
    // ln(1 - e^-load): each form keeps its digits on its side of ln 2.
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

/// The least number from 1 that passes, where all above it pass as well. `None` when none does.
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
