//! Inline commands: words separated by blanks, with optional quotes.
//!
//! Between double quotes, `\n`, `\r`, `\t`, `\b`, `\a` and `\x41` have their meaning in C, and any other byte after a backslash
//! stands for itself; between single quotes only `\'` is special. A closing quote ends the word. Redis stops at a zero byte and
//! waits for a line that never ends; here it is an ordinary byte.

use super::ProtocolError;

/// Appends the words to `unquoted` and returns their ranges.
pub(super) fn split(
    line: &[u8],
    unquoted: &mut Vec<u8>,
    mut tell: impl FnMut(usize, usize),
) -> Result<(), ProtocolError> {
    let mut rest = line;
    loop {
        let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
        rest = rest.get(blanks..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(());
        }
        let start = unquoted.len();
        rest = word(rest, unquoted)?;
        tell(start, unquoted.len());
    }
}

/// Parses one word and returns the rest.
fn word<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Result<&'a [u8], ProtocolError> {
    loop {
        rest = match rest {
            // Not at every kind of blank: Redis includes the others in the word.
            [] | [b' ' | b'\t' | b'\n' | b'\r', ..] => return Ok(rest),
            [b'"', rest @ ..] => return closed(double_quoted(rest, word)?),
            [b'\'', rest @ ..] => return closed(single_quoted(rest, word)?),
            [byte, rest @ ..] => {
                word.push(*byte);
                rest
            }
        };
    }
}

fn double_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Result<&'a [u8], ProtocolError> {
    loop {
        let byte;
        (byte, rest) = match rest {
            [] => return Err(ProtocolError::Quotes),
            [b'"', rest @ ..] => return Ok(rest),
            [b'\\', b'x', high, low, rest @ ..]
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                (hex(*high) << 4 | hex(*low), rest)
            }
            [b'\\', byte, rest @ ..] => (unescaped(*byte), rest),
            [byte, rest @ ..] => (*byte, rest),
        };
        word.push(byte);
    }
}

fn single_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Result<&'a [u8], ProtocolError> {
    loop {
        let byte;
        (byte, rest) = match rest {
            [] => return Err(ProtocolError::Quotes),
            [b'\'', rest @ ..] => return Ok(rest),
            [b'\\', b'\'', rest @ ..] => (b'\'', rest),
            [byte, rest @ ..] => (*byte, rest),
        };
        word.push(byte);
    }
}

/// Only a blank or the end may follow a closing quote.
fn closed(rest: &[u8]) -> Result<&[u8], ProtocolError> {
    match rest {
        [byte, ..] if !is_blank(*byte) => Err(ProtocolError::Quotes),
        _ => Ok(rest),
    }
}

fn unescaped(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'a' => 7,
        other => other,
    }
}

fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20).wrapping_sub(b'a').wrapping_add(10) & 15,
    }
}

/// HTTP methods. A request line has a method, a target and the version.
const METHODS: [&[u8]; 9] = [
    b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"CONNECT", b"OPTIONS", b"TRACE", b"PATCH",
];

/// Whether a line belongs to an HTTP request. Web pages can send requests to ports of their visitor's machine, with commands in
/// the body. GET is also a Redis command, so there the version decides; `POST` and `Host:` are not commands.
pub(super) fn is_http<'a>(mut words: impl Iterator<Item = &'a [u8]>) -> bool {
    let Some(first) = words.next() else {
        return false;
    };
    if first.eq_ignore_ascii_case(b"POST") || first.eq_ignore_ascii_case(b"Host:") {
        return true;
    }
    let is_method = METHODS
        .iter()
        .any(|method| first.eq_ignore_ascii_case(method));
    let is_version = |word: &[u8]| {
        word.get(..5)
            .is_some_and(|start| start.eq_ignore_ascii_case(b"HTTP/"))
    };
    is_method && words.nth(1).is_some_and(is_version)
}

/// Whitespace as in C: includes the vertical tab.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}
