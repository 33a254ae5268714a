//! Filters that forget keys.

use super::{Capacity, hash_scheme, mutable, new_state};
use crate::errors::ResultExt;
use crate::filter::Filter;
use crate::mutable_filter::MutableFilter;
use crate::storage::Clock;
use mayhap::Timestamp;
use mayhap::plan::{WindowCuckooPlan, WindowPlan};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::Duration;

/// A number of seconds.
fn duration(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        PyValueError::new_err(format!(
            "a window of {seconds:?} seconds is not possible: use a positive number"
        ))
    })
}

/// Seconds since 1970, as `time.time()` returns them.
fn timestamp(now: f64) -> PyResult<Timestamp> {
    let ms = now * 1000.0;
    if (0.0..1.8e19).contains(&ms) {
        return Ok(Timestamp(ms as u64));
    }
    Err(PyValueError::new_err(format!(
        "the time {now} is not possible: use seconds since any moment, as time.time() returns"
    )))
}

/// Adds a key to a window filter at a time, or now.
fn add_at(filter: &Filter, key: &Bound<'_, PyAny>, now: Option<f64>) -> PyResult<bool> {
    let now = now.map(timestamp).transpose()?;
    let (bytes, seen) = filter.key_bytes(key)?;
    let mut state = filter.write(key.py());
    let new = state.insert_at(&bytes, now.unwrap_or_else(Timestamp::now))?;
    // Times of the caller's own are not compared with those of the machine.
    state.clock = if now.is_some() {
        Clock::Newest
    } else {
        Clock::Wall
    };
    state.note(seen);
    Ok(new)
}

/// A class whose kind forgets keys.
macro_rules! window_class {
    ($(#[$doc:meta])* $class:ident, $plan:ident) => {
        filter_class! {
            $(#[$doc])*
            $class extends MutableFilter, {
                #[new]
                #[pyo3(signature = (capacity, false_positive_rate, seconds, *, key=None, key_type=None))]
                fn new(
                    capacity: Capacity,
                    false_positive_rate: f64,
                    seconds: f64,
                    key: Option<&[u8]>,
                    key_type: Option<&str>,
                ) -> PyResult<PyClassInitializer<Self>> {
                    let plan = $plan::new(capacity.0, false_positive_rate, duration(seconds)?).py()?;
                    // The first key sets the time.
                    let start = Timestamp(0);
                    let filter = mayhap::$class::from_plan(plan, hash_scheme(key)?, start);
                    let state = new_state(filter, key_type, Clock::Wall)?;
                    Ok(mutable(Filter::new(state)).add_subclass(Self))
                }

                /// Adds a key at a time in seconds; without one it is the time of the machine. True: it was definitely not seen in the window.
                #[pyo3(signature = (key, /, now=None))]
                fn add(
                    slf: &Bound<'_, Self>,
                    key: &Bound<'_, PyAny>,
                    now: Option<f64>,
                ) -> PyResult<bool> {
                    add_at(slf.as_super().as_super().get(), key, now)
                }

                /// Whether a key may have been seen in the window that ends at a time. `key in filter` takes the time of the machine, or the
                /// newest that the filter has seen if it was loaded or keys were added with times.
                #[pyo3(signature = (key, /, now=None))]
                fn contains(
                    slf: &Bound<'_, Self>,
                    key: &Bound<'_, PyAny>,
                    now: Option<f64>,
                ) -> PyResult<bool> {
                    let filter = slf.as_super().as_super().get();
                    let Some(now) = now else {
                        return filter.contains(key);
                    };
                    let (bytes, _) = filter.key_bytes(key)?;
                    filter.read(slf.py()).contains_at(&bytes, timestamp(now)?)
                }
            }
        }
    };
}

window_class! {
    /// A Bloom filter that forgets: a key is found for `seconds`, and for a while longer. `capacity` is the number of keys in that time.
    ///
    /// >>> recent = mayhap.WindowBloom(1000, 0.01, 60)
    /// >>> recent.add("a", now=100.0), recent.add("a", now=130.0)
    /// (True, False)
    /// >>> recent.contains("a", now=1000.0)
    /// False
    WindowBloom, WindowPlan
}

window_class! {
    /// The same as `WindowBloom` as a cuckoo filter: faster lookups.
    WindowCuckoo, WindowCuckooPlan
}
