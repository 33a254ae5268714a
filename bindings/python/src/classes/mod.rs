//! The classes, one for each kind. They differ in their constructors and in what a kind supports besides queries and inserts.

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
                path: std::path::PathBuf,
                hash_func: Option<Py<PyAny>>,
                key: Option<&[u8]>,
                key_type: Option<&str>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let (py, key, given) = (class.py(), $crate::open::secret(key)?, $crate::keys::key_type(key_type)?);
                $crate::classes::check_callable(py, hash_func.as_ref())?;
                let state = py.detach(|| $crate::open::load_native_file(&path, key, given))?;
                let state = $crate::classes::check_class($crate::classes::Class::$class, state)?;
                $crate::classes::instance(py, $crate::classes::Class::$class, $crate::filter::Filter::with_hash_func(state, hash_func))
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
                let (py, key, given) = (class.py(), $crate::open::secret(key)?, $crate::keys::key_type(key_type)?);
                $crate::classes::check_callable(py, hash_func.as_ref())?;
                let state = py.detach(|| $crate::open::load_native(data, key, given))?;
                let state = $crate::classes::check_class($crate::classes::Class::$class, state)?;
                $crate::classes::instance(py, $crate::classes::Class::$class, $crate::filter::Filter::with_hash_func(state, hash_func))
            }
        }
    };
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
                    $crate::classes::remove(slf.as_super().as_super(), key)
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

mod bloom;
mod cuckoo;
mod excepting;
mod fixed_set;
mod foreign;
mod retouched;
mod window;

pub(crate) use bloom::{Bloom, ClassicBloom, CountingBloom, GrowingBloom};
pub(crate) use cuckoo::{CountingCuckoo, Cuckoo, GrowingCuckoo};
pub(crate) use excepting::Excepting;
pub(crate) use fixed_set::{Fuse, Ribbon};
pub(crate) use foreign::ForeignFilter;
pub(crate) use retouched::Retouched;
pub(crate) use window::{WindowBloom, WindowCuckoo};

use crate::errors::ResultExt;
use crate::filter::Filter;
use crate::keys::{KeyRules, key_type};
use crate::mutable_filter::MutableFilter;
use crate::open::secret;
use crate::storage::{Clock, State, Storage};
use mayhap::formats::StoredFilter;
use mayhap::{AnyFilter, HashScheme, PlanError};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;

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

fn check_callable(py: Python<'_>, hash_func: Option<&Py<PyAny>>) -> PyResult<()> {
    if hash_func.is_none_or(|function| function.bind(py).is_callable()) {
        return Ok(());
    }
    Err(PyTypeError::new_err(
        "hash_func must be callable: pass a function, or the secret as key=",
    ))
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

fn remove(filter: &Bound<'_, Filter>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (bytes, _) = filter.get().key_bytes(key)?;
    filter.get().write(filter.py()).remove(&bytes)
}
