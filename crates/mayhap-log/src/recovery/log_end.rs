//! Decides whether the end of a log is a clean end, a torn write or damage, and how writing continues.

use super::directory::{Damage, FoundFile};
use super::replay::{Extent, FolderReplay};
use super::{Loss, TornEnd, log_reader, repair};
use crate::disk::Disk;
use crate::error::{DamageKind, JournalError};
use crate::file_name::{self, FileKind};
use crate::format::{FileHeader, HEADER_BYTES};
use crate::switch::{create_log, take_generation};

impl<D: Disk, T> FolderReplay<'_, D, T> {
    /// Classifies the end of a log, given the log after it.
    pub(super) fn classify_end(
        &mut self,
        log: &FoundFile,
        extent: &Extent,
        next: Option<&FoundFile>,
    ) -> Result<Option<Damage>, JournalError> {
        let header = match log.header() {
            Ok(header) => header,
            Err(damage) => return Ok(Some(damage)),
        };
        let promised = if let Some(next) = next {
            // Bytes after the last record were never acknowledged: the next log was started when this one was synced.
            // If a loss was accepted, the next log knows better than the snapshot.
            (next.header.as_ref()).map_or(self.last, |header| header.follows)
        } else if extent.offset < extent.length {
            let file = log.open(self.disk)?;
            let behind = log_reader::synced_past(self.disk, &file, header.seed(), extent.offset);
            (behind.map_err(JournalError::io(log.name.as_str()))?).max(self.synced)
        } else {
            self.synced
        };
        self.synced = self.synced.max(promised);
        if promised > self.last {
            let problem = (extent.problem.clone()).unwrap_or(DamageKind::MissingRecords {
                last: self.last,
                synced: promised,
            });
            return Ok(Some(log.damage(extent.offset, problem)));
        }
        if next.is_none() && extent.continues_in > log.generation {
            let file = file_name::complete(FileKind::Log, extent.continues_in);
            return Ok(Some(
                log.damage(extent.offset, DamageKind::Missing { file }),
            ));
        }
        Ok(None)
    }

    /// Rejects damage, unless the caller accepts the loss.
    pub(super) fn accept_loss(&mut self, damage: Option<Damage>) -> Result<(), JournalError> {
        let Some(damage) = damage else { return Ok(()) };
        let is_newer = matches!(damage.problem, DamageKind::Version(_));
        if is_newer || !self.accept_loss {
            return Err(damage.into_error(!is_newer));
        }
        self.summary.loss.push(Loss {
            file: damage.file,
            offset: damage.offset,
            problem: damage.problem,
        });
        Ok(())
    }

    /// Prepares the last log for writing.
    pub(super) fn repair_end(
        &mut self,
        log: &FoundFile,
        extent: &Extent,
    ) -> Result<D::File, JournalError> {
        let file = log.open(self.disk)?;
        repair::truncate_and_rewrite(
            self.disk,
            &file,
            extent.synced_bytes,
            extent.offset,
            extent.length,
        )
        .map_err(JournalError::io(log.name.as_str()))?;
        if extent.offset < extent.length {
            self.summary.torn = Some(TornEnd {
                file: log.name.clone(),
                offset: extent.offset,
                bytes: extent.length - extent.offset,
            });
        }
        Ok(file)
    }

    /// After a loss: moves the rest aside and starts a new log, with record numbers that nobody has seen.
    pub(super) fn continue_in_new_log(
        &mut self,
        log: Option<FoundFile>,
        keep: Option<u64>,
        rest: &[FoundFile],
        mut next_generation: u64,
    ) -> Result<(D::File, u64, u64), JournalError> {
        for lost in rest {
            repair::move_aside(self.disk, lost).map_err(JournalError::io(lost.name.as_str()))?;
            if let Ok(header) = &lost.header {
                self.highest = self.highest.max(header.first);
            }
        }
        if let Some(log) = log {
            let done = match keep {
                Some(offset) => repair::move_tail_aside(self.disk, &log, offset),
                None => repair::move_aside(self.disk, &log),
            };
            done.map_err(JournalError::io(log.name.as_str()))?;
        }
        self.highest = self.highest.max(self.synced);
        let generation =
            take_generation(&mut next_generation).map_err(JournalError::io("naming a new log"))?;
        let header = FileHeader {
            is_beginning: false,
            generation,
            follows: self.last,
            first: self.highest + 1,
            journal: self.journal.unwrap_or_default(),
            time: self.summary.last_time,
        };
        let file = create_log(self.disk, &header).map_err(|error| {
            JournalError::io(file_name::complete(FileKind::Log, generation))(error.into_io())
        })?;
        Ok((file, HEADER_BYTES as u64, next_generation))
    }
}
