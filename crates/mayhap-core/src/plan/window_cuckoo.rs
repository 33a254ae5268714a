//! The sizes of a `WindowCuckoo`: how long its slices of the hash are, and in how many epochs a window is divided.
//!
//! A window of G epochs has keys of G + 1 epochs: those of the G before the current one, and of that. So a table with `keys` in a window
//! holds `keys * (G + 1) / G`, at a rate of that number divided by the number of all slices. The number of an epoch is stored modulo 16; the numbers
//! that are left are the time in which the cells of expired keys are emptied, before their number stands for a new epoch. So G is 8
//! if that is as small as more epochs, up to 14: these forget sooner, and take more time to empty cells.
//!
//! With more keys than planned, further tables are added. Each gets half the rate of the one before, so that the rate at most doubles,
//! and slices of six bits more, so that it has room for 32 times as many keys.

use super::window::{check_slice_ms, check_slices, slice_ms};
use super::{SliceTablePlan, check_capacity, check_rate};
use crate::PlanError;
use crate::probe::slice::{MAX_SLICE_BITS, MIN_SLICE_BITS, SliceShape};
use core::time::Duration;

/// Bits of a cell for the number of an epoch.
pub(crate) const EPOCH_BITS: u32 = 4;

/// How many epochs have different numbers.
pub(crate) const EPOCHS: u64 = 1 << EPOCH_BITS;

/// The numbers of epochs in a window, one of which a plan chooses. One more is live, and one is left for emptying cells.
const EPOCHS_PER_WINDOW: core::ops::RangeInclusive<u32> = 8..=MAX_EPOCHS;
const MAX_EPOCHS: u32 = EPOCHS as u32 - 2;

/// The first table is at most so full, in percent of its windows, because it does not grow.
const MAX_LOAD: u64 = 90;

/// How many bits more the slices of the next table have.
const MORE_BITS: u32 = 6;

/// How a [`WindowCuckoo`](crate::WindowCuckoo) divides keys, rate and time.
///
/// ```
/// # use mayhap_core as mayhap;
/// use std::time::Duration;
/// let plan = mayhap::plan::WindowCuckooPlan::new(1_000_000, 0.01, Duration::from_secs(3600))?;
/// println!("{} bytes, keys are kept for {} ms", plan.size_bytes(), plan.window_ms());
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WindowCuckooPlan {
    keys_per_window: u64,
    false_positive_rate: f64,
    epoch_ms: u64,
    epochs: u32,
    /// The first table; computing it takes as long as an insert.
    first: SliceTablePlan,
    first_shape: SliceShape,
}

impl WindowCuckooPlan {
    /// A window for about `keys_per_window` keys. It is divided into 8 epochs, or up to 14 if that takes less memory.
    ///
    /// # Errors
    /// If the window is shorter than a millisecond or longer than 2^48 of them, the number of keys is 0, the rate is not between 0 and 1,
    /// or both together need slices of more than 54 bits of the hash.
    pub fn new(
        keys_per_window: u64,
        false_positive_rate: f64,
        window: Duration,
    ) -> Result<Self, PlanError> {
        let with_epochs =
            |epochs| Self::with_epochs(keys_per_window, false_positive_rate, window, epochs);
        let mut smallest = with_epochs(*EPOCHS_PER_WINDOW.start())?;
        for epochs in EPOCHS_PER_WINDOW.skip(1) {
            let plan = with_epochs(epochs)?;
            if plan.size_bytes() < smallest.size_bytes() {
                smallest = plan;
            }
        }
        Ok(smallest)
    }

    /// The same with a given number of epochs: a key may be kept 1/`epochs` of a window too long.
    ///
    /// # Errors
    /// As [`WindowCuckooPlan::new`]; also if the number of epochs is not 2 to 14.
    pub fn with_epochs(
        keys_per_window: u64,
        false_positive_rate: f64,
        window: Duration,
        epochs: u32,
    ) -> Result<Self, PlanError> {
        check_slices(epochs, MAX_EPOCHS, "2 to 14")?;
        let epoch_ms = slice_ms(window, epochs)?;
        Self::planned(keys_per_window, false_positive_rate, epoch_ms, epochs)
    }

    /// The plan of a filter that exists already, for example in a file, by the length of its epochs.
    ///
    /// # Errors
    /// As [`WindowCuckooPlan::with_epochs`], for the window of that many epochs.
    pub fn from_shape(
        keys_per_window: u64,
        false_positive_rate: f64,
        epoch_ms: u64,
        epochs: u32,
    ) -> Result<Self, PlanError> {
        check_slices(epochs, MAX_EPOCHS, "2 to 14")?;
        check_slice_ms(epoch_ms, epochs)?;
        Self::planned(keys_per_window, false_positive_rate, epoch_ms, epochs)
    }

    fn planned(
        keys_per_window: u64,
        false_positive_rate: f64,
        epoch_ms: u64,
        epochs: u32,
    ) -> Result<Self, PlanError> {
        check_capacity(keys_per_window)?;
        check_rate(false_positive_rate)?;
        let live = u128::from(keys_per_window) * u128::from(epochs + 1);
        let live = live.div_ceil(epochs.into());
        let slice_bits = libm::ceil(libm::log2(live as f64 / false_positive_rate));
        if slice_bits > f64::from(MAX_SLICE_BITS) {
            return Err(PlanError::InvalidNumber {
                field: "false_positive_rate",
                value: false_positive_rate,
                accepted: "at least 1.3e-16 times the keys of a window",
            });
        }
        let (slice_bits, live) = ((slice_bits as u32).max(MIN_SLICE_BITS), live as u64);
        let by_rate = (false_positive_rate * libm::exp2(f64::from(slice_bits))) as u64;
        let full = |shape: &SliceShape| shape.all_windows() * MAX_LOAD / 100;
        let shapes = (0..).map_while(|step| SliceShape::new(slice_bits, EPOCH_BITS, step));
        // At a high rate and with few bits, the largest shape may be too small. The rest goes to the next table.
        let (mut shape, mut capacity) = (SliceShape::for_keys(slice_bits, EPOCH_BITS, 0), 0);
        for next in shapes {
            (shape, capacity) = (next, full(&next).min(by_rate));
            if capacity >= live.min(by_rate) {
                break;
            }
        }
        Ok(Self {
            keys_per_window,
            false_positive_rate,
            epoch_ms,
            epochs,
            first: SliceTablePlan {
                slice_bits,
                capacity,
            },
            first_shape: shape,
        })
    }

    /// The shape of the first table, which has room for a window of keys.
    pub(crate) fn first_shape(&self) -> SliceShape {
        self.first_shape
    }

    /// The plan of the first table.
    pub(crate) fn first_table(&self) -> SliceTablePlan {
        self.first
    }

    /// The plan of table `number`: 0 is the first, and the others are for bursts. `None` if there is none.
    pub(crate) fn table(&self, number: u32) -> Option<SliceTablePlan> {
        if number == 0 {
            return Some(self.first);
        }
        let slice_bits = self.first.slice_bits + MORE_BITS * number;
        let share =
            self.false_positive_rate * libm::exp2(f64::from(slice_bits) - f64::from(number));
        (slice_bits <= MAX_SLICE_BITS).then_some(SliceTablePlan {
            slice_bits,
            capacity: share as u64,
        })
    }

    /// Bytes of a filter with at most as many keys as planned.
    pub fn size_bytes(&self) -> u64 {
        self.first_shape.size_bytes()
    }

    /// The number of keys per window.
    pub fn keys_per_window(&self) -> u64 {
        self.keys_per_window
    }

    /// The false-positive rate.
    pub fn false_positive_rate(&self) -> f64 {
        self.false_positive_rate
    }

    /// Slices per window; the keys of one more are kept.
    pub fn epochs(&self) -> u32 {
        self.epochs
    }

    /// The length of a slice.
    pub fn epoch_ms(&self) -> u64 {
        self.epoch_ms
    }

    /// The length of the window: whole epochs, so a few milliseconds longer than requested.
    pub fn window_ms(&self) -> u64 {
        self.epoch_ms * u64::from(self.epochs)
    }

    /// In how many epochs all expired keys are dropped: after that, the numbers of their epochs are used again.
    pub(crate) fn spare_epochs(&self) -> u64 {
        EPOCHS - 1 - u64::from(self.epochs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(keys: u64, rate: f64) -> WindowCuckooPlan {
        WindowCuckooPlan::new(keys, rate, Duration::from_secs(8)).unwrap()
    }

    #[test]
    fn all_live_keys_fit_at_the_requested_rate() {
        for rate in [0.5, 0.05, 0.01, 1e-4, 1e-7] {
            for keys in [1, 10, 1000, 12_345, 1_000_000, 10_000_000] {
                let plan = plan(keys, rate);
                let (first, epochs) = (plan.table(0).unwrap(), u64::from(plan.epochs()));
                assert!(first.capacity >= (keys * (epochs + 1)).div_ceil(epochs));
                let rate_at = |table: SliceTablePlan| {
                    table.capacity as f64 / libm::exp2(f64::from(table.slice_bits))
                };
                assert!(rate_at(first) <= rate, "{plan:?}");
                let tables = (0..).map_while(|number| plan.table(number));
                let all: f64 = tables.map(rate_at).sum();
                assert!(all <= 2.0 * rate, "{plan:?}");
                assert!((8..=14).contains(&epochs) && plan.spare_epochs() == 15 - epochs);
            }
        }
    }

    #[test]
    fn ten_million_keys_at_one_percent_take_less_than_17_5_bits_each() {
        assert!(plan(10_000_000, 0.01).size_bytes() * 8 < 175_000_000);
        for keys in (1..100).map(|step| 100_000 * step) {
            let bits = plan(keys, 0.01).size_bytes() as f64 * 8.0 / keys as f64;
            assert!((14.0..21.5).contains(&bits), "{keys} keys: {bits}");
        }
    }

    #[test]
    fn more_epochs_are_chosen_only_where_they_save_memory() {
        assert_eq!(plan(8_000_000, 0.01).epochs(), 8);
        let plan = plan(10_000_000, 0.01);
        let window = Duration::from_secs(8);
        let with_8 = WindowCuckooPlan::with_epochs(10_000_000, 0.01, window, 8).unwrap();
        assert!(plan.epochs() > 8 && plan.size_bytes() < with_8.size_bytes());
    }

    #[test]
    fn invalid_requests_name_the_field() {
        let second = Duration::from_secs(1);
        assert!(WindowCuckooPlan::new(0, 0.01, second).is_err());
        assert!(WindowCuckooPlan::new(10, 1.0, second).is_err());
        assert!(WindowCuckooPlan::new(10, 0.01, Duration::ZERO).is_err());
        assert!(WindowCuckooPlan::new(1 << 50, 1e-9, second).is_err());
        assert!(WindowCuckooPlan::with_epochs(10, 0.01, second, 15).is_err());
        assert!(WindowCuckooPlan::from_shape(10, 0.01, 0, 8).is_err());
        assert!(WindowCuckooPlan::from_shape(10, 0.01, 1 << 60, 8).is_err());
    }
}
