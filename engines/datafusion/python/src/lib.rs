//! The functions for DataFusion's Python package, passed to it as capsules of DataFusion's C interface.

use datafusion_ffi::udaf::FFI_AggregateUDF;
use datafusion_ffi::udf::FFI_ScalarUDF;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// What `datafusion.udf` accepts.
#[pyclass(frozen)]
struct ScalarFunction(FFI_ScalarUDF);

#[pymethods]
impl ScalarFunction {
    fn __datafusion_scalar_udf__<'py>(
        &self,
        python: Python<'py>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(python, self.0.clone(), c"datafusion_scalar_udf")
    }
}

/// What `datafusion.udaf` accepts.
#[pyclass(frozen)]
struct AggregateFunction(FFI_AggregateUDF);

#[pymethods]
impl AggregateFunction {
    fn __datafusion_aggregate_udf__<'py>(
        &self,
        python: Python<'py>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(python, self.0.clone(), c"datafusion_aggregate_udf")
    }
}

/// Registers all functions in a `datafusion.SessionContext`.
#[pyfunction]
fn register_all(context: &Bound<'_, PyAny>) -> PyResult<()> {
    let datafusion = context.py().import("datafusion")?;
    for function in mayhap_datafusion::scalar_functions() {
        let exported = ScalarFunction(FFI_ScalarUDF::from(function));
        let imported = datafusion.call_method1("udf", (exported,))?;
        context.call_method1("register_udf", (imported,))?;
    }
    for function in mayhap_datafusion::aggregate_functions() {
        let exported = AggregateFunction(FFI_AggregateUDF::from(function));
        let imported = datafusion.call_method1("udaf", (exported,))?;
        context.call_method1("register_udaf", (imported,))?;
    }
    Ok(())
}

/// `bloom_filter_agg`, `bloom_filter_merge` and `might_contain`.
#[pymodule(name = "mayhap_datafusion")]
fn functions(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(register_all, module)?)
}
