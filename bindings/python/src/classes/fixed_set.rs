//! Filters that are built once from all keys.

use super::{Class, hash_scheme, instance};
use crate::batch::{Batch, Column, Nulls, Packer};
use crate::errors::ResultExt;
use crate::filter::Filter;
use crate::keys::{KeyRules, Seen, key_type};
use crate::storage::{Clock, State};
use mayhap::{HashScheme, KeyHash};
use pyo3::prelude::*;

/// A class whose filters are built at once.
macro_rules! static_class {
    ($(#[$doc:meta])* $class:ident) => {
        filter_class! {
            $(#[$doc])*
            $class extends Filter, {
                /// Builds a filter of all keys: an array, Arrow data, a list or another iterable.
                #[staticmethod]
                #[pyo3(signature = (keys, false_positive_rate, *, key=None, key_type=None))]
                fn build<'py>(
                    keys: &Bound<'py, PyAny>,
                    false_positive_rate: f64,
                    key: Option<&[u8]>,
                    key_type: Option<&str>,
                ) -> PyResult<Bound<'py, PyAny>> {
                    let (py, scheme) = (keys.py(), hash_scheme(key)?);
                    let rules = KeyRules::new(self::key_type(key_type)?);
                    let (hashes, seen) = hashes(keys, rules, scheme)?;
                    let built = py.detach(|| {
                        mayhap::$class::build_with(&hashes, false_positive_rate, scheme)
                    });
                    let rules = match rules {
                        KeyRules::Inferred(_) => KeyRules::Inferred(seen),
                        rules => rules,
                    };
                    let state = State::new(built.py()?.into(), rules, Clock::Newest);
                    instance(py, Class::$class, Filter::new(state))
                }
            }
        }
    };
}

static_class! {
    /// A binary fuse filter of a fixed set: the fastest.
    ///
    /// >>> words = mayhap.Fuse.build(["apple", "pear"], 0.01)
    /// >>> "pear" in words
    /// True
    Fuse
}

static_class! {
    /// A ribbon filter of a fixed set: the smallest.
    Ribbon
}

/// The hashes of all keys of an argument, and which keys there are.
pub(super) fn hashes(
    keys: &Bound<'_, PyAny>,
    rules: KeyRules,
    scheme: HashScheme,
) -> PyResult<(Vec<KeyHash>, Seen)> {
    let (py, encoder) = (keys.py(), rules.encoder());
    let (mut all, mut seen) = (Vec::new(), Seen::default());
    match Batch::from_object(keys, Nulls::Refuse)? {
        Batch::Columns(columns, _) => py.detach(|| {
            for column in &columns {
                seen = seen.with(State::hashes(column, &encoder, scheme, &mut all)?);
            }
            PyResult::Ok(())
        })?,
        Batch::Items(items, _) => {
            let mut packer = Packer::new(&items, None, Nulls::Refuse)?;
            while let Some(packed) = packer.next(&encoder)? {
                seen = seen.with(packed.seen);
                let column = Column::packed(packed.bytes, packed.ends);
                py.detach(|| State::hashes(&column, &encoder, scheme, &mut all))?;
            }
        }
    }
    Ok((all, seen))
}
