//! `mayhap add` and `mayhap remove`: change an existing filter.

use crate::args;
use crate::error::CliError;
use crate::filter_files::{KeyBatch, OpenArgs, check_not_stdin, keys};
use crate::human_format;
use crate::input::{Block, InputArgs};
use crate::lock::lock;
use crate::output::Output;
use crate::progress::Progress;
use clap::Args;
use mayhap_codec::{KeyType, Location, StoredFilter};
use mayhap_core::AnyFilter;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) const ADD_EXAMPLES: &str = "\
Examples:
  mayhap add seen.mayhap urls.txt
  mayhap add users.guava --key-type i64 < ids.txt    a filter of Guava's, which Guava reads again

The file is replaced as a whole, when all keys are in. Fuse and ribbon filters take no keys: build them anew.";

pub(crate) const REMOVE_EXAMPLES: &str = "\
Examples:
  mayhap build -o members.mayhap --kind cuckoo members.txt
  mayhap remove members.mayhap left.txt

Only counting and cuckoo filters can lose a key, and only keys that were put in may be taken out: to take out
another one that looks the same takes out the one that was in. Lines that are surely not in change nothing.
Exit status: 0 if a key was taken out, 1 if none was in.";

#[derive(Args, Debug)]
pub(crate) struct AddRemoveArgs {
    /// The filter that is changed
    #[arg(value_name = "FILTER")]
    filter: PathBuf,
    /// Type of the keys: text, hex, base64, i8..i64, u8..u64, f64 or uuid
    #[arg(long, value_name = "TYPE", value_parser = args::key_type, default_value = "text")]
    key_type: KeyType,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    input: InputArgs,
}

pub(crate) fn add(args: &AddRemoveArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    change(args, out, |filter, keys, _| match filter {
        StoredFilter::Native(filter) => add_hashes(args, filter, keys),
        filter => keys.for_each(|key| {
            let added = filter.insert(key).map(drop);
            added.map_err(|error| full_error(args, &error))
        }),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// In batches, if the kind hashes by itself.
fn add_hashes(
    args: &AddRemoveArgs,
    filter: &mut AnyFilter,
    keys: &KeyBatch<'_>,
) -> Result<(), CliError> {
    if matches!(filter, AnyFilter::Classic(_) | AnyFilter::Counting(_)) {
        return keys.for_each(|key| {
            let added = filter.try_insert(key).map(drop);
            added.map_err(|error| full_error(args, &error))
        });
    }
    let mut hashes = Vec::with_capacity(keys.len());
    keys.for_each(|key| {
        hashes.push(filter.hash(key));
        Ok(())
    })?;
    crate::build::insert(filter, &hashes).map_err(|error| full_error(args, &error))
}

pub(crate) fn remove(args: &AddRemoveArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    let removed = change(args, out, |filter, keys, removed| {
        keys.for_each(|key| {
            let was_in = filter
                .remove(key)
                .map_err(|error| full_error(args, &error))?;
            *removed += u64::from(was_in);
            Ok(())
        })
    })?;
    Ok(ExitCode::from(u8::from(removed == 0)))
}

fn full_error(args: &AddRemoveArgs, error: &dyn std::fmt::Display) -> CliError {
    CliError::message(format!("{}: {error}", args.filter.display()))
}

fn change(
    args: &AddRemoveArgs,
    out: &mut impl Write,
    apply: impl Fn(&mut StoredFilter, &KeyBatch<'_>, &mut u64) -> Result<(), CliError>,
) -> Result<u64, CliError> {
    check_not_stdin(&args.filter)?;
    args.input.check_not_output(&args.filter)?;
    let _lock = lock(&args.filter)?;
    let mut found = args.open.open(&args.filter)?;
    let (Some(found), true) = (found.pop(), found.is_empty()) else {
        return Err(CliError::message(format!(
            "{} has several filters: one is changed at a time, in a file of its own",
            args.filter.display()
        )));
    };
    if found.location != Location::default() {
        return Err(CliError::message(format!(
            "{} holds a filter among other things, and is not written here: change it where it was made",
            args.filter.display()
        )));
    }
    let reader = args.open.key_reader(&found, args.key_type)?;
    let mut filter = found.filter;
    filter
        .check_keys()
        .map_err(|error| full_error(args, &error))?;
    let output = Output::new(
        Some(&args.filter),
        filter.format(),
        args.open.hash_key(),
        true,
    )?;
    let mut blocks = args.input.blocks().counted();
    let progress = Progress::for_input(blocks.bytes_read(), args.input.size());
    let mut block = Block::default();
    let mut changed = 0;
    while blocks.fill(&mut block)? {
        let mut lines = KeyBatch::Verbatim(Vec::new());
        keys(&block, &reader, &mut lines)?;
        apply(&mut filter, &lines, &mut changed)?;
    }
    drop(progress);
    output.write(&filter, out)?;
    warn_if_full(args, &filter);
    Ok(changed)
}

fn warn_if_full(args: &AddRemoveArgs, filter: &StoredFilter) {
    let StoredFilter::Native(filter) = filter else {
        return;
    };
    let name = args.filter.display().to_string();
    if let Some(told) = human_format::over_capacity(&name, &filter.stats(), "build a larger one") {
        // Without stderr, nothing can be reported.
        let _ = writeln!(io::stderr(), "{told}");
    }
}
