//! Filters of other systems.

use super::remove;
use crate::mutable_filter::MutableFilter;
use pyo3::prelude::*;

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
