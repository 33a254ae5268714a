//! The few protocol buffers in an HFile: fields that are numbers or bytes.

use crate::DecodeError;
use crate::cursor::Cursor;

/// The value of a field.
pub(super) enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// Of a fixed size, which no field has that is read here.
    Other,
}

/// Passes every field and its number to `each`.
pub(super) fn each_field<'a>(
    at: &mut Cursor<'a>,
    mut each: impl FnMut(u64, Field<'a>) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    while at.left() > 0 {
        let tag = at.varint("field")?;
        let field = match tag & 7 {
            0 => Field::Number(at.varint("number")?),
            1 => {
                at.take("fixed number", 8)?;
                Field::Other
            }
            2 => {
                let length = at.varint("length of a field")?;
                Field::Bytes(at.take("field", length)?)
            }
            5 => {
                at.take("fixed number", 4)?;
                Field::Other
            }
            other => {
                let accepted = "0, 1, 2 or 5";
                return Err(at.value("wire type", i128::from(other), accepted));
            }
        };
        each(tag >> 3, field)?;
    }
    Ok(())
}
