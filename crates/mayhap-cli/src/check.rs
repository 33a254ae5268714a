//! `mayhap check`: prints the lines that may be in a filter.

mod data_folder;
mod lookup;

use crate::args::{self, threads};
use crate::error::CliError;
use crate::filter_files::{OpenArgs, SelectArgs};
use crate::input::{Block, Blocks, GivenKeys, InputArgs, in_order, is_standard};
use crate::named_values;
use crate::progress::Progress;
use clap::Args;
use data_folder::DataFolder;
use lookup::Lookup;
use mayhap_codec::KeyType;
use std::io::{self, IsTerminal, Write};
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) const EXAMPLES: &str = "\
Examples:
  mayhap check seen.mayhap urls.txt            the URLs that may have been seen
  mayhap check -v words.mayhap text.txt        the words that are surely not in the dictionary
  mayhap check -c blocked.mayhap < mails.txt   how many may be blocked
  mayhap check seen.mayhap -k https://example.org/1 https://example.org/2    keys as arguments
  mayhap check -q blocked.mayhap -k \"$url\" && echo mayhap
  mayhap check seen.mayhap --field id log.csv  the rows whose id may have been seen
  mayhap check users.guava --key-type i64 ids.txt
  mayhap check part.parquet --column user_id ids.txt
  mayhap check dump.rdb --key seen urls.txt
  mayhap check skp_idx_x.idx --fpr 0.01 -P type=UInt64 ids.txt
  mayhap check data/shop/users-5a1c/ --from cassandra -k alice    the SSTables that may hold a partition

A line that is not printed is definitely not in the filter. A line that is printed is in it, or is a false
positive: `mayhap info` shows their rate. In a file with several filters, a line is printed if one of them
may contain it. In a data folder of Cassandra, the line is followed by the filters of the SSTables that may hold
it, each after a tab. Exit status: 0 if a line was printed, 1 if none was, 2 for an error.";

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct CheckArgs {
    /// Filter of any format, a container with filters, or with --from cassandra a data folder
    #[arg(value_name = "FILTER")]
    filter: PathBuf,
    /// Print the lines that are definitely not in the filter
    #[arg(short = 'v', long)]
    invert: bool,
    /// Print only the number of lines
    #[arg(short = 'c', long)]
    count: bool,
    /// Print nothing; stop at the first match
    #[arg(short = 'q', long)]
    quiet: bool,
    /// Flush after every line
    #[arg(long)]
    line_buffered: bool,
    /// Type of the keys [default: as the filter says, or text]
    #[arg(long, value_name = "TYPE", value_parser = named_values::key_type())]
    key_type: Option<KeyType>,
    #[command(flatten)]
    given: GivenKeys,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    choose: SelectArgs,
    /// Threads [default: all cores]
    #[arg(short = 'j', value_name = "N", value_parser = args::thread_count)]
    threads: Option<usize>,
    #[command(flatten)]
    input: InputArgs,
}

/// The lines of a block to print, as runs of neighbours.
struct SelectedLines {
    block: Block,
    runs: Vec<Range<usize>>,
    count: u64,
}

fn select(asked: &Lookup, block: Block, invert: bool) -> Result<SelectedLines, CliError> {
    let mut answers = Vec::new();
    asked.answer(&block, &mut answers)?;
    let count = answers.iter().filter(|&&answer| answer != invert).count() as u64;
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (line, &answer) in block.lines().zip(&answers) {
        if answer == invert {
            continue;
        }
        match runs.last_mut() {
            Some(last) if last.end == line.start => last.end = line.end,
            _ => runs.push(line),
        }
    }
    Ok(SelectedLines { block, runs, count })
}

pub(crate) fn run(args: &CheckArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    if !args.given.are_given() {
        if is_standard(&args.filter) && args.input.paths().iter().any(|input| is_standard(input)) {
            return Err(CliError::message(
                "standard input is the filter: give files with keys, or -k KEY",
            ));
        }
        args.input.check_not_standard_output()?;
    }
    let count = if args.filter.is_dir() {
        let asked = DataFolder::open(args)?;
        let select = |block| asked.select(&block, args.invert);
        answer(args, out, asked.is_verbatim(), select, |selected, out| {
            Ok(out.write_all(&selected.text)?)
        })?
    } else {
        let asked = Lookup::open(args)?;
        let select = |block| select(&asked, block, args.invert);
        let count = answer(args, out, asked.is_verbatim(), select, |selected, out| {
            print_runs(&selected.block, &selected.runs, out)
        })?;
        asked.check_touched(args)?;
        count
    };
    if args.count && !args.quiet {
        writeln!(out, "{count}")?;
    }
    Ok(ExitCode::from(u8::from(count == 0)))
}

/// What was selected of a block.
trait Selected: Send + 'static {
    fn count(&self) -> u64;
}

impl Selected for SelectedLines {
    fn count(&self) -> u64 {
        self.count
    }
}

/// Selects lines of every block and prints them in order; returns how many there are.
fn answer<S: Selected, W: Write>(
    args: &CheckArgs,
    out: &mut W,
    are_keys_verbatim: bool,
    select: impl Fn(Block) -> Result<S, CliError> + Sync,
    print: impl Fn(&S, &mut W) -> Result<(), CliError>,
) -> Result<u64, CliError> {
    let blocks = blocks(args, are_keys_verbatim);
    let is_printed = !args.quiet && !args.count;
    let _progress = Progress::beside_lines(blocks.bytes_read(), args.input.size());
    let is_line_buffered = args.line_buffered || io::stdout().is_terminal();
    let is_stream = args.quiet || args.line_buffered || !args.input.are_regular_files();
    let threads = if is_stream { 1 } else { threads(args.threads) };
    let mut count = 0;
    in_order(blocks, threads, select, |selected| {
        let selected = selected?;
        count += selected.count();
        if args.quiet && count > 0 {
            return Ok(ControlFlow::Break(()));
        }
        if is_printed {
            print(&selected, out)?;
            if is_line_buffered {
                out.flush()?;
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(count)
}

fn blocks(args: &CheckArgs, are_keys_verbatim: bool) -> Blocks {
    let mut blocks = args.given.blocks_or(&args.input);
    if !are_keys_verbatim {
        blocks = blocks.counted();
    }
    if args.quiet || args.count {
        blocks = blocks.keys_only();
    }
    blocks
}

/// Prints the header and lines unchanged, and terminates the last line of an input.
pub(crate) fn print_runs(
    block: &Block,
    runs: &[Range<usize>],
    out: &mut impl Write,
) -> Result<(), CliError> {
    out.write_all(block.header())?;
    for run in runs {
        let lines = block.raw(run.clone());
        out.write_all(lines)?;
        let end = block.line_end().byte;
        if run.end == block.len() && lines.last() != Some(&end) {
            out.write_all(&[end])?;
        }
    }
    Ok(())
}
