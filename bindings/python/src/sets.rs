//! Filters as sets: equality, subsets and unions.

use crate::errors::{MismatchError, UnsupportedError};
use crate::filter::Filter;
use crate::storage::State;
use mayhap::AnyFilter;
use parking_lot::RwLockReadGuard;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

pub(crate) fn equals(ours: &Bound<'_, Filter>, theirs: &Bound<'_, Filter>) -> PyResult<bool> {
    if ours.is(theirs) {
        return Ok(true);
    }
    let py = ours.py();
    let (ours, theirs) = read_both(ours, theirs);
    py.detach(|| ours.equals(&theirs))
}

/// Reads two filters that are not the same. Every thread locks two filters in the order of their addresses: otherwise each could hold one
/// and wait for the other, behind a thread that waits to write it.
fn read_both<'a>(
    ours: &'a Bound<'_, Filter>,
    theirs: &'a Bound<'_, Filter>,
) -> (RwLockReadGuard<'a, State>, RwLockReadGuard<'a, State>) {
    let py = ours.py();
    let (ours, theirs) = (ours.get(), theirs.get());
    if std::ptr::from_ref(ours) < std::ptr::from_ref(theirs) {
        let ours = ours.read_plain(py);
        (ours, theirs.read_plain(py))
    } else {
        let theirs = theirs.read_plain(py);
        (ours.read_plain(py), theirs)
    }
}

/// Whether all bits of one filter are set in the other.
pub(crate) fn is_subset(ours: &Bound<'_, Filter>, theirs: &Bound<'_, Filter>) -> PyResult<bool> {
    let py = ours.py();
    if ours.is(theirs) {
        let state = ours.get().read_plain(py);
        return state.native().map(|_| true).ok_or_else(no_sets);
    }
    let (ours, theirs) = read_both(ours, theirs);
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
        _ => Err(no_sets()),
    }
}

fn no_sets() -> PyErr {
    UnsupportedError::new_err("only Bloom and ClassicBloom filters can be compared by their sets")
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

/// Locks two filters, in the same order as `read_both`.
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
