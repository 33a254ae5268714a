//! `mayhap uniq`: prints each line the first time it is seen, in this run or in all runs with the same state.

mod seen_keys;
mod session;

use crate::args::{self, threads};
use crate::background_writer::BackgroundWriter;
use crate::error::{CliError, Usage};
use crate::filter_files::{check_not_stdin, invalid_key};
use crate::input::{Block, Event, InputArgs, with_events};
use crate::interrupt;
use crate::lock::lock;
use crate::named_values;
use crate::output;
use crate::progress::Progress;
use clap::Args;
use mayhap_codec::{Format, KeyReader, KeyType};
use mayhap_core::{HashScheme, KeyHash};
use seen_keys::SeenKeys;
use session::Session;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

pub(crate) const EXAMPLES: &str = "\
Examples:
  mayhap uniq urls.txt > once.txt
  mayhap uniq --state seen.mayhap found.txt >> queue.txt    no URL twice, over all runs
  mayhap uniq --state day.mayhap --window 24h < found.txt   and again after a day
  mayhap uniq -d urls.txt                                   the repeated ones
  mayhap uniq -c urls.txt                                   how many different ones
  mayhap uniq --field user_id log.csv                       the first row of every user
  mayhap uniq --capacity 5M --fpr 1e-4 urls.txt             less memory, for about five million different lines

Lines need not be sorted, and memory does not depend on their length. A line that was seen is never printed
again; one that was not is dropped by mistake at the rate --fpr, and with -v, or on a terminal, stderr shows
how many that may be. Lines of a pipe are printed as they arrive, so `tail -F log | mayhap uniq --state F`
can run for weeks. The state is saved at the end, every minute (--save-every), and on SIGINT and SIGTERM, and
contains every line that was printed before. A second run on a state waits for the first.";

/// The default rate: one line in a million.
const RATE: f64 = 1e-6;
/// The initial capacity if none is given.
const INITIAL_CAPACITY: u64 = 1 << 17;
/// The assumed number of input bytes per key of initial capacity.
const BYTES_PER_KEY: u64 = 256;
/// Below this, threads cost more than they save.
const SMALL: u64 = 4 << 20;
/// The default time between saves of the state.
const SAVE_EVERY: Duration = Duration::from_secs(60);

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
    /// Save the state at this interval: 30s, 5m, 1h [default: 1m]
    #[arg(long, value_name = "TIME", value_parser = args::duration, requires = "state")]
    save_every: Option<Duration>,
    /// Forget lines after this time: 90s, 15m, 24h, 7d
    #[arg(long, value_name = "TIME", value_parser = args::duration)]
    window: Option<Duration>,
    /// Print every occurrence after the first
    #[arg(short = 'd', long)]
    repeated: bool,
    /// Print only the number of lines
    #[arg(short = 'c', long)]
    count: bool,
    /// Print the summary, also if stderr is not a terminal
    #[arg(short = 'v', long, conflicts_with = "quiet")]
    verbose: bool,
    /// Do not print the summary
    #[arg(short = 'q', long)]
    quiet: bool,
    /// Flush after every line
    #[arg(long)]
    line_buffered: bool,
    /// Type of the keys, stored in the state [default: text]
    #[arg(long, value_name = "TYPE", value_parser = named_values::key_type())]
    key_type: Option<KeyType>,
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

fn hash(block: Block, reader: &KeyReader, scheme: HashScheme) -> Result<HashedBlock, CliError> {
    let is_verbatim = reader.is_verbatim();
    let (mut hashes, mut failure) = (Vec::new(), None);
    block.for_each_key(|key| {
        let hash = match key {
            Some(key) if !is_verbatim => match reader.read(key) {
                Ok(key) => scheme.hash(key),
                Err(error) => {
                    let number = block.first_line + hashes.len() as u64;
                    failure.get_or_insert_with(|| invalid_key(number, &error));
                    scheme.hash(key)
                }
            },
            // All nulls are one key, that of an empty field.
            key => scheme.hash(key.unwrap_or_default()),
        };
        hashes.push(hash);
    });
    match failure {
        None => Ok(HashedBlock { block, hashes }),
        Some(failure) => Err(failure),
    }
}

pub(crate) fn run(
    args: &UniqArgs,
    out: &mut BufWriter<impl Write + Send>,
) -> Result<ExitCode, CliError> {
    let is_small = args.input.size().is_some_and(|size| size < SMALL);
    let threads = if is_small { 1 } else { threads(args.threads) };
    if threads == 1 {
        return run_on(args, threads, out);
    }
    // The thread that inserts has the most to do, so it does not write too.
    thread::scope(|scope| {
        let mut out = BackgroundWriter::start(scope, out.get_mut());
        run_on(args, threads, &mut out)
    })
}

fn run_on(args: &UniqArgs, threads: usize, out: &mut impl Write) -> Result<ExitCode, CliError> {
    if let Some(state) = &args.state {
        check_not_stdin(state)?;
        args.input.check_not_output(state)?;
        output::check_writable(state)?;
        interrupt::remove_temporaries_of(state);
    }
    args.input.check_not_standard_output()?;
    let _lock = args.state.as_deref().map(lock).transpose()?;
    let seen = SeenKeys::open(args)?;
    let scheme = seen.scheme();
    let key_type = args.key_type.unwrap_or_else(|| seen.key_type());
    let reader = KeyReader::new(Format::Mayhap, key_type);
    let mut session = Session::new(args, seen, out);
    let mut blocks = args.input.blocks();
    if !reader.is_verbatim() {
        blocks = blocks.counted();
    }
    if args.count {
        blocks = blocks.keys_only();
    }
    let mut progress = Some(Progress::beside_lines(
        blocks.bytes_read(),
        args.input.size(),
    ));
    let save_every = args.save_every.unwrap_or(SAVE_EVERY);
    let done = with_events(
        blocks,
        threads,
        args.state.is_some().then_some(save_every),
        |block| hash(block, &reader, scheme),
        |event| {
            match event {
                Event::Done(hashed) => {
                    let hashed = hashed?;
                    session.take(&hashed.block, &hashed.hashes)?;
                }
                Event::Idle => session.flush_if_pipe()?,
                Event::Interval => session.save_at_interval()?,
                Event::Signal(signal) => {
                    progress.take();
                    // The reader may be blocked for days: nothing waits for it.
                    interrupt::exit(match session.finish() {
                        Ok(()) => signal.exit_code(),
                        Err(failure) => crate::report_failure(&failure, Usage::DEFAULT),
                    });
                }
            }
            Ok(ControlFlow::Continue(()))
        },
    );
    progress.take();
    match done {
        Ok(()) => session.end()?,
        Err(CliError::ReaderGone) => return Err(CliError::ReaderGone),
        Err(failure) => {
            // Lines before the error are printed, and must count as seen.
            session.save()?;
            return Err(failure);
        }
    }
    Ok(ExitCode::from(u8::from(session.has_printed_nothing())))
}
