//! `mayhap index`: one small filter for each file, in an index that `mayhap which` queries.
//!
//! | place | what it answers |
//! | --- | --- |
//! | `index/settings.rs` | what does an update have to know? |
//! | `index/places.rs` | how are paths stored, and which files of a folder are indexed? |
//! | `index/file_keys.rs` | which keys does a file hold? |
//! | `index/hash_spool.rs` | how is a filter built in little memory? |
//! | `index/plan.rs` | what changed since the last time? |
//! | `index/report.rs` | what do `info` and `verify` print? |

mod file_keys;
mod hash_spool;
mod places;
mod plan;
mod report;
mod settings;

pub(crate) use file_keys::{cassandra_filter, cassandra_reader};
pub(crate) use places::{FileState, Places, files_below};
pub(crate) use report::{describe, is_index_file, verify};
pub(crate) use settings::Settings;

use crate::args;
use crate::error::CliError;
use crate::human_format;
use crate::input::check_input_is_not_output;
use crate::lock::lock;
use crate::named_values;
use crate::output::{cannot_write, check_writable};
use crate::progress::Progress;
use clap::{Args, ValueEnum};
use file_keys::{BuiltFilter, read_file};
use mayhap_codec::KeyType;
use mayhap_codec::index::{Directory, Index, IndexError, IndexWriter, IndexedFile, StoredPath};
use plan::{Job, Plan};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

pub(crate) const EXAMPLES: &str = "\
Examples:
  mayhap index --column user_id -o users.idx data/        Parquet, CSV and JSON lines in a folder
  mayhap index -o words.idx words.txt more.txt.gz         each line is a key
  mayhap index --update -o users.idx                      read only what changed
  mayhap index --column user_id --granularity row-group -o groups.idx part.parquet
  mayhap which users.idx 4711                             the files that may hold a key

In folders, files with these endings are indexed: .parquet .pq .csv .tsv .json .jsonl .ndjson .txt .log .ldb .sst
and -Filter.db of Cassandra, text also compressed. Files that are named are always indexed. Names that begin
with . or _ are skipped. A file that cannot be read is reported, and `which` always lists it.
Exit status: 0 if all files were indexed, 2 otherwise.";

/// The default rate: of a thousand files, one is read in vain.
const RATE: f64 = 0.001;

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct IndexArgs {
    /// Key column of Parquet, CSV and JSON lines, by name, or by number from 1 if there are no names
    #[arg(long, value_name = "C")]
    column: Option<String>,
    /// False-positive rate of each filter, as 0.001 or 0.1% [default: 0.1%]
    #[arg(long, value_name = "P", value_parser = args::rate, allow_negative_numbers = true)]
    fpr: Option<f64>,
    /// Kind of the filters: ribbon is smaller, fuse is faster [default: ribbon]
    #[arg(long, value_name = "KIND", value_enum)]
    kind: Option<IndexKind>,
    /// One filter per file, or per row group of Parquet files [default: file]
    #[arg(long, value_name = "G", value_enum)]
    granularity: Option<Granularity>,
    /// Type of the keys, for lines, tables of LevelDB and RocksDB, and filters of Cassandra [default: text]
    #[arg(long, value_name = "TYPE", value_parser = named_values::key_type())]
    key_type: Option<KeyType>,
    /// What separates the fields of text: a character or tab [default: by the file name]
    #[arg(long, value_name = "D", value_parser = args::delimiter, requires = "column")]
    delimiter: Option<u8>,
    /// The first row contains column names, although --column is a number
    #[arg(long, requires = "column")]
    header: bool,
    /// Index file
    #[arg(short = 'o', long, value_name = "IDX", required = true)]
    output: PathBuf,
    /// Read only files that are new or changed, and drop those that are gone; options and inputs are remembered
    #[arg(long)]
    update: bool,
    /// Do not report which files are new, changed or gone
    #[arg(short = 'q', long)]
    quiet: bool,
    /// Overwrite a file that is not an index
    #[arg(long)]
    force: bool,
    /// Threads, each of which reads one file [default: all cores]
    #[arg(short = 'j', value_name = "N", value_parser = args::thread_count)]
    threads: Option<usize>,
    /// Files and folders
    #[arg(value_name = "FILE|DIR")]
    inputs: Vec<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum IndexKind {
    Ribbon,
    Fuse,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Granularity {
    File,
    RowGroup,
}

pub(crate) fn run(args: &IndexArgs) -> Result<ExitCode, CliError> {
    let output = args.output.as_path();
    check_writable(output)?;
    check_input_is_not_output(&args.inputs, output)?;
    let existing = open_existing(args)?;
    let _lock = lock(output)?;
    // Another run may have changed it while this one waited.
    let existing = match existing {
        Some(_) => open_existing(args)?,
        None => None,
    };
    let places = Places::for_index(output)?;
    let stored = existing.as_ref().map(Index::directory);
    let settings = Settings::merge(args, stored)?;
    let mut plan = Plan::new(&args.inputs, stored, &places, output)?;
    if !args.quiet {
        plan.report(&places);
    }
    if existing.is_some() && plan.is_up_to_date() {
        return Ok(ExitCode::SUCCESS);
    }
    let jobs = std::mem::take(&mut plan.jobs);
    let reading = Reading::start(&settings, jobs, args.threads);
    let mut directory = Directory {
        settings: settings.to_bytes(),
        roots: plan.roots,
        files: plan.kept,
    };
    let outcome = match &existing {
        Some(index) => extend(output, index, &reading, &settings, &mut directory),
        None => create(output, &reading, &settings, &mut directory),
    };
    let failures = outcome.map_err(|error| cannot_write(output, &error))?;
    drop(existing);
    compact(output)?;
    for (path, error) in &failures {
        report_unread(&places, path, error);
    }
    if !args.quiet {
        plan::summarize(output, &directory);
    }
    Ok(ExitCode::from(if failures.is_empty() { 0 } else { 2 }))
}

/// The index to update. Without `--update`, a file that is not an index is not overwritten.
fn open_existing(args: &IndexArgs) -> Result<Option<Index>, CliError> {
    let path = &args.output;
    let is_missing = fs::metadata(path).map_or(true, |found| found.len() == 0);
    if is_missing {
        if args.inputs.is_empty() {
            let why = if args.update {
                "does not exist: name the files and folders to index"
            } else {
                "needs files: name the files and folders to index"
            };
            return Err(CliError::message(format!("{} {why}", path.display())));
        }
        return Ok(None);
    }
    if args.update {
        return Index::open(path)
            .map(Some)
            .map_err(|error| index_error(path, &error));
    }
    if args.inputs.is_empty() {
        return Err(CliError::message(format!(
            "{} exists: name the files and folders for a new index, or give --update to read what changed",
            path.display()
        )));
    }
    if !args.force && !is_index_file(path) {
        return Err(CliError::message(format!(
            "{} exists and is not an index: use another name, or --force to replace it",
            path.display()
        )));
    }
    Ok(None)
}

/// An index that cannot be used.
pub(crate) fn index_error(path: &Path, error: &IndexError) -> CliError {
    let advice = match error {
        IndexError::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            return CliError::message(format!("{}: no such file", path.display()));
        }
        IndexError::Io(_) => "look at the disk that it is on",
        IndexError::NotAnIndex => "build one with `mayhap index -o IDX FILE|DIR...`",
        IndexError::Damaged(_) => "build it again with `mayhap index -o IDX FILE|DIR...`",
    };
    CliError::message(format!("{} {error}: {advice}", path.display()))
}

/// Threads that read files, and their results.
struct Reading {
    results: Receiver<(Job, Result<Vec<BuiltFilter>, CliError>)>,
    _progress: Progress,
}

impl Reading {
    fn start(settings: &Settings, jobs: Vec<Job>, threads: Option<usize>) -> Self {
        let bytes_read = Arc::new(AtomicU64::new(0));
        let total = jobs.iter().map(|job| job.state.size).sum();
        let progress = Progress::for_input(Arc::clone(&bytes_read), Some(total));
        let threads = args::threads(threads).min(jobs.len().max(1));
        // A thread waits until its filters are written, so that few are in memory.
        let (send, results) = sync_channel(0);
        let jobs = Arc::new(jobs);
        let next = Arc::new(AtomicUsize::new(0));
        for _ in 0..threads {
            let (send, jobs, next) = (send.clone(), Arc::clone(&jobs), Arc::clone(&next));
            let (settings, bytes_read) = (settings.clone(), Arc::clone(&bytes_read));
            thread::spawn(move || {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let read = AssertUnwindSafe(|| read_file(job, &settings, &bytes_read));
                    // A file must not be forgotten, whatever happens.
                    let read = panic::catch_unwind(read).unwrap_or_else(|_| {
                        let why =
                            "a bug in mayhap stopped the thread that read it: please report it";
                        Err(CliError::message(why))
                    });
                    if send.send((job.clone(), read)).is_err() {
                        return;
                    }
                }
            });
        }
        Self {
            results,
            _progress: progress,
        }
    }
}

type Failures = Vec<(StoredPath, CliError)>;

fn create(
    output: &Path,
    reading: &Reading,
    settings: &Settings,
    directory: &mut Directory,
) -> io::Result<Failures> {
    crate::interrupt::remove_temporaries_of(output);
    let mut failures = Vec::new();
    mayhap_codec::write_atomically(output, |file| {
        let writer = IndexWriter::create(file)?;
        failures = fill(writer, reading, settings, directory)?;
        Ok(())
    })?;
    Ok(failures)
}

fn extend(
    output: &Path,
    index: &Index,
    reading: &Reading,
    settings: &Settings,
    directory: &mut Directory,
) -> io::Result<Failures> {
    let file = OpenOptions::new().read(true).write(true).open(output)?;
    fill(
        IndexWriter::extend(&file, index)?,
        reading,
        settings,
        directory,
    )
}

/// Writes the filters as they are built, and the directory.
fn fill(
    mut writer: IndexWriter<'_>,
    reading: &Reading,
    settings: &Settings,
    directory: &mut Directory,
) -> io::Result<Failures> {
    let mut failures = Vec::new();
    for (job, built) in &reading.results {
        let mut file = IndexedFile {
            path: job.stored.clone(),
            size: job.state.size,
            modified_ns: job.state.modified_ns,
            column: settings.column.clone().unwrap_or_default().into_bytes(),
            is_covered: built.is_ok(),
            filters: Vec::new(),
        };
        match built {
            Ok(built) => {
                for built in built {
                    file.filters.push(built.append(&mut writer, settings)?);
                }
            }
            Err(error) => failures.push((job.stored.clone(), error)),
        }
        directory.files.push(file);
    }
    directory.files.sort_by(|a, b| a.path.cmp(&b.path));
    failures.sort_by(|a, b| a.0.cmp(&b.0));
    writer.commit(directory)?;
    Ok(failures)
}

/// Rewrites an index of which more than half is no longer in use.
fn compact(output: &Path) -> Result<(), CliError> {
    let index = Index::open(output).map_err(|error| index_error(output, &error))?;
    if 2 * index.used_bytes() >= index.file_bytes() {
        return Ok(());
    }
    crate::interrupt::remove_temporaries_of(output);
    let mut damaged = None;
    let written = mayhap_codec::write_atomically(output, |file: &File| {
        let mut writer = IndexWriter::create(file)?;
        let mut directory = index.directory().clone();
        for filter in directory
            .files
            .iter_mut()
            .flat_map(|file| &mut file.filters)
        {
            match writer.copy(&index, filter) {
                Ok(copy) => *filter = copy,
                Err(IndexError::Io(error)) => return Err(error),
                Err(error) => {
                    damaged = Some(error);
                    return Err(io::Error::other("damaged"));
                }
            }
        }
        writer.commit(&directory)
    });
    match (damaged, written) {
        (Some(error), _) => Err(index_error(output, &error)),
        (None, written) => written.map_err(|error| cannot_write(output, &error)),
    }
}

fn report_unread(places: &Places, path: &StoredPath, error: &CliError) {
    let name = places.path(path);
    let why = error.line(crate::error::Usage::DEFAULT).unwrap_or_default();
    crate::print_error(&format!(
        "{} is not indexed, and `which` always lists it: {why}",
        name.display()
    ));
}

/// `1 file`, `2 files`.
fn files(count: u64) -> String {
    human_format::with_unit(count, "file")
}
