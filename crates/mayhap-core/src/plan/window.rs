//! The sizes of a `WindowBloom`: a ring of generations, one per slice of the window.
//!
//! With G slices per window, G + 1 generations are live at any time, so each gets 1/(G+1) of the rate and 1/G of the keys. A key
//! is kept for at least a window and at most one slice more. Bits per key of the window: (G+1)/G times those of a filter at
//! rate/(G+1); at 1 % 15.9 for G = 8, and 16.2 and 17.0 for 4 and 24 (classic bits).

use super::{BloomPlan, check_capacity, check_rate};
use crate::PlanError;
use core::time::Duration;

/// The default number of slices per window: the fewest bits at 1 %.
const DEFAULT_SLICES: u32 = 8;

const MAX_SLICES: u32 = 63;
const ACCEPTED_SLICES: &str = "2 to 63";

/// How a [`WindowBloom`](crate::WindowBloom) divides keys, rate and time.
///
/// ```
/// # use mayhap_core as mayhap;
/// use std::time::Duration;
/// let plan = mayhap::plan::WindowPlan::new(1000, 0.01, Duration::from_secs(3600))?;
/// assert_eq!(plan.slices(), 8);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WindowPlan {
    keys_per_window: u64,
    false_positive_rate: f64,
    slice_ms: u64,
    slices: u32,
}

impl WindowPlan {
    /// A window for about `keys_per_window` keys.
    ///
    /// # Errors
    /// If the window is shorter than a millisecond or longer than 2^48 of them; otherwise as [`BloomPlan::new`].
    pub fn new(
        keys_per_window: u64,
        false_positive_rate: f64,
        window: Duration,
    ) -> Result<Self, PlanError> {
        Self::with_slices(keys_per_window, false_positive_rate, window, DEFAULT_SLICES)
    }

    /// The same with a given number of slices: a key may be kept 1/`slices` of a window too long.
    ///
    /// # Errors
    /// As [`WindowPlan::new`]; also if the number of slices is not 2 to 63.
    pub fn with_slices(
        keys_per_window: u64,
        false_positive_rate: f64,
        window: Duration,
        slices: u32,
    ) -> Result<Self, PlanError> {
        check_capacity(keys_per_window)?;
        check_rate(false_positive_rate)?;
        check_slices(slices, MAX_SLICES, ACCEPTED_SLICES)?;
        let plan = Self {
            keys_per_window,
            false_positive_rate,
            slice_ms: slice_ms(window, slices)?,
            slices,
        };
        plan.layer(0).map(|_| plan)
    }

    /// The plan of a filter that exists already, for example in a file, by the length of its slices.
    ///
    /// # Errors
    /// As [`WindowPlan::with_slices`], for the window of that many slices.
    pub fn from_shape(
        keys_per_window: u64,
        false_positive_rate: f64,
        slice_ms: u64,
        slices: u32,
    ) -> Result<Self, PlanError> {
        check_slices(slices, MAX_SLICES, ACCEPTED_SLICES)?;
        let window = check_slice_ms(slice_ms, slices)?;
        Self::with_slices(keys_per_window, false_positive_rate, window, slices)
    }

    /// The plan of a generation's filter (0), and of those that are added if more keys arrive than planned: the same capacity,
    /// and each half the rate of the one before, so that the generation's rate at most doubles.
    ///
    /// # Errors
    /// If the rate is too strict to be planned.
    pub fn layer(&self, number: u32) -> Result<BloomPlan, PlanError> {
        let rate = self.false_positive_rate / (f64::from(self.slices) + 1.0);
        let keys = self.keys_per_window.div_ceil(u64::from(self.slices));
        BloomPlan::new(keys, rate * libm::pow(0.5, f64::from(number)))
    }

    /// The number of keys per window.
    pub fn keys_per_window(&self) -> u64 {
        self.keys_per_window
    }

    /// The rate of all live generations together.
    pub fn false_positive_rate(&self) -> f64 {
        self.false_positive_rate
    }

    /// Slices per window; there is one more live generation.
    pub fn slices(&self) -> u32 {
        self.slices
    }

    /// The length of a slice.
    pub fn slice_ms(&self) -> u64 {
        self.slice_ms
    }

    /// The length of the window: whole slices, so up to one slice longer than requested.
    pub fn window_ms(&self) -> u64 {
        self.slice_ms * u64::from(self.slices)
    }
}

/// Rejects a number of slices that is not between 2 and a maximum.
pub(super) fn check_slices(
    slices: u32,
    max_slices: u32,
    accepted: &'static str,
) -> Result<(), PlanError> {
    if (2..=max_slices).contains(&slices) {
        return Ok(());
    }
    Err(PlanError::InvalidInteger {
        field: "slices",
        value: u64::from(slices),
        accepted,
    })
}

/// The length of a slice, rounded up: a window is never shorter than requested.
pub(super) fn slice_ms(window: Duration, slices: u32) -> Result<u64, PlanError> {
    let window_ms = window.as_nanos().div_ceil(1_000_000);
    if window_ms == 0 || window_ms > 1 << 48 {
        return Err(PlanError::InvalidNumber {
            field: "window",
            value: window.as_secs_f64(),
            accepted: "a length from 1 ms to 2^48 ms, in seconds",
        });
    }
    Ok((window_ms as u64).div_ceil(u64::from(slices)))
}

/// The window of slices of this length; an error if no window has them.
pub(super) fn check_slice_ms(slice_ms: u64, slices: u32) -> Result<Duration, PlanError> {
    // Slices are rounded up, so those of the longest window are together a little longer.
    let window_ms = slice_ms.saturating_mul(u64::from(slices)).min(1 << 48);
    let window = Duration::from_millis(window_ms);
    if self::slice_ms(window, slices)? == slice_ms {
        return Ok(window);
    }
    Err(PlanError::InvalidInteger {
        field: "length of a slice",
        value: slice_ms,
        accepted: "at most 2^48 ms for all slices of a window",
    })
}
