//! Files on disk: saved atomically, and opened with every checksum verified.

use super::{HashKey, decode, decode_with_key, write_with};
use crate::{DecodeError, Limits, write_atomically};
use mayhap_core::{AnyFilter, SipKey};
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Read};
use std::path::Path;

/// Why a file was not opened.
#[derive(Debug)]
pub enum OpenError {
    /// It could not be read.
    Io(io::Error),
    /// It was read, and is not an intact filter.
    Decode(DecodeError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Decode(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

/// Saves a filter atomically, see [`write_atomically`].
///
/// # Errors
/// When the kind cannot be stored, or writing fails.
pub fn save(filter: &AnyFilter, hash_key: HashKey, path: impl AsRef<Path>) -> io::Result<()> {
    write_atomically(path, |file| {
        write_with(filter, hash_key, BufWriter::new(file))
    })
}

/// Opens a file, reads and verifies all of it. `key` is the secret key, for files that do not contain it.
///
/// # Errors
/// When it cannot be read, is damaged, takes more memory than allowed, or needs another key.
pub fn open(
    path: impl AsRef<Path>,
    limits: Limits,
    key: Option<SipKey>,
) -> Result<AnyFilter, OpenError> {
    let bytes = read_all(path.as_ref(), limits).map_err(OpenError::Io)?;
    match key {
        None => decode(&bytes, limits),
        Some(key) => decode_with_key(&bytes, limits, key),
    }
    .map_err(OpenError::Decode)
}

/// Reads at most as many bytes as a file within the limits can have, with header and checksums. A longer file is truncated, which
/// decoding reports.
fn read_all(path: &Path, limits: Limits) -> io::Result<Vec<u8>> {
    let most = limits.max_bytes.saturating_add(limits.max_bytes / 1024);
    let most = most.saturating_add(2 << 20);
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    // The length of the file, and one byte more to detect its end. Pipes have no length: the vector grows.
    let length = file.metadata()?.len().min(most);
    let room = usize::try_from(length + 1).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(room).map_err(io::Error::other)?;
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
