//! `mayhap uniq`: prints each line the first time it is seen, in this run or in all runs with the same state.

mod seen_keys;

use crate::args::{self, threads};
use crate::check::print_runs;
use crate::error::CliError;
use crate::filter_files::check_not_stdin;
use crate::human_format;
use crate::input::{Block, InputArgs, in_order};
use crate::interrupt;
use crate::lock::lock;
use crate::output;
use crate::progress::Progress;
use clap::Args;
use mayhap_codec::native::HashKey;
use mayhap_core::{HashScheme, KeyHash};
use seen_keys::SeenKeys;
use std::io::{self, Write};
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

pub(crate) const EXAMPLES: &str = "\
Examples:
  mayhap uniq urls.txt > once.txt
  mayhap uniq --state seen.mayhap found.txt >> queue.txt    no URL twice, over all runs
  mayhap uniq --state seen.mayhap --window 24h < found.txt  and again after a day
  mayhap uniq -d urls.txt                                   the repeated ones
  mayhap uniq -c urls.txt                                   how many different ones
  mayhap uniq --capacity 5M --fpr 1e-4 urls.txt             less memory, for about five million different lines

Lines need not be sorted, and memory does not depend on their length. A line that was seen is never printed
again; one that was not is dropped by mistake at the rate --fpr, and at the end stderr tells how many that
may be. The state is saved when all lines are out, as a whole; a second run on it waits for the first.";

/// The default rate: one line in a million.
const RATE: f64 = 1e-6;
/// The initial capacity if none is given.
const INITIAL_CAPACITY: u64 = 1 << 17;
/// The assumed number of input bytes per key of initial capacity.
const BYTES_PER_KEY: u64 = 256;
/// Below this, threads cost more than they save.
const SMALL: u64 = 4 << 20;

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct UniqArgs {
    /// Expected number of distinct lines; grows beyond that
    #[arg(long, value_name = "N", value_parser = args::count, allow_negative_numbers = true)]
    capacity: Option<u64>,
    /// Fraction of new lines that may be dropped by mistake [default: 1e-6]
    #[arg(long, value_name = "P", value_parser = args::rate, allow_negative_numbers = true)]
    fpr: Option<f64>,
    /// File that remembers the lines between runs
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Forget lines after this time: 90s, 15m, 24h, 7d
    #[arg(long, value_name = "TIME", value_parser = args::duration)]
    window: Option<Duration>,
    /// Print every occurrence after the first
    #[arg(short = 'd', long)]
    repeated: bool,
    /// Print only the number of lines
    #[arg(short = 'c', long)]
    count: bool,
    /// Do not print the summary
    #[arg(short = 'q', long)]
    quiet: bool,
    /// Flush after every line
    #[arg(long)]
    line_buffered: bool,
    /// Hash with a secret key, for untrusted lines; it is stored in the state
    #[arg(long)]
    keyed: bool,
    /// Threads [default: all cores]
    #[arg(short = 'j', value_name = "N", value_parser = args::thread_count)]
    threads: Option<usize>,
    #[command(flatten)]
    input: InputArgs,
}

/// A block, and the hashes of its lines.
struct HashedBlock {
    block: Block,
    hashes: Vec<KeyHash>,
}

fn hash(block: Block, scheme: HashScheme) -> HashedBlock {
    let hashes = block.lines().map(|line| scheme.hash(block.key(line)));
    let hashes = hashes.collect();
    HashedBlock { block, hashes }
}

pub(crate) fn run(args: &UniqArgs, out: &mut impl Write) -> Result<ExitCode, CliError> {
    if let Some(state) = &args.state {
        check_not_stdin(state)?;
        args.input.check_not_output(state)?;
        output::check_writable(state)?;
        interrupt::remove_temporaries_of(state);
    }
    args.input.check_not_standard_output()?;
    let _lock = args.state.as_deref().map(lock).transpose()?;
    let mut seen = SeenKeys::open(args)?;
    let scheme = seen.scheme();
    let blocks = args.input.blocks();
    let progress = Progress::beside_lines(blocks.bytes_read(), args.input.size());
    let is_small = args.input.size().is_some_and(|size| size < SMALL);
    let threads = if is_small { 1 } else { threads(args.threads) };
    let (mut lines, mut kept, mut printed) = (0, 0, 0);
    let (mut is_new, mut runs) = (Vec::new(), Vec::new());
    in_order(
        blocks,
        threads,
        |block| hash(block, scheme),
        |hashed| {
            seen.insert(&hashed.hashes, &mut is_new);
            lines += hashed.hashes.len() as u64;
            let new = is_new.iter().filter(|&&is_new| is_new).count() as u64;
            kept += new;
            printed += if args.repeated {
                hashed.hashes.len() as u64 - new
            } else {
                new
            };
            if !args.count {
                select(hashed.block.lines(), &is_new, !args.repeated, &mut runs);
                print_runs(&hashed.block, &runs, out)?;
                if args.line_buffered {
                    out.flush()?;
                }
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    if args.count {
        writeln!(out, "{printed}")?;
    }
    // Lines that could not be printed must not count as seen.
    out.flush()?;
    let rate = seen.rate();
    if let Some(path) = &args.state {
        output::save(path, &seen.into_filter(), HashKey::Inside)?;
    }
    drop(progress);
    if !args.quiet {
        report(lines, kept, rate);
    }
    Ok(ExitCode::from(u8::from(printed == 0)))
}

/// The lines to print, as runs of neighbours.
fn select(
    lines: impl Iterator<Item = Range<usize>>,
    is_new: &[bool],
    wanted: bool,
    runs: &mut Vec<Range<usize>>,
) {
    runs.clear();
    for (line, _) in lines.zip(is_new).filter(|(_, is_new)| **is_new == wanted) {
        match runs.last_mut() {
            Some(last) if last.end == line.start => last.end = line.end,
            _ => runs.push(line),
        }
    }
}

/// Reports how many lines may have been dropped by mistake.
fn report(lines: u64, kept: u64, rate: f64) {
    // Each new line was dropped with at most the current rate of the filter.
    let expected = (kept as f64 * rate / (1.0 - rate).max(f64::MIN_POSITIVE))
        .min(lines.saturating_sub(kept) as f64);
    let most = at_most(expected).min(lines.saturating_sub(kept));
    // Without stderr, nothing can be reported.
    let _ = writeln!(
        io::stderr(),
        "mayhap: {} of {} lines were new; about {} of the others may have been, and at most {} (99.9 % sure)",
        human_format::with_thousands_separators(kept),
        human_format::with_thousands_separators(lines),
        if expected < 0.95 {
            format!("{expected:.1}")
        } else {
            format!("{expected:.0}")
        },
        human_format::with_thousands_separators(most)
    );
}

/// The 99.9% upper bound of a Poisson distribution with this mean.
fn at_most(expected: f64) -> u64 {
    if expected > 1000.0 {
        return (expected + 3.1 * expected.sqrt()).ceil() as u64;
    }
    let (mut count, mut term) = (0, (-expected).exp());
    let mut sum = term;
    while sum < 0.999 {
        count += 1;
        term *= expected / count as f64;
        sum += term;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_poisson() {
        assert_eq!(at_most(0.0), 0);
        assert_eq!(at_most(0.0005), 0);
        assert_eq!(at_most(0.01), 1);
        assert_eq!(at_most(1.0), 5);
        assert_eq!(at_most(10.0), 21);
        assert!((2100..2200).contains(&at_most(2000.0)));
    }

    #[test]
    fn neighbours_are_printed_at_once() {
        let lines = [0..2, 2..5, 5..7, 7..9];
        let is_new = [true, true, false, true];
        let mut runs = Vec::new();
        select(lines.iter().cloned(), &is_new, true, &mut runs);
        assert_eq!(runs, [0..5, 7..9]);
        select(lines.iter().cloned(), &is_new, false, &mut runs);
        assert_eq!((runs.len(), &runs[0]), (1, &(5..7)));
    }
}
