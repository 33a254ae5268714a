//! As much of Thrift's compact protocol as Parquet's metadata needs: fields are read or skipped, and nothing is kept. A parser of
//! the whole metadata would make objects of everything in it, as many as a stranger's file announces.

use crate::DecodeError;
use crate::cursor::Cursor;

/// How deep structs and lists may lie in each other; Parquet's lie seven deep.
const MAX_LEVELS: u32 = 32;

/// The type of a field or an element, as the protocol numbers it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind(u8);

impl Kind {
    pub(super) const I32: Self = Self(5);
    pub(super) const I64: Self = Self(6);
    pub(super) const BINARY: Self = Self(8);
    pub(super) const LIST: Self = Self(9);
    pub(super) const STRUCT: Self = Self(12);
}

/// Hands over the fields of a struct by number and kind; `field` must read the field, or say `false` and have read nothing.
pub(super) fn each_field(
    at: &mut Cursor<'_>,
    mut field: impl FnMut(&mut Cursor<'_>, i64, Kind) -> Result<bool, DecodeError>,
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
        let kind = Kind(head & 15);
        if !field(at, number, kind)? {
            skip(at, kind, 0)?;
        }
    }
}

/// Hands over the elements of a list of one kind.
pub(super) fn each_element(
    at: &mut Cursor<'_>,
    kind: Kind,
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

fn list(at: &mut Cursor<'_>) -> Result<(Kind, u64), DecodeError> {
    let head = at.u8("list")?;
    let count = match head >> 4 {
        15 => at.varint("length of a list")?,
        few => u64::from(few),
    };
    // An element has a byte at least.
    at.check_left("elements of a list", count)?;
    Ok((Kind(head & 15), count))
}

/// A number with its sign in the lowest bit.
pub(super) fn zigzag(at: &mut Cursor<'_>) -> Result<i64, DecodeError> {
    let number = at.varint("number")?;
    Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}

pub(super) fn binary<'a>(at: &mut Cursor<'a>) -> Result<&'a [u8], DecodeError> {
    let length = at.varint("length of a text")?;
    at.take("text", length)
}

fn skip(at: &mut Cursor<'_>, kind: Kind, level: u32) -> Result<(), DecodeError> {
    if level > MAX_LEVELS {
        return Err(at.value("depth", i128::from(level), "at most 32"));
    }
    match kind.0 {
        // In a list a truth is a byte; as a field it is in the kind.
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
                skip(at, Kind(kinds >> 4), level + 1)?;
                skip(at, Kind(kinds & 15), level + 1)
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
        // Truths in fields are in the kind.
        if !matches!(head & 15, 1 | 2) {
            skip(at, Kind(head & 15), level)?;
        }
    }
}
