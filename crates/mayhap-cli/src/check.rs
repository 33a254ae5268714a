//! `mayhap check`: the lines that may be in a filter.

use crate::args::{self, threads};
use crate::failure::Failure;
use crate::filters::{ChooseArgs, Keys, OpenArgs, keys, not_a_key};
use crate::input::{Block, InputArgs, in_order, is_standard};
use crate::progress::Progress;
use clap::Args;
use mayhap_codec::{Filter, Found, KeyReader, KeyType};
use std::io::Write;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) const EXAMPLES: &str = "\
Examples:
  mayhap check seen.mayhap urls.txt            the URLs that may have been seen
  mayhap check -v words.mayhap text.txt        the words that are surely not in the dictionary
  mayhap check -c blocked.mayhap < mails.txt   how many may be blocked
  mayhap check -q blocked.mayhap <<< \"$url\" && echo mayhap
  mayhap check users.guava --key-type i64 ids.txt
  mayhap check part.parquet --column user_id ids.txt
  mayhap check dump.rdb --key seen urls.txt
  mayhap check skp_idx_x.idx --fpr 0.01 -P type=UInt64 ids.txt

A line that is not printed is surely not in. A line that is printed is in, or one of the false positives
that `mayhap info` tells the rate of. In a file with several filters a line counts when one of them may have
it. Exit status: 0 if a line was printed, 1 if none was, 2 for an error.";

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct CheckArgs {
    /// A filter of any format, or a file that holds some
    #[arg(value_name = "FILTER")]
    filter: PathBuf,
    /// Print the lines that are surely not in
    #[arg(short = 'v', long)]
    invert: bool,
    /// Print only how many there are
    #[arg(short = 'c', long)]
    count: bool,
    /// Print nothing, and stop at the first
    #[arg(short = 'q', long)]
    quiet: bool,
    /// Hand every line on at once
    #[arg(long)]
    line_buffered: bool,
    /// What a line stands for: text, hex, base64, i8..i64, u8..u64, f64 or uuid
    #[arg(long, value_name = "TYPE", value_parser = args::key_type, default_value = "text")]
    key_type: KeyType,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    choose: ChooseArgs,
    /// Threads [default: all cores]
    #[arg(short = 'j', value_name = "N", value_parser = args::thread_count)]
    threads: Option<usize>,
    #[command(flatten)]
    input: InputArgs,
}

/// Filters, and for each the reader of its keys.
struct Asked {
    readers: Vec<KeyReader>,
    filters: Vec<(usize, Filter)>,
}

impl Asked {
    fn new(found: Vec<Found>, args: &CheckArgs) -> Result<Self, Failure> {
        let mut asked = Self {
            readers: Vec::new(),
            filters: Vec::new(),
        };
        for found in found {
            let reader = args.open.key_reader(&found, args.key_type)?;
            let known = asked.readers.iter().position(|known| *known == reader);
            let reader = known.unwrap_or_else(|| {
                asked.readers.push(reader);
                asked.readers.len() - 1
            });
            asked.filters.push((reader, found.filter));
        }
        Ok(asked)
    }

    /// Which lines may be in one of the filters.
    fn answer(&self, block: &Block, answers: &mut Vec<bool>) -> Result<(), Failure> {
        let [reader] = &self.readers[..] else {
            return self.answer_by_type(block, answers);
        };
        let mut lines = Keys::Verbatim(Vec::new());
        keys(block, reader, &mut lines)?;
        answers.clear();
        answers.resize(lines.len(), false);
        if let [(_, filter)] = &self.filters[..] {
            lines.ask(filter, answers);
            return Ok(());
        }
        let mut found = vec![false; lines.len()];
        for (_, filter) in &self.filters {
            lines.ask(filter, &mut found);
            for (answer, found) in answers.iter_mut().zip(&found) {
                *answer |= found;
            }
        }
        Ok(())
    }

    /// With columns of several types a line is a key of some of them, and its neighbours are of others. One that is a key of
    /// none is an error.
    fn answer_by_type(&self, block: &Block, answers: &mut Vec<bool>) -> Result<(), Failure> {
        let lines: Vec<&[u8]> = block.lines().map(|line| block.key(line)).collect();
        answers.clear();
        answers.resize(lines.len(), false);
        let mut is_key = vec![false; lines.len()];
        for (number, reader) in self.readers.iter().enumerate() {
            let (mut places, mut keys) = (Vec::new(), Vec::new());
            for (place, line) in lines.iter().enumerate() {
                if let Ok(key) = reader.read(line) {
                    is_key[place] = true;
                    places.push(place);
                    keys.push(key);
                }
            }
            let keys = Keys::Read(keys);
            let mut found = vec![false; places.len()];
            for (_, filter) in self.filters.iter().filter(|(reader, _)| *reader == number) {
                keys.ask(filter, &mut found);
                for (&place, found) in places.iter().zip(&found) {
                    answers[place] |= found;
                }
            }
        }
        let nobodys = is_key.iter().position(|is_key| !is_key);
        let (Some(place), Some(reader)) = (nobodys, self.readers.first()) else {
            return Ok(());
        };
        let number = block.first_line + place as u64;
        let read = reader.read(lines[place]);
        read.map_or_else(|error| Err(not_a_key(number, &error)), |_| Ok(()))
    }
}

/// The lines of a block that are to be printed, in runs.
struct Selected {
    block: Block,
    runs: Vec<Range<usize>>,
    count: u64,
}

fn select(asked: &Asked, block: Block, invert: bool) -> Result<Selected, Failure> {
    let mut answers = Vec::new();
    asked.answer(&block, &mut answers)?;
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut count = 0;
    for (line, &answer) in block.lines().zip(&answers) {
        if answer == invert {
            continue;
        }
        count += 1;
        match runs.last_mut() {
            Some(last) if last.end == line.start => last.end = line.end,
            _ => runs.push(line),
        }
    }
    Ok(Selected { block, runs, count })
}

pub(crate) fn run(args: &CheckArgs, out: &mut impl Write) -> Result<ExitCode, Failure> {
    if is_standard(&args.filter) && args.input.paths().iter().any(|input| is_standard(input)) {
        return Err(Failure::message(
            "standard input is the filter and has no lines then: give the files that have them",
        ));
    }
    args.input.refuse_as_standard_output()?;
    let found = args.open.open(&args.filter)?;
    let asked = Asked::new(args.choose.choose(&args.filter, found)?, args)?;
    let is_plain = asked.readers.iter().all(KeyReader::is_verbatim);
    let mut blocks = args.input.blocks();
    if !is_plain {
        blocks = blocks.counted();
    }
    let _progress = Progress::beside_lines(blocks.bytes_read(), args.input.size());
    let is_stream = args.quiet || args.line_buffered || !args.input.are_regular_files();
    let threads = if is_stream { 1 } else { threads(args.threads) };
    let mut count = 0;
    in_order(
        blocks,
        threads,
        |block| select(&asked, block, args.invert),
        |selected| {
            let selected = selected?;
            count += selected.count;
            if args.quiet && count > 0 {
                return Ok(ControlFlow::Break(()));
            }
            if !args.quiet && !args.count {
                print_runs(&selected.block, &selected.runs, out)?;
                if args.line_buffered {
                    out.flush()?;
                }
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    if args.count && !args.quiet {
        writeln!(out, "{count}")?;
    }
    Ok(ExitCode::from(u8::from(count == 0)))
}

/// Prints lines as they came, and ends the last line of an input that lacks its end.
pub(crate) fn print_runs(
    block: &Block,
    runs: &[Range<usize>],
    out: &mut impl Write,
) -> Result<(), Failure> {
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
