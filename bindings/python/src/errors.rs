//! The exceptions: subclasses of those that a Python programmer expects, with one line that says what to do.

use mayhap::formats::{
    BuildError, DecodeError, EncodeError, FilterError, KeyError, OpenError, ParameterError, Problem,
};
use mayhap::native::{FileError, LoadError};
use mayhap::{ExceptingError, Mismatch, OperationError, PlanError, WrongKind};
use pyo3::exceptions::{PyMemoryError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::io;
use std::path::Path;

pyo3::create_exception!(
    mayhap,
    FormatError,
    PyValueError,
    "The bytes are not a filter of the format, are damaged, or cannot be written in another format."
);
pyo3::create_exception!(
    mayhap,
    MismatchError,
    PyValueError,
    "Two filters differ in kind, size or hash function, and cannot be combined."
);
pyo3::create_exception!(
    mayhap,
    FullError,
    PyValueError,
    "The filter has no room for the key, which was not added."
);
pyo3::create_exception!(
    mayhap,
    UnsupportedError,
    PyTypeError,
    "Filters of this kind or format do not support the operation."
);

/// An error of the crates, as an exception.
pub(crate) trait IntoPyErr {
    fn into_py_err(self) -> PyErr;
}

/// `result.py()?`
pub(crate) trait ResultExt<T> {
    fn py(self) -> PyResult<T>;
}

impl<T, E: IntoPyErr> ResultExt<T> for Result<T, E> {
    fn py(self) -> PyResult<T> {
        self.map_err(IntoPyErr::into_py_err)
    }
}

macro_rules! as_exception {
    ($($error:ty => $exception:ty),* $(,)?) => {
        $(impl IntoPyErr for $error {
            fn into_py_err(self) -> PyErr {
                <$exception>::new_err(self.to_string())
            }
        })*
    };
}

as_exception! {
    EncodeError => FormatError,
    ParameterError => PyValueError,
    KeyError => PyValueError,
    ExceptingError => PyValueError,
    WrongKind => FormatError,
    Mismatch => MismatchError,
}

impl IntoPyErr for PlanError {
    fn into_py_err(self) -> PyErr {
        match self {
            Self::OutOfMemory { .. } => PyMemoryError::new_err(self.to_string()),
            _ => PyValueError::new_err(self.to_string()),
        }
    }
}

impl IntoPyErr for BuildError {
    fn into_py_err(self) -> PyErr {
        match self {
            Self::Plan(error) => error.into_py_err(),
            Self::Parameter(_) | Self::Missing { .. } | Self::Native => {
                PyValueError::new_err(self.to_string())
            }
        }
    }
}

impl IntoPyErr for OperationError {
    fn into_py_err(self) -> PyErr {
        let message = self.to_string();
        match self {
            Self::Unsupported { .. } => UnsupportedError::new_err(message),
            Self::Full(_) => FullError::new_err(message),
            Self::Mismatch(_) | Self::Kinds { .. } => MismatchError::new_err(message),
            _ => PyValueError::new_err(message),
        }
    }
}

impl IntoPyErr for FilterError {
    fn into_py_err(self) -> PyErr {
        let message = self.to_string();
        match self {
            Self::Unsupported { .. } => UnsupportedError::new_err(message),
            Self::Native(error) => error.into_py_err(),
            Self::Full(_) => FullError::new_err(message),
            Self::Mismatch(_) | Self::Formats { .. } => MismatchError::new_err(message),
            Self::Hadoop(_) => PyValueError::new_err(message),
        }
    }
}

/// Replaces what the crates say about flags and limits by what Python has.
fn decode_message(error: &DecodeError) -> String {
    match &error.problem {
        Problem::KeyOutside { .. } => format!("{error}: pass it as key="),
        _ => error.to_string(),
    }
}

impl IntoPyErr for DecodeError {
    fn into_py_err(self) -> PyErr {
        FormatError::new_err(decode_message(&self))
    }
}

impl IntoPyErr for OpenError {
    fn into_py_err(self) -> PyErr {
        let advice = match &self {
            Self::Decode(error) => return FormatError::new_err(decode_message(error)),
            Self::Parameter(_) => return PyValueError::new_err(self.to_string()),
            Self::Ambiguous(_) => ": say which with format=",
            Self::Unknown => ": if it is one, pass its format=",
            Self::Text => ": build one from its lines first",
            Self::Missing { .. } => return FormatError::new_err(missing_message(&self)),
        };
        FormatError::new_err(format!("{self}{advice}"))
    }
}

/// The arguments of `open` for settings that a file does not store.
fn missing_message(error: &OpenError) -> String {
    format!("{error}, with fpr=, probes= or a parameter of the format")
}

impl IntoPyErr for LoadError {
    fn into_py_err(self) -> PyErr {
        match self {
            Self::Io(error) => PyErr::from(error),
            Self::Decode(error) => error.into_py_err(),
            Self::Kind(error) => error.into_py_err(),
            other => PyValueError::new_err(other.to_string()),
        }
    }
}

impl IntoPyErr for FileError {
    fn into_py_err(self) -> PyErr {
        match self.error {
            LoadError::Io(error) => os_error(&self.path, &error),
            error => Python::attach(|py| in_file(py, &self.path, error.into_py_err())),
        }
    }
}

/// `OSError(number, text, path)`, which Python turns into `FileNotFoundError` and the like.
pub(crate) fn os_error(path: &Path, error: &io::Error) -> PyErr {
    let path = path.to_string_lossy().into_owned();
    match error.raw_os_error() {
        Some(number) => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or(&text).to_owned();
            PyOSError::new_err((number, text, path))
        }
        None => PyOSError::new_err(format!("{path}: {error}")),
    }
}

/// The same exception, with the path in front of its message.
pub(crate) fn in_file(py: Python<'_>, path: &Path, error: PyErr) -> PyErr {
    let message = format!("{}: {}", path.display(), error.value(py));
    PyErr::from_type(error.get_type(py), message)
}
