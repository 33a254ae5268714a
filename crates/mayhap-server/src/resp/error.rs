//! What is told to a client that does not keep to the protocol, in Redis's words.

use std::fmt;

/// Why a connection cannot go on: what follows in it makes no sense any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The number of words is none, or too large.
    WordCount,
    /// It is too large for somebody without a password.
    WordCountBeforeAuth,
    /// The length of a word is none, or too large.
    WordLength,
    /// It is too large for somebody without a password.
    WordLengthBeforeAuth,
    /// Something else where a word of an array begins.
    NoWord(u8),
    /// The line with the number of words does not end.
    LongCount,
    /// The line with the length of a word does not end.
    LongLength,
    /// A line of words does not end.
    LongLine,
    /// A quote was not closed, or something follows the closing one.
    Quotes,
    /// All words together are too long.
    LongRequest,
    /// A line of an HTTP request: a web page may have sent it, and what follows would be commands.
    Http,
}

impl ProtocolError {
    /// Appends it as a reply.
    pub fn write(self, out: &mut Vec<u8>) {
        out.push(b'-');
        match self {
            // The byte as it came, but no end of the line.
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
