//! The classes, one for each kind. They differ in their constructors and in what a kind supports besides queries and inserts.

use crate::batch::{Batch, Column, Nulls, Packer};
use crate::errors::{ResultExt, UnsupportedError};
use crate::filter::{
    self, Filter, MutableFilter, check_hash_funcs, is_subset, not_a_filter, with_both,
};
use crate::keys::{KeyRules, Seen, key_type};
use crate::open::{self, secret};
use crate::storage::{Clock, State, Storage};
use mayhap::formats::StoredFilter;
use mayhap::plan::classic::ClassicPlan;
use mayhap::plan::counting::CountingPlan;
use mayhap::plan::{
    BloomPlan, CuckooPlan, GrowingCuckooPlan, GrowingPlan, WindowCuckooPlan, WindowPlan,
};
use mayhap::{
    AnyFilter, ClearingStrategy, HashScheme, KeyHash, OnConflict, PlanError, Scheme, Timestamp,
};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::path::PathBuf;
use std::time::Duration;

/// A number of keys from Python. Negative and huge ones are errors of the value, not of its type.
struct Capacity(u64);

impl<'py> FromPyObject<'_, 'py> for Capacity {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.extract::<u64>() {
            Ok(keys) => Ok(Self(keys)),
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                Err(PyValueError::new_err(format!(
                    "the capacity must be from 1 to 2**64 - 1 keys, not {}",
                    object
                        .str()
                        .map_or_else(|_| "this".into(), |text| text.to_string())
                )))
            }
            Err(error) => Err(error),
        }
    }
}

fn hash_scheme(key: Option<&[u8]>) -> PyResult<HashScheme> {
    Ok(secret(key)?.map_or(HashScheme::Xxh3, HashScheme::Sip13))
}

fn new_state(
    filter: Result<impl Into<AnyFilter>, PlanError>,
    name: Option<&str>,
    clock: Clock,
) -> PyResult<State> {
    let rules = KeyRules::new(key_type(name)?);
    Ok(State::new(filter.py()?.into(), rules, clock))
}

fn mutable(filter: Filter) -> PyClassInitializer<MutableFilter> {
    PyClassInitializer::from(filter).add_subclass(MutableFilter)
}

/// A class of this module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    Filter,
    Bloom,
    ClassicBloom,
    CountingBloom,
    GrowingBloom,
    WindowBloom,
    Cuckoo,
    GrowingCuckoo,
    CountingCuckoo,
    WindowCuckoo,
    Fuse,
    Ribbon,
    Retouched,
    Excepting,
    ForeignFilter,
}

impl Class {
    /// The class of a filter.
    pub(crate) fn of(state: &State) -> Self {
        match &state.storage {
            Storage::Mapped(..) => Self::Filter,
            Storage::Shared(_) => Self::Bloom,
            Storage::Foreign(_) => Self::ForeignFilter,
            Storage::Stored(StoredFilter::Native(filter)) => match filter {
                AnyFilter::Bloom(_) => Self::Bloom,
                AnyFilter::Classic(_) => Self::ClassicBloom,
                AnyFilter::Counting(_) => Self::CountingBloom,
                AnyFilter::Growing(_) => Self::GrowingBloom,
                AnyFilter::Window(_) => Self::WindowBloom,
                AnyFilter::Cuckoo(_) => Self::Cuckoo,
                AnyFilter::GrowingCuckoo(_) => Self::GrowingCuckoo,
                AnyFilter::CountingCuckoo(_) => Self::CountingCuckoo,
                AnyFilter::WindowCuckoo(_) => Self::WindowCuckoo,
                AnyFilter::Fuse(_) => Self::Fuse,
                AnyFilter::Ribbon(_) => Self::Ribbon,
                AnyFilter::Retouched(_) => Self::Retouched,
                AnyFilter::Excepting(_) => Self::Excepting,
            },
            Storage::Stored(StoredFilter::Bits { .. } | StoredFilter::Foreign(_)) => {
                Self::ForeignFilter
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Filter => "Filter",
            Self::Bloom => "Bloom",
            Self::ClassicBloom => "ClassicBloom",
            Self::CountingBloom => "CountingBloom",
            Self::GrowingBloom => "GrowingBloom",
            Self::WindowBloom => "WindowBloom",
            Self::Cuckoo => "Cuckoo",
            Self::GrowingCuckoo => "GrowingCuckoo",
            Self::CountingCuckoo => "CountingCuckoo",
            Self::WindowCuckoo => "WindowCuckoo",
            Self::Fuse => "Fuse",
            Self::Ribbon => "Ribbon",
            Self::Retouched => "Retouched",
            Self::Excepting => "Excepting",
            Self::ForeignFilter => "ForeignFilter",
        }
    }
}

/// A Python object of a class.
pub(crate) fn instance(py: Python<'_>, class: Class, filter: Filter) -> PyResult<Bound<'_, PyAny>> {
    macro_rules! mutable_instance {
        ($class:ident) => {
            Bound::new(py, mutable(filter).add_subclass($class))?.into_any()
        };
    }
    macro_rules! fixed_instance {
        ($class:ident) => {
            Bound::new(py, PyClassInitializer::from(filter).add_subclass($class))?.into_any()
        };
    }
    Ok(match class {
        Class::Filter => Bound::new(py, filter)?.into_any(),
        Class::Bloom => mutable_instance!(Bloom),
        Class::ClassicBloom => mutable_instance!(ClassicBloom),
        Class::CountingBloom => mutable_instance!(CountingBloom),
        Class::GrowingBloom => mutable_instance!(GrowingBloom),
        Class::WindowBloom => mutable_instance!(WindowBloom),
        Class::Cuckoo => mutable_instance!(Cuckoo),
        Class::GrowingCuckoo => mutable_instance!(GrowingCuckoo),
        Class::CountingCuckoo => mutable_instance!(CountingCuckoo),
        Class::WindowCuckoo => mutable_instance!(WindowCuckoo),
        Class::Fuse => fixed_instance!(Fuse),
        Class::Ribbon => fixed_instance!(Ribbon),
        Class::Retouched => mutable_instance!(Retouched),
        Class::Excepting => mutable_instance!(Excepting),
        Class::ForeignFilter => mutable_instance!(ForeignFilter),
    })
}

/// A filter of the class that the state has: a copy of a mapped filter is in memory, and can be changed.
pub(crate) fn instance_like<'py>(
    slf: &Bound<'py, Filter>,
    filter: Filter,
) -> PyResult<Bound<'py, PyAny>> {
    let class = Class::of(&filter.read_plain(slf.py()));
    instance(slf.py(), class, filter)
}

/// A loaded filter, if it is of the class.
fn check_class(expected: Class, state: State) -> PyResult<State> {
    let found = Class::of(&state);
    if found == expected {
        return Ok(state);
    }
    Err(crate::errors::FormatError::new_err(format!(
        "this is a filter of class {}, not {}: use mayhap.{}.load or mayhap.open",
        found.name(),
        expected.name(),
        found.name()
    )))
}

/// `load` and `load_bytes` of a class.
macro_rules! filter_class {
    ($(#[$doc:meta])* $class:ident extends $base:ident, { $($methods:tt)* }) => {
        $(#[$doc])*
        #[pyclass(frozen, extends = $base, module = "mayhap")]
        pub(crate) struct $class;

        #[pymethods]
        impl $class {
            $($methods)*

            /// Loads a filter of this class from a file. `key` is the secret key, if it is not in the file; `key_type` says what integers
            /// are, if the filter does not; `hash_func` is the function that the filter was created with.
            #[classmethod]
            #[pyo3(signature = (path, hash_func=None, *, key=None, key_type=None))]
            fn load<'py>(
                class: &Bound<'py, pyo3::types::PyType>,
                path: PathBuf,
                hash_func: Option<Py<PyAny>>,
                key: Option<&[u8]>,
                key_type: Option<&str>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let (py, key, given) = (class.py(), secret(key)?, self::key_type(key_type)?);
                let state = py.detach(|| open::load_native_file(&path, key, given))?;
                let state = check_class(Class::$class, state)?;
                instance(py, Class::$class, Filter::with_hash_func(state, hash_func))
            }

            /// Loads a filter from the bytes of `save_bytes`.
            #[classmethod]
            #[pyo3(signature = (data, hash_func=None, *, key=None, key_type=None))]
            fn load_bytes<'py>(
                class: &Bound<'py, pyo3::types::PyType>,
                data: &[u8],
                hash_func: Option<Py<PyAny>>,
                key: Option<&[u8]>,
                key_type: Option<&str>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let (py, key, given) = (class.py(), secret(key)?, self::key_type(key_type)?);
                let state = py.detach(|| open::load_native(data, key, given))?;
                let state = check_class(Class::$class, state)?;
                instance(py, Class::$class, Filter::with_hash_func(state, hash_func))
            }
        }
    };
}

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
            capacity: Capacity,
            false_positive_rate: f64,
            hash_func: Option<Py<PyAny>>,
            key: Option<&[u8]>,
            key_type: Option<&str>,
        ) -> PyResult<PyClassInitializer<Self>> {
            let scheme = hash_scheme(key)?;
            let plan = BloomPlan::new(capacity.0, false_positive_rate).py()?;
            let state = new_state(mayhap::Bloom::from_plan(plan, scheme), key_type, Clock::Newest)?;
            if let Some(function) = &hash_func {
                check_callable(function)?;
            }
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

fn check_callable(function: &Py<PyAny>) -> PyResult<()> {
    Python::attach(|py| {
        if function.bind(py).is_callable() {
            return Ok(());
        }
        Err(PyTypeError::new_err(
            "hash_func must be callable: pass a function, or the secret as key=",
        ))
    })
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

/// A class whose kind removes and counts keys.
macro_rules! removing_class {
    ($(#[$doc:meta])* $class:ident, { $($methods:tt)* }) => {
        filter_class! {
            $(#[$doc])*
            $class extends MutableFilter, {
                $($methods)*

                /// Removes a key that was added. False: it was definitely not in the filter, which is unchanged.
                #[pyo3(signature = (key, /))]
                fn remove(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
                    remove(slf.as_super().as_super(), key)
                }

                /// How often a key was added and not removed; never too low.
                #[pyo3(signature = (key, /))]
                fn count(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<u64> {
                    let filter = slf.as_super().as_super().get();
                    let (bytes, _) = filter.key_bytes(key)?;
                    filter.read(slf.py()).count(&bytes)
                }
            }
        }
    };
}

fn remove(filter: &Bound<'_, Filter>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (bytes, _) = filter.get().key_bytes(key)?;
    filter.get().write(filter.py()).remove(&bytes)
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

/// A number of seconds.
fn duration(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        PyValueError::new_err(format!(
            "a window of {seconds} seconds is not possible: use a positive number"
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

/// The hashes of all keys of an argument, and which keys there are.
fn hashes(
    keys: &Bound<'_, PyAny>,
    rules: KeyRules,
    scheme: HashScheme,
) -> PyResult<(Vec<KeyHash>, Seen)> {
    let (py, encoder) = (keys.py(), rules.encoder());
    let (mut all, mut seen) = (Vec::new(), Seen::default());
    match Batch::from_object(keys, Nulls::Refuse)? {
        Batch::Columns(columns, _) => py.detach(|| {
            for column in &columns {
                seen = seen.with(State::hashes(column, &encoder, scheme, &mut all)?);
            }
            PyResult::Ok(())
        })?,
        Batch::Items(items, _) => {
            let mut packer = Packer::new(&items, None, Nulls::Refuse)?;
            while let Some(packed) = packer.next(&encoder)? {
                seen = seen.with(packed.seen);
                let column = Column::packed(packed.bytes, packed.ends);
                py.detach(|| State::hashes(&column, &encoder, scheme, &mut all))?;
            }
        }
    }
    Ok((all, seen))
}

/// A class whose filters are built at once.
macro_rules! static_class {
    ($(#[$doc:meta])* $class:ident) => {
        filter_class! {
            $(#[$doc])*
            $class extends Filter, {
                /// Builds a filter of all keys: an array, Arrow data, a list or another iterable.
                #[staticmethod]
                #[pyo3(signature = (keys, false_positive_rate, *, key=None, key_type=None))]
                fn build<'py>(
                    keys: &Bound<'py, PyAny>,
                    false_positive_rate: f64,
                    key: Option<&[u8]>,
                    key_type: Option<&str>,
                ) -> PyResult<Bound<'py, PyAny>> {
                    let (py, scheme) = (keys.py(), hash_scheme(key)?);
                    let rules = KeyRules::new(self::key_type(key_type)?);
                    let (hashes, seen) = hashes(keys, rules, scheme)?;
                    let built = py.detach(|| {
                        mayhap::$class::build_with(&hashes, false_positive_rate, scheme)
                    });
                    let rules = match rules {
                        KeyRules::Inferred(_) => KeyRules::Inferred(seen),
                        rules => rules,
                    };
                    let state = State::new(built.py()?.into(), rules, Clock::Newest);
                    instance(py, Class::$class, Filter::new(state))
                }
            }
        }
    };
}

static_class! {
    /// A binary fuse filter of a fixed set: the fastest.
    ///
    /// >>> words = mayhap.Fuse.build(["apple", "pear"], 0.01)
    /// >>> "pear" in words
    /// True
    Fuse
}

static_class! {
    /// A ribbon filter of a fixed set: the smallest.
    Ribbon
}

filter_class! {
    /// A Bloom filter that can remove chosen false positives, at the cost of some false negatives.
    Retouched extends MutableFilter, {
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
            let filter = mayhap::Retouched::from_plan(plan, walk, scheme);
            let state = new_state(filter, key_type, Clock::Newest)?;
            Ok(mutable(Filter::new(state)).add_subclass(Self))
        }

        /// Clears bits until none of the keys, which were never added, is found. Returns how many added keys were lost. The strategy chooses
        /// which bit of a key is cleared: "ratio", "minimum-fn", "maximum-fp" or "random".
        #[pyo3(signature = (keys, strategy="ratio"))]
        fn remove_false_positives(
            slf: &Bound<'_, Self>,
            keys: &Bound<'_, PyAny>,
            strategy: &str,
        ) -> PyResult<u64> {
            let strategy = match strategy {
                "ratio" => ClearingStrategy::Ratio,
                "minimum-fn" => ClearingStrategy::MinimumFalseNegatives,
                "maximum-fp" => ClearingStrategy::MaximumFalsePositives,
                "random" => ClearingStrategy::Random { seed: 0 },
                other => {
                    return Err(PyValueError::new_err(format!(
                        "unknown strategy {other:?}: use \"ratio\", \"minimum-fn\", \"maximum-fp\" or \"random\""
                    )));
                }
            };
            let (py, filter) = (slf.py(), slf.as_super().as_super().get());
            let (rules, scheme) = {
                let state = filter.read_plain(py);
                let scheme = state.native().map_or(HashScheme::Xxh3, AnyFilter::scheme);
                (state.rules, scheme)
            };
            let (hashes, _) = hashes(keys, rules, scheme)?;
            let mut state = filter.write(py);
            let Some(AnyFilter::Retouched(filter)) = state.native_mut() else {
                return Err(UnsupportedError::new_err("this is not a retouched filter"));
            };
            for hash in hashes {
                filter.add_false_positive_hash(hash).py()?;
            }
            Ok(filter.clear_all(strategy).py()?.keys_lost)
        }
    }
}

filter_class! {
    /// A copy of a filter, without false positives on a list of known keys.
    ///
    /// `keys` are those of the filter, which must contain them; `exceptions` are never found. A key on both lists is an error, or with
    /// `on_conflict="block"` found, or with `on_conflict="allow"` not found.
    ///
    /// >>> blocked = mayhap.Bloom(1000, 0.01)
    /// >>> bad = [f"https://bad.example/{i}" for i in range(1000)]
    /// >>> good = [f"https://good.example/{i}" for i in range(1000)]
    /// >>> blocked.update(bad)
    /// >>> exact = mayhap.Excepting(blocked, bad, good)
    /// >>> any(exact.contains_many(good)), all(exact.contains_many(bad))
    /// (False, True)
    Excepting extends MutableFilter, {
        #[new]
        #[pyo3(signature = (filter, keys, exceptions, *, on_conflict="error"))]
        fn new(
            filter: &Bound<'_, Filter>,
            keys: &Bound<'_, PyAny>,
            exceptions: &Bound<'_, PyAny>,
            on_conflict: &str,
        ) -> PyResult<PyClassInitializer<Self>> {
            let on_conflict = match on_conflict {
                "error" => OnConflict::Refuse,
                "block" => OnConflict::Block,
                "allow" => OnConflict::Allow,
                other => {
                    return Err(PyValueError::new_err(format!(
                        "on_conflict cannot be {other:?}: use \"error\", \"block\" or \"allow\""
                    )));
                }
            };
            let py = filter.py();
            if filter.get().hash_func(py).is_some() {
                return Err(UnsupportedError::new_err(
                    "a filter with a hash_func cannot have exceptions",
                ));
            }
            let state = filter.get().read_plain(py).try_clone()?;
            let (rules, encoder) = (state.rules, state.encoder.clone());
            let Storage::Stored(StoredFilter::Native(base)) = state.storage else {
                return Err(UnsupportedError::new_err(
                    "only mayhap's own filters can have exceptions: convert it with save(format=\"mayhap\")",
                ));
            };
            let keys = filter::packed_keys(keys, &encoder)?;
            let exceptions = filter::packed_keys(exceptions, &encoder)?;
            let built = py.detach(|| {
                let (keys, exceptions) = (keys.slices(), exceptions.slices());
                mayhap::Excepting::build_with(base, &keys, &exceptions, on_conflict)
            });
            let state = State::new(built.py()?.into(), rules, Clock::Newest);
            Ok(mutable(Filter::new(state)).add_subclass(Self))
        }
    }
}

/// A filter of another system, opened by `open` or created by `create`. Keys can be added where the format allows it.
#[pyclass(frozen, extends = MutableFilter, module = "mayhap")]
pub(crate) struct ForeignFilter;

#[pymethods]
impl ForeignFilter {
    /// Removes a key, where the format supports it. False: it was definitely not in the filter.
    #[pyo3(signature = (key, /))]
    fn remove(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        remove(slf.as_super().as_super(), key)
    }
}
