//! Table files of LevelDB (`.ldb`) and RocksDB (`.sst`): blocks, an index of them, and the filters of their keys. The checksum
//! of every block that is read is verified.

mod block;
mod checksum;
mod index;

use crate::cursor::Cursor;
use crate::format::ContainerRow;
use crate::leveldb::FilterBlock;
use crate::map::Map;
use crate::open::{Location, OpenError, OpenOptions, OpenedFilter, check_count, single};
use crate::{DecodeError, Format, Limits, Problem, rocksdb};
use block::{Block, Handle};
use checksum::Checksum;
use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

const LEVELDB_MAGIC: u64 = 0xdb47_7524_8b80_fb57;
const ROCKSDB_MAGIC: u64 = 0x88e2_41b7_85f4_cff7;
const LEVELDB_FOOTER: usize = 48;
const ROCKSDB_FOOTER: usize = 53;
/// The version and the magic number at the end of RocksDB's footer.
const VERSION_BYTES: usize = 12;
const MAX_VERSION: u32 = 5;
/// Indexes of later versions are packed.
const MAX_PLAIN_INDEX_VERSION: u32 = 3;
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
    /// When the file is not such a table.
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
        let (version, checksum) = if format == Format::RocksDb {
            (read_version(&at)?, Checksum::read(&mut at)?)
        } else {
            (0, Checksum::Crc32c)
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

    /// The same table without verification, to recover what can be read of a damaged one. Results may be wrong, even where a filter
    /// reports that a key is absent.
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

    /// The filters, if the table has any of a known kind.
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

    /// Passes every key to `each` as it is stored (in a database with eight more bytes, the sequence number and the type of the entry),
    /// with the offset of its data block.
    ///
    /// # Errors
    /// When the index or a block is damaged, or the table is RocksDB's and has deleted ranges.
    pub fn each_key(&self, mut each: impl FnMut(u64, &[u8])) -> Result<(), DecodeError> {
        index::each_data_block(self, |handle| {
            self.block(handle)?.each_entry(|key, _| {
                each(handle.offset, key);
                Ok(ControlFlow::<()>::Continue(()))
            })?;
            Ok(())
        })
    }

    /// Passes the key of every entry to `each` as users know it: in the table of a database without the sequence number and the type of the
    /// entry. Deleted keys are among them, because a lookup must find their tombstones. A table does not say whether it belongs to
    /// a database: it does if all its keys end like one.
    ///
    /// # Errors
    /// As [`Table::each_key`].
    pub fn each_user_key(&self, mut each: impl FnMut(&[u8])) -> Result<(), DecodeError> {
        let mut is_database = true;
        self.each_key(|_, key| is_database = is_database && ends_as_entry(key))?;
        self.each_key(|_, key| match key.split_last_chunk::<8>() {
            Some((user_key, _)) if is_database => each(user_key),
            _ => each(key),
        })
    }

    /// The offset of the data block that may contain a key, from the index: the first whose last key is not before it. `internal` says
    /// whether keys are stored with the eight more bytes.
    ///
    /// # Errors
    /// When the index is damaged, or the table is RocksDB's and of format version 4 or later.
    pub fn block_of(&self, key: &[u8], internal: bool) -> Result<Option<u64>, DecodeError> {
        self.plain_index()?.each_entry(|last, value| {
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

    fn plain_index(&self) -> Result<Block<'a>, DecodeError> {
        if self.version > MAX_PLAIN_INDEX_VERSION {
            let at = Cursor::new(&self.bytes[self.bytes.len() - VERSION_BYTES..], self.format);
            let accepted = "0 to 3: from 4 on indexes are packed, and blocks are not found by key";
            return Err(at.value("format version", i128::from(self.version), accepted));
        }
        self.block(self.index)
    }

    fn block(&self, handle: Handle) -> Result<Block<'a>, DecodeError> {
        Block::read(self.bytes, handle, self.format, self.checksum, self.limits)
    }
}

/// Footers have another layout from version 6 on. `at` is the beginning of the footer.
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

/// Whether a key ends with a type of RocksDB's or LevelDB's and a sequence number that a database can reach.
fn ends_as_entry(key: &[u8]) -> bool {
    const MAX_TYPE: u64 = 0x20;
    const MAX_SEQUENCE: u64 = 1 << 48;
    key.last_chunk().is_some_and(|bytes| {
        let number = u64::from_le_bytes(*bytes);
        number & 0xff < MAX_TYPE && number >> 8 < MAX_SEQUENCE
    })
}

/// The last eight bytes of a file.
fn magic(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.last_chunk()?))
}

/// The error for a block that exceeds the limits.
fn too_large(at: &Cursor<'_>, bytes: u64, limits: Limits) -> DecodeError {
    at.error(Problem::TooLarge {
        bytes,
        limit: limits.max_bytes,
    })
}

/// The bytes of a table file, mapped.
pub struct TableFile(Map);

impl TableFile {
    /// Maps a file.
    ///
    /// # Errors
    /// When it cannot be mapped.
    pub fn open(path: &Path) -> io::Result<Self> {
        Map::open(path).map(Self)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }
}

pub(crate) const LEVELDB_TABLE: ContainerRow = ContainerRow {
    contents: |bytes, limits| Ok(contents(bytes, Format::LevelDb, limits)),
    formats: &[Format::LevelDb],
    open: open_filters,
};

pub(crate) const ROCKSDB_TABLE: ContainerRow = ContainerRow {
    contents: |bytes, limits| Ok(contents(bytes, Format::RocksDb, limits)),
    formats: &[Format::RocksDb],
    open: open_filters,
};

/// The bytes, if they are a table of that system.
fn contents(bytes: &[u8], format: Format, limits: Limits) -> Option<Cow<'_, [u8]>> {
    let table = Table::open(bytes, limits).ok()?;
    (table.format() == format).then_some(Cow::Borrowed(bytes))
}

fn open_filters(bytes: &[u8], options: &OpenOptions) -> Result<Vec<OpenedFilter>, OpenError> {
    match Table::open(bytes, options.limits)?.filters()? {
        None => Ok(Vec::new()),
        Some(Filters::Whole(filter)) => Ok(single(filter.into())),
        Some(Filters::Blocks(block)) => {
            check_count(Format::LevelDb, block.len(), bytes, options.limits)?;
            let filter = |number| -> Result<OpenedFilter, OpenError> {
                Ok(OpenedFilter {
                    location: Location {
                        granule: Some(number as u64),
                        ..Location::default()
                    },
                    filter: block.filter(number)?.into(),
                })
            };
            (0..block.len()).map(filter).collect()
        }
    }
}
