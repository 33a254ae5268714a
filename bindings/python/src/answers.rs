//! The answers of a batch, in the form of its keys: a NumPy array, an Arrow array or a list.
//!
//! Unsafe code: NumPy's array is written in place, without the GIL.

#![expect(unsafe_code, reason = "bytes of a bytearray are written as booleans")]

use crate::batch::{Answers, ArrowBools};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyList};

/// Calls a function that writes the answers, and passes them on.
pub(crate) fn collect<'py>(
    py: Python<'py>,
    answers: Answers,
    count: usize,
    write: impl FnOnce(&mut [bool]) -> PyResult<()>,
) -> PyResult<Bound<'py, PyAny>> {
    if answers == Answers::NumPy {
        let bytes = PyByteArray::new_with(py, count, |bytes| {
            // SAFETY: a bool has the size and alignment of a byte, and 0, of which all bytes are, is one. Only booleans are written.
            let found = unsafe {
                std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast::<bool>(), bytes.len())
            };
            write(found)
        })?;
        return to_numpy(py, bytes);
    }
    let mut found = Vec::new();
    let no_memory = |_| pyo3::exceptions::PyMemoryError::new_err("no memory for the answers");
    found.try_reserve_exact(count).map_err(no_memory)?;
    found.resize(count, false);
    write(&mut found)?;
    to_arrow(py, answers, &found)
}

/// The answers for an iterable: a list, or an array for an array of objects.
pub(crate) fn from_items<'py>(
    py: Python<'py>,
    answers: Option<Answers>,
    found: &[bool],
) -> PyResult<Bound<'py, PyAny>> {
    let Some(answers) = answers else {
        return list_of(py, found);
    };
    collect(py, answers, found.len(), |places| {
        places.copy_from_slice(found);
        Ok(())
    })
}

/// A NumPy array, or the list of a caller who has only buffers of his own, such as `array.array`.
fn to_numpy<'py>(py: Python<'py>, bytes: Bound<'py, PyByteArray>) -> PyResult<Bound<'py, PyAny>> {
    let Ok(numpy) = py.import(intern!(py, "numpy")) else {
        let found: Vec<bool> = bytes.to_vec().into_iter().map(|byte| byte != 0).collect();
        return list_of(py, &found);
    };
    let bool_type = numpy.getattr(intern!(py, "bool_"))?;
    numpy.call_method1(intern!(py, "frombuffer"), (bytes, bool_type))
}

fn to_arrow<'py>(py: Python<'py>, answers: Answers, found: &[bool]) -> PyResult<Bound<'py, PyAny>> {
    let array = Bound::new(py, ArrowBools::new(found))?.into_any();
    match answers {
        Answers::PyArrow => py
            .import(intern!(py, "pyarrow"))?
            .call_method1(intern!(py, "array"), (array,)),
        Answers::Polars => py
            .import(intern!(py, "polars"))?
            .call_method1(intern!(py, "Series"), (array,)),
        Answers::Arrow | Answers::NumPy => Ok(array),
    }
}

/// The items of a list, for answers.
fn list_of<'py>(py: Python<'py>, answers: &[bool]) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyList::new(py, answers.iter().copied())?.into_any())
}
