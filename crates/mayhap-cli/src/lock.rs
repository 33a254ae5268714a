//! A lock so that only one process at a time changes a file.

use crate::error::CliError;
use crate::interrupt;
use crate::output::cannot_write;
use same_file::Handle;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A lock, held until it is dropped.
pub(crate) struct FileLock {
    beside: PathBuf,
    // Closed after the removal, so that no other process opens the name without the lock.
    _file: File,
}

impl Drop for FileLock {
    fn drop(&mut self) {
        interrupt::keep_file(&self.beside);
        // A file that cannot be removed can still be locked again.
        let _ = fs::remove_file(&self.beside);
    }
}

/// Waits until no other process changes the file. The lock is a separate file next to it, because the file itself is replaced.
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
                // One write, because other processes may print the same.
                let words = format!(
                    "mayhap: waiting for another run that changes {}\n",
                    path.display()
                );
                let _ = io::stderr().write_all(words.as_bytes());
                is_told = true;
            }
            file.lock().map_err(|error| cannot_write(&beside, &error))?;
        }
        // Otherwise the lock file was removed, and no other process would find it.
        if is_still_there(&file, &beside) {
            interrupt::remove_file(&beside);
            return Ok(FileLock {
                beside,
                _file: file,
            });
        }
    }
}

/// The lock belongs to the file, not to a link to it.
fn lock_file_name(path: &Path) -> PathBuf {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".lock");
    path.with_file_name(name)
}

/// The previous holder may have removed the name.
fn is_still_there(file: &File, path: &Path) -> bool {
    let held = file.try_clone().and_then(Handle::from_file);
    match (held, Handle::from_path(path)) {
        (Ok(held), Ok(found)) => held == found,
        _ => false,
    }
}
