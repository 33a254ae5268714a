//! The bytes of log and snapshot files, version 2; docs/formats/log.md has the tables. All numbers are little-endian.
//!
//! Both start with a header. A log continues with items: records, and a mark before each group of records that was
//! written at once. A mark says how far the log was known to be synced. It separates a torn end, which was never
//! acknowledged, from damage. A snapshot continues with entries and closes with an end item.

use crate::Lsn;
use crate::error::DamageKind;
use crate::file_name::{FileKind, MAX_GENERATION};
use crc32c::{crc32c, crc32c_append, crc32c_combine};

/// The longest body of a record: the largest length, except for the value that means a mark.
pub const MAX_BODY_BYTES: u64 = u32::MAX as u64 - 1;

pub(crate) const HEADER_BYTES: usize = 64;
/// The bytes before the body of a record or entry.
pub(crate) const HEAD_BYTES: usize = 24;
pub(crate) const MARK_BYTES: usize = 32;

const VERSION: u16 = 2;
/// Version 1 has no time in the header.
const FIRST_VERSION: u16 = 1;
const LOG_MAGIC: [u8; 8] = *b"\x89MHL\r\n\x1a\n";
const SNAPSHOT_MAGIC: [u8; 8] = *b"\x89MHS\r\n\x1a\n";
/// A mark has this value where a record has its length.
const MARK: u32 = u32::MAX;
/// More than anybody appends, and far from overflow.
const MAX_LSN: Lsn = 1 << 62;
const ENTRY: u32 = 1;
const END: u32 = 2;

/// The first bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileHeader {
    /// The log belongs to the snapshot of its generation and continues no other log. Always set in the first log.
    pub(crate) is_beginning: bool,
    pub(crate) generation: u64,
    /// The last record of the previous log.
    pub(crate) follows: Lsn,
    /// The first record of the log; for a snapshot, of the log that belongs to it.
    pub(crate) first: Lsn,
    /// A random number per folder. All its files have it, and it seeds their checksums, so that nobody can craft a
    /// body that looks like a mark.
    pub(crate) journal: u64,
    /// The latest time of all records before this file; 0 if there are none, and in version 1. Without it, the time
    /// would be lost when the new log is empty and the old ones are removed.
    pub(crate) time: u64,
}

impl FileHeader {
    pub(crate) fn encode(&self, kind: FileKind) -> [u8; HEADER_BYTES] {
        self.encode_as(VERSION, kind)
    }

    fn encode_as(&self, version: u16, kind: FileKind) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        put(&mut bytes, 0, &magic(kind));
        put(&mut bytes, 8, &version.to_le_bytes());
        put(&mut bytes, 10, &u16::from(self.is_beginning).to_le_bytes());
        put(&mut bytes, 16, &self.generation.to_le_bytes());
        put(&mut bytes, 24, &self.follows.to_le_bytes());
        put(&mut bytes, 32, &self.first.to_le_bytes());
        put(&mut bytes, 40, &self.journal.to_le_bytes());
        if version > FIRST_VERSION {
            put(&mut bytes, 48, &self.time.to_le_bytes());
        }
        let sum = crc32c(&bytes[..60]);
        put(&mut bytes, 60, &sum.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(kind: FileKind, bytes: &[u8; HEADER_BYTES]) -> Result<Self, DamageKind> {
        if bytes[..8] != magic(kind) {
            return Err(DamageKind::Magic);
        }
        // A newer version may keep its checksum elsewhere, so the version is checked first.
        let version = u16_at(bytes, 8);
        if !(FIRST_VERSION..=VERSION).contains(&version) {
            return Err(DamageKind::Version(version));
        }
        if crc32c(&bytes[..60]) != u32_at(bytes, 60) {
            return Err(DamageKind::Checksum);
        }
        let header = Self {
            is_beginning: u16_at(bytes, 10) == 1,
            generation: u64_at(bytes, 16),
            follows: u64_at(bytes, 24),
            first: u64_at(bytes, 32),
            journal: u64_at(bytes, 40),
            time: u64_at(bytes, 48),
        };
        let is_sound = header.encode_as(version, kind) == *bytes
            && header.generation <= MAX_GENERATION
            && header.follows < header.first
            && header.first <= MAX_LSN;
        if is_sound {
            Ok(header)
        } else {
            Err(DamageKind::Header)
        }
    }

    pub(crate) fn seed(&self) -> u32 {
        seed(self.journal)
    }
}

/// The seed of all checksums of a journal.
pub(crate) fn seed(journal: u64) -> u32 {
    crc32c(&journal.to_le_bytes())
}

fn magic(kind: FileKind) -> [u8; 8] {
    match kind {
        FileKind::Log => LOG_MAGIC,
        FileKind::Snapshot => SNAPSHOT_MAGIC,
    }
}

/// Appends a record to the buffer, which has room for it.
pub(crate) fn push_record(buffer: &mut Vec<u8>, seed: u32, lsn: Lsn, time: u64, parts: &[&[u8]]) {
    let start = buffer.len();
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut head = [0; HEAD_BYTES];
    put(&mut head, 4, &(length as u32).to_le_bytes());
    put(&mut head, 8, &lsn.to_le_bytes());
    put(&mut head, 16, &time.to_le_bytes());
    buffer.extend_from_slice(&head);
    for part in parts {
        buffer.extend_from_slice(part);
    }
    let sum = crc32c_append(seed, &buffer[start + 4..]);
    put(&mut buffer[start..], 0, &sum.to_le_bytes());
}

/// The first bytes of an item of a log.
pub(crate) enum LogItem {
    Mark,
    /// A record, with the length of its body.
    Record(u64),
}

impl LogItem {
    pub(crate) fn parse(head: &[u8]) -> Result<Self, DamageKind> {
        match u32_at(head, 4) {
            MARK => Ok(Self::Mark),
            length if u64::from(length) <= MAX_BODY_BYTES => Ok(Self::Record(length.into())),
            length => Err(DamageKind::Length(length.into())),
        }
    }
}

/// Verifies a record and returns its number and time.
pub(crate) fn check_record(seed: u32, bytes: &[u8]) -> Result<(Lsn, u64), DamageKind> {
    check_sum(seed, bytes)?;
    Ok((u64_at(bytes, 8), u64_at(bytes, 16)))
}

/// What was known about the log when it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyncMark {
    /// The number of the next record.
    pub(crate) next: Lsn,
    /// The last record that was known to be synced.
    pub(crate) synced: Lsn,
    /// The log that continues this one, or 0.
    pub(crate) continues_in: u64,
}

impl SyncMark {
    pub(crate) fn encode(&self, seed: u32) -> [u8; MARK_BYTES] {
        let mut bytes = [0; MARK_BYTES];
        put(&mut bytes, 4, &MARK.to_le_bytes());
        put(&mut bytes, 8, &self.next.to_le_bytes());
        put(&mut bytes, 16, &self.synced.to_le_bytes());
        put(&mut bytes, 24, &self.continues_in.to_le_bytes());
        let sum = crc32c_append(seed, &bytes[4..]);
        put(&mut bytes, 0, &sum.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(seed: u32, bytes: &[u8]) -> Result<Self, DamageKind> {
        check_sum(seed, bytes)?;
        Ok(Self {
            next: lsn_at(bytes, 8)?,
            synced: lsn_at(bytes, 16)?,
            continues_in: u64_at(bytes, 24),
        })
    }

    /// A mark at the start of these bytes, if there is one. Used to search for marks after damage.
    pub(crate) fn find(seed: u32, bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..MARK_BYTES)?;
        if u32_at(bytes, 4) != MARK {
            return None;
        }
        Self::decode(seed, bytes).ok()
    }
}

/// The length and checksum of an entry whose body arrives in pieces.
#[derive(Default)]
pub(crate) struct RunningChecksum {
    length: u64,
    sum: u32,
}

impl RunningChecksum {
    pub(crate) fn add(&mut self, piece: &[u8]) {
        self.length += piece.len() as u64;
        self.sum = crc32c_append(self.sum, piece);
    }

    /// The bytes before the body.
    pub(crate) fn head(&self, seed: u32, lsn: Lsn) -> [u8; HEAD_BYTES] {
        let mut head = snapshot_head(ENTRY, self.length, lsn);
        let front = crc32c_append(seed, &head[4..]);
        let sum = crc32c_combine(front, self.sum, self.length as usize);
        put(&mut head, 0, &sum.to_le_bytes());
        head
    }
}

/// The end of a snapshot: the number of entries, and the last record that was synced when it was finished.
pub(crate) fn snapshot_end(seed: u32, count: u64, synced: Lsn) -> [u8; HEAD_BYTES] {
    let mut head = snapshot_head(END, count, synced);
    let sum = crc32c_append(seed, &head[4..]);
    put(&mut head, 0, &sum.to_le_bytes());
    head
}

fn snapshot_head(kind: u32, length: u64, lsn: Lsn) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    put(&mut head, 4, &kind.to_le_bytes());
    put(&mut head, 8, &length.to_le_bytes());
    put(&mut head, 16, &lsn.to_le_bytes());
    head
}

/// The first bytes of an item of a snapshot.
pub(crate) enum SnapshotItem {
    /// An entry, with the length of its body.
    Entry(u64),
    End,
}

impl SnapshotItem {
    pub(crate) fn parse(head: &[u8]) -> Result<Self, DamageKind> {
        match u32_at(head, 4) {
            ENTRY => Ok(Self::Entry(u64_at(head, 8))),
            END => Ok(Self::End),
            kind => Err(DamageKind::Kind(kind)),
        }
    }
}

/// Verifies an entry and returns its record number.
pub(crate) fn check_entry(seed: u32, bytes: &[u8]) -> Result<Lsn, DamageKind> {
    check_sum(seed, bytes)?;
    lsn_at(bytes, 16)
}

/// The same for an entry whose body was read in pieces.
pub(crate) fn check_large(
    seed: u32,
    head: &[u8],
    sum: &RunningChecksum,
) -> Result<Lsn, DamageKind> {
    let lsn = lsn_at(head, 16)?;
    if sum.head(seed, lsn) == *head {
        Ok(lsn)
    } else {
        Err(DamageKind::Checksum)
    }
}

/// The number of entries, and the last synced record.
pub(crate) fn decode_end(seed: u32, bytes: &[u8]) -> Result<(u64, Lsn), DamageKind> {
    check_sum(seed, bytes)?;
    Ok((u64_at(bytes, 8), lsn_at(bytes, 16)?))
}

fn check_sum(seed: u32, bytes: &[u8]) -> Result<(), DamageKind> {
    if crc32c_append(seed, &bytes[4..]) == u32_at(bytes, 0) {
        Ok(())
    } else {
        Err(DamageKind::Checksum)
    }
}

fn lsn_at(bytes: &[u8], at: usize) -> Result<Lsn, DamageKind> {
    let lsn = u64_at(bytes, at);
    if lsn <= MAX_LSN {
        Ok(lsn)
    } else {
        Err(DamageKind::Number(lsn))
    }
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut value = [0; N];
    value.copy_from_slice(&bytes[at..at + N]);
    value
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}
