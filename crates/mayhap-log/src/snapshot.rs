//! Snapshots: the complete state, so that older logs can be removed. A snapshot is written to a temporary file and renamed once
//! it is complete and synced.

use crate::Lsn;
use crate::disk::Disk;
use crate::error::{LogBroken, SnapshotError};
use crate::file_name::{self, FileKind};
use crate::format::{FileHeader, HEAD_BYTES, RunningChecksum, snapshot_end};
use crate::switch::{SwitchError, create_log, take_generation};
use crate::writer::LogShared;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The size of a write for small entries.
const CHUNK: usize = 256 << 10;

/// Synced every so many bytes: one large sync at the end would block commits.
const SYNCED_BYTES: u64 = 32 << 20;

/// A snapshot in progress. Dropping it abandons it; the logs stay, and nothing is lost.
pub struct Snapshot<D: Disk> {
    shared: Arc<LogShared<D>>,
    file: Option<D::File>,
    header: FileHeader,
    buffer: Vec<u8>,
    offset: u64,
    synced: u64,
    count: u64,
    /// Started with a broken log, so the log has accepted nothing since.
    is_healing: bool,
    has_failed: bool,
}

/// A complete snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FinishedSnapshot {
    /// Its number.
    pub generation: u64,
    /// Entries in it.
    pub entries: u64,
    /// Bytes of its file.
    pub bytes: u64,
}

impl<D: Disk> Snapshot<D> {
    pub(crate) fn begin(shared: Arc<LogShared<D>>) -> Result<Self, SnapshotError> {
        if shared.is_snapshot_running.swap(true, Ordering::AcqRel) {
            return Err(SnapshotError::Running);
        }
        // From here on, dropping it allows another snapshot to start.
        let mut snapshot = Self {
            header: FileHeader {
                is_beginning: false,
                generation: 0,
                follows: 0,
                first: 1,
                journal: shared.journal,
                time: 0,
            },
            shared,
            file: None,
            buffer: Vec::new(),
            offset: 0,
            synced: 0,
            count: 0,
            is_healing: false,
            has_failed: false,
        };
        snapshot.start()?;
        Ok(snapshot)
    }

    fn start(&mut self) -> Result<(), SnapshotError> {
        self.is_healing = self.shared.broken().is_some();
        if self.is_healing {
            let mut writer = self.shared.writer.lock();
            self.header.generation =
                take_generation(&mut writer.next_generation).map_err(io_error("naming it"))?;
            let pending = self.shared.pending.lock();
            self.header.follows = pending.next - 1;
            self.header.first = pending.next;
            self.header.time = pending.time;
        } else {
            // Syncs most of the log while other threads keep writing.
            self.shared.sync_now().map_err(SnapshotError::Broken)?;
            let mut writer = self.shared.writer.lock();
            self.header = (self.shared.switch(&mut writer)).map_err(|error| match error {
                SwitchError::Io(error) => io_error("making a new log")(error),
                SwitchError::Broken(broken) => SnapshotError::Broken(broken),
            })?;
        }
        self.header.is_beginning = true;
        let file = (self.shared.disk)
            .create(&self.temporary())
            .map_err(io_error("making its file"))?;
        self.file = Some(file);
        self.buffer = self.header.encode(FileKind::Snapshot).to_vec();
        Ok(())
    }

    fn temporary(&self) -> String {
        file_name::temporary(FileKind::Snapshot, self.header.generation)
    }

    /// Adds an entry, with the last record whose effect it contains.
    ///
    /// # Errors
    /// When the disk fails. The snapshot cannot be finished then.
    pub fn entry(&mut self, lsn: Lsn, body: &[u8]) -> io::Result<()> {
        self.entry_with(lsn, |put| put(body))
    }

    /// The same with a body in pieces, so that it need not fit into memory.
    ///
    /// # Errors
    /// As [`Snapshot::entry`].
    pub fn entry_with(
        &mut self,
        lsn: Lsn,
        give: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
    ) -> io::Result<()> {
        let written = self.write_pieces(lsn, give);
        self.count += 1;
        self.has_failed |= written.is_err();
        written
    }

    /// The head contains the length and checksum of the body, so it is written last.
    fn write_pieces(
        &mut self,
        lsn: Lsn,
        give: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.buffer.len() > CHUNK / 2 {
            self.flush()?;
        }
        let begin = self.offset + self.buffer.len() as u64;
        self.write_bytes(&[0; HEAD_BYTES])?;
        let mut sum = RunningChecksum::default();
        give(&mut |piece| {
            sum.add(piece);
            self.write_bytes(piece)
        })?;
        let head = sum.head(self.header.seed(), lsn);
        if begin >= self.offset {
            // The head is still in the buffer.
            let at = (begin - self.offset) as usize;
            self.buffer[at..at + HEAD_BYTES].copy_from_slice(&head);
            return Ok(());
        }
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        self.shared.disk.write_at(file, begin, &head)
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.buffer.len() + bytes.len() > CHUNK {
            self.flush()?;
        }
        if bytes.len() > CHUNK {
            // Without a copy: an entry may be as large as half of the memory.
            let mut steps = bytes.chunks(SYNCED_BYTES as usize);
            return steps.try_for_each(|step| self.write(step));
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        self.write(&buffer)?;
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        self.shared.disk.write_at(file, self.offset, bytes)?;
        self.offset += bytes.len() as u64;
        if self.offset - self.synced >= SYNCED_BYTES {
            self.shared.disk.sync(file)?;
            self.synced = self.offset;
        }
        Ok(())
    }

    /// Syncs and renames the snapshot, then removes older logs and snapshots. Repairs the log if it was broken when the snapshot
    /// started.
    ///
    /// # Errors
    /// When the disk fails, or the log broke since the snapshot was begun. What was there before stays.
    pub fn finish(mut self) -> Result<FinishedSnapshot, SnapshotError> {
        let written = self.write_end();
        self.has_failed |= written.is_err();
        written?;
        if self.is_healing {
            self.publish_and_heal()?;
        } else {
            self.publish()?;
        }
        let finished = FinishedSnapshot {
            generation: self.header.generation,
            entries: self.count,
            bytes: self.offset,
        };
        {
            let mut gauges = self.shared.gauges.lock();
            gauges.snapshot_bytes = finished.bytes;
            gauges.older_log_bytes = 0;
        }
        Ok(finished)
    }

    fn write_end(&mut self) -> Result<(), SnapshotError> {
        if self.has_failed {
            let error = io::Error::other("an entry before could not be written");
            return Err(io_error("writing it")(error));
        }
        if !self.is_healing {
            // Entries contain the effects of records that must not be lost while the entries stay: their numbers would be
            // reused.
            self.shared.sync_now().map_err(SnapshotError::Broken)?;
        }
        let synced = if self.is_healing {
            self.header.follows
        } else {
            self.shared.synced.load(Ordering::Acquire)
        };
        let end = snapshot_end(self.header.seed(), self.count, synced);
        self.write_bytes(&end)
            .and_then(|()| self.flush())
            .map_err(io_error("writing it"))?;
        let Some(file) = &self.file else {
            return Err(io_error("writing it")(io::ErrorKind::NotFound.into()));
        };
        (self.shared.disk.sync(file)).map_err(io_error("syncing it"))
    }

    fn publish(&mut self) -> Result<(), SnapshotError> {
        let disk = &self.shared.disk;
        let whole = file_name::complete(FileKind::Snapshot, self.header.generation);
        disk.rename(&self.temporary(), &whole)
            .map_err(io_error("naming it"))?;
        self.file = None;
        disk.sync_folder().map_err(io_error("syncing the folder"))?;
        // Before the log accepts records again: on a full disk, the first records need the space.
        remove_older(disk, self.header.generation);
        Ok(())
    }

    fn publish_and_heal(&mut self) -> Result<(), SnapshotError> {
        let shared = Arc::clone(&self.shared);
        let mut writer = shared.writer.lock();
        // The log first: a snapshot without its log counts as damage, an empty log without its snapshot does not.
        let log = create_log(&shared.disk, &self.header)
            .map_err(|error| io_error("making a new log")(error.into_io()))?;
        self.publish()?;
        shared.heal(&mut writer, log, &self.header);
        Ok(())
    }
}

impl<D: Disk> Drop for Snapshot<D> {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // If this fails, the next start removes it.
            let _ = self.shared.disk.remove(&self.temporary());
        }
        (self.shared.is_snapshot_running).store(false, Ordering::Release);
    }
}

fn io_error(what: &'static str) -> impl FnOnce(io::Error) -> SnapshotError {
    move |error| SnapshotError::Io { what, error }
}

impl From<LogBroken> for SnapshotError {
    fn from(broken: LogBroken) -> Self {
        Self::Broken(broken)
    }
}

/// Removes the files that a snapshot replaces. What cannot be removed now is removed the next time.
pub(crate) fn remove_older<D: Disk>(disk: &D, generation: u64) {
    let names = disk.list().unwrap_or_default();
    for name in names {
        let is_older = file_name::parse(&name)
            .is_some_and(|parsed| !parsed.is_temporary && parsed.generation < generation);
        if is_older {
            let _ = disk.remove(&name);
        }
    }
}
