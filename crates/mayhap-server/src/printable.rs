//! Key names for people and tools: any bytes, unambiguous, in one line.

use std::fmt::Write;

/// Text unchanged, with `\\` for a backslash and `\xNN` for control characters, invalid UTF-8, and bytes that the caller's
/// syntax reserves. Different names stay different.
pub(crate) fn printable(name: &[u8], reserved: &[char]) -> String {
    let mut text = String::with_capacity(name.len());
    let hex = |text: &mut String, byte: u8| {
        let _ = write!(text, "\\x{byte:02x}");
    };
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character == '\\' {
                text.push_str("\\\\");
            } else if character.is_control() || reserved.contains(&character) {
                let mut bytes = [0; 4];
                for byte in character.encode_utf8(&mut bytes).bytes() {
                    hex(&mut text, byte);
                }
            } else {
                text.push(character);
            }
        }
        for byte in chunk.invalid() {
            hex(&mut text, *byte);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::printable;
    use std::collections::HashSet;

    #[test]
    fn no_two_names_look_the_same() {
        let mut seen = HashSet::new();
        let mut names = vec![b"\\xff".to_vec(), b"\\\\xff".to_vec(), b"a:b".to_vec()];
        names.extend((0..=u8::MAX).map(|byte| vec![byte]));
        names.extend((0..=u8::MAX).map(|byte| vec![0xc3, byte]));
        names.extend(["ä", "\u{fffd}", "\u{85}"].map(|name| name.as_bytes().to_vec()));
        let names: HashSet<Vec<u8>> = names.into_iter().collect();
        for name in &names {
            let text = printable(name, &[':', ',']);
            assert!(!text.contains([':', ',', '\r', '\n', '\0']), "{text}");
            assert!(seen.insert(text), "{name:?}");
        }
    }

    #[test]
    fn plain_names_stay_as_they_are() {
        assert_eq!(printable("käse 7".as_bytes(), &[]), "käse 7");
        assert_eq!(printable(b"a\nb\xff\\", &[]), "a\\x0ab\\xff\\\\");
    }
}
