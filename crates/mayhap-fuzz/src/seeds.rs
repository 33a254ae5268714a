//! Where fuzzing begins: files that other systems wrote, by their paths.

use crate::Target;
use std::path::{Path, PathBuf};

/// Endings of golden files that no filter is in: descriptions, transcripts and keys.
const NO_FILTERS: [&str; 4] = ["json", "md", "gz", "key"];

/// The golden files of a target, the shortest first.
///
/// # Panics
/// When they cannot be read, or there is none.
pub fn golden(target: &Target) -> Vec<PathBuf> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    let mut files = Vec::new();
    for (folder, ending) in target.seeds {
        let is_seed = |path: &Path| path.to_string_lossy().ends_with(ending);
        list(&golden.join(folder), &is_seed, &mut files);
    }
    if target.seeds.is_empty() {
        let is_filter = |path: &Path| {
            let extension = path
                .extension()
                .map(|extension| extension.to_string_lossy());
            extension.is_some_and(|extension| !NO_FILTERS.contains(&&*extension))
        };
        for folder in entries(&golden).into_iter().filter(|path| path.is_dir()) {
            list(&folder, &is_filter, &mut files);
        }
    }
    assert!(!files.is_empty(), "{} has no golden files", target.name);
    files.sort();
    files.into_iter().map(|(_, path)| path).collect()
}

fn list(folder: &Path, is_seed: &dyn Fn(&Path) -> bool, files: &mut Vec<(u64, PathBuf)>) {
    for path in entries(folder) {
        if path.is_file() && is_seed(&path) {
            let bytes = path.metadata().map_or(0, |metadata| metadata.len());
            files.push((bytes, path));
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir();
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let path = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("a directory entry").path();
    entries.map(path).collect()
}
