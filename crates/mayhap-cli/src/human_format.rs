//! Numbers for people. JSON has all digits.

use mayhap_core::{Kind, Stats};

/// `12,345,678`.
pub(crate) fn with_thousands_separators(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `about 1,234 keys`; a completely full filter has no estimate.
pub(crate) fn about_keys(estimate: u64) -> String {
    match estimate {
        u64::MAX => "an unknown number of keys".to_owned(),
        keys => format!("about {} keys", with_thousands_separators(keys)),
    }
}

/// The warning for a filter over capacity, or `None`. Keys that arrive all at once exceed a slice of a window, which matters
/// only if the rate is worse than requested.
pub(crate) fn over_capacity(name: &str, stats: &Stats, advice: &str) -> Option<String> {
    let is_burst = stats.kind == Kind::Window && stats.estimated_rate <= stats.false_positive_rate;
    (stats.is_over_capacity && !is_burst).then(|| {
        format!(
            "mayhap: {name} is over capacity: {} in a filter for {}, so its false-positive rate is now {}; {advice}",
            about_keys(stats.estimated_keys.unwrap_or(u64::MAX)),
            with_thousands_separators(stats.capacity.unwrap_or(0)),
            rate(stats.estimated_rate.unwrap_or(1.0), 3)
        )
    })
}

/// `100k`, `1.5M`, `12,345`: short if that is exact.
pub(crate) fn short_count(count: u64) -> String {
    for (unit, name) in [
        (1_000_000_000_000, "T"),
        (1_000_000_000, "G"),
        (1_000_000, "M"),
        (1000, "k"),
    ] {
        let tenth = unit / 10;
        if count >= unit && count.is_multiple_of(tenth) {
            let (whole, tenths) = (count / unit, count / tenth % 10);
            return if tenths == 0 {
                format!("{whole}{name}")
            } else {
                format!("{whole}.{tenths}{name}")
            };
        }
    }
    with_thousands_separators(count)
}

/// `1.20 MiB`, `640 bytes`.
pub(crate) fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut unit = "bytes";
    for next in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        // Bytes are exact; other units have three digits.
        let largest = if unit == "bytes" { 1024.0 } else { 999.5 };
        if value < largest {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    if unit == "bytes" {
        format!("{bytes} bytes")
    } else {
        format!("{} {unit}", significant(value, 3))
    }
}

/// A rate in percent, `0.0998 %`, with `digits` significant digits; `1.23e-9` if percents would be mostly zeros.
pub(crate) fn rate(rate: f64, digits: usize) -> String {
    if rate == 0.0 {
        "0 %".into()
    } else if rate < 1e-6 {
        format!("{rate:.*e}", digits - 1)
    } else {
        format!("{} %", significant(rate * 100.0, digits))
    }
}

/// A requested rate: `1 %`, `0.1 %`, `1e-9`, with at most three significant digits and no zeros at the end.
pub(crate) fn requested_rate(asked: f64) -> String {
    let shortest = rounded(asked);
    let percent = shortest.split_once('e').and_then(|(digits, exponent)| {
        // Shifted in decimals: 0.07 * 100.0 is not exactly 7.
        let exponent = exponent.parse::<i32>().ok()? + 2;
        format!("{digits}e{exponent}").parse::<f64>().ok()
    });
    match percent {
        Some(percent) if asked >= 1e-6 => format!("{percent} %"),
        _ => shortest,
    }
}

/// Three significant digits in scientific notation, without zeros at the end.
fn rounded(value: f64) -> String {
    let three = format!("{value:.2e}");
    three
        .parse::<f64>()
        .map_or(three, |value| format!("{value:e}"))
}

/// A rate as an argument, `0.0123`, rounded up to three significant digits.
pub(crate) fn rate_argument(rate: f64) -> String {
    let exponent = rate.log10().floor() as i32;
    let unit = 10_f64.powi(exponent - 2);
    // Less than the error of the division, so that 0.01 stays 0.01.
    let rounded_up = (rate / unit * (1.0 - 1e-12)).ceil();
    // Parsed as decimals, so that the digits are exact.
    let text = format!("{rounded_up}e{}", exponent - 2);
    text.parse::<f64>().map_or(text, |rate| format!("{rate}"))
}

/// `1 bit`, `6 bits`.
pub(crate) fn with_unit(count: u64, what: &str) -> String {
    format!(
        "{} {what}{}",
        with_thousands_separators(count),
        if count == 1 { "" } else { "s" }
    )
}

/// A number with `digits` significant digits; integers are never cut.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    // Rounded first: 9.999 has one digit before the point, and 10.0 has two.
    let rounded = format!("{value:.*e}", digits - 1);
    let exponent = rounded
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse::<isize>().ok())
        .unwrap_or(0);
    let decimals = (digits - 1).saturating_add_signed(-exponent);
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_come_in_threes() {
        assert_eq!(with_thousands_separators(0), "0");
        assert_eq!(with_thousands_separators(999), "999");
        assert_eq!(with_thousands_separators(1000), "1,000");
        assert_eq!(with_thousands_separators(12_345_678), "12,345,678");
    }

    #[test]
    fn counts_are_short_only_when_exact() {
        for (count, text) in [
            (1, "1"),
            (100_000, "100k"),
            (1_500_000, "1.5M"),
            (1_234_567, "1,234,567"),
            (100_000_000, "100M"),
            (1_000_000_000, "1G"),
            (12_345, "12,345"),
        ] {
            assert_eq!(short_count(count), text);
        }
    }

    #[test]
    fn sizes_have_three_digits() {
        assert_eq!(size(64), "64 bytes");
        assert_eq!(size(1536), "1.50 KiB");
        assert_eq!(size(64 << 20), "64.0 MiB");
        assert_eq!(size(999 << 20), "999 MiB");
        assert_eq!(size(1000 << 20), "0.977 GiB");
        assert_eq!(size(1 << 46), "64.0 TiB");
    }

    #[test]
    fn rates_are_percents_until_they_are_too_small() {
        assert_eq!(rate(0.00998, 3), "0.998 %");
        assert_eq!(rate(0.009_999_99, 3), "1.00 %");
        assert_eq!(rate(0.0, 3), "0 %");
        assert_eq!(rate(1.0, 3), "100 %");
        assert_eq!(rate(1.234e-9, 3), "1.23e-9");
        assert_eq!(requested_rate(0.01), "1 %");
        assert_eq!(requested_rate(0.1), "10 %");
        assert_eq!(requested_rate(0.001), "0.1 %");
        assert_eq!(requested_rate(0.07), "7 %");
        assert_eq!(requested_rate(0.003_906_25), "0.391 %");
        assert_eq!(requested_rate(0.007_788_526_862_517_396), "0.779 %");
        assert_eq!(requested_rate(0.125), "12.5 %");
        assert_eq!(requested_rate(1e-9), "1e-9");
        assert_eq!(requested_rate(1.234e-9), "1.23e-9");
        assert_eq!(rate_argument(0.012_301), "0.0124");
        assert_eq!(rate_argument(0.01), "0.01");
        assert_eq!(rate_argument(3.5e-7), "0.00000035");
    }
}
