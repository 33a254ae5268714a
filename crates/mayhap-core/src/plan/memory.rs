//! Plans for a memory budget: of capacity, rate and memory, memory is given and one of the others is computed.

use super::{BloomPlan, LinesPerKey};
use crate::PlanError;

impl BloomPlan {
    /// The plan with the lowest false-positive rate that fits `capacity` keys into `size_bytes`, rounded up to four digits if
    /// that still fits, so that people can quote it.
    ///
    /// # Errors
    /// If the capacity is 0, or the memory is too small at any rate below 99.99 %.
    pub fn strictest_within(size_bytes: u64, capacity: u64) -> Result<Self, PlanError> {
        super::check_capacity(capacity)?;
        let fits = |plan: &Self| plan.size_bytes() <= size_bytes;
        // The size falls as the rate rises, except where two lines per key change to one, so each is searched separately.
        let lowest = |lines| {
            lowest_rate(|rate| {
                Self::with_lines_per_key(capacity, rate, lines).is_ok_and(|plan| fits(&plan))
            })
        };
        let mut rates = [lowest(LinesPerKey::One), lowest(LinesPerKey::Two)];
        rates.sort_by(f64::total_cmp);
        rates
            .into_iter()
            .flat_map(|rate| [round_up(rate), rate])
            .filter_map(|rate| Self::new(capacity, rate).ok())
            .find(fits)
            .ok_or(too_little(size_bytes))
    }

    /// The plan with the maximum number of keys that fits into `size_bytes` at a false-positive rate.
    ///
    /// # Errors
    /// If the rate cannot be planned, or not even one key fits.
    pub fn largest_within(size_bytes: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        let capacity = largest(size_bytes, |capacity| {
            Self::new(capacity, false_positive_rate).map(|plan| plan.size_bytes())
        })?;
        Self::new(capacity, false_positive_rate)
    }
}

/// The maximum number of keys whose filter, of `size` bytes, fits into `memory`.
pub(super) fn largest(
    memory: u64,
    size: impl Fn(u64) -> Result<u64, PlanError>,
) -> Result<u64, PlanError> {
    let fits = |keys| size(keys).is_ok_and(|size| size <= memory);
    if size(1)? > memory {
        return Err(PlanError::InvalidInteger {
            field: "size_bytes",
            value: memory,
            accepted: "more bytes, or a higher rate: not even one key fits",
        });
    }
    let (mut max, mut too_many) = (1, 2_u64);
    while too_many < u64::MAX && fits(too_many) {
        max = too_many;
        too_many = too_many.saturating_mul(2);
    }
    while max + 1 < too_many {
        let middle = max.midpoint(too_many);
        if fits(middle) {
            max = middle;
        } else {
            too_many = middle;
        }
    }
    Ok(max)
}

fn too_little(memory: u64) -> PlanError {
    PlanError::InvalidInteger {
        field: "size_bytes",
        value: memory,
        accepted: "more bytes, or fewer keys: they do not fit at any rate",
    }
}

/// The lowest rate at which a filter, of `size` bytes, fits into `memory`, rounded up to four digits if it still does.
pub(super) fn strictest(
    memory: u64,
    size: impl Fn(f64) -> Result<u64, PlanError>,
) -> Result<f64, PlanError> {
    let fits = |rate: f64| size(rate).is_ok_and(|size| size <= memory);
    let lowest = lowest_rate(fits);
    [round_up(lowest), lowest]
        .into_iter()
        .find(|&rate| fits(rate))
        .ok_or(too_little(memory))
}

/// The lowest rate that `fits`, or 1 if none below 99.99 % does; if a rate fits, all higher ones do.
fn lowest_rate(fits: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (1e-20, 0.9999);
    if !fits(high) {
        return 1.0;
    }
    while high / low > 1.000_001 {
        // The geometric mean, because rates are compared by ratio.
        let middle = libm::sqrt(low * high);
        if fits(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Rounds up to four significant digits.
fn round_up(rate: f64) -> f64 {
    let digits = 3.0 - libm::floor(libm::log10(rate));
    let scale = libm::pow(10.0, digits);
    // Slightly less, so that 0.001234 stays the same although its product with the scale is not an integer.
    libm::ceil(rate * scale * (1.0 - 1e-12)) / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_rounded_up_to_four_digits() {
        for (rate, rounded) in [
            (0.001_234_01, 0.001_235),
            (0.001_234, 0.001_234),
            (0.099_999, 0.1),
            (1.000_01e-9, 1.001e-9),
        ] {
            let up = round_up(rate);
            assert!((up / rounded - 1.0).abs() < 1e-11, "{rate}: {up}");
        }
    }

    #[test]
    fn the_strictest_rate_fits_and_a_stricter_one_does_not() {
        for (capacity, memory) in [
            (1_000_000, 1 << 20),
            (1_000_000, 1_900_000),
            (1000, 64),
            (100, 1 << 20),
            (3_000_000_000, 4 << 30),
        ] {
            let plan = BloomPlan::strictest_within(memory, capacity).unwrap();
            assert!(plan.size_bytes() <= memory && plan.capacity() == capacity);
            let stricter = BloomPlan::new(capacity, plan.false_positive_rate() * 0.998);
            assert!(
                stricter.is_err() || stricter.unwrap().size_bytes() > memory,
                "{plan}"
            );
        }
    }

    #[test]
    fn memory_between_both_layouts_gets_two_lines_per_key() {
        // At 0.3 %, one line per key is larger than two are just below: between these sizes only two lines fit.
        let one = BloomPlan::new(1_000_000, 0.003).unwrap().size_bytes();
        let two = BloomPlan::new(1_000_000, 0.002_99).unwrap().size_bytes();
        assert!(two < one);
        let plan = BloomPlan::strictest_within(one.midpoint(two), 1_000_000).unwrap();
        assert!(
            plan.false_positive_rate() < 0.003 && plan.size_bytes() <= one.midpoint(two),
            "{plan}"
        );
    }

    #[test]
    fn one_key_more_than_the_maximum_does_not_fit() {
        for (rate, memory) in [
            (0.01, 64 << 20),
            (0.001, 1_500_000_000),
            (0.5, 64),
            (0.01, 1 << 50),
        ] {
            let plan = BloomPlan::largest_within(memory, rate).unwrap();
            assert!(plan.size_bytes() <= memory);
            let more = BloomPlan::new(plan.capacity() + 1, rate);
            assert!(
                more.is_err() || more.unwrap().size_bytes() > memory,
                "{plan}"
            );
        }
    }

    #[test]
    fn too_little_memory_is_an_error() {
        assert!(matches!(
            BloomPlan::strictest_within(64, 1_000_000),
            Err(PlanError::InvalidInteger {
                field: "size_bytes",
                ..
            })
        ));
        assert!(matches!(
            BloomPlan::largest_within(63, 0.01),
            Err(PlanError::InvalidInteger {
                field: "size_bytes",
                ..
            })
        ));
        assert!(matches!(
            BloomPlan::strictest_within(64, 0),
            Err(PlanError::InvalidInteger {
                field: "capacity",
                ..
            })
        ));
    }
}
