//! A filter of any format, known only at run time: what opening a file returns and what is written to one.

mod convert;
mod describe;
mod foreign;
mod json;
mod picture;

pub(crate) use convert::{bits_from_native, classic_from_native, other_hash};
pub(crate) use describe::share;
pub use describe::{Description, Detail, LayerFill};
pub(crate) use foreign::ForeignFilter;
pub(crate) use foreign::{Constant, same_type};
pub use picture::{Picture, PictureUnit};

use crate::{EncodeError, Format, hadoop, native};
use mayhap_core::{AnyFilter, ClassicBloom, Filter, Full, KeyType, Mismatch};
use std::any::Any;
use std::fmt;

/// A filter and the format that it was read from or is to be written in.
#[derive(Clone, PartialEq, Debug)]
pub enum StoredFilter {
    /// One of mayhap's own.
    Native(AnyFilter),
    /// Flat bits of another system, whose format consists of these bits and their shape.
    Bits {
        /// Its format.
        format: Format,
        /// The bits.
        filter: ClassicBloom,
    },
    /// Any other filter of another system.
    Foreign(Box<dyn ForeignFilter>),
}

/// An operation that a filter rejected. The filter is unchanged.
#[derive(Clone, PartialEq, Debug)]
pub enum FilterError {
    /// Filters of this format do not support it.
    Unsupported {
        /// The format.
        format: Format,
        /// What is not possible, and what is.
        reason: &'static str,
    },
    /// One of mayhap's own filters rejected it.
    Native(mayhap_core::OperationError),
    /// Hadoop would throw an exception.
    Hadoop(hadoop::HadoopError),
    /// There is no room.
    Full(Full),
    /// The two filters have different shapes.
    Mismatch(Mismatch),
    /// The two filters have different formats.
    Formats {
        /// The format of the filter that was to be changed.
        ours: Format,
        /// The format of the other.
        theirs: Format,
    },
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { format, reason } => write!(f, "a {format} filter {reason}"),
            Self::Native(error) => error.fmt(f),
            Self::Hadoop(error) => error.fmt(f),
            Self::Full(full) => full.fmt(f),
            Self::Mismatch(mismatch) => mismatch.fmt(f),
            Self::Formats { ours, theirs } => write!(
                f,
                "one is a {ours} filter, the other a {theirs} filter: merge filters of the same format"
            ),
        }
    }
}

impl std::error::Error for FilterError {}

impl FilterError {
    pub(crate) fn no_remove(format: Format) -> Self {
        Self::Unsupported {
            format,
            reason: "does not support removal: use a counting or cuckoo filter",
        }
    }

    pub(crate) fn no_union(format: Format) -> Self {
        Self::Unsupported {
            format,
            reason: "cannot be merged: build one filter from all keys",
        }
    }
}

macro_rules! from {
    ($($error:ty => $variant:ident),*) => {
        $(impl From<$error> for FilterError {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}

from! {
    mayhap_core::OperationError => Native, hadoop::HadoopError => Hadoop, Full => Full, Mismatch => Mismatch
}

/// Follows "a mayhap filter".
const NO_KEYS: &str = "created by `for_hashes` contains the hashes of the program that created it: query it there, by `contains_hash`";

/// Keys that are looked up at once: as many as the batches of the core.
const BATCH: usize = 512;

impl From<AnyFilter> for StoredFilter {
    fn from(filter: AnyFilter) -> Self {
        Self::Native(filter)
    }
}

impl StoredFilter {
    /// A filter with a layout of its own.
    pub(crate) fn foreign(filter: impl ForeignFilter) -> Self {
        Self::Foreign(Box::new(filter))
    }

    /// The filter inside, if it is of that type.
    pub(crate) fn foreign_mut<F: ForeignFilter>(&mut self) -> Option<&mut F> {
        let Self::Foreign(filter) = self else {
            return None;
        };
        let filter: &mut dyn Any = &mut **filter;
        filter.downcast_mut()
    }

    /// The format.
    pub fn format(&self) -> Format {
        match self {
            Self::Native(_) => Format::Mayhap,
            Self::Bits { format, .. } => *format,
            Self::Foreign(filter) => filter.format(),
        }
    }

    /// What the keys are, if the file says so: only native files do.
    pub fn key_type(&self) -> Option<KeyType> {
        match self {
            Self::Native(filter) => filter.key_type(),
            Self::Bits { .. } | Self::Foreign(_) => None,
        }
    }

    /// Whether it can be queried by key. A native filter that was made by `for_hashes` contains hashes of its maker, and no file
    /// says how these come from keys.
    ///
    /// # Errors
    /// When it cannot.
    pub fn check_keys(&self) -> Result<(), FilterError> {
        match self {
            Self::Native(filter) if !filter.accepts_key_bytes() => Err(FilterError::Unsupported {
                format: Format::Mayhap,
                reason: NO_KEYS,
            }),
            Self::Native(_) | Self::Bits { .. } | Self::Foreign(_) => Ok(()),
        }
    }

    /// `false` is certain, except for retouched filters: the key was never inserted. `true` is probable. Keys that the system
    /// rejects, as Hadoop does empty ones, are not in. Any key may be in a filter that
    /// [cannot be queried by key](Self::check_keys).
    pub fn contains(&self, key: &[u8]) -> bool {
        match self {
            Self::Native(filter) => !filter.accepts_key_bytes() || filter.contains(key),
            Self::Bits { filter, .. } => filter.contains(key),
            Self::Foreign(filter) => filter.contains(key),
        }
    }

    /// `contains` for many keys.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length.
    pub fn contains_each(&self, keys: &[impl AsRef<[u8]>], found: &mut [bool]) {
        assert_eq!(
            keys.len(),
            found.len(),
            "one place in `found` for every key"
        );
        // Trait objects have no generic methods.
        let mut batch: [&[u8]; BATCH] = [&[]; BATCH];
        for (keys, found) in keys.chunks(BATCH).zip(found.chunks_mut(BATCH)) {
            for (slot, key) in batch.iter_mut().zip(keys) {
                *slot = key.as_ref();
            }
            let keys = &batch[..keys.len()];
            match self {
                Self::Native(filter) if filter.accepts_key_bytes() => {
                    Filter::contains_each(filter, keys, found);
                }
                Self::Native(_) => found.fill(true),
                Self::Bits { filter, .. } => Filter::contains_each(filter, keys, found),
                Self::Foreign(filter) => filter.contains_each(keys, found),
            }
        }
    }

    /// Inserts a key. `Ok(true)`: it was definitely new.
    ///
    /// # Errors
    /// When the format or kind takes no keys, rejects this one, or there is no room. The filter is unchanged then.
    pub fn insert(&mut self, key: &[u8]) -> Result<bool, FilterError> {
        self.check_keys()?;
        match self {
            Self::Native(filter) => Ok(filter.try_insert(key)?),
            Self::Bits { filter, .. } => Ok(filter.insert(key)),
            Self::Foreign(filter) => filter.insert(key),
        }
    }

    /// Removes a key. `Ok(false)`: it was definitely not in, and nothing changed.
    ///
    /// # Errors
    /// When the format or kind does not support it, or a counter of the key is full. The filter is unchanged then.
    pub fn remove(&mut self, key: &[u8]) -> Result<bool, FilterError> {
        self.check_keys()?;
        match self {
            Self::Native(filter) => Ok(filter.remove(key)?),
            Self::Bits { format, .. } => Err(FilterError::no_remove(*format)),
            Self::Foreign(filter) => filter.remove(key),
        }
    }

    /// Merges another filter of the same format and shape into this one.
    ///
    /// # Errors
    /// When the two differ, or the format does not support it. The filter is unchanged then.
    pub fn union_with(&mut self, other: &Self) -> Result<(), FilterError> {
        let (ours, theirs) = (self.format(), other.format());
        if ours != theirs {
            return Err(FilterError::Formats { ours, theirs });
        }
        match (self, other) {
            (Self::Native(ours), Self::Native(theirs)) => Ok(ours.union_with(theirs)?),
            (Self::Bits { filter, .. }, Self::Bits { filter: theirs, .. }) => {
                Ok(filter.union_with(theirs)?)
            }
            (Self::Foreign(ours), Self::Foreign(theirs)) => ours.union_with(&**theirs),
            // The special cases of LevelDB and RocksDB are foreign, and their other filters are bits.
            (Self::Native(_) | Self::Bits { .. } | Self::Foreign(_), _) => {
                Err(FilterError::no_union(ours))
            }
        }
    }

    /// The bytes of the filter in its format.
    ///
    /// # Errors
    /// When the format has no bytes for it.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        match self {
            Self::Native(filter) => native::encode(filter),
            Self::Bits { format, filter } => match format.row().encode_bits {
                Some(encode) => encode(filter),
                None => Err(EncodeError {
                    format: *format,
                    reason: "it is not a flat array of bits",
                }),
            },
            Self::Foreign(filter) => filter.encode(),
        }
    }

    /// The same for a file of that name, without its folder: Cassandra reads a file as the version in its name says.
    ///
    /// # Errors
    /// As [`encode`](Self::encode), and when the filter would be read wrongly from a file of that name.
    pub fn encode_for_file(&self, name: Option<&str>) -> Result<Vec<u8>, EncodeError> {
        match (self, name) {
            (Self::Foreign(filter), Some(name)) => filter.encode_for_file(name),
            (Self::Native(_) | Self::Bits { .. } | Self::Foreign(_), _) => self.encode(),
        }
    }
}
