//! The fields of an image that is being loaded in chunks: its size, 0 if none is, and what has arrived of it.

use super::fields::{FieldReader, FieldWriter};
use crate::native::PartialImage;
use mayhap_codec::{DecodeError, Limits};

pub(super) fn write(loading: Option<&PartialImage>, out: &mut FieldWriter) {
    match loading {
        None => out.number(0),
        Some(image) => {
            out.number(image.total);
            out.number(image.bytes.len() as u64);
            out.bytes(&image.bytes);
        }
    }
}

/// An image of `total` bytes of which nothing has arrived.
pub(super) fn write_expected(total: u64, out: &mut FieldWriter) {
    out.number(total);
    out.number(0);
}

pub(super) fn read(
    at: &mut FieldReader<'_>,
    limits: Limits,
) -> Result<Option<PartialImage>, DecodeError> {
    let total = at.number("bytes to be loaded")?;
    if total == 0 {
        return Ok(None);
    }
    let count = at.number("bytes that are loaded")?;
    if count >= total || total > max_bytes(limits) {
        let accepted = "fewer than are to come, and these within the limit";
        return Err(at.wrong("bytes that are loaded", count, accepted));
    }
    let bytes = at.take("bytes that are loaded", count)?.to_vec();
    Ok(Some(PartialImage { total, bytes }))
}

/// The largest image of a filter within the limit: cells, twins and fields.
fn max_bytes(limits: Limits) -> u64 {
    limits.max_bytes.saturating_mul(2).saturating_add(1 << 16)
}
