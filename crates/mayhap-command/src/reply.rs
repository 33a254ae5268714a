//! Answers, and how the two protocols of Redis spell them.

use std::borrow::Cow;
use std::io::Write;

/// The version of Redis's protocol that a connection has agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Protocol {
    /// What every client speaks.
    #[default]
    Resp2,
    /// With booleans, maps and a null of its own.
    Resp3,
}

/// What a command answers.
#[derive(Clone, PartialEq, Debug)]
pub enum Reply {
    /// A word, such as `OK`.
    Simple(Cow<'static, str>),
    /// A whole number.
    Integer(i64),
    /// Yes or no; 1 or 0 in the older protocol.
    Boolean(bool),
    /// A number with a fraction; its digits as bytes in the older protocol.
    Double(f64),
    /// Bytes.
    Bulk(Vec<u8>),
    /// Nothing.
    Null,
    /// Several answers.
    Array(Vec<Self>),
    /// Several answers, all of them yes or no.
    Booleans(Vec<bool>),
    /// Names and values: a map, or all of them in a row in the older protocol.
    Fields(Vec<(&'static str, Self)>),
    /// One of such fields: a map of one, or the value alone in an array in the older protocol.
    Field(&'static str, Box<Self>),
    /// A key that was not put in, of several: -1, or no in the newer protocol.
    Refused,
    /// An error, its code included where it has one.
    Error(Cow<'static, str>),
}

impl Reply {
    /// `OK`.
    pub const OK: Self = Self::Simple(Cow::Borrowed("OK"));

    /// An error whose words never change.
    pub const fn error(text: &'static str) -> Self {
        Self::Error(Cow::Borrowed(text))
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        matches!(self, Self::Error(_))
    }

    /// Writes the reply as a protocol spells it.
    pub fn write(&self, protocol: Protocol, out: &mut Vec<u8>) {
        let is_new = protocol == Protocol::Resp3;
        match self {
            Self::Simple(text) => line(out, b'+', text),
            Self::Error(text) => line(out, b'-', text),
            Self::Integer(number) => line(out, b':', number),
            Self::Boolean(yes) => out.extend_from_slice(boolean(*yes, protocol)),
            Self::Refused if is_new => out.extend_from_slice(b"#f\r\n"),
            Self::Refused => out.extend_from_slice(b":-1\r\n"),
            Self::Double(number) if is_new => line(out, b',', number),
            Self::Double(number) => bulk(out, number.to_string().as_bytes()),
            Self::Bulk(bytes) => bulk(out, bytes),
            Self::Null => out.extend_from_slice(if is_new { b"_\r\n" } else { b"$-1\r\n" }),
            Self::Array(replies) => {
                line(out, b'*', replies.len());
                for reply in replies {
                    reply.write(protocol, out);
                }
            }
            Self::Booleans(answers) => {
                line(out, b'*', answers.len());
                out.reserve(4 * answers.len());
                for &answer in answers {
                    out.extend_from_slice(boolean(answer, protocol));
                }
            }
            Self::Fields(fields) => {
                if is_new {
                    line(out, b'%', fields.len());
                } else {
                    line(out, b'*', 2 * fields.len());
                }
                for (name, value) in fields {
                    line(out, b'+', name);
                    value.write(protocol, out);
                }
            }
            Self::Field(name, value) => {
                if is_new {
                    line(out, b'%', 1);
                    line(out, b'+', name);
                } else {
                    line(out, b'*', 1);
                }
                value.write(protocol, out);
            }
        }
    }
}

/// Most replies are of this kind, and formatting would take longer than the question.
fn boolean(yes: bool, protocol: Protocol) -> &'static [u8; 4] {
    match (protocol, yes) {
        (Protocol::Resp3, true) => b"#t\r\n",
        (Protocol::Resp3, false) => b"#f\r\n",
        (Protocol::Resp2, true) => b":1\r\n",
        (Protocol::Resp2, false) => b":0\r\n",
    }
}

fn line(out: &mut Vec<u8>, kind: u8, text: impl std::fmt::Display) {
    out.push(kind);
    // A vector takes all bytes.
    let _ = write!(out, "{text}\r\n");
}

fn bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    line(out, b'$', bytes.len());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}
