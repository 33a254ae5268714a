//! An index of files: a filter for each file (or row group), in one mapped file. The byte layout is in docs/formats/index.md.
//!
//! ```text
//! header 0, header 1    4096 bytes each; the valid one with the higher generation is in use
//! bodies                the bits of the filters, at multiples of 64 bytes
//! directory             which files there are, and the plan, the position and the checksums of each filter
//! ```
//!
//! An update appends bodies and a new directory, syncs them, and then writes the header that is not in use. So a crash leaves the old
//! index, readers that have mapped the file keep theirs, and no body is copied.
//!
//! | Place | What it answers |
//! | --- | --- |
//! | `header.rs` | Which directory is in use? |
//! | `directory.rs` | Which files are indexed, and where are their filters? |
//! | `key_form.rs` | Which bytes are hashed for a value that is given as text? |
//! | `writer.rs` | How is an index created and extended? |
//! | `error.rs` | What is wrong with an index? |

mod directory;
mod error;
mod header;
mod key_form;
mod writer;

pub use directory::{Directory, FilterEntry, FilterKind, IndexedFile, Root, StoredPath};
pub use error::IndexError;
pub use key_form::KeyForm;
pub use writer::IndexWriter;

use crate::cursor::Cursor;
use crate::map::Map;
use crate::native::kinds::{fuse, ribbon};
use crate::{DecodeError, Format, Problem};
use header::{Header, Headers};
use mayhap_core::{FuseView, HashScheme, KeyHash, RibbonView};
use std::borrow::Cow;
use std::path::Path;
use twox_hash::XxHash3_64;

/// The first bytes of every index: not text, and changed by any translation of line endings.
pub const MAGIC: [u8; 8] = *b"\x89MIX\r\n\x1a\n";

/// How the keys of ribbon and fuse filters in an index are hashed.
pub const SCHEME: HashScheme = HashScheme::Xxh3;

/// Bodies begin at multiples of a cache line.
const ALIGNMENT: u64 = 64;
/// Bytes that have one checksum: few, because a single lookup verifies what it reads.
const PAGE_BYTES: u64 = 4096;
/// From this number of hashes on, a lookup verifies a body as a whole.
const MANY_HASHES: usize = 16;
/// The codec's name in errors of the cursor, which [`IndexError`] does not print.
const FORMAT: Format = Format::Mayhap;

/// Whether a file begins as an index does.
pub fn is_index(first_bytes: &[u8]) -> bool {
    first_bytes.starts_with(&MAGIC)
}

/// An index, mapped.
///
/// Opening verifies the header and the directory. Lookups verify the pages that they read, so damage never hides a key.
pub struct Index {
    bytes: IndexBytes,
    header: Header,
    damaged_header: Option<DecodeError>,
    directory: Directory,
}

enum IndexBytes {
    Mapped(Map),
    Read(Vec<u8>),
}

impl IndexBytes {
    fn get(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map.bytes(),
            Self::Read(bytes) => bytes,
        }
    }
}

impl Index {
    /// Maps an index.
    ///
    /// # Errors
    /// When the file cannot be mapped, is not an index, or its header or directory is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, IndexError> {
        // An empty file cannot be mapped.
        if std::fs::metadata(path.as_ref())?.len() == 0 {
            return Self::decode(Vec::new());
        }
        Self::new(IndexBytes::Mapped(Map::open(path.as_ref())?))
    }

    /// An index in memory.
    ///
    /// # Errors
    /// As [`Index::open`].
    pub fn decode(bytes: Vec<u8>) -> Result<Self, IndexError> {
        Self::new(IndexBytes::Read(bytes))
    }

    fn new(bytes: IndexBytes) -> Result<Self, IndexError> {
        let Headers { used, damaged } = Headers::read(bytes.get())?;
        let directory = used.directory(bytes.get())?;
        Ok(Self {
            bytes,
            header: used,
            damaged_header: damaged,
            directory,
        })
    }

    /// What is indexed.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The same, to change it for an update.
    pub fn into_directory(self) -> Directory {
        self.directory
    }

    /// The length of the file.
    pub fn file_bytes(&self) -> u64 {
        self.bytes.get().len() as u64
    }

    /// Bytes that are in use; the others belong to entries that were replaced.
    pub fn used_bytes(&self) -> u64 {
        let bodies = self.directory.filters().map(FilterEntry::padded_bytes);
        header::HEADERS_BYTES + self.header.directory_bytes + bodies.sum::<u64>()
    }

    /// The header that is not in use, if it is damaged: by an update that was interrupted, or by the disk. Lookups do not need it.
    pub fn damaged_header(&self) -> Option<IndexError> {
        self.damaged_header.clone().map(IndexError::Damaged)
    }

    /// Verifies both headers, the directory, and every filter.
    ///
    /// # Errors
    /// When something is damaged.
    pub fn verify(&self) -> Result<(), IndexError> {
        if let Some(error) = self.damaged_header() {
            return Err(error);
        }
        for filter in self.directory.filters() {
            self.body(filter)?;
            match filter.kind {
                FilterKind::Ribbon => self.ribbon(filter).map(drop)?,
                FilterKind::Fuse => self.fuse(filter).map(drop)?,
                FilterKind::Cassandra => {}
            }
        }
        Ok(())
    }

    /// Which of the hashes may be in a ribbon or fuse filter of this index: `false` is certain, `true` is probable.
    ///
    /// # Errors
    /// When the part of the filter that the answers depend on is damaged. Then the answers are undefined.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(
        &self,
        filter: &FilterEntry,
        hashes: &[KeyHash],
        found: &mut [bool],
    ) -> Result<(), IndexError> {
        let is_verified = hashes.len() >= MANY_HASHES || filter.is_verified();
        if is_verified {
            self.body(filter)?;
        }
        match filter.kind {
            FilterKind::Ribbon => {
                let view = self.ribbon(filter)?;
                if is_verified {
                    view.contains_hashes(hashes, found);
                    return Ok(());
                }
                for (&hash, found) in hashes.iter().zip(found) {
                    if let Some(bytes) = view.bytes_of(hash) {
                        self.check_page(filter, bytes.start / PAGE_BYTES)?;
                        let last = (bytes.end - 1) / PAGE_BYTES;
                        if last != bytes.start / PAGE_BYTES {
                            self.check_page(filter, last)?;
                        }
                    }
                    *found = view.contains_hash(hash);
                }
            }
            FilterKind::Fuse => {
                let view = self.fuse(filter)?;
                if is_verified {
                    view.contains_hashes(hashes, found);
                    return Ok(());
                }
                for (&hash, found) in hashes.iter().zip(found) {
                    let pages = view.offsets(hash).map(|offset| offset / PAGE_BYTES);
                    for page in pages {
                        self.check_page(filter, page)?;
                    }
                    *found = view.contains_hash(hash);
                }
            }
            // The caller queries it in Cassandra's way.
            FilterKind::Cassandra => found.fill(true),
        }
        Ok(())
    }

    /// The bits of a filter, verified.
    ///
    /// # Errors
    /// When they are damaged.
    pub fn body(&self, filter: &FilterEntry) -> Result<&[u8], IndexError> {
        if !filter.is_verified() {
            for page in 0..filter.sums.len() as u64 {
                self.check_page(filter, page)?;
            }
            filter.set_verified();
        }
        Ok(self.unverified_body(filter))
    }

    /// The directory was verified: the range is in the file.
    fn unverified_body(&self, filter: &FilterEntry) -> &[u8] {
        let begin = filter.body_offset as usize;
        let end = begin + filter.body_bytes as usize;
        self.bytes.get().get(begin..end).unwrap_or_default()
    }

    fn check_page(&self, filter: &FilterEntry, page: u64) -> Result<(), IndexError> {
        let begin = filter.body_offset + page * PAGE_BYTES;
        let end = (begin + PAGE_BYTES).min(filter.body_offset + filter.padded_bytes());
        let bytes = self.bytes.get().get(begin as usize..end as usize);
        let is_intact = match (bytes, filter.sums.get(page as usize)) {
            (Some(bytes), Some(&sum)) => checksum(page, bytes) == sum,
            _ => false,
        };
        if is_intact {
            return Ok(());
        }
        Err(IndexError::Damaged(DecodeError {
            format: FORMAT,
            offset: begin,
            problem: Problem::Checksum,
        }))
    }

    fn ribbon(&self, filter: &FilterEntry) -> Result<RibbonView<'_>, IndexError> {
        let mut at = Cursor::new(&filter.plan, FORMAT);
        let (plan, wide_blocks) = ribbon::read_plan(&mut at)?;
        at.finish()?;
        let body = self.unverified_body(filter);
        let view = RibbonView::borrowed(plan, SCHEME, filter.shards.clone(), body, wide_blocks);
        view.map_err(|error| filter.refused(error))
    }

    fn fuse(&self, filter: &FilterEntry) -> Result<FuseView<'_>, IndexError> {
        let mut at = Cursor::new(&filter.plan, FORMAT);
        let (plan, layout) = fuse::read_plan(&mut at)?;
        at.finish()?;
        let view = FuseView::borrowed(plan, layout, SCHEME, self.unverified_body(filter));
        view.map_err(|error| filter.refused(error))
    }
}

fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, bytes)
}

/// A filter that an index can hold.
pub enum IndexFilter<'f> {
    /// A ribbon filter with [`SCHEME`].
    Ribbon(&'f mayhap_core::Ribbon),
    /// A fuse filter with [`SCHEME`].
    Fuse(&'f mayhap_core::Fuse),
    /// The bytes of a `*-Filter.db`.
    Cassandra(&'f [u8]),
}

impl IndexFilter<'_> {
    /// Filters that were built from slices have more fields, which an index does not store.
    fn has_slices(&self) -> bool {
        match self {
            Self::Ribbon(filter) => filter.slice_lengths().is_some(),
            Self::Fuse(filter) => filter.slice_lengths().is_some(),
            Self::Cassandra(_) => false,
        }
    }

    fn kind(&self) -> FilterKind {
        match self {
            Self::Ribbon(_) => FilterKind::Ribbon,
            Self::Fuse(_) => FilterKind::Fuse,
            Self::Cassandra(_) => FilterKind::Cassandra,
        }
    }

    fn body(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Ribbon(filter) => filter.padded_bytes(),
            Self::Fuse(filter) => filter.bytes(),
            Self::Cassandra(bytes) => Cow::Borrowed(bytes),
        }
    }

    fn plan(&self) -> Vec<u8> {
        match self {
            Self::Ribbon(filter) => ribbon::plan_bytes(filter),
            Self::Fuse(filter) => fuse::plan_bytes(filter),
            Self::Cassandra(_) => Vec::new(),
        }
    }

    fn shards(&self) -> Vec<u32> {
        match self {
            Self::Ribbon(filter) => filter.parts().directory.to_vec(),
            Self::Fuse(_) | Self::Cassandra(_) => Vec::new(),
        }
    }
}
