//! `mayhap check`: the lines that may be in a filter.

use crate::args::{self, threads};
use crate::failure::Failure;
use crate::filters::{ChooseArgs, Keys, OpenArgs, keys};
use crate::input::{Block, InputArgs, in_order, open_file};
use crate::progress::Progress;
use clap::Args;
use mayhap_codec::native::{self, Mapped};
use mayhap_codec::{Filter, Format, Found, KeyReader, KeyType};
use std::io::{Read, Write};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
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

/// A filter that was read, or one that is asked where it lies.
enum Answering {
    Read(Filter),
    Mapped(Mapped),
}

impl Answering {
    fn ask(&self, keys: &Keys<'_>, found: &mut [bool]) {
        match (self, keys) {
            (Self::Read(filter), keys) => keys.ask(filter, found),
            (Self::Mapped(filter), Keys::Verbatim(keys)) => filter.contains_each(keys, found),
            (Self::Mapped(filter), Keys::Read(keys)) => filter.contains_each(keys, found),
        }
    }
}

/// Below this, a file is read as fast as it is mapped.
const LARGE: u64 = 32 << 20;

/// A large file of ours is asked in place when there is less to ask than to read.
fn map(args: &CheckArgs) -> Result<Option<Mapped>, Failure> {
    let size = std::fs::metadata(&args.filter).map_or(0, |metadata| metadata.len());
    let is_native = args.open.from.is_none_or(|format| format == Format::Mayhap);
    if size < LARGE || !is_native || args.input.size().is_some_and(|asked| asked > size) {
        return Ok(None);
    }
    let mut first = [0; native::MAGIC.len()];
    let read = open_file(&args.filter)?.read_exact(&mut first);
    if read.is_err() || first != native::MAGIC {
        return Ok(None);
    }
    let mapped = native::map(&args.filter, native::Verify::Lazy, args.open.key()?);
    match mapped {
        Ok(mapped) => Ok(Some(mapped)),
        Err(error) => Err(Failure::message(format!(
            "{}: {error}",
            args.filter.display()
        ))),
    }
}

/// Filters, and for each the reader of its keys.
struct Asked {
    readers: Vec<KeyReader>,
    filters: Vec<(usize, Answering)>,
}

impl Asked {
    fn open(args: &CheckArgs) -> Result<Self, Failure> {
        if let Some(mapped) = map(args)? {
            return Ok(Self {
                readers: vec![KeyReader::new(Format::Mayhap, args.key_type)],
                filters: vec![(0, Answering::Mapped(mapped))],
            });
        }
        let found = args.open.open(&args.filter)?;
        Self::new(args.choose.choose(&args.filter, found)?, args)
    }

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
            asked.filters.push((reader, Answering::Read(found.filter)));
        }
        Ok(asked)
    }

    /// Damage of a file that is asked in place shows when a question touches it, and the answer is yes then.
    fn check_touched(&self, path: &Path) -> Result<(), Failure> {
        for (_, filter) in &self.filters {
            if let Answering::Mapped(mapped) = filter {
                mapped.check_touched().map_err(|error| {
                    Failure::message(format!(
                        "{}: {error}; `mayhap verify` tells what is left",
                        path.display()
                    ))
                })?;
            }
        }
        Ok(())
    }

    /// Which lines may be in one of the filters.
    fn answer(&self, block: &Block, answers: &mut Vec<bool>) -> Result<(), Failure> {
        answers.clear();
        let mut first_error = None;
        let mut is_read = false;
        let mut some = Vec::new();
        for (number, reader) in self.readers.iter().enumerate() {
            let mut lines = Keys::Verbatim(Vec::new());
            if let Err(error) = keys(block, reader, &mut lines) {
                // With columns of several types, a line is a key of some of them.
                first_error.get_or_insert(error);
                continue;
            }
            is_read = true;
            answers.resize(lines.len(), false);
            for (_, filter) in self.filters.iter().filter(|(reader, _)| *reader == number) {
                if self.filters.len() == 1 {
                    filter.ask(&lines, answers);
                    return Ok(());
                }
                some.resize(lines.len(), false);
                filter.ask(&lines, &mut some);
                for (answer, some) in answers.iter_mut().zip(&some) {
                    *answer |= some;
                }
            }
        }
        match first_error {
            Some(error) if !is_read => Err(error),
            _ => Ok(()),
        }
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
    let asked = Asked::open(args)?;
    let is_plain = asked.readers.iter().all(KeyReader::is_verbatim);
    let mut blocks = args.input.blocks();
    if !is_plain {
        blocks = blocks.counted();
    }
    let _progress = Progress::of(blocks.bytes_read(), args.input.size());
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
    asked.check_touched(&args.filter)?;
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
