//! The error type of the program, and its one-line messages.

use crate::human_format;
use clap::error::ContextKind;
use mayhap_core::PlanError;
use std::error::Error;
use std::io;

/// Why a subcommand stopped.
#[derive(Debug)]
pub(crate) enum CliError {
    /// The reader of stdout has gone, as in `mayhap bench | head -1`: success.
    ReaderGone,
    /// A filter that cannot be built.
    Plan(PlanError),
    /// An error, in one line that says what to do next.
    Message(String),
}

impl CliError {
    pub(crate) fn message(text: impl Into<String>) -> Self {
        Self::Message(text.into())
    }
}

/// Only stdout is written through `?`, so an I/O error is about stdout.
impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ReaderGone
        } else {
            Self::Message(format!(
                "standard output cannot be written ({error}): send it elsewhere"
            ))
        }
    }
}

/// The message is formatted at the end, when the flags are known.
impl From<PlanError> for CliError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

/// Replaces the library's argument names by the flags of the subcommand.
pub(crate) fn from_plan_error(error: &PlanError, capacity_flag: &str) -> String {
    match error {
        PlanError::InvalidInteger {
            field,
            value,
            accepted,
        } => format!(
            "{} {value} is out of reach: give {accepted}",
            flag(field, capacity_flag)
        ),
        PlanError::InvalidNumber {
            field,
            value,
            accepted,
        } => format!(
            "{} {value:?} is out of reach: give {accepted}",
            flag(field, capacity_flag)
        ),
        PlanError::OutOfMemory { size_bytes } => format!(
            "no memory for a filter of {}: give a smaller {capacity_flag} or a looser --fpr",
            human_format::size(*size_bytes)
        ),
        other => other.to_string(),
    }
}

fn flag<'a>(field: &'a str, capacity_flag: &'a str) -> &'a str {
    match field {
        "capacity" => capacity_flag,
        "false_positive_rate" => "--fpr",
        "size_bytes" => "--memory",
        "probes" => "--probes",
        "skip_cost" => "--cost-skip",
        "lookup_cost" => "--cost-lookup",
        "present_share" => "--present",
        "gib_cost" => "--cost-gib",
        other => other,
    }
}

/// A usage error of clap, in one line.
pub(crate) fn usage(error: &clap::Error) -> String {
    match (
        error.get(ContextKind::InvalidArg),
        error.get(ContextKind::InvalidValue),
        error.source(),
    ) {
        // Rejected by one of our own parsers, which says what is accepted.
        (Some(arg), Some(value), Some(why)) => {
            format!("invalid value '{value}' for '{arg}': {why}")
        }
        _ => format!(
            "{}; `{} --help` shows what there is",
            first_lines(&error.render().to_string()),
            command(error)
        ),
    }
}

/// The command of an error: `mayhap`, or `mayhap check`.
fn command(error: &clap::Error) -> String {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string);
    let usage = usage.unwrap_or_default();
    let is_verb = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase());
    match usage.split_whitespace().nth(2).filter(is_verb) {
        Some(subcommand) => format!("mayhap {subcommand}"),
        None => "mayhap".to_owned(),
    }
}

/// The text before the usage, without line breaks.
fn first_lines(text: &str) -> String {
    let lines = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"))
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join("; ");
    // Missing arguments are on separate lines.
    let lines = lines.replace(":; ", ": ");
    lines.trim_start_matches("error: ").to_owned()
}
