//! `mayhap build`: builds a filter from keys.

mod foreign;
mod native;
mod source;

pub(crate) use native::read_keys;

use crate::args;
use crate::codec_errors;
use crate::error::CliError;
use crate::filter_files::{file_name, read_key};
use crate::human_format;
use crate::input::InputArgs;
use crate::named_values;
use crate::output::Output;
use clap::Args;
use mayhap_codec::native::HashKey;
use mayhap_codec::{Format, KeyType, Parameters, StoredFilter, write_key};
use mayhap_core::{HashScheme, Kind, OnConflict, SipKey};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

pub(crate) const EXAMPLES: &str = "\
Examples:
  mayhap build -o seen.mayhap urls.txt                    capacity = number of lines, rate 1 %
  zcat urls.gz | mayhap build -o seen.mayhap --fpr 0.01%
  mayhap build -o words.mayhap --kind ribbon words        a fixed set, as small as possible
  mayhap build -o bad.mayhap bad.txt --except good.txt    no line of good.txt is ever a false positive
  mayhap build -o ids.mayhap --key-type u64 ids.txt       keys are integers of eight bytes
  mayhap build -o ids.mayhap --field user_id log.csv      keys are a column of CSV, TSV, JSON lines or Parquet
  mayhap build -o users.bin --format guava --capacity 1M --key-type i64 ids.txt
  mayhap build -o f.bin --format redisbloom -P expansion=2 --capacity 1000 keys.txt
  mayhap build -o new.mayhap --keyed untrusted.txt        nobody can choose keys that collide

Without --capacity, the capacity is the number of lines: files are read twice, and hashes from a pipe are
stored in a temporary file. The output file is written atomically.";

/// The default rate.
const RATE: f64 = 0.01;

#[derive(Args, Debug)]
pub(crate) struct BuildArgs {
    /// Output file; standard output if not given
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Kind of filter [default: bloom]
    #[arg(long, value_name = "KIND", value_parser = named_values::kind())]
    kind: Option<Kind>,
    /// Format of the file
    #[arg(long, value_name = "FORMAT", value_parser = named_values::format(), default_value = "mayhap")]
    format: Format,
    /// Capacity in keys, as 1000000, 10k, 100M or 1e9 [default: the number of lines]
    #[arg(long, value_name = "N", value_parser = args::count_or_none, allow_negative_numbers = true)]
    capacity: Option<u64>,
    /// False-positive rate, as 0.01 or 1% [default: 1%]
    #[arg(long, value_name = "P", value_parser = args::rate, allow_negative_numbers = true)]
    fpr: Option<f64>,
    /// Number of bits, instead of --capacity and --fpr (classic, counting and the formats of other systems)
    #[arg(long, value_name = "M", value_parser = args::count)]
    bits: Option<u64>,
    /// Number of bits per key that are set, with --bits
    #[arg(long, value_name = "K")]
    probes: Option<u32>,
    /// Parameter of the format, such as -P strategy=mitz32
    #[arg(short = 'P', value_name = "NAME=VALUE")]
    parameters: Vec<String>,
    /// Type of the keys
    #[arg(long, value_name = "TYPE", value_parser = named_values::key_type(), default_value = "text")]
    key_type: KeyType,
    /// File of keys, one per line, that must never be false positives
    #[arg(long, value_name = "LIST")]
    except: Option<PathBuf>,
    /// For keys in both lists: block (they are members) or allow (they are exceptions) [default: an error]
    #[arg(long, value_name = "block|allow", value_parser = on_conflict, requires = "except")]
    on_conflict: Option<OnConflict>,
    /// Hash with a random secret key, which is stored in the file
    #[arg(long)]
    keyed: bool,
    /// Hash with the secret key in this file, which is created if it is missing; the filter stores only its id
    #[arg(long, value_name = "FILE", conflicts_with = "keyed")]
    key_file: Option<PathBuf>,
    /// Length of the window, with --kind window: 30s, 15m, 24h, 7d
    #[arg(long, value_name = "TIME", value_parser = args::duration)]
    window: Option<Duration>,
    /// Overwrite a file that is not a filter
    #[arg(long)]
    force: bool,
    /// Threads [default: all cores]
    #[arg(short = 'j', value_name = "N", value_parser = args::thread_count)]
    threads: Option<usize>,
    #[command(flatten)]
    input: InputArgs,
}

pub(crate) fn run(args: &BuildArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    let parameters = Parameters::new(args.format, &args.parameters)
        .map_err(|error| codec_errors::parameter(&error))?
        .for_file(args.output.as_deref().and_then(file_name));
    if args.format == Format::Mayhap && args.capacity == Some(0) {
        return Err(CliError::message(
            "--capacity 0: give at least 1, or omit it to use the number of lines",
        ));
    }
    if let Some(output) = &args.output {
        args.input.check_not_output(output)?;
    }
    let (scheme, hash_key) = scheme(args)?;
    let output = Output::new(args.output.as_deref(), args.format, hash_key, args.force)?;
    let filter = if args.format == Format::Mayhap {
        let filter = native::build(args, &parameters, scheme)?;
        StoredFilter::Native(filter.with_key_type(args.key_type))
    } else {
        check_native_only_flags(args)?;
        foreign::build(args, parameters)?
    };
    if args.format == Format::ClickHouse && args.fpr.is_none() {
        // Readers need the rate, and the file does not store it.
        let _ = writeln!(
            io::stderr(),
            "mayhap: built for bloom_filter({RATE}): a clickhouse file does not store its rate, so use --fpr {RATE} to read it"
        );
    }
    output.write(&filter, out)?;
    report(args, &filter);
    Ok(ExitCode::SUCCESS)
}

fn scheme(args: &BuildArgs) -> Result<(HashScheme, HashKey), CliError> {
    if args.keyed {
        return Ok((HashScheme::Sip13(random_key()?), HashKey::Inside));
    }
    let Some(path) = &args.key_file else {
        return Ok((HashScheme::Xxh3, HashKey::Inside));
    };
    if !path.exists() {
        write_key(path, random_key()?)
            .map_err(|error| crate::output::cannot_write(path, &error))?;
    }
    Ok((HashScheme::Sip13(read_key(path)?), HashKey::Outside))
}

pub(crate) fn random_key() -> Result<SipKey, CliError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        CliError::message(format!(
            "the system has no random numbers ({error}): write a key to a file and use --key-file"
        ))
    })?;
    Ok(SipKey::new(bytes))
}

fn check_native_only_flags(args: &BuildArgs) -> Result<(), CliError> {
    let flag = [
        (args.kind.is_some(), "--kind"),
        (args.except.is_some(), "--except"),
        (args.keyed, "--keyed"),
        (args.key_file.is_some(), "--key-file"),
        (args.window.is_some(), "--window"),
    ]
    .into_iter()
    .find(|(is_given, _)| *is_given);
    match flag {
        None => Ok(()),
        Some((_, flag)) => Err(CliError::message(format!(
            "{flag} works only with --format mayhap, not with {}: omit one of the two",
            args.format
        ))),
    }
}

pub(crate) fn on_conflict(text: &str) -> Result<OnConflict, &'static str> {
    match text {
        "block" => Ok(OnConflict::Block),
        "allow" => Ok(OnConflict::Allow),
        _ => Err("give block or allow"),
    }
}

/// Reports the result: on a terminal, and always if it is not what was requested.
fn report(args: &BuildArgs, filter: &StoredFilter) {
    let path = args.output.as_deref();
    let advice = match (args.bits, args.capacity) {
        (Some(_), _) => "use more --bits",
        (None, Some(_)) => "use a larger --capacity",
        (None, None) => "set --capacity",
    };
    let stats = filter.describe().stats;
    let name = path.map_or("standard output".into(), |path| path.display().to_string());
    let mut stderr = io::stderr();
    let over = match filter {
        StoredFilter::Native(filter) => human_format::over_capacity(&name, &filter.stats(), advice),
        StoredFilter::Bits { .. } | StoredFilter::Foreign(_) => None,
    };
    // Without stderr, nothing can be reported.
    if let Some(warning) = over {
        let _ = writeln!(stderr, "{warning}");
    } else if stderr.is_terminal() {
        let keys = stats
            .estimated_keys
            .map_or(String::new(), |keys| human_format::about_keys(keys) + ", ");
        let _ = writeln!(
            stderr,
            "mayhap: {name}: {keys}{}",
            human_format::size(stats.size_bytes)
        );
    }
}
