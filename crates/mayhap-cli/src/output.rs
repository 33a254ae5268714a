//! Output: writes filters atomically and never overwrites a file that is not a filter.

use crate::error::CliError;
use crate::filter_files::file_name;
use crate::input::is_standard;
use crate::interrupt;
use mayhap_codec::native::{self, HashKey, NativeFilter};
use mayhap_codec::sniff::{Sniffed, sniff};
use mayhap_codec::{Format, StoredFilter};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

/// The bytes read to detect a format; if they are not enough, the whole file is read.
const INSPECTED_BYTES: u64 = 64 << 20;

/// The destination of a filter.
pub(crate) struct Output {
    /// `None` is standard output.
    path: Option<PathBuf>,
    hash_key: HashKey,
}

impl Output {
    /// Checks, before any work is done, that the filter may go there.
    pub(crate) fn new(
        path: Option<&Path>,
        format: Format,
        hash_key: HashKey,
        force: bool,
    ) -> Result<Self, CliError> {
        // `-` is standard output.
        let path = path.filter(|path| !is_standard(path));
        match path {
            None if io::stdout().is_terminal() => {
                return Err(CliError::message(
                    "a filter is binary data and standard output is a terminal: use -o FILE, or a pipe",
                ));
            }
            Some(path) if !force => check_replaceable(path, format)?,
            _ => {}
        }
        if let Some(path) = path {
            check_writable(path)?;
            interrupt::remove_temporaries_of(path);
        }
        Ok(Self {
            path: path.map(Path::to_path_buf),
            hash_key,
        })
    }

    /// Writes the filter; a file is replaced atomically.
    pub(crate) fn write(
        &self,
        filter: &StoredFilter,
        stdout: &mut impl Write,
    ) -> Result<(), CliError> {
        match (&self.path, filter) {
            (Some(path), filter) if is_not_regular_file(path) => {
                let bytes = self.encode(filter)?;
                OpenOptions::new()
                    .write(true)
                    .open(path)
                    .and_then(|mut file| file.write_all(&bytes))
                    .map_err(|error| cannot_write(path, &error))
            }
            (Some(path), StoredFilter::Native(filter)) => save(path, filter, self.hash_key),
            (Some(path), filter) => {
                let bytes = self.encode(filter)?;
                mayhap_codec::write_atomically(path, |mut file| file.write_all(&bytes))
                    .map_err(|error| cannot_write(path, &error))
            }
            (None, filter) => Ok(stdout.write_all(&self.encode(filter)?)?),
        }
    }

    fn encode(&self, filter: &StoredFilter) -> Result<Vec<u8>, CliError> {
        match filter {
            StoredFilter::Native(filter) => native::encode_with(filter, self.hash_key),
            filter => filter.encode_for_file(self.path.as_deref().and_then(file_name)),
        }
        .map_err(|error| CliError::message(error.to_string()))
    }
}

/// Saves a native filter, atomically.
pub(crate) fn save(
    path: &Path,
    filter: &impl NativeFilter,
    hash_key: HashKey,
) -> Result<(), CliError> {
    mayhap_codec::write_atomically(path, |file| {
        native::write_with(filter, hash_key, BufWriter::new(file))
    })
    .map_err(|error| cannot_write(path, &error))
}

/// Pipes and devices are written to. Replacing one by a file would be a nasty surprise.
fn is_not_regular_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Checks the folder before hours of work, not after.
pub(crate) fn check_writable(path: &Path) -> Result<(), CliError> {
    if is_not_regular_file(path) {
        return Ok(());
    }
    if path.is_dir() {
        return Err(CliError::message(format!(
            "{} is a folder: give the name of a file",
            path.display()
        )));
    }
    let resolved = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = match resolved.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(CliError::message(format!(
            "{} is not a folder: create it first, or write to another place",
            folder.display()
        )));
    }
    tempfile::tempfile_in(folder)
        .map(drop)
        .map_err(|error| cannot_write(path, &error))
}

/// Writes a drawing; does not overwrite a file that is not a drawing.
pub(crate) fn draw(path: &Path, svg: &str) -> Result<(), CliError> {
    let plot = Document {
        start: "<svg",
        name: "an SVG plot",
        option: "--plot",
    };
    write_document(path, svg, &plot)
}

/// A kind of text file that the program writes.
pub(crate) struct Document {
    /// What all of them start with: other files are not overwritten.
    pub(crate) start: &'static str,
    pub(crate) name: &'static str,
    /// The option that gives the path.
    pub(crate) option: &'static str,
}

/// Writes a document atomically; replaces only one of its kind.
pub(crate) fn write_document(path: &Path, text: &str, kind: &Document) -> Result<(), CliError> {
    let Document {
        start,
        name,
        option,
    } = kind;
    let cannot_write = |error: io::Error| {
        CliError::message(format!(
            "{} cannot be written ({error}): give {option} another path",
            path.display()
        ))
    };
    if is_not_regular_file(path) {
        return fs::write(path, text).map_err(cannot_write);
    }
    let mut first = Vec::new();
    if let Ok(file) = File::open(path) {
        let read = file.take(start.len() as u64).read_to_end(&mut first);
        read.map_err(cannot_write)?;
    }
    if !first.is_empty() && first != start.as_bytes() {
        return Err(CliError::message(format!(
            "{} exists and is not {name}: give {option} another name",
            path.display()
        )));
    }
    interrupt::remove_temporaries_of(path);
    mayhap_codec::write_atomically(path, |mut file| file.write_all(text.as_bytes()))
        .map_err(cannot_write)
}

pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> CliError {
    let advice = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "write to a folder that you may write to"
        }
        io::ErrorKind::StorageFull => "free some space, or write to another disk",
        io::ErrorKind::NotFound => "create its folder first",
        _ => "write to another place",
    };
    CliError::message(format!(
        "{} cannot be written ({error}): {advice}",
        path.display()
    ))
}

/// Does not overwrite a file that is not a filter.
fn check_replaceable(path: &Path, format: Format) -> Result<(), CliError> {
    let Ok(metadata) = fs::metadata(path) else {
        return Ok(());
    };
    if metadata.len() == 0 || !metadata.is_file() {
        return Ok(());
    }
    let is_filter = if metadata.len() > INSPECTED_BYTES {
        let mut first = [0; native::MAGIC.len()];
        let read =
            File::open(path).and_then(|mut file| io::Read::read_exact(&mut file, &mut first));
        read.is_ok() && first == native::MAGIC
    } else {
        fs::read(path).is_ok_and(|bytes| match sniff(&bytes) {
            _ if bytes.starts_with(&native::MAGIC) => true,
            Sniffed::Filter(_) => true,
            Sniffed::Candidates(formats) => formats.contains(&format),
            Sniffed::Container(_) | Sniffed::Text => false,
        })
    };
    if is_filter {
        return Ok(());
    }
    Err(CliError::message(format!(
        "{} exists and is not a filter: use another name, or --force to replace it",
        path.display()
    )))
}
