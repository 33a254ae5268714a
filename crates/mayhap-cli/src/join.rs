//! `mayhap join`: the Bloom join. Builds a filter from the keys of the left side and drops the rows of the right side that
//! cannot match.
//!
//! Left and right never swap, whichever is larger: the output must not depend on which file has grown.

mod left;
mod report;

use crate::args;
use crate::error::CliError;
use crate::input::{is_standard, same_file};
use crate::interrupt::remove_temporaries_of;
use crate::output::cannot_write;
use crate::progress::Progress;
use crate::table::{Table, TextLayout};
use clap::Args;
use left::{CommonKeys, KeepRows, LeftSide};
use report::Report;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) const EXAMPLES: &str = "\
Examples:
  mayhap join --left users.csv --right log.csv.gz --on user_id > some.csv
  mayhap join --left users.csv --right log.csv --on id --right-on user_id
  mayhap join --left users.csv --right log.parquet --on id --exact   an inner join: adds the users' columns
  mayhap join --left users.csv --right log.parquet --on id --semi    exactly the rows that match, unchanged
  mayhap join --left a.tsv --right b.tsv --on 1 --right-on 3 --no-header
  mayhap join --left users.csv --right log.csv --on id --fpr 0.01% -o few.csv

The keys of --left become a filter, so --left should be the smaller side. The rows of --right are printed
unchanged and in order, without those that definitely have no match. Rows without a match pass with the
probability --fpr. --exact and --semi remove these too: they keep the left side in memory, or only its
matching rows if it is large.
CSV, TSV (by file name, or --delimiter) and Parquet can be joined with each other: keys are compared as text,
without quotes, byte by byte. A Parquet null matches nothing. Parquet rows are printed as CSV.
Exit status: 0 if a row was printed, 1 if none was, 2 for an error.";

/// The default rate.
const RATE: f64 = 0.01;
/// A larger left side is not kept in memory. Reading it again is fast: 235 MB of which 1 % match took 1.0 s and 30 MB this way,
/// and 5.8 s and 497 MB the other.
const LARGE_LEFT_BYTES: u64 = 32 << 20;
/// One write for many rows.
const OUTPUT_BYTES: usize = 256 << 10;

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct JoinArgs {
    /// Small side, whose keys become the filter: CSV, TSV (may be compressed) or Parquet; - is standard input
    #[arg(long, value_name = "FILE")]
    left: PathBuf,
    /// Big side, whose rows are printed: CSV, TSV (may be compressed) or Parquet; - is standard input
    #[arg(long, value_name = "FILE")]
    right: PathBuf,
    /// Key column, by name or by number from 1
    #[arg(long, value_name = "COLUMN")]
    on: String,
    /// Key column of the right side, if it differs
    #[arg(long, value_name = "COLUMN")]
    right_on: Option<String>,
    /// Fraction of rows without a match that may pass [default: 1%]
    #[arg(long, value_name = "P", value_parser = args::rate, allow_negative_numbers = true)]
    fpr: Option<f64>,
    /// Inner join: only rows that match, once per match, followed by the other columns of the left side
    #[arg(long)]
    exact: bool,
    /// Semi-join: only rows that match, once and unchanged
    #[arg(long)]
    semi: bool,
    /// With --exact or --semi, read both files twice and keep only the matching rows of the left side in memory [default: if the
    /// left side has more than 32 MiB]
    #[arg(long)]
    twice: bool,
    /// The first row of CSV and TSV contains the column names [default]
    #[arg(long, overrides_with = "no_header")]
    header: bool,
    /// The first row of CSV and TSV is data, and no names are printed
    #[arg(long)]
    no_header: bool,
    /// Field separator: a character, or tab [default: tab for .tsv and .tab, otherwise comma]
    #[arg(long, value_name = "C", value_parser = args::delimiter)]
    delimiter: Option<u8>,
    /// Treat quotes as ordinary characters
    #[arg(long)]
    no_quotes: bool,
    /// Output file; standard output if not given
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Do not print the summary
    #[arg(short = 'q', long)]
    quiet: bool,
}

pub(crate) fn run(args: &JoinArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    if args.exact && args.semi {
        return Err(CliError::message(
            "--exact and --semi exclude each other: use --exact to add the columns of the left side to each match, or --semi for the matching rows unchanged",
        ));
    }
    if is_standard(&args.left) && is_standard(&args.right) {
        return Err(CliError::message(
            "--left and --right cannot both be standard input: use a file for one of them",
        ));
    }
    let report = if let Some(path) = &args.output {
        to_file(args, path)?
    } else {
        let report = join(args, out)?;
        out.flush()?;
        report
    };
    if !args.quiet {
        report.print(args);
    }
    Ok(ExitCode::from(u8::from(report.rows_out == 0)))
}

/// The file is written atomically.
fn to_file(args: &JoinArgs, path: &Path) -> Result<Report, CliError> {
    for input in [&args.left, &args.right] {
        if !is_standard(input) && same_file(input, path) {
            return Err(CliError::message(format!(
                "{} is an input and the output: write to another file",
                path.display()
            )));
        }
    }
    if !args.force {
        check_outputs(path)?;
    }
    remove_temporaries_of(path);
    let mut joined = None;
    let written = mayhap_codec::write_atomically(path, |file| {
        let mut out = TrackedWriter { file, error: None };
        let mut buffer = BufWriter::with_capacity(OUTPUT_BYTES, &mut out);
        let report = join(args, &mut buffer).and_then(|report| {
            buffer.flush()?;
            Ok(report)
        });
        drop(buffer);
        if let Some(error) = out.error {
            return Err(error);
        }
        let is_whole = report.is_ok();
        joined = Some(report);
        // An incomplete join is not kept; the caller reports the error.
        if is_whole {
            Ok(())
        } else {
            Err(io::ErrorKind::Other.into())
        }
    });
    let report = joined.transpose()?;
    written.map_err(|error| cannot_write(path, &error))?;
    Ok(report.unwrap_or_default())
}

fn check_outputs(path: &Path) -> Result<(), CliError> {
    let name = path.display();
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(CliError::message(format!(
            "{name} is a folder: give the name of a file"
        ))),
        Ok(found) if found.len() > 0 => Err(CliError::message(format!(
            "{name} exists: use another name, or --force to replace it"
        ))),
        _ => Ok(()),
    }
}

/// Remembers why a file could not be written: errors passed up through `?` count as errors of standard output.
struct TrackedWriter<'f> {
    file: &'f File,
    error: Option<io::Error>,
}

impl Write for TrackedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.error = Some(io::Error::new(error.kind(), error.to_string()));
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn join(args: &JoinArgs, out: &mut impl Write) -> Result<Report, CliError> {
    // Both are opened before the first is read, to report errors at once.
    let mut left_side = open_left(args)?;
    let mut right = open_right(args)?;
    let keep = match (args.semi, args.exact) {
        (true, _) => KeepRows::Keys,
        (false, true) => KeepRows::Rows,
        (false, false) => KeepRows::FewKeys,
    };
    let rate = args.fpr.unwrap_or(RATE);
    let is_twice = keep != KeepRows::FewKeys && reads_twice(args)?;
    let wanted = is_twice.then(|| common_keys(args, rate)).transpose()?;
    let mut left = {
        let _progress = Progress::for_input(left_side.bytes_read(), size_of(&args.left));
        let dialect = right.dialect();
        LeftSide::read(&mut left_side, rate, keep, dialect, wanted.as_ref())?
    };
    let mut report = Report::new(left.rate(), keep != KeepRows::FewKeys);
    if let (Some(rows), Some(keys)) = (right.parquet(), left.few_keys()) {
        let (groups, skipped_rows) = rows.skip_groups(keys);
        report.skipped(groups, rows.group_count(), skipped_rows);
    }
    if !args.no_header {
        write_header(&left_side, &right, keep == KeepRows::Rows, out)?;
    }
    drop(left_side);
    let _progress = Progress::for_input(right.bytes_read(), size_of(&args.right));
    let mut found = Vec::new();
    while right.read_keys()? {
        left.ask(right.keys(), &mut found);
        let passed = count(&found);
        report.queried(found.len() as u64, passed);
        if keep != KeepRows::FewKeys {
            report.corrected(left.correct(right.keys(), &mut found));
        }
        if keep == KeepRows::Rows {
            report.rows_out += write_matches(&mut right, &left, &found, out)?;
        } else {
            report.rows_out += count(&found);
            right.each_piece(&found, |piece| Ok(out.write_all(piece)?))?;
        }
    }
    Ok(report)
}

fn layout(args: &JoinArgs) -> TextLayout {
    TextLayout {
        delimiter: args.delimiter,
        has_quotes: !args.no_quotes,
        has_header: !args.no_header,
    }
}

fn open_left(args: &JoinArgs) -> Result<Table, CliError> {
    Table::open(&args.left, layout(args), &args.on, "--on")
}

fn open_right(args: &JoinArgs) -> Result<Table, CliError> {
    let (column, flag) = match &args.right_on {
        Some(column) => (column, "--right-on"),
        None => (&args.on, "--right-on (or --on, for both sides)"),
    };
    Table::open(&args.right, layout(args), column, flag)
}

fn reads_twice(args: &JoinArgs) -> Result<bool, CliError> {
    let (left, right) = (size_of(&args.left), size_of(&args.right));
    if args.twice && (left.is_none() || right.is_none()) {
        return Err(CliError::message(
            "--twice needs two files, because a pipe can be read only once: write it to a file, or omit --twice",
        ));
    }
    let is_large = left.is_some_and(|size| size > LARGE_LEFT_BYTES) && right.is_some();
    Ok(args.twice || is_large)
}

/// The keys that both sides may have: only their rows on the left side need to be in memory.
fn common_keys(args: &JoinArgs, rate: f64) -> Result<CommonKeys, CliError> {
    let (mut left, mut right) = (open_left(args)?, open_right(args)?);
    let mut all = {
        let _progress = Progress::for_input(left.bytes_read(), size_of(&args.left));
        LeftSide::read(&mut left, rate, KeepRows::FewKeys, right.dialect(), None)?
    };
    let _progress = Progress::for_input(right.bytes_read(), size_of(&args.right));
    all.common(&mut right, rate)
}

fn count(found: &[bool]) -> u64 {
    found.iter().filter(|&&found| found).count() as u64
}

/// The size of a file on disk; `None` for a pipe.
fn size_of(path: &Path) -> Option<u64> {
    let found = fs::metadata(path).ok()?;
    found.is_file().then_some(found.len())
}

/// The header of the right side unchanged, followed by the left side's other column names if those columns follow.
fn write_header(
    left: &Table,
    right: &Table,
    with_columns: bool,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let header = right.header();
    if header.is_empty() {
        return Ok(());
    }
    let body = header
        .strip_suffix(b"\r\n")
        .or_else(|| header.strip_suffix(b"\n"))
        .unwrap_or(header);
    out.write_all(body)?;
    if with_columns {
        let dialect = right.dialect();
        let mut names = Vec::new();
        for name in left.other_names() {
            names.push(dialect.delimiter);
            let is_taken = right.names().iter().any(|taken| taken == name);
            let suffix: &[u8] = if is_taken { b"_left" } else { b"" };
            dialect.write_field(&[name, suffix].concat(), &mut names);
        }
        out.write_all(&names)?;
    }
    Ok(out.write_all(&header[body.len()..])?)
}

/// Every selected row once per match, followed by the columns of the match.
fn write_matches(
    right: &mut Table,
    left: &LeftSide,
    found: &[bool],
    out: &mut impl Write,
) -> Result<u64, CliError> {
    let mut rows = 0;
    right.each_row(found, |key, row, end| {
        for columns in left.columns_of(key) {
            out.write_all(row)?;
            out.write_all(columns)?;
            out.write_all(end)?;
            rows += 1;
        }
        Ok(())
    })?;
    Ok(rows)
}
