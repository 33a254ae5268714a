//! Errors of the codec in the words of the command line: the codec names settings, and this file the flags that give them.

use crate::error::CliError;
use mayhap_codec::{BuildError, Format, OpenError, ParameterError, Problem, Setting, native};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The flag that gives a setting.
const fn flag(setting: Setting) -> &'static str {
    match setting {
        Setting::FalsePositiveRate => "--fpr",
        Setting::Bits => "--bits",
        Setting::Probes => "--probes",
        Setting::ByteOrder => "-P order=new or -P order=old",
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
    match error {
        ParameterError::Unknown { .. } => error.to_string(),
        ParameterError::Value {
            name,
            value,
            expected,
        } => format!("-P {name}={value}: expected {expected}"),
    }
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

/// Whether `verify --repair` helps.
fn can_repair(path: &Path, offset: u64) -> bool {
    let mut begin = [0; native::REPAIR_HEADER_BYTES];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && native::can_repair(&begin, offset)
}

/// A file that cannot be opened; `key_file` is the value of `--key-file`.
pub(crate) fn open(path: &Path, error: &OpenError, key_file: Option<&Path>) -> CliError {
    let name = path.display();
    CliError::message(match error {
        _ if crate::index::is_index_file(path) => {
            format!(
                "{name} is an index of files, not a filter: query it with `mayhap which {name} KEY`"
            )
        }
        OpenError::Text => return CliError::TextFile(path.to_path_buf()),
        OpenError::Ambiguous(formats) => {
            let names: Vec<&str> = formats.iter().map(|format| format.name()).collect();
            format!(
                "{name} could be a filter of several formats ({}): choose one with --from",
                names.join(", ")
            )
        }
        OpenError::Unknown => format!(
            "{name} is not a filter of a known format: if it is one, name its format with --from"
        ),
        OpenError::Missing {
            format,
            any_of,
            definition,
        } => format!(
            "{name}: a {format} file does not store this setting: give {}, as in {definition}",
            flags(any_of, " or ")
        ),
        OpenError::Parameter(error) => format!("{name}: {}", parameter_text(error)),
        OpenError::Decode(error) => match (&error.problem, key_file) {
            (Problem::KeyOutside { .. }, None) => {
                format!("{name} was built with a secret key: give its file by --key-file")
            }
            (Problem::KeyOutside { .. }, Some(given)) => format!(
                "{name} was built with another secret key than the one in {}: give the right file by --key-file",
                given.display()
            ),
            (Problem::Checksum, _) => format!(
                "{name} is damaged: bad checksum at byte {}; {}",
                error.offset,
                if error.format == Format::Mayhap && can_repair(path, error.offset) {
                    format!("`mayhap verify {name} --repair ones -o FILE` can save it")
                } else {
                    "restore a copy of it, or rebuild it from the keys".to_owned()
                }
            ),
            _ => format!("{name}: {error}"),
        },
    })
}
