//! Formats numbers as C does.

/// A number in the format `%g` of C: six digits, plain if its exponent is -4 to 5, and without trailing zeros.
pub fn six_digits(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return format!("{number}");
    }
    let rounded = format!("{number:.5e}");
    // An exponent is always printed, and a small number.
    let (digits, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let places = usize::try_from(5 - exponent).unwrap_or(0);
        return without_zeros(&format!("{number:.places$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_zeros(digits), exponent.abs())
}

fn without_zeros(digits: &str) -> &str {
    if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    }
}

#[cfg(test)]
mod tests {
    use super::six_digits;

    #[test]
    fn numbers_look_as_c_prints_them() {
        let known = [
            (0.005, "0.005"),
            (5e-5, "5e-05"),
            (0.00125, "0.00125"),
            (0.0001, "0.0001"),
            (0.000_099_999_99, "0.0001"),
            (0.25, "0.25"),
            (1.0 / 3.0, "0.333333"),
            (1.525_878_906_25e-10, "1.52588e-10"),
            (1e-300, "1e-300"),
            (123_456.7, "123457"),
            (1_234_567.0, "1.23457e+06"),
        ];
        for (number, text) in known {
            assert_eq!(six_digits(number), text);
        }
    }
}
