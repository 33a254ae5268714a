//! The errors of building a filter with exceptions.

use crate::{Hashed, Kind, PlanError};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// How many keys an error lists.
pub(super) const MAX_NAMED_KEYS: usize = 10;

/// How many bytes of a key are shown.
const SHOWN_BYTES: usize = 60;

/// Why a filter with exceptions cannot be built. Keys are shown as text, with other bytes escaped and long ones truncated; hashes
/// as hexadecimal numbers.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Bloom, Excepting, ExceptingError};
/// let base = Bloom::from_keys(["a"], 0.01)?;
/// let error = Excepting::build(base, ["a"], ["a"]).unwrap_err();
/// assert!(matches!(error, ExceptingError::Conflict { count: 1, .. }));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ExceptingError {
    /// Keys are positives and exceptions. (For lists of hashes: equal hashes.)
    Conflict {
        /// The first ten, in the order of the exceptions.
        first: Vec<String>,
        /// The number of such keys.
        count: u64,
    },
    /// A positive and an exception are different keys with the same 64-bit hash.
    Collision {
        /// The first ten, in the order of the exceptions: the positive and the exception.
        first: Vec<[String; 2]>,
        /// The number of such hashes.
        count: u64,
    },
    /// The base filter does not contain all positives.
    NotInBase {
        /// The first ten.
        first: Vec<String>,
        /// The number of missing positives, duplicates included.
        count: u64,
    },
    /// Filters of this kind cannot have exceptions.
    UnsupportedBase {
        /// The kind.
        kind: Kind,
    },
    /// The layer cannot be planned or built.
    Plan(PlanError),
}

impl From<PlanError> for ExceptingError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl fmt::Display for ExceptingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict { first, count } => {
                write!(f, "positives and exceptions have {count} keys in common, ")?;
                write_names(f, first, *count)?;
                f.write_str(": remove them from one of the lists, or choose OnConflict::Block or OnConflict::Allow")
            }
            Self::Collision { first, count } => {
                write!(
                    f,
                    "{count} hashes belong to a positive and to an exception that is another key, "
                )?;
                let pairs = first.iter().map(|[positive, exception]| {
                    format!("positive {positive} and exception {exception}")
                });
                write_names(f, &pairs.collect::<Vec<_>>(), *count)?;
                f.write_str(": build the base filter with another secret key, or choose OnConflict::Block or OnConflict::Allow")
            }
            Self::NotInBase { first, count } => {
                write!(f, "the base filter lacks {count} of the positives, ")?;
                write_names(f, first, *count)?;
                f.write_str(": insert all positives into it first")
            }
            Self::UnsupportedBase { kind } => write!(
                f,
                "a {kind} filter cannot have exceptions: use one that never loses keys and has no exceptions yet"
            ),
            Self::Plan(error) => error.fmt(f),
        }
    }
}

fn write_names(f: &mut fmt::Formatter<'_>, first: &[String], count: u64) -> fmt::Result {
    f.write_str(&first.join(", "))?;
    match count.saturating_sub(first.len() as u64) {
        0 => Ok(()),
        more => write!(f, " and {more} more"),
    }
}

impl core::error::Error for ExceptingError {}

/// A printable form of an item.
pub(super) fn display_name(item: &impl Hashed, hash: u64) -> String {
    let Some(bytes) = item.key_bytes() else {
        return format!("{hash:#018x}");
    };
    let cut = bytes.len().min(SHOWN_BYTES);
    // Does not cut a character of up to four bytes.
    let goes_on = |at: &usize| bytes.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
    let cut = (0..=cut).rev().take(4).find(goes_on).unwrap_or(cut);
    let shown = &bytes[..cut];
    let mut name = String::from("\"");
    for chunk in shown.utf8_chunks() {
        name.extend(chunk.valid().escape_debug());
        name.extend(chunk.invalid().escape_ascii().map(char::from));
    }
    name.push('"');
    if cut < bytes.len() {
        name += "...";
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyHash;

    #[test]
    fn keys_are_shown_as_escaped_truncated_text() {
        assert_eq!(display_name(&"caf\u{e9}\n\"", 0), "\"caf\u{e9}\\n\\\"\"");
        assert_eq!(display_name(&[0xFF_u8, b'a', 0], 0), "\"\\xffa\\0\"");
        let long = "x".repeat(1000);
        assert_eq!(display_name(&long, 0), format!("\"{}\"...", "x".repeat(60)));
        let accents = format!("x{}", "\u{e9}".repeat(1000));
        assert_eq!(
            display_name(&accents, 0),
            format!("\"x{}\"...", "\u{e9}".repeat(29))
        );
        assert_eq!(display_name(&KeyHash::from_u64(1), 1), "0x0000000000000001");
    }
}
