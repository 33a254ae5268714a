//! What callers hold.

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

/// A log and its snapshots, in one folder. Threads share it.
///
/// Dropping it is like a kill: what is not committed is not written. [`Journal::close`] writes and syncs everything.
pub struct Journal<D: Disk> {
    // Ends before the rest does.
    ticker: Option<Ticker>,
    shared: Arc<LogShared<D>>,
}

impl<D: Disk> Journal<D> {
    /// Opens or makes the journal of a folder. `take` is told of everything that is to be replayed: entries of the snapshot first,
    /// then records in order. An entry has a number too, and of the records with this number or a smaller one its body knows
    /// already.
    ///
    /// # Errors
    /// When the disk fails, when something is damaged that had been safe, or when `take` refuses. Whatever `take` was told before is
    /// to be forgotten then.
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
        // Each time: whoever made the folder may have been killed before.
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

    /// Puts a record into the log's memory. `time` is in milliseconds since 1970 and is given back as it is.
    ///
    /// # Errors
    /// When the log is broken, the body too long or memory short. Nothing is changed then.
    pub fn append(&self, time: u64, body: &[u8]) -> Result<Lsn, AppendError> {
        self.shared.append(time, &[body])
    }

    /// The same with a body in parts, which follow each other without a trace of where they met.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn append_parts(&self, time: u64, parts: &[&[u8]]) -> Result<Lsn, AppendError> {
        self.shared.append(time, parts)
    }

    /// Returns when all records up to this one are as safe as the mode promises: synced ([`Fsync::Always`]), or handed to the system.
    /// All who wait share one write and one sync.
    ///
    /// # Errors
    /// When the disk failed, now or before: it is not known then which records after the last commit a crash would leave.
    pub fn commit(&self, lsn: Lsn) -> Result<(), LogBroken> {
        self.shared.commit(lsn)
    }

    /// Writes and syncs everything that was appended, in whatever mode.
    ///
    /// # Errors
    /// As [`Journal::commit`].
    pub fn sync(&self) -> Result<(), LogBroken> {
        self.shared.sync_now()
    }

    /// Why nothing more is taken, if it is so.
    pub fn broken(&self) -> Option<LogBroken> {
        // Asked before every change: mostly without the lock that appends take.
        if !self.shared.is_broken.load(Ordering::Acquire) {
            return None;
        }
        self.shared.broken()
    }

    /// Takes nothing more until a snapshot is finished: for a caller who holds something that the log did not take.
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

    /// Begins a snapshot: records go to a new log from now on. Everything there is is then put in, each with the last record
    /// that it knows of ([`Journal::last_lsn`], asked while it cannot change), while others go on changing it.
    ///
    /// A broken log stays as it is, refusing everything, until this snapshot is finished.
    ///
    /// # Errors
    /// When another one is being taken, or the disk fails. The log goes on as before, unless the error says that it broke.
    pub fn begin_snapshot(&self) -> Result<Snapshot<D>, SnapshotError> {
        Snapshot::begin(Arc::clone(&self.shared))
    }

    /// How things are. Waits for nobody's disk.
    pub fn state(&self) -> JournalState {
        JournalState::from_shared(&self.shared)
    }

    /// What the thread does once a second, for those who open the journal without it: syncs under [`Fsync::EverySecond`], and notes
    /// in the log what is synced.
    ///
    /// # Errors
    /// When the disk fails. Commits say so too from then on.
    pub fn tick(&self) -> Result<(), LogBroken> {
        tick(&self.shared)
    }

    /// Writes and syncs everything, and marks the end: damage to the last records is then told from an end that was never promised.
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
    // Somebody who writes now notes it anyway.
    match shared.writer.try_lock() {
        Some(mut writer) => shared.write_mark(&mut writer),
        None => Ok(()),
    }
}
