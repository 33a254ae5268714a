//! Switches to a new log: for a snapshot, or after one that repairs a broken log.

use crate::disk::Disk;
use crate::error::LogBroken;
use crate::file_name::{self, FileKind};
use crate::format::{FileHeader, HEADER_BYTES};
use crate::writer::{LogShared, Writer};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl<D: Disk> LogShared<D> {
    /// Syncs this log and switches to a new one that continues it.
    pub(crate) fn switch(&self, writer: &mut Writer<D>) -> Result<FileHeader, SwitchError> {
        self.write(writer).map_err(SwitchError::Broken)?;
        let last = self.written.load(Ordering::Acquire);
        if self.synced.load(Ordering::Acquire) < last {
            (self.sync(&writer.file, last)).map_err(SwitchError::Broken)?;
        }
        let header = FileHeader {
            is_beginning: false,
            generation: take_generation(&mut writer.next_generation)?,
            follows: last,
            first: last + 1,
            journal: self.journal,
            time: self.pending.lock().time,
        };
        let file = match create_log(&self.disk, &header) {
            Ok(file) => file,
            Err(CreateError::NotCreated(error)) => return Err(SwitchError::Io(error)),
            // The new log may exist after a crash, so this one must not be appended to.
            Err(CreateError::MaybeCreated(error)) => {
                let broken = self.break_with("syncing the folder", &error);
                return Err(SwitchError::Broken(broken));
            }
        };
        // Nothing depends on this mark. It reveals when the new log gets lost.
        let mark = self.mark(header.generation).encode(self.seed);
        let _ = self.disk.write_at(&writer.file, writer.offset, &mark);
        self.gauges.lock().older_log_bytes += writer.offset;
        self.continue_in(writer, file);
        Ok(header)
    }

    pub(crate) fn continue_in(&self, writer: &mut Writer<D>, file: D::File) {
        writer.file = Arc::new(file);
        writer.offset = HEADER_BYTES as u64;
        // The header contains it.
        writer.marked = self.synced.load(Ordering::Acquire);
        self.gauges.lock().log_bytes = writer.offset;
    }

    /// Accepts records again, after a snapshot that contains the complete state.
    pub(crate) fn heal(&self, writer: &mut Writer<D>, file: D::File, header: &FileHeader) {
        self.written.store(header.first - 1, Ordering::Release);
        self.synced.store(header.first - 1, Ordering::Release);
        self.continue_in(writer, file);
        {
            let mut gauges = self.gauges.lock();
            gauges.unsynced_since = None;
            gauges.syncing_since = None;
        }
        let mut pending = self.pending.lock();
        pending.broken = None;
        self.is_broken.store(false, Ordering::Release);
    }
}

/// Why there is no new log.
pub(crate) enum SwitchError {
    Io(io::Error),
    Broken(LogBroken),
}

impl From<io::Error> for SwitchError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A generation that no file has used.
pub(crate) fn take_generation(next: &mut u64) -> io::Result<u64> {
    let generation = *next;
    if generation > file_name::MAX_GENERATION {
        return Err(io::Error::other(
            "there have been as many logs as names hold",
        ));
    }
    *next += 1;
    Ok(generation)
}

/// Why a log was not created.
pub(crate) enum CreateError {
    /// The log does not exist.
    NotCreated(io::Error),
    /// The log may exist after a crash.
    MaybeCreated(io::Error),
}

impl CreateError {
    pub(crate) fn into_io(self) -> io::Error {
        match self {
            Self::NotCreated(error) | Self::MaybeCreated(error) => error,
        }
    }
}

/// Creates an empty log atomically.
pub(crate) fn create_log<D: Disk>(disk: &D, header: &FileHeader) -> Result<D::File, CreateError> {
    let temporary = file_name::temporary(FileKind::Log, header.generation);
    let made = disk.create(&temporary).and_then(|file| {
        disk.write_at(&file, 0, &header.encode(FileKind::Log))?;
        disk.sync(&file)?;
        disk.rename(
            &temporary,
            &file_name::complete(FileKind::Log, header.generation),
        )?;
        Ok(file)
    });
    match made {
        Err(error) => {
            // If this fails, the next start removes it.
            let _ = disk.remove(&temporary);
            Err(CreateError::NotCreated(error))
        }
        Ok(file) => match disk.sync_folder() {
            Ok(()) => Ok(file),
            Err(error) => Err(CreateError::MaybeCreated(error)),
        },
    }
}
