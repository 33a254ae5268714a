//! Input: files or standard input, decompressed, in blocks of whole lines.

mod block;
mod decompress;
mod field_args;
mod given_keys;
mod lz4;
mod pipeline;
mod table_blocks;

pub(crate) use block::{Block, Blocks};
pub(crate) use given_keys::GivenKeys;
pub(crate) use pipeline::{Event, in_order, with_events};

use crate::error::CliError;
use clap::Args;
use field_args::FieldArgs;
use same_file::{Handle, is_same_file};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The inputs and the line ending.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct InputArgs {
    /// Files with one key per line; none or - is standard input; .gz, .zst, .bz2, .xz and .lz4 are decompressed
    #[arg(value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Lines end with NUL instead of a line feed
    #[arg(short = '0', long = "null")]
    pub(crate) null: bool,
    /// Lines end with CR LF: the CR is not part of the key
    #[arg(long, conflicts_with = "null")]
    pub(crate) crlf: bool,
    #[command(flatten)]
    field: FieldArgs,
}

/// The line ending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LineEnd {
    pub(crate) byte: u8,
    /// A preceding CR belongs to it.
    pub(crate) carriage_return: bool,
}

impl LineEnd {
    pub(crate) const LINE_FEED: Self = Self {
        byte: b'\n',
        carriage_return: false,
    };

    /// A line without its end.
    #[inline]
    pub(crate) fn strip(self, line: &[u8]) -> &[u8] {
        let line = line.strip_suffix(&[self.byte]).unwrap_or(line);
        match line {
            [line @ .., b'\r'] if self.carriage_return => line,
            line => line,
        }
    }
}

impl InputArgs {
    pub(crate) fn line_end(&self) -> LineEnd {
        LineEnd {
            byte: if self.null { 0 } else { b'\n' },
            carriage_return: self.crlf,
        }
    }

    /// The inputs; standard input if there are none.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        if self.inputs.is_empty() {
            vec![PathBuf::from("-")]
        } else {
            self.inputs.clone()
        }
    }

    /// Whether all inputs are regular files, which can be read twice and by another thread.
    pub(crate) fn are_regular_files(&self) -> bool {
        self.paths().iter().all(|path| {
            !is_standard(path) && fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
        })
    }

    /// The size of all inputs on disk; `None` for pipes.
    pub(crate) fn size(&self) -> Option<u64> {
        if !self.are_regular_files() {
            return None;
        }
        let sizes = self.paths().into_iter().map(|path| {
            let metadata = fs::metadata(path).ok()?;
            Some(metadata.len())
        });
        sizes.sum()
    }

    pub(crate) fn blocks(&self) -> Blocks {
        let blocks = if self.field.is_given() {
            Blocks::from_tables(self.field.clone(), self.paths(), self.line_end())
        } else {
            Blocks::new(self.paths(), self.line_end())
        };
        blocks.maybe_slow(!self.are_regular_files())
    }

    /// How many keys there are.
    pub(crate) fn count_keys(&self) -> Result<u64, CliError> {
        let mut blocks = self.blocks().keys_only();
        let mut block = Block::default();
        let mut keys = 0;
        while blocks.fill(&mut block)? {
            keys += block.count_keys();
        }
        Ok(keys)
    }

    /// All lines, for lists that are held in memory.
    pub(crate) fn all_lines(&self) -> Result<Vec<Vec<u8>>, CliError> {
        let mut blocks = self.blocks();
        let mut block = Block::default();
        let mut lines = Vec::new();
        while blocks.fill(&mut block)? {
            block.for_each_key(|key| lines.push(key.unwrap_or_default().to_vec()));
        }
        Ok(lines)
    }

    /// A list of keys, one per line, whose lines end like those of the inputs.
    pub(crate) fn for_list(&self, path: &Path) -> Self {
        Self {
            inputs: vec![path.to_path_buf()],
            null: self.null,
            crlf: self.crlf,
            field: FieldArgs::default(),
        }
    }

    /// A command refuses to overwrite its own input.
    pub(crate) fn check_not_output(&self, output: &Path) -> Result<(), CliError> {
        check_input_is_not_output(&self.paths(), output)
    }

    /// Output into an input would be read again, endlessly.
    pub(crate) fn check_not_standard_output(&self) -> Result<(), CliError> {
        let Ok(stdout) = Handle::stdout() else {
            return Ok(());
        };
        let is_file = |file: &File| file.metadata().is_ok_and(|metadata| metadata.is_file());
        if !is_file(stdout.as_file()) {
            return Ok(());
        }
        for input in self.paths() {
            let handle = if is_standard(&input) {
                Handle::stdin()
            } else if input.is_file() {
                Handle::from_path(&input)
            } else {
                continue;
            };
            if handle.is_ok_and(|handle| handle == stdout) {
                return Err(overwrites_input_error(&input));
            }
        }
        Ok(())
    }
}

/// A command refuses to overwrite its own input.
pub(crate) fn check_input_is_not_output(inputs: &[PathBuf], output: &Path) -> Result<(), CliError> {
    let is_replaced = |input: &PathBuf| !is_standard(input) && same_file(input, output);
    if inputs.iter().any(is_replaced) {
        return Err(overwrites_input_error(output));
    }
    Ok(())
}

/// Whether two paths refer to the same file.
pub(crate) fn same_file(one: &Path, other: &Path) -> bool {
    // Pipes are not opened for this.
    one.is_file() && other.is_file() && is_same_file(one, other).unwrap_or(false)
}

fn overwrites_input_error(path: &Path) -> CliError {
    CliError::message(format!(
        "{} is an input and the output: write to another file",
        name(path)
    ))
}

/// The name of an input in messages.
pub(crate) fn name(path: &Path) -> String {
    if is_standard(path) {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

/// A key in the place of a file is a likely mistake.
fn missing_key_error(path: &Path) -> CliError {
    let name = path.display();
    CliError::message(format!(
        "{name}: no such file; if it is a key, give -k {name}"
    ))
}

pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Opens an input and decompresses it according to its magic number.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read + Send>, CliError> {
    if is_standard(path) {
        return decompress::by_magic(io::stdin()).map_err(|error| cannot_read(path, &error));
    }
    let file = open_file(path)?;
    decompress::by_magic(file).map_err(|error| cannot_read(path, &error))
}

/// Opens a file; a folder is an error with a message of ours.
pub(crate) fn open_file(path: &Path) -> Result<File, CliError> {
    let file = File::open(path).map_err(|error| cannot_read(path, &error))?;
    let is_folder = file.metadata().is_ok_and(|metadata| metadata.is_dir());
    if is_folder {
        return Err(CliError::message(format!(
            "{} is a folder: give the files in it",
            path.display()
        )));
    }
    Ok(file)
}

pub(crate) fn cannot_read(path: &Path, error: &io::Error) -> CliError {
    let name = name(path);
    if error.kind() == io::ErrorKind::NotFound {
        return CliError::message(format!("{name}: no such file"));
    }
    // An error without a system code comes from a decompressor.
    let is_unpacking = error.raw_os_error().is_none();
    let advice = match error.kind() {
        io::ErrorKind::PermissionDenied => "ask its owner for the permission to read it",
        _ if is_unpacking => "it is damaged or cut off: unpack it by hand to see how far it goes",
        _ => "look at the disk or the pipe that it comes from",
    };
    CliError::message(format!("{name} cannot be read ({error}): {advice}"))
}
