//! Save and load a filter in one call: files, streams and bytes, for every kind, with every checksum verified.

use super::{HashKey, MAGIC, NativeFilter, encode, write_with};
use crate::{DecodeError, EncodeError, Limits, write_atomically};
use mayhap_core::{SipKey, WrongKind};
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// A file could not be saved or loaded.
///
/// ```
/// # use mayhap_codec::native;
/// let error = native::load::<mayhap_core::Bloom>("no/such.mayhap").unwrap_err();
/// assert!(error.to_string().starts_with("no/such.mayhap: "));
/// ```
#[derive(Debug)]
pub struct FileError {
    /// The path of the file.
    pub path: PathBuf,
    /// What went wrong.
    pub error: LoadError,
}

/// Why a filter could not be read or written.
///
/// ```
/// # use mayhap_codec::native;
/// use mayhap_core::{Bloom, Cuckoo};
/// use native::LoadError;
/// let bytes = native::to_bytes(&Bloom::new(10, 0.1)?)?;
/// assert!(matches!(native::from_bytes::<Cuckoo>(&bytes), Err(LoadError::Kind(_))));
/// assert!(matches!(native::from_bytes::<Bloom>(b"text"), Err(LoadError::Decode(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The bytes could not be read or written.
    Io(io::Error),
    /// The bytes are not an intact filter.
    Decode(DecodeError),
    /// The filter is of another kind.
    Kind(WrongKind),
}

impl FileError {
    pub(super) fn new(path: &Path, error: impl Into<LoadError>) -> Self {
        Self {
            path: path.to_path_buf(),
            error: error.into(),
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Decode(error) => error.fmt(f),
            Self::Kind(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Decode(error) => Some(error),
            Self::Kind(error) => Some(error),
        }
    }
}

macro_rules! from {
    ($($error:ty => $variant:ident),*) => {
        $(impl From<$error> for LoadError {
            fn from(error: $error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}

from!(io::Error => Io, DecodeError => Decode, WrongKind => Kind);

/// How [`load_with`] reads a file.
///
/// ```
/// # use mayhap_codec::native;
/// use mayhap_codec::Limits;
/// // Files of strangers get a megabyte.
/// let options = native::LoadOptions { limits: Limits { max_bytes: 1 << 20 }, ..Default::default() };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    /// The secret key, for files that do not contain it.
    pub key: Option<SipKey>,
    /// How much memory a file may take. By default that is its length, whatever its header claims.
    pub limits: Limits,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            key: None,
            limits: Limits {
                max_bytes: u64::MAX,
            },
        }
    }
}

/// Saves a filter to a file. The file is replaced atomically, and a secret key goes into it.
///
/// The filter is written as it is, without a copy. Other threads may insert into a [`SharedBloom`](mayhap_core::SharedBloom)
/// meanwhile: the file contains every key whose insert is ordered before this call, and may contain some of the others.
///
/// ```
/// # use mayhap_codec::native as mayhap;
/// # use mayhap_core::Bloom;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("seen.mayhap");
/// let seen = Bloom::from_keys(["apple", "pear"], 0.01)?;
/// mayhap::save(&path, &seen)?;
/// let seen: Bloom = mayhap::load(&path)?;
/// assert!(seen.contains("pear"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the file cannot be written; the error names the path, and an existing file keeps its contents.
pub fn save(path: impl AsRef<Path>, filter: &impl NativeFilter) -> Result<(), FileError> {
    save_with(path, filter, HashKey::Inside)
}

/// The same, with or without the secret key of a keyed filter.
///
/// # Errors
/// As [`save`].
pub fn save_with(
    path: impl AsRef<Path>,
    filter: &impl NativeFilter,
    hash_key: HashKey,
) -> Result<(), FileError> {
    let path = path.as_ref();
    write_atomically(path, |file| {
        write_with(filter, hash_key, BufWriter::new(file))
    })
    .map_err(|error| FileError::new(path, error))
}

/// Loads a filter from a file, and verifies every checksum. The type is a kind, as in `load::<Bloom>(path)`, or
/// [`AnyFilter`](mayhap_core::AnyFilter) if the kind is not known.
///
/// A file takes twice its length of memory while it is read. [`load_with`] limits that, and [`map`](super::map) uses a file in place.
///
/// # Errors
/// When the file cannot be read, is damaged, is of another kind, or its secret key is kept elsewhere. The error names the path.
pub fn load<F: NativeFilter>(path: impl AsRef<Path>) -> Result<F, FileError> {
    load_with(path, &LoadOptions::default())
}

/// The same, with a secret key that is kept elsewhere, or with a limit.
///
/// # Errors
/// As [`load`], and when it is the wrong key.
pub fn load_with<F: NativeFilter>(
    path: impl AsRef<Path>,
    options: &LoadOptions,
) -> Result<F, FileError> {
    let path = path.as_ref();
    let load = || {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        read_limited(file, length, options)
    };
    load().map_err(|error| FileError::new(path, error))
}

/// The bytes of a filter, as [`save`] writes them.
///
/// # Errors
/// When there is no memory for them.
pub fn to_bytes(filter: &impl NativeFilter) -> Result<Vec<u8>, EncodeError> {
    encode(filter)
}

/// A filter from the bytes that [`to_bytes`] or [`save`] wrote.
///
/// # Errors
/// When they are damaged or of another kind, or a secret key is kept elsewhere.
pub fn from_bytes<F: NativeFilter>(bytes: &[u8]) -> Result<F, LoadError> {
    // The length of the bytes limits the memory.
    let LoadOptions { key, limits } = LoadOptions::default();
    Ok(F::from_any(super::read(bytes, limits, key)?)?)
}

/// Writes the bytes of a filter to a stream.
///
/// # Errors
/// When writing fails: the output is incomplete then.
pub fn write_to(out: impl Write, filter: &impl NativeFilter) -> io::Result<()> {
    write_with(filter, HashKey::Inside, out)
}

/// Reads a filter from a stream, to its end. A stream takes at most 4 GiB of memory.
///
/// # Errors
/// As [`load`].
pub fn read_from<F: NativeFilter>(input: impl Read) -> Result<F, LoadError> {
    let options = LoadOptions {
        limits: Limits::default(),
        ..LoadOptions::default()
    };
    read_limited(input, 0, &options)
}

/// Reads at most as many bytes as a file within the limits can have, with header and checksums. Longer input is truncated, which
/// decoding reports. `length` is the expected length, for the first allocation.
fn read_limited<F: NativeFilter>(
    mut input: impl Read,
    length: u64,
    options: &LoadOptions,
) -> Result<F, LoadError> {
    let max_bytes = options.limits.max_bytes;
    let most = max_bytes.saturating_add(max_bytes / 1024);
    let most = most.saturating_add(2 << 20);
    let mut bytes = Vec::new();
    // Input that is no filter is not read to its end.
    input
        .by_ref()
        .take(MAGIC.len() as u64)
        .read_to_end(&mut bytes)?;
    if bytes == MAGIC {
        // One byte more to detect the end.
        let room = usize::try_from(length.min(most) + 1).unwrap_or(usize::MAX);
        bytes.try_reserve_exact(room).map_err(io::Error::other)?;
        input.take(most).read_to_end(&mut bytes)?;
    }
    let filter = super::read(&bytes, options.limits, options.key)?;
    Ok(F::from_any(filter)?)
}
