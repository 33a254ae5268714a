//! Replies, independent of the protocol that they are sent in.

use crate::{Protocol, RespWriter};
use std::borrow::Cow;

/// The reply of a filter command.
#[derive(Clone, PartialEq, Debug)]
pub enum Reply {
    /// A short text, such as `OK`.
    Simple(Cow<'static, str>),
    /// An integer.
    Integer(i64),
    /// A boolean; 1 or 0 in RESP2.
    Boolean(bool),
    /// A floating-point number; its digits as bytes in RESP2.
    Double(f64),
    /// Bytes.
    Bulk(Vec<u8>),
    /// No value.
    Null,
    /// Several replies.
    Array(Vec<Self>),
    /// Several booleans.
    Booleans(Vec<bool>),
    /// Names and values: a map, or in RESP2 an array of names and values.
    Fields(Vec<(&'static str, Self)>),
    /// One of such fields: a map of one, or in RESP2 an array of the value.
    Field(&'static str, Box<Self>),
    /// One of several items was not added: -1, or false in RESP3.
    NotAdded,
    /// An error, its code first if it has one.
    Error(Cow<'static, str>),
}

impl Reply {
    /// `OK`.
    pub const OK: Self = Self::Simple(Cow::Borrowed("OK"));

    /// An error with a fixed text.
    pub const fn error(text: &'static str) -> Self {
        Self::Error(Cow::Borrowed(text))
    }

    /// Appends the reply to a buffer, in the given protocol.
    pub fn write(&self, protocol: Protocol, bytes: &mut Vec<u8>) {
        RespWriter { bytes, protocol }.reply(self);
    }
}
