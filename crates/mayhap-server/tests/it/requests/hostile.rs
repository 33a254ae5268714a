//! Requests that are none, or are too much.

use super::{array, read};
use mayhap_server::resp::ProtocolError::{self, *};
use mayhap_server::resp::{ParseResult, Parser, RequestLimits};

const BEFORE: RequestLimits = RequestLimits::BEFORE_AUTH;

fn error(bytes: &[u8], limits: &RequestLimits) -> Option<ProtocolError> {
    read(bytes, limits).1
}

#[test]
fn malformed_requests_get_redis_errors() {
    for (bytes, expected, text) in [
        ("*1000000000\r\n", WordCount, "invalid multibulk length"),
        ("*1048577\r\n", WordCount, "invalid multibulk length"),
        ("*2147483648\r\n", WordCount, "invalid multibulk length"),
        (
            "*9223372036854775808\r\n",
            WordCount,
            "invalid multibulk length",
        ),
        (
            "*99999999999999999999999\r\n",
            WordCount,
            "invalid multibulk length",
        ),
        ("*\r\n", WordCount, "invalid multibulk length"),
        ("*1x\r\n", WordCount, "invalid multibulk length"),
        ("* 1\r\n", WordCount, "invalid multibulk length"),
        ("*+1\r\n", WordCount, "invalid multibulk length"),
        ("*01\r\n", WordCount, "invalid multibulk length"),
        ("*-0\r\n", WordCount, "invalid multibulk length"),
        ("*1\n$4\nPING\n\r\n", WordCount, "invalid multibulk length"),
        ("*1\r\n$536870913\r\n", WordLength, "invalid bulk length"),
        ("*1\r\n$-1\r\n", WordLength, "invalid bulk length"),
        ("*1\r\n$\r\n", WordLength, "invalid bulk length"),
        ("*1\r\n$4 \r\n", WordLength, "invalid bulk length"),
        (
            "*1\r\n$18446744073709551616\r\n",
            WordLength,
            "invalid bulk length",
        ),
        (
            "*1\r\n*1\r\n$4\r\nPING\r\n",
            NoWord(b'*'),
            "expected '$', got '*'",
        ),
        ("*1\r\n:1\r\n", NoWord(b':'), "expected '$', got ':'"),
        (
            "*2\r\n$1\r\na\r\nb\r\n",
            NoWord(b'b'),
            "expected '$', got 'b'",
        ),
        ("ECHO \"a\r\n", Quotes, "unbalanced quotes in request"),
    ] {
        let found = error(bytes.as_bytes(), &RequestLimits::default());
        assert_eq!(found, Some(expected), "{bytes:?}");
        let mut reply = Vec::new();
        expected.write(&mut reply);
        let reply = String::from_utf8(reply).unwrap();
        assert_eq!(reply, format!("-ERR Protocol error: {text}\r\n"));
        assert_eq!(format!("-{expected}\r\n"), reply);
    }
}

#[test]
fn a_reply_is_one_line_whatever_was_sent() {
    for byte in 0..=u8::MAX {
        let mut reply = Vec::new();
        NoWord(byte).write(&mut reply);
        let line = reply.strip_suffix(b"\r\n").unwrap();
        assert!(!line.contains(&b'\r') && !line.contains(&b'\n'));
    }
}

#[test]
fn unauthenticated_requests_are_small() {
    for (bytes, expected) in [
        ("*11\r\n", WordCountBeforeAuth),
        ("*1\r\n$16385\r\n", WordLengthBeforeAuth),
    ] {
        assert_eq!(error(bytes.as_bytes(), &BEFORE), Some(expected));
        assert_eq!(error(bytes.as_bytes(), &RequestLimits::default()), None);
    }
    let long = format!(
        "*10\r\n{}",
        format!("$16000\r\n{}\r\n", "x".repeat(16_000)).repeat(10)
    );
    assert_eq!(error(long.as_bytes(), &BEFORE), Some(LongRequest));
    assert_eq!(error(long.as_bytes(), &RequestLimits::default()), None);
}

#[test]
fn the_largest_that_is_allowed_is_allowed() {
    for (bytes, limits) in [
        ("*1048576\r\n", RequestLimits::default()),
        ("*1\r\n$536870912\r\n", RequestLimits::default()),
        ("*10\r\n$16384\r\n", BEFORE),
    ] {
        assert_eq!(error(bytes.as_bytes(), &limits), None, "{bytes:?}");
    }
    // Two words of half a GiB are one byte too long with what is around them.
    let limits = RequestLimits {
        max_request: 40,
        ..RequestLimits::default()
    };
    assert_eq!(error(b"*2\r\n$4\r\nECHO\r\n$19\r\n", &limits), None);
    assert_eq!(
        error(b"*2\r\n$4\r\nECHO\r\n$20\r\n", &limits),
        Some(LongRequest)
    );
}

#[test]
fn lines_that_do_not_end_are_refused() {
    let limits = RequestLimits::default();
    for (start, expected) in [("", LongLine), ("*", LongCount), ("*1\r\n$", LongLength)] {
        for end in ["", "\r\n"] {
            let most = limits.max_inline - usize::from(!start.is_empty());
            let long = format!("{start}{}{end}", "1".repeat(most + 1));
            assert_eq!(error(long.as_bytes(), &limits), Some(expected), "{start:?}");
        }
        let shorter = format!("{start}{}", "1".repeat(limits.max_inline - 1));
        assert_eq!(error(shorter.as_bytes(), &limits), None, "{start:?}");
    }
}

/// As in Redis: two bytes end a line or a word, whatever the second is.
#[test]
fn a_carriage_return_is_enough_for_a_number() {
    let limits = RequestLimits::default();
    let (all, error) = read(b"*1\rx$4\ryPINGzz", &limits);
    assert_eq!((all, error), (vec![vec![b"PING".to_vec()]], None));
    assert_eq!(read(b"*1\r", &limits), (vec![], None));
}

#[test]
fn declared_sizes_allocate_nothing() {
    let limits = RequestLimits::default();
    for bytes in [
        "*1048576\r\n$536870912\r\n",
        "*1048576\r\n",
        "*1\r\n$536870912\r\nabc",
    ] {
        let mut parser = Parser::default();
        let parsed = parser.parse(bytes.as_bytes(), &limits);
        assert!(
            matches!(parsed, Ok(ParseResult::Incomplete { .. })),
            "{bytes:?}"
        );
        assert_eq!(parser.size_bytes(), 0, "{bytes:?}");
    }
    let parsed = Parser::default().parse(b"*1\r\n$536870912\r\nabc", &limits);
    let at_least = (512 << 20) + 2 - 3;
    assert_eq!(parsed, Ok(ParseResult::Incomplete { at_least }));
}

/// A web page can send these to a port of the machine that shows it, with commands in the body.
#[test]
fn http_is_rejected_and_similar_commands_are_not() {
    let limits = RequestLimits::default();
    for line in [
        "POST / HTTP/1.1",
        "post",
        "POST /key/FLUSHALL",
        "Host: 127.0.0.1:6380",
        "host:",
        "GET / HTTP/1.1",
        "get /?a=b HTTP/1.0",
        "GET /?'a' HTTP/1.1",
        "PUT / HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "CONNECT 127.0.0.1:6380 HTTP/1.1",
        "DELETE / http/2",
    ] {
        let bytes = format!("{line}\r\n\r\nFLUSHALL\r\n");
        let (all, error) = read(bytes.as_bytes(), &limits);
        assert_eq!((all.len(), error), (0, Some(Http)), "{line}");
    }
    for line in [
        "GET /",
        "GET HTTP/1.1",
        "SET key HTTP/1.1",
        "ECHO POST",
        "GET key value",
        "hostile: x",
    ] {
        let bytes = format!("{line}\r\n");
        assert_eq!(error(bytes.as_bytes(), &limits), None, "{line}");
    }
    // As an array it is nothing that a browser sends.
    let words: [&[u8]; 3] = [b"GET", b"/", b"HTTP/1.1"];
    assert_eq!(error(&array(&words), &limits), None);
}
