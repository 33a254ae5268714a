//! Writes the replies of the server's own commands.

use mayhap_command::{Protocol, Reply};
use std::fmt::Display;
use std::io::Write;

/// The output buffer and the protocol.
pub(crate) struct ReplyWriter<'o> {
    pub(crate) bytes: &'o mut Vec<u8>,
    pub(crate) protocol: Protocol,
}

impl ReplyWriter<'_> {
    fn line(&mut self, kind: u8, text: impl Display) {
        self.bytes.push(kind);
        // Writing to a vector does not fail.
        let _ = write!(self.bytes, "{text}\r\n");
    }

    fn is_new(&self) -> bool {
        self.protocol == Protocol::Resp3
    }

    pub(crate) fn ok(&mut self) {
        self.bytes.extend_from_slice(b"+OK\r\n");
    }

    pub(crate) fn simple(&mut self, text: &str) {
        self.line(b'+', text);
    }

    /// An error; line breaks in it are replaced.
    pub(crate) fn error(&mut self, text: &str) {
        self.line(b'-', text.replace(['\r', '\n'], " "));
    }

    pub(crate) fn integer(&mut self, number: i64) {
        self.line(b':', number);
    }

    pub(crate) fn count(&mut self, number: u64) {
        self.integer(i64::try_from(number).unwrap_or(i64::MAX));
    }

    pub(crate) fn bulk(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.line(b'$', bytes.len());
        self.bytes.extend_from_slice(bytes);
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// Text for people: a verbatim string in RESP3.
    pub(crate) fn text(&mut self, text: &str) {
        if self.is_new() {
            self.line(b'=', text.len() + 4);
            let _ = write!(self.bytes, "txt:{text}\r\n");
        } else {
            self.bulk(text);
        }
    }

    pub(crate) fn null(&mut self) {
        let null: &[u8] = if self.is_new() { b"_\r\n" } else { b"$-1\r\n" };
        self.bytes.extend_from_slice(null);
    }

    pub(crate) fn null_array(&mut self) {
        let null: &[u8] = if self.is_new() { b"_\r\n" } else { b"*-1\r\n" };
        self.bytes.extend_from_slice(null);
    }

    pub(crate) fn array(&mut self, length: usize) {
        self.line(b'*', length);
    }

    pub(crate) fn set(&mut self, length: usize) {
        self.line(if self.is_new() { b'~' } else { b'*' }, length);
    }

    /// The head of a map of `pairs`, which follow.
    pub(crate) fn map(&mut self, pairs: usize) {
        if self.is_new() {
            self.line(b'%', pairs);
        } else {
            self.line(b'*', 2 * pairs);
        }
    }

    pub(crate) fn bulks<B: AsRef<[u8]>>(&mut self, items: &[B]) {
        self.array(items.len());
        for item in items {
            self.bulk(item);
        }
    }

    pub(crate) fn reply(&mut self, reply: &Reply) {
        reply.write(self.protocol, self.bytes);
    }
}
