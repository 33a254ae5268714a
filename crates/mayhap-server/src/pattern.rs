//! Glob patterns as in Redis: `*`, `?`, `[a-z]`, `[^a-z]`, and `\` to escape.

/// The maximum length of a pattern: a class is searched for every byte of every key.
pub(crate) const MAX_BYTES: usize = 4096;

/// Whether the pattern matches the whole text, in at most pattern times text steps.
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where to continue after a mismatch: after the last star, one byte further.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if p < pattern.len() && pattern[p] == b'*' {
            p += 1;
            retry = Some((p, t));
            continue;
        }
        if t == text.len() {
            return p == pattern.len();
        }
        match one(&pattern[p..], text[t]) {
            Some(used) => {
                p += used;
                t += 1;
            }
            None => match retry {
                Some((star, from)) => {
                    p = star;
                    t = from + 1;
                    retry = Some((star, t));
                }
                None => return false,
            },
        }
    }
}

/// The length of the pattern element that matches a byte, if it does.
fn one(pattern: &[u8], byte: u8) -> Option<usize> {
    match *pattern.first()? {
        b'?' => Some(1),
        b'[' => class(pattern, byte),
        b'\\' if pattern.len() > 1 => (pattern[1] == byte).then_some(2),
        literal => (literal == byte).then_some(1),
    }
}

/// `[...]`; an unclosed class ends with the pattern, as in Redis.
fn class(pattern: &[u8], byte: u8) -> Option<usize> {
    let mut at = 1;
    let is_negated = pattern.get(at) == Some(&b'^');
    at += usize::from(is_negated);
    let mut found = false;
    loop {
        match pattern.get(at) {
            None => break,
            Some(b']') => {
                at += 1;
                break;
            }
            Some(b'\\') if at + 1 < pattern.len() => {
                found |= pattern[at + 1] == byte;
                at += 2;
            }
            Some(&low) if pattern.get(at + 1) == Some(&b'-') && at + 2 < pattern.len() => {
                let high = pattern[at + 2];
                found |= (low.min(high)..=low.max(high)).contains(&byte);
                at += 3;
            }
            Some(&literal) => {
                found |= literal == byte;
                at += 1;
            }
        }
    }
    (found != is_negated).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_as_in_redis() {
        for (pattern, yes, no) in [
            ("*", &["", "a", "abc"][..], &[][..]),
            ("a*", &["a", "ab"], &["ba", ""]),
            ("*a", &["a", "ba", "aa"], &["ab"]),
            ("a*b*c", &["abc", "aXbYc", "abcbc"], &["ab", "acb"]),
            ("h?llo", &["hello", "hallo"], &["hllo", "heello"]),
            ("h[ae]llo", &["hello", "hallo"], &["hillo"]),
            ("h[^e]llo", &["hallo", "hbllo"], &["hello"]),
            ("h[a-c]llo", &["hallo", "hcllo"], &["hdllo"]),
            ("h[c-a]llo", &["hallo", "hcllo"], &["hdllo"]),
            ("\\*", &["*"], &["a", "\\*"]),
            ("[\\]]", &["]"], &["\\"]),
            ("[ab", &["a", "b"], &["c", "ab"]),
            ("", &[""], &["a"]),
        ] {
            for text in yes {
                assert!(
                    matches(pattern.as_bytes(), text.as_bytes()),
                    "{pattern} {text}"
                );
            }
            for text in no {
                assert!(
                    !matches(pattern.as_bytes(), text.as_bytes()),
                    "{pattern} {text}"
                );
            }
        }
    }

    #[test]
    fn stars_do_not_multiply() {
        let pattern = b"*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b";
        assert!(!matches(pattern, &[b'a'; 4000]));
    }
}
