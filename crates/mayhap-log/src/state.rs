//! The state of a journal, for monitoring.

use crate::Lsn;
use crate::disk::Disk;
use crate::error::LogBroken;
use crate::writer::LogShared;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The state of a journal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JournalState {
    /// The last record that was appended.
    pub appended: Lsn,
    /// The last record that was written to the file.
    pub written: Lsn,
    /// The last record that is known to be durable.
    pub synced: Lsn,
    /// Bytes of all logs that a restart would read.
    pub log_bytes: u64,
    /// Bytes of the last snapshot, 0 if there is none.
    pub snapshot_bytes: u64,
    /// The age of the oldest unsynced write.
    pub unsynced_for: Option<Duration>,
    /// The time since the last successful sync, if there was one since the journal was opened.
    pub since_sync: Option<Duration>,
    /// Why the log is broken.
    pub broken: Option<LogBroken>,
    /// Whether a snapshot is being taken.
    pub is_snapshot_running: bool,
}

impl JournalState {
    pub(crate) fn from_shared<D: Disk>(shared: &LogShared<D>) -> Self {
        // Read in this order, no value is ahead of the one read after it.
        let synced = shared.synced.load(Ordering::Acquire);
        let written = shared.written.load(Ordering::Acquire);
        let appended = shared.appended.load(Ordering::Acquire);
        let broken = shared.broken();
        let gauges = shared.gauges.lock();
        let unsynced = gauges.syncing_since.or(gauges.unsynced_since);
        Self {
            appended,
            written,
            synced,
            log_bytes: gauges.log_bytes.saturating_add(gauges.older_log_bytes),
            snapshot_bytes: gauges.snapshot_bytes,
            unsynced_for: unsynced.map(|since| since.elapsed()),
            since_sync: gauges.synced_at.map(|at| at.elapsed()),
            broken,
            is_snapshot_running: shared.is_snapshot_running.load(Ordering::Acquire),
        }
    }
}
