//! Filters whose false positives can be removed.

use super::fixed_set::hashes;
use super::{Capacity, hash_scheme, mutable, new_state};
use crate::errors::{ResultExt, UnsupportedError};
use crate::filter::Filter;
use crate::mutable_filter::MutableFilter;
use crate::storage::Clock;
use mayhap::plan::classic::ClassicPlan;
use mayhap::{AnyFilter, ClearingStrategy, HashScheme, Scheme};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

filter_class! {
    /// A Bloom filter that can remove chosen false positives, at the cost of some false negatives.
    Retouched extends MutableFilter, {
        #[new]
        #[pyo3(signature = (capacity, false_positive_rate, *, key=None, key_type=None))]
        fn new(
            capacity: Capacity,
            false_positive_rate: f64,
            key: Option<&[u8]>,
            key_type: Option<&str>,
        ) -> PyResult<PyClassInitializer<Self>> {
            let plan = ClassicPlan::new(capacity.0, false_positive_rate).py()?;
            let (walk, scheme) = (Scheme::EnhancedDoubleHashing, hash_scheme(key)?);
            let filter = mayhap::Retouched::from_plan(plan, walk, scheme);
            let state = new_state(filter, key_type, Clock::Newest)?;
            Ok(mutable(Filter::new(state)).add_subclass(Self))
        }

        /// Clears bits until none of the keys, which were never added, is found. Returns how many added keys were lost. The strategy chooses
        /// which bit of a key is cleared: "ratio", "minimum-fn", "maximum-fp" or "random".
        #[pyo3(signature = (keys, strategy="ratio"))]
        fn remove_false_positives(
            slf: &Bound<'_, Self>,
            keys: &Bound<'_, PyAny>,
            strategy: &str,
        ) -> PyResult<u64> {
            let strategy = match strategy {
                "ratio" => ClearingStrategy::Ratio,
                "minimum-fn" => ClearingStrategy::MinimumFalseNegatives,
                "maximum-fp" => ClearingStrategy::MaximumFalsePositives,
                "random" => ClearingStrategy::Random { seed: 0 },
                other => {
                    return Err(PyValueError::new_err(format!(
                        "unknown strategy {other:?}: use \"ratio\", \"minimum-fn\", \"maximum-fp\" or \"random\""
                    )));
                }
            };
            let (py, filter) = (slf.py(), slf.as_super().as_super().get());
            let (rules, scheme) = {
                let state = filter.read_plain(py);
                let scheme = state.native().map_or(HashScheme::Xxh3, AnyFilter::scheme);
                (state.rules, scheme)
            };
            let (hashes, _) = hashes(keys, rules, scheme)?;
            let mut state = filter.write(py);
            let Some(AnyFilter::Retouched(filter)) = state.native_mut() else {
                return Err(UnsupportedError::new_err("this is not a retouched filter"));
            };
            for hash in hashes {
                filter.add_false_positive_hash(hash).py()?;
            }
            Ok(filter.clear_all(strategy).py()?.keys_lost)
        }
    }
}
