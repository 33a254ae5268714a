//! The size of a `Cuckoo`: cells of fingerprint, choice and offset (see `probe/cuckoo.rs`).
//!
//! A cell that matches an absent key agrees with it in fingerprint, choice, offset and position, and so in first window and
//! fingerprint: of W windows and F = 2^q - 1 fingerprints, n keys use at most n of the W F pairs. So the rate is
//!
//! ```text
//! 1 - (1 - 1/(W F))^n  ~  load / (2^q - 1)
//! ```
//!
//! exactly, for an ideal hash, wherever the keys were moved; filters with different keys hardly differ.

use super::{check_capacity, check_rate};
use crate::PlanError;
use crate::store::{MAX_CELL_BITS, cells_size_bytes};
use core::fmt;

/// The load at capacity: 1 / 0.92 cells per key.
const LOAD: f64 = 0.92;

/// The load at which a filter is full. Two windows of two cells could be filled to 0.965 by an optimal insertion; the random walk
/// fails at 0.953, and close to that every insert moves dozens of others.
const FULL_LOAD: f64 = 0.93;

/// Choice and offset.
const POSITION_BITS: u32 = 2;

/// 15 fingerprints, and so 15 distances between the windows of a key, still fill a table of a million cells to 0.949.
const MIN_FINGERPRINT_BITS: u32 = 4;

/// The expected number of fifth keys with the first window and fingerprint of four others, in a filter at capacity. There is no
/// cell for such a key: tables of 64M cells fail at a load of 0.68 with fingerprints of 4 bits, at 0.73 with 5, and at 0.945 with
/// 6. So large filters at loose rates get longer fingerprints.
const MAX_OVERFULL_BUCKETS: f64 = 0.005;

/// Additional cells for few keys, whose distribution varies: with them, one or two of a million filters reject a key below
/// capacity (1 of 10 000 with 16 cells less at 10 keys, 1 of 1000 with 20 less at 100 keys). From 1000 keys on the load alone is
/// enough: 0 of 300 000.
const SLACK: u64 = 24;

/// The cells for 1000 keys, where the additional cells end: so close to 1000 / 0.92 that 0.1 % takes less than 1.30 log2(1/rate).
const CELLS_FOR_1000: u64 = 1089;

const MAX_FINGERPRINT_BITS: u32 = MAX_CELL_BITS - POSITION_BITS;

/// 2^46 cells exceed the memory of any machine, and are far from every overflow.
const MAX_CELLS: u64 = 1 << 46;

/// The shape of a [`Cuckoo`](crate::Cuckoo): the number of cells and the bits of fingerprint in each.
///
/// ```
/// # use mayhap_core as mayhap;
/// let plan = mayhap::plan::CuckooPlan::new(1_000_000, 0.001)?;
/// println!("{} bits per key", plan.bits_per_key());
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CuckooPlan {
    capacity: u64,
    false_positive_rate: f64,
    cells: u64,
    fingerprint_bits: u32,
}

impl CuckooPlan {
    /// The plan for `capacity` keys at a false-positive rate. Rounds up to whole cells and whole bits of fingerprint, so that the
    /// rate at capacity is between half the requested one and all of it; less for large filters at loose rates (1 % from 2e8 keys
    /// on), where four cells would otherwise not be enough for all keys with the same fingerprint.
    ///
    /// # Errors
    /// If the capacity is 0 or too large for any machine, or the rate is not between 0 and 1, or too strict for fingerprints of
    /// 26 bits or for 64-bit hashes.
    pub fn new(capacity: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        check_capacity(capacity)?;
        if capacity > MAX_CELLS / 2 {
            return Err(PlanError::InvalidInteger {
                field: "capacity",
                value: capacity,
                accepted: "at most 2^45 keys",
            });
        }
        Self::with_cells(capacity, false_positive_rate, cells_for(capacity))
    }

    /// The same with a given number of cells. With too few, inserts fail before the capacity is reached.
    ///
    /// # Errors
    /// As [`CuckooPlan::new`], and if there are fewer cells than keys, fewer than 3 or more than 2^46.
    pub fn with_cells(
        capacity: u64,
        false_positive_rate: f64,
        cells: u64,
    ) -> Result<Self, PlanError> {
        #[cfg(test)]
        super::next_part::plan_count::add();
        check_cells(capacity, false_positive_rate, cells)?;
        if capacity as f64 / 9_223_372_036_854_775_808.0 >= false_positive_rate {
            return Err(PlanError::InvalidNumber {
                field: "false_positive_rate",
                value: false_positive_rate,
                accepted: "a rate above capacity / 2^63: stricter ones are below the collision rate of 64-bit hashes",
            });
        }
        (MIN_FINGERPRINT_BITS..=MAX_FINGERPRINT_BITS)
            .map(|fingerprint_bits| Self {
                capacity,
                false_positive_rate,
                cells,
                fingerprint_bits,
            })
            .find(|plan| {
                let rate = plan.rate_at(capacity);
                rate <= false_positive_rate && plan.expected_overfull_buckets(rate) <= MAX_OVERFULL_BUCKETS
            })
            .ok_or(PlanError::InvalidNumber {
                field: "false_positive_rate",
                value: false_positive_rate,
                accepted: "a rate of 1.4e-8 or more: fingerprints have at most 26 bits; use a Bloom for stricter rates",
            })
    }

    /// The plan of a filter that exists already, for example in a file: nothing is computed, and impossible values are rejected.
    ///
    /// # Errors
    /// If capacity and cells are not accepted by [`CuckooPlan::with_cells`], the rate is not between 0 and 1, fingerprints do not
    /// have 4 to 26 bits, or windows and fingerprints together have more than 63.
    pub fn from_shape(
        capacity: u64,
        false_positive_rate: f64,
        cells: u64,
        fingerprint_bits: u32,
    ) -> Result<Self, PlanError> {
        check_cells(capacity, false_positive_rate, cells)?;
        let accepted = MIN_FINGERPRINT_BITS..=MAX_FINGERPRINT_BITS;
        if !accepted.contains(&fingerprint_bits) || cells.ilog2() + 1 + fingerprint_bits > 63 {
            return Err(PlanError::InvalidInteger {
                field: "fingerprint_bits",
                value: u64::from(fingerprint_bits),
                accepted: "4 to 26, and at most 63 together with the bits of the number of cells",
            });
        }
        Ok(Self {
            capacity,
            false_positive_rate,
            cells,
            fingerprint_bits,
        })
    }

    /// The expected false-positive rate with `keys` distinct keys.
    pub fn rate_at(&self, keys: u64) -> f64 {
        let fingerprints = ((1_u64 << self.fingerprint_bits) - 1) as f64;
        let pairs = (self.cells - 1) as f64 * fingerprints;
        -libm::expm1(keys as f64 * libm::log1p(-1.0 / pairs))
    }

    /// The expected number of fifth keys with one window and fingerprint at capacity, where `rate` is the share of pairs in use.
    fn expected_overfull_buckets(&self, rate: f64) -> f64 {
        self.capacity as f64 * rate * rate * rate * rate / 120.0
    }

    /// The maximum number of keys in a filter of this shape, copies included: 93 % of the cells, and never less than the
    /// capacity.
    pub fn max_keys(&self) -> u64 {
        self.capacity.max((self.cells as f64 * FULL_LOAD) as u64)
    }

    /// The number of keys that the plan is for.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The requested rate.
    pub fn false_positive_rate(&self) -> f64 {
        self.false_positive_rate
    }

    /// Cells in the table.
    pub fn cells(&self) -> u64 {
        self.cells
    }

    /// Bits of fingerprint in a cell.
    pub fn fingerprint_bits(&self) -> u32 {
        self.fingerprint_bits
    }

    /// Bits of a cell: the fingerprint, and two for choice and offset.
    pub fn cell_bits(&self) -> u32 {
        self.fingerprint_bits + POSITION_BITS
    }

    /// Bytes of memory.
    pub fn size_bytes(&self) -> u64 {
        cells_size_bytes(self.cells, self.cell_bits())
    }

    /// Bits of memory per key, at capacity.
    pub fn bits_per_key(&self) -> f64 {
        8.0 * self.size_bytes() as f64 / self.capacity as f64
    }
}

/// The cells for a number of keys; rounds up, and never decreases with more keys.
fn cells_for(capacity: u64) -> u64 {
    let cells = libm::ceil(capacity as f64 / LOAD) as u64;
    let slack = SLACK.min(CELLS_FOR_1000.saturating_sub(cells).max(2));
    cells + slack.min(6 * capacity)
}

impl fmt::Display for CuckooPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} keys at {}: {} cells of {} bits",
            self.capacity,
            self.false_positive_rate,
            self.cells,
            self.cell_bits()
        )
    }
}

/// Whether this many keys fit into this many cells.
fn check_cells(capacity: u64, false_positive_rate: f64, cells: u64) -> Result<(), PlanError> {
    check_capacity(capacity)?;
    check_rate(false_positive_rate)?;
    if cells < capacity.max(3) || cells > MAX_CELLS {
        return Err(PlanError::InvalidInteger {
            field: "cells",
            value: cells,
            accepted: "at least the number of keys, at least 3 and at most 2^46",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requested_rate_is_kept_and_one_bit_less_breaks_it() {
        for capacity in [1, 10, 1000, 123_456, 1_000_000_000] {
            for rate in [0.3, 0.05, 0.01, 1.0 / 256.0, 0.001, 1e-4, 1e-6, 2e-8] {
                let plan = CuckooPlan::new(capacity, rate).unwrap();
                assert!(plan.rate_at(capacity) <= rate, "{plan}");
                let less = CuckooPlan {
                    fingerprint_bits: plan.fingerprint_bits - 1,
                    ..plan
                };
                let looser = less.rate_at(capacity);
                assert!(
                    plan.fingerprint_bits == MIN_FINGERPRINT_BITS
                        || looser > rate
                        || less.expected_overfull_buckets(looser) > MAX_OVERFULL_BUCKETS,
                    "{plan}"
                );
            }
        }
    }

    #[test]
    fn space_stays_below_its_bounds_at_every_number_of_keys() {
        // Bits per key over log2(1/rate at capacity), in steps of 1 % from a thousand keys to a hundred million.
        for (rate, bound) in [
            (0.01, 1.39),
            (1.0 / 256.0, 1.35),
            (0.001, 1.30),
            (1e-4, 1.30),
            (1e-5, 1.30),
            (1e-6, 1.30),
        ] {
            let mut capacity = 1000;
            while capacity <= 100_000_000 {
                let plan = CuckooPlan::new(capacity, rate).unwrap();
                let ratio = plan.bits_per_key() / -libm::log2(plan.rate_at(capacity));
                assert!(ratio < bound, "{plan}: {ratio}");
                capacity += capacity / 100;
            }
        }
    }

    #[test]
    fn cells_grow_with_keys_and_filters_are_not_full_below_capacity() {
        let mut cells = 0;
        for capacity in 1..5000 {
            let plan = CuckooPlan::new(capacity, 0.01).unwrap();
            assert!(plan.cells() >= cells.max(3), "{plan}");
            assert!((capacity..plan.cells()).contains(&plan.max_keys()));
            cells = plan.cells();
        }
    }

    #[test]
    fn large_filters_at_loose_rates_get_longer_fingerprints() {
        let bits = |capacity| CuckooPlan::new(capacity, 0.05).unwrap().fingerprint_bits();
        assert_eq!(
            [bits(1000), bits(10_000_000), bits(1_000_000_000)],
            [5, 6, 8]
        );
    }
}
