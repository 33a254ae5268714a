//! Filters without false positives on a list.

use super::mutable;
use crate::batch::packed_keys;
use crate::errors::{ResultExt, UnsupportedError};
use crate::filter::Filter;
use crate::mutable_filter::MutableFilter;
use crate::storage::{Clock, State, Storage};
use mayhap::OnConflict;
use mayhap::formats::StoredFilter;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

filter_class! {
    /// A copy of a filter, without false positives on a list of known keys.
    ///
    /// `keys` are those of the filter, which must contain them; `exceptions` are never found. A key on both lists is an error, or with
    /// `on_conflict="block"` found, or with `on_conflict="allow"` not found.
    ///
    /// >>> blocked = mayhap.Bloom(1000, 0.01)
    /// >>> bad = [f"https://bad.example/{i}" for i in range(1000)]
    /// >>> good = [f"https://good.example/{i}" for i in range(1000)]
    /// >>> blocked.update(bad)
    /// >>> exact = mayhap.Excepting(blocked, bad, good)
    /// >>> any(exact.contains_many(good)), all(exact.contains_many(bad))
    /// (False, True)
    Excepting extends MutableFilter, {
        #[new]
        #[pyo3(signature = (filter, keys, exceptions, *, on_conflict="error"))]
        fn new(
            filter: &Bound<'_, Filter>,
            keys: &Bound<'_, PyAny>,
            exceptions: &Bound<'_, PyAny>,
            on_conflict: &str,
        ) -> PyResult<PyClassInitializer<Self>> {
            let on_conflict = match on_conflict {
                "error" => OnConflict::Refuse,
                "block" => OnConflict::Block,
                "allow" => OnConflict::Allow,
                other => {
                    return Err(PyValueError::new_err(format!(
                        "on_conflict cannot be {other:?}: use \"error\", \"block\" or \"allow\""
                    )));
                }
            };
            let py = filter.py();
            if filter.get().hash_func(py).is_some() {
                return Err(UnsupportedError::new_err(
                    "a filter with a hash_func cannot have exceptions",
                ));
            }
            let state = filter.get().read_plain(py).try_clone()?;
            let (rules, encoder) = (state.rules, state.encoder.clone());
            let Storage::Stored(StoredFilter::Native(base)) = state.storage else {
                return Err(UnsupportedError::new_err(
                    "only mayhap's own filters can have exceptions: convert it with save(format=\"mayhap\")",
                ));
            };
            let keys = packed_keys(keys, &encoder)?;
            let exceptions = packed_keys(exceptions, &encoder)?;
            let built = py.detach(|| {
                let (keys, exceptions) = (keys.slices(), exceptions.slices());
                mayhap::Excepting::build_with(base, &keys, &exceptions, on_conflict)
            });
            let state = State::new(built.py()?.into(), rules, Clock::Newest);
            Ok(mutable(Filter::new(state)).add_subclass(Self))
        }
    }
}
