//! What to do: which files are kept, read, or dropped.

use super::files;
use super::places::{FileState, Places, files_below};
use crate::error::CliError;
use crate::human_format;
use crate::input::cannot_read;
use mayhap_codec::index::{Directory, FilterEntry, IndexedFile, Root, StoredPath};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// A file to read.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) stored: StoredPath,
    pub(super) path: PathBuf,
    /// As it was before it is read: a change while it is read makes the entry stale.
    pub(super) state: FileState,
    is_known: bool,
}

pub(super) struct Plan {
    pub(super) roots: Vec<Root>,
    pub(super) kept: Vec<IndexedFile>,
    pub(super) jobs: Vec<Job>,
    dropped: Vec<StoredPath>,
    /// Files in folders that have other endings: their number, and one of them.
    others: Vec<(StoredPath, u64, PathBuf)>,
    is_update: bool,
    has_new_root: bool,
}

impl Plan {
    pub(super) fn new(
        inputs: &[PathBuf],
        stored: Option<&Directory>,
        places: &Places,
        output: &Path,
    ) -> Result<Self, CliError> {
        let mut plan = Self {
            roots: stored.map_or(Vec::new(), |stored| stored.roots.clone()),
            kept: Vec::new(),
            jobs: Vec::new(),
            dropped: Vec::new(),
            others: Vec::new(),
            is_update: stored.is_some(),
            has_new_root: false,
        };
        for input in inputs {
            let metadata = fs::metadata(input).map_err(|error| cannot_read(input, &error))?;
            let root = Root {
                path: places
                    .stored(input)
                    .map_err(|error| cannot_read(input, &error))?,
                is_folder: metadata.is_dir(),
            };
            if !metadata.is_dir() && !metadata.is_file() {
                return Err(CliError::message(format!(
                    "{} is neither a file nor a folder: give files, which can be read again",
                    input.display()
                )));
            }
            if !plan.roots.contains(&root) {
                plan.has_new_root = true;
                plan.roots.push(root);
            }
        }
        let own = places.stored(output).ok();
        let mut known: BTreeMap<StoredPath, &IndexedFile> = stored
            .iter()
            .flat_map(|stored| &stored.files)
            .map(|file| (file.path.clone(), file))
            .collect();
        for stored in plan.wanted(places)? {
            if Some(&stored) == own.as_ref() {
                continue;
            }
            let path = places.path(&stored);
            let found = fs::metadata(&path).and_then(|metadata| FileState::new(&metadata));
            let state = match found {
                Ok(state) => state,
                // It vanished in the meantime, or since the last update.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(cannot_read(&path, &error)),
            };
            let before = known.remove(&stored);
            let is_same = |file: &&IndexedFile| {
                let then = FileState {
                    size: file.size,
                    modified_ns: file.modified_ns,
                };
                file.is_covered && then == state
            };
            match before.filter(is_same) {
                Some(file) => plan.kept.push(file.clone()),
                None => plan.jobs.push(Job {
                    stored,
                    path,
                    state,
                    is_known: before.is_some(),
                }),
            }
        }
        plan.dropped.extend(known.into_keys());
        Ok(plan)
    }

    /// All files that belong to the index, each once.
    fn wanted(&mut self, places: &Places) -> Result<Vec<StoredPath>, CliError> {
        let mut wanted = Vec::new();
        for root in &self.roots {
            if !root.is_folder {
                wanted.push(root.path.clone());
                continue;
            }
            let path = places.path(&root.path);
            if self.is_update && !path.is_dir() {
                return Err(CliError::message(format!(
                    "{} is no longer a folder: its files would all be dropped; move it back, or build a new index without --update",
                    path.display()
                )));
            }
            let found = files_below(places, &root.path)?;
            if let Some((count, example)) = found.others {
                self.others.push((root.path.clone(), count, example));
            }
            wanted.extend(found.files);
        }
        wanted.sort();
        wanted.dedup();
        Ok(wanted)
    }

    pub(super) fn is_up_to_date(&self) -> bool {
        self.jobs.is_empty() && self.dropped.is_empty() && !self.has_new_root
    }

    /// What an update does, file by file; and which files of folders are left out.
    pub(super) fn report(&self, places: &Places) {
        let mut lines = Vec::new();
        let mut line = |text: String| lines.push(text);
        if self.is_update {
            for job in &self.jobs {
                let what = if job.is_known { "changed" } else { "new" };
                line(format!("{}: {what}", job.path.display()));
            }
            for stored in &self.dropped {
                line(format!("{}: gone, dropped", places.path(stored).display()));
            }
            if self.is_up_to_date() {
                line(format!(
                    "{} unchanged, nothing to do",
                    files(self.kept.len() as u64)
                ));
            }
        }
        for (root, count, example) in &self.others {
            let (root, example) = (places.path(root), example.display());
            line(match count {
                1 => format!("{example} is not indexed because of its ending: name it to index it"),
                more => format!(
                    "{} of {} are not indexed because of their endings, such as {example}: name them to index them",
                    files(*more),
                    root.display()
                ),
            });
        }
        crate::print_messages(&lines);
    }
}

/// One line about the result, on a terminal.
pub(super) fn summarize(output: &Path, directory: &Directory) {
    let mut stderr = io::stderr();
    if !stderr.is_terminal() {
        return;
    }
    let keys: u64 = directory.filters().map(|filter| filter.keys).sum();
    let size: u64 = directory.filters().map(FilterEntry::size_bytes).sum();
    let _ = writeln!(
        stderr,
        "mayhap: {}: {}, {}, {}",
        output.display(),
        files(directory.files.len() as u64),
        human_format::with_unit(keys, "key"),
        human_format::size(size)
    );
}
