//! Parquet values as text: decimal integers, unchanged strings, ISO 8601 times.

use mayhap_codec::index::KeyForm;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::data_type::Int96;
use parquet::schema::types::ColumnDescriptor;
use std::io::Write;

const SECONDS_A_DAY: i64 = 86_400;
/// The Julian day of 1970-01-01, on which INT96 is based.
const JULIAN_EPOCH: i64 = 2_440_588;

/// The logical type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ValueType {
    /// Numbers, booleans and bytes as stored.
    Plain,
    Unsigned,
    Date,
    /// Ticks since midnight.
    Time {
        ticks: i64,
    },
    /// Ticks since 1970, in UTC or without a time zone.
    Timestamp {
        ticks: i64,
        is_utc: bool,
    },
    Decimal {
        scale: u32,
    },
    Uuid,
    HalfFloat,
}

impl ValueType {
    pub(crate) fn from_column(column: &ColumnDescriptor) -> Self {
        let decimal = || match u32::try_from(column.type_scale()) {
            Ok(scale @ 0..=1000) => Self::Decimal { scale },
            _ => Self::Plain,
        };
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Uuid), _) => Self::Uuid,
            (Some(LogicalType::Float16), _) => Self::HalfFloat,
            (Some(LogicalType::Time(time)), _) => Self::Time {
                ticks: ticks(time.unit),
            },
            (Some(LogicalType::Timestamp(stamp)), _) => Self::Timestamp {
                ticks: ticks(stamp.unit),
                is_utc: stamp.is_adjusted_to_u_t_c,
            },
            (Some(LogicalType::Integer(integer)), _) if !integer.is_signed => Self::Unsigned,
            (Some(LogicalType::Date), _) | (None, ConvertedType::DATE) => Self::Date,
            (Some(LogicalType::Decimal(_)), _) | (None, ConvertedType::DECIMAL) => decimal(),
            (None, ConvertedType::TIME_MILLIS) => Self::Time { ticks: 1000 },
            (None, ConvertedType::TIME_MICROS) => Self::Time { ticks: 1_000_000 },
            (None, ConvertedType::TIMESTAMP_MILLIS) => Self::Timestamp {
                ticks: 1000,
                is_utc: true,
            },
            (None, ConvertedType::TIMESTAMP_MICROS) => Self::Timestamp {
                ticks: 1_000_000,
                is_utc: true,
            },
            (
                None,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
            ) => Self::Unsigned,
            _ => Self::Plain,
        }
    }

    /// Whether the stored bytes follow from the text: true for integers and bytes.
    pub(crate) fn can_be_hashed(self, physical: Type) -> bool {
        match physical {
            Type::INT32 | Type::INT64 => matches!(self, Self::Plain | Self::Unsigned),
            Type::BYTE_ARRAY => self == Self::Plain,
            _ => false,
        }
    }

    /// How the values are spelt by the functions below.
    pub(crate) fn key_form(self, physical: Type) -> KeyForm {
        let ticks = |ticks: i64| u32::try_from(ticks).unwrap_or(1_000_000_000);
        match physical {
            Type::BOOLEAN => KeyForm::Boolean,
            Type::FLOAT => KeyForm::Float32,
            Type::DOUBLE => KeyForm::Float64,
            Type::INT96 => KeyForm::LocalTimestamp {
                ticks: 1_000_000_000,
            },
            Type::INT32 | Type::INT64 => match self {
                Self::Date => KeyForm::Date,
                Self::Time { ticks: unit } => KeyForm::Time { ticks: ticks(unit) },
                Self::Timestamp {
                    ticks: unit,
                    is_utc: true,
                } => KeyForm::UtcTimestamp { ticks: ticks(unit) },
                Self::Timestamp {
                    ticks: unit,
                    is_utc: false,
                } => KeyForm::LocalTimestamp { ticks: ticks(unit) },
                Self::Decimal { scale } => KeyForm::Decimal { scale },
                Self::Plain | Self::Unsigned | Self::Uuid | Self::HalfFloat => KeyForm::Integer,
            },
            Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => match self {
                Self::Decimal { scale } => KeyForm::Decimal { scale },
                Self::Uuid => KeyForm::Uuid,
                Self::HalfFloat => KeyForm::Float64,
                Self::Plain
                | Self::Unsigned
                | Self::Date
                | Self::Time { .. }
                | Self::Timestamp { .. } => KeyForm::Text,
            },
        }
    }

    pub(crate) fn write_i32(self, value: i32, out: &mut Vec<u8>) {
        match self {
            Self::Unsigned => write(out, format_args!("{}", value.cast_unsigned())),
            _ => self.write_i64(value.into(), out),
        }
    }

    pub(crate) fn write_i64(self, value: i64, out: &mut Vec<u8>) {
        match self {
            Self::Unsigned => write(out, format_args!("{}", value.cast_unsigned())),
            Self::Date => write_date(value, out),
            Self::Time { ticks } => {
                write_time(value.div_euclid(ticks), value.rem_euclid(ticks), ticks, out);
            }
            Self::Timestamp { ticks, is_utc } => {
                let (seconds, rest) = (value.div_euclid(ticks), value.rem_euclid(ticks));
                write_timestamp(seconds, rest, ticks, is_utc, out);
            }
            Self::Decimal { scale } => write_decimal(value.into(), scale, out),
            _ => write(out, format_args!("{value}")),
        }
    }

    pub(crate) fn write_bytes(self, value: &[u8], out: &mut Vec<u8>) {
        match (self, value) {
            (Self::Decimal { scale }, value) if value.len() <= 16 => {
                let sign = value
                    .first()
                    .map_or(0, |&high| if high < 128 { 0 } else { 255 });
                let mut bytes = [sign; 16];
                bytes[16 - value.len()..].copy_from_slice(value);
                write_decimal(i128::from_be_bytes(bytes), scale, out);
            }
            (Self::Uuid, value) if value.len() == 16 => {
                for (at, byte) in value.iter().enumerate() {
                    let dash = if matches!(at, 4 | 6 | 8 | 10) {
                        "-"
                    } else {
                        ""
                    };
                    write(out, format_args!("{dash}{byte:02x}"));
                }
            }
            (Self::HalfFloat, &[low, high]) => {
                write_f64(half(u16::from_le_bytes([low, high])), out);
            }
            (_, value) => out.extend_from_slice(value),
        }
    }
}

fn ticks(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::MILLIS => 1000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000_000_000,
    }
}

/// `1.0`, `0.1`, `1e300`: the shortest text that reads back as the same number.
pub(crate) fn write_f32(value: f32, out: &mut Vec<u8>) {
    write(out, format_args!("{value:?}"));
}

pub(crate) fn write_f64(value: f64, out: &mut Vec<u8>) {
    write(out, format_args!("{value:?}"));
}

/// Nanoseconds of a Julian day, as Hive and Spark store times.
pub(crate) fn write_int96(value: &Int96, out: &mut Vec<u8>) {
    let &[low, high, day] = value.data() else {
        return;
    };
    let nanos = i64::from(low) | i64::from(high) << 32;
    let ticks = 1_000_000_000;
    let seconds = (i64::from(day) - JULIAN_EPOCH) * SECONDS_A_DAY + nanos.div_euclid(ticks);
    write_timestamp(seconds, nanos.rem_euclid(ticks), ticks, false, out);
}

fn write(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to memory does not fail.
    let _ = out.write_fmt(text);
}

fn write_timestamp(seconds: i64, rest: i64, ticks: i64, is_utc: bool, out: &mut Vec<u8>) {
    write_date(seconds.div_euclid(SECONDS_A_DAY), out);
    out.push(b'T');
    write_time(seconds.rem_euclid(SECONDS_A_DAY), rest, ticks, out);
    if is_utc {
        out.push(b'Z');
    }
}

/// `12:34:56.789`, with as many decimals as the unit has, and none if they are all zero.
fn write_time(seconds: i64, rest: i64, ticks: i64, out: &mut Vec<u8>) {
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    write(out, format_args!("{hour:02}:{minute:02}:{second:02}"));
    if rest != 0 {
        let width = ticks.ilog10() as usize;
        write(out, format_args!(".{rest:0width$}"));
    }
}

/// Days since 1970 in the Gregorian calendar. Years start in March here, so that the leap day comes last.
fn write_date(days: i64, out: &mut Vec<u8>) {
    const DAYS_IN_400_YEARS: i64 = 146_097;
    const DAYS_TO_1970: i64 = 719_468;
    let days = days + DAYS_TO_1970;
    let (era, day) = (
        days.div_euclid(DAYS_IN_400_YEARS),
        days.rem_euclid(DAYS_IN_400_YEARS),
    );
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let march_month = (5 * day + 2) / 153;
    let month_day = day - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    let year = 400 * era + year + i64::from(month <= 2);
    write(out, format_args!("{year:04}-{month:02}-{month_day:02}"));
}

fn write_decimal(unscaled: i128, scale: u32, out: &mut Vec<u8>) {
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = format!(
        "{:0width$}",
        unscaled.unsigned_abs(),
        width = scale as usize + 1
    );
    let (whole, decimals) = digits.split_at(digits.len() - scale as usize);
    let point = if scale == 0 { "" } else { "." };
    write(out, format_args!("{sign}{whole}{point}{decimals}"));
}

/// A 16-bit float: 1 bit of sign, 5 of exponent, 10 of fraction.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let fraction = f64::from(bits & 0x3ff);
    match i32::from(bits >> 10 & 31) {
        0 => sign * fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        exponent => sign * (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn whole_numbers_are_decimals() {
        for (meaning, value, shown) in [
            (ValueType::Plain, -7, "-7"),
            (ValueType::Unsigned, -1, "18446744073709551615"),
            (ValueType::Decimal { scale: 2 }, -12345, "-123.45"),
            (ValueType::Decimal { scale: 3 }, 5, "0.005"),
            (ValueType::Decimal { scale: 0 }, 5, "5"),
            (ValueType::Date, 0, "1970-01-01"),
            (ValueType::Date, 19_782, "2024-02-29"),
            (ValueType::Date, -1, "1969-12-31"),
            (ValueType::Date, -719_528, "0000-01-01"),
            (ValueType::Time { ticks: 1000 }, 45_296_789, "12:34:56.789"),
            (
                ValueType::Timestamp {
                    ticks: 1000,
                    is_utc: true,
                },
                1_700_000_000_000,
                "2023-11-14T22:13:20Z",
            ),
            (
                ValueType::Timestamp {
                    ticks: 1_000_000,
                    is_utc: false,
                },
                -1,
                "1969-12-31T23:59:59.999999",
            ),
        ] {
            assert_eq!(
                text(|out| meaning.write_i64(value, out)),
                shown,
                "{meaning:?}"
            );
        }
        assert_eq!(
            text(|out| ValueType::Unsigned.write_i32(-1, out)),
            "4294967295"
        );
    }

    #[test]
    fn the_far_ends_of_time_are_no_panic() {
        for value in [i64::MIN, i64::MAX, 0] {
            for ticks in [1000, 1_000_000, 1_000_000_000] {
                text(|out| ValueType::Time { ticks }.write_i64(value, out));
                let is_utc = value == 0;
                text(|out| ValueType::Timestamp { ticks, is_utc }.write_i64(value, out));
            }
        }
        for value in [i32::MIN, i32::MAX] {
            text(|out| ValueType::Date.write_i32(value, out));
        }
        let far = Int96::from(vec![u32::MAX, u32::MAX, u32::MAX]);
        text(|out| write_int96(&far, out));
    }

    #[test]
    fn bytes_may_be_numbers_too() {
        let decimal = ValueType::Decimal { scale: 1 };
        assert_eq!(text(|out| decimal.write_bytes(&[255, 246], out)), "-1.0");
        assert_eq!(text(|out| decimal.write_bytes(&[], out)), "0.0");
        let uuid: Vec<u8> = (0..16).collect();
        assert_eq!(
            text(|out| ValueType::Uuid.write_bytes(&uuid, out)),
            "00010203-0405-0607-0809-0a0b0c0d0e0f"
        );
        for (bits, shown) in [
            (0x3c00, "1.0"),
            (0xc000, "-2.0"),
            (1, "5.960464477539063e-8"),
        ] {
            let bytes = u16::to_le_bytes(bits);
            assert_eq!(
                text(|out| ValueType::HalfFloat.write_bytes(&bytes, out)),
                shown
            );
        }
        let stored = Int96::from(vec![0, 0, 2_440_589]);
        assert_eq!(text(|out| write_int96(&stored, out)), "1970-01-02T00:00:00");
    }
}
