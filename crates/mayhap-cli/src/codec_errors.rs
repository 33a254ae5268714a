//! Errors of the codec in the words of the command line: the codec names settings, and this file the flags that give them.

use crate::error::CliError;
use mayhap_codec::{BuildError, Format, OpenError, ParameterError, Problem, Setting};
use std::path::Path;

/// The flag that gives a setting.
const fn flag(setting: Setting) -> &'static str {
    match setting {
        Setting::FalsePositiveRate => "--fpr",
        Setting::Bits => "--bits",
        Setting::Probes => "--probes",
    }
}

fn flags(settings: &[Setting], conjunction: &str) -> String {
    let flags: Vec<&str> = settings.iter().map(|setting| flag(*setting)).collect();
    flags.join(conjunction)
}

/// A wrong `-P`.
pub(crate) fn parameter(error: &ParameterError) -> CliError {
    CliError::message(parameter_text(error))
}

fn parameter_text(error: &ParameterError) -> String {
    format!("-P {}: give {}", error.given, error.expected)
}

/// A filter that cannot be built.
pub(crate) fn build(error: &BuildError) -> CliError {
    CliError::message(match error {
        BuildError::Parameter(error) => parameter_text(error),
        BuildError::Missing {
            format,
            all_of,
            definition,
        } => format!(
            "a {format} filter needs {}, as in {definition}",
            flags(all_of, " and ")
        ),
        BuildError::Plan(_) | BuildError::Native => error.to_string(),
    })
}

/// A file that cannot be opened; `key_file` is the value of `--key-file`.
pub(crate) fn open(path: &Path, error: &OpenError, key_file: Option<&Path>) -> CliError {
    let name = path.display();
    CliError::message(match error {
        OpenError::Ambiguous(_) => format!("{name}: {error}; say which with --from"),
        OpenError::Unknown => {
            format!("{name}: {error}: give a filter, or say what it is with --from")
        }
        OpenError::Missing {
            format,
            any_of,
            definition,
        } => format!(
            "{name}: a {format} file does not contain everything: give {}, as in {definition}",
            flags(any_of, " or ")
        ),
        OpenError::Parameter(error) => format!("{name}: {}", parameter_text(error)),
        OpenError::Decode(error) => match (&error.problem, key_file) {
            (Problem::KeyOutside { .. }, None) => {
                format!("{name} has its secret key outside: give it by --key-file")
            }
            (Problem::KeyOutside { .. }, Some(given)) => format!(
                "{name} was made with another key than {} has: give the right one by --key-file",
                given.display()
            ),
            (Problem::Checksum, _) if error.format == Format::Mayhap => format!(
                "{name}: {error}; `mayhap verify {name} --repair ones -o OTHER` saves what can be"
            ),
            _ => format!("{name}: {error}"),
        },
    })
}
