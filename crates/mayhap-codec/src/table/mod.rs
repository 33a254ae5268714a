//! Table files of LevelDB (`.ldb`) and RocksDB (`.sst`): blocks, an index of them, and the filters of their keys. Every block that is
//! read is held against its checksum.

mod block;
mod checksum;

use crate::cursor::Cursor;
use crate::leveldb::FilterBlock;
use crate::{DecodeError, Format, Limits, Problem, rocksdb};
use block::{Block, Handle};
use checksum::Checksum;
use std::ops::ControlFlow;

const LEVELDB_MAGIC: u64 = 0xdb47_7524_8b80_fb57;
const ROCKSDB_MAGIC: u64 = 0x88e2_41b7_85f4_cff7;
const LEVELDB_FOOTER: usize = 48;
const ROCKSDB_FOOTER: usize = 53;
/// The version and the magic number at the end of RocksDB's footer.
const VERSION_BYTES: usize = 12;
const MAX_VERSION: u32 = 5;
const MAX_INDEX_VERSION: u32 = 3;
const LEVELDB_FILTER: &[u8] = b"filter.leveldb.BuiltinBloomFilter2";
const ROCKSDB_FILTER: &[u8] = b"fullfilter.";

/// The filters of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Filters {
    /// LevelDB's, for every 2 KiB of data.
    Blocks(FilterBlock),
    /// RocksDB's, for all keys.
    Whole(rocksdb::Filter),
}

/// A table file.
#[derive(Clone)]
pub struct Table<'a> {
    bytes: &'a [u8],
    format: Format,
    index: Handle,
    metaindex: Handle,
    /// RocksDB's version of the format.
    version: u32,
    checksum: Checksum,
    limits: Limits,
}

impl<'a> Table<'a> {
    /// Reads the footer.
    ///
    /// # Errors
    /// When the file is no such table.
    pub fn open(bytes: &'a [u8], limits: Limits) -> Result<Self, DecodeError> {
        let format = match magic(bytes) {
            Some(ROCKSDB_MAGIC) => Format::RocksDb,
            _ => Format::LevelDb,
        };
        let at = Cursor::new(bytes, format);
        let footer = match magic(bytes) {
            Some(LEVELDB_MAGIC) => LEVELDB_FOOTER,
            Some(ROCKSDB_MAGIC) => ROCKSDB_FOOTER,
            other => {
                return Err(at.value(
                    "magic number",
                    i128::from(other.unwrap_or(0)),
                    "that of a table of LevelDB or RocksDB",
                ));
            }
        };
        let Some(start) = bytes.len().checked_sub(footer) else {
            return Err(at.value("length", bytes.len() as i128, "longer than a footer"));
        };
        let mut at = Cursor::new(&bytes[start..], format);
        let (version, checksum) = match format {
            Format::RocksDb => (read_version(&at)?, Checksum::read(&mut at)?),
            _ => (0, Checksum::Crc32c),
        };
        let (metaindex, index) = (Handle::read(&mut at)?, Handle::read(&mut at)?);
        Ok(Self {
            bytes,
            format,
            index,
            metaindex,
            version,
            checksum,
            limits,
        })
    }

    /// The same table, whatever its checksums: for one that is damaged, when something of it is better than nothing. What is read
    /// then may be wrong, also where a filter says that a key is not there.
    #[must_use]
    pub fn ignoring_checksums(self) -> Self {
        Self {
            checksum: Checksum::None,
            ..self
        }
    }

    /// LevelDB or RocksDB.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The filters, if the table has any that is known here.
    ///
    /// # Errors
    /// When the blocks that lead to them, or the filters themselves, are damaged.
    pub fn filters(&self) -> Result<Option<Filters>, DecodeError> {
        self.block(self.metaindex)?.each_entry(|name, value| {
            let is_leveldb = self.format == Format::LevelDb && name == LEVELDB_FILTER;
            let is_rocksdb = self.format == Format::RocksDb && name.starts_with(ROCKSDB_FILTER);
            if !is_leveldb && !is_rocksdb {
                return Ok(ControlFlow::Continue(()));
            }
            let handle = Handle::read(&mut Cursor::new(value, self.format))?;
            let block = self.block(handle)?;
            Ok(ControlFlow::Break(if is_leveldb {
                Filters::Blocks(FilterBlock::decode(block.bytes())?)
            } else {
                Filters::Whole(rocksdb::decode(block.bytes())?)
            }))
        })
    }

    /// Hands over every key as it is stored (in a database with eight bytes more, the sequence and the kind of the entry), with
    /// the place of its data block.
    ///
    /// # Errors
    /// When the index or a block is damaged, or the table is RocksDB's and of format version 4 or later.
    pub fn each_key(&self, mut each: impl FnMut(u64, &[u8])) -> Result<(), DecodeError> {
        let mut end = 0;
        self.index()?
            .each_entry(|_, value| {
                let at = Cursor::new(value, self.format);
                let handle = Handle::read(&mut at.clone())?;
                // One block under many names would be a small file with endless keys.
                if handle.offset < end {
                    let accepted = "past the blocks before it";
                    return Err(at.value("offset of a block", handle.offset.into(), accepted));
                }
                end = handle.end();
                self.block(handle)?.each_entry(|key, _| {
                    each(handle.offset, key);
                    Ok(ControlFlow::<()>::Continue(()))
                })?;
                Ok(ControlFlow::<()>::Continue(()))
            })
            .map(drop)
    }

    /// The place of the data block that a key would be in, by the index: the first whose last key is not before it. `internal`
    /// says whether keys are stored with eight bytes more.
    ///
    /// # Errors
    /// When the index is damaged, or the table is RocksDB's and of format version 4 or later.
    pub fn block_of(&self, key: &[u8], internal: bool) -> Result<Option<u64>, DecodeError> {
        self.index()?.each_entry(|last, value| {
            let own = if internal {
                last.len().saturating_sub(8)
            } else {
                last.len()
            };
            if &last[..own] < key {
                return Ok(ControlFlow::Continue(()));
            }
            let handle = Handle::read(&mut Cursor::new(value, self.format))?;
            Ok(ControlFlow::Break(handle.offset))
        })
    }

    fn index(&self) -> Result<Block<'a>, DecodeError> {
        if self.version > MAX_INDEX_VERSION {
            let at = Cursor::new(&self.bytes[self.bytes.len() - VERSION_BYTES..], self.format);
            let accepted = "0 to 3: from 4 on indexes are packed, and only filters are read";
            return Err(at.value("format version", i128::from(self.version), accepted));
        }
        self.block(self.index)
    }

    fn block(&self, handle: Handle) -> Result<Block<'a>, DecodeError> {
        Block::read(self.bytes, handle, self.format, self.checksum, self.limits)
    }
}

/// From version 6 on footers are made in another way. `at` is where the footer begins.
fn read_version(at: &Cursor<'_>) -> Result<u32, DecodeError> {
    let mut at = at.clone();
    at.take("footer", (ROCKSDB_FOOTER - VERSION_BYTES) as u64)?;
    let version = at.clone().u32_le("format version")?;
    if version > MAX_VERSION {
        let accepted = "0 to 5: write the table with format_version = 5";
        return Err(at.value("format version", i128::from(version), accepted));
    }
    Ok(version)
}

/// The last eight bytes of a file.
fn magic(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.last_chunk()?))
}

/// Why a size cannot be.
fn too_large(at: &Cursor<'_>, bytes: u64, limits: Limits) -> DecodeError {
    at.error(Problem::TooLarge {
        bytes,
        limit: limits.max_bytes,
    })
}
