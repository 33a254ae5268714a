//! Files that are there as a whole, or as they were before.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;

/// Names that are tried for the temporary file when others are taken.
const NAMES: u32 = 100;

/// Replaces a file, or makes it: at any moment, whatever happens, it is what it was before or all of what `fill` wrote. The bytes
/// go to a temporary file in the same folder, to the disk, and then to their name. Permissions of a file that is replaced are
/// kept, and a link stays a link.
///
/// # Errors
/// When `fill` fails or the disk does not take it. The temporary file is removed then.
pub fn write_atomically(
    path: impl AsRef<Path>,
    fill: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let path = match fs::canonicalize(path.as_ref()) {
        Ok(path) => path,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.as_ref().to_path_buf(),
        Err(error) => return Err(error),
    };
    let (temporary, file) = create_beside(&path)?;
    let written = keep_permissions(&file, &path)
        .and_then(|()| fill(&file))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, &path));
    if let Err(error) = written {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    sync_folder(folder_of(&path))
}

/// Removes what this process has begun to write beside `path` and will not finish: for handlers of signals.
pub fn remove_temporaries(path: impl AsRef<Path>) {
    let path = path.as_ref();
    let resolved = fs::canonicalize(path);
    for number in 0..=NAMES {
        if let Some(temporary) = temporary_name(resolved.as_deref().unwrap_or(path), number) {
            let _ = fs::remove_file(temporary);
        }
    }
}

fn keep_permissions(file: &File, replaced: &Path) -> io::Result<()> {
    match fs::metadata(replaced) {
        Ok(metadata) => file.set_permissions(metadata.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn temporary_name(path: &Path, number: u32) -> Option<PathBuf> {
    let mut hidden = OsString::from(".");
    hidden.push(path.file_name()?);
    hidden.push(format!(".{}.{number}.tmp", process::id()));
    Some(folder_of(path).join(hidden))
}

/// A new file in the same folder, which nobody else has.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let mut number = 0;
    loop {
        let Some(temporary) = temporary_name(path, number) else {
            let message = "the path ends in no file name: give one, such as keys.mayhap";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        };
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
