//! From one format to another, where the bits allow it.

use super::StoredFilter;
use crate::{EncodeError, Format, OTHER_HASH};
use mayhap_core::{AnyFilter, Scheme};

impl StoredFilter {
    /// The same filter in another format. The meaning of bits depends on the hash that set them: a filter can be converted between
    /// formats that share a hash, and into mayhap's own format, which knows all of them.
    ///
    /// # Errors
    /// When the other format cannot hold it, with the reason.
    pub fn convert(self, to: Format) -> Result<Self, EncodeError> {
        if self.format() == to {
            return Ok(self);
        }
        match self {
            Self::Native(filter) => (to.row().from_native)(filter),
            Self::Bits { filter, .. } if to == Format::Mayhap => Ok(Self::Native(filter.into())),
            Self::Bits { .. } => Err(EncodeError {
                format: to,
                reason: OTHER_HASH,
            }),
            Self::Foreign(filter) => filter.convert(to),
        }
    }
}

/// For [`FormatRow::from_native`](crate::format::FormatRow::from_native) of a format of flat bits: the filter, if its bits were set
/// by one of the format's hashes.
pub(crate) fn bits_from_native(
    format: Format,
    filter: AnyFilter,
    is_own: impl Fn(Scheme) -> bool,
) -> Result<StoredFilter, EncodeError> {
    let filter = classic_from_native(format, filter, is_own)?;
    Ok(StoredFilter::Bits { format, filter })
}

/// The same for a format that keeps more than the bits.
pub(crate) fn classic_from_native(
    format: Format,
    filter: AnyFilter,
    is_own: impl Fn(Scheme) -> bool,
) -> Result<mayhap_core::ClassicBloom, EncodeError> {
    match filter {
        AnyFilter::Classic(filter) if is_own(filter.scheme()) => Ok(filter),
        _ => Err(other_hash(format)),
    }
}

/// For a format that no filter of mayhap's can become.
pub(crate) fn other_hash(format: Format) -> EncodeError {
    EncodeError {
        format,
        reason: OTHER_HASH,
    }
}
