//! What the log asks of a disk: one folder of files. The seam between the log and the machine, so that tests can crash it.

use std::io;

/// One folder, of which nobody else changes the files.
pub trait Disk: Send + Sync + 'static {
    /// An open file.
    type File: Send + Sync + 'static;

    /// The names of all files.
    ///
    /// # Errors
    /// When the folder cannot be read.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Makes an empty file, or empties the one that is there, to be read and written.
    ///
    /// # Errors
    /// When the disk cannot.
    fn create(&self, name: &str) -> io::Result<Self::File>;

    /// Opens a file that is there, to be read and written.
    ///
    /// # Errors
    /// When there is none, or the disk cannot.
    fn open(&self, name: &str) -> io::Result<Self::File>;

    /// Gives a file another name; one that had this name is gone. An error means that nothing happened.
    ///
    /// # Errors
    /// When the disk cannot.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// When there is none, or the disk cannot.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Returns when all that was created, renamed or removed before would survive a loss of power.
    ///
    /// # Errors
    /// When this is not known.
    fn sync_folder(&self) -> io::Result<()>;

    /// Returns when the folder itself would survive a loss of power: it is a name in another folder, and so on up.
    ///
    /// # Errors
    /// When this is not known.
    fn sync_path(&self) -> io::Result<()>;

    /// The bytes of a file.
    ///
    /// # Errors
    /// When the disk cannot say.
    fn length(&self, file: &Self::File) -> io::Result<u64>;

    /// Reads into a buffer and says how much; 0 at the end of the file.
    ///
    /// # Errors
    /// When the disk cannot.
    fn read_at(&self, file: &Self::File, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes all of these bytes. After an error any part of them may be there.
    ///
    /// # Errors
    /// When the disk is full or fails.
    fn write_at(&self, file: &Self::File, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts a file off.
    ///
    /// # Errors
    /// When the disk cannot.
    fn set_length(&self, file: &Self::File, length: u64) -> io::Result<()>;

    /// Returns when all that was written to the file before would survive a loss of power.
    ///
    /// # Errors
    /// When this is not known; it must not be believed of a second try either.
    fn sync(&self, file: &Self::File) -> io::Result<()>;
}
