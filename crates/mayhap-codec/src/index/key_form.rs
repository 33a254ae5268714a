//! Which text is hashed for a value of a column. Keys are given as text in many spellings (`7`, `007`, `+7`), and each type of column has
//! one that is hashed.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike, Utc};
use uuid::Uuid;

/// How the values of a column are spelt as text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeyForm {
    /// As they are: lines, strings and bytes.
    Text,
    /// Decimal integers.
    Integer,
    /// The shortest decimals that read back as the same number of 32 bits.
    Float32,
    /// The same for 64 bits.
    Float64,
    /// `true` or `false`.
    Boolean,
    /// `2024-02-29`.
    Date,
    /// `12:34:56.789`.
    Time {
        /// Units per second: 10^3, 10^6 or 10^9.
        ticks: u32,
    },
    /// `2024-02-29T12:34:56.789`.
    LocalTimestamp {
        /// Units per second.
        ticks: u32,
    },
    /// `2024-02-29T12:34:56.789Z`.
    UtcTimestamp {
        /// Units per second.
        ticks: u32,
    },
    /// Decimals with a fixed number of digits after the point.
    Decimal {
        /// Digits after the point.
        scale: u32,
    },
    /// `00112233-4455-6677-8899-aabbccddeeff`.
    Uuid,
}

impl KeyForm {
    /// The spellings to look up for a key that is given as text; `None` if the text is not such a value, so that no file has it.
    pub fn spellings(self, text: &[u8]) -> Option<Vec<Vec<u8>>> {
        if self == Self::Text {
            return Some(vec![text.to_vec()]);
        }
        let text = std::str::from_utf8(text).ok()?.trim();
        Some(match self {
            // Handled above: lines need not be UTF-8.
            Self::Text => vec![text.into()],
            Self::Integer => one(text.parse::<i128>().ok()?.to_string()),
            Self::Float32 => float(f64::from(text.parse::<f32>().ok()?), || {
                text.parse::<f32>().map(|value| format!("{value:?}"))
            })?,
            Self::Float64 => float(text.parse::<f64>().ok()?, || {
                text.parse::<f64>().map(|value| format!("{value:?}"))
            })?,
            Self::Boolean => match text.to_ascii_lowercase().as_str() {
                "true" | "t" | "1" => one("true".into()),
                "false" | "f" | "0" => one("false".into()),
                _ => return None,
            },
            Self::Date => one(date(text)?),
            Self::Time { ticks } => one(time(parse_time(text)?, ticks)?),
            Self::LocalTimestamp { ticks } => one(timestamp(text, ticks)?),
            Self::UtcTimestamp { ticks } => one(timestamp(text, ticks)? + "Z"),
            Self::Decimal { scale } => one(decimal(text, scale)?),
            Self::Uuid => one(Uuid::try_parse(text).ok()?.hyphenated().to_string()),
        })
    }

    /// What a key looks like, for errors.
    pub fn expected(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "a whole number",
            Self::Float32 | Self::Float64 => "a number",
            Self::Boolean => "true or false",
            Self::Date => "a date such as 2024-02-29",
            Self::Time { .. } => "a time such as 12:34:56",
            Self::LocalTimestamp { .. } => "a date and time such as 2024-02-29T12:34:56",
            Self::UtcTimestamp { .. } => "a date and time such as 2024-02-29T12:34:56Z",
            Self::Decimal { .. } => "a decimal number with as many decimals as the column",
            Self::Uuid => "a UUID",
        }
    }

    pub(super) fn to_numbers(self) -> (u8, u32) {
        match self {
            Self::Text => (0, 0),
            Self::Integer => (1, 0),
            Self::Float32 => (2, 0),
            Self::Float64 => (3, 0),
            Self::Boolean => (4, 0),
            Self::Date => (5, 0),
            Self::Time { ticks } => (6, ticks),
            Self::LocalTimestamp { ticks } => (7, ticks),
            Self::UtcTimestamp { ticks } => (8, ticks),
            Self::Decimal { scale } => (9, scale),
            Self::Uuid => (10, 0),
        }
    }

    pub(super) fn from_numbers(form: u8, parameter: u32) -> Option<Self> {
        let ticks = matches!(parameter, 1_000 | 1_000_000 | 1_000_000_000).then_some(parameter);
        let form = match form {
            0 => Self::Text,
            1 => Self::Integer,
            2 => Self::Float32,
            3 => Self::Float64,
            4 => Self::Boolean,
            5 => Self::Date,
            6 => Self::Time { ticks: ticks? },
            7 => Self::LocalTimestamp { ticks: ticks? },
            8 => Self::UtcTimestamp { ticks: ticks? },
            9 => Self::Decimal {
                scale: (parameter <= MAX_SCALE).then_some(parameter)?,
            },
            10 => Self::Uuid,
            _ => return None,
        };
        (form.to_numbers().1 == parameter).then_some(form)
    }
}

/// More digits after the point than any decimal has.
const MAX_SCALE: u32 = 1000;

fn one(text: String) -> Vec<Vec<u8>> {
    vec![text.into_bytes()]
}

/// Zero has two spellings, which are equal numbers.
fn float<E>(value: f64, spell: impl Fn() -> Result<String, E>) -> Option<Vec<Vec<u8>>> {
    if value == 0.0 {
        return Some(vec![b"0.0".to_vec(), b"-0.0".to_vec()]);
    }
    spell().ok().map(one)
}

fn date(text: &str) -> Option<String> {
    NaiveDate::parse_from_str(text, "%Y-%m-%d")
        .ok()
        .map(spelt_date)
}

fn spelt_date(date: NaiveDate) -> String {
    format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day())
}

fn parse_time(text: &str) -> Option<NaiveTime> {
    ["%H:%M:%S%.f", "%H:%M"]
        .into_iter()
        .find_map(|format| NaiveTime::parse_from_str(text, format).ok())
}

/// A time with as many decimals as the unit has, and none if they are all zero; `None` if the unit is too coarse for it.
fn time(time: NaiveTime, ticks: u32) -> Option<String> {
    let nanoseconds = time.nanosecond();
    let per_tick = 1_000_000_000 / ticks;
    // A leap second is not stored.
    if nanoseconds >= 1_000_000_000 || !nanoseconds.is_multiple_of(per_tick) {
        return None;
    }
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    let seconds = format!("{hour:02}:{minute:02}:{second:02}");
    let decimals = nanoseconds / per_tick;
    let width = ticks.ilog10() as usize;
    Some(match decimals {
        0 => seconds,
        decimals => format!("{seconds}.{decimals:0width$}"),
    })
}

/// A date and a time in UTC or without a time zone, or a date, whose time is midnight.
fn timestamp(text: &str, ticks: u32) -> Option<String> {
    let zoned = DateTime::parse_from_rfc3339(text).or_else(|_| {
        // PostgreSQL and Python print a space, and offsets without minutes.
        DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f%#z")
    });
    let moment = if let Ok(zoned) = zoned {
        zoned.with_timezone(&Utc).naive_utc()
    } else {
        let text = text.trim_end_matches(['Z', 'z']);
        let (day, clock) = text
            .split_once(['T', 't', ' '])
            .unwrap_or((text, "00:00:00"));
        let day = NaiveDate::parse_from_str(day, "%Y-%m-%d").ok()?;
        NaiveDateTime::new(day, parse_time(clock.trim())?)
    };
    let day = spelt_date(moment.date());
    Some(format!("{day}T{}", time(moment.time(), ticks)?))
}

fn decimal(text: &str, scale: u32) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits(whole) || !are_digits(decimals) || whole.len() + decimals.len() == 0 {
        return None;
    }
    let scale = scale as usize;
    let decimals = decimals.trim_end_matches('0');
    if decimals.len() > scale {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let sign = if whole == "0" && decimals.is_empty() {
        ""
    } else {
        sign
    };
    let point = if scale == 0 { "" } else { "." };
    Some(format!("{sign}{whole}{point}{decimals:0<scale$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_value_is_hashed_alike() {
        let milli = 1000;
        for (form, text, spelt) in [
            (KeyForm::Text, " 007", " 007"),
            (KeyForm::Integer, "007", "7"),
            (KeyForm::Integer, "+7", "7"),
            (KeyForm::Integer, "-0", "0"),
            (
                KeyForm::Integer,
                "18446744073709551615",
                "18446744073709551615",
            ),
            (KeyForm::Float64, "5", "5.0"),
            (KeyForm::Float64, "1e300", "1e300"),
            (KeyForm::Float32, "0.1", "0.1"),
            (KeyForm::Boolean, "True", "true"),
            (KeyForm::Date, "2024-2-9", "2024-02-09"),
            (KeyForm::Time { ticks: milli }, "12:34:56.5", "12:34:56.500"),
            (KeyForm::Time { ticks: milli }, "12:34", "12:34:00"),
            (
                KeyForm::UtcTimestamp { ticks: milli },
                "2024-02-29 12:00:00",
                "2024-02-29T12:00:00Z",
            ),
            (
                KeyForm::UtcTimestamp { ticks: 1_000_000 },
                "2024-02-29T12:00:00.25+02:00",
                "2024-02-29T10:00:00.250000Z",
            ),
            (
                KeyForm::LocalTimestamp { ticks: milli },
                "2024-02-29",
                "2024-02-29T00:00:00",
            ),
            (KeyForm::Decimal { scale: 2 }, "1.5", "1.50"),
            (KeyForm::Decimal { scale: 2 }, "-01.500", "-1.50"),
            (KeyForm::Decimal { scale: 2 }, "-0", "0.00"),
            (KeyForm::Decimal { scale: 0 }, "12.0", "12"),
            (
                KeyForm::Uuid,
                "00112233445566778899AABBCCDDEEFF",
                "00112233-4455-6677-8899-aabbccddeeff",
            ),
        ] {
            assert_eq!(
                form.spellings(text.as_bytes()),
                Some(one(spelt.into())),
                "{form:?} {text}"
            );
        }
        assert_eq!(
            KeyForm::Float64.spellings(b"0").map(|both| both.len()),
            Some(2)
        );
    }

    #[test]
    fn what_is_not_a_value_has_no_spelling() {
        for (form, text) in [
            (KeyForm::Integer, "1.5"),
            (KeyForm::Integer, ""),
            (KeyForm::Float64, "one"),
            (KeyForm::Boolean, "2"),
            (KeyForm::Date, "2024-02-31"),
            (KeyForm::Time { ticks: 1000 }, "12:00:00.0001"),
            (KeyForm::UtcTimestamp { ticks: 1000 }, "yesterday"),
            (KeyForm::Decimal { scale: 2 }, "1.234"),
            (KeyForm::Decimal { scale: 2 }, "."),
            (KeyForm::Uuid, "1234"),
        ] {
            assert_eq!(form.spellings(text.as_bytes()), None, "{form:?} {text}");
        }
    }

    #[test]
    fn forms_are_read_back_from_their_numbers() {
        for form in [
            KeyForm::Text,
            KeyForm::Integer,
            KeyForm::Float32,
            KeyForm::Float64,
            KeyForm::Boolean,
            KeyForm::Date,
            KeyForm::Time { ticks: 1000 },
            KeyForm::LocalTimestamp { ticks: 1_000_000 },
            KeyForm::UtcTimestamp {
                ticks: 1_000_000_000,
            },
            KeyForm::Decimal { scale: 38 },
            KeyForm::Uuid,
        ] {
            let (number, parameter) = form.to_numbers();
            assert_eq!(KeyForm::from_numbers(number, parameter), Some(form));
        }
        assert_eq!(KeyForm::from_numbers(11, 0), None);
        assert_eq!(KeyForm::from_numbers(6, 0), None);
        assert_eq!(KeyForm::from_numbers(0, 1), None);
    }
}
