//! From the files of a folder to what they say, and to a log that goes on where they end.
//!
//! `found.rs` looks what is there and where replay begins, `replay.rs` goes through it: `entries.rs` and `log.rs` take the files apart,
//! `read.rs` tells of what is in them, `end.rs` says what the end of the last log means, and `mend.rs` leaves the files so that writing
//! can go on. Bytes that nobody was promised are cut off; if more had been synced than is there, it is damage.

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

/// Something that is to be replayed.
#[derive(Clone, Copy)]
pub enum Recovered<'a> {
    /// An entry of the snapshot.
    Entry {
        /// The last record that it knows of.
        lsn: Lsn,
        /// As it was given.
        body: &'a [u8],
    },
    /// An entry of the snapshot that is too long to be in memory as a whole. Its checksum is right.
    LargeEntry {
        /// The last record that it knows of.
        lsn: Lsn,
        /// Its bytes.
        length: u64,
        /// Reads bytes from a place in it on, which must be there.
        read: &'a dyn Fn(u64, &mut [u8]) -> io::Result<()>,
    },
    /// A record of a log.
    Record {
        /// Its number.
        lsn: Lsn,
        /// As it was given.
        time: u64,
        /// As it was given.
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
    /// The last number that is taken; the next record gets the next one.
    pub last_lsn: Lsn,
    /// The latest time of all records that there ever were, also of those that a snapshot has made superfluous.
    pub last_time: u64,
    /// The end of the log was cut off: it had been written by somebody who was not told yet that it is safe.
    pub torn: Option<TornEnd>,
    /// Damage that was accepted.
    pub loss: Vec<Loss>,
    /// Snapshots that are not whole and could be done without.
    pub ignored: Vec<String>,
}

/// An end of a log that was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornEnd {
    /// The file.
    pub file: String,
    /// Where it ends now.
    pub offset: u64,
    /// Bytes that were cut off.
    pub bytes: u64,
}

/// Damage that was accepted: what comes after it is not replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The file.
    pub file: String,
    /// Where the damage begins.
    pub offset: u64,
    /// What is wrong there.
    pub problem: DamageKind,
}

/// A journal that can be gone on with.
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

/// A folder that has nothing of ours yet.
fn begin<D: Disk>(disk: &D, mut next_generation: u64) -> Result<Recovery<D>, JournalError> {
    let generation =
        take_generation(&mut next_generation).map_err(JournalError::io("naming a new log"))?;
    let header = FileHeader {
        is_beginning: true,
        generation,
        follows: 0,
        first: 1,
        // The standard library's keys for hash maps come from the system's randomness.
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
