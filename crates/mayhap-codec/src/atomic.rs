//! Atomic replacement of files.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;

/// How many names are tried for the temporary file.
const NAMES: u32 = 100;

/// Creates or replaces a file atomically: after a crash it has its old contents or all that `fill` wrote. The bytes are written to a
/// temporary file in the same folder, synced, and then renamed. The permissions of a file that is replaced are kept, and a symbolic
/// link is followed.
///
/// Pipes and devices are written to: a file in the place of `/dev/null` would be a nasty surprise.
///
/// # Errors
/// When `fill` or writing fails. The temporary file is removed then.
pub fn write_atomically(
    path: impl AsRef<Path>,
    fill: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let path = match fs::canonicalize(path.as_ref()) {
        Ok(path) => path,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.as_ref().to_path_buf(),
        Err(error) => return Err(error),
    };
    if fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        return fill(&OpenOptions::new().write(true).open(&path)?);
    }
    let (temporary, file) = create_beside(&path)?;
    let written = keep_permissions(&file, &path)
        .and_then(|()| fill(&file))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, &path));
    if let Err(error) = written {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    sync_folder(folder_of(&path))
}

/// Removes the temporary files of this process for `path`: for signal handlers.
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

/// A new file in the same folder, under a name that is not in use.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let mut number = 0;
    loop {
        let Some(temporary) = temporary_name(path, number) else {
            let message = "the path has no file name: add one, such as keys.mayhap";
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

/// Syncs the folder, which makes a rename durable.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()
    } else {
        // Other systems cannot sync folders.
        Ok(())
    }
}
