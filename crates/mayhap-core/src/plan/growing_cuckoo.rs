//! The sizes of a `GrowingCuckoo` and of a `CountingCuckoo`: how many bits of the hash each of its tables stores.
//!
//! A table that stores slices of `b` bits has a rate of keys / 2^b, whatever its size. With a maximum, one table whose slices are
//! long enough for that number of keys is all. Without one, the first table gets half of the rate, and each further table half of what
//! is left, with slices of six bits more: so it has room for 32 times as many keys as the one before. Without a guess, two tables are
//! enough for 10M keys at 1 %; from 10,000 to 10M keys, it takes three.

use super::{check_capacity, check_rate, counter_width};
use crate::PlanError;
use crate::probe::slice::{MAX_SLICE_BITS, MIN_SLICE_BITS, SliceShape};

/// Smaller capacities are not a guess, but somebody's default.
const MIN_GUESS: u64 = 10_000;

/// The capacity of the first of several tables without a guess. Fewer keys would need more tables; more would take more memory for few
/// keys.
const WITHOUT_GUESS: u64 = 1 << 18;

/// How many bits more the slices of the next table have.
pub(crate) const SLICE_BITS_PER_TABLE: u32 = 6;

/// More tables than these would have no bits left.
const MAX_TABLES: u32 = 8;

/// How a [`GrowingCuckoo`](crate::GrowingCuckoo) or a [`CountingCuckoo`](crate::CountingCuckoo) grows.
///
/// ```
/// # use mayhap_core as mayhap;
/// let plan = mayhap::plan::GrowingCuckooPlan::with_maximum(10_000_000, 0.01)?;
/// println!("rate {} at {} keys", plan.false_positive_rate(), plan.capacity());
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GrowingCuckooPlan {
    capacity: u64,
    has_maximum: bool,
    false_positive_rate: f64,
}

/// One table of the plan.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct SliceTablePlan {
    /// The number of bits in its slices.
    pub(crate) slice_bits: u32,
    /// The number of keys at which its share of the rate is used up.
    pub(crate) capacity: u64,
}

impl GrowingCuckooPlan {
    /// A filter for any number of keys; `capacity` is a guess. A good guess makes it faster and smaller. Below 10,000 it says nothing,
    /// and the filter is planned for some 100,000 keys.
    ///
    /// # Errors
    /// If the capacity is 0, the rate is not between 0 and 1, or both together need slices of more than 54 bits.
    pub fn new(capacity: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self {
            capacity,
            has_maximum: false,
            false_positive_rate,
        }
        .checked()
    }

    /// A filter that starts small and has the rate when it holds `maximum` keys; below that, it is lower. Half the memory and time of
    /// one without a maximum.
    ///
    /// # Errors
    /// As [`GrowingCuckooPlan::new`].
    pub fn with_maximum(maximum: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self {
            capacity: maximum,
            has_maximum: true,
            false_positive_rate,
        }
        .checked()
    }

    /// The plan of a filter that exists already: as [`with_maximum`](Self::with_maximum), or as [`new`](Self::new).
    ///
    /// # Errors
    /// As `new`.
    pub fn from_shape(
        capacity: u64,
        has_maximum: bool,
        false_positive_rate: f64,
    ) -> Result<Self, PlanError> {
        Self {
            capacity,
            has_maximum,
            false_positive_rate,
        }
        .checked()
    }

    fn checked(self) -> Result<Self, PlanError> {
        check_capacity(self.capacity)?;
        check_rate(self.false_positive_rate)?;
        if self.first_slice_bits() > f64::from(MAX_SLICE_BITS) {
            return Err(PlanError::InvalidNumber {
                field: "false_positive_rate",
                value: self.false_positive_rate,
                accepted: "at least 1.2e-16 times the capacity",
            });
        }
        Ok(self)
    }

    /// The number of keys that the first table is for, and its share of the rate.
    fn first(&self) -> (u64, f64) {
        if self.has_maximum {
            return (self.capacity, self.false_positive_rate);
        }
        let is_guess = self.capacity >= MIN_GUESS;
        let keys = if is_guess {
            self.capacity
        } else {
            WITHOUT_GUESS
        };
        (keys, self.false_positive_rate / 2.0)
    }

    fn first_slice_bits(&self) -> f64 {
        let (keys, rate) = self.first();
        libm::ceil(libm::log2(keys as f64 / rate))
    }

    /// The plan of the first table.
    pub(crate) fn first_table(&self) -> SliceTablePlan {
        self.table(0)
            .expect("`checked` has made sure that there is one")
    }

    /// The plan of table `number`, or `None` if there is none: the one before stays the last, and the rate rises.
    pub(crate) fn table(&self, number: u32) -> Option<SliceTablePlan> {
        if number > if self.has_maximum { 0 } else { MAX_TABLES } {
            return None;
        }
        let first = (self.first_slice_bits() as u32).max(MIN_SLICE_BITS);
        let slice_bits = first + SLICE_BITS_PER_TABLE * number;
        let (_, first_rate) = self.first();
        let share = first_rate * libm::exp2(f64::from(slice_bits - number));
        (slice_bits <= MAX_SLICE_BITS).then_some(SliceTablePlan {
            slice_bits,
            capacity: share as u64,
        })
    }

    /// Whether the tables of another plan are like those of this one. The capacities that were asked for may differ.
    pub(crate) fn has_tables_of(&self, other: &Self) -> bool {
        self.has_maximum == other.has_maximum && self.first_table() == other.first_table()
    }

    /// Bytes and tables of a filter after its `keys`th key, if it is not growing at that moment.
    pub fn size_and_tables_at(&self, keys: u64) -> (u64, u32) {
        self.size_and_tables(keys, 0)
    }

    /// The same for a [`CountingCuckoo`](crate::CountingCuckoo) and `keys` different keys, few of them with more than four copies.
    pub fn counting_size_and_tables_at(&self, keys: u64) -> (u64, u32) {
        self.size_and_tables(keys, counter_width::WIDTHS[0])
    }

    fn size_and_tables(&self, keys: u64, payload_bits: u32) -> (u64, u32) {
        let (mut left, mut size_bytes, mut tables) = (keys, 0, 0);
        while let Some(table) = self.table(tables) {
            tables += 1;
            let is_last = left <= table.capacity || self.table(tables).is_none();
            let here = if is_last { left } else { table.capacity };
            size_bytes += SliceShape::for_keys(table.slice_bits, payload_bits, here).size_bytes();
            left -= here;
            if is_last {
                break;
            }
        }
        (size_bytes, tables)
    }

    /// How many keys all tables together are for. With more, the rate rises: a hash has no bits for a further table.
    pub fn max_keys(&self) -> u64 {
        let tables = (0..).map_while(|number| self.table(number));
        tables.fold(0, |sum, table| sum.saturating_add(table.capacity))
    }

    /// The expected number of keys, or the maximum.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The maximum number of keys, if there is one.
    pub fn maximum(&self) -> Option<u64> {
        self.has_maximum.then_some(self.capacity)
    }

    /// The rate of the whole filter.
    pub fn false_positive_rate(&self) -> f64 {
        self.false_positive_rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rates_of_all_tables_add_up_to_at_most_the_requested_one() {
        for rate in [0.5, 0.01, 0.001, 1e-6] {
            for capacity in [1, 1000, 1_000_000, 100_000_000] {
                let plan = GrowingCuckooPlan::new(capacity, rate).unwrap();
                let tables = (0..).map_while(|number| plan.table(number));
                let rates = tables
                    .map(|table| table.capacity as f64 / libm::exp2(f64::from(table.slice_bits)));
                assert!(rates.sum::<f64>() <= rate);
                assert!(plan.table(0).unwrap().capacity >= capacity);
                let plan = GrowingCuckooPlan::with_maximum(capacity, rate).unwrap();
                assert!(plan.table(0).unwrap().capacity >= capacity && plan.table(1).is_none());
            }
        }
    }

    #[test]
    fn two_tables_are_enough_for_ten_million_keys_at_one_percent() {
        let plan = GrowingCuckooPlan::new(100, 0.01).unwrap();
        let [first, second] = [0, 1].map(|number| plan.table(number).unwrap().capacity);
        assert!(first + second > 10_000_000 && first < 400_000);
    }

    #[test]
    fn usual_rates_are_kept_for_billions_of_keys() {
        let max = |rate| GrowingCuckooPlan::new(100, rate).unwrap().max_keys();
        assert!(max(0.01) > 1 << 37 && max(1e-5) > 1 << 32);
        assert!(max(1e-9) < 1 << 24);
    }

    #[test]
    fn invalid_requests_name_the_field() {
        assert!(GrowingCuckooPlan::new(0, 0.01).is_err());
        assert!(GrowingCuckooPlan::new(10, 0.0).is_err());
        assert!(GrowingCuckooPlan::with_maximum(1 << 50, 1e-9).is_err());
    }
}
