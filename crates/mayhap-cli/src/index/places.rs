//! Paths in an index, and the files of a folder that belong to it.

use crate::error::CliError;
use crate::input::cannot_read;
use mayhap_codec::index::StoredPath;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The folder of an index. Paths below it are stored relative to it, so that a folder can be moved with its index.
pub(crate) struct Places {
    /// As the user names it.
    named: PathBuf,
    canonical: PathBuf,
}

impl Places {
    pub(crate) fn for_index(index: &Path) -> Result<Self, CliError> {
        let is_link = fs::symlink_metadata(index).is_ok_and(|found| found.is_symlink());
        let target = if is_link {
            fs::canonicalize(index).map_err(|error| cannot_read(index, &error))?
        } else {
            index.to_path_buf()
        };
        let named = target.parent().unwrap_or(Path::new("")).to_path_buf();
        let folder = if named.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &named
        };
        let canonical = fs::canonicalize(folder).map_err(|error| cannot_read(folder, &error))?;
        Ok(Self { named, canonical })
    }

    /// The path of a file in messages and results.
    pub(crate) fn path(&self, stored: &StoredPath) -> PathBuf {
        let path = PathBuf::from(os_string(&stored.bytes));
        if !stored.is_relative {
            return path;
        }
        if path.as_os_str().is_empty() {
            // The folder of the index itself.
            return if self.named.as_os_str().is_empty() {
                PathBuf::from(".")
            } else {
                self.named.clone()
            };
        }
        self.named.join(path)
    }

    /// What to store for a path. Links to files keep their names.
    pub(crate) fn stored(&self, path: &Path) -> io::Result<StoredPath> {
        let canonical = match path.file_name() {
            Some(name) if !path.is_dir() => {
                let folder = path
                    .parent()
                    .filter(|folder| !folder.as_os_str().is_empty());
                fs::canonicalize(folder.unwrap_or(Path::new(".")))?.join(name)
            }
            _ => fs::canonicalize(path)?,
        };
        Ok(self.stored_canonical(&canonical))
    }

    fn stored_canonical(&self, canonical: &Path) -> StoredPath {
        let relative = canonical.strip_prefix(&self.canonical);
        StoredPath {
            is_relative: relative.is_ok(),
            bytes: relative
                .unwrap_or(canonical)
                .as_os_str()
                .as_encoded_bytes()
                .to_vec(),
        }
    }

    /// A stored path of a file in a folder.
    fn child(folder: &StoredPath, name: &std::ffi::OsStr) -> StoredPath {
        let mut bytes = folder.bytes.clone();
        if !bytes.is_empty() && !bytes.ends_with(b"/") {
            bytes.extend_from_slice(std::path::MAIN_SEPARATOR_STR.as_bytes());
        }
        bytes.extend_from_slice(name.as_encoded_bytes());
        StoredPath {
            is_relative: folder.is_relative,
            bytes,
        }
    }
}

#[cfg(unix)]
fn os_string(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    OsString::from_vec(bytes.to_vec())
}

#[cfg(not(unix))]
fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// The size of a file and the time of its last change: if both are the same, it is taken to be unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FileState {
    pub(crate) size: u64,
    pub(crate) modified_ns: i64,
}

impl FileState {
    pub(crate) fn new(metadata: &Metadata) -> io::Result<Self> {
        let modified = metadata.modified()?;
        let nanoseconds = match modified.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_nanos()),
            Err(before) => i64::try_from(before.duration().as_nanos()).map(|before| -before),
        };
        Ok(Self {
            size: metadata.len(),
            modified_ns: nanoseconds.unwrap_or(i64::MAX),
        })
    }
}

/// Endings of files in folders that are indexed.
const TEXT: [&str; 11] = [
    ".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".txt", ".text", ".log", ".lst", ".keys",
];
const BINARY: [&str; 6] = [".parquet", ".parq", ".pq", ".ldb", ".sst", "-filter.db"];
const COMPRESSED: [&str; 5] = [".gz", ".zst", ".bz2", ".xz", ".lz4"];
const CASSANDRA_DATA: &str = "-Data.db";

/// Whether a file in a folder belongs to the index, by its name.
fn is_indexed(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let has_one_of = |name: &str, endings: &[&str]| endings.iter().any(|end| name.ends_with(end));
    let text = COMPRESSED.iter().find_map(|end| name.strip_suffix(end));
    has_one_of(&name, &BINARY) || has_one_of(text.unwrap_or(&name), &TEXT)
}

/// The files of a folder.
#[derive(Default)]
pub(crate) struct FolderFiles {
    pub(crate) files: Vec<StoredPath>,
    /// Files with other endings: their number, and one of them.
    pub(crate) others: Option<(u64, PathBuf)>,
}

/// The files below a folder that are indexed.
pub(crate) fn files_below(places: &Places, root: &StoredPath) -> Result<FolderFiles, CliError> {
    let mut found = FolderFiles::default();
    find(places, root, &mut found)?;
    Ok(found)
}

fn find(places: &Places, folder: &StoredPath, found: &mut FolderFiles) -> Result<(), CliError> {
    let path = places.path(folder);
    let cannot = |error: io::Error| cannot_read(&path, &error);
    let (mut own, mut tables, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let mut filters = BTreeSet::new();
    for entry in fs::read_dir(&path).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let name = entry.file_name();
        if matches!(name.as_encoded_bytes().first(), Some(b'.' | b'_')) {
            continue;
        }
        let stored = Places::child(folder, &name);
        let kind = entry.file_type().map_err(cannot)?;
        // A link to a folder may lead back here.
        if kind.is_dir() {
            find(places, &stored, found)?;
            continue;
        }
        if !kind.is_file() && !fs::metadata(entry.path()).is_ok_and(|found| found.is_file()) {
            continue;
        }
        let text = name.to_string_lossy();
        if let Some(table) = text.strip_suffix(CASSANDRA_DATA) {
            tables.push((table.to_owned(), stored));
        } else if is_indexed(&text) {
            if let Some(table) = text.strip_suffix("-Filter.db") {
                filters.insert(table.to_owned());
            }
            own.push((text.into_owned(), stored));
        } else {
            others.push((text.into_owned(), entry.path()));
        }
    }
    // An SSTable without a filter may hold any key. The other files of an SSTable have no keys of their own.
    let is_of_table = |name: &str| {
        let tables = tables.iter().map(|(table, _)| table);
        tables
            .chain(&filters)
            .any(|table| name.starts_with(&format!("{table}-")))
    };
    for (name, path) in others {
        if !is_of_table(&name) {
            let others = found.others.get_or_insert((0, path));
            others.0 += 1;
        }
    }
    // Such as nb-1-big-TOC.txt.
    own.retain(|(name, _)| name.ends_with("-Filter.db") || !is_of_table(name));
    found
        .files
        .extend(own.into_iter().map(|(_, stored)| stored));
    let lacking = tables
        .into_iter()
        .filter(|(table, _)| !filters.contains(table));
    found.files.extend(lacking.map(|(_, stored)| stored));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_indexed_by_their_endings() {
        for name in [
            "a.parquet",
            "A.CSV",
            "a.csv.gz",
            "log.jsonl.zst",
            "000005.ldb",
            "nb-1-big-Filter.db",
        ] {
            assert!(is_indexed(name), "{name}");
        }
        for name in [
            "a.parquet.gz",
            "README",
            "a.mayhap",
            "users.idx",
            "nb-1-big-Index.db",
        ] {
            assert!(!is_indexed(name), "{name}");
        }
    }
}
