//! A `Fuse` or `Ribbon` that was built from the slices of a `GrowingCuckoo`: three fields after those of the kind. A required feature,
//! because a reader that looked up hashes would deny all keys.

use super::{refused, small};
use crate::DecodeError;
use crate::cursor::Cursor;
use crate::native::header::SLICES;
use crate::native::parts::Parts;
use mayhap_core::{AnyFilter, SliceLengths};

pub(super) fn write(slices: Option<SliceLengths>, parts: &mut Parts<'_>) {
    if let Some(slices) = slices {
        parts.features |= SLICES;
        parts.number(slices.first_bits().into());
        parts.number(slices.tables().into());
        parts.rate(slices.rate());
    }
}

pub(super) fn read(filter: AnyFilter, at: &mut Cursor<'_>) -> Result<AnyFilter, DecodeError> {
    let begin = at.clone();
    let first_bits = small(at, "bits of a slice", "16 to 54")?;
    let tables = small(at, "tables", "1 to 7")?;
    let slices = SliceLengths::new(first_bits, tables, at.f64_le("rate of the slices")?);
    let slices = slices.map_err(refused(at))?;
    match filter {
        AnyFilter::Fuse(filter) => Ok(filter.with_slice_lengths(slices).into()),
        AnyFilter::Ribbon(filter) => Ok(filter.with_slice_lengths(slices).into()),
        other => {
            let accepted = "only in fuse and ribbon filters";
            Err(begin.value("slices", i128::from(other.kind() as u8), accepted))
        }
    }
}
