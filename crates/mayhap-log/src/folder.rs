//! A folder of the file system.

use crate::disk::Disk;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The file whose lock excludes other processes. It is never removed: removing it could remove another process's lock.
const LOCK: &str = "lock";

/// A folder of the file system, locked against other processes.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Opens a folder, or creates it.
    ///
    /// # Errors
    /// If it cannot be created or opened, or another process has it open ([`io::ErrorKind::ResourceBusy`]).
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_path_buf();
        fs::create_dir_all(&path)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                format!(
                    "another program uses {}: stop it, or choose another folder",
                    path.display()
                ),
            )),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn sync_names(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()
    } else {
        // Other systems cannot open a folder for this.
        Ok(())
    }
}

impl Disk for Folder {
    type File = File;

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            // Our names are UTF-8.
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<File> {
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(self.path.join(name))
    }

    fn open(&self, name: &str) -> io::Result<File> {
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(self.path.join(name))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn sync_folder(&self) -> io::Result<()> {
        sync_names(&self.path)
    }

    /// Syncs all folders above: any of them may be new, and whoever created it may have crashed before syncing it.
    fn sync_path(&self) -> io::Result<()> {
        let path = self.path.canonicalize()?;
        for folder in path.ancestors().skip(1) {
            if let Err(error) = sync_names(folder) {
                match error.kind() {
                    // Without permission to read or write there, we have created nothing there.
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => break,
                    // A file system that does not sync folders.
                    io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => {}
                    _ => return Err(error),
                }
            }
        }
        Ok(())
    }

    fn length(&self, file: &File) -> io::Result<u64> {
        Ok(file.metadata()?.len())
    }

    fn read_at(&self, file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match read_once(file, offset, buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }

    fn write_at(&self, file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
        write_all(file, offset, bytes)
    }

    fn set_length(&self, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        // This includes the length; other attributes do not matter.
        file.sync_data()
    }
}

#[cfg(unix)]
fn read_once(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(unix)]
fn write_all(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn read_once(mut file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
    io::Read::read(&mut file, buffer)
}

#[cfg(not(unix))]
fn write_all(mut file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
    io::Write::write_all(&mut file, bytes)
}
