//! Protocol errors, with Redis's messages.

use std::fmt;

/// Why a connection must be closed: the rest of its input cannot be parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The number of words is invalid or too large.
    WordCount,
    /// Too large for an unauthenticated client.
    WordCountBeforeAuth,
    /// The length of a word is invalid or too large.
    WordLength,
    /// Too large for an unauthenticated client.
    WordLengthBeforeAuth,
    /// Not a bulk string where one is expected.
    NoWord(u8),
    /// The line with the number of words does not end.
    LongCount,
    /// The line with the length of a word does not end.
    LongLength,
    /// An inline command is too long.
    LongLine,
    /// Unbalanced quotes.
    Quotes,
    /// The request is too long.
    LongRequest,
    /// A line of an HTTP request: a web page may have sent it, with commands in its body.
    Http,
}

impl ProtocolError {
    /// Appends the error reply.
    pub fn write(self, out: &mut Vec<u8>) {
        out.push(b'-');
        match self {
            // The byte, unless it would end the line.
            Self::NoWord(byte) => {
                let byte = if matches!(byte, b'\r' | b'\n') {
                    b' '
                } else {
                    byte
                };
                out.extend_from_slice(b"ERR Protocol error: expected '$', got '");
                out.extend_from_slice(&[byte, b'\'']);
            }
            _ => out.extend_from_slice(self.to_string().as_bytes()),
        }
        out.extend_from_slice(b"\r\n");
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ERR Protocol error: ")?;
        formatter.write_str(match self {
            Self::WordCount => "invalid multibulk length",
            Self::WordCountBeforeAuth => "unauthenticated multibulk length",
            Self::WordLength => "invalid bulk length",
            Self::WordLengthBeforeAuth => "unauthenticated bulk length",
            Self::NoWord(byte) => {
                return write!(formatter, "expected '$', got '{}'", byte.escape_ascii());
            }
            Self::LongCount => "too big mbulk count string",
            Self::LongLength => "too big bulk count string",
            Self::LongLine => "too big inline request",
            Self::Quotes => "unbalanced quotes in request",
            Self::LongRequest => "too big request",
            Self::Http => "this is HTTP; send commands with a Redis client, and ask for metrics at the address of --http",
        })
    }
}

impl std::error::Error for ProtocolError {}
