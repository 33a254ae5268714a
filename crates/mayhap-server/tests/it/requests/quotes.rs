//! How a line becomes words.

use super::read;
use mayhap_server::resp::{ProtocolError, RequestLimits};

#[test]
fn lines_are_split_as_redis_splits_them() {
    for (line, expected) in [
        ("", Some(&[][..])),
        (" \t \x0b\x0c", Some(&[])),
        ("PING", Some(&["PING"])),
        ("  SET  a\tb  ", Some(&["SET", "a", "b"])),
        ("a\rb", Some(&["a", "b"])),
        (r#""a b" c"#, Some(&["a b", "c"])),
        (r#""" ''"#, Some(&["", ""])),
        (r#"a"b c""#, Some(&["ab c"])),
        (r"a'b c' d", Some(&["ab c", "d"])),
        (r#""\x41\x6a\x4A""#, Some(&["AjJ"])),
        (r#""\xg1\x4""#, Some(&["xg1x4"])),
        (r#""\n\r\t\b\a""#, Some(&["\n\r\t\x08\x07"])),
        (r#""\"\\\q""#, Some(&["\"\\q"])),
        (r#"'\n\x41"'"#, Some(&["\\n\\x41\""])),
        (r"'it\'s'", Some(&["it's"])),
        (r"'\\'", None),
        ("a\x0bb \x0bc", Some(&["a\x0bb", "c"])),
        (r"a\x41\n", Some(&["a\\x41\\n"])),
        (r#""a"#, None),
        (r"'a", None),
        (r#""a\""#, None),
        (r"'a\'", None),
        (r#""a"b"#, None),
        (r"'a'b", None),
        (r#""a"'b'"#, None),
        (r#"a""#, None),
    ] {
        let (all, error) = read(format!("{line}\r\n").as_bytes(), &RequestLimits::default());
        match expected {
            None => assert_eq!(
                (all, error),
                (vec![], Some(ProtocolError::Quotes)),
                "{line}"
            ),
            Some(words) => {
                let words = words.iter().map(|word| word.as_bytes().to_vec());
                assert_eq!((all, error), (vec![words.collect()], None), "{line}");
            }
        }
    }
}

#[test]
fn a_byte_of_zero_is_a_byte() {
    let (all, _) = read(b"a\0b \"\\x00\"\n", &RequestLimits::default());
    assert_eq!(all, [[&b"a\0b"[..], b"\0"]]);
}
