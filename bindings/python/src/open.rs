//! Files and bytes of any format. The options are those of `mayhap check`.

use crate::classes::{self, Class};
use crate::errors::{FormatError, ResultExt, UnsupportedError, in_file, os_error};
use crate::filter::Filter;
use crate::keys::{Encoder, KeyRules, key_type};
use crate::storage::{Clock, ForeignPart, State};
use mayhap::formats::{
    self, BuildOptions, Format, Limits, Location, OpenOptions, OpenedFilter, Parameters,
    RequiredCount, StoredFilter, parse_key,
};
use mayhap::native::{self, HashKey, LoadOptions, Verify};
use mayhap::{AnyFilter, KeyType, SipKey};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyString};
use std::path::{Path, PathBuf};

/// Filters of any size: a file takes as much memory as it has bytes.
const LIMITS: Limits = Limits {
    max_bytes: u64::MAX,
};

/// Keyword arguments that are not our own: the parameters of a format, as `-P name=value`.
#[derive(Clone, Default)]
pub(crate) struct OptionMap(Vec<String>);

impl OptionMap {
    pub(crate) fn from_python(options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let Some(options) = options else {
            return Ok(Self::default());
        };
        let mut all = Vec::new();
        for (name, value) in options {
            let is_word = value.is_instance_of::<PyString>() || !value.is_instance_of::<PyBool>();
            let value = value.str()?;
            let value = value.to_str()?;
            let value = if is_word {
                value.to_owned()
            } else {
                value.to_lowercase()
            };
            all.push(format!("{}={value}", name.str()?.to_str()?));
        }
        Ok(Self(all))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

pub(crate) fn format(name: &str) -> PyResult<Format> {
    Format::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        PyValueError::new_err(format!(
            "unknown format {name:?}: use one of {}",
            names.join(", ")
        ))
    })
}

/// A secret key of 16 bytes.
pub(crate) fn secret(bytes: Option<&[u8]>) -> PyResult<Option<SipKey>> {
    let parse = |bytes: &[u8]| {
        let key: [u8; 16] = bytes.try_into().map_err(|_| {
            PyValueError::new_err(format!(
                "a secret key has 16 bytes, not {}: use secrets.token_bytes(16)",
                bytes.len()
            ))
        })?;
        Ok(SipKey::new(key))
    };
    bytes.map(parse).transpose()
}

fn read(path: &Path) -> PyResult<Vec<u8>> {
    std::fs::read(path).map_err(|error| os_error(path, &error))
}

/// A filter whose keys are hashes of the program that created it cannot be queried from here.
fn check_keys(accepts_key_bytes: bool) -> PyResult<()> {
    if accepts_key_bytes {
        return Ok(());
    }
    Err(UnsupportedError::new_err(
        "the filter contains hashes of the program that created it, and no keys: query it there",
    ))
}

/// Loads one of mayhap's own filters.
pub(crate) fn load_native(
    bytes: &[u8],
    key: Option<SipKey>,
    given: Option<KeyType>,
) -> PyResult<State> {
    let filter = match key {
        Some(key) => native::decode_with_key(bytes, LIMITS, key).py()?,
        None => native::decode(bytes, LIMITS).py()?,
    };
    native_state(filter, given)
}

fn native_state(filter: AnyFilter, given: Option<KeyType>) -> PyResult<State> {
    check_keys(filter.accepts_key_bytes())?;
    let rules = KeyRules::loaded(filter.key_type(), given)?;
    Ok(State::new(filter, rules, Clock::Loaded))
}

pub(crate) fn load_native_file(
    path: &Path,
    key: Option<SipKey>,
    given: Option<KeyType>,
) -> PyResult<State> {
    let options = LoadOptions {
        key,
        limits: LIMITS,
    };
    native_state(native::load_with(path, &options).py()?, given)
}

pub(crate) fn map(
    path: PathBuf,
    verify: Verify,
    key: Option<SipKey>,
    given: Option<KeyType>,
) -> PyResult<State> {
    let filter = native::map(&path, verify, key).py()?;
    check_keys(filter.accepts_key_bytes())?;
    let rules = KeyRules::loaded(filter.key_type(), given)?;
    // For another process that maps it too, whatever the working folder is then.
    let path = std::path::absolute(&path).unwrap_or(path);
    Ok(State::mapped(filter, path, rules))
}

/// How a file of another system was opened, to do it again in another process.
#[derive(Clone, Default)]
pub(crate) struct Origin {
    pub(crate) options: OpenOptions,
    pub(crate) key_type: Option<KeyType>,
}

/// The filters in some bytes.
pub(crate) fn open_state(bytes: &[u8], origin: &Origin, wanted: &Location) -> PyResult<State> {
    let all = formats::open(bytes, &origin.options).py()?;
    let count = all.len();
    let places: Vec<String> = all
        .iter()
        .take(5)
        .map(|one| one.location.to_string())
        .collect();
    let mut found: Vec<OpenedFilter> = all;
    found.retain(|found| found.location.is_wanted(wanted));
    if found.is_empty() {
        return Err(FormatError::new_err(if count == 0 {
            "it contains no filter: use a file that was written with filters enabled".to_owned()
        } else if places.iter().all(String::is_empty) {
            "it has a single filter: omit column=, row_group=, key= and granule=".to_owned()
        } else {
            format!("there is no such filter: it has {}", places.join("; "))
        }));
    }
    if let [
        OpenedFilter {
            filter: StoredFilter::Native(_),
            ..
        },
    ] = &found[..]
        && let StoredFilter::Native(filter) = found.remove(0).filter
    {
        return native_state(filter, origin.key_type);
    }
    let mut parts = Vec::new();
    for opened in found {
        opened.filter.check_keys().py()?;
        let parameters =
            Parameters::new(opened.filter.format(), &origin.options.parameters).py()?;
        let parameters = parameters.for_file(origin.options.file_name.as_deref());
        let key_type = origin.key_type.unwrap_or_default();
        let reader = opened.key_reader(&parameters, key_type).py()?;
        parts.push(ForeignPart {
            opened,
            encoder: Encoder::foreign(reader),
        });
    }
    Ok(State::foreign(parts))
}

/// Opens the filters of a file of any format: mayhap's own, those of other systems, and containers such as Parquet files.
///
/// The options are those of `mayhap check`: `format`, `fpr`, `probes`, `columns` and the parameters of a format for what a file does not
/// store; `column`, `row_group`, `key` and `granule` to select filters of a container; `key_type` for integers; `key_file` or `secret` for
/// a secret key. With `mmap=True` a native file is used in place, read-only and shared between processes; `verify=True` then checks all of
/// it first, and otherwise each page is checked when it is first needed.
#[pyfunction]
#[pyo3(signature = (path, *, mmap=false, verify=false, format=None, fpr=None, probes=None, columns=None, column=None, row_group=None, key=None, granule=None, key_type=None, key_file=None, secret=None, **parameters))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments")]
pub(crate) fn open<'py>(
    py: Python<'py>,
    path: PathBuf,
    mmap: bool,
    verify: bool,
    format: Option<&str>,
    fpr: Option<f64>,
    probes: Option<u32>,
    columns: Option<usize>,
    column: Option<&Bound<'py, PyAny>>,
    row_group: Option<u64>,
    key: Option<&Bound<'py, PyAny>>,
    granule: Option<u64>,
    key_type: Option<&str>,
    key_file: Option<PathBuf>,
    secret: Option<&[u8]>,
    parameters: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let format = format.map(self::format).transpose()?;
    let key_type = self::key_type(key_type)?;
    let mut secret = self::secret(secret)?;
    if let Some(file) = key_file {
        let parsed = parse_key(&read(&file)?).ok_or_else(|| {
            PyValueError::new_err(format!(
                "{} is not a key file: it must have 32 hexadecimal digits, or 16 bytes",
                file.display()
            ))
        })?;
        secret = Some(parsed);
    }
    let parameters = OptionMap::from_python(parameters)?.0;
    if mmap {
        if format.is_some_and(|format| format != Format::Mayhap) || !parameters.is_empty() {
            return Err(PyValueError::new_err(
                "only mayhap's own files can be mapped: omit mmap=True",
            ));
        }
        let verify = if verify { Verify::Full } else { Verify::Lazy };
        let state = py.detach(|| map(path, verify, secret, key_type))?;
        return classes::instance(py, Class::Filter, Filter::new(state));
    }
    let wanted = Location {
        row_group,
        column: column
            .map(|column| column.str()?.to_str().map(str::to_owned))
            .transpose()?,
        key: key.map(redis_key).transpose()?,
        granule,
        ..Location::default()
    };
    let origin = Origin {
        options: OpenOptions {
            format,
            parameters,
            rate: fpr,
            probes,
            columns,
            key: secret,
            file_name: path
                .file_name()
                .and_then(|name| name.to_str())
                .map(str::to_owned),
            limits: LIMITS,
        },
        key_type,
    };
    let state = py.detach(|| {
        let bytes = read(&path)?;
        open_state(&bytes, &origin, &wanted)
    });
    let state = state.map_err(|error| {
        if error.is_instance_of::<pyo3::exceptions::PyOSError>(py) {
            return error;
        }
        in_file(py, &path, error)
    })?;
    let class = Class::of(&state);
    let filter = Filter::new(state).opened_by(origin);
    classes::instance(py, class, filter)
}

fn redis_key(key: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(key) = key.cast::<PyBytes>() {
        return Ok(key.as_bytes().to_vec());
    }
    match key.cast::<PyString>() {
        Ok(key) => Ok(key.to_str()?.as_bytes().to_vec()),
        Err(_) => Err(PyTypeError::new_err(
            "key is the name of a key in a Redis dump, as str or bytes: pass a secret key as secret=",
        )),
    }
}

/// Creates an empty filter as another system would, for example `create("guava", 1000, 0.01, strategy="mitz64")`. `bits` and `probes`
/// give its exact shape instead; `parameters` are those of the format, as of `mayhap build -P`.
#[pyfunction]
#[pyo3(signature = (format, capacity=None, fpr=None, *, bits=None, probes=None, key_type=None, **parameters))]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments")]
pub(crate) fn create<'py>(
    py: Python<'py>,
    format: &str,
    capacity: Option<u64>,
    fpr: Option<f64>,
    bits: Option<u64>,
    probes: Option<u32>,
    key_type: Option<&str>,
    parameters: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let format = self::format(format)?;
    let key_type = self::key_type(key_type)?;
    let given = OptionMap::from_python(parameters)?.0;
    let parameters = Parameters::new(format, &given).py()?;
    let build = BuildOptions {
        parameters: parameters.clone(),
        capacity,
        rate: fpr,
        bits,
        probes,
    };
    let count = match build.required_count() {
        RequiredCount::Nothing => 0,
        RequiredCount::Keys | RequiredCount::DistinctKeys => {
            return Err(PyValueError::new_err(format!(
                "a {format} filter needs a capacity: pass the number of keys"
            )));
        }
    };
    let filter = build.start(count).py()?.finish().py()?;
    let reader = parameters.key_reader(key_type.unwrap_or_default()).py()?;
    let part = ForeignPart {
        opened: OpenedFilter {
            location: Location::default(),
            filter,
        },
        encoder: Encoder::foreign(reader),
    };
    let origin = Origin {
        options: OpenOptions {
            format: Some(format),
            parameters: given,
            rate: fpr,
            probes,
            limits: LIMITS,
            ..OpenOptions::default()
        },
        key_type,
    };
    let filter = Filter::new(State::foreign(vec![part])).opened_by(origin);
    classes::instance(py, Class::ForeignFilter, filter)
}

/// The bytes of a filter in a format. Parameters are checked: a reader who gets them must be able to open the bytes.
pub(crate) fn convert(
    state: &State,
    format: Option<&str>,
    options: &OptionMap,
    file_name: Option<&str>,
    hash_key: HashKey,
) -> PyResult<Vec<u8>> {
    let Some(name) = format else {
        if !options.is_empty() {
            return Err(PyTypeError::new_err(format!(
                "unknown option {}: options are parameters of format=",
                options.0[0]
            )));
        }
        return state.encode(file_name, hash_key);
    };
    let format = self::format(name)?;
    Parameters::new(format, &options.0).py()?;
    if format == state.format() {
        return state.encode(file_name, hash_key);
    }
    let converted = state.to_stored()?.convert(format).py()?;
    let bytes = converted.encode_for_file(file_name).py()?;
    let reopened = OpenOptions {
        format: Some(format),
        parameters: options.0.clone(),
        file_name: file_name.map(str::to_owned),
        limits: LIMITS,
        ..OpenOptions::default()
    };
    if !options.is_empty() {
        formats::open(&bytes, &reopened).py()?;
    }
    Ok(bytes)
}
