//! Cuckoo filters.

use super::{Capacity, Class, hash_scheme, instance, mutable, new_state};
use crate::errors::{ResultExt, UnsupportedError};
use crate::filter::Filter;
use crate::mutable_filter::MutableFilter;
use crate::storage::{Clock, State};
use mayhap::plan::{CuckooPlan, GrowingCuckooPlan};
use mayhap::{AnyFilter, PlanError};
use pyo3::prelude::*;

removing_class! {
    /// A cuckoo filter: keys can be removed. It is smaller than a Bloom filter below 1 %, and can be full.
    ///
    /// >>> sessions = mayhap.Cuckoo(1000, 0.001)
    /// >>> sessions.add("a"), sessions.remove("a"), "a" in sessions
    /// (True, True, False)
    Cuckoo, {
        #[new]
        #[pyo3(signature = (capacity, false_positive_rate, *, key=None, key_type=None))]
        fn new(
            capacity: Capacity,
            false_positive_rate: f64,
            key: Option<&[u8]>,
            key_type: Option<&str>,
        ) -> PyResult<PyClassInitializer<Self>> {
            let plan = CuckooPlan::new(capacity.0, false_positive_rate).py()?;
            let filter = mayhap::Cuckoo::from_plan(plan, hash_scheme(key)?);
            let state = new_state(filter, key_type, Clock::Newest)?;
            Ok(mutable(Filter::new(state)).add_subclass(Self))
        }
    }
}

/// The plan of a cuckoo filter that grows.
fn growing_cuckoo(capacity: u64, maximum: bool, rate: f64) -> PyResult<GrowingCuckooPlan> {
    if maximum {
        GrowingCuckooPlan::with_maximum(capacity, rate).py()
    } else {
        GrowingCuckooPlan::new(capacity, rate).py()
    }
}

/// A static filter with the keys of a growing one.
fn closed<'py>(
    slf: &Bound<'py, Filter>,
    close: impl FnOnce(&mayhap::GrowingCuckoo) -> Result<AnyFilter, PlanError> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, state) = (slf.py(), slf.get().read_plain(slf.py()));
    let Some(AnyFilter::GrowingCuckoo(filter)) = state.native() else {
        return Err(UnsupportedError::new_err(
            "only a growing cuckoo filter can be closed",
        ));
    };
    let built = py.detach(|| close(filter)).py()?;
    let mut built = State::new(built, state.rules, state.clock);
    built.set_rules(state.rules);
    drop(state);
    let hash_func = slf.get().hash_func(py).map(Bound::unbind);
    let class = Class::of(&built);
    instance(py, class, Filter::with_hash_func(built, hash_func))
}

removing_class! {
    /// A cuckoo filter that grows: `capacity` is only a guess, or with `is_maximum=True` a bound that keeps it smaller.
    GrowingCuckoo, {
        #[new]
        #[pyo3(signature = (capacity, false_positive_rate, *, is_maximum=false, key=None, key_type=None))]
        fn new(
            capacity: Capacity,
            false_positive_rate: f64,
            is_maximum: bool,
            key: Option<&[u8]>,
            key_type: Option<&str>,
        ) -> PyResult<PyClassInitializer<Self>> {
            let plan = growing_cuckoo(capacity.0, is_maximum, false_positive_rate)?;
            let filter = mayhap::GrowingCuckoo::from_plan(plan, hash_scheme(key)?);
            let state = new_state(filter, key_type, Clock::Newest)?;
            Ok(mutable(Filter::new(state)).add_subclass(Self))
        }

        /// The same keys in a Ribbon, the smallest filter, which cannot be changed. `false_positive_rate` must be above `estimated_rate`.
        fn to_ribbon<'py>(
            slf: &Bound<'py, Self>,
            false_positive_rate: f64,
        ) -> PyResult<Bound<'py, PyAny>> {
            closed(slf.as_super().as_super(), |filter| {
                filter.to_ribbon(false_positive_rate).map(AnyFilter::from)
            })
        }

        /// The same keys in a Fuse, the fastest filter, which cannot be changed. `false_positive_rate` must be above `estimated_rate`.
        fn to_fuse<'py>(
            slf: &Bound<'py, Self>,
            false_positive_rate: f64,
        ) -> PyResult<Bound<'py, PyAny>> {
            closed(slf.as_super().as_super(), |filter| {
                filter.to_fuse(false_positive_rate).map(AnyFilter::from)
            })
        }
    }
}

removing_class! {
    /// A cuckoo filter that counts its keys, without a limit, and grows.
    CountingCuckoo, {
        #[new]
        #[pyo3(signature = (capacity, false_positive_rate, *, is_maximum=false, key=None, key_type=None))]
        fn new(
            capacity: Capacity,
            false_positive_rate: f64,
            is_maximum: bool,
            key: Option<&[u8]>,
            key_type: Option<&str>,
        ) -> PyResult<PyClassInitializer<Self>> {
            let plan = growing_cuckoo(capacity.0, is_maximum, false_positive_rate)?;
            let filter = mayhap::CountingCuckoo::from_plan(plan, hash_scheme(key)?);
            let state = new_state(filter, key_type, Clock::Newest)?;
            Ok(mutable(Filter::new(state)).add_subclass(Self))
        }
    }
}
