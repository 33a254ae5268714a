//! Writes replies in the two versions of Redis's protocol. Filter commands and a host's own commands use the same writer.

use crate::Reply;
use std::fmt::Display;
use std::io::Write;

/// The version of Redis's protocol that a connection uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Protocol {
    /// The version that every client supports.
    #[default]
    Resp2,
    /// With booleans, maps and a null of its own.
    Resp3,
}

/// Appends replies to a buffer.
#[derive(Debug)]
pub struct RespWriter<'o> {
    /// The buffer.
    pub bytes: &'o mut Vec<u8>,
    /// The protocol of the connection.
    pub protocol: Protocol,
}

impl RespWriter<'_> {
    fn line(&mut self, kind: u8, text: impl Display) {
        self.bytes.push(kind);
        // Writing to a vector cannot fail.
        let _ = write!(self.bytes, "{text}\r\n");
    }

    fn is_resp3(&self) -> bool {
        self.protocol == Protocol::Resp3
    }

    /// `OK`.
    pub fn ok(&mut self) {
        self.bytes.extend_from_slice(b"+OK\r\n");
    }

    /// A short text without line breaks.
    pub fn simple(&mut self, text: &str) {
        self.line(b'+', text);
    }

    /// An error, its code first. Line breaks become spaces.
    pub fn error(&mut self, text: &str) {
        self.line(b'-', text.replace(['\r', '\n'], " "));
    }

    /// An integer.
    pub fn integer(&mut self, number: i64) {
        self.line(b':', number);
    }

    /// A count; one that is too large for the protocol is written as the largest integer.
    pub fn count(&mut self, number: u64) {
        self.integer(i64::try_from(number).unwrap_or(i64::MAX));
    }

    /// A boolean; 1 or 0 in RESP2. Most replies are of this kind, and formatting would take longer than the lookup.
    pub fn boolean(&mut self, value: bool) {
        let text: &[u8; 4] = match (self.protocol, value) {
            (Protocol::Resp3, true) => b"#t\r\n",
            (Protocol::Resp3, false) => b"#f\r\n",
            (Protocol::Resp2, true) => b":1\r\n",
            (Protocol::Resp2, false) => b":0\r\n",
        };
        self.bytes.extend_from_slice(text);
    }

    /// A floating-point number; its digits as bytes in RESP2.
    pub fn double(&mut self, number: f64) {
        if self.is_resp3() {
            self.line(b',', number);
        } else {
            self.bulk(number.to_string());
        }
    }

    /// Bytes.
    pub fn bulk(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.line(b'$', bytes.len());
        self.bytes.extend_from_slice(bytes);
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// An array of bytes.
    pub fn bulks<B: AsRef<[u8]>>(&mut self, items: &[B]) {
        self.array(items.len());
        for item in items {
            self.bulk(item);
        }
    }

    /// Text for people: a verbatim string in RESP3.
    pub fn text(&mut self, text: &str) {
        if self.is_resp3() {
            self.line(b'=', text.len() + 4);
            let _ = write!(self.bytes, "txt:{text}\r\n");
        } else {
            self.bulk(text);
        }
    }

    /// No value.
    pub fn null(&mut self) {
        let null: &[u8] = if self.is_resp3() {
            b"_\r\n"
        } else {
            b"$-1\r\n"
        };
        self.bytes.extend_from_slice(null);
    }

    /// No value, where an array is expected.
    pub fn null_array(&mut self) {
        let null: &[u8] = if self.is_resp3() {
            b"_\r\n"
        } else {
            b"*-1\r\n"
        };
        self.bytes.extend_from_slice(null);
    }

    /// The header of an array; its elements are written next.
    pub fn array(&mut self, length: usize) {
        self.line(b'*', length);
    }

    /// The header of a set; an array in RESP2.
    pub fn set(&mut self, length: usize) {
        self.line(if self.is_resp3() { b'~' } else { b'*' }, length);
    }

    /// The header of a map; in RESP2 an array of names and values.
    pub fn map(&mut self, pairs: usize) {
        if self.is_resp3() {
            self.line(b'%', pairs);
        } else {
            self.line(b'*', 2 * pairs);
        }
    }

    /// The reply of a filter command.
    pub fn reply(&mut self, reply: &Reply) {
        match reply {
            Reply::Simple(text) => self.simple(text),
            Reply::Error(text) => self.line(b'-', text),
            Reply::Integer(number) => self.integer(*number),
            Reply::Boolean(value) => self.boolean(*value),
            Reply::NotAdded if self.is_resp3() => self.boolean(false),
            Reply::NotAdded => self.integer(-1),
            Reply::Double(number) => self.double(*number),
            Reply::Bulk(bytes) => self.bulk(bytes),
            Reply::Null => self.null(),
            Reply::Array(replies) => {
                self.array(replies.len());
                for reply in replies {
                    self.reply(reply);
                }
            }
            Reply::Booleans(values) => {
                self.array(values.len());
                self.bytes.reserve(4 * values.len());
                for &value in values {
                    self.boolean(value);
                }
            }
            Reply::Fields(fields) => {
                self.map(fields.len());
                for (name, value) in fields {
                    self.simple(name);
                    self.reply(value);
                }
            }
            Reply::Field(name, value) => {
                if self.is_resp3() {
                    self.map(1);
                    self.simple(name);
                } else {
                    self.array(1);
                }
                self.reply(value);
            }
        }
    }
}
