//! The errors of the log.

use crate::{Lsn, MAX_BODY_BYTES};
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;

/// The log accepts no more records, because a write or sync failed. A complete snapshot repairs it.
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

    /// The error of the disk, and the operation that failed.
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
    /// The log accepts no more records.
    Broken(LogBroken),
    /// The body is longer than [`MAX_BODY_BYTES`].
    TooLong {
        /// The length of the body.
        length: u64,
    },
    /// There is not enough memory.
    OutOfMemory {
        /// The length of the body.
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

/// Why there is no new snapshot. The old one and the logs are unchanged.
#[derive(Debug)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Another snapshot is running.
    Running,
    /// The disk failed.
    Io {
        /// The operation.
        what: &'static str,
        /// The error of the disk.
        error: io::Error,
    },
    /// The log broke, before or during the snapshot. The next snapshot repairs it.
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

/// Why the caller rejected a recovered record or entry.
pub type ReplayError = Box<dyn Error + Send + Sync>;

/// What is wrong at one position of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DamageKind {
    /// The file starts with other bytes.
    Magic,
    /// This program does not know the version.
    Version(u16),
    /// The checksum does not match.
    Checksum,
    /// The header has impossible fields.
    Header,
    /// The header and the file name have different generations.
    Generation {
        /// The generation in the header.
        found: u64,
    },
    /// The file belongs to another folder.
    Journal,
    /// A length beyond the maximum.
    Length(u64),
    /// A record number beyond the maximum.
    Number(u64),
    /// An unknown kind of item.
    Kind(u32),
    /// The file ends before the item does.
    Truncated {
        /// The length of the item.
        needed: u64,
        /// The bytes left in the file.
        left: u64,
    },
    /// A record is missing or repeated.
    Sequence {
        /// The number of the next record.
        expected: Lsn,
        /// The number that was found.
        found: Lsn,
    },
    /// The number of entries does not match the end of the snapshot.
    Count {
        /// The number in the end of the snapshot.
        expected: u64,
        /// The number of entries that were read.
        found: u64,
    },
    /// Bytes after the end.
    TrailingBytes,
    /// The log ends before the last record that was synced.
    MissingRecords {
        /// The last record of the file.
        last: Lsn,
        /// The last record that was synced.
        synced: Lsn,
    },
    /// A file is missing.
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

/// Why a journal could not be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum JournalError {
    /// The disk failed.
    Io {
        /// The file, or the operation on the folder.
        file: String,
        /// The error of the disk.
        error: io::Error,
    },
    /// Durable bytes are damaged.
    Damaged {
        /// The file.
        file: String,
        /// The offset in the file.
        offset: u64,
        /// The kind of damage.
        problem: DamageKind,
        /// Whether there is valid data before the damage to continue with.
        can_be_accepted: bool,
    },
    /// The caller rejected a record or entry.
    Replay {
        /// The file.
        file: String,
        /// The end of the rejected record or entry.
        offset: u64,
        /// The caller's error.
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
