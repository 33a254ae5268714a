//! Bloom filters.

use super::{Capacity, check_callable, hash_scheme, mutable, new_state};
use crate::errors::ResultExt;
use crate::filter::Filter;
use crate::mutable_filter::MutableFilter;
use crate::sets::{check_hash_funcs, is_subset, not_a_filter, with_both};
use crate::storage::{Clock, State};
use mayhap::Scheme;
use mayhap::plan::classic::ClassicPlan;
use mayhap::plan::counting::CountingPlan;
use mayhap::plan::{BloomPlan, GrowingPlan};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

filter_class! {
    /// A Bloom filter: the usual choice if you know about how many keys there will be.
    ///
    /// >>> seen = mayhap.Bloom(1_000_000, 0.01)
    /// >>> seen.add("https://a.example/")
    /// True
    /// >>> "https://a.example/" in seen, "https://b.example/" in seen
    /// (True, False)
    ///
    /// `key` is a secret of 16 bytes, so that nobody can craft keys that collide. `key_type` says what integers are ("i32" and others); by
    /// default they have 64 bits. `hash_func` maps any object to an integer of up to 128 bits, which is the key then.
    Bloom extends MutableFilter, {
        #[new]
        #[pyo3(signature = (capacity, false_positive_rate, hash_func=None, *, key=None, key_type=None))]
        fn new(
            py: Python<'_>,
            capacity: Capacity,
            false_positive_rate: f64,
            hash_func: Option<Py<PyAny>>,
            key: Option<&[u8]>,
            key_type: Option<&str>,
        ) -> PyResult<PyClassInitializer<Self>> {
            let scheme = hash_scheme(key)?;
            let plan = BloomPlan::new(capacity.0, false_positive_rate).py()?;
            let state = new_state(mayhap::Bloom::from_plan(plan, scheme), key_type, Clock::Newest)?;
            check_callable(py, hash_func.as_ref())?;
            Ok(mutable(Filter::with_hash_func(state, hash_func)).add_subclass(Self))
        }

        fn __bool__(slf: &Bound<'_, Self>) -> bool {
            let state = slf.as_super().as_super().get().read_plain(slf.py());
            state.bloom().is_none_or(|filter| !filter.is_empty())
        }

        fn __and__<'py>(
            slf: &Bound<'py, Self>,
            other: &Bound<'py, PyAny>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let Ok(other) = other.cast::<Filter>() else {
                return Ok(slf.py().NotImplemented().into_bound(slf.py()));
            };
            let result = slf.as_super().as_super().call_method0("copy")?;
            intersect(result.cast::<Filter>()?, other)?;
            Ok(result)
        }

        fn __iand__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
            let other = other.cast::<Filter>().map_err(|_| not_a_filter(other))?;
            intersect(slf.as_super().as_super(), other)
        }

        /// A new filter with the keys that are in this one and in all others, which are iterables or filters of the same shape.
        #[pyo3(signature = (*others))]
        fn intersection<'py>(
            slf: &Bound<'py, Self>,
            others: &Bound<'py, PyTuple>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let result = slf.as_super().as_super().call_method0("copy")?;
            intersect_all(result.cast::<Filter>()?, others)?;
            Ok(result)
        }

        /// Keeps only keys that are in all others.
        #[pyo3(signature = (*others))]
        fn intersection_update(slf: &Bound<'_, Self>, others: &Bound<'_, PyTuple>) -> PyResult<()> {
            intersect_all(slf.as_super().as_super(), others)
        }

        /// Whether all bits of this filter are set in the other. False is certain: a key of this one is not in the other.
        #[pyo3(signature = (other, /))]
        fn issubset(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<bool> {
            is_subset(slf.as_super().as_super(), other.as_super().as_super())
        }

        /// Whether all bits of the other filter are set in this one.
        #[pyo3(signature = (other, /))]
        fn issuperset(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<bool> {
            is_subset(other.as_super().as_super(), slf.as_super().as_super())
        }
    }
}

filter_class! {
    /// The textbook Bloom filter: flat bits.
    ClassicBloom extends MutableFilter, {
        #[new]
        #[pyo3(signature = (capacity, false_positive_rate, *, key=None, key_type=None))]
        fn new(
            capacity: Capacity,
            false_positive_rate: f64,
            key: Option<&[u8]>,
            key_type: Option<&str>,
        ) -> PyResult<PyClassInitializer<Self>> {
            let plan = ClassicPlan::new(capacity.0, false_positive_rate).py()?;
            let (walk, scheme) = (Scheme::EnhancedDoubleHashing, hash_scheme(key)?);
            let filter = mayhap::ClassicBloom::from_plan(plan, walk, scheme);
            let state = new_state(filter, key_type, Clock::Newest)?;
            Ok(mutable(Filter::new(state)).add_subclass(Self))
        }

        fn __and__<'py>(
            slf: &Bound<'py, Self>,
            other: &Bound<'py, PyAny>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let Ok(other) = other.cast::<Filter>() else {
                return Ok(slf.py().NotImplemented().into_bound(slf.py()));
            };
            let result = slf.as_super().as_super().call_method0("copy")?;
            intersect(result.cast::<Filter>()?, other)?;
            Ok(result)
        }

        fn __iand__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
            let other = other.cast::<Filter>().map_err(|_| not_a_filter(other))?;
            intersect(slf.as_super().as_super(), other)
        }
    }
}

removing_class! {
    /// A Bloom filter of counters of `counter_bits` bits: keys can be removed and counted.
    ///
    /// >>> stock = mayhap.CountingBloom(1000, 0.01)
    /// >>> stock.update(["pear", "pear"])
    /// >>> stock.count("pear")
    /// 2
    /// >>> stock.remove("pear"), stock.count("pear")
    /// (True, 1)
    CountingBloom, {
        #[new]
        #[pyo3(signature = (capacity, false_positive_rate, *, counter_bits=4, key=None, key_type=None))]
        fn new(
            capacity: Capacity,
            false_positive_rate: f64,
            counter_bits: u8,
            key: Option<&[u8]>,
            key_type: Option<&str>,
        ) -> PyResult<PyClassInitializer<Self>> {
            let plan = CountingPlan::new(capacity.0, false_positive_rate, counter_bits).py()?;
            let (walk, scheme) = (Scheme::EnhancedDoubleHashing, hash_scheme(key)?);
            let filter = mayhap::CountingBloom::from_plan(plan, walk, scheme);
            let state = new_state(filter, key_type, Clock::Newest)?;
            Ok(mutable(Filter::new(state)).add_subclass(Self))
        }
    }
}

filter_class! {
    /// A Bloom filter that grows: `capacity` is only a guess. `maximum` is the number of keys that it will never exceed, if you know one.
    GrowingBloom extends MutableFilter, {
        #[new]
        #[pyo3(signature = (capacity, false_positive_rate, *, maximum=None, key=None, key_type=None))]
        fn new(
            capacity: Capacity,
            false_positive_rate: f64,
            maximum: Option<Capacity>,
            key: Option<&[u8]>,
            key_type: Option<&str>,
        ) -> PyResult<PyClassInitializer<Self>> {
            let plan = match maximum {
                Some(maximum) => {
                    GrowingPlan::with_maximum(capacity.0, maximum.0, false_positive_rate)
                }
                None => GrowingPlan::new(capacity.0, false_positive_rate),
            };
            let filter = mayhap::GrowingBloom::from_plan(plan.py()?, hash_scheme(key)?);
            let state = new_state(filter, key_type, Clock::Newest)?;
            Ok(mutable(Filter::new(state)).add_subclass(Self))
        }
    }
}

fn intersect(ours: &Bound<'_, Filter>, theirs: &Bound<'_, Filter>) -> PyResult<()> {
    check_hash_funcs(ours, theirs)?;
    if ours.is(theirs) {
        return Ok(());
    }
    with_both(ours, theirs, State::intersect_with)
}

/// Iterables are filters of the same shape that have their keys.
fn intersect_all(ours: &Bound<'_, Filter>, others: &Bound<'_, PyTuple>) -> PyResult<()> {
    for other in others {
        if let Ok(other) = other.cast::<Filter>() {
            intersect(ours, other)?;
            continue;
        }
        let temporary = ours.call_method0("copy")?;
        temporary.call_method0("clear")?;
        temporary.call_method1("update", (other,))?;
        intersect(ours, temporary.cast::<Filter>()?)?;
    }
    Ok(())
}
