//! Error codes and messages, and the boundary that no panic crosses.

use mayhap::formats::{BuildError, DecodeError, EncodeError, FilterError, OpenError, Problem};
use mayhap::{FileError, Full, Mismatch, OperationError, PlanError};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The call succeeded. Functions that answer a question return 0 or 1.
pub const MAYHAP_OK: c_int = 0;
/// An argument is wrong: a null pointer, a kind or an option that does not exist, a rate that is not between 0 and 1.
pub const MAYHAP_ERROR_ARGUMENT: c_int = -1;
/// A file cannot be read or written.
pub const MAYHAP_ERROR_IO: c_int = -2;
/// The bytes are damaged, or not a filter of a known or of the given format.
pub const MAYHAP_ERROR_FORMAT: c_int = -3;
/// Filters of this kind or format do not support the operation.
pub const MAYHAP_ERROR_UNSUPPORTED: c_int = -4;
/// Two filters have different kinds, formats, shapes or hash keys.
pub const MAYHAP_ERROR_MISMATCH: c_int = -5;
/// There is no room for the key. The filter is unchanged.
pub const MAYHAP_ERROR_FULL: c_int = -6;
/// There is not enough memory.
pub const MAYHAP_ERROR_MEMORY: c_int = -7;
/// A bug in mayhap. The filter of the call must not be used any more, except to free it.
pub const MAYHAP_ERROR_INTERNAL: c_int = -8;

/// A code and a message.
#[derive(Debug)]
pub(crate) struct Failure {
    code: c_int,
    message: String,
}

impl Failure {
    pub(crate) fn new(code: c_int, message: impl fmt::Display) -> Self {
        Self {
            code,
            message: message.to_string(),
        }
    }

    pub(crate) fn argument(message: impl fmt::Display) -> Self {
        Self::new(MAYHAP_ERROR_ARGUMENT, message)
    }

    /// The same failure, with the path of the file that it is about.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        Self::new(self.code, format!("{}: {}", path.display(), self.message))
    }

    pub(crate) fn unsupported(message: impl fmt::Display) -> Self {
        Self::new(MAYHAP_ERROR_UNSUPPORTED, message)
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        let code = match error {
            PlanError::OutOfMemory { .. } => MAYHAP_ERROR_MEMORY,
            _ => MAYHAP_ERROR_ARGUMENT,
        };
        Self::new(code, error)
    }
}

impl From<Full> for Failure {
    fn from(full: Full) -> Self {
        let code = match full {
            Full::Memory { .. } => MAYHAP_ERROR_MEMORY,
            Full::Static { .. } => MAYHAP_ERROR_UNSUPPORTED,
            _ => MAYHAP_ERROR_FULL,
        };
        Self::new(code, full)
    }
}

impl From<Mismatch> for Failure {
    fn from(mismatch: Mismatch) -> Self {
        let code = match mismatch {
            Mismatch::Memory { .. } => MAYHAP_ERROR_MEMORY,
            _ => MAYHAP_ERROR_MISMATCH,
        };
        Self::new(code, mismatch)
    }
}

impl From<OperationError> for Failure {
    fn from(error: OperationError) -> Self {
        match error {
            OperationError::Full(full) => full.into(),
            OperationError::Mismatch(mismatch) => mismatch.into(),
            OperationError::Kinds { .. } => Self::new(MAYHAP_ERROR_MISMATCH, error),
            OperationError::Saturated(_) => Self::new(MAYHAP_ERROR_FULL, error),
            _ => Self::unsupported(error),
        }
    }
}

impl From<FilterError> for Failure {
    fn from(error: FilterError) -> Self {
        match error {
            FilterError::Native(error) => error.into(),
            FilterError::Full(full) => full.into(),
            FilterError::Mismatch(mismatch) => mismatch.into(),
            FilterError::Formats { .. } => Self::new(MAYHAP_ERROR_MISMATCH, error),
            FilterError::Unsupported { .. } | FilterError::Hadoop(_) => Self::unsupported(error),
        }
    }
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        let code = match error.problem {
            Problem::TooLarge { .. } | Problem::Plan(PlanError::OutOfMemory { .. }) => {
                MAYHAP_ERROR_MEMORY
            }
            _ => MAYHAP_ERROR_FORMAT,
        };
        Self::new(code, error)
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Decode(error) => error.into(),
            OpenError::Ambiguous(_) => Self::new(
                MAYHAP_ERROR_FORMAT,
                format!("{error}: choose one with the option format=NAME"),
            ),
            OpenError::Unknown | OpenError::Text => Self::new(MAYHAP_ERROR_FORMAT, error),
            OpenError::Missing { .. } => Self::argument(format!(
                "{error}, with the options fpr=P, bits=M or probes=K"
            )),
            OpenError::Parameter(error) => Self::argument(error),
        }
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Plan(error) => error.into(),
            error => Self::argument(error),
        }
    }
}

impl From<EncodeError> for Failure {
    fn from(error: EncodeError) -> Self {
        Self::unsupported(error)
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        let code = match error.error {
            mayhap::LoadError::Io(_) => MAYHAP_ERROR_IO,
            _ => MAYHAP_ERROR_FORMAT,
        };
        Self::new(code, error)
    }
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

fn set_message(message: &str) {
    // A path may contain anything but a zero byte; messages quote other text.
    let message = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
    MESSAGE.with_borrow_mut(|last| *last = message);
}

/// Runs a function of the interface.
pub(crate) fn run(call: impl FnOnce() -> Result<c_int, Failure>) -> c_int {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(answer)) => answer,
        Ok(Err(failure)) => {
            set_message(&failure.message);
            failure.code
        }
        Err(_) => {
            set_message("a bug in mayhap: please report it, with the call");
            MAYHAP_ERROR_INTERNAL
        }
    }
}

/// What went wrong in the last call of this thread that returned an error, and what to do; empty if none did. The text is valid
/// until the next call of this thread that fails.
#[unsafe(no_mangle)]
pub extern "C" fn mayhap_error_message() -> *const c_char {
    MESSAGE.with_borrow(|message| message.as_ptr())
}

/// The version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn mayhap_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}
