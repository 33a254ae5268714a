//! The `mayhap` program.
//!
//! Conventions as in grep: data on stdout, messages on stderr, exit code 0 for yes, 1 for no, 2 for an error. An error is one
//! line that says what to do next. A closed stdout is not an error. Each subcommand has its own file.
//!
//! | place | what it answers |
//! | --- | --- |
//! | `args.rs`, `named_values.rs`, `error.rs` | which arguments are there, and how are errors reported? |
//! | `input/` | how do files, pipes and compressed inputs become blocks of lines, processed by several threads in order (`pipeline.rs`)? |
//! | `table/` | how are the columns of CSV, TSV, JSON lines and Parquet read? |
//! | `filter_files.rs` | how is a filter opened, selected and given keys? |
//! | `output.rs`, `lock.rs`, `interrupt.rs` | how is a file written atomically, by one process at a time, without leftovers? |
//! | `background_writer.rs` | how is stdout written while the next lines are processed? |
//! | `build.rs`, `check.rs`, `add_remove.rs`, `uniq.rs`, `join.rs`, `index.rs`, `which.rs`, `migrate.rs`, ... | one subcommand each |

mod add_remove;
mod args;
mod background_writer;
mod bench;
mod build;
mod check;
mod codec_errors;
mod error;
mod filter_files;
mod human_format;
mod index;
mod info;
mod input;
mod interrupt;
mod join;
mod lock;
mod machine;
mod man_pages;
mod merge;
mod migrate;
mod named_values;
mod output;
mod page;
mod plan;
mod progress;
mod serve;
mod table;
mod uniq;
mod verify;
mod which;

use args::{Cli, CliCommand};
use clap::Parser;
use clap::error::ErrorKind;
use error::{CliError, Usage};
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// Compared with musl's own allocator, `check` takes 0.51 times the CPU, `uniq` 0.75 times and `build` 0.85 times (3 million URLs).
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ERROR: u8 = 2;
/// One write for many lines.
const OUTPUT_BYTES: usize = 256 << 10;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return explain(&error),
    };
    let usage = Usage {
        capacity_flag: match cli.command {
            CliCommand::Plan(_) | CliCommand::Bench(_) => "--keys",
            _ => Usage::DEFAULT.capacity_flag,
        },
        filter_comes_first: matches!(
            cli.command,
            CliCommand::Check(_) | CliCommand::Add(_) | CliCommand::Remove(_)
        ),
    };
    let mut out = BufWriter::with_capacity(OUTPUT_BYTES, io::stdout());
    let done = match cli.command {
        CliCommand::Build(args) => build::run(&args, &mut out),
        CliCommand::Check(args) => check::run(&args, &mut out),
        CliCommand::Add(args) => add_remove::add(&args, &mut out),
        CliCommand::Remove(args) => add_remove::remove(&args, &mut out),
        CliCommand::Uniq(args) => uniq::run(&args, &mut out),
        CliCommand::Info(args) => info::run(&args, usage, &mut out),
        CliCommand::Plan(args) => plan::run(&args, &mut out),
        CliCommand::Merge(args) => merge::merge(&args, &mut out),
        CliCommand::Convert(args) => merge::convert(&args, &mut out),
        CliCommand::Verify(args) => verify::run(&args, &mut out),
        CliCommand::Fold(args) => merge::fold(&args, &mut out),
        CliCommand::Join(args) => join::run(&args, &mut out),
        CliCommand::Index(args) => index::run(&args),
        CliCommand::Which(args) => which::run(&args, &mut out),
        CliCommand::Migrate(args) => migrate::run(&args, &mut out),
        CliCommand::Bench(args) => bench::run(&args, &mut out),
        CliCommand::Serve(args) => serve::run(&args, &mut out),
        CliCommand::Page(args) => page::run(&args, &mut out),
        CliCommand::Completions(args) => man_pages::completions(&args, &mut out),
        CliCommand::Man(args) => man_pages::man(&args, &mut out),
    };
    match done.and_then(|code| out.flush().map(|()| code).map_err(CliError::from)) {
        Ok(code) => code,
        Err(failure) => {
            // Results before the error are printed, as far as stdout accepts them.
            let _ = out.flush();
            ExitCode::from(report_failure(&failure, usage))
        }
    }
}

/// Prints what happened, and returns the exit code.
pub(crate) fn report_failure(failure: &CliError, usage: Usage) -> u8 {
    failure.line(usage).map_or(0, |line| print_error(&line))
}

/// Help and version as clap formats them, errors in one line.
fn explain(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            match error.print().map_err(CliError::from) {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => ExitCode::from(report_failure(&failure, Usage::DEFAULT)),
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(ERROR)
        }
        _ => ExitCode::from(print_error(&error::usage(error))),
    }
}

/// Prints messages that are not errors, a line each, in one write.
pub(crate) fn print_messages(messages: &[String]) {
    let mut lines = String::new();
    for message in messages {
        lines.push_str("mayhap: ");
        lines.push_str(&message.replace(char::is_control, "?"));
        lines.push('\n');
    }
    // Without stderr, nothing can be reported.
    let _ = io::stderr().write_all(lines.as_bytes());
}

pub(crate) fn print_error(message: &str) -> u8 {
    // File names and invalid values are untrusted: they must not break the line or control the terminal.
    let line = message.replace(char::is_control, "?");
    // Without stderr only the exit code reports the error.
    let _ = writeln!(io::stderr(), "mayhap: {line}");
    ERROR
}
