//! Parses numbers and option names as Redis does.

/// An integer without spaces, plus sign or leading zeros.
pub fn integer(word: &[u8]) -> Option<i64> {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    let is_plain = match digits {
        [b'0'] => digits.len() == word.len(),
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    is_plain.then(|| std::str::from_utf8(word).ok()?.parse().ok())?
}

/// A floating-point number as C parses it. Overflow and underflow are errors, and so is anything after the number.
pub(crate) fn number(word: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(word).ok()?;
    if text.starts_with('+') {
        return None;
    }
    let number: f64 = text.parse().ok()?;
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let has_digit = mantissa.contains(|digit: char| digit.is_ascii_digit() && digit != '0');
    let is_word = text.contains(['n', 'N']);
    let overflows = number.is_infinite() && !is_word;
    let underflows = number == 0.0 && has_digit;
    (!number.is_nan() && !overflows && !underflows).then_some(number)
}

/// Whether an argument is this word, ignoring case.
pub(crate) fn is(argument: &[u8], word: &str) -> bool {
    argument.eq_ignore_ascii_case(word.as_bytes())
}

/// The position of an option.
pub(crate) fn find(args: &[&[u8]], option: &str) -> Option<usize> {
    args.iter().position(|argument| is(argument, option))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_strict() {
        for (word, read) in [
            ("0", Some(0)),
            ("-1", Some(-1)),
            ("9223372036854775807", Some(i64::MAX)),
            ("9223372036854775808", None),
            ("-0", None),
            ("01", None),
            ("+1", None),
            (" 1", None),
            ("1.5", None),
            ("", None),
        ] {
            assert_eq!(integer(word.as_bytes()), read, "{word:?}");
        }
    }

    #[test]
    fn floating_point_numbers_are_parsed_as_in_c() {
        assert_eq!(number(b"0.01"), Some(0.01));
        assert_eq!(number(b"1e-3"), Some(0.001));
        assert_eq!(number(b"inf"), Some(f64::INFINITY));
        assert_eq!(number(b"0"), Some(0.0));
        for word in ["nan", "1e999", "1e-999", "+1", "x", "", "1 "] {
            assert_eq!(number(word.as_bytes()), None, "{word:?}");
        }
    }
}
