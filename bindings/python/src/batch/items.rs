//! Keys of lists and other iterables: encoded under the GIL into packed blocks, which are then processed without it.

use super::Nulls;
use crate::keys::{Encoder, Seen, hashed_key};
use pyo3::prelude::*;
use pyo3::types::PyIterator;

/// Keys in a packed block: enough to amortise giving up the GIL, and few enough for the caches.
const KEYS: usize = 1 << 14;
/// Bytes after which a block ends: long keys must not take much memory.
const BYTES: usize = 1 << 20;

/// Packs what an iterator yields.
pub(crate) struct Packer<'py> {
    items: Bound<'py, PyIterator>,
    hash_func: Option<Bound<'py, PyAny>>,
    nulls: Nulls,
}

/// Some packed keys.
#[derive(Default)]
pub(crate) struct PackedKeys {
    pub(crate) bytes: Vec<u8>,
    pub(crate) ends: Vec<usize>,
    pub(crate) seen: Seen,
    /// Whether each item was a key, and not `None`; empty if all were.
    pub(crate) is_key: Vec<bool>,
    /// Items, keys or not.
    pub(crate) count: usize,
}

impl<'py> Packer<'py> {
    pub(crate) fn new(
        keys: &Bound<'py, PyAny>,
        hash_func: Option<Bound<'py, PyAny>>,
        nulls: Nulls,
    ) -> PyResult<Self> {
        let items = keys.try_iter().map_err(|error| {
            let py = keys.py();
            if error.is_instance_of::<pyo3::exceptions::PyTypeError>(py) {
                crate::errors::UnsupportedError::new_err(format!(
                    "keys must be a list, an array or another iterable, not {}",
                    keys.get_type()
                        .name()
                        .map_or_else(|_| String::new(), |name| name.to_string())
                ))
            } else {
                error
            }
        })?;
        Ok(Self {
            items,
            hash_func,
            nulls,
        })
    }

    /// The next block; `None` at the end.
    pub(crate) fn next(&mut self, encoder: &Encoder) -> PyResult<Option<PackedKeys>> {
        let mut packed = PackedKeys::default();
        while packed.count < KEYS && packed.bytes.len() < BYTES {
            let Some(item) = self.items.next() else {
                break;
            };
            let item = item?;
            if self.hash_func.is_none() && item.is_none() {
                packed.skip(self.nulls)?;
                continue;
            }
            let PackedKeys {
                bytes, ends, seen, ..
            } = &mut packed;
            let mut push = |key: &[u8], kind: Seen| {
                bytes.extend_from_slice(key);
                ends.push(bytes.len());
                *seen = seen.with(kind);
            };
            match &self.hash_func {
                Some(function) => push(&hashed_key(function, &item)?, Seen::TEXT),
                None => encoder.with_key(&item, push)?,
            }
            packed.count += 1;
            if !packed.is_key.is_empty() {
                packed.is_key.push(true);
            }
        }
        Ok((packed.count > 0).then_some(packed))
    }
}

impl PackedKeys {
    fn skip(&mut self, nulls: Nulls) -> PyResult<()> {
        nulls.skip()?;
        if self.is_key.is_empty() {
            self.is_key = vec![true; self.count];
        }
        self.is_key.push(false);
        self.count += 1;
        Ok(())
    }
}
