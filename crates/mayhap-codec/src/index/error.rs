//! What is wrong with an index.

use crate::{DecodeError, Problem};
use std::{fmt, io};

/// An index that cannot be used.
#[derive(Debug)]
pub enum IndexError {
    /// The file cannot be read.
    Io(io::Error),
    /// It does not begin as an index.
    NotAnIndex,
    /// Its bytes are damaged, cut off or forged.
    Damaged(DecodeError),
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot be read ({error})"),
            Self::NotAnIndex => write!(f, "is not an index of files"),
            Self::Damaged(DecodeError {
                offset, problem, ..
            }) => {
                write!(f, "is damaged: ")?;
                match problem {
                    Problem::Checksum => write!(f, "bad checksum at byte {offset}"),
                    Problem::Cut { what, needed, left } => write!(
                        f,
                        "{what} at byte {offset} needs {needed} bytes and {left} are left"
                    ),
                    Problem::Value {
                        field,
                        value,
                        accepted,
                    } => write!(
                        f,
                        "{field} at byte {offset} is {value}, expected {accepted}"
                    ),
                    Problem::Trailing { bytes } => {
                        write!(f, "{bytes} bytes too many at byte {offset}")
                    }
                    Problem::Plan(error) => write!(f, "at byte {offset}: {error}"),
                    // The others are about secret keys, limits and repairs of single filters.
                    Problem::KeyOutside { .. }
                    | Problem::TooLarge { .. }
                    | Problem::Irreparable { .. } => write!(f, "at byte {offset}"),
                }
            }
        }
    }
}

impl std::error::Error for IndexError {}

impl From<io::Error> for IndexError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<DecodeError> for IndexError {
    fn from(error: DecodeError) -> Self {
        Self::Damaged(error)
    }
}
