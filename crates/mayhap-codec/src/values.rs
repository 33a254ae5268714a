//! Counts, sizes and rates as people write them: `100M`, `1.5GB`, `0.1%`. What is ambiguous is rejected. The core decides whether a
//! filter of that size is possible.

const COUNT: &str = "give a whole number from 1 to 1.8e19, such as 1000000, 10k, 100M or 1e9";
const RATE: &str = "give a rate above 0 and below 1, such as 0.01 or 1%";
const BYTES: &str =
    "give a size of 1 byte or more, such as 64MiB, 1.5GB or 1e6 (a single M could mean MB or MiB)";

/// A number of keys: `1000000`, `1_000_000`, `10k`, `1.5M`, `1e9`.
///
/// # Errors
/// If the text is not a whole number above 0.
pub fn count(text: &str) -> Result<u64, &'static str> {
    let (number, unit) = split_unit(text);
    let tens = match unit.to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 3,
        "m" => 6,
        "g" => 9,
        "t" => 12,
        _ => return Err(COUNT),
    };
    match scaled(&number, tens, 0) {
        Some((keys, true)) if keys > 0 => Ok(keys),
        _ => Err(COUNT),
    }
}

/// A size in bytes, rounded down: `64MiB`, `1.5GB`, `1e6`.
///
/// # Errors
/// If the text is not a size of at least a byte.
pub fn bytes(text: &str) -> Result<u64, &'static str> {
    let (number, unit) = split_unit(text);
    let (tens, shift) = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => (0, 0),
        "kb" => (3, 0),
        "mb" => (6, 0),
        "gb" => (9, 0),
        "tb" => (12, 0),
        "kib" => (0, 10),
        "mib" => (0, 20),
        "gib" => (0, 30),
        "tib" => (0, 40),
        _ => return Err(BYTES),
    };
    match scaled(&number, tens, shift) {
        Some((bytes, _)) if bytes > 0 => Ok(bytes),
        _ => Err(BYTES),
    }
}

/// A false-positive rate: `0.01`, `1e-3`, `1%`.
///
/// # Errors
/// If the text is not a number between 0 and 1.
pub fn rate(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let rate = match text.strip_suffix('%') {
        // Parsed as decimals, so that 0.7% is the same number as 0.007.
        Some(percent) => format!("{}e-2", percent.trim_end()).parse::<f64>(),
        None => text.parse(),
    };
    match rate {
        Ok(rate) if rate > 0.0 && rate < 1.0 => Ok(rate),
        Ok(rate) if (1.0..100.0).contains(&rate) && !text.ends_with('%') => {
            Err(format!("{RATE} (did you mean {text}%?)"))
        }
        _ => Err(RATE.to_owned()),
    }
}

/// Splits `1.5 GB` into `1.5` and `GB`; underscores are ignored.
pub fn split_unit(text: &str) -> (String, &str) {
    let text = text.trim();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    (number.trim_end().replace('_', ""), &text[number.len()..])
}

/// number x 10^tens x 2^shift, rounded down, and whether it was exact; `None` if it is not a number or does not fit.
fn scaled(number: &str, tens: u32, shift: u32) -> Option<(u64, bool)> {
    let unit = 10_u64.pow(tens) << shift;
    if let Ok(whole) = number.parse::<u64>() {
        return Some((whole.checked_mul(unit)?, true));
    }
    let value = if tens == 0 {
        number.parse::<f64>().ok()? * unit as f64
    } else {
        // Parsed as decimals: 1.005k is 1005, and 1.005 * 1000.0 is a little less.
        format!("{number}e{tens}").parse::<f64>().ok()?
    };
    let fits = (0.0..18_446_744_073_709_551_616.0).contains(&value);
    fits.then(|| (value as u64, value.fract() == 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_people_write_them() {
        for (text, keys) in [
            ("1", 1),
            ("1000000", 1_000_000),
            ("1_000_000", 1_000_000),
            ("10k", 10_000),
            ("10K", 10_000),
            ("1.005k", 1005),
            ("1.5M", 1_500_000),
            ("100M", 100_000_000),
            ("2g", 2_000_000_000),
            ("1e9", 1_000_000_000),
            ("1T", 1_000_000_000_000),
            (" 7 k ", 7000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(count(text), Ok(keys), "{text}");
        }
    }

    #[test]
    fn counts_that_are_none_are_refused() {
        for text in [
            "",
            "0",
            "0k",
            "-1",
            "1.5",
            "0.5k1",
            "k",
            "e",
            "1e",
            "ten",
            "nan",
            "inf",
            "1e30",
            "1e400",
            "1e9k",
            "10x",
            "10kB",
            "1 000",
            "18446744073709551616",
            "99999999T",
        ] {
            assert_eq!(count(text), Err(COUNT), "{text}");
        }
    }

    #[test]
    fn sizes_count_in_thousands_or_in_1024s() {
        for (text, size) in [
            ("64", 64),
            ("64B", 64),
            ("64MiB", 64 << 20),
            ("64 mib", 64 << 20),
            ("64MB", 64_000_000),
            ("1.5GB", 1_500_000_000),
            ("1.5GiB", 3 << 29),
            ("0.5KiB", 512),
            ("1kB", 1000),
            ("2TiB", 2 << 40),
            ("1TB", 1_000_000_000_000),
            ("1e6", 1_000_000),
            ("100.9", 100),
        ] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for text in [
            "",
            "0",
            "0.5",
            "-1",
            "64M",
            "64G",
            "M",
            "MiB",
            "nan",
            "1e400",
            "1e30",
            "20000000TB",
            "99999999TiB",
            "64 MiBs",
        ] {
            assert_eq!(bytes(text), Err(BYTES), "{text}");
        }
    }

    #[test]
    fn rates_are_shares_or_percents() {
        for (text, share) in [
            ("0.01", 0.01),
            ("1%", 0.01),
            ("1 %", 0.01),
            ("0.1%", 0.001),
            ("0.7%", 0.007),
            ("1e-3", 0.001),
            ("99.9%", 0.999),
            (".5", 0.5),
        ] {
            assert_eq!(rate(text), Ok(share), "{text}");
        }
        for text in [
            "", "%", "0", "0%", "1", "100%", "2", "-1", "-1%", "NaN", "inf", "1e400", "1e-400",
            "one", "1%%", "0,01",
        ] {
            let refused = rate(text).expect_err(text);
            assert!(refused.starts_with(RATE), "{text}: {refused}");
        }
        assert!(rate("1").is_err_and(|error| error.ends_with("(did you mean 1%?)")));
        assert!(rate("100%").is_err_and(|error| !error.contains("did you mean")));
    }
}
