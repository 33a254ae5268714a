//! Ctrl-C: what was begun is taken away before the program ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once};

/// What goes when the program is interrupted.
#[derive(PartialEq)]
enum Leftover {
    /// Temporary files beside a file that is being written.
    TemporariesOf(PathBuf),
    /// A file.
    File(PathBuf),
}

static LEFTOVERS: Mutex<Vec<Leftover>> = Mutex::new(Vec::new());

/// From now on an interrupted program leaves no half file beside `path`.
pub(crate) fn remove_temporaries_of(path: &Path) {
    leave_nothing(Leftover::TemporariesOf(path.to_path_buf()));
}

/// From now on an interrupted program removes the file at `path`.
pub(crate) fn remove_file(path: &Path) {
    leave_nothing(Leftover::File(path.to_path_buf()));
}

/// It is somebody else's again.
pub(crate) fn keep_file(path: &Path) {
    if let Ok(mut leftovers) = LEFTOVERS.lock() {
        let leftover = Leftover::File(path.to_path_buf());
        leftovers.retain(|known| *known != leftover);
    }
}

fn leave_nothing(leftover: Leftover) {
    static HANDLER: Once = Once::new();
    if let Ok(mut leftovers) = LEFTOVERS.lock() {
        leftovers.push(leftover);
    }
    HANDLER.call_once(|| {
        // Without a handler a leftover is the worst that happens.
        let _ = ctrlc::set_handler(|| {
            if let Ok(leftovers) = LEFTOVERS.lock() {
                for leftover in leftovers.iter() {
                    match leftover {
                        Leftover::TemporariesOf(path) => mayhap_codec::remove_temporaries(path),
                        Leftover::File(path) => drop(fs::remove_file(path)),
                    }
                }
            }
            std::process::exit(130);
        });
    });
}
