//! The directory: the indexed files, and the plan, the position and the checksums of each filter.

use super::header::HEADERS_BYTES;
use super::{ALIGNMENT, FORMAT, IndexError, KeyForm, PAGE_BYTES};
use crate::cursor::Cursor;
use crate::{DecodeError, Problem};
use mayhap_core::{KeyType, PlanError};
use std::sync::atomic::{AtomicBool, Ordering};

/// What an index contains.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    /// How the index was made, for updates; its meaning is up to the program that writes it.
    pub settings: Vec<u8>,
    /// The files and folders that were named.
    pub roots: Vec<Root>,
    /// The files, in order of their paths.
    pub files: Vec<IndexedFile>,
}

/// A file or folder that was named.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Root {
    /// Where it is.
    pub path: StoredPath,
    /// Whether new files in it belong to the index.
    pub is_folder: bool,
}

/// A path: bytes, which need not be UTF-8.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StoredPath {
    /// Whether it is relative to the folder of the index; otherwise it is absolute.
    pub is_relative: bool,
    /// The path.
    pub bytes: Vec<u8>,
}

/// An indexed file, as it was when it was read.
#[derive(Clone, Debug)]
pub struct IndexedFile {
    /// Where it is.
    pub path: StoredPath,
    /// Its size in bytes.
    pub size: u64,
    /// The time of its last change: nanoseconds since 1970.
    pub modified_ns: i64,
    /// The name of the key column; empty if lines are keys.
    pub column: Vec<u8>,
    /// Whether the filters know all its keys. A file that could not be read may hold any key.
    pub is_covered: bool,
    /// One for the file, or one for each row group.
    pub filters: Vec<FilterEntry>,
}

/// Which filter it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FilterKind {
    /// A ribbon filter.
    Ribbon,
    /// A fuse filter.
    Fuse,
    /// The `*-Filter.db` of an SSTable.
    Cassandra,
}

impl FilterKind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ribbon => "ribbon",
            Self::Fuse => "fuse",
            Self::Cassandra => "cassandra",
        }
    }

    fn number(self) -> u8 {
        match self {
            Self::Ribbon => 1,
            Self::Fuse => 2,
            Self::Cassandra => 3,
        }
    }
}

/// A filter of a file or a row group.
#[derive(Clone, Debug)]
pub struct FilterEntry {
    /// The row group, if it is for one.
    pub row_group: Option<u32>,
    /// How values are spelt as text.
    pub key_form: KeyForm,
    /// How text becomes the bytes of a key.
    pub key_type: KeyType,
    /// The number of distinct keys; 0 if it is unknown, for Cassandra's filters.
    pub keys: u64,
    /// Which filter it is.
    pub kind: FilterKind,
    pub(super) plan: Vec<u8>,
    /// Where the shards of a ribbon filter begin.
    pub(super) shards: Vec<u32>,
    pub(super) body_offset: u64,
    pub(super) body_bytes: u64,
    /// The checksums of the pages of the body.
    pub(super) sums: Vec<u64>,
    pub(super) verified: Verified,
}

/// Whether a body was verified since the index was opened.
#[derive(Debug, Default)]
pub(super) struct Verified(AtomicBool);

impl Clone for Verified {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl FilterEntry {
    /// Bytes of the filter's bits.
    pub fn size_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// The length of the body with the zeros after it.
    pub(super) fn padded_bytes(&self) -> u64 {
        self.body_bytes.next_multiple_of(ALIGNMENT)
    }

    /// The pages are only read: `Relaxed` is enough.
    pub(super) fn is_verified(&self) -> bool {
        self.verified.0.load(Ordering::Relaxed)
    }

    pub(super) fn set_verified(&self) {
        self.verified.0.store(true, Ordering::Relaxed);
    }

    /// The error for a plan that does not fit the body.
    pub(super) fn refused(&self, error: PlanError) -> IndexError {
        IndexError::Damaged(DecodeError {
            format: FORMAT,
            offset: self.body_offset,
            problem: Problem::Plan(error),
        })
    }
}

impl Directory {
    /// All filters.
    pub fn filters(&self) -> impl Iterator<Item = &FilterEntry> {
        self.files.iter().flat_map(|file| &file.filters)
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write_bytes(&mut out, &self.settings);
        write_count(&mut out, self.roots.len());
        for root in &self.roots {
            out.push(u8::from(root.path.is_relative) | u8::from(root.is_folder) << 1);
            write_bytes(&mut out, &root.path.bytes);
        }
        write_count(&mut out, self.files.len());
        for file in &self.files {
            out.push(u8::from(file.path.is_relative) | u8::from(file.is_covered) << 1);
            write_bytes(&mut out, &file.path.bytes);
            out.extend_from_slice(&file.size.to_le_bytes());
            out.extend_from_slice(&file.modified_ns.to_le_bytes());
            write_bytes(&mut out, &file.column);
            write_count(&mut out, file.filters.len());
            for filter in &file.filters {
                filter.encode(&mut out);
            }
        }
        out
    }
}

fn write_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&(count as u32).to_le_bytes());
}

fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    write_count(out, bytes.len());
    out.extend_from_slice(bytes);
}

impl FilterEntry {
    fn encode(&self, out: &mut Vec<u8>) {
        let row_group = self.row_group.map_or(0, |number| number.saturating_add(1));
        let (form, parameter) = self.key_form.to_numbers();
        out.extend_from_slice(&row_group.to_le_bytes());
        out.extend_from_slice(&[self.kind.number(), form, self.key_type.id(), 0]);
        out.extend_from_slice(&parameter.to_le_bytes());
        out.extend_from_slice(&self.keys.to_le_bytes());
        out.extend_from_slice(&self.body_offset.to_le_bytes());
        out.extend_from_slice(&self.body_bytes.to_le_bytes());
        write_bytes(out, &self.plan);
        write_count(out, self.shards.len());
        out.extend(self.shards.iter().flat_map(|shard| shard.to_le_bytes()));
        out.extend(self.sums.iter().flat_map(|sum| sum.to_le_bytes()));
    }
}

/// Reads a directory whose checksum was verified. Bodies must be between the headers and the directory.
pub(super) fn decode(mut at: Cursor<'_>, end_of_bodies: u64) -> Result<Directory, DecodeError> {
    let at = &mut at;
    let settings = read_bytes(at, "settings")?.to_vec();
    let mut roots = Vec::new();
    // Every item has bytes of its own, which bounds these loops and their memory.
    for _ in 0..at.u32_le("number of roots")? {
        let (is_relative, is_folder) = read_flags(at)?;
        let path = StoredPath {
            is_relative,
            bytes: read_bytes(at, "path of a root")?.to_vec(),
        };
        roots.push(Root { path, is_folder });
    }
    let mut files = Vec::new();
    for _ in 0..at.u32_le("number of files")? {
        let (is_relative, is_covered) = read_flags(at)?;
        let path = StoredPath {
            is_relative,
            bytes: read_bytes(at, "path of a file")?.to_vec(),
        };
        let size = at.u64_le("size of a file")?;
        let modified_ns = at.u64_le("time of a file")?.cast_signed();
        let column = read_bytes(at, "column")?.to_vec();
        let mut filters = Vec::new();
        for _ in 0..at.u32_le("number of filters")? {
            filters.push(decode_filter(at, end_of_bodies)?);
        }
        files.push(IndexedFile {
            path,
            size,
            modified_ns,
            column,
            is_covered,
            filters,
        });
    }
    at.finish()?;
    Ok(Directory {
        settings,
        roots,
        files,
    })
}

fn read_bytes<'a>(at: &mut Cursor<'a>, what: &'static str) -> Result<&'a [u8], DecodeError> {
    let count = at.u32_le(what)?;
    at.take(what, count.into())
}

fn read_flags(at: &mut Cursor<'_>) -> Result<(bool, bool), DecodeError> {
    let begin = at.clone();
    match at.u8("flags")? {
        flags @ 0..=3 => Ok((flags & 1 == 1, flags & 2 == 2)),
        flags => Err(begin.value("flags", flags.into(), "0 to 3")),
    }
}

fn decode_filter(at: &mut Cursor<'_>, end_of_bodies: u64) -> Result<FilterEntry, DecodeError> {
    let begin = at.clone();
    let row_group = at.u32_le("row group")?.checked_sub(1);
    let kind = match at.u8("kind of a filter")? {
        1 => FilterKind::Ribbon,
        2 => FilterKind::Fuse,
        3 => FilterKind::Cassandra,
        kind => return Err(begin.value("kind of a filter", kind.into(), "1 to 3")),
    };
    let (form, key_type) = (at.u8("form of the keys")?, at.u8("type of the keys")?);
    let reserved = at.u8("reserved")?;
    if reserved != 0 {
        return Err(begin.value("reserved", reserved.into(), "0"));
    }
    let parameter = at.u32_le("parameter of the form")?;
    let key_form = KeyForm::from_numbers(form, parameter)
        .ok_or_else(|| begin.value("form of the keys", form.into(), "a known one"))?;
    let key_type = KeyType::from_id(key_type)
        .ok_or_else(|| begin.value("type of the keys", key_type.into(), "a known one"))?;
    let keys = at.u64_le("number of keys")?;
    let (body_offset, body_bytes) = (
        at.u64_le("offset of a body")?,
        at.u64_le("length of a body")?,
    );
    let padded = body_bytes.checked_next_multiple_of(ALIGNMENT);
    let end = padded.and_then(|padded| body_offset.checked_add(padded));
    let is_inside = end.is_some_and(|end| end <= end_of_bodies) && body_offset >= HEADERS_BYTES;
    if !is_inside || !body_offset.is_multiple_of(ALIGNMENT) {
        let accepted = "a multiple of 64 between the headers and the directory";
        return Err(begin.value("offset of a body", body_offset.into(), accepted));
    }
    let plan = read_bytes(at, "plan of a filter")?.to_vec();
    let count = u64::from(at.u32_le("number of shards")?);
    let shards = at.take("shards", 4 * count)?.as_chunks::<4>().0;
    let pages = padded.unwrap_or(0).div_ceil(PAGE_BYTES);
    let sums = at.take("checksums of pages", 8 * pages)?.as_chunks::<8>().0;
    Ok(FilterEntry {
        row_group,
        key_form,
        key_type,
        keys,
        kind,
        plan,
        shards: shards
            .iter()
            .map(|entry| u32::from_le_bytes(*entry))
            .collect(),
        body_offset,
        body_bytes,
        sums: sums.iter().map(|sum| u64::from_le_bytes(*sum)).collect(),
        verified: Verified::default(),
    })
}
