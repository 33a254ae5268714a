//! The only format without the feature `formats`.

use std::fmt;

/// A format of bytes. The feature `formats` adds those of other systems.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Format {
    /// mayhap's own files.
    Mayhap,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mayhap => f.write_str("mayhap"),
        }
    }
}
