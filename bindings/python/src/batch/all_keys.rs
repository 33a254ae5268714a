//! The bytes of all keys of an argument.

use super::{Batch, Nulls};
use crate::keys::Encoder;
use pyo3::prelude::*;

/// Key bytes of an argument, one behind the other.
#[derive(Default)]
pub(crate) struct AllKeys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl AllKeys {
    pub(crate) fn slices(&self) -> Vec<&[u8]> {
        let mut start = 0;
        let slice = |&end| &self.bytes[std::mem::replace(&mut start, end)..end];
        self.ends.iter().map(slice).collect()
    }

    fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }
}

/// The bytes of all keys of an argument, for filters that need them several times.
pub(crate) fn packed_keys(keys: &Bound<'_, PyAny>, encoder: &Encoder) -> PyResult<AllKeys> {
    let mut all = AllKeys::default();
    match Batch::from_object(keys, Nulls::Refuse)? {
        Batch::Columns(columns, _) => {
            for column in &columns {
                column.for_each_key(encoder, |key| all.push(key))?;
            }
        }
        Batch::Items(items, _) => {
            for key in items.try_iter()? {
                encoder.with_key(&key?, |key, _| all.push(key))?;
            }
        }
    }
    Ok(all)
}
