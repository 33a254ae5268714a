//! Reads snapshots and logs in order and passes their contents to the caller.

use super::directory::{Damage, FoundFile};
use super::log_reader::{self, LogReader};
use super::replay::{Extent, FolderReplay};
use super::snapshot_reader::{self, SnapshotReader};
use super::{Recovered, ReplayError};
use crate::disk::Disk;
use crate::error::{DamageKind, JournalError};
use crate::file_reader::read_exact_at;
use crate::format::FileHeader;

impl<D: Disk, T> FolderReplay<'_, D, T>
where
    T: FnMut(Recovered<'_>) -> Result<(), ReplayError>,
{
    pub(super) fn read_snapshot(&mut self, snapshot: &FoundFile) -> Result<(), JournalError> {
        let io = || JournalError::io(snapshot.name.as_str());
        let header = (snapshot.header()).map_err(|damage| damage.into_error(false))?;
        self.summary.last_time = self.summary.last_time.max(header.time);
        let file = snapshot.open(self.disk)?;
        let mut reader = SnapshotReader::new(self.disk, &file, header).map_err(io())?;
        self.summary.snapshot = Some(snapshot.generation);
        self.snapshot_bytes = reader.length();
        loop {
            match reader.step().map_err(io())? {
                snapshot_reader::SnapshotStep::Entry { lsn, body } => {
                    self.highest = self.highest.max(lsn);
                    let told = (self.take)(Recovered::Entry { lsn, body });
                    told.map_err(|reason| JournalError::Replay {
                        file: snapshot.name.clone(),
                        offset: reader.offset(),
                        reason,
                    })?;
                }
                snapshot_reader::SnapshotStep::LargeEntry {
                    lsn,
                    offset,
                    length,
                } => {
                    self.highest = self.highest.max(lsn);
                    let read = |at: u64, bytes: &mut [u8]| {
                        read_exact_at(self.disk, &file, offset + at, bytes)
                    };
                    let told = (self.take)(Recovered::LargeEntry {
                        lsn,
                        length,
                        read: &read,
                    });
                    told.map_err(|reason| JournalError::Replay {
                        file: snapshot.name.clone(),
                        offset,
                        reason,
                    })?;
                }
                snapshot_reader::SnapshotStep::End(synced) => {
                    self.synced = self.synced.max(synced);
                    break;
                }
                snapshot_reader::SnapshotStep::Damage(problem) => {
                    self.accept_loss(Some(snapshot.damage(reader.offset(), problem)))?;
                    break;
                }
            }
        }
        self.summary.entries = reader.count();
        Ok(())
    }

    /// Replays a log up to its end or the first damage.
    pub(super) fn read_log(
        &mut self,
        log: &FoundFile,
    ) -> Result<Result<Extent, Damage>, JournalError> {
        let io = || JournalError::io(log.name.as_str());
        let header = match self.check_header(log) {
            Ok(header) => header,
            Err(damage) => return Ok(Err(damage)),
        };
        self.last = header.first - 1;
        self.summary.last_time = self.summary.last_time.max(header.time);
        self.synced = self.synced.max(header.follows);
        let file = log.open(self.disk)?;
        let mut reader = LogReader::new(self.disk, &file, &header).map_err(io())?;
        loop {
            match reader.step().map_err(io())? {
                log_reader::LogStep::Record { lsn, time, body } => {
                    self.last = lsn;
                    self.summary.records += 1;
                    self.summary.last_time = self.summary.last_time.max(time);
                    let told = (self.take)(Recovered::Record { lsn, time, body });
                    told.map_err(|reason| JournalError::Replay {
                        file: log.name.clone(),
                        offset: reader.offset(),
                        reason,
                    })?;
                }
                log_reader::LogStep::End(problem) => {
                    self.highest = self.highest.max(self.last);
                    return Ok(Ok(Extent {
                        offset: reader.offset(),
                        length: reader.length(),
                        synced_bytes: reader.synced_bytes(),
                        continues_in: reader.continues_in,
                        problem,
                    }));
                }
            }
        }
    }

    fn check_header(&self, log: &FoundFile) -> Result<FileHeader, Damage> {
        let header = *log.header()?;
        if self.journal != Some(header.journal) {
            return Err(log.damage(0, DamageKind::Journal));
        }
        let is_base = self.summary.snapshot == Some(log.generation);
        // After an accepted loss, record numbers that somebody may have seen are skipped.
        let is_next = if is_base {
            header.first == self.last + 1
        } else {
            header.follows == self.last && (!header.is_beginning || header.first == 1)
        };
        if is_next {
            Ok(header)
        } else {
            let (expected, found) = (self.last + 1, header.follows + 1);
            Err(log.damage(0, DamageKind::Sequence { expected, found }))
        }
    }
}
