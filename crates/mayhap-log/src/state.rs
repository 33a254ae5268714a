//! How things are, for those who watch.

use crate::Lsn;
use crate::disk::Disk;
use crate::error::LogBroken;
use crate::writer::LogShared;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How a journal is at a moment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JournalState {
    /// The last record that was appended.
    pub appended: Lsn,
    /// The last that was handed to the system.
    pub written: Lsn,
    /// The last that is known to be on the disk.
    pub synced: Lsn,
    /// Bytes of all logs that a restart would read.
    pub log_bytes: u64,
    /// Bytes of the last snapshot, 0 if there is none.
    pub snapshot_bytes: u64,
    /// How long ago the oldest group was written that is not synced.
    pub unsynced_for: Option<Duration>,
    /// How long ago a sync succeeded since the journal was opened.
    pub since_sync: Option<Duration>,
    /// Why nothing more is taken.
    pub broken: Option<LogBroken>,
    /// Whether a snapshot is being taken.
    pub is_snapshot_running: bool,
}

impl JournalState {
    pub(crate) fn from_shared<D: Disk>(shared: &LogShared<D>) -> Self {
        // In this order none is ahead of the one before.
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
