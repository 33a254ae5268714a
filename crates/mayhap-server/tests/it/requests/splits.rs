//! A pipeline is the same however it arrives.

use super::random::{damaged_array, line};
use super::{array, read};
use mayhap_server::resp::{ParseResult, Parser, RequestLimits};
use mayhap_testkit::Random;

fn pipeline() -> Vec<u8> {
    [
        array(&[b"BF.MADD", b"key", b"", b"a\r\nb", b"\0\xff"]),
        b"*0\r\n\r\n*-1\r\nPING\r\n".to_vec(),
        b"ECHO \"a b\" 'c'\n".to_vec(),
        array(&[b"PING"]),
        array(&[&b"x".repeat(300), &b"y".repeat(20)]),
    ]
    .concat()
}

#[test]
fn words_are_what_was_sent() {
    let (all, error) = read(&pipeline(), &RequestLimits::default());
    let long = [b"x".repeat(300), b"y".repeat(20)];
    let expected: [&[&[u8]]; 8] = [
        &[b"BF.MADD", b"key", b"", b"a\r\nb", b"\0\xff"],
        &[],
        &[],
        &[],
        &[b"PING"],
        &[b"ECHO", b"a b", b"c"],
        &[b"PING"],
        &[&long[0], &long[1]],
    ];
    assert_eq!(all, expected);
    assert_eq!(error, None);
}

#[test]
fn a_request_split_at_any_byte_parses_the_same() {
    let limits = RequestLimits::default();
    let bytes = pipeline();
    let at_once = read(&bytes, &limits).0;
    for cut in 0..=bytes.len() {
        // The parser sees the bytes up to the cut until it wants more, and all of them from then on.
        let mut parser = Parser::default();
        let (mut start, mut end) = (0, cut);
        let mut all: Vec<Vec<Vec<u8>>> = Vec::new();
        loop {
            let input = &bytes[start..end];
            match parser.parse(input, &limits).unwrap() {
                ParseResult::Complete { consumed } => {
                    all.push(parser.words(input).map(<[u8]>::to_vec).collect());
                    start += consumed;
                }
                ParseResult::Incomplete { at_least } if end < bytes.len() => {
                    assert!(
                        end + at_least <= bytes.len(),
                        "more than there is, cut at {cut}"
                    );
                    end = bytes.len();
                }
                ParseResult::Incomplete { .. } => break,
            }
        }
        assert_eq!(all, at_once, "cut at {cut}");
        assert_eq!(start, bytes.len());
    }
}

#[test]
fn random_pipelines_hold_the_law() {
    let rounds = if std::env::var_os("MAYHAP_SOAK").is_some() {
        1_000_000
    } else {
        10_000
    };
    let mut random = Random::new(1);
    for _ in 0..rounds {
        let mut bytes = Vec::new();
        for _ in 0..=random.below(4) {
            if random.below(2) == 0 {
                bytes.extend(damaged_array(&mut random, &[b"ECHO"]));
            } else {
                bytes.extend(line(&mut random));
                bytes.push(b'\n');
            }
        }
        mayhap_fuzz_server::run("requests", &bytes);
    }
}

/// A parser that began anew with every byte would look at 2 * 10^12 bytes.
#[test]
fn many_words_byte_by_byte_are_read_once() {
    let words = vec![&b"word"[..]; 200_000];
    let bytes = array(&words);
    let limits = RequestLimits::default();
    let mut parser = Parser::default();
    for end in 0..bytes.len() {
        let parsed = parser.parse(&bytes[..end], &limits);
        assert!(
            matches!(parsed, Ok(ParseResult::Incomplete { .. })),
            "{end}: {parsed:?}"
        );
    }
    let consumed = bytes.len();
    assert_eq!(
        parser.parse(&bytes, &limits),
        Ok(ParseResult::Complete { consumed })
    );
    assert!(parser.words(&bytes).eq(words));
}
