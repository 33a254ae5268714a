//! What goes out: filters to files, as a whole or not at all, and nothing replaced that is no filter.

use crate::failure::Failure;
use mayhap_codec::native::{self, HashKey};
use mayhap_codec::sniff::{Sniffed, sniff};
use mayhap_codec::{Filter, Format};
use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once};

/// How much of a file is looked at to see what it is; filters that cannot be told by this are told by all of it.
const LOOKED_AT: u64 = 64 << 20;

/// Where a filter goes.
pub(crate) struct Output {
    /// None is standard output.
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
    ) -> Result<Self, Failure> {
        let path = path.filter(|path| path.as_os_str() != "-");
        match path {
            None if io::stdout().is_terminal() => {
                return Err(Failure::message(
                    "a filter is no text for a terminal: give -o FILE, or send it into a pipe",
                ));
            }
            Some(path) if !force => refuse_to_replace(path, format)?,
            _ => {}
        }
        if let Some(path) = path {
            let folder = match path.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                _ => Path::new("."),
            };
            if !folder.is_dir() {
                return Err(Failure::message(format!(
                    "{} is no folder: make it first, or give -o another place",
                    folder.display()
                )));
            }
            remove_when_interrupted(path);
        }
        Ok(Self {
            path: path.map(Path::to_path_buf),
            hash_key,
        })
    }

    /// Writes the filter; a file is there as a whole, or as it was.
    pub(crate) fn write(&self, filter: &Filter, stdout: &mut impl Write) -> Result<(), Failure> {
        match (&self.path, filter) {
            (Some(path), Filter::Native(filter)) => native::save(filter, self.hash_key, path)
                .map_err(|error| cannot_write(path, &error)),
            (Some(path), filter) => {
                let bytes = encode(filter)?;
                mayhap_codec::write_atomically(path, |mut file| file.write_all(&bytes))
                    .map_err(|error| cannot_write(path, &error))
            }
            (None, Filter::Native(filter)) => {
                let bytes = native::encode_with(filter, self.hash_key)
                    .map_err(|error| Failure::message(error.to_string()))?;
                Ok(stdout.write_all(&bytes)?)
            }
            (None, filter) => Ok(stdout.write_all(&encode(filter)?)?),
        }
    }
}

fn encode(filter: &Filter) -> Result<Vec<u8>, Failure> {
    filter
        .encode()
        .map_err(|error| Failure::message(error.to_string()))
}

pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let advice = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "write to a folder of your own"
        }
        io::ErrorKind::StorageFull => "make room, or write to another disk",
        io::ErrorKind::NotFound => "make its folder first",
        _ => "write to another place",
    };
    Failure::message(format!(
        "{} cannot be written ({error}): {advice}",
        path.display()
    ))
}

/// A file that is no filter is somebody's, and stays.
fn refuse_to_replace(path: &Path, format: Format) -> Result<(), Failure> {
    let Ok(metadata) = fs::metadata(path) else {
        return Ok(());
    };
    if metadata.len() == 0 || !metadata.is_file() {
        return if metadata.is_dir() {
            Err(Failure::message(format!(
                "{} is a folder: give the name of a file in it",
                path.display()
            )))
        } else {
            Ok(())
        };
    }
    let is_filter = if metadata.len() > LOOKED_AT {
        let mut first = [0; native::MAGIC.len()];
        let read =
            File::open(path).and_then(|mut file| io::Read::read_exact(&mut file, &mut first));
        read.is_ok() && first == native::MAGIC
    } else {
        fs::read(path).is_ok_and(|bytes| {
            // Formats without a header take all bytes for filters: text is none.
            let is_text = || std::str::from_utf8(&bytes).is_ok();
            match sniff(&bytes) {
                _ if bytes.starts_with(&native::MAGIC) => true,
                Sniffed::Filter(_) => true,
                Sniffed::Candidates(formats) => formats.contains(&format) && !is_text(),
                Sniffed::Container(_) => false,
            }
        })
    };
    if is_filter {
        return Ok(());
    }
    Err(Failure::message(format!(
        "{} is there and is no filter: give another name, or --force to replace it",
        path.display()
    )))
}

/// Files whose temporary twins go when the program is interrupted.
static UNDER_WAY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// From now on an interrupted program leaves no half file beside `path`.
pub(crate) fn remove_when_interrupted(path: &Path) {
    static HANDLER: Once = Once::new();
    if let Ok(mut files) = UNDER_WAY.lock() {
        files.push(path.to_path_buf());
    }
    HANDLER.call_once(|| {
        // Without a handler a leftover is the worst that happens.
        let _ = ctrlc::set_handler(|| {
            if let Ok(files) = UNDER_WAY.lock() {
                for path in files.iter() {
                    mayhap_codec::remove_temporaries(path);
                }
            }
            std::process::exit(130);
        });
    });
}

/// The right to change a file, for one program at a time: kept until it is dropped.
pub(crate) struct Lock(#[expect(dead_code, reason = "held, not used")] File);

/// Waits until nobody else changes a file. The lock is a file beside it, because the file itself is replaced.
pub(crate) fn lock(path: &Path) -> Result<Lock, Failure> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".lock");
    let beside = path.with_file_name(name);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&beside)
        .map_err(|error| cannot_write(&beside, &error))?;
    if file.try_lock().is_err() {
        let _ = writeln!(
            io::stderr(),
            "mayhap: waiting for another run that changes {}",
            path.display()
        );
        file.lock().map_err(|error| cannot_write(&beside, &error))?;
    }
    Ok(Lock(file))
}
