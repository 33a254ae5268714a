//! The interface of the log.

use crate::Lsn;
use crate::disk::Disk;
use crate::error::{AppendError, JournalError, LogBroken, ReplayError, SnapshotError};
use crate::options::{Fsync, JournalOptions};
use crate::recovery::{self, Recovered, RecoverySummary};
use crate::snapshot::Snapshot;
use crate::state::JournalState;
use crate::ticker::Ticker;
use crate::writer::LogShared;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A log and its snapshots, in one folder. It is shared between threads.
///
/// Dropping it is like a kill: uncommitted records are not written. [`Journal::close`] writes and syncs everything.
pub struct Journal<D: Disk> {
    // Stops before the other fields are dropped.
    ticker: Option<Ticker>,
    shared: Arc<LogShared<D>>,
}

impl<D: Disk> Journal<D> {
    /// Opens or creates the journal of a folder. `take` receives everything to replay: the entries of the snapshot
    /// first, then the records in order. An entry has a record number too: its body already contains the effect of the
    /// records up to that number.
    ///
    /// # Errors
    /// If the disk fails, durable data is damaged, or `take` returns an error. Everything that `take` received before
    /// must be discarded then.
    pub fn open(
        disk: D,
        options: JournalOptions,
        take: impl FnMut(Recovered<'_>) -> Result<(), ReplayError>,
    ) -> Result<(Self, RecoverySummary), JournalError> {
        let JournalOptions {
            fsync,
            accept_loss,
            background,
        } = options;
        let recovered = recovery::recover(&disk, accept_loss, take)?;
        // On every start: whoever created the folder may have been killed before syncing it.
        (disk.sync_path()).map_err(JournalError::io("syncing the folders above"))?;
        let shared = Arc::new(LogShared::new(
            disk,
            recovered.opening,
            fsync,
            recovered.gauges,
        ));
        let ticker = if background {
            let of = Arc::clone(&shared);
            let ticker = Ticker::start(move || tick(&of));
            Some(ticker.map_err(JournalError::io("starting a thread"))?)
        } else {
            None
        };
        Ok((Self { ticker, shared }, recovered.summary))
    }

    /// Appends a record in memory. `time` is in milliseconds since 1970 and is returned unchanged at replay.
    ///
    /// # Errors
    /// If the log is broken, the body is too long or memory is short. Nothing has changed then.
    pub fn append(&self, time: u64, body: &[u8]) -> Result<Lsn, AppendError> {
        self.shared.append(time, &[body])
    }

    /// The same with a body in parts, which are concatenated.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn append_parts(&self, time: u64, parts: &[&[u8]]) -> Result<Lsn, AppendError> {
        self.shared.append(time, parts)
    }

    /// Returns when all records up to this one are as durable as the mode promises.
    ///
    /// # Errors
    /// When the disk failed, now or before: it is not known then which records after the last commit a crash would leave.
    pub fn commit(&self, lsn: Lsn) -> Result<(), LogBroken> {
        self.shared.commit(lsn)
    }

    /// Writes and syncs everything that was appended, in any mode.
    ///
    /// # Errors
    /// As [`Journal::commit`].
    pub fn sync(&self) -> Result<(), LogBroken> {
        self.shared.sync_now()
    }

    /// Why the log is broken, or `None`.
    pub fn broken(&self) -> Option<LogBroken> {
        // Called before every write: usually without the lock that appends take.
        if !self.shared.is_broken.load(Ordering::Acquire) {
            return None;
        }
        self.shared.broken()
    }

    /// Breaks the log until a snapshot is complete. For a caller whose state has a change that could not be appended.
    pub fn break_log(&self, why: &AppendError) {
        let error = std::io::Error::other(why.to_string());
        self.shared.break_with("appending to the log", &error);
    }

    /// The last record that was appended.
    pub fn last_lsn(&self) -> Lsn {
        self.shared.appended.load(Ordering::Acquire)
    }

    /// The mode.
    pub fn fsync(&self) -> Fsync {
        self.shared.fsync()
    }

    /// Changes the mode. [`Fsync::Always`] holds for all commits that begin afterwards.
    pub fn set_fsync(&self, fsync: Fsync) {
        self.shared.set_fsync(fsync);
    }

    /// Starts a snapshot: from now on records go to a new log. The caller then writes every entry, each with the last record
    /// whose effect it contains ([`Journal::last_lsn`], read while the entry cannot change), while other threads keep writing.
    ///
    /// A broken log rejects records until this snapshot is complete.
    ///
    /// # Errors
    /// When another one is being taken, or the disk fails. The log goes on as before, unless the error says that it broke.
    pub fn begin_snapshot(&self) -> Result<Snapshot<D>, SnapshotError> {
        Snapshot::begin(Arc::clone(&self.shared))
    }

    /// The current state. Does not wait for the disk.
    pub fn state(&self) -> JournalState {
        JournalState::from_shared(&self.shared)
    }

    /// What the background thread does once a second, for callers that open the journal without it: syncs under
    /// [`Fsync::EverySecond`], and records in the log what is synced.
    ///
    /// # Errors
    /// When the disk fails. Commits say so too from then on.
    pub fn tick(&self) -> Result<(), LogBroken> {
        tick(&self.shared)
    }

    /// Writes and syncs everything, and adds a final mark: later damage to the last records can then be told from a torn end.
    ///
    /// # Errors
    /// When the disk failed, now or before.
    pub fn finish(&self) -> Result<(), LogBroken> {
        self.shared.sync_now()?;
        let mut writer = self.shared.writer.lock();
        self.shared.write_mark(&mut writer)?;
        (self.shared.disk.sync(&writer.file))
            .map_err(|error| self.shared.break_with("syncing the log", &error))
    }

    /// The same, and nothing is appended afterwards.
    ///
    /// # Errors
    /// As [`Journal::finish`].
    pub fn close(mut self) -> Result<(), LogBroken> {
        self.ticker = None;
        self.finish()
    }
}

fn tick<D: Disk>(shared: &LogShared<D>) -> Result<(), LogBroken> {
    if shared.fsync() == Fsync::EverySecond {
        shared.sync_now()?;
    }
    // A thread that is writing now adds the mark anyway.
    match shared.writer.try_lock() {
        Some(mut writer) => shared.write_mark(&mut writer),
        None => Ok(()),
    }
}
