//! Pickling: the bytes of `save_bytes`, or the path of a mapped file, which the other process maps too.

use crate::classes::{self, Class};
use crate::errors::UnsupportedError;
use crate::filter::Filter;
use crate::keys::{KeyRules, Seen, key_type};
use crate::open::{self, Origin};
use crate::storage::{Clock, Storage};
use mayhap::HashScheme;
use mayhap::formats::{Limits, Location, OpenOptions};
use mayhap::native::{HashKey, Verify};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::path::PathBuf;

type Function<'py> = Bound<'py, PyAny>;

pub(crate) fn reduce<'py>(slf: &Bound<'py, Filter>) -> PyResult<Bound<'py, PyTuple>> {
    let py = slf.py();
    let module = py.import("mayhap._mayhap")?;
    let function = |name: &str| -> PyResult<Function<'py>> { module.getattr(name) };
    let filter = slf.get();
    filter.check_savable(py)?;
    // Released before objects are created: the garbage collector may run Python code then.
    let state = filter.read_plain(py);
    let given = match state.rules {
        KeyRules::Undeclared(given) => given.map(mayhap::KeyType::name),
        KeyRules::Declared(_) | KeyRules::Inferred(_) => None,
    };
    match &state.storage {
        Storage::Mapped(mapped, path) => {
            let secret = match mapped.scheme() {
                HashScheme::Sip13(key) => Some(PyBytes::new(py, &key.to_bytes())),
                HashScheme::Xxh3 | HashScheme::Caller => None,
            };
            let path = path.clone();
            drop(state);
            let arguments = (path, secret, given).into_pyobject(py)?;
            PyTuple::new(py, [function("_map")?, arguments.into_any()])
        }
        Storage::Foreign(parts) => {
            let is_in_container = parts
                .iter()
                .any(|part| part.opened.location.is_in_container);
            let Some(origin) = filter
                .origin()
                .filter(|_| parts.len() == 1 && !is_in_container)
            else {
                return Err(UnsupportedError::new_err(
                    "filters of a container cannot be pickled: open the file in the other process",
                ));
            };
            let bytes = py.detach(|| state.encode(None, HashKey::Inside))?;
            let format = state.format().name();
            drop(state);
            let options = &origin.options;
            let arguments = (
                PyBytes::new(py, &bytes),
                format,
                options.parameters.clone(),
                (options.rate, options.probes, options.columns),
                options.file_name.clone(),
                origin.key_type.map(mayhap::KeyType::name),
            );
            let arguments = arguments.into_pyobject(py)?.into_any();
            PyTuple::new(py, [function("_open")?, arguments])
        }
        Storage::Stored(_) | Storage::Shared(_) => {
            let bytes = py.detach(|| state.encode(None, HashKey::Inside))?;
            let seen = match state.rules {
                KeyRules::Inferred(seen) => Some(seen.0),
                KeyRules::Declared(_) | KeyRules::Undeclared(_) => None,
            };
            let is_wall = match state.clock {
                Clock::Loaded => None,
                clock => Some(clock == Clock::Wall),
            };
            drop(state);
            let hash_func = filter.hash_func(py);
            let bytes = PyBytes::new(py, &bytes);
            let arguments = (bytes, seen, given, is_wall, hash_func).into_pyobject(py)?;
            PyTuple::new(py, [function("_load")?, arguments.into_any()])
        }
    }
}

/// Restores a filter in memory.
#[pyfunction]
#[pyo3(name = "_load")]
pub(crate) fn load_again<'py>(
    py: Python<'py>,
    bytes: &[u8],
    seen: Option<u8>,
    given: Option<&str>,
    is_wall: Option<bool>,
    hash_func: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut state = open::load_native(bytes, None, key_type(given)?)?;
    if let Some(seen) = seen {
        state.infer(Seen(seen));
    }
    if let Some(is_wall) = is_wall {
        state.clock = if is_wall { Clock::Wall } else { Clock::Newest };
    }
    let class = Class::of(&state);
    classes::instance(py, class, Filter::with_hash_func(state, hash_func))
}

/// Restores a mapped filter.
#[pyfunction]
#[pyo3(name = "_map")]
pub(crate) fn map_again<'py>(
    py: Python<'py>,
    path: PathBuf,
    secret: Option<&[u8]>,
    given: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let state = open::map(path, Verify::Lazy, open::secret(secret)?, key_type(given)?)?;
    classes::instance(py, Class::Filter, Filter::new(state))
}

/// Restores a filter of another system.
#[pyfunction]
#[pyo3(name = "_open")]
pub(crate) fn open_again<'py>(
    py: Python<'py>,
    bytes: &[u8],
    format: &str,
    parameters: Vec<String>,
    settings: (Option<f64>, Option<u32>, Option<usize>),
    file_name: Option<String>,
    given: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let (rate, probes, columns) = settings;
    let origin = Origin {
        options: OpenOptions {
            format: Some(open::format(format)?),
            parameters,
            rate,
            probes,
            columns,
            key: None,
            file_name,
            limits: Limits {
                max_bytes: u64::MAX,
            },
        },
        key_type: key_type(given)?,
    };
    let state = open::open_state(bytes, &origin, &Location::default())?;
    let class = Class::of(&state);
    classes::instance(py, class, Filter::new(state).opened_by(origin))
}
