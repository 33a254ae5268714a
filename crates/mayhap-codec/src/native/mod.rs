//! mayhap's own files, version 1: a header with the length of everything, the bits as they are in memory, and a checksum for every
//! 64 KiB of them. The byte layout is in docs/formats/mayhap.md.
//!
//! ```text
//! header    fixed fields, plan of the kind, lengths of the sections, checksum       multiple of 64 bytes
//! body      the sections, each beginning at a multiple of 64 bytes
//! table     a checksum for each page of 64 KiB of the body, and one of the table
//! ```
//!
//! Everything is checked before it is used: the header's checksum first, then the length of the file, then every page, then every
//! field. The checksums detect accidents, not forgery; a forged file is rejected, or it is a filter that answers without harm.

mod file;
mod header;
pub(crate) mod kinds;
mod mapped;
mod pages;
mod parts;
mod repair;
#[cfg(feature = "formats")]
mod row;

pub use file::{
    FileError, LoadError, LoadOptions, from_bytes, load, load_with, read_from, save, save_with,
    to_bytes, write_to,
};
pub use header::key_id;
pub use kinds::NativeFilter;
pub use kinds::view::View;
pub use mapped::{Mapped, Verify, map};
pub use repair::{REPAIR_HEADER_BYTES, Repaired, can_repair, repair_with_ones};
#[cfg(feature = "formats")]
pub(crate) use row::{FALSE_POSITIVES, ROW};

use crate::{DecodeError, EncodeError, Format, Limits, Problem};
use header::FileHeader;
use mayhap_core::{AnyFilter, SipKey};
use pages::Pages;
use parts::Sections;
use std::io::{self, Write};

/// The first bytes of every file: not text, and changed by any translation of line endings.
pub const MAGIC: [u8; 8] = *b"\x89MAY\r\n\x1a\n";

const FORMAT: Format = Format::Mayhap;

/// Sections begin at multiples of a cache line.
const ALIGNMENT: u64 = 64;

/// Where the secret key of a keyed filter goes.
///
/// ```
/// # use mayhap_codec::native;
/// use mayhap_core::{Bloom, SipKey};
/// let key = SipKey::random();
/// let names = Bloom::keyed(100, 0.01, key)?;
/// let bytes = native::encode_with(&names, native::HashKey::Outside)?;
/// assert!(native::decode(&bytes, Default::default()).is_err());
/// assert!(native::decode_with_key(&bytes, Default::default(), key).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HashKey {
    /// Into the file: whoever has the file can query the filter, and can craft keys that collide.
    #[default]
    Inside,
    /// Nowhere: the file has the id of the key, and [`decode_with_key`] takes the key.
    Outside,
}

/// The file of a filter; a secret key goes into it.
///
/// # Errors
/// When the kind cannot be stored.
pub fn encode(filter: &impl NativeFilter) -> Result<Vec<u8>, EncodeError> {
    encode_with(filter, HashKey::Inside)
}

/// The file of a filter, with or without its secret key.
///
/// # Errors
/// As [`encode`].
pub fn encode_with(filter: &impl NativeFilter, hash_key: HashKey) -> Result<Vec<u8>, EncodeError> {
    let parts = filter.to_parts()?;
    let no_memory = EncodeError {
        format: FORMAT,
        reason: "there is not enough memory",
    };
    let mut out = Vec::new();
    out.try_reserve(parts.max_bytes()).map_err(|_| no_memory)?;
    // A vector takes all bytes.
    parts.write(hash_key, &mut out).map_err(|_| no_memory)?;
    Ok(out)
}

/// Writes the file of a filter, front to back.
///
/// # Errors
/// As [`encode`], and when writing fails: the output is incomplete then.
pub fn write(filter: &impl NativeFilter, out: impl Write) -> io::Result<()> {
    write_with(filter, HashKey::Inside, out)
}

/// The same, with or without the secret key.
///
/// # Errors
/// As [`write()`].
pub fn write_with(
    filter: &impl NativeFilter,
    hash_key: HashKey,
    out: impl Write,
) -> io::Result<()> {
    let parts = filter.to_parts();
    let parts = parts.map_err(|error| io::Error::new(io::ErrorKind::Unsupported, error))?;
    parts.write(hash_key, out)
}

/// Reads and verifies a file whose secret key, if its filter has one, is inside.
///
/// # Errors
/// When it is not such a file, is damaged, or takes more memory than allowed; when its key is kept outside.
pub fn decode(bytes: &[u8], limits: Limits) -> Result<AnyFilter, DecodeError> {
    read(bytes, limits, None)
}

/// The same for a file whose secret key is kept elsewhere. The key is ignored if the file contains one or needs none.
///
/// # Errors
/// As [`decode`], and when it is the wrong key.
pub fn decode_with_key(
    bytes: &[u8],
    limits: Limits,
    key: SipKey,
) -> Result<AnyFilter, DecodeError> {
    read(bytes, limits, Some(key))
}

fn read(bytes: &[u8], limits: Limits, key: Option<SipKey>) -> Result<AnyFilter, DecodeError> {
    let header = FileHeader::read(bytes)?;
    let scheme = header.scheme(key)?;
    if header.body_bytes > limits.max_bytes {
        return Err(header.at.error(Problem::TooLarge {
            bytes: header.body_bytes,
            limit: limits.max_bytes,
        }));
    }
    let pages = Pages::new(bytes, &header)?;
    pages.check_table()?;
    pages.check_all()?;
    let mut sections = Sections::new(pages.body(), &header);
    kinds::from_parts(&header, scheme, &mut sections)
}
