//! Files on disk: saved as a whole or not at all, opened with every checksum verified.

use super::{HashKey, decode, decode_with_key, write_with};
use crate::{DecodeError, Limits};
use mayhap::{AnyFilter, SipKey};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read};
use std::path::{Path, PathBuf};
use std::{fmt, process};

/// Names that are tried for the temporary file when others are taken.
const NAMES: u32 = 100;

/// Why a file was not opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// It could not be read.
    Io(io::Error),
    /// It was read, and holds no whole filter.
    Decode(DecodeError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Decode(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

/// Saves a filter: at any moment, whatever happens, the file is what it was before or all of the new one. The bytes go to a
/// temporary file in the same folder, to the disk, and then to their name. Permissions of a file that is replaced are kept.
///
/// # Errors
/// When there are no files of the filter's kind, or the disk does not take it. The temporary file is removed then.
pub fn save(filter: &AnyFilter, hash_key: HashKey, path: impl AsRef<Path>) -> io::Result<()> {
    // A link stays a link: what it points to is replaced.
    let path = match fs::canonicalize(path.as_ref()) {
        Ok(path) => path,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.as_ref().to_path_buf(),
        Err(error) => return Err(error),
    };
    let (temporary, file) = create_beside(&path)?;
    let saved = fill(&file, filter, hash_key, &path).and_then(|()| fs::rename(&temporary, &path));
    if let Err(error) = saved {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    sync_folder(folder_of(&path))
}

fn fill(file: &File, filter: &AnyFilter, hash_key: HashKey, replaced: &Path) -> io::Result<()> {
    match fs::metadata(replaced) {
        Ok(metadata) => file.set_permissions(metadata.permissions())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    write_with(filter, hash_key, BufWriter::new(file))?;
    file.sync_all()
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A new file in the same folder, which nobody else has.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let Some(name) = path.file_name() else {
        let message = "the path ends in no file name: give one, such as keys.mayhap";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    };
    let mut number = 0;
    loop {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.{number}.tmp", process::id()));
        let temporary = folder_of(path).join(hidden);
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)
        {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES => {
                number += 1;
            }
            opened => return opened.map(|file| (temporary, file)),
        }
    }
}

/// A new name lasts once its folder is on the disk.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()
    } else {
        // Folders cannot be opened for this elsewhere.
        Ok(())
    }
}

/// Opens a file, reads and verifies all of it. `key` is the secret key, for files that do not contain it.
///
/// # Errors
/// When it cannot be read, is damaged, takes more memory than allowed, or needs another key.
pub fn open(
    path: impl AsRef<Path>,
    limits: Limits,
    key: Option<SipKey>,
) -> Result<AnyFilter, OpenError> {
    let bytes = read_all(path.as_ref(), limits).map_err(OpenError::Io)?;
    match key {
        None => decode(&bytes, limits),
        Some(key) => decode_with_key(&bytes, limits, key),
    }
    .map_err(OpenError::Decode)
}

/// Reads at most what a file of a filter within the limits can have, with header and checksums; a longer one is cut, and
/// refused as such.
fn read_all(path: &Path, limits: Limits) -> io::Result<Vec<u8>> {
    let most = limits.most_bytes.saturating_add(limits.most_bytes / 1024);
    let most = most.saturating_add(2 << 20);
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    // As long as the file says it is, and a byte to see its end; pipes have no length, and grow.
    let length = file.metadata()?.len().min(most);
    let room = usize::try_from(length + 1).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(room).map_err(io::Error::other)?;
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
