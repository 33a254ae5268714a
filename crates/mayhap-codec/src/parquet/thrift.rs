//! The part of Thrift's compact protocol that Parquet's metadata needs: fields are read or skipped, and nothing is stored. A parser of
//! the whole metadata would allocate as many objects as an untrusted file claims to have.

use crate::DecodeError;
use crate::cursor::Cursor;

/// The maximum nesting of structs and lists; Parquet's is seven.
const MAX_LEVELS: u32 = 32;

/// The type of a field or an element, as the protocol numbers it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct WireType(u8);

impl WireType {
    pub(super) const I32: Self = Self(5);
    pub(super) const I64: Self = Self(6);
    pub(super) const BINARY: Self = Self(8);
    pub(super) const LIST: Self = Self(9);
    pub(super) const STRUCT: Self = Self(12);
}

/// Passes the number and kind of each field of a struct to `field`, which reads the field, or returns `false` and reads nothing.
pub(super) fn each_field(
    at: &mut Cursor<'_>,
    mut field: impl FnMut(&mut Cursor<'_>, i64, WireType) -> Result<bool, DecodeError>,
) -> Result<(), DecodeError> {
    let mut number = 0_i64;
    loop {
        let head = at.u8("field")?;
        if head == 0 {
            return Ok(());
        }
        number = match head >> 4 {
            0 => zigzag(at)?,
            more => number.wrapping_add(i64::from(more)),
        };
        let kind = WireType(head & 15);
        if !field(at, number, kind)? {
            skip(at, kind, 0)?;
        }
    }
}

/// Calls `element` for each element of a list of one kind.
pub(super) fn each_element(
    at: &mut Cursor<'_>,
    kind: WireType,
    mut element: impl FnMut(&mut Cursor<'_>) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    let (found, count) = list(at)?;
    if found != kind && count > 0 {
        return Err(at.value("kind of elements", i128::from(found.0), "that of the list"));
    }
    for _ in 0..count {
        element(at)?;
    }
    Ok(())
}

fn list(at: &mut Cursor<'_>) -> Result<(WireType, u64), DecodeError> {
    let head = at.u8("list")?;
    let count = match head >> 4 {
        15 => at.varint("length of a list")?,
        few => u64::from(few),
    };
    // An element takes at least one byte.
    at.check_left("elements of a list", count)?;
    Ok((WireType(head & 15), count))
}

/// A zigzag-encoded number: the sign is in the lowest bit.
pub(super) fn zigzag(at: &mut Cursor<'_>) -> Result<i64, DecodeError> {
    let number = at.varint("number")?;
    Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}

pub(super) fn binary<'a>(at: &mut Cursor<'a>) -> Result<&'a [u8], DecodeError> {
    let length = at.varint("length of a text")?;
    at.take("text", length)
}

fn skip(at: &mut Cursor<'_>, kind: WireType, level: u32) -> Result<(), DecodeError> {
    if level > MAX_LEVELS {
        return Err(at.value("depth", i128::from(level), "at most 32"));
    }
    match kind.0 {
        // A boolean in a list is a byte; in a field it is part of the kind.
        1 | 2 if level == 0 => Ok(()),
        1..=3 => at.u8("byte").map(drop),
        4..=6 => at.varint("number").map(drop),
        7 => at.take("number", 8).map(drop),
        8 => binary(at).map(drop),
        9 | 10 => {
            let (kind, count) = list(at)?;
            (0..count).try_for_each(|_| skip(at, kind, level + 1))
        }
        11 => {
            let count = at.varint("length of a map")?;
            if count == 0 {
                return Ok(());
            }
            at.check_left("entries of a map", count)?;
            let kinds = at.u8("kinds of a map")?;
            (0..count).try_for_each(|_| {
                skip(at, WireType(kinds >> 4), level + 1)?;
                skip(at, WireType(kinds & 15), level + 1)
            })
        }
        12 => skip_struct(at, level + 1),
        other => Err(at.value("kind of a field", i128::from(other), "1 to 12")),
    }
}

fn skip_struct(at: &mut Cursor<'_>, level: u32) -> Result<(), DecodeError> {
    loop {
        let head = at.u8("field")?;
        if head == 0 {
            return Ok(());
        }
        if head >> 4 == 0 {
            zigzag(at)?;
        }
        // A boolean field is part of the kind.
        if !matches!(head & 15, 1 | 2) {
            skip(at, WireType(head & 15), level)?;
        }
    }
}
