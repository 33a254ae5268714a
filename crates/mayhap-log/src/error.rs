//! What can go wrong.

use crate::{Lsn, MAX_BODY_BYTES};
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

/// The log takes nothing more, because the disk failed it. A snapshot that is finished heals it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogBroken {
    reason: Arc<str>,
}

impl LogBroken {
    pub(crate) fn new(what: &str, error: &io::Error) -> Self {
        Self {
            reason: format!("{what}: {error}").into(),
        }
    }

    /// What the disk said, and to what.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for LogBroken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the log is broken ({}): make room or change the disk, then take a snapshot",
            self.reason
        )
    }
}

impl Error for LogBroken {}

/// Why a record was not appended. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AppendError {
    /// The log takes nothing more.
    Broken(LogBroken),
    /// The body is longer than [`MAX_BODY_BYTES`].
    TooLong {
        /// Its bytes.
        length: u64,
    },
    /// There is no memory for it.
    OutOfMemory {
        /// The bytes of its body.
        length: u64,
    },
}

impl fmt::Display for AppendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(broken) => broken.fmt(f),
            Self::TooLong { length } => write!(
                f,
                "a record of {length} bytes is too long for the log: at most {MAX_BODY_BYTES}"
            ),
            Self::OutOfMemory { length } => {
                write!(f, "no memory for a record of {length} bytes")
            }
        }
    }
}

impl Error for AppendError {}

/// Why there is no new snapshot. The old one and the logs are as they were.
#[derive(Debug)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Another one is being taken.
    Running,
    /// The disk failed.
    Io {
        /// What was done.
        what: &'static str,
        /// What the disk said.
        error: io::Error,
    },
    /// The log broke, before or while the snapshot was taken. The next one heals it.
    Broken(LogBroken),
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Running => write!(f, "a snapshot is being taken already: wait for its end"),
            Self::Io { what, error } => write!(f, "no snapshot, {what}: {error}"),
            Self::Broken(broken) => broken.fmt(f),
        }
    }
}

impl Error for SnapshotError {}

/// Why whoever is told of what was recovered does not take it.
pub type ReplayError = Box<dyn Error + Send + Sync>;

/// What is wrong with a place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DamageKind {
    /// The file begins with other bytes.
    Magic,
    /// A version that this program does not know.
    Version(u16),
    /// The bytes are not those that were written.
    Checksum,
    /// The header has fields that cannot be.
    Header,
    /// The header names another generation than the file's name.
    Generation {
        /// The header's.
        found: u64,
    },
    /// The file belongs to another folder.
    Journal,
    /// Longer than anything that is written.
    Length(u64),
    /// A record's number that is beyond all that are given.
    Number(u64),
    /// An unknown kind of piece.
    Kind(u32),
    /// The file ends before the piece does.
    Truncated {
        /// Bytes that the piece takes.
        needed: u64,
        /// Bytes that are there.
        left: u64,
    },
    /// Other records than those that come next.
    Sequence {
        /// The record that comes next.
        expected: Lsn,
        /// The one that is there.
        found: Lsn,
    },
    /// The number of entries is another.
    Count {
        /// As many as the end says.
        expected: u64,
        /// As many as there are.
        found: u64,
    },
    /// Bytes behind the end.
    TrailingBytes,
    /// The log ends, but more records had been synced.
    MissingRecords {
        /// The last record that is there.
        last: Lsn,
        /// The last that had been synced.
        synced: Lsn,
    },
    /// A file that should be there is not.
    Missing {
        /// Its name.
        file: String,
    },
}

impl fmt::Display for DamageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => write!(f, "not a file of this kind"),
            Self::Version(version) => write!(f, "version {version}, of which only 1 is known"),
            Self::Checksum => write!(f, "the checksum differs"),
            Self::Header => write!(f, "a header that is never written"),
            Self::Generation { found } => write!(f, "the header says generation {found}"),
            Self::Journal => write!(f, "the file belongs to another folder"),
            Self::Length(length) => write!(f, "a length of {length} bytes"),
            Self::Number(number) => write!(f, "a record's number of {number}"),
            Self::Kind(kind) => write!(f, "a piece of kind {kind}"),
            Self::Truncated { needed, left } => {
                write!(f, "cut off: {needed} bytes needed, {left} there")
            }
            Self::Sequence { expected, found } => {
                write!(f, "record {found} where {expected} comes next")
            }
            Self::Count { expected, found } => {
                write!(f, "{found} entries instead of {expected}")
            }
            Self::TrailingBytes => write!(f, "bytes behind the end"),
            Self::MissingRecords { last, synced } => {
                write!(f, "the last record is {last}, but {synced} had been synced")
            }
            Self::Missing { file } => write!(f, "{file} is missing"),
        }
    }
}

/// Why a journal was not opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum JournalError {
    /// The disk failed.
    Io {
        /// The file, or what was done with the folder.
        file: String,
        /// What the disk said.
        error: io::Error,
    },
    /// Bytes are damaged that had been safe.
    Damaged {
        /// The file.
        file: String,
        /// Where in the file.
        offset: u64,
        /// What is wrong there.
        problem: DamageKind,
        /// Whether there is something before the damage that can be gone on with.
        can_be_accepted: bool,
    },
    /// Whoever is told does not take it.
    Replay {
        /// The file.
        file: String,
        /// Behind what was refused.
        offset: u64,
        /// Why.
        reason: ReplayError,
    },
}

impl JournalError {
    pub(crate) fn io(file: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let file = file.into();
        move |error| Self::Io { file, error }
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { file, error } => write!(f, "{file}: {error}"),
            Self::Damaged {
                file,
                offset,
                problem,
                can_be_accepted,
            } => {
                write!(f, "{file} is damaged at byte {offset} ({problem}): ")?;
                if matches!(problem, DamageKind::Version(_)) {
                    write!(f, "open it with the program that wrote it")
                } else if *can_be_accepted {
                    write!(
                        f,
                        "restore the folder from a copy, or accept the loss of what comes after"
                    )
                } else {
                    write!(f, "restore the folder from a copy")
                }
            }
            Self::Replay {
                file,
                offset,
                reason,
            } => write!(f, "{file}, before byte {offset}: {reason}"),
        }
    }
}

impl Error for JournalError {}
