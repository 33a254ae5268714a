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
mod interrupt;
mod join;
mod lock;
mod machine;
mod manual;
mod merge;
mod output;
mod plan;
mod progress;
mod serve;
mod uniq;
mod verify;

use args::{Cli, Verb};
use clap::Parser;
use clap::error::ErrorKind;
use failure::Failure;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

const ERROR: u8 = 2;
/// What most verbs call the number of keys.
const CAPACITY: &str = "--capacity";
/// One write for many lines.
const OUTPUT_BYTES: usize = 256 << 10;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return explain(&error),
    };
    let capacity_flag = match cli.verb {
        Verb::Plan(_) | Verb::Bench(_) => "--keys",
        _ => CAPACITY,
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
        Verb::Serve(args) => serve::run(&args, &mut out),
        Verb::Completions(args) => manual::completions(&args, &mut out),
        Verb::Man(args) => manual::man(&args, &mut out),
    };
    match done.and_then(|code| out.flush().map(|()| code).map_err(Failure::from)) {
        Ok(code) => code,
        Err(failure) => {
            // The part of the answer that was right comes before the error, as far as stdout takes it.
            let _ = out.flush();
            end(failure, capacity_flag)
        }
    }
}

fn end(failure: Failure, capacity_flag: &str) -> ExitCode {
    match failure {
        Failure::ReaderGone => ExitCode::SUCCESS,
        Failure::Plan(error) => complain(&failure::about_plan(&error, capacity_flag)),
        Failure::Message(message) => complain(&message),
    }
}

/// What clap has to say instead of arguments: help and version as they are, errors in one line.
fn explain(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            match error.print().map_err(Failure::from) {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => end(failure, CAPACITY),
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
    // Names of files and bad values are strangers' words: they must not break the line, or draw on a terminal.
    let line = message.replace(char::is_control, "?");
    // With stderr gone too there is nobody left to tell; the exit code still says it.
    let _ = writeln!(io::stderr(), "mayhap: {line}");
    ExitCode::from(ERROR)
}
