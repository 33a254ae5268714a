//! A line of text as the key that a system hashes: integers as that system encodes them.

use crate::clickhouse::{Type, Value};
use crate::{Format, guava};
use std::fmt;

/// What a line of text stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum KeyType {
    /// The bytes of the line.
    #[default]
    Text,
    /// Bytes, two hexadecimal digits each.
    Hex,
    /// Bytes in base 64, with or without the padding.
    Base64,
    /// A whole number.
    Integer {
        /// 1, 2, 4 or 8.
        bytes: u8,
        /// Whether it may be negative.
        signed: bool,
    },
    /// A number with a fraction.
    F64,
    /// 32 hexadecimal digits, with hyphens or without.
    Uuid,
}

impl KeyType {
    /// The names that `--key-type` takes.
    pub const NAMES: &str = "text, hex, base64, i8, i16, i32, i64, u8, u16, u32, u64, f64 or uuid";

    /// The type of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        let integer = |bytes, signed| Some(Self::Integer { bytes, signed });
        match name {
            "text" => Some(Self::Text),
            "hex" => Some(Self::Hex),
            "base64" => Some(Self::Base64),
            "i8" => integer(1, true),
            "i16" => integer(2, true),
            "i32" => integer(4, true),
            "i64" => integer(8, true),
            "u8" => integer(1, false),
            "u16" => integer(2, false),
            "u32" => integer(4, false),
            "u64" => integer(8, false),
            "f64" => Some(Self::F64),
            "uuid" => Some(Self::Uuid),
            _ => None,
        }
    }

    fn read(self, line: &[u8]) -> Option<Parsed> {
        match self {
            Self::Text => Some(Parsed::Bytes(line.to_vec())),
            Self::Hex => from_hex(line).map(Parsed::Bytes),
            Self::Base64 => from_base64(line).map(Parsed::Bytes),
            Self::Integer { bytes, signed } => {
                let number = std::str::from_utf8(line).ok()?.trim().parse().ok()?;
                let bits = 8 * u32::from(bytes);
                let range = if signed {
                    -(1_i128 << (bits - 1))..1 << (bits - 1)
                } else {
                    0..1 << bits
                };
                range
                    .contains(&number)
                    .then_some(Parsed::Integer { number, bytes })
            }
            Self::F64 => {
                let number = std::str::from_utf8(line).ok()?.trim().parse().ok()?;
                Some(Parsed::Float(number))
            }
            Self::Uuid => uuid(line).map(Parsed::Uuid),
        }
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => f.write_str("text"),
            Self::Hex => f.write_str("hex"),
            Self::Base64 => f.write_str("base64"),
            Self::Integer { bytes, signed } => {
                write!(f, "{}{}", if *signed { 'i' } else { 'u' }, 8 * bytes)
            }
            Self::F64 => f.write_str("f64"),
            Self::Uuid => f.write_str("uuid"),
        }
    }
}

enum Parsed {
    Bytes(Vec<u8>),
    Integer { number: i128, bytes: u8 },
    Float(f64),
    Uuid([u8; 16]),
}

/// How Guava was told to take keys apart; it is not in its files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Funnel {
    /// `byteArrayFunnel`, and `stringFunnel(UTF_8)`.
    Bytes,
    /// `unencodedCharsFunnel`: UTF-16.
    Chars,
    /// `integerFunnel`.
    Int,
    /// `longFunnel`.
    Long,
}

/// What makes the bytes of a key out of what a line stands for.
#[derive(Clone, PartialEq, Debug)]
enum Encoding {
    /// Integers have their own width, little-endian.
    OwnWidth,
    /// Everything is text, as the line has it.
    AsWritten,
    /// Every integer is a long.
    Longs,
    Guava(Option<Funnel>),
    /// By the physical type of the column, if that is known.
    Parquet(Option<i64>),
    ClickHouse(Type),
}

/// Turns lines into the keys of a format.
///
/// ```
/// use mayhap_codec::{Format, KeyReader, KeyType};
/// let reader = KeyReader::new(Format::Spark, KeyType::from_name("i32").unwrap());
/// assert_eq!(reader.read(b"-2").unwrap(), [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct KeyReader {
    key_type: KeyType,
    encoding: Encoding,
}

impl KeyReader {
    /// For keys of that type as that system encodes them.
    pub fn new(format: Format, key_type: KeyType) -> Self {
        let encoding = match format {
            Format::Spark => Encoding::Longs,
            Format::Guava => Encoding::Guava(None),
            Format::Parquet => Encoding::Parquet(None),
            // Redis's keys are text, and so are those that have tokens.
            Format::RedisBloom
            | Format::RedisBloomCuckoo
            | Format::RedisBloomDump
            | Format::ClickHouseTokenbf
                if !matches!(key_type, KeyType::Hex | KeyType::Base64) =>
            {
                Encoding::AsWritten
            }
            Format::ClickHouse => Encoding::ClickHouse(match key_type {
                KeyType::Integer { bytes, .. } => Type::Integer(bytes),
                KeyType::F64 => Type::Float64,
                KeyType::Uuid => Type::Wide,
                _ => Type::String,
            }),
            _ => Encoding::OwnWidth,
        };
        Self { key_type, encoding }
    }

    /// For Guava's keys through that funnel; lines are whole numbers where the funnel takes no others.
    #[must_use]
    pub fn funnel(mut self, funnel: Funnel) -> Self {
        self.encoding = Encoding::Guava(Some(funnel));
        match (funnel, self.key_type) {
            (Funnel::Int, KeyType::Text) => {
                self.key_type = KeyType::Integer {
                    bytes: 4,
                    signed: true,
                }
            }
            (Funnel::Long, KeyType::Text) => {
                self.key_type = KeyType::Integer {
                    bytes: 8,
                    signed: true,
                }
            }
            _ => {}
        }
        self
    }

    /// For values of a ClickHouse column of that type; a line is an element where it is an array, and `\N` is `NULL`.
    #[must_use]
    pub fn column_type(mut self, column: Type) -> Self {
        self.encoding = Encoding::ClickHouse(column);
        self
    }

    /// For values of a Parquet column of that physical type.
    #[must_use]
    pub fn physical_type(mut self, number: i64) -> Self {
        self.encoding = Encoding::Parquet(Some(number));
        self
    }

    /// Whether keys are the bytes of their lines, so that nothing has to be read.
    pub fn is_verbatim(&self) -> bool {
        match self.encoding {
            Encoding::AsWritten => true,
            Encoding::ClickHouse(_)
            | Encoding::Guava(Some(Funnel::Chars))
            | Encoding::Parquet(Some(1 | 2 | 4 | 5)) => false,
            _ => self.key_type == KeyType::Text,
        }
    }

    /// The key of a line. For ClickHouse it is the eight bytes of the value's hash.
    ///
    /// # Errors
    /// When the line does not stand for a key of this type, or the system has no such keys.
    pub fn read(&self, line: &[u8]) -> Result<Vec<u8>, KeyError> {
        match &self.encoding {
            Encoding::AsWritten => Ok(line.to_vec()),
            Encoding::ClickHouse(column) => {
                let hash = clickhouse_value(column, self.key_type, line)
                    .and_then(|value| element_type(column).hash(&value));
                hash.map(|hash| hash.to_le_bytes().to_vec())
                    .ok_or_else(|| self.error(line))
            }
            Encoding::Parquet(Some(physical)) if self.key_type == KeyType::Text => {
                physical_value(*physical, line).ok_or_else(|| self.error(line))
            }
            _ => {
                let parsed = self.key_type.read(line).ok_or_else(|| self.error(line))?;
                self.encode(parsed).ok_or_else(|| self.error(line))
            }
        }
    }

    fn encode(&self, parsed: Parsed) -> Option<Vec<u8>> {
        let low_bytes = |number: i128, bytes: u8| number.to_le_bytes()[..bytes.into()].to_vec();
        Some(match (&self.encoding, parsed) {
            (Encoding::Guava(Some(Funnel::Chars)), Parsed::Bytes(text)) => {
                guava::chars(std::str::from_utf8(&text).ok()?)
            }
            (_, Parsed::Bytes(bytes)) => bytes,
            (Encoding::Guava(Some(Funnel::Int)), Parsed::Integer { number, .. }) => {
                let fits = i128::from(i32::MIN)..=i128::from(u32::MAX);
                fits.contains(&number).then(|| low_bytes(number, 4))?
            }
            (
                Encoding::Longs | Encoding::Guava(Some(Funnel::Long)),
                Parsed::Integer { number, .. },
            ) => low_bytes(number, 8),
            (Encoding::Guava(None), Parsed::Integer { number, bytes }) => {
                low_bytes(number, bytes.max(4))
            }
            (Encoding::Parquet(physical), Parsed::Integer { number, bytes }) => match physical {
                Some(1) => low_bytes(number, 4),
                Some(2) => low_bytes(number, 8),
                Some(_) => return None,
                None => low_bytes(number, bytes.max(4)),
            },
            (Encoding::Parquet(Some(4)), Parsed::Float(number)) => {
                (number as f32).to_le_bytes().to_vec()
            }
            // Neither has an encoding for them.
            (Encoding::Longs | Encoding::Guava(_), Parsed::Float(_) | Parsed::Uuid(_)) => {
                return None;
            }
            (_, Parsed::Integer { number, bytes }) => low_bytes(number, bytes),
            (_, Parsed::Float(number)) => number.to_le_bytes().to_vec(),
            (_, Parsed::Uuid(uuid)) => uuid.to_vec(),
        })
    }

    fn error(&self, line: &[u8]) -> KeyError {
        let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
        KeyError {
            line: shown,
            expected: match (&self.encoding, self.key_type) {
                (Encoding::ClickHouse(column), _) => format!("a value of type {column:?}"),
                (Encoding::Parquet(Some(1 | 2)), _) => {
                    "a whole number that the column can hold".into()
                }
                (Encoding::Parquet(Some(4 | 5)), _) => "a number".into(),
                (Encoding::Guava(Some(Funnel::Chars)), _) => "UTF-8 text".into(),
                (Encoding::Guava(Some(Funnel::Int)), _) => "an int".into(),
                (Encoding::Longs, KeyType::F64 | KeyType::Uuid) => {
                    "text or a whole number: Spark hashes no others".into()
                }
                (Encoding::Guava(_), KeyType::F64 | KeyType::Uuid) => {
                    "text or a whole number: Guava has no funnel for others".into()
                }
                (_, KeyType::Hex) => "an even number of hexadecimal digits".into(),
                (_, KeyType::Integer { bytes, signed }) => {
                    let kind = if signed { "signed" } else { "unsigned" };
                    format!("a whole number of {} bits, {kind}", 8 * u32::from(bytes))
                }
                (_, key_type) => format!("a key of type {key_type}"),
            },
        }
    }
}

/// A line that is no key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyError {
    /// The line, or its beginning.
    pub line: String,
    /// What would be a key.
    pub expected: String,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not {}", self.line, self.expected)
    }
}

impl std::error::Error for KeyError {}

fn element_type(column: &Type) -> &Type {
    match column {
        Type::Array(inner) => element_type(inner),
        other => other,
    }
}

fn clickhouse_value(column: &Type, key_type: KeyType, line: &[u8]) -> Option<Value> {
    let bytes = || match key_type.read(line) {
        Some(Parsed::Bytes(bytes)) => Some(bytes),
        // Numbers in a column of text are the text.
        Some(_) => Some(line.to_vec()),
        None => None,
    };
    let text = || std::str::from_utf8(line).ok().map(str::trim);
    match column {
        Type::Nullable(_) if line == br"\N" => Some(Value::Null),
        Type::Nullable(inner) | Type::Array(inner) => clickhouse_value(inner, key_type, line),
        Type::String | Type::FixedString(_) => bytes().map(Value::Bytes),
        Type::Integer(width) => {
            let text = text()?;
            let number = text
                .parse()
                .ok()
                .or_else(|| moment(text, *width).map(i128::from))?;
            let bits = 8 * u32::from(*width);
            let fits = (-(1_i128 << (bits - 1))..1 << bits).contains(&number);
            fits.then_some(Value::Integer(number))
        }
        Type::Float32 | Type::Float64 => text()?.parse().ok().map(Value::Float),
        Type::Wide => {
            let number = text()?.parse::<u128>().ok();
            let number = number.or_else(|| text()?.parse::<i128>().ok().map(i128::cast_unsigned));
            let number = number.or_else(|| uuid(line).map(u128::from_be_bytes));
            number.map(Value::Wide)
        }
    }
}

/// Days since 1970 of `2024-02-29`, where two bytes are stored, and seconds of `2024-02-29 12:00:00`, in UTC, where four are.
fn moment(text: &str, width: u8) -> Option<i64> {
    let (date, time) = match text.split_once([' ', 'T']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.splitn(3, '-').map(str::parse::<i64>);
    let (year, month, day) = (
        parts.next()?.ok()?,
        parts.next()?.ok()?,
        parts.next()?.ok()?,
    );
    if !(1900..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March here, so that the day that comes and goes is the last of its year.
    let shifted = year - i64::from(month <= 2);
    let since_march = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let era_day = 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + since_march;
    let days = era_day - 719_468;
    match (width, time) {
        (2, None) => Some(days),
        (4, time) => {
            let mut parts = time
                .unwrap_or("0:0:0")
                .splitn(3, ':')
                .map(str::parse::<i64>);
            let (hours, minutes, seconds) = (
                parts.next()?.ok()?,
                parts.next()?.ok()?,
                parts.next()?.ok()?,
            );
            Some(86_400 * days + 3600 * hours + 60 * minutes + seconds)
        }
        _ => None,
    }
}

/// A plain value of a Parquet column.
fn physical_value(physical: i64, line: &[u8]) -> Option<Vec<u8>> {
    let text = || std::str::from_utf8(line).ok().map(str::trim);
    match physical {
        1 => {
            let number = text()?.parse::<i64>().ok()?;
            let fits = (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&number);
            fits.then(|| (number as i32).to_le_bytes().to_vec())
        }
        2 => {
            let number = text()?.parse::<i128>().ok()?;
            let fits = (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&number);
            fits.then(|| (number as i64).to_le_bytes().to_vec())
        }
        4 => Some(text()?.parse::<f32>().ok()?.to_le_bytes().to_vec()),
        5 => Some(text()?.parse::<f64>().ok()?.to_le_bytes().to_vec()),
        _ => Some(line.to_vec()),
    }
}

fn from_hex(line: &[u8]) -> Option<Vec<u8>> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"0x").unwrap_or(line);
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = line.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let byte = |&[high, low]: &[u8; 2]| Some(digit(high)? << 4 | digit(low)?);
    pairs.iter().map(byte).collect()
}

/// Both alphabets: with `+` and `/`, or with `-` and `_`.
fn from_base64(line: &[u8]) -> Option<Vec<u8>> {
    let line = line.trim_ascii();
    let digits = line.iter().rposition(|&byte| byte != b'=');
    let digits = &line[..digits.map_or(0, |last| last + 1)];
    if line.len() - digits.len() > 2 || digits.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut held, mut bits) = (0_u32, 0);
    for &byte in digits {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        held = held << 6 | u32::from(digit);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((held >> bits) as u8);
        }
    }
    // What is left over was filled up with zeros.
    (held & ((1 << bits) - 1) == 0).then_some(out)
}

fn uuid(line: &[u8]) -> Option<[u8; 16]> {
    let line = line.trim_ascii();
    let hyphens = [8, 13, 18, 23];
    let placed = match line.len() {
        32 => true,
        36 => hyphens.iter().all(|&at| line[at] == b'-'),
        _ => false,
    };
    let digits: Vec<u8> = line.iter().copied().filter(|&byte| byte != b'-').collect();
    placed.then(|| from_hex(&digits)?.try_into().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(format: Format, key_type: &str, line: &str) -> Result<Vec<u8>, KeyError> {
        let key_type = KeyType::from_name(key_type).expect("a key type");
        KeyReader::new(format, key_type).read(line.as_bytes())
    }

    #[test]
    fn integers_are_encoded_as_each_system_does() {
        for (format, key_type, line, bytes) in [
            (Format::Mayhap, "i8", "-1", &[0xff][..]),
            (Format::Mayhap, "u16", "258", &[2, 1]),
            (
                Format::Mayhap,
                "i64",
                "-2",
                &[254, 255, 255, 255, 255, 255, 255, 255],
            ),
            (Format::Guava, "i8", "-1", &[255; 4]),
            (Format::Guava, "u64", "18446744073709551615", &[255; 8]),
            (Format::Spark, "i8", "3", &[3, 0, 0, 0, 0, 0, 0, 0]),
            (Format::Parquet, "i16", "1", &[1, 0, 0, 0]),
            (Format::RedisBloom, "i64", "12", b"12"),
            (Format::Hadoop, "u32", "1", &[1, 0, 0, 0]),
        ] {
            assert_eq!(
                key(format, key_type, line).as_deref(),
                Ok(bytes),
                "{format} {key_type} {line}"
            );
        }
    }

    #[test]
    fn what_is_no_key_is_an_error_that_says_what_would_be() {
        for (key_type, line) in [
            ("i8", "128"),
            ("u8", "-1"),
            ("u64", "18446744073709551616"),
            ("i64", "1.5"),
            ("i64", ""),
            ("hex", "abc"),
            ("hex", "zz"),
            ("base64", "a"),
            ("base64", "a=b="),
            ("base64", "aGVsbG9="),
            ("uuid", "1234"),
            ("f64", "one"),
        ] {
            assert!(
                key(Format::Mayhap, key_type, line).is_err(),
                "{key_type} {line}"
            );
        }
        let error = key(Format::Mayhap, "u8", "256").expect_err("too large");
        assert_eq!(
            error.to_string(),
            "\"256\" is not a whole number of 8 bits, unsigned"
        );
        assert!(
            key(Format::Spark, "f64", "1").is_err() && key(Format::Guava, "uuid", "1").is_err()
        );
    }

    #[test]
    fn bytes_are_spelt_in_several_ways() {
        assert_eq!(
            key(Format::Mayhap, "hex", "00Ff").as_deref(),
            Ok(&[0, 255][..])
        );
        for text in ["aGVsbG8=", "aGVsbG8"] {
            assert_eq!(
                key(Format::Mayhap, "base64", text).as_deref(),
                Ok(&b"hello"[..])
            );
        }
        let uuid = key(
            Format::Mayhap,
            "uuid",
            "00112233-4455-6677-8899-aabbccddeeff",
        );
        assert_eq!(
            uuid,
            key(Format::Mayhap, "hex", "00112233445566778899aabbccddeeff")
        );
    }

    #[test]
    fn days_and_seconds_are_counted_from_1970() {
        assert_eq!(moment("1970-01-01", 2), Some(0));
        assert_eq!(moment("2024-02-29", 2), Some(19_782));
        assert_eq!(moment("2024-03-01 00:00:01", 4), Some(1_709_251_201));
        assert_eq!(moment("2024-13-01", 2), None);
    }
}
