//! Converts a line of text to the bytes that a system hashes: integers as that system encodes them.

use crate::clickhouse::{Type, Value};
use crate::{Format, ParameterError, Parameters, guava, hbase};
use chrono::{Datelike, NaiveDate, NaiveTime, Timelike};
use data_encoding::{BASE64_NOPAD, Encoding as Encoding64, HEXLOWER_PERMISSIVE};
use mayhap_core::KeyType;
use std::fmt;
use std::sync::LazyLock;
use uuid::Uuid;

/// What a line of text stands for.
fn parse(key_type: KeyType, line: &[u8]) -> Option<Parsed> {
    if let Some((bytes, signed)) = key_type.integer() {
        let number = std::str::from_utf8(line).ok()?.trim().parse().ok()?;
        let bits = 8 * u32::from(bytes);
        let range = if signed {
            -(1_i128 << (bits - 1))..1 << (bits - 1)
        } else {
            0..1 << bits
        };
        let is_in_range = range.contains(&number);
        return is_in_range.then_some(Parsed::Integer { number, bytes });
    }
    match key_type {
        KeyType::Hex => from_hex(line).map(Parsed::Bytes),
        KeyType::Base64 => from_base64(line).map(Parsed::Bytes),
        KeyType::F64 => {
            let number = std::str::from_utf8(line).ok()?.trim().parse().ok()?;
            Some(Parsed::Float(number))
        }
        KeyType::Uuid => uuid(line).map(Parsed::Uuid),
        // Integers are parsed above.
        KeyType::Text
        | KeyType::I8
        | KeyType::I16
        | KeyType::I32
        | KeyType::I64
        | KeyType::U8
        | KeyType::U16
        | KeyType::U32
        | KeyType::U64 => Some(Parsed::Bytes(line.to_vec())),
    }
}

enum Parsed {
    Bytes(Vec<u8>),
    Integer { number: i128, bytes: u8 },
    Float(f64),
    Uuid([u8; 16]),
}

/// Guava's funnel, which encodes keys; it is not in the files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Funnel {
    /// `byteArrayFunnel`, and `stringFunnel(UTF_8)`.
    Bytes,
    /// `unencodedCharsFunnel`: UTF-16.
    Chars,
    /// `integerFunnel`.
    Int,
    /// `longFunnel`.
    Long,
}

/// How a system encodes what a line stands for. A format chooses one in its row of the table.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Encoding {
    /// Integers have their own width, little-endian.
    OwnWidth,
    /// Integers have their own width, big-endian, and so do floats: as Java writes them.
    BigEndian,
    /// A row, big-endian as above, a tab and a qualifier: a cell of HBase's.
    RowColumn,
    /// Everything is text, as the line has it, except bytes that are written in hex or base64.
    Text,
    /// Every integer is a long.
    Longs,
    /// By the funnel, if that is known.
    Guava(Option<Funnel>),
    /// By the physical type of the column, if that is known.
    Parquet(Option<i64>),
    /// By the type of the column.
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
    /// For keys of that type as the system encodes them, with the default parameters of the format.
    ///
    /// # Panics
    /// Never: only given parameters can be wrong.
    pub fn new(format: Format, key_type: KeyType) -> Self {
        Parameters::defaults(format)
            .key_reader(key_type)
            .expect("only given parameters can be wrong")
    }

    pub(crate) fn with_encoding(encoding: Encoding, key_type: KeyType) -> Self {
        Self { key_type, encoding }
    }

    // For `FormatRow::key_reader`.

    /// Integers have their own width.
    #[expect(clippy::unnecessary_wraps, reason = "the signature of the row")]
    pub(crate) fn own_width(key_type: KeyType, _: &Parameters) -> Result<Self, ParameterError> {
        Ok(Self::with_encoding(Encoding::OwnWidth, key_type))
    }

    /// Integers have their own width, big-endian.
    #[expect(clippy::unnecessary_wraps, reason = "the signature of the row")]
    pub(crate) fn big_endian(key_type: KeyType, _: &Parameters) -> Result<Self, ParameterError> {
        Ok(Self::with_encoding(Encoding::BigEndian, key_type))
    }

    /// Keys are text.
    #[expect(clippy::unnecessary_wraps, reason = "the signature of the row")]
    pub(crate) fn text(key_type: KeyType, _: &Parameters) -> Result<Self, ParameterError> {
        Ok(Self::with_encoding(Encoding::Text, key_type))
    }

    /// For keys that Guava encodes with that funnel; lines are integers if the funnel takes only these.
    #[must_use]
    pub(crate) fn funnel(mut self, funnel: Funnel) -> Self {
        self.encoding = Encoding::Guava(Some(funnel));
        match (funnel, self.key_type) {
            (Funnel::Int, KeyType::Text) => {
                self.key_type = KeyType::I32;
            }
            (Funnel::Long, KeyType::Text) => {
                self.key_type = KeyType::I64;
            }
            _ => {}
        }
        self
    }

    /// For values of a Parquet column of that physical type.
    #[must_use]
    pub fn physical_type(mut self, number: i64) -> Self {
        self.encoding = Encoding::Parquet(Some(number));
        self
    }

    /// For cells of HBase's, of a row and a qualifier.
    #[must_use]
    pub(crate) fn row_and_column(mut self) -> Self {
        self.encoding = Encoding::RowColumn;
        self
    }

    /// The same for keys of another type.
    #[must_use]
    pub fn with_key_type(&self, key_type: KeyType) -> Self {
        Self::with_encoding(self.encoding.clone(), key_type)
    }

    /// What lines stand for.
    pub fn key_type(&self) -> KeyType {
        self.key_type
    }

    /// Whether a line is read as a number: by the type of the keys, or because the column has numbers.
    pub fn reads_numbers(&self) -> bool {
        let by_column = match &self.encoding {
            Encoding::Parquet(physical) => matches!(physical, Some(1 | 2 | 4 | 5)),
            Encoding::ClickHouse(column) => is_numeric(column),
            Encoding::OwnWidth
            | Encoding::BigEndian
            | Encoding::RowColumn
            | Encoding::Text
            | Encoding::Longs
            | Encoding::Guava(_) => false,
        };
        by_column || self.key_type.integer().is_some() || self.key_type == KeyType::F64
    }

    /// Whether keys are the bytes of their lines, so that nothing has to be parsed.
    pub fn is_verbatim(&self) -> bool {
        match self.encoding {
            Encoding::Text => !self.is_spelt_bytes(),
            Encoding::ClickHouse(_)
            | Encoding::RowColumn
            | Encoding::Guava(Some(Funnel::Chars))
            | Encoding::Parquet(Some(1 | 2 | 4 | 5)) => false,
            Encoding::OwnWidth
            | Encoding::BigEndian
            | Encoding::Longs
            | Encoding::Guava(_)
            | Encoding::Parquet(_) => self.key_type == KeyType::Text,
        }
    }

    /// The key of a line. For ClickHouse it is the eight bytes of the value's hash.
    ///
    /// # Errors
    /// When the line does not stand for a key of this type, or the system has no such keys.
    pub fn read(&self, line: &[u8]) -> Result<Vec<u8>, KeyError> {
        match &self.encoding {
            Encoding::Text if !self.is_spelt_bytes() => Ok(line.to_vec()),
            Encoding::ClickHouse(column) => {
                let hash = clickhouse_value(column, self.key_type, line)
                    .and_then(|value| element_type(column).hash(&value));
                hash.map(|hash| hash.to_le_bytes().to_vec())
                    .ok_or_else(|| self.error(line))
            }
            Encoding::RowColumn => self.read_cell(line),
            Encoding::Parquet(Some(physical)) if self.key_type == KeyType::Text => {
                physical_value(*physical, line).ok_or_else(|| self.error(line))
            }
            _ => {
                let parsed = parse(self.key_type, line).ok_or_else(|| self.error(line))?;
                self.encode(parsed).ok_or_else(|| self.error(line))
            }
        }
    }

    /// Without a tab the qualifier is empty. It is text, unless rows are bytes in hex or base64.
    fn read_cell(&self, line: &[u8]) -> Result<Vec<u8>, KeyError> {
        let tab = line.iter().position(|&byte| byte == b'\t');
        let (row, qualifier) = tab.map_or((line, &[][..]), |tab| (&line[..tab], &line[tab + 1..]));
        let rows = Self::with_encoding(Encoding::BigEndian, self.key_type);
        let row = rows.read(row)?;
        let qualifier = if self.is_spelt_bytes() {
            rows.read(qualifier)?
        } else {
            qualifier.to_vec()
        };
        hbase::row_column_key(&row, &qualifier).ok_or_else(|| self.error(line))
    }

    /// Whether a line spells bytes in hex or base64.
    fn is_spelt_bytes(&self) -> bool {
        matches!(self.key_type, KeyType::Hex | KeyType::Base64)
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
            (Encoding::BigEndian, Parsed::Integer { number, bytes }) => {
                let mut key = low_bytes(number, bytes);
                key.reverse();
                key
            }
            (Encoding::BigEndian, Parsed::Float(number)) => number.to_be_bytes().to_vec(),
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
                (Encoding::ClickHouse(column), _) => clickhouse_expected(column),
                (Encoding::Parquet(Some(1 | 2)), _) => {
                    "a whole number that the column can hold".into()
                }
                (Encoding::Parquet(Some(4 | 5)), _) => "a number".into(),
                (Encoding::Guava(Some(Funnel::Chars)), _) => "UTF-8 text".into(),
                (Encoding::Guava(Some(Funnel::Int)), _) => "an int".into(),
                (Encoding::RowColumn, _) => {
                    "a row of at most 65,535 bytes, a tab and a qualifier".into()
                }
                (Encoding::Longs, KeyType::F64 | KeyType::Uuid) => {
                    "text or a whole number: Spark hashes no others".into()
                }
                (Encoding::Guava(_), KeyType::F64 | KeyType::Uuid) => {
                    "text or a whole number: Guava has no funnel for others".into()
                }
                (_, KeyType::Hex) => "an even number of hexadecimal digits".into(),
                (_, key_type) => match key_type.integer() {
                    Some((bytes, signed)) => {
                        let sign = if signed { "signed" } else { "unsigned" };
                        format!("a whole number of {} bits, {sign}", 8 * u32::from(bytes))
                    }
                    None => format!("a key of type {key_type}"),
                },
            },
        }
    }
}

/// A line that is not a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyError {
    /// The line, or its beginning.
    pub line: String,
    /// What a key looks like.
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

fn is_numeric(column: &Type) -> bool {
    match column {
        Type::Integer(_) | Type::Float32 | Type::Float64 | Type::Wide => true,
        Type::Nullable(inner) | Type::Array(inner) => is_numeric(inner),
        Type::String | Type::FixedString(_) => false,
    }
}

fn clickhouse_value(column: &Type, key_type: KeyType, line: &[u8]) -> Option<Value> {
    let bytes = || match parse(key_type, line) {
        Some(Parsed::Bytes(bytes)) => Some(bytes),
        // Numbers in a text column are hashed as text.
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
                .or_else(|| date_or_time(text, *width).map(i128::from))?;
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

/// What a line of a column stands for, for errors.
fn clickhouse_expected(column: &Type) -> String {
    match column {
        Type::Integer(width) => {
            let number = format!("a whole number of {} bits", 8 * u32::from(*width));
            match width {
                2 => number + ", or a date such as 2024-02-29",
                4 => number + ", or a date and time such as 2024-02-29 12:00:00",
                _ => number,
            }
        }
        Type::String => "text".into(),
        Type::FixedString(length) => format!("text of at most {length} bytes"),
        Type::Float32 | Type::Float64 => "a number".into(),
        Type::Wide => "a whole number of 128 bits, or a UUID".into(),
        Type::Nullable(inner) => clickhouse_expected(inner) + r", or \N",
        // A line is an element.
        Type::Array(inner) => clickhouse_expected(inner),
    }
}

/// Days since 1970 of `2024-02-29`, where two bytes are stored, and seconds of `2024-02-29 12:00:00`, in UTC, where four are.
fn date_or_time(text: &str, width: u8) -> Option<i64> {
    let (date, time) = match text.split_once([' ', 'T']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let date = NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?;
    if !(1900..=9999).contains(&date.year()) {
        return None;
    }
    let days = date.signed_duration_since(NaiveDate::default()).num_days();
    match (width, time) {
        (2, None) => Some(days),
        (4, None) => Some(86_400 * days),
        (4, Some(time)) => {
            let time = NaiveTime::parse_from_str(time, "%H:%M:%S").ok()?;
            // Unix time has no leap seconds, and `23:59:60` would be the second after it.
            let is_leap = time.nanosecond() >= 1_000_000_000;
            let seconds = i64::from(time.num_seconds_from_midnight());
            (!is_leap).then_some(86_400 * days + seconds)
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
    let digits = line.strip_prefix(b"0x").unwrap_or(line);
    HEXLOWER_PERMISSIVE.decode(digits).ok()
}

/// Base 64 without padding, in both alphabets: with `+` and `/`, or with `-` and `_`.
static BASE64: LazyLock<Encoding64> = LazyLock::new(|| {
    let mut specification = BASE64_NOPAD.specification();
    specification.translate.from.push_str("-_");
    specification.translate.to.push_str("+/");
    specification.encoding().expect("a valid specification")
});

fn from_base64(line: &[u8]) -> Option<Vec<u8>> {
    let line = line.trim_ascii();
    let digits = line.iter().rposition(|&byte| byte != b'=');
    let digits = &line[..digits.map_or(0, |last| last + 1)];
    // Padding may be left out.
    if line.len() - digits.len() > 2 {
        return None;
    }
    BASE64.decode(digits).ok()
}

fn uuid(line: &[u8]) -> Option<[u8; 16]> {
    let uuid = Uuid::try_parse_ascii(line.trim_ascii()).ok()?;
    Some(uuid.into_bytes())
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
            (Format::Cassandra, "i32", "1", &[0, 0, 0, 1]),
            (Format::Cassandra, "i16", "-2", &[0xff, 0xfe]),
            (
                Format::Cassandra,
                "f64",
                "1.5",
                &[0x3f, 0xf8, 0, 0, 0, 0, 0, 0],
            ),
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
    fn a_cell_is_a_row_a_tab_and_a_qualifier() {
        let parameters = Parameters::new(Format::HBase, ["type=rowcol"]).unwrap();
        let read = |key_type: &str, line: &str| {
            let key_type = KeyType::from_name(key_type).unwrap();
            let reader = parameters.key_reader(key_type).unwrap();
            assert!(!reader.is_verbatim());
            reader.read(line.as_bytes())
        };
        let cell =
            |row: &[u8], qualifier: &[u8]| Ok(hbase::row_column_key(row, qualifier).unwrap());
        assert_eq!(read("text", "r\tq"), cell(b"r", b"q"));
        assert_eq!(read("text", "r\tq\tq"), cell(b"r", b"q\tq"));
        assert_eq!(read("text", "r"), cell(b"r", b""));
        assert_eq!(read("text", ""), cell(b"", b""));
        assert_eq!(read("i32", "7\tq"), cell(&[0, 0, 0, 7], b"q"));
        assert_eq!(read("hex", "0102\tff"), cell(&[1, 2], &[0xff]));
        assert_eq!(read("hex", "0102"), cell(&[1, 2], b""));
        assert!(read("hex", "0102\tq").is_err() && read("i32", "r\tq").is_err());
        assert!(read("text", &"r".repeat(65_536)).is_err());
    }

    #[test]
    fn bytes_are_spelt_in_several_ways() {
        assert_eq!(
            key(Format::Mayhap, "hex", "00Ff").as_deref(),
            Ok(&[0, 255][..])
        );
        assert_eq!(
            key(Format::Mayhap, "hex", " 0x00fF ").as_deref(),
            Ok(&[0, 255][..])
        );
        for text in ["+/+/", "-_-_", "+/-_"] {
            assert_eq!(
                key(Format::Mayhap, "base64", text).as_deref(),
                Ok(&[0xfb, 0xff, 0xbf][..])
            );
        }
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
        for (text, width, number) in [
            ("1970-01-01", 2, 0),
            ("2024-02-29", 2, 19_782),
            ("2024-2-9", 2, 19_762),
            ("1900-01-01", 2, -25_567),
            ("2000-02-29", 2, 11_016),
            ("2024-03-01", 4, 1_709_251_200),
            ("2024-03-01 00:00:01", 4, 1_709_251_201),
            ("2024-03-01T23:59:59", 4, 1_709_337_599),
            ("2024-03-01 1:2:3", 4, 1_709_254_923),
        ] {
            assert_eq!(date_or_time(text, width), Some(number), "{text}");
        }
    }

    #[test]
    fn days_and_times_that_do_not_exist_are_errors() {
        for (column, line) in [
            ("Date", "2024-02-31"),
            ("Date", "2023-02-29"),
            ("Date", "1900-02-29"),
            ("Date", "2024-04-31"),
            ("Date", "2024-13-01"),
            ("Date", "2024-00-01"),
            ("Date", "2024-01-00"),
            ("Date", "2024-01"),
            ("Date", "1899-12-31"),
            ("Date", "10000-01-01"),
            ("Date", "2024-02-28 12:00:00"),
            ("DateTime", "2024-02-31 12:00:00"),
            ("DateTime", "2024-02-28 24:00:00"),
            ("DateTime", "2024-02-28 99:00:00"),
            ("DateTime", "2024-02-28 12:60:00"),
            ("DateTime", "2024-02-28 23:59:60"),
            ("DateTime", "2024-02-28 12:00"),
            ("UInt64", "2024-02-28"),
        ] {
            let parameters = Parameters::new(Format::ClickHouse, [format!("type={column}")]);
            let reader = parameters.unwrap().key_reader(KeyType::Text).unwrap();
            let error = reader.read(line.as_bytes()).expect_err(line);
            assert!(error.to_string().contains(line), "{error}");
        }
        let parameters = Parameters::new(Format::ClickHouse, ["type=Date"]).unwrap();
        let reader = parameters.key_reader(KeyType::Text).unwrap();
        let error = reader.read(b"2024-02-31").unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"2024-02-31\" is not a whole number of 16 bits, or a date such as 2024-02-29"
        );
    }
}
