//! How a static filter of the slices of a `GrowingCuckoo` turns a hash into what it stores.
//!
//! Table k of the `GrowingCuckoo` stored the top `first + 6 k` bits of `hash * PLACE`. The static filter stores the same bits,
//! left-aligned, with k + 1 in the low bits, and mixed: a lookup asks for the slices of all tables. (Not mixed, the equal low bits of
//! all slices would make all fingerprints of a `Ribbon` equal.)

use super::slice::{MAX_SLICE_BITS, MIN_SLICE_BITS, place};
use crate::plan::SLICE_BITS_PER_TABLE;
use crate::{KeyHash, PlanError};

/// Which slices of a hash a static filter stores, and the rate that comes with them. See
/// [`GrowingCuckoo::to_ribbon`](crate::GrowingCuckoo::to_ribbon).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SliceLengths {
    first_bits: u32,
    tables: u32,
    rate: f64,
}

impl SliceLengths {
    /// Slices of so many bits in the first table, and 6 more in each further one. `rate` is the share of absent keys whose slice is
    /// stored.
    ///
    /// # Errors
    /// If there is no such `GrowingCuckoo`.
    pub fn new(first_bits: u32, tables: u32, rate: f64) -> Result<Self, PlanError> {
        let last = tables.checked_sub(1).and_then(|more| {
            more.checked_mul(SLICE_BITS_PER_TABLE)?
                .checked_add(first_bits)
        });
        if first_bits < MIN_SLICE_BITS || last.is_none_or(|last| last > MAX_SLICE_BITS) {
            return Err(PlanError::InvalidInteger {
                field: "slice bits",
                value: first_bits.into(),
                accepted: "16 to 54, with 6 more for each of at least one table",
            });
        }
        if !(0.0..1.0).contains(&rate) {
            return Err(PlanError::InvalidNumber {
                field: "rate of the slices",
                value: rate,
                accepted: "0 or more, and less than 1",
            });
        }
        Ok(Self {
            first_bits,
            tables,
            rate,
        })
    }

    /// The number of bits in a slice of the first table.
    pub fn first_bits(&self) -> u32 {
        self.first_bits
    }

    /// The number of tables.
    pub fn tables(&self) -> u32 {
        self.tables
    }

    /// The share of absent keys whose slice is stored.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The rate that a static filter must have so that lookups of all slices have the given one.
    pub(crate) fn share_of(&self, false_positive_rate: f64) -> Result<f64, PlanError> {
        // Also rejects what is not a number.
        if !(self.rate < false_positive_rate && false_positive_rate < 1.0) {
            return Err(PlanError::InvalidNumber {
                field: "false_positive_rate",
                value: false_positive_rate,
                accepted: "more than the filter has now (its `estimated_rate`), and less than 1",
            });
        }
        let misses = (1.0 - false_positive_rate) / (1.0 - self.rate);
        Ok(1.0 - libm::pow(misses, 1.0 / f64::from(self.tables)))
    }

    /// The rate of lookups, if the static filter has the given one.
    pub(crate) fn total_rate(&self, rate: f64) -> f64 {
        1.0 - (1.0 - self.rate) * libm::pow(1.0 - rate, f64::from(self.tables))
    }

    /// What the static filter stores for a slice of table `number`.
    pub(crate) fn numbered(&self, slice: u64, number: u32) -> KeyHash {
        debug_assert!(number < self.tables);
        KeyHash::mix(slice | u64::from(number + 1))
    }

    /// What the static filter may store for a hash: the slice of table `number`.
    #[inline]
    pub(crate) fn slice(&self, hash: u64, number: u32) -> KeyHash {
        let unused = 64 - (self.first_bits + SLICE_BITS_PER_TABLE * number);
        self.numbered(place(hash) >> unused << unused, number)
    }
}
