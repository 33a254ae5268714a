//! The errors of decoding and encoding.

use crate::Format;
use mayhap_core::PlanError;
use std::fmt;

/// Bytes that are not a filter of a format.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodeError {
    /// The format that they were decoded as.
    pub format: Format,
    /// The byte offset of the problem.
    pub offset: u64,
    /// The problem.
    pub problem: Problem,
}

/// What is wrong with bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum Problem {
    /// They end before the filter does.
    Cut {
        /// What was read.
        what: &'static str,
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that are left.
        left: u64,
    },
    /// There are bytes after the filter's end.
    Trailing {
        /// How many.
        bytes: u64,
    },
    /// A field has a value that filters of this format do not have.
    Value {
        /// The field.
        field: &'static str,
        /// Its value, as a number.
        value: i128,
        /// The values that it can have.
        accepted: &'static str,
    },
    /// A checksum does not match its bytes.
    Checksum,
    /// The filter's secret key is not in the file, and was not given.
    KeyOutside {
        /// The id of the key, see [`native::key_id`](crate::native::key_id).
        id: u64,
    },
    /// The filter is larger than the limits allow.
    TooLarge {
        /// Bytes that it needs.
        bytes: u64,
        /// Bytes that are allowed.
        limit: u64,
    },
    /// The core rejects the shape.
    Plan(PlanError),
    /// Damage that cannot be repaired without losing keys.
    Irreparable {
        /// What is damaged, in the plural.
        what: &'static str,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { format, offset, .. } = self;
        match &self.problem {
            Problem::Cut { what, needed, left } => write!(
                f,
                "not a {format} filter: {what} at byte {offset} needs {needed} bytes and {left} are left: the file is truncated, or has another format"
            ),
            Problem::Trailing { bytes } => write!(
                f,
                "not a {format} filter: {bytes} bytes follow its end at byte {offset}: the file is damaged, or has another format"
            ),
            Problem::Value {
                field,
                value,
                accepted,
            } => write!(
                f,
                "not a {format} filter: {field} at byte {offset} is {value}, expected {accepted}"
            ),
            Problem::Checksum => write!(f, "damaged: bad checksum at byte {offset}"),
            Problem::KeyOutside { id } => write!(
                f,
                "the secret key is not stored in the file: open it with the key whose id is {id:016x}"
            ),
            Problem::TooLarge { bytes, limit } => write!(
                f,
                "the filter needs {bytes} bytes of memory and the limit is {limit}: raise the limit if you trust the file"
            ),
            Problem::Plan(error) => write!(f, "not a {format} filter: at byte {offset}: {error}"),
            Problem::Irreparable { what } => {
                write!(f, "{what} cannot be repaired; rebuild from the keys")
            }
        }
    }
}

impl std::error::Error for DecodeError {}

/// A filter that a format cannot represent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EncodeError {
    /// The format.
    pub format: Format,
    /// Why not, and what to do.
    pub reason: &'static str,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot be written as {}: {}", self.format, self.reason)
    }
}

impl std::error::Error for EncodeError {}
