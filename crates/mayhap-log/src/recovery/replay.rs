//! One recovery, from the list of files to a log that can be written.

use super::directory::{BaseSnapshot, Damage, FoundFile};
use super::{Recovered, Recovery, RecoverySummary, ReplayError};
use crate::Lsn;
use crate::disk::Disk;
use crate::error::{DamageKind, JournalError};
use crate::file_name::{self, FileKind};
use crate::snapshot::remove_older;
use crate::writer::{Gauges, WriterStart};

pub(super) struct FolderReplay<'a, D: Disk, T> {
    pub(super) disk: &'a D,
    pub(super) accept_loss: bool,
    pub(super) take: T,
    pub(super) summary: RecoverySummary,
    pub(super) journal: Option<u64>,
    /// The last record that was replayed, or that the snapshot contains.
    pub(super) last: Lsn,
    /// The highest record number seen anywhere.
    pub(super) highest: Lsn,
    /// The last record that is known to have been synced.
    pub(super) synced: Lsn,
    pub(super) snapshot_bytes: u64,
}

/// The valid part of a log.
pub(super) struct Extent {
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) synced_bytes: u64,
    pub(super) continues_in: u64,
    pub(super) problem: Option<DamageKind>,
}

impl<D: Disk, T> FolderReplay<'_, D, T>
where
    T: FnMut(Recovered<'_>) -> Result<(), ReplayError>,
{
    pub(super) fn run(
        &mut self,
        base: BaseSnapshot,
        next_generation: u64,
    ) -> Result<Recovery<D>, JournalError> {
        self.summary.ignored = base.ignored;
        let mut logs = base.logs;
        self.check_start(base.snapshot.as_ref(), &logs)?;
        if let Some(snapshot) = &base.snapshot {
            self.read_snapshot(snapshot)?;
        }
        // All logs before this one are valid to their end.
        let mut at = 0;
        let mut extent = None;
        let mut damage = None;
        while let Some(log) = logs.get(at) {
            match self.read_log(log)? {
                Err(found) => damage = Some(found),
                Ok(read) => {
                    damage = self.classify_end(log, &read, logs.get(at + 1))?;
                    extent = Some(read);
                }
            }
            if damage.is_some() || at + 1 == logs.len() {
                break;
            }
            at += 1;
            extent = None;
        }
        if logs.is_empty() {
            damage = base.snapshot.as_ref().map(log_is_missing);
        }
        let rest = logs.split_off(logs.len().min(at + 1));
        let older_bytes = logs.iter().rev().skip(1).map(|log| log.length).sum();
        let last_log = logs.pop();
        let (file, offset, next_generation) = match (damage, last_log, extent) {
            (None, Some(log), Some(extent)) => {
                let file = self.repair_end(&log, &extent)?;
                (file, extent.offset, next_generation)
            }
            (damage, log, extent) => {
                self.accept_loss(damage)?;
                let keep = extent.map(|extent| extent.offset);
                self.continue_in_new_log(log, keep, &rest, next_generation)?
            }
        };
        (self.disk.sync_folder()).map_err(JournalError::io("syncing the folder"))?;
        if let Some(snapshot) = &base.snapshot {
            remove_older(self.disk, snapshot.generation);
        }
        self.summary.last_lsn = self.highest;
        let gauges = Gauges {
            log_bytes: offset,
            older_log_bytes: older_bytes,
            snapshot_bytes: self.snapshot_bytes,
            ..Gauges::default()
        };
        Ok(Recovery {
            opening: WriterStart {
                file,
                offset,
                next_generation,
                next: self.highest + 1,
                time: self.summary.last_time,
                journal: self.journal.unwrap_or_default(),
            },
            gauges,
            summary: std::mem::take(&mut self.summary),
        })
    }

    /// Replay starts at the first log or at a snapshot. Without either, there is no loss that could be accepted.
    fn check_start(
        &mut self,
        snapshot: Option<&FoundFile>,
        logs: &[FoundFile],
    ) -> Result<(), JournalError> {
        let refuse = |damage: Damage| damage.into_error(false);
        if let Some(snapshot) = snapshot {
            let header = snapshot.header().map_err(refuse)?;
            self.journal = Some(header.journal);
            self.last = header.first - 1;
        } else if let Some(log) = logs.first() {
            let header = log.header().map_err(refuse)?;
            self.journal = Some(header.journal);
            if header.first != 1 {
                let problem = DamageKind::Sequence {
                    expected: 1,
                    found: header.first,
                };
                return Err(log.damage(0, problem).into_error(false));
            }
        }
        self.highest = self.last;
        Ok(())
    }
}

/// A snapshot without the log that goes with it.
fn log_is_missing(snapshot: &FoundFile) -> Damage {
    let file = file_name::complete(FileKind::Log, snapshot.generation);
    snapshot.damage(snapshot.length, DamageKind::Missing { file })
}
