//! The disk interface of the log: one folder of files. It is a trait, so that tests can crash the disk.

use std::io;

/// A folder whose files only this journal changes.
pub trait Disk: Send + Sync + 'static {
    /// An open file.
    type File: Send + Sync + 'static;

    /// The names of all files.
    ///
    /// # Errors
    /// When the folder cannot be read.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Creates a file for reading and writing; truncates it if it exists.
    ///
    /// # Errors
    /// If the disk fails.
    fn create(&self, name: &str) -> io::Result<Self::File>;

    /// Opens an existing file for reading and writing.
    ///
    /// # Errors
    /// If it does not exist, or the disk fails.
    fn open(&self, name: &str) -> io::Result<Self::File>;

    /// Renames a file and replaces any file of the new name. On an error nothing has changed.
    ///
    /// # Errors
    /// If the disk fails.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// If it does not exist, or the disk fails.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes every earlier create, rename and remove durable.
    ///
    /// # Errors
    /// If the disk does not confirm it.
    fn sync_folder(&self) -> io::Result<()>;

    /// Makes the folder itself durable, by syncing every folder above it.
    ///
    /// # Errors
    /// If the disk does not confirm it.
    fn sync_path(&self) -> io::Result<()>;

    /// The length of a file in bytes.
    ///
    /// # Errors
    /// If the disk fails.
    fn length(&self, file: &Self::File) -> io::Result<u64>;

    /// Reads into a buffer and returns the number of bytes; 0 at the end of the file.
    ///
    /// # Errors
    /// If the disk fails.
    fn read_at(&self, file: &Self::File, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes all of these bytes. After an error, any part of them may have been written.
    ///
    /// # Errors
    /// If the disk is full or fails.
    fn write_at(&self, file: &Self::File, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Truncates a file.
    ///
    /// # Errors
    /// If the disk fails.
    fn set_length(&self, file: &Self::File, length: u64) -> io::Result<()>;

    /// Makes every earlier write to the file durable.
    ///
    /// # Errors
    /// If the disk does not confirm it. A later sync that succeeds does not prove that these writes are durable.
    fn sync(&self, file: &Self::File) -> io::Result<()>;
}
