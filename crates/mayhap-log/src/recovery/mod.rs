//! Recovery: replays the files of a folder and leaves a log that can be appended to.
//!
//! `directory.rs` lists the files and chooses where replay starts, `replay.rs` goes through them: `snapshot_reader.rs`
//! and `log_reader.rs` parse the files, `read.rs` passes their contents to the caller, `log_end.rs` classifies the end
//! of the last log, and `repair.rs` prepares the files for writing. A torn end that was never acknowledged is cut off;
//! if synced records are missing, the log is damaged.

mod directory;
mod log_end;
mod log_reader;
mod read;
mod repair;
mod replay;
mod snapshot_reader;

use crate::Lsn;
use crate::disk::Disk;
use crate::error::{DamageKind, JournalError, ReplayError};
use crate::file_name::{self, FileKind};
use crate::format::{FileHeader, HEADER_BYTES};
use crate::switch::{create_log, take_generation};
use crate::writer::{Gauges, WriterStart};
use replay::FolderReplay;
use std::hash::{BuildHasher, RandomState};
use std::io;

/// Something to replay.
#[derive(Clone, Copy)]
pub enum Recovered<'a> {
    /// An entry of the snapshot.
    Entry {
        /// The last record whose effect it contains.
        lsn: Lsn,
        /// The body as it was written.
        body: &'a [u8],
    },
    /// An entry of the snapshot that is too large to read at once. Its checksum has been verified.
    LargeEntry {
        /// The last record whose effect it contains.
        lsn: Lsn,
        /// The length of the body.
        length: u64,
        /// Reads bytes of the body at an offset; they must exist.
        read: &'a dyn Fn(u64, &mut [u8]) -> io::Result<()>,
    },
    /// A record of a log.
    Record {
        /// Its number.
        lsn: Lsn,
        /// The time as it was appended.
        time: u64,
        /// The body as it was appended.
        body: &'a [u8],
    },
}

/// What was found when a journal was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoverySummary {
    /// The generation of the snapshot that was read.
    pub snapshot: Option<u64>,
    /// Entries in it.
    pub entries: u64,
    /// Records that were replayed.
    pub records: u64,
    /// The last record number in use.
    pub last_lsn: Lsn,
    /// The latest time of all records ever appended, including those before the snapshot.
    pub last_time: u64,
    /// The torn end of the log that was cut off: it had not been acknowledged.
    pub torn: Option<TornEnd>,
    /// Damage that the caller accepted.
    pub loss: Vec<Loss>,
    /// Incomplete snapshots that were not needed.
    pub ignored: Vec<String>,
}

/// A torn end of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornEnd {
    /// The file.
    pub file: String,
    /// The new end of the file.
    pub offset: u64,
    /// Bytes that were cut off.
    pub bytes: u64,
}

/// Accepted damage: nothing after it is replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The file.
    pub file: String,
    /// The start of the damage.
    pub offset: u64,
    /// The kind of damage.
    pub problem: DamageKind,
}

/// A recovered journal, ready for writing.
pub(crate) struct Recovery<D: Disk> {
    pub(crate) opening: WriterStart<D>,
    pub(crate) gauges: Gauges,
    pub(crate) summary: RecoverySummary,
}

pub(crate) fn recover<D: Disk>(
    disk: &D,
    accept_loss: bool,
    take: impl FnMut(Recovered<'_>) -> Result<(), ReplayError>,
) -> Result<Recovery<D>, JournalError> {
    let contents = directory::list_files(disk)?;
    let next_generation = contents.next_generation;
    if contents.logs.is_empty() && contents.snapshots.is_empty() {
        return begin(disk, next_generation);
    }
    let base = contents.choose(disk)?;
    let mut replay = FolderReplay {
        disk,
        accept_loss,
        take,
        summary: RecoverySummary::default(),
        journal: None,
        last: 0,
        highest: 0,
        synced: 0,
        snapshot_bytes: 0,
    };
    replay.run(base, next_generation)
}

/// Starts a new journal in an empty folder.
fn begin<D: Disk>(disk: &D, mut next_generation: u64) -> Result<Recovery<D>, JournalError> {
    let generation =
        take_generation(&mut next_generation).map_err(JournalError::io("naming a new log"))?;
    let header = FileHeader {
        is_beginning: true,
        generation,
        follows: 0,
        first: 1,
        // `RandomState` takes its keys from the randomness of the system.
        journal: RandomState::new().hash_one(generation),
        time: 0,
    };
    let file = create_log(disk, &header).map_err(|error| {
        JournalError::io(file_name::complete(FileKind::Log, generation))(error.into_io())
    })?;
    Ok(Recovery {
        opening: WriterStart {
            file,
            offset: HEADER_BYTES as u64,
            next_generation,
            next: 1,
            time: 0,
            journal: header.journal,
        },
        gauges: Gauges {
            log_bytes: HEADER_BYTES as u64,
            ..Gauges::default()
        },
        summary: RecoverySummary::default(),
    })
}
