//! The elements of DUMP payloads and RDB files: lengths, strings, and the tagged fields of module values.
//!
//! | first byte | a length |
//! | --- | --- |
//! | `00llllll` | the six bits |
//! | `01llllll` | with the next byte 14 bits |
//! | `0x80`, `0x81` | 4 or 8 bytes follow, big-endian |
//! | `11cccccc` | no length but a string: c = 0, 1, 2 an integer of 1, 2, 4 bytes in decimal; 3 packed, two lengths follow |

use super::lzf;
use crate::cursor::Cursor;
use crate::{DecodeError, Limits, Problem};
use std::borrow::Cow;

/// Tags of the fields of a module's value.
pub(super) const END: u64 = 0;
pub(super) const SIGNED: u64 = 1;
pub(super) const UNSIGNED: u64 = 2;
pub(super) const FLOAT: u64 = 3;
pub(super) const DOUBLE: u64 = 4;
pub(super) const STRING: u64 = 5;

/// The id of a module type: nine characters of six bits each, and ten bits for the version of its encoding.
pub(super) const fn type_id(name: &[u8; 9], version: u64) -> u64 {
    let mut id = 0;
    let mut at = 0;
    while at < 9 {
        let letter = match name[at] {
            letter @ b'A'..=b'Z' => letter - b'A',
            letter @ b'a'..=b'z' => letter - b'a' + 26,
            digit @ b'0'..=b'9' => digit - b'0' + 52,
            b'-' => 62,
            _ => 63,
        };
        id = id << 6 | letter as u64;
        at += 1;
    }
    id << 10 | version
}

/// The name in the id of a module type.
pub(super) fn type_name(id: u64) -> String {
    let letter = |at: u32| match (id >> (10 + 6 * (8 - at)) & 0x3f) as u8 {
        letter @ 0..26 => b'A' + letter,
        letter @ 26..52 => b'a' + (letter - 26),
        digit @ 52..62 => b'0' + (digit - 52),
        62 => b'-',
        _ => b'_',
    };
    (0..9).map(|at| char::from(letter(at))).collect()
}

/// A string as it is stored.
#[derive(Clone, Copy)]
pub(super) enum Stored<'a> {
    Plain(&'a [u8]),
    Number(i32),
    Packed { bytes: &'a [u8], length: u64 },
}

/// How many bytes may still be decompressed.
pub(super) struct Budget {
    left: u64,
    limit: u64,
}

impl Budget {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            left: limits.max_bytes,
            limit: limits.max_bytes,
        }
    }
}

impl<'a> Stored<'a> {
    pub(super) fn read(at: &mut Cursor<'a>, what: &'static str) -> Result<Self, DecodeError> {
        let length = match length_or_code(at, what)? {
            Ok(length) => length,
            Err(0) => return Ok(Self::Number(i32::from(at.u8(what)?.cast_signed()))),
            Err(1) => return Ok(Self::Number(i32::from(at.u16_le(what)?.cast_signed()))),
            Err(2) => return Ok(Self::Number(at.u32_le(what)?.cast_signed())),
            Err(3) => {
                let (packed, length) = (read_length(at, what)?, read_length(at, what)?);
                let bytes = at.take(what, packed)?;
                return Ok(Self::Packed { bytes, length });
            }
            Err(code) => {
                let accepted = "a length, or 0 to 3 for an integer or a packed string";
                return Err(at.value("code of a string", i128::from(code), accepted));
            }
        };
        Ok(Self::Plain(at.take(what, length)?))
    }

    /// The bytes of the string. The length that a compressed one states is checked before memory is allocated.
    pub(super) fn bytes(
        self,
        at: &Cursor<'_>,
        budget: &mut Budget,
    ) -> Result<Cow<'a, [u8]>, DecodeError> {
        let (bytes, length) = match self {
            Self::Plain(bytes) => return Ok(Cow::Borrowed(bytes)),
            Self::Number(number) => return Ok(Cow::Owned(number.to_string().into_bytes())),
            Self::Packed { bytes, length } => (bytes, length),
        };
        // The decompressed string, and the filter that is made of it.
        let taken = length.saturating_mul(2);
        let Some(left) = budget.left.checked_sub(taken) else {
            return Err(at.error(Problem::TooLarge {
                bytes: taken,
                limit: budget.limit,
            }));
        };
        budget.left = left;
        let unpacked = usize::try_from(length).ok();
        let unpacked = unpacked.and_then(|length| lzf::unpack(bytes, length));
        unpacked.map(Cow::Owned).ok_or_else(|| {
            let accepted = "what the packed bytes unpack to";
            at.value("length of a packed string", i128::from(length), accepted)
        })
    }
}

/// A length, or the code of a string.
fn length_or_code(at: &mut Cursor<'_>, what: &'static str) -> Result<Result<u64, u8>, DecodeError> {
    let first = at.u8(what)?;
    Ok(match first {
        0..0x40 => Ok(u64::from(first)),
        0x40..0x80 => Ok(u64::from(first & 0x3f) << 8 | u64::from(at.u8(what)?)),
        0x80 => Ok(u64::from(at.u32_be(what)?)),
        0x81 => Ok(at.u64_be(what)?),
        0xc0.. => Err(first & 0x3f),
        _ => {
            let accepted = "below 128, 128, 129 or above 191";
            return Err(at.value("first byte of a length", i128::from(first), accepted));
        }
    })
}

/// A length that cannot be a string.
pub(super) fn read_length(at: &mut Cursor<'_>, what: &'static str) -> Result<u64, DecodeError> {
    let length = length_or_code(at, what)?;
    length.map_err(|code| at.value(what, i128::from(code | 0xc0), "a number"))
}

/// Checks the tag of the next field.
fn expect(at: &mut Cursor<'_>, tag: u64, what: &'static str) -> Result<(), DecodeError> {
    let found = read_length(at, what)?;
    if found == tag {
        return Ok(());
    }
    let accepted = match tag {
        END => "0, the end of the value",
        UNSIGNED => "2, for an integer",
        DOUBLE => "4, for a double",
        _ => "5, for a string",
    };
    Err(at.value("tag of a field", i128::from(found), accepted))
}

pub(super) fn unsigned(at: &mut Cursor<'_>, what: &'static str) -> Result<u64, DecodeError> {
    expect(at, UNSIGNED, what)?;
    read_length(at, what)
}

pub(super) fn double(at: &mut Cursor<'_>, what: &'static str) -> Result<f64, DecodeError> {
    expect(at, DOUBLE, what)?;
    at.f64_le(what)
}

pub(super) fn string<'a>(
    at: &mut Cursor<'a>,
    what: &'static str,
    budget: &mut Budget,
) -> Result<Cow<'a, [u8]>, DecodeError> {
    expect(at, STRING, what)?;
    Stored::read(at, what)?.bytes(at, budget)
}

pub(super) fn end(at: &mut Cursor<'_>) -> Result<(), DecodeError> {
    expect(at, END, "end of the value")
}

/// Skips the fields of any module's value, including the end marker.
pub(super) fn skip_fields(at: &mut Cursor<'_>) -> Result<(), DecodeError> {
    loop {
        match read_length(at, "tag of a field")? {
            END => return Ok(()),
            SIGNED | UNSIGNED => _ = read_length(at, "integer of a module")?,
            FLOAT => _ = at.take("float of a module", 4)?,
            DOUBLE => _ = at.take("double of a module", 8)?,
            STRING => _ = Stored::read(at, "string of a module")?,
            tag => return Err(at.value("tag of a field", i128::from(tag), "0 to 5")),
        }
    }
}

pub(super) fn put_length(out: &mut Vec<u8>, length: u64) {
    if length < 1 << 6 {
        out.push(length as u8);
    } else if length < 1 << 14 {
        out.extend_from_slice(&(0x4000 | length as u16).to_be_bytes());
    } else if let Ok(length) = u32::try_from(length) {
        out.push(0x80);
        out.extend_from_slice(&length.to_be_bytes());
    } else {
        out.push(0x81);
        out.extend_from_slice(&length.to_be_bytes());
    }
}

pub(super) fn put_unsigned(out: &mut Vec<u8>, number: u64) {
    put_length(out, UNSIGNED);
    put_length(out, number);
}

pub(super) fn put_double(out: &mut Vec<u8>, number: f64) {
    put_length(out, DOUBLE);
    out.extend_from_slice(&number.to_le_bytes());
}

/// A string as a field of a module's value.
pub(super) fn put_string(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, STRING);
    put_plain_string(out, bytes);
}

/// A string as Redis stores it: as an integer if it is one, compressed if that saves at least four bytes.
pub(super) fn put_plain_string(out: &mut Vec<u8>, bytes: &[u8]) {
    if let Some(number) = as_integer(bytes) {
        put_integer(out, number);
        return;
    }
    let packed = (bytes.len() > 20)
        .then(|| lzf::pack(bytes, bytes.len() - 4))
        .flatten();
    if let Some(packed) = packed {
        out.push(0xc3);
        put_length(out, packed.len() as u64);
        put_length(out, bytes.len() as u64);
        out.extend_from_slice(&packed);
    } else {
        put_length(out, bytes.len() as u64);
        out.extend_from_slice(bytes);
    }
}

/// The integer that a string represents, if it is the canonical representation.
fn as_integer(bytes: &[u8]) -> Option<i32> {
    if bytes.len() > 11 {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let number: i32 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

fn put_integer(out: &mut Vec<u8>, number: i32) {
    if let Ok(number) = i8::try_from(number) {
        out.push(0xc0);
        out.extend_from_slice(&number.to_le_bytes());
    } else if let Ok(number) = i16::try_from(number) {
        out.push(0xc1);
        out.extend_from_slice(&number.to_le_bytes());
    } else {
        out.push(0xc2);
        out.extend_from_slice(&number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    #[test]
    fn lengths_and_strings_are_read_as_they_are_written() {
        for length in [
            0,
            63,
            64,
            16_383,
            16_384,
            u64::from(u32::MAX),
            1 << 32,
            u64::MAX,
        ] {
            let mut out = Vec::new();
            put_length(&mut out, length);
            let mut at = Cursor::new(&out, Format::RedisBloomDump);
            assert_eq!(read_length(&mut at, "length"), Ok(length));
            assert_eq!(at.left(), 0);
        }
        let strings: [&[u8]; 9] = [
            b"",
            b"7",
            b"-128",
            b"32767",
            b"-2147483648",
            b"2147483648",
            b"007",
            b"+5",
            &[1; 100],
        ];
        for bytes in strings {
            let mut out = Vec::new();
            put_string(&mut out, bytes);
            let mut at = Cursor::new(&out, Format::RedisBloomDump);
            let mut budget = Budget::new(Limits::default());
            assert_eq!(string(&mut at, "string", &mut budget).as_deref(), Ok(bytes));
            assert_eq!(at.left(), 0);
        }
    }

    #[test]
    fn ids_are_those_of_the_names() {
        assert_eq!(type_id(b"MBbloom--", 4), 0x3016_e5a2_89be_f804);
        assert_eq!(type_id(b"MBbloomCF", 4), 0x3016_e5a2_8982_1404);
        for name in [b"MBbloom--", b"mayhap-bf", b"Topk_TYPE", b"azAZ09-_a"] {
            assert_eq!(type_name(type_id(name, 3)).as_bytes(), name);
        }
    }

    #[test]
    fn what_a_packed_string_announces_is_held_to_the_limit() {
        let bytes = [0xc3, 3, 0x81, 0, 0, 0, 1, 0, 0, 0, 0, 0xe0, 0xff, 0];
        let mut at = Cursor::new(&bytes, Format::RedisBloomDump);
        let stored = Stored::read(&mut at, "string").unwrap();
        let mut budget = Budget::new(Limits { max_bytes: 1 << 20 });
        let error = stored.bytes(&at, &mut budget).unwrap_err();
        assert!(matches!(error.problem, Problem::TooLarge { .. }));
        let error = stored.bytes(
            &at,
            &mut Budget::new(Limits {
                max_bytes: u64::MAX,
            }),
        );
        assert!(matches!(error.unwrap_err().problem, Problem::Value { .. }));
    }
}
