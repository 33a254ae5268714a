//! The package works in the main interpreter only.
//!
//! Unsafe code: the number of the interpreter has no safe function.

#![expect(
    unsafe_code,
    reason = "the number of the interpreter has no safe function"
)]

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Refuses other interpreters: classes and exceptions belong to the one that created them.
pub(crate) fn check_main(_py: Python<'_>) -> PyResult<()> {
    // SAFETY: this thread is attached to an interpreter, as the argument proves.
    let number = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    if number == 0 {
        return Ok(());
    }
    Err(PyImportError::new_err(
        "mayhap does not support subinterpreters: import it in the main interpreter, or use processes",
    ))
}
