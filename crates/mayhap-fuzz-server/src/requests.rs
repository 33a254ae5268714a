//! Requests of a connection: the parser returns the same requests however the bytes are split.

use mayhap_server::resp::{ParseResult, Parser, ProtocolError, RequestLimits};

type Words = Vec<Vec<u8>>;

/// Limits that small inputs reach as well.
const TIGHT: RequestLimits = RequestLimits {
    max_words: 4,
    max_bulk: 20,
    max_inline: 32,
    max_request: 64,
    is_before_auth: true,
};

pub(crate) fn requests(bytes: &[u8]) {
    for limits in [RequestLimits::default(), TIGHT] {
        let at_once = read(bytes, &limits, usize::MAX);
        for piece in [1, 2, 7, 64] {
            let in_pieces = read(bytes, &limits, piece);
            assert_eq!(in_pieces, at_once, "in pieces of {piece}");
        }
        for words in at_once.0 {
            check_round_trip(&words);
        }
    }
}

/// All requests, and the error that they end with.
fn read(bytes: &[u8], limits: &RequestLimits, piece: usize) -> (Vec<Words>, Option<ProtocolError>) {
    let mut parser = Parser::default();
    let mut all = Vec::new();
    let (mut start, mut end) = (0, 0);
    loop {
        let input = &bytes[start..end];
        let parsed = parser.parse(input, limits);
        // A word that was sent takes six bytes at least, and eight to remember.
        let most = 256 + 4 * bytes.len();
        assert!(parser.size_bytes() <= most, "{} bytes", parser.size_bytes());
        match parsed {
            Ok(ParseResult::Complete { consumed }) => {
                assert!((1..=input.len()).contains(&consumed));
                let words = parser.words(input).map(<[u8]>::to_vec);
                all.push(words.collect());
                start += consumed;
            }
            Ok(ParseResult::Incomplete { at_least }) => {
                assert!(at_least > 0);
                if end == bytes.len() {
                    return (all, None);
                }
                end = end.saturating_add(piece).min(bytes.len());
            }
            Err(error) => return (all, Some(error)),
        }
    }
}

/// Words that are sent as an array are the same words.
fn check_round_trip(words: &Words) {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    let (all, error) = read(&bytes, &RequestLimits::default(), usize::MAX);
    assert_eq!(error, None);
    assert_eq!(all, std::slice::from_ref(words));
}
