//! The operations of a filter whose layout only its own system has. Formats that are flat bits do not need it.

use super::{Description, FilterError, StoredFilter};
use crate::{EncodeError, Format, KeyReader, OTHER_HASH};
use mayhap_core::{ClassicBloom, Kind, Stats};
use std::any::Any;
use std::fmt;

/// A decoded filter of another system. A module implements it next to its `decode` and `encode`, so that a new layout needs no
/// change elsewhere. The defaults are for filters that can be queried and written only.
pub trait ForeignFilter: fmt::Debug + Send + Sync + Value {
    /// The format.
    fn format(&self) -> Format;

    /// See [`StoredFilter::contains`].
    fn contains(&self, key: &[u8]) -> bool;

    /// See [`StoredFilter::contains_each`]; both slices have the same length.
    fn contains_each(&self, keys: &[&[u8]], found: &mut [bool]) {
        for (key, found) in keys.iter().zip(found) {
            *found = self.contains(key);
        }
    }

    /// See [`StoredFilter::insert`].
    ///
    /// # Errors
    /// As there.
    fn insert(&mut self, _key: &[u8]) -> Result<bool, FilterError> {
        Err(FilterError::Unsupported {
            format: self.format(),
            reason: "of this kind does not support inserts: rebuild it from all keys",
        })
    }

    /// See [`StoredFilter::remove`].
    ///
    /// # Errors
    /// As there.
    fn remove(&mut self, _key: &[u8]) -> Result<bool, FilterError> {
        Err(FilterError::no_remove(self.format()))
    }

    /// See [`StoredFilter::union_with`]. `other` has the same format.
    ///
    /// # Errors
    /// As there.
    fn union_with(&mut self, _other: &dyn ForeignFilter) -> Result<(), FilterError> {
        Err(FilterError::no_union(self.format()))
    }

    /// See [`StoredFilter::encode`].
    ///
    /// # Errors
    /// As there.
    fn encode(&self) -> Result<Vec<u8>, EncodeError>;

    /// See [`StoredFilter::describe`].
    fn describe(&self) -> Description;

    /// See [`StoredFilter::encode_for_file`].
    ///
    /// # Errors
    /// As there.
    fn encode_for_file(&self, _name: &str) -> Result<Vec<u8>, EncodeError> {
        self.encode()
    }

    /// The reader of this filter's keys, for a filter that knows more about them than its format.
    fn key_reader(&self, reader: KeyReader) -> KeyReader {
        reader
    }

    /// The bits, of a filter that has flat ones.
    fn bits(&self) -> Option<&ClassicBloom> {
        None
    }

    /// See [`StoredFilter::convert`]. `to` is another format.
    ///
    /// # Errors
    /// As there.
    fn convert(self: Box<Self>, to: Format) -> Result<StoredFilter, EncodeError> {
        Err(EncodeError {
            format: to,
            reason: OTHER_HASH,
        })
    }
}

/// `Clone` and `PartialEq` for trait objects.
pub trait Value: Any {
    /// A copy.
    fn boxed_clone(&self) -> Box<dyn ForeignFilter>;

    /// Whether the other is of the same type and equal.
    fn equals(&self, other: &dyn ForeignFilter) -> bool;
}

impl<F: ForeignFilter + Clone + PartialEq> Value for F {
    fn boxed_clone(&self) -> Box<dyn ForeignFilter> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &dyn ForeignFilter) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref() == Some(self)
    }
}

impl Clone for Box<dyn ForeignFilter> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

impl PartialEq for Box<dyn ForeignFilter> {
    fn eq(&self, other: &Self) -> bool {
        (**self).equals(&**other)
    }
}

/// The other filter of a union, which has the same format and so the same type, unless it is a special case of the format.
pub(crate) fn same_type<F: ForeignFilter>(other: &dyn ForeignFilter) -> Result<&F, FilterError> {
    let format = other.format();
    let other: &dyn Any = other;
    other.downcast_ref().ok_or(FilterError::no_union(format))
}

/// The answers of LevelDB, RocksDB and HBase where a filter has no bits: no key may be in it, or every key.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Constant {
    pub(crate) format: Format,
    pub(crate) answer: bool,
}

impl ForeignFilter for Constant {
    fn format(&self) -> Format {
        self.format
    }

    fn contains(&self, _key: &[u8]) -> bool {
        self.answer
    }

    fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        Err(no_bits(self.format))
    }

    fn describe(&self) -> Description {
        let stats = Stats {
            estimated_keys: (!self.answer).then_some(0),
            estimated_rate: Some(f64::from(u8::from(self.answer))),
            ..Stats::new(Kind::Classic, 0)
        };
        Description::new(self.format, stats)
    }

    fn convert(self: Box<Self>, to: Format) -> Result<StoredFilter, EncodeError> {
        Err(no_bits(to))
    }
}

fn no_bits(format: Format) -> EncodeError {
    EncodeError {
        format,
        reason: "it has no bits",
    }
}
