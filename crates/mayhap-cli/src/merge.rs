//! `mayhap merge`, `convert` and `fold`: filters from filters, without the keys.

use crate::args;
use crate::error::CliError;
use crate::filter_files::{OpenArgs, SelectArgs};
use crate::human_format;
use crate::input::check_input_is_not_output;
use crate::named_values;
use crate::output::Output;
use clap::Args;
use mayhap_codec::{Format, StoredFilter};
use mayhap_core::{AnyFilter, Kind};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) const MERGE_EXAMPLES: &str = "\
Examples:
  mayhap merge monday.mayhap tuesday.mayhap -o week.mayhap
  mayhap merge part-*.guava -o all.guava
  mayhap merge a.parquet b.parquet --column user_id --row-group 0 -o both.bin    one column of several files

All filters must have the same format and shape: build them with the same --capacity and --fpr.";

pub(crate) const CONVERT_EXAMPLES: &str = "\
Examples:
  mayhap convert users.guava -o users.mayhap                     with checksums
  mayhap convert users.mayhap -o users.guava --format guava      and back
  mayhap convert f.dump -o f.chunks --format redisbloom          DUMP to SCANDUMP
  mayhap convert part.parquet -o ids.mayhap --column user_id     one filter of a container
  mayhap convert grown.mayhap -o closed.mayhap --kind ribbon     a filter that grew, and gets no more keys

The meaning of the bits depends on the hash function. So a filter can be converted between formats with the
same hash function, and to mayhap, which supports all of them. Otherwise build a new filter from the keys.";

pub(crate) const FOLD_EXAMPLES: &str = "\
Examples:
  mayhap fold big.mayhap -o small.mayhap --fpr 1%    halve it while the rate stays below 1 %

For bloom filters with far fewer keys than their capacity. No key is lost.
Exit status: 0 if the filter was halved, 1 if it was written unchanged, 2 for an error.";

#[derive(Args, Debug)]
pub(crate) struct MergeArgs {
    /// Filters of the same format and shape
    #[arg(value_name = "FILTER", required = true, num_args = 1..)]
    filters: Vec<PathBuf>,
    /// Output file; standard output if not given
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    choose: SelectArgs,
    /// Overwrite a file that is not a filter
    #[arg(long)]
    force: bool,
}

pub(crate) fn merge(args: &MergeArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    refuse_as_output(&args.filters, args.output.as_deref())?;
    let mut merged: Option<(StoredFilter, &Path)> = None;
    for path in &args.filters {
        let next = args.open.open_one(path, &args.choose)?;
        match &mut merged {
            None => merged = Some((next, path)),
            Some((filter, first)) => filter.union_with(&next).map_err(|error| {
                CliError::message(format!(
                    "{} and {} cannot be merged: {error}",
                    first.display(),
                    path.display()
                ))
            })?,
        }
    }
    let Some((filter, _)) = merged else {
        return Err(CliError::message(
            "there is nothing to merge: give two or more filters",
        ));
    };
    write(args.output.as_deref(), &filter, &args.open, args.force, out)
}

#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    /// A filter
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Output file; standard output if not given
    #[arg(short = 'o', long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Target format
    #[arg(long, value_name = "FORMAT", value_parser = named_values::format(), default_value = "mayhap")]
    format: Format,
    /// Source format, if the bytes are ambiguous
    #[arg(long, value_name = "FORMAT", value_parser = named_values::format())]
    from: Option<Format>,
    /// Make a growing-cuckoo filter smaller that gets no more keys: ribbon or fuse
    #[arg(long, value_name = "KIND", value_parser = named_values::static_kind())]
    kind: Option<Kind>,
    /// Rate of the new filter with --kind (default: the requested one); rate of a ClickHouse index
    #[arg(long, value_name = "P", value_parser = args::rate, allow_negative_numbers = true)]
    fpr: Option<f64>,
    /// Number of hashes of a ClickHouse index of tokens or n-grams, or of a chunk of HBase's
    #[arg(long, value_name = "K")]
    probes: Option<u32>,
    /// Parameter of the source format
    #[arg(short = 'P', value_name = "NAME=VALUE")]
    parameters: Vec<String>,
    /// Number of columns of a ClickHouse index
    #[arg(long, value_name = "N")]
    columns: Option<usize>,
    /// File with the secret key of a filter that was built with --key-file
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    #[command(flatten)]
    choose: SelectArgs,
    /// Overwrite a file that is not a filter
    #[arg(long)]
    force: bool,
}

pub(crate) fn convert(args: &ConvertArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    refuse_as_output(std::slice::from_ref(&args.input), args.output.as_deref())?;
    let open = OpenArgs {
        from: args.from,
        fpr: args.fpr,
        probes: args.probes,
        parameters: args.parameters.clone(),
        columns: args.columns,
        key_file: args.key_file.clone(),
    };
    let mut filter = open.open_one(&args.input, &args.choose)?;
    if let Some(kind) = args.kind {
        filter = close(&filter, kind, args)?;
    }
    let from = filter.format();
    let converted = filter.convert(args.format).map_err(|error| {
        CliError::message(format!(
            "{} is a {from} filter that {error}",
            args.input.display()
        ))
    })?;
    write(args.output.as_deref(), &converted, &open, args.force, out)
}

/// The keys of a growing cuckoo filter in a static one.
fn close(filter: &StoredFilter, kind: Kind, args: &ConvertArgs) -> Result<StoredFilter, CliError> {
    let StoredFilter::Native(AnyFilter::GrowingCuckoo(filter)) = filter else {
        return Err(CliError::message(format!(
            "{} is not a growing-cuckoo filter, and others do not know their keys: build a {kind} filter from the keys",
            args.input.display()
        )));
    };
    let rate = args.fpr.unwrap_or(filter.false_positive_rate());
    let own = filter.estimated_rate();
    if rate <= own {
        return Err(CliError::message(format!(
            "{} already has a rate of {}: use a higher --fpr",
            args.input.display(),
            human_format::rate(own, 3)
        )));
    }
    let closed: AnyFilter = if kind == Kind::Fuse {
        filter.to_fuse(rate)?.into()
    } else {
        filter.to_ribbon(rate)?.into()
    };
    Ok(StoredFilter::Native(closed))
}

#[derive(Args, Debug)]
pub(crate) struct FoldArgs {
    /// A bloom filter
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// Output file; standard output if not given
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Rate that must be kept, as 0.01 or 1%
    #[arg(long, value_name = "P", value_parser = args::rate, allow_negative_numbers = true)]
    fpr: f64,
    /// File with the secret key of a filter that was built with --key-file
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Overwrite a file that is not a filter
    #[arg(long)]
    force: bool,
}

/// Exit code 1: the filter could not be folded and is written unchanged.
pub(crate) fn fold(args: &FoldArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    refuse_as_output(std::slice::from_ref(&args.input), args.output.as_deref())?;
    let open = OpenArgs {
        key_file: args.key_file.clone(),
        ..OpenArgs::default()
    };
    let StoredFilter::Native(AnyFilter::Bloom(mut filter)) =
        open.open_one(&args.input, &SelectArgs::default())?
    else {
        return Err(CliError::message(format!(
            "{} is not a native bloom filter, and other filters cannot be halved: build a new one from the keys",
            args.input.display()
        )));
    };
    let rate = filter.estimated_rate();
    if rate > args.fpr {
        return Err(CliError::message(format!(
            "{} already has a rate of {}: use a higher --fpr, or build a larger filter from the keys",
            args.input.display(),
            human_format::rate(rate, 3)
        )));
    }
    let mut halvings = 0;
    loop {
        let mut smaller = filter.clone();
        match smaller.fold()? {
            Some(rate) if rate <= args.fpr => filter = smaller,
            _ => break,
        }
        halvings += 1;
    }
    let filter = StoredFilter::Native(filter.into());
    write(args.output.as_deref(), &filter, &open, args.force, out)?;
    Ok(ExitCode::from(u8::from(halvings == 0)))
}

fn refuse_as_output(inputs: &[PathBuf], output: Option<&Path>) -> Result<(), CliError> {
    output.map_or(Ok(()), |output| check_input_is_not_output(inputs, output))
}

fn write(
    path: Option<&Path>,
    filter: &StoredFilter,
    open: &OpenArgs,
    force: bool,
    out: &mut impl Write,
) -> Result<ExitCode, CliError> {
    Output::new(path, filter.format(), open.hash_key(), force)?.write(filter, out)?;
    Ok(ExitCode::SUCCESS)
}
