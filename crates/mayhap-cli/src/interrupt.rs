//! Ctrl-C: removes temporary files before the program ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once};

/// What to remove when the program is interrupted.
#[derive(PartialEq)]
enum TemporaryFiles {
    /// The temporary files of an output file.
    TemporariesOf(PathBuf),
    /// A file.
    File(PathBuf),
}

static TEMPORARY_FILES: Mutex<Vec<TemporaryFiles>> = Mutex::new(Vec::new());

/// From now on, an interrupt removes the temporary files next to `path`.
pub(crate) fn remove_temporaries_of(path: &Path) {
    install_handler(TemporaryFiles::TemporariesOf(path.to_path_buf()));
}

/// From now on, an interrupt removes the file at `path`.
pub(crate) fn remove_file(path: &Path) {
    install_handler(TemporaryFiles::File(path.to_path_buf()));
}

/// The file is kept from now on.
pub(crate) fn keep_file(path: &Path) {
    if let Ok(mut leftovers) = TEMPORARY_FILES.lock() {
        let leftover = TemporaryFiles::File(path.to_path_buf());
        leftovers.retain(|known| *known != leftover);
    }
}

fn install_handler(leftover: TemporaryFiles) {
    static HANDLER: Once = Once::new();
    if let Ok(mut leftovers) = TEMPORARY_FILES.lock() {
        leftovers.push(leftover);
    }
    HANDLER.call_once(|| {
        // Without a handler, at worst a temporary file is left.
        let _ = ctrlc::set_handler(|| {
            if let Ok(leftovers) = TEMPORARY_FILES.lock() {
                for leftover in leftovers.iter() {
                    match leftover {
                        TemporaryFiles::TemporariesOf(path) => {
                            mayhap_codec::remove_temporaries(path);
                        }
                        TemporaryFiles::File(path) => drop(fs::remove_file(path)),
                    }
                }
            }
            std::process::exit(130);
        });
    });
}
