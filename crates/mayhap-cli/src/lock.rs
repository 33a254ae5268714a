//! The right to change a file, for one program at a time.

use crate::error::CliError;
use crate::interrupt;
use crate::output::cannot_write;
use same_file::Handle;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A lock, kept until it is dropped.
pub(crate) struct FileLock {
    beside: PathBuf,
    // Closed after the name is gone, so that nobody holds the name without the lock.
    _file: File,
}

impl Drop for FileLock {
    fn drop(&mut self) {
        interrupt::keep_file(&self.beside);
        // A file that cannot be removed can be locked again.
        let _ = fs::remove_file(&self.beside);
    }
}

/// Waits until nobody else changes a file. The lock is a file beside it, because the file itself is replaced.
pub(crate) fn lock(path: &Path) -> Result<FileLock, CliError> {
    let beside = lock_file_name(path);
    let mut is_told = false;
    loop {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&beside)
            .map_err(|error| cannot_write(&beside, &error))?;
        if file.try_lock().is_err() {
            if !is_told {
                // In one piece: others may be saying the same.
                let words = format!(
                    "mayhap: waiting for another run that changes {}\n",
                    path.display()
                );
                let _ = io::stderr().write_all(words.as_bytes());
                is_told = true;
            }
            file.lock().map_err(|error| cannot_write(&beside, &error))?;
        }
        // Otherwise it is a lock that nobody else will find.
        if is_still_there(&file, &beside) {
            interrupt::remove_file(&beside);
            return Ok(FileLock {
                beside,
                _file: file,
            });
        }
    }
}

/// One file has one lock, by whatever links it is reached.
fn lock_file_name(path: &Path) -> PathBuf {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".lock");
    path.with_file_name(name)
}

/// Somebody who had the lock may have removed its name.
fn is_still_there(file: &File, path: &Path) -> bool {
    let held = file.try_clone().and_then(Handle::from_file);
    match (held, Handle::from_path(path)) {
        (Ok(held), Ok(found)) => held == found,
        _ => false,
    }
}
