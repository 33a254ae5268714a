//! How ClickHouse hashes a value of a column: integers by their width, text by its bytes.

use mayhap_core::foreign::{city, mix64};
use std::collections::BTreeSet;

/// The type of a column, as far as it matters for hashing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Integers of 1, 2, 4 or 8 bytes, signed or not. `Date` has 2 and `DateTime` 4.
    Integer(u8),
    /// Text.
    String,
    /// Text of that many bytes, padded with zeros.
    FixedString(usize),
    /// 32 bits.
    Float32,
    /// 64 bits.
    Float64,
    /// 128 bits: `UInt128`, `Int128` and `UUID`.
    Wide,
    /// A value of another type, or `NULL`.
    Nullable(Box<Self>),
    /// Any number of values of another type.
    Array(Box<Self>),
}

/// A value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `NULL`.
    Null,
    /// An integer, a date or a time; its low bytes count.
    Integer(i128),
    /// Text.
    Bytes(Vec<u8>),
    /// A floating-point number.
    Float(f64),
    /// A `UInt128` or `UUID`.
    Wide(u128),
    /// The elements of an array.
    Array(Vec<Self>),
}

impl Type {
    /// Parses ClickHouse's name, such as `Nullable(UInt64)`, ignoring case. `LowCardinality(T)` is `T`.
    pub fn parse(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase();
        if let Some((outer, inner)) = name.split_once('(') {
            let inner = inner.strip_suffix(')')?;
            return match outer.trim() {
                "nullable" => Some(Self::Nullable(Box::new(Self::parse(inner)?))),
                "array" => Some(Self::Array(Box::new(Self::parse(inner)?))),
                "lowcardinality" => Self::parse(inner),
                "fixedstring" => Some(Self::FixedString(inner.trim().parse().ok()?)),
                // With a time zone.
                "datetime" => Some(Self::Integer(4)),
                _ => None,
            };
        }
        Some(match name.as_str() {
            "uint8" | "int8" | "u8" | "i8" => Self::Integer(1),
            "uint16" | "int16" | "u16" | "i16" | "date" => Self::Integer(2),
            "uint32" | "int32" | "u32" | "i32" | "datetime" => Self::Integer(4),
            "uint64" | "int64" | "u64" | "i64" => Self::Integer(8),
            "uint128" | "int128" | "u128" | "i128" | "uuid" => Self::Wide,
            "string" => Self::String,
            "float32" => Self::Float32,
            "float64" => Self::Float64,
            _ => return None,
        })
    }

    /// The hash of a value that is not an array; `None` if the value is not of this type.
    pub fn hash(&self, value: &Value) -> Option<u64> {
        match (self, value) {
            (Self::Nullable(inner), Value::Null) => inner.hash(&inner.default_value()),
            (Self::Nullable(inner), value) => inner.hash(value),
            (Self::Integer(bytes), Value::Integer(number)) => {
                let unused = 64 - 8 * u32::from(*bytes).clamp(1, 8);
                Some(mix64((*number as u64) << unused >> unused))
            }
            (Self::String, Value::Bytes(bytes)) => Some(city::hash(bytes)),
            (Self::FixedString(length), Value::Bytes(bytes)) if bytes.len() <= *length => {
                let mut filled = bytes.clone();
                filled.resize(*length, 0);
                Some(city::hash(&filled))
            }
            (Self::Float64, Value::Float(number)) => Some(mix64(number.to_bits())),
            (Self::Float32, Value::Float(number)) => {
                Some(mix64(f64::from(*number as f32).to_bits()))
            }
            (Self::Wide, Value::Wide(number)) => {
                Some(mix64((number >> 64) as u64 ^ *number as u64))
            }
            _ => None,
        }
    }

    /// The hashes that the rows of a granule add; `None` when a value is not of this type.
    pub fn hashes<'v>(&self, rows: impl IntoIterator<Item = &'v Value>) -> Option<BTreeSet<u64>> {
        let mut hashes = BTreeSet::new();
        for row in rows {
            match (self, row) {
                (Self::Array(inner), Value::Array(elements)) => {
                    for element in elements {
                        hashes.insert(inner.hash(element)?);
                    }
                }
                (kind, value) => _ = hashes.insert(kind.hash(value)?),
            }
        }
        if matches!(self, Self::Array(_)) && hashes.is_empty() {
            // ClickHouse adds the hash 0 when all arrays are empty.
            hashes.insert(0);
        }
        Some(hashes)
    }

    /// What a `NULL` is hashed as.
    fn default_value(&self) -> Value {
        match self {
            Self::Integer(_) => Value::Integer(0),
            Self::String | Self::FixedString(_) => Value::Bytes(Vec::new()),
            Self::Float32 | Self::Float64 => Value::Float(0.0),
            Self::Wide => Value::Wide(0),
            Self::Nullable(inner) => inner.default_value(),
            Self::Array(_) => Value::Array(Vec::new()),
        }
    }
}
