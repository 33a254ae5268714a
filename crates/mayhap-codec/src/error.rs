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
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a {} filter: at byte {}: ", self.format, self.offset)?;
        match &self.problem {
            Problem::Cut { what, needed, left } => write!(
                f,
                "{what} takes {needed} bytes and {left} are left: the file is cut off, or of another format"
            ),
            Problem::Trailing { bytes } => write!(
                f,
                "{bytes} bytes follow its end: the file is damaged, or of another format"
            ),
            Problem::Value {
                field,
                value,
                accepted,
            } => write!(f, "{field} is {value}, and it can be {accepted}"),
            Problem::Checksum => f.write_str("the checksum is wrong: the file is damaged"),
            Problem::KeyOutside { id } => write!(
                f,
                "its hash key is kept outside the file: give the key whose id is {id:016x}"
            ),
            Problem::TooLarge { bytes, limit } => write!(
                f,
                "it takes {bytes} bytes of memory and {limit} are allowed: raise the limit if you trust the file"
            ),
            Problem::Plan(error) => error.fmt(f),
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
