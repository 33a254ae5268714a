//! The `mayhap` program: glue between a terminal and the library.
//!
//! It keeps grep's manners: data on stdout, talk on stderr, exit 0 for yes, 1 for no, 2 for an error, and an error is one
//! line that says what to do next. A reader of stdout that goes away early is no error. Each verb is a file.

mod args;
mod bench;
mod build;
mod change;
mod check;
mod failure;
mod filters;
mod format;
mod info;
mod input;
mod join;
mod machine;
mod manual;
mod merge;
mod output;
mod plan;
mod progress;
mod uniq;
mod verify;

use args::{Cli, Verb};
use clap::Parser;
use clap::error::ErrorKind;
use failure::Failure;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

const ERROR: u8 = 2;
/// One write for many lines.
const OUTPUT_BYTES: usize = 256 << 10;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return explain(&error),
    };
    let mut out = BufWriter::with_capacity(OUTPUT_BYTES, io::stdout().lock());
    let done = match cli.verb {
        Verb::Build(args) => build::run(&args, &mut out),
        Verb::Check(args) => check::run(&args, &mut out),
        Verb::Add(args) => change::add(&args, &mut out),
        Verb::Remove(args) => change::remove(&args, &mut out),
        Verb::Uniq(args) => uniq::run(&args, &mut out),
        Verb::Info(args) => info::run(&args, &mut out),
        Verb::Plan(args) => plan::run(&args, &mut out),
        Verb::Merge(args) => merge::merge(&args, &mut out),
        Verb::Convert(args) => merge::convert(&args, &mut out),
        Verb::Verify(args) => verify::run(&args, &mut out),
        Verb::Fold(args) => merge::fold(&args, &mut out),
        Verb::Join(args) => join::run(&args, &mut out),
        Verb::Bench(args) => bench::run(&args, &mut out),
        Verb::Completions(args) => manual::completions(&args, &mut out),
        Verb::Man(args) => manual::man(&args, &mut out),
    };
    match done.and_then(|code| out.flush().map(|()| code).map_err(Failure::from)) {
        Ok(code) => code,
        Err(Failure::ReaderGone) => ExitCode::SUCCESS,
        Err(Failure::Message(message)) => {
            // The part of the answer that was right comes before the error, as far as stdout takes it.
            let _ = out.flush();
            complain(&message)
        }
    }
}

/// What clap has to say instead of arguments: help and version as they are, errors in one line.
fn explain(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            match error.print().map_err(Failure::from) {
                Ok(()) | Err(Failure::ReaderGone) => ExitCode::SUCCESS,
                Err(Failure::Message(message)) => complain(&message),
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(ERROR)
        }
        _ => complain(&failure::usage(error)),
    }
}

fn complain(message: &str) -> ExitCode {
    // With stderr gone too there is nobody left to tell; the exit code still says it.
    let _ = writeln!(io::stderr(), "mayhap: {message}");
    ExitCode::from(ERROR)
}
