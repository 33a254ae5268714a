//! `plan`: what `mayhap plan --json` prints.

use crate::json;
use mayhap::formats::{CostRequest, PlanRequest, PlanRequestError};
use mayhap::plan::Requirements;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Recommends a kind of filter, and computes whichever of `keys`, `fpr` and `memory` (in bytes) is not given.
///
/// `delete`, `grow`, `window` and `static` say what the filter must support, `exceptions` how many known keys must never be false positives.
/// Costs are in any unit; they add a section on costs, and choose the best rate if `fpr` is not given.
///
/// >>> mayhap.plan(keys=1_000_000, fpr=0.01)["kind"]
/// 'bloom'
/// >>> mayhap.plan(keys=1_000_000, fpr=0.001, delete=True)["kind"]
/// 'cuckoo'
#[pyfunction]
#[pyo3(signature = (keys=None, fpr=None, *, memory=None, delete=false, grow=false, window=false, r#static=false, exceptions=0, cost_skip=None, cost_lookup=None, present=None, cost_gib=None, lookups=None))]
#[expect(
    clippy::too_many_arguments,
    clippy::fn_params_excessive_bools,
    reason = "they are keyword arguments"
)]
pub(crate) fn plan(
    py: Python<'_>,
    keys: Option<u64>,
    fpr: Option<f64>,
    memory: Option<u64>,
    delete: bool,
    grow: bool,
    window: bool,
    r#static: bool,
    exceptions: u64,
    cost_skip: Option<f64>,
    cost_lookup: Option<f64>,
    present: Option<f64>,
    cost_gib: Option<f64>,
    lookups: Option<u64>,
) -> PyResult<Bound<'_, PyAny>> {
    let request = PlanRequest {
        keys,
        false_positive_rate: fpr,
        memory,
        requirements: Requirements {
            delete,
            grow,
            expire: window,
            fixed: r#static,
            exceptions,
        },
        costs: CostRequest {
            skip: cost_skip,
            lookup: cost_lookup,
            present,
            gib: cost_gib,
            lookups,
        },
    };
    let invalid = |error: PlanRequestError| PyValueError::new_err(error.to_string());
    let report = request.report().map_err(invalid)?;
    let figures = report.to_json().map_err(|error| invalid(error.into()))?;
    json::to_python(py, &figures)
}
