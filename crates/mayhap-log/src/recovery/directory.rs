//! Lists the files of the folder and chooses the snapshot to start from.

use crate::disk::Disk;
use crate::error::{DamageKind, JournalError};
use crate::file_name::{self, FileKind};
use crate::format::{FileHeader, HEADER_BYTES};
use crate::recovery::snapshot_reader::{SnapshotReader, SnapshotStep};
use std::io;

/// A file in the folder. It is opened only when it is read, because there may be more logs than the process can open.
pub(crate) struct FoundFile {
    pub(crate) kind: FileKind,
    pub(crate) generation: u64,
    pub(crate) name: String,
    pub(crate) length: u64,
    pub(crate) header: Result<FileHeader, DamageKind>,
}

impl FoundFile {
    pub(crate) fn open<D: Disk>(&self, disk: &D) -> Result<D::File, JournalError> {
        disk.open(&self.name)
            .map_err(JournalError::io(self.name.as_str()))
    }

    pub(crate) fn damage(&self, offset: u64, problem: DamageKind) -> Damage {
        Damage {
            file: self.name.clone(),
            offset,
            problem,
        }
    }

    pub(crate) fn header(&self) -> Result<&FileHeader, Damage> {
        (self.header.as_ref()).map_err(|problem| self.damage(0, problem.clone()))
    }

    /// Whether this log was created for a snapshot that failed. Nothing can have been written to it.
    fn is_idle(&self) -> bool {
        self.length == HEADER_BYTES as u64
            && (self.header.as_ref()).is_ok_and(|header| header.is_beginning && header.first > 1)
    }
}

/// The position and kind of damage.
#[derive(Clone, Debug)]
pub(crate) struct Damage {
    pub(crate) file: String,
    pub(crate) offset: u64,
    pub(crate) problem: DamageKind,
}

impl Damage {
    pub(crate) fn into_error(self, can_be_accepted: bool) -> JournalError {
        JournalError::Damaged {
            file: self.file,
            offset: self.offset,
            problem: self.problem,
            can_be_accepted,
        }
    }
}

/// The files of the folder.
pub(crate) struct DirectoryContents {
    /// In the order of generations.
    pub(crate) logs: Vec<FoundFile>,
    pub(crate) snapshots: Vec<FoundFile>,
    /// A generation that no file has used.
    pub(crate) next_generation: u64,
}

pub(crate) fn list_files<D: Disk>(disk: &D) -> Result<DirectoryContents, JournalError> {
    let names = disk
        .list()
        .map_err(JournalError::io("listing the folder"))?;
    let mut contents = DirectoryContents {
        logs: Vec::new(),
        snapshots: Vec::new(),
        next_generation: 1,
    };
    for name in names {
        let Some(parsed) = file_name::parse(&name) else {
            continue;
        };
        contents.next_generation = contents.next_generation.max(parsed.generation + 1);
        if parsed.is_temporary {
            // If the removal fails, the file is harmless: its generation is not used again.
            let _ = disk.remove(&name);
            continue;
        }
        let found = read_header(disk, parsed.kind, parsed.generation, &name)
            .map_err(JournalError::io(name))?;
        match parsed.kind {
            FileKind::Log => contents.logs.push(found),
            FileKind::Snapshot => contents.snapshots.push(found),
        }
    }
    contents.logs.sort_by_key(|found| found.generation);
    contents.snapshots.sort_by_key(|found| found.generation);
    Ok(contents)
}

fn read_header<D: Disk>(
    disk: &D,
    kind: FileKind,
    generation: u64,
    name: &str,
) -> io::Result<FoundFile> {
    let file = disk.open(name)?;
    let length = disk.length(&file)?;
    let mut bytes = [0; HEADER_BYTES];
    let mut filled = 0;
    while filled < HEADER_BYTES {
        match disk.read_at(&file, filled as u64, &mut bytes[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    let header = if filled < HEADER_BYTES {
        Err(DamageKind::Truncated {
            needed: HEADER_BYTES as u64,
            left: filled as u64,
        })
    } else {
        FileHeader::decode(kind, &bytes)
    };
    let header = header.and_then(|header| {
        if header.generation == generation {
            Ok(header)
        } else {
            let found = header.generation;
            Err(DamageKind::Generation { found })
        }
    });
    Ok(FoundFile {
        kind,
        generation,
        name: name.into(),
        length,
        header,
    })
}

/// Where replay starts: at a snapshot, or at the first log.
pub(crate) struct BaseSnapshot {
    pub(crate) snapshot: Option<FoundFile>,
    /// The logs to replay.
    pub(crate) logs: Vec<FoundFile>,
    /// Incomplete snapshots that are not needed.
    pub(crate) ignored: Vec<String>,
}

impl DirectoryContents {
    /// Chooses the newest complete snapshot if there is something older to start from, otherwise the newest one as it
    /// is.
    pub(crate) fn choose<D: Disk>(mut self, disk: &D) -> Result<BaseSnapshot, JournalError> {
        let mut ignored = Vec::new();
        let snapshot = loop {
            let Some(newest) = self.snapshots.pop() else {
                break None;
            };
            if !self.has_older_than(newest.generation) || is_complete(disk, &newest)? {
                break Some(newest);
            }
            ignored.push(newest.name);
        };
        let from = snapshot.as_ref().map_or(0, |snapshot| snapshot.generation);
        self.logs.retain(|log| log.generation >= from);
        // The first log is required in any case: without it and without a snapshot, the folder would look new.
        let first = self.logs.first().map(|log| log.generation);
        (self.logs).retain(|log| Some(log.generation) == first || !log.is_idle());
        Ok(BaseSnapshot {
            logs: self.logs,
            snapshot,
            ignored,
        })
    }

    /// Whether replay can start before this generation: at an older snapshot whose log exists, or at the first log.
    fn has_older_than(&self, generation: u64) -> bool {
        let is_base = |log: &FoundFile| {
            let is_first = (log.header.as_ref()).is_ok_and(|header| header.first == 1);
            let has_snapshot = self
                .snapshots
                .iter()
                .any(|snapshot| snapshot.generation == log.generation);
            log.generation < generation && (is_first || has_snapshot)
        };
        self.logs.iter().any(is_base)
    }
}

fn is_complete<D: Disk>(disk: &D, snapshot: &FoundFile) -> Result<bool, JournalError> {
    let Ok(header) = &snapshot.header else {
        return Ok(false);
    };
    let file = snapshot.open(disk)?;
    let read = || -> io::Result<bool> {
        let mut entries = SnapshotReader::new(disk, &file, header)?;
        loop {
            match entries.step()? {
                SnapshotStep::Entry { .. } | SnapshotStep::LargeEntry { .. } => {}
                SnapshotStep::End(_) => return Ok(true),
                SnapshotStep::Damage(_) => return Ok(false),
            }
        }
    };
    read().map_err(JournalError::io(snapshot.name.as_str()))
}
