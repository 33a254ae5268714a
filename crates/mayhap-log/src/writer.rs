//! The only place that writes and syncs logs.
//!
//! Lock order: `writer`, `syncing`, `pending`, `gauges`. An append takes only `pending`, while it copies. A commit takes
//! `writer`, and either finds that another thread has committed its record, or commits for all that have appended so far.

use crate::Lsn;
use crate::disk::Disk;
use crate::error::{AppendError, LogBroken};
use crate::format::{HEAD_BYTES, MARK_BYTES, MAX_BODY_BYTES, SyncMark, push_record, seed};
use crate::options::Fsync;
use parking_lot::Mutex;
use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

/// A buffer that grew beyond this is freed after it is written.
const KEPT_BYTES: usize = 4 << 20;

/// The state that the users of a journal share.
pub(crate) struct LogShared<D: Disk> {
    pub(crate) disk: D,
    /// The random number of the folder: [`crate::format::FileHeader::journal`].
    pub(crate) journal: u64,
    pub(crate) seed: u32,
    pub(crate) pending: Mutex<Pending>,
    pub(crate) writer: Mutex<Writer<D>>,
    /// One sync at a time: of two concurrent syncs, only one may report a failure.
    syncing: Mutex<()>,
    pub(crate) gauges: Mutex<Gauges>,
    pub(crate) appended: AtomicU64,
    pub(crate) written: AtomicU64,
    pub(crate) synced: AtomicU64,
    fsync: AtomicU8,
    pub(crate) is_snapshot_running: AtomicBool,
    /// Whether `pending.broken` is set, readable without the lock.
    pub(crate) is_broken: AtomicBool,
}

/// Records that are appended and not yet written.
pub(crate) struct Pending {
    /// Empty, or space for a mark followed by records.
    buffer: Vec<u8>,
    pub(crate) next: Lsn,
    /// The latest time of all records of the folder.
    pub(crate) time: u64,
    pub(crate) broken: Option<LogBroken>,
}

/// The current log file.
pub(crate) struct Writer<D: Disk> {
    pub(crate) file: Arc<D::File>,
    /// The offset of the next group.
    pub(crate) offset: u64,
    /// A generation that no file has used.
    pub(crate) next_generation: u64,
    /// The synced record in the last mark.
    pub(crate) marked: Lsn,
    spare: Vec<u8>,
}

/// Figures for monitoring only.
#[derive(Default)]
pub(crate) struct Gauges {
    pub(crate) log_bytes: u64,
    pub(crate) older_log_bytes: u64,
    pub(crate) snapshot_bytes: u64,
    pub(crate) synced_at: Option<Instant>,
    /// When the oldest unsynced group was written, except for those that are being synced.
    pub(crate) unsynced_since: Option<Instant>,
    pub(crate) syncing_since: Option<Instant>,
}

/// The log at the time the journal opens.
pub(crate) struct WriterStart<D: Disk> {
    pub(crate) file: D::File,
    pub(crate) offset: u64,
    pub(crate) next_generation: u64,
    pub(crate) next: Lsn,
    pub(crate) time: u64,
    pub(crate) journal: u64,
}

impl<D: Disk> LogShared<D> {
    pub(crate) fn new(disk: D, opening: WriterStart<D>, fsync: Fsync, gauges: Gauges) -> Self {
        let last = opening.next - 1;
        Self {
            disk,
            journal: opening.journal,
            seed: seed(opening.journal),
            pending: Mutex::new(Pending {
                buffer: Vec::new(),
                next: opening.next,
                time: opening.time,
                broken: None,
            }),
            writer: Mutex::new(Writer {
                file: Arc::new(opening.file),
                offset: opening.offset,
                next_generation: opening.next_generation,
                marked: 0,
                spare: Vec::new(),
            }),
            syncing: Mutex::new(()),
            gauges: Mutex::new(gauges),
            appended: AtomicU64::new(last),
            written: AtomicU64::new(last),
            synced: AtomicU64::new(last),
            fsync: AtomicU8::new(fsync.to_byte()),
            is_snapshot_running: AtomicBool::new(false),
            is_broken: AtomicBool::new(false),
        }
    }

    pub(crate) fn fsync(&self) -> Fsync {
        Fsync::from_byte(self.fsync.load(Ordering::Acquire))
    }

    pub(crate) fn set_fsync(&self, fsync: Fsync) {
        self.fsync.store(fsync.to_byte(), Ordering::Release);
    }

    pub(crate) fn broken(&self) -> Option<LogBroken> {
        self.pending.lock().broken.clone()
    }

    pub(crate) fn append(&self, time: u64, parts: &[&[u8]]) -> Result<Lsn, AppendError> {
        let length = (parts.iter()).fold(0_u64, |sum, part| sum.saturating_add(part.len() as u64));
        if length > MAX_BODY_BYTES {
            return Err(AppendError::TooLong { length });
        }
        let mut pending = self.pending.lock();
        if let Some(broken) = &pending.broken {
            return Err(AppendError::Broken(broken.clone()));
        }
        (pending.buffer)
            .try_reserve(MARK_BYTES + HEAD_BYTES + length as usize)
            .map_err(|_| AppendError::OutOfMemory { length })?;
        if pending.buffer.is_empty() {
            pending.buffer.extend_from_slice(&[0; MARK_BYTES]);
        }
        let lsn = pending.next;
        push_record(&mut pending.buffer, self.seed, lsn, time, parts);
        pending.next += 1;
        pending.time = pending.time.max(time);
        self.appended.store(lsn, Ordering::Release);
        Ok(lsn)
    }

    /// Returns when all records up to this one are as durable as the mode promises.
    pub(crate) fn commit(&self, lsn: Lsn) -> Result<(), LogBroken> {
        let is_safe = || match self.fsync() {
            Fsync::Always => self.synced.load(Ordering::Acquire) >= lsn,
            Fsync::EverySecond | Fsync::No => self.written.load(Ordering::Acquire) >= lsn,
        };
        if is_safe() {
            return Ok(());
        }
        // On a broken log, return without waiting for the disk, which may be busy with the snapshot that repairs it.
        if self.is_broken.load(Ordering::Acquire)
            && let Some(broken) = self.broken()
        {
            return Err(broken);
        }
        // After the wait, either the previous holder has committed our records, or we lead the next group.
        let mut writer = self.writer.lock();
        if is_safe() {
            return Ok(());
        }
        self.write(&mut writer)?;
        if self.fsync() == Fsync::Always {
            self.sync(&writer.file, self.written.load(Ordering::Acquire))?;
        }
        Ok(())
    }

    /// Writes a mark and everything that was appended so far.
    pub(crate) fn write(&self, writer: &mut Writer<D>) -> Result<(), LogBroken> {
        let (mut bytes, last) = {
            let mut pending = self.pending.lock();
            if let Some(broken) = &pending.broken {
                return Err(broken.clone());
            }
            if pending.buffer.is_empty() {
                return Ok(());
            }
            let spare = mem::take(&mut writer.spare);
            (mem::replace(&mut pending.buffer, spare), pending.next - 1)
        };
        let mark = self.mark(0);
        bytes[..MARK_BYTES].copy_from_slice(&mark.encode(self.seed));
        self.write_group(writer, &bytes)?;
        writer.marked = mark.synced;
        self.written.store(last, Ordering::Release);
        if bytes.capacity() <= KEPT_BYTES {
            bytes.clear();
            writer.spare = bytes;
        }
        let mut gauges = self.gauges.lock();
        gauges.log_bytes = writer.offset;
        gauges.unsynced_since.get_or_insert_with(Instant::now);
        Ok(())
    }

    fn write_group(&self, writer: &mut Writer<D>, bytes: &[u8]) -> Result<(), LogBroken> {
        (self.disk.write_at(&writer.file, writer.offset, bytes))
            .map_err(|error| self.break_with("writing the log", &error))?;
        writer.offset += bytes.len() as u64;
        Ok(())
    }

    pub(crate) fn mark(&self, continues_in: u64) -> SyncMark {
        SyncMark {
            next: self.written.load(Ordering::Acquire) + 1,
            synced: self.synced.load(Ordering::Acquire),
            continues_in,
        }
    }

    /// Writes a mark if the log does not yet say what is synced. Later damage to the last records can then be told from a torn
    /// end.
    pub(crate) fn write_mark(&self, writer: &mut Writer<D>) -> Result<(), LogBroken> {
        let mark = self.mark(0);
        if writer.marked >= mark.synced || self.broken().is_some() {
            return Ok(());
        }
        self.write_group(writer, &mark.encode(self.seed))?;
        writer.marked = mark.synced;
        self.gauges.lock().log_bytes = writer.offset;
        Ok(())
    }

    /// Syncs a log that was written up to `through`.
    pub(crate) fn sync(&self, file: &D::File, through: Lsn) -> Result<(), LogBroken> {
        let _one = self.syncing.lock();
        if let Some(broken) = self.broken() {
            return Err(broken);
        }
        {
            let mut gauges = self.gauges.lock();
            gauges.syncing_since = gauges.unsynced_since.take();
        }
        (self.disk.sync(file)).map_err(|error| self.break_with("syncing the log", &error))?;
        self.synced.fetch_max(through, Ordering::AcqRel);
        let mut gauges = self.gauges.lock();
        gauges.syncing_since = None;
        gauges.synced_at = Some(Instant::now());
        Ok(())
    }

    /// Writes and syncs what was appended so far. Other threads can write during the sync.
    pub(crate) fn sync_now(&self) -> Result<(), LogBroken> {
        let (file, written) = {
            let mut writer = self.writer.lock();
            self.write(&mut writer)?;
            let written = self.written.load(Ordering::Acquire);
            (Arc::clone(&writer.file), written)
        };
        if self.synced.load(Ordering::Acquire) >= written {
            return Ok(());
        }
        self.sync(&file, written)
    }

    /// Breaks the log and drops what is in memory: a file that failed is not written again.
    pub(crate) fn break_with(&self, what: &str, error: &io::Error) -> LogBroken {
        let mut pending = self.pending.lock();
        pending.buffer = Vec::new();
        self.is_broken.store(true, Ordering::Release);
        (pending.broken)
            .get_or_insert_with(|| LogBroken::new(what, error))
            .clone()
    }
}
