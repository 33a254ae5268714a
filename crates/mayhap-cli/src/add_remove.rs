//! `mayhap add` and `mayhap remove`: change an existing filter.

mod exceptions;

use crate::build::on_conflict;
use crate::error::CliError;
use crate::filter_files::{KeyBatch, OpenArgs, SelectArgs, check_not_stdin, keys, one_of};
use crate::human_format;
use crate::input::{Block, GivenKeys, InputArgs};
use crate::lock::lock;
use crate::named_values;
use crate::output::Output;
use crate::progress::Progress;
use clap::Args;
use mayhap_codec::{KeyReader, KeyType, Location, StoredFilter};
use mayhap_core::{AnyFilter, OnConflict, OperationError, Timestamp};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) const ADD_EXAMPLES: &str = "\
Examples:
  mayhap add seen.mayhap urls.txt
  mayhap add seen.mayhap -k https://example.org/new   a key as an argument
  mayhap add users.guava --key-type i64 < ids.txt     a filter of Guava's, which Guava reads again
  mayhap build -o bad.mayhap bad.txt --except good.txt && mayhap add bad.mayhap more.txt --except good.txt

The file is replaced as a whole when all keys are inserted, and stderr shows how many were new. A filter with
exceptions needs its list again: without it, added keys could make the filter accept exceptions. Fuse and
ribbon filters are built from all their keys at once.";

pub(crate) const REMOVE_EXAMPLES: &str = "\
Examples:
  mayhap build -o members.mayhap --kind cuckoo members.txt
  mayhap remove members.mayhap left.txt
  mayhap remove members.mayhap -k https://example.org/7   a key as an argument

Only counting and cuckoo filters can remove keys. Remove only keys that were inserted: removing a false
positive removes a key that looks the same. Keys that are definitely absent change nothing.
Exit status: 0 if a key was removed, 1 if none was present.";

/// What `add` and `remove` have in common.
#[derive(Args, Debug)]
pub(crate) struct ChangeArgs {
    /// The filter that is changed
    #[arg(value_name = "FILTER")]
    filter: PathBuf,
    /// Type of the keys [default: as the filter says, or text]
    #[arg(long, value_name = "TYPE", value_parser = named_values::key_type())]
    key_type: Option<KeyType>,
    /// Output file; the filter is replaced if not given
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Do not report how many keys were changed
    #[arg(short = 'q', long)]
    quiet: bool,
    #[command(flatten)]
    given: GivenKeys,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    choose: SelectArgs,
    #[command(flatten)]
    input: InputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct AddArgs {
    /// File of keys, one per line, that must never be false positives: that of `build`
    #[arg(long, value_name = "LIST")]
    except: Option<PathBuf>,
    /// A key that is in both lists: block it (a member) or allow it [default: an error]
    #[arg(long, value_name = "block|allow", value_parser = on_conflict, requires = "except")]
    on_conflict: Option<OnConflict>,
    #[command(flatten)]
    change: ChangeArgs,
}

/// The number of keys that were changed, and of all others.
#[derive(Default)]
struct Counts {
    changed: u64,
    others: u64,
}

impl Counts {
    fn count(&mut self, is_changed: bool) {
        self.changed += u64::from(is_changed);
        self.others += u64::from(!is_changed);
    }
}

pub(crate) fn add(args: &AddArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    let change_args = &args.change;
    let (filter, counts) = change(change_args, out, |filter, reader| {
        if let Some(changed) = exceptions::add(args, filter, reader)? {
            return Ok(changed);
        }
        let mut counts = Counts::default();
        each_batch(change_args, reader, |keys| match &mut *filter {
            StoredFilter::Native(filter) => insert(filter, keys, &mut counts)
                .map_err(|error| cannot_change(change_args, &error)),
            filter => keys.for_each(|key| {
                let is_new = filter.insert(key);
                counts.count(is_new.map_err(|error| cannot_change(change_args, &error))?);
                Ok(())
            }),
        })?;
        Ok(counts)
    })?;
    report(
        change_args,
        &[(counts.changed, "new"), (counts.others, "already present")],
    );
    warn_if_full(change_args, &filter);
    Ok(ExitCode::SUCCESS)
}

fn insert(
    filter: &mut AnyFilter,
    keys: &KeyBatch<'_>,
    counts: &mut Counts,
) -> Result<(), OperationError> {
    let now = Timestamp::now();
    keys.try_for_each(|key| {
        counts.count(match &mut *filter {
            AnyFilter::Window(filter) => {
                let hash = filter.hash(key);
                let was_present = filter.contains_hash(hash, now);
                filter.insert_hash(hash, now);
                !was_present
            }
            AnyFilter::WindowCuckoo(filter) => {
                filter.try_insert(key, now).map_err(OperationError::Full)?
            }
            filter => filter.try_insert(key)?,
        });
        Ok(())
    })
}

pub(crate) fn remove(args: &ChangeArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    let (_, counts) = change(args, out, |filter, reader| {
        let mut counts = Counts::default();
        each_batch(args, reader, |keys| {
            keys.for_each(|key| {
                let is_removed = filter.remove(key);
                counts.count(is_removed.map_err(|error| cannot_change(args, &error))?);
                Ok(())
            })
        })?;
        Ok(counts)
    })?;
    report(
        args,
        &[(counts.changed, "removed"), (counts.others, "absent")],
    );
    if counts.others > 0 && !args.quiet {
        // Without stderr, nothing can be reported.
        let _ = writeln!(
            io::stderr(),
            "mayhap: remove only keys that were inserted: removing a false positive removes another key"
        );
    }
    Ok(ExitCode::from(u8::from(counts.changed == 0)))
}

fn cannot_change(args: &ChangeArgs, error: &dyn std::fmt::Display) -> CliError {
    CliError::message(format!("{}: {error}", args.filter.display()))
}

/// Opens the filter, changes it, and replaces the file.
fn change<T>(
    args: &ChangeArgs,
    out: &mut impl Write,
    apply: impl FnOnce(&mut StoredFilter, &KeyReader) -> Result<T, CliError>,
) -> Result<(StoredFilter, T), CliError> {
    check_not_stdin(&args.filter)?;
    args.input.check_not_output(&args.filter)?;
    if let Some(output) = &args.output {
        args.input.check_not_output(output)?;
    }
    let _lock = lock(&args.filter)?;
    let found = args.open.open(&args.filter)?;
    let mut found = args.choose.select(&args.filter, found)?;
    one_of(&args.filter, &found)?;
    let found = found.remove(0);
    if found.location != Location::default() && args.output.is_none() {
        return Err(CliError::message(format!(
            "{} is a container, which cannot be changed: write the changed filter to a file of its own with -o FILE",
            args.filter.display()
        )));
    }
    let reader = args.open.key_reader(&args.filter, &found, args.key_type)?;
    let mut filter = found.filter;
    filter
        .check_keys()
        .map_err(|error| cannot_change(args, &error))?;
    let output = Output::new(
        Some(args.output.as_ref().unwrap_or(&args.filter)),
        filter.format(),
        args.open.hash_key(),
        args.output.is_none(),
    )?;
    let applied = apply(&mut filter, &reader)?;
    output.write(&filter, out)?;
    Ok((filter, applied))
}

fn each_batch(
    args: &ChangeArgs,
    reader: &KeyReader,
    mut take: impl FnMut(&KeyBatch<'_>) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut blocks = args.given.blocks_or(&args.input).keys_only().counted();
    let _progress = Progress::for_input(blocks.bytes_read(), args.input.size());
    let mut block = Block::default();
    while blocks.fill(&mut block)? {
        let mut lines = KeyBatch::Verbatim(Vec::new());
        keys(&block, reader, &mut lines)?;
        take(&lines)?;
    }
    Ok(())
}

fn report(args: &ChangeArgs, counts: &[(u64, &str)]) {
    if args.quiet {
        return;
    }
    let counts = counts
        .iter()
        .map(|(count, what)| format!("{} {what}", human_format::with_thousands_separators(*count)));
    // Without stderr, nothing can be reported.
    let _ = writeln!(
        io::stderr(),
        "mayhap: {}: {}",
        args.filter.display(),
        counts.collect::<Vec<_>>().join(", ")
    );
}

fn warn_if_full(args: &ChangeArgs, filter: &StoredFilter) {
    let StoredFilter::Native(filter) = filter else {
        return;
    };
    let name = args.filter.display().to_string();
    if let Some(told) = human_format::over_capacity(&name, &filter.stats(), "build a larger one") {
        // Without stderr, nothing can be reported.
        let _ = writeln!(io::stderr(), "{told}");
    }
}
