//! The error type of the program, and its one-line messages.

use crate::human_format;
use clap::error::ContextKind;
use mayhap_core::PlanError;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

/// Why a subcommand stopped.
#[derive(Debug)]
pub(crate) enum CliError {
    /// The reader of stdout has gone, as in `mayhap bench | head -1`: success.
    ReaderGone,
    /// A filter that cannot be built.
    Plan(PlanError),
    /// A text file in the place of a filter.
    TextFile(PathBuf),
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
                "standard output cannot be written ({error}): redirect it to another place"
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

/// What messages depend on in a subcommand.
#[derive(Clone, Copy)]
pub(crate) struct Usage {
    /// The flag for the number of keys.
    pub(crate) capacity_flag: &'static str,
    /// Whether the first argument is a filter and the others are files of keys.
    pub(crate) filter_comes_first: bool,
}

impl Usage {
    /// That of most subcommands.
    pub(crate) const DEFAULT: Self = Self {
        capacity_flag: "--capacity",
        filter_comes_first: false,
    };
}

impl CliError {
    /// The line for people; `None` if there is nothing to report.
    pub(crate) fn line(&self, usage: Usage) -> Option<String> {
        match self {
            Self::ReaderGone => None,
            Self::Plan(error) => Some(from_plan_error(error, usage.capacity_flag)),
            Self::TextFile(path) => Some(text_file(path, usage.filter_comes_first)),
            Self::Message(message) => Some(message.clone()),
        }
    }
}

fn text_file(path: &Path, filter_comes_first: bool) -> String {
    let name = path.display();
    let order = if filter_comes_first {
        "name the filter first and the files of keys after it, or "
    } else {
        ""
    };
    format!(
        "{name} is text, not a filter: {order}build one with `mayhap build -o FILTER {name}`; --from FORMAT opens it anyway"
    )
}

/// Replaces the library's argument names by the flags of the subcommand.
fn from_plan_error(error: &PlanError, capacity_flag: &str) -> String {
    match error {
        PlanError::InvalidInteger {
            field,
            value,
            accepted,
        } => format!(
            "{} {value} is out of range: give {accepted}",
            flag(field, capacity_flag)
        ),
        PlanError::InvalidNumber {
            field,
            value,
            accepted,
        } => format!(
            "{} {value:?} is out of range: give {accepted}",
            flag(field, capacity_flag)
        ),
        PlanError::OutOfMemory { size_bytes } => format!(
            "not enough memory for a filter of {}: use a smaller {capacity_flag} or a higher --fpr",
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
    let context = |kind| error.get(kind).map(ToString::to_string);
    let (arg, value) = (
        context(ContextKind::InvalidArg),
        context(ContextKind::InvalidValue),
    );
    if let (Some(arg), Some(value)) = (arg, value) {
        // `--fpr <P>`, without the name of its value.
        let arg = arg.split(" <").next().unwrap_or(&arg);
        // Rejected by one of our own parsers, which says what is accepted.
        if let Some(why) = error.source() {
            return format!("{arg} {value}: {why}");
        }
        if let (false, Some(accepted)) = (value.is_empty(), context(ContextKind::ValidValue)) {
            let hint = context(ContextKind::SuggestedValue)
                .map_or(String::new(), |name| format!(" (did you mean {name}?)"));
            return format!("{arg} {value}: give one of {accepted}{hint}");
        }
    }
    format!(
        "{}; see `{} --help`",
        first_lines(&error.render().to_string()),
        command(error)
    )
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
