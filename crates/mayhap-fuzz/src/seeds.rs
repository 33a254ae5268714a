//! Where fuzzing begins: files that other systems wrote, by their paths.

use crate::Target;
use std::path::{Path, PathBuf};

/// The golden files of a target, the shortest first.
///
/// # Panics
/// When they cannot be read, or there is none.
pub fn golden(target: &Target) -> Vec<PathBuf> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    let mut files = Vec::new();
    for (folder, ending) in target.seeds {
        let folder = golden.join(folder);
        let entries = folder.read_dir();
        let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let path = entry.expect("an entry of the folder").path();
            let bytes = path.metadata().map_or(0, |metadata| metadata.len());
            if path.to_string_lossy().ends_with(ending) {
                files.push((bytes, path));
            }
        }
    }
    assert!(!files.is_empty(), "{} has no golden files", target.name);
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}
