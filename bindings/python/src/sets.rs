//! Filters as sets: equality, subsets and unions.

use crate::errors::{MismatchError, UnsupportedError};
use crate::filter::Filter;
use crate::storage::State;
use mayhap::AnyFilter;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

pub(crate) fn equals(ours: &Bound<'_, Filter>, theirs: &Bound<'_, Filter>) -> PyResult<bool> {
    if ours.is(theirs) {
        return Ok(true);
    }
    let py = ours.py();
    let (ours, theirs) = (ours.get().read_plain(py), theirs.get().read_plain(py));
    py.detach(|| ours.equals(&theirs))
}

/// Whether all bits of one filter are set in the other.
pub(crate) fn is_subset(ours: &Bound<'_, Filter>, theirs: &Bound<'_, Filter>) -> PyResult<bool> {
    let py = ours.py();
    let is_same = ours.is(theirs);
    let (ours, theirs) = (ours.get().read_plain(py), theirs.get().read_plain(py));
    if is_same && ours.native().is_some() {
        return Ok(true);
    }
    let is_covered = |(ours, theirs): (u64, u64)| ours & !theirs == 0;
    match (ours.native(), theirs.native()) {
        (Some(AnyFilter::Bloom(ours)), Some(AnyFilter::Bloom(theirs))) => {
            if ours.plan() != theirs.plan() || ours.scheme() != theirs.scheme() {
                return Err(shapes_differ());
            }
            Ok(py.detach(|| ours.words().zip(theirs.words()).all(is_covered)))
        }
        (Some(AnyFilter::Classic(ours)), Some(AnyFilter::Classic(theirs))) => {
            let is_same_shape = ours.plan() == theirs.plan()
                && ours.scheme() == theirs.scheme()
                && ours.hash_scheme() == theirs.hash_scheme();
            if !is_same_shape {
                return Err(shapes_differ());
            }
            Ok(py.detach(|| ours.words().zip(theirs.words()).all(is_covered)))
        }
        _ => Err(UnsupportedError::new_err(
            "only Bloom and ClassicBloom filters can be compared by their sets",
        )),
    }
}

fn shapes_differ() -> PyErr {
    MismatchError::new_err(
        "the filters differ in capacity, rate or hash: create both with the same arguments",
    )
}

pub(crate) fn not_a_filter(other: &Bound<'_, PyAny>) -> PyErr {
    let name = other.get_type().name();
    let name = name.map_or_else(|_| "this object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "expected a filter of mayhap, not {name}: use update for iterables"
    ))
}

/// Locks two filters, always in the same order, so that two threads do not wait for each other.
pub(crate) fn with_both<T>(
    ours: &Bound<'_, Filter>,
    theirs: &Bound<'_, Filter>,
    call: impl FnOnce(&mut State, &State) -> PyResult<T> + Send,
) -> PyResult<T>
where
    T: Send,
{
    let py = ours.py();
    let (ours, theirs) = (ours.get(), theirs.get());
    // Outside of the locks: it may have to end the mode for several threads.
    drop(theirs.read_plain(py));
    if std::ptr::from_ref(ours) < std::ptr::from_ref(theirs) {
        let mut ours = ours.write(py);
        let theirs = theirs.read_plain(py);
        py.detach(|| call(&mut ours, &theirs))
    } else {
        let theirs = theirs.read_plain(py);
        let mut ours = ours.write(py);
        py.detach(|| call(&mut ours, &theirs))
    }
}

pub(crate) fn union(ours: &Bound<'_, Filter>, theirs: &Bound<'_, Filter>) -> PyResult<()> {
    check_hash_funcs(ours, theirs)?;
    if ours.is(theirs) {
        return Ok(());
    }
    with_both(ours, theirs, State::union_with)
}

/// Filters whose keys are hashed by different functions have nothing in common.
pub(crate) fn check_hash_funcs(
    ours: &Bound<'_, Filter>,
    theirs: &Bound<'_, Filter>,
) -> PyResult<()> {
    let py = ours.py();
    let is_same = match (ours.get().hash_func(py), theirs.get().hash_func(py)) {
        (Some(ours), Some(theirs)) => ours.eq(theirs)?,
        (ours, theirs) => ours.is_none() && theirs.is_none(),
    };
    if is_same {
        return Ok(());
    }
    Err(MismatchError::new_err(
        "the filters have different hash functions: create both with the same hash_func",
    ))
}
