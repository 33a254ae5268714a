//! `mayhap which`: for each key, the files of an index that may hold it.
//!
//! A file whose filter does not speak for it is always listed: it changed since it was indexed, could not be read then, or is new in an
//! indexed folder.

mod lookup;
mod print;

use crate::args;
use crate::error::CliError;
use crate::index::{FileState, Places, files_below, index_error};
use crate::input::{Block, InputArgs};
use clap::Args;
use lookup::{KeyBatch, Lookup};
use mayhap_codec::index::{Index, IndexedFile, StoredPath};
use print::Printer;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) const EXAMPLES: &str = "\
Examples:
  mayhap which users.idx 4711               the files that may hold the key, one per line
  mayhap which users.idx 4711 4712          each key, then its files, after tabs
  cut -f1 ids.tsv | mayhap which users.idx -
  mayhap which -v users.idx - < ids.txt     the keys that are surely in none of the files
  mayhap which --json users.idx 4711
  grep -w 4711 $(mayhap which users.idx 4711)

A file that is not printed does not hold the key. A file that changed since it was indexed, that could not be
indexed, or that is new in an indexed folder is always printed, and reported: `mayhap index --update -o IDX`
indexes it. Exit status: 0 if something was printed, 1 if nothing was, 2 for an error.";

#[derive(Args, Debug)]
pub(crate) struct WhichArgs {
    /// Index that `mayhap index` wrote
    #[arg(value_name = "IDX")]
    index: PathBuf,
    /// Keys; none or - reads them from standard input, one per line
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    keys: Vec<OsString>,
    /// Print the keys that are in none of the files
    #[arg(short = 'v', long)]
    invert: bool,
    /// Print one JSON object per key and line
    #[arg(long)]
    json: bool,
    /// Do not report files that changed, vanished or are new
    #[arg(short = 'q', long)]
    quiet: bool,
    /// Threads [default: all cores]
    #[arg(short = 'j', value_name = "N", value_parser = args::thread_count)]
    threads: Option<usize>,
}

/// Keys that are looked up at once: enough to read each filter once, few enough for all answers to be in memory.
const BATCH_KEYS: usize = 1024;

pub(crate) fn run(args: &WhichArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    let path = args.index.as_path();
    let index = Index::open(path).map_err(|error| index_error(path, &error))?;
    let places = Places::for_index(path)?;
    let threads = args::threads(args.threads);
    let freshness = Freshness::check(&index, &places, threads)?;
    if !args.quiet {
        freshness.report(path, &index, &places);
    }
    let lookup = Lookup::new(&index, &places, &freshness.states, threads);
    let is_stdin = args.keys.is_empty() || args.keys == ["-"];
    let mut printer = Printer {
        out,
        index: &index,
        places: &places,
        freshness: &freshness,
        invert: args.invert,
        json: args.json,
        is_single: args.keys.len() == 1 && !is_stdin,
        printed: 0,
    };
    let mut is_damaged = false;
    let mut answer = |keys: &[Vec<u8>], first_line: u64| -> Result<(), CliError> {
        let batch = KeyBatch::new(&lookup, keys, first_line)?;
        let found = lookup.find(&batch);
        for (number, error) in &found.damaged {
            is_damaged = true;
            let name = index
                .directory()
                .files
                .get(*number)
                .map(|file| places.path(&file.path));
            crate::print_error(&format!(
                "{} {error}: {} may hold any key; build the index again",
                path.display(),
                name.unwrap_or_default().display()
            ));
        }
        printer.print(keys, &found)?;
        if is_stdin {
            printer.out.flush()?;
        }
        Ok(())
    };
    if is_stdin {
        let mut input = InputArgs::default().for_list(Path::new("-"));
        input.crlf = true;
        let mut blocks = input.blocks();
        let mut block = Block::default();
        let (mut keys, mut first_line): (Vec<Vec<u8>>, u64) = (Vec::new(), 1);
        while blocks.fill(&mut block)? {
            block.for_each_key(|key| keys.extend(key.map(<[u8]>::to_vec)));
            for batch in keys.chunks(BATCH_KEYS) {
                answer(batch, first_line)?;
                first_line += batch.len() as u64;
            }
            keys.clear();
        }
    } else {
        let keys = args.keys.iter().map(|key| key.as_encoded_bytes().to_vec());
        let keys: Vec<Vec<u8>> = keys.collect();
        for (number, batch) in keys.chunks(BATCH_KEYS).enumerate() {
            answer(batch, (number * BATCH_KEYS) as u64 + 1)?;
        }
    }
    let printed = printer.printed;
    Ok(ExitCode::from(match (is_damaged, printed) {
        (true, _) => 2,
        (false, 0) => 1,
        (false, _) => 0,
    }))
}

/// What the filters of a file say about it now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// It is as it was when it was indexed.
    Unchanged,
    /// It changed, or its state cannot be read: it may hold any key.
    Changed,
    /// It could not be indexed: it may hold any key.
    NotIndexed,
    /// It does not exist: it holds no key.
    Gone,
}

/// The files of the index and of its folders, compared with the index.
pub(crate) struct Freshness {
    /// One for each indexed file.
    states: Vec<Standing>,
    /// The indexed files that may hold any key, and why.
    always: Vec<(u32, &'static str)>,
    /// Files in indexed folders that are not in the index, in order.
    new: Vec<StoredPath>,
}

impl Freshness {
    fn check(index: &Index, places: &Places, threads: usize) -> Result<Self, CliError> {
        let files = &index.directory().files;
        let per_thread = files.len().div_ceil(threads).max(64);
        std::thread::scope(|scope| {
            let chunks = files.chunks(per_thread).map(|files| {
                scope.spawn(move || {
                    let states = files.iter().map(|file| standing(file, places));
                    states.collect::<Vec<Standing>>()
                })
            });
            let chunks: Vec<_> = chunks.collect();
            let new = new_files(index, places)?;
            let mut states = Vec::with_capacity(files.len());
            for chunk in chunks {
                match chunk.join() {
                    Ok(chunk) => states.extend(chunk),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            let always = (0..)
                .zip(&states)
                .filter_map(|(number, state)| match state {
                    Standing::Changed => Some((number, "changed")),
                    Standing::NotIndexed => Some((number, "not indexed")),
                    Standing::Unchanged | Standing::Gone => None,
                });
            Ok(Self {
                always: always.collect(),
                states,
                new,
            })
        })
    }

    /// One line for each file whose filter does not speak for it.
    fn report(&self, path: &Path, index: &Index, places: &Places) {
        let mut lines = Vec::new();
        let mut line = |text: String| lines.push(text);
        if let Some(error) = index.damaged_header() {
            line(format!(
                "{} {error}, perhaps because an update was interrupted: using the state before it; run `mayhap index --update`",
                path.display()
            ));
        }
        for (file, state) in index.directory().files.iter().zip(&self.states) {
            let name = places.path(&file.path);
            let name = name.display();
            match state {
                Standing::Unchanged => {}
                Standing::Changed => {
                    line(format!(
                        "{name} changed since it was indexed: it may hold any key"
                    ));
                }
                Standing::NotIndexed => {
                    line(format!("{name} could not be indexed: it may hold any key"));
                }
                Standing::Gone => line(format!("{name} is gone: it is not listed")),
            }
        }
        for stored in &self.new {
            line(format!(
                "{} is not in the index: it may hold any key",
                places.path(stored).display()
            ));
        }
        crate::print_messages(&lines);
    }
}

fn standing(file: &IndexedFile, places: &Places) -> Standing {
    let indexed = FileState {
        size: file.size,
        modified_ns: file.modified_ns,
    };
    let found = fs::metadata(places.path(&file.path));
    match found.and_then(|found| FileState::new(&found)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Standing::Gone,
        _ if !file.is_covered => Standing::NotIndexed,
        Ok(state) if state == indexed => Standing::Unchanged,
        // A file whose state cannot be read may have changed.
        _ => Standing::Changed,
    }
}

fn new_files(index: &Index, places: &Places) -> Result<Vec<StoredPath>, CliError> {
    let directory = index.directory();
    let mut found = BTreeSet::new();
    for root in &directory.roots {
        let path = places.path(&root.path);
        // The files of a folder that is gone are reported one by one.
        if root.is_folder && path.is_dir() {
            found.extend(files_below(places, &root.path)?.files);
        } else if !root.is_folder && path.exists() {
            // It was gone when the index was updated, and is back.
            found.insert(root.path.clone());
        }
    }
    for file in &directory.files {
        found.remove(&file.path);
    }
    Ok(found.into_iter().collect())
}
