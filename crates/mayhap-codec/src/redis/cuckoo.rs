//! RedisBloom's cuckoo filter: the core's `ClassicCuckoo` under `MurmurHash64A`.
//!
//! A SCANDUMP, little-endian and packed: a header, then the tables, concatenated.
//!
//! | bytes | header |
//! | --- | --- |
//! | 8, 8, 8, 8 | keys, buckets of the first table, removed keys, tables |
//! | 2, 2, 2 | bucket size, most moves, expansion |

use super::fields::DecodePosition;
use super::{ChunkError, MAX_CHUNK};
use crate::cursor::Cursor;
use crate::{DecodeError, Format, Limits, Problem};
use mayhap_core::foreign::murmur2;
use mayhap_core::plan::ClassicCuckooPlan;
use mayhap_core::{ClassicCuckoo, Full, PlanError};

const HEADER: u64 = 38;
/// Bytes of the header of a SCANDUMP.
pub const CUCKOO_HEADER: usize = HEADER as usize;
const MAX_TABLES: u64 = u16::MAX as u64;

/// RedisBloom's cuckoo filter, identical to the byte: `CF.*` on one key.
///
/// ```
/// use mayhap_codec::redis::Cuckoo;
/// let mut filter = Cuckoo::reserve(1024, 2, 20, 1)?;
/// assert_eq!(filter.try_insert(b"a"), Ok(()));
/// assert!(filter.contains(b"a") && filter.remove(b"a"));
/// # Ok::<(), mayhap_core::PlanError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cuckoo {
    filter: ClassicCuckoo,
}

/// What `CF.INFO` reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CuckooInfo {
    /// Bytes, as RedisBloom counts them.
    pub size_bytes: u64,
    /// Buckets of the first table.
    pub buckets: u64,
    /// Tables.
    pub tables: u64,
    /// Keys that are in, including copies.
    pub items: u64,
    /// Keys removed since the filter was last compacted.
    pub deleted: u64,
    /// Slots in a bucket.
    pub bucket_size: u8,
    /// How many times as large each further table is; 0 when the filter does not grow.
    pub expansion: u16,
    /// How many fingerprints an insert may move.
    pub max_iterations: u16,
}

impl CuckooInfo {
    /// The line of `CF.DEBUG`.
    pub fn debug_line(&self) -> String {
        format!(
            "bktsize:{} buckets:{} items:{} deletes:{} filters:{} max_iterations:{} expansion:{}",
            self.bucket_size,
            self.buckets,
            self.items,
            self.deleted,
            self.tables,
            self.max_iterations,
            self.expansion
        )
    }
}

impl Cuckoo {
    /// Capacity, bucket size, maximum iterations and expansion of filters that an insert creates.
    pub const DEFAULTS: (u64, u8, u16, u16) = (1024, 2, 20, 1);

    /// An empty filter as `CF.RESERVE` creates it.
    ///
    /// # Errors
    /// As [`ClassicCuckooPlan::new`], or when there is not enough memory.
    pub fn reserve(
        capacity: u64,
        bucket_size: u8,
        max_iterations: u16,
        expansion: u16,
    ) -> Result<Self, PlanError> {
        let plan = ClassicCuckooPlan::new(capacity, bucket_size, max_iterations, expansion)?;
        Ok(Self {
            filter: ClassicCuckoo::from_plan(plan)?,
        })
    }

    /// Inserts a key, also if it is in already: `CF.ADD`.
    ///
    /// # Errors
    /// When there is no room and the filter does not grow, or there is no memory to grow. The filter is unchanged then.
    pub fn try_insert(&mut self, key: &[u8]) -> Result<(), Full> {
        self.filter.try_insert_hash(hash(key))
    }

    /// The same with a memory limit.
    ///
    /// # Errors
    /// As there, and [`Full::Memory`] when it must grow and would take more than `max_bytes` then.
    pub fn try_insert_within(&mut self, key: &[u8], max_bytes: u64) -> Result<(), Full> {
        self.filter.try_insert_hash_within(hash(key), max_bytes)
    }

    /// `CF.ADDNX`. `Ok(true)`: the key was definitely new. `Ok(false)`: it, or one with the same fingerprint, was in before.
    ///
    /// # Errors
    /// As [`Cuckoo::try_insert`].
    pub fn insert_if_absent(&mut self, key: &[u8]) -> Result<bool, Full> {
        self.filter.insert_hash_if_absent(hash(key))
    }

    /// `false` is certain: the key is not in. `true` is probable.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.filter.contains_hash(hash(key))
    }

    /// How many slots contain the fingerprint of the key; those of a bucket that is its own alternative count twice.
    pub fn count(&self, key: &[u8]) -> u64 {
        self.filter.count_hash(hash(key))
    }

    /// `true`: a copy of the key was removed. Compacts as RedisBloom does.
    pub fn remove(&mut self, key: &[u8]) -> bool {
        self.filter.remove_hash(hash(key))
    }

    /// Moves fingerprints to older tables, and drops the newest table if it is empty then.
    pub fn compact(&mut self) {
        self.filter.compact();
    }

    /// A copy, or an error if there is not enough memory.
    ///
    /// # Errors
    /// [`PlanError::OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, PlanError> {
        self.filter.try_clone().map(Self::from_filter)
    }

    /// The filter over hashes.
    pub fn filter(&self) -> &ClassicCuckoo {
        &self.filter
    }

    pub(super) fn from_filter(filter: ClassicCuckoo) -> Self {
        Self { filter }
    }

    /// What `CF.INFO` reports.
    pub fn info(&self) -> CuckooInfo {
        let plan = self.filter.plan();
        let tables = self.filter.tables().len() as u64;
        CuckooInfo {
            size_bytes: 40 + 16 * tables + self.filter.size_bytes(),
            buckets: plan.buckets(),
            tables,
            items: self.filter.estimated_keys(),
            deleted: self.filter.removed_keys(),
            bucket_size: plan.bucket_size(),
            expansion: plan.expansion(),
            max_iterations: plan.max_moves(),
        }
    }

    /// The line of `CF.DEBUG`.
    pub fn debug_line(&self) -> String {
        self.info().debug_line()
    }

    /// The reply of `CF.SCANDUMP` to a position, with the next position: the header for 0, then tables. `None` at the end, for invalid
    /// positions, and for a filter without keys.
    ///
    /// As in RedisBloom, a position inside a table of up to 16 MiB returns the whole table and a next position that skips others.
    pub fn scan(&self, position: i64) -> Option<(i64, Vec<u8>)> {
        if self.filter.estimated_keys() == 0 {
            return None;
        }
        self.piece(position)
    }

    /// The same for any filter: one whose count is 0 may have keys, if chunks were loaded into an empty filter.
    pub fn piece(&self, position: i64) -> Option<(i64, Vec<u8>)> {
        if position == 0 {
            return Some((1, self.header()));
        }
        let start = u64::try_from(position).ok()?.checked_sub(1)?;
        let (number, start) = self.filter.locate(start)?;
        let table = self.filter.table(number)?;
        let chunk = if table.len() as u64 > MAX_CHUNK {
            let rest = &table[start..];
            &rest[..rest.len().min(MAX_CHUNK as usize)]
        } else {
            table
        };
        let next = position.checked_add(i64::try_from(chunk.len()).ok()?)?;
        Some((next, chunk.to_vec()))
    }

    /// Loads a chunk of slots as `CF.LOADCHUNK` does: `position` is the one that SCANDUMP returned with it.
    ///
    /// # Errors
    /// When that is outside the filter, or the chunk is empty or extends past the end of a table. The filter is unchanged then.
    pub fn load_chunk(&mut self, position: i64, chunk: &[u8]) -> Result<(), ChunkError> {
        let length = chunk.len() as u64;
        let bad = ChunkError::Iterator {
            iterator: position,
            length,
        };
        let end = u64::try_from(position).map_err(|_| bad)?;
        let start = end
            .checked_sub(length)
            .and_then(|start| start.checked_sub(1));
        let start = start.filter(|_| length > 0).ok_or(bad)?;
        let outside = ChunkError::Outside {
            iterator: position,
            length,
        };
        let (number, start) = self.filter.locate(start).ok_or(outside)?;
        if self.filter.overwrite(number, start, chunk) {
            return Ok(());
        }
        let table = self.filter.table(number).unwrap_or_default();
        Err(ChunkError::TooLong {
            length,
            left: (table.len() - start) as u64,
        })
    }

    /// The header of a SCANDUMP.
    pub fn header(&self) -> Vec<u8> {
        let info = self.info();
        let mut out = Vec::with_capacity(HEADER as usize);
        for count in [info.items, info.buckets, info.deleted, info.tables] {
            out.extend_from_slice(&count.to_le_bytes());
        }
        let shorts = [
            u16::from(info.bucket_size),
            info.max_iterations,
            info.expansion,
        ];
        for short in shorts {
            out.extend_from_slice(&short.to_le_bytes());
        }
        out
    }

    /// The filter with empty tables that a header describes: `CF.LOADCHUNK` at position 1.
    ///
    /// # Errors
    /// When it is not a header, or announces more bytes than the limits allow.
    pub fn from_header(bytes: &[u8], limits: Limits) -> Result<Self, DecodeError> {
        let mut at = Cursor::new(bytes, Format::RedisBloomCuckoo);
        let header = CuckooHeader::read(&mut at)?;
        at.finish()?;
        let announced = header.bytes(&at, limits.max_bytes)?;
        let further = u64::from(header.tables) - 1;
        let announced = announced.saturating_add(ClassicCuckoo::TABLE_BYTES * further);
        if announced > limits.max_bytes {
            return Err(at.error(Problem::TooLarge {
                bytes: announced,
                limit: limits.max_bytes,
            }));
        }
        let CuckooHeader {
            plan,
            items,
            deleted,
            tables,
        } = header;
        ClassicCuckoo::with_empty_tables(plan, tables, items, deleted)
            .map(Self::from_filter)
            .map_err(|error| at.error(Problem::Plan(error)))
    }
}

fn hash(key: &[u8]) -> u64 {
    murmur2::hash64(key, 0)
}

/// Reads the header and the chunks of a SCANDUMP, concatenated.
///
/// # Errors
/// When they are something else.
pub fn decode(bytes: &[u8]) -> Result<Cuckoo, DecodeError> {
    let mut at = Cursor::new(bytes, Format::RedisBloomCuckoo);
    let header = CuckooHeader::read(&mut at)?;
    let announced = header.bytes(&at, at.left())?;
    let mut slots = at.take("tables", announced)?;
    at.finish()?;
    header.build(&at, |length| {
        let (own, rest) = slots.split_at(length);
        slots = rest;
        Ok(own.to_vec())
    })
}

/// The header and the chunks of a SCANDUMP, concatenated; also of a filter without keys, for which `CF.SCANDUMP` returns nothing.
pub fn encode(filter: &Cuckoo) -> Vec<u8> {
    let mut out = filter.header();
    for table in filter.filter.tables() {
        out.extend_from_slice(table);
    }
    out
}

/// A header that was read and checked.
struct CuckooHeader {
    plan: ClassicCuckooPlan,
    items: u64,
    deleted: u64,
    tables: u32,
}

impl CuckooHeader {
    fn read(at: &mut Cursor<'_>) -> Result<Self, DecodeError> {
        let (items, buckets) = (at.u64_le("items")?, at.u64_le("buckets")?);
        let (deleted, tables) = (at.u64_le("deleted items")?, at.u64_le("tables")?);
        let bucket_size = at.u16_le("bucket size")?;
        let (moves, expansion) = (at.u16_le("most iterations")?, at.u16_le("expansion")?);
        Ok(Self {
            plan: plan(
                at,
                buckets,
                u64::from(bucket_size),
                u64::from(moves),
                u64::from(expansion),
            )?,
            items,
            deleted,
            tables: check_tables(at, tables, expansion)?,
        })
    }

    /// Bytes of all tables, counted only until they exceed `enough`.
    fn bytes(&self, at: &Cursor<'_>, enough: u64) -> Result<u64, DecodeError> {
        let mut sum = 0_u64;
        for number in 0..self.tables {
            let bytes = self.plan.size_bytes_of(number);
            sum = sum.saturating_add(bytes.map_err(|error| at.error(Problem::Plan(error)))?);
            if sum > enough {
                break;
            }
        }
        Ok(sum)
    }

    fn build(
        self,
        at: &Cursor<'_>,
        mut table: impl FnMut(usize) -> Result<Vec<u8>, PlanError>,
    ) -> Result<Cuckoo, DecodeError> {
        let plan = self.plan;
        let tables = (0..self.tables).map(|number| table(plan.size_bytes_of(number)? as usize));
        tables
            .collect::<Result<_, PlanError>>()
            .and_then(|tables| ClassicCuckoo::from_parts(plan, tables, self.items, self.deleted))
            .map(Cuckoo::from_filter)
            .map_err(|error| at.error(Problem::Plan(error)))
    }
}

/// The plan of stored numbers.
pub(super) fn plan(
    at: &impl DecodePosition,
    buckets: u64,
    bucket_size: u64,
    moves: u64,
    expansion: u64,
) -> Result<ClassicCuckooPlan, DecodeError> {
    let wrong = |field, value, accepted| at.value(field, i128::from(value), accepted);
    let bucket_size =
        u8::try_from(bucket_size).map_err(|_| wrong("bucket size", bucket_size, "1 to 255"))?;
    let moves = u16::try_from(moves).map_err(|_| wrong("most iterations", moves, "1 to 65535"))?;
    let expansion =
        u16::try_from(expansion).map_err(|_| wrong("expansion", expansion, "0 to 32768"))?;
    ClassicCuckooPlan::from_buckets(buckets, bucket_size, moves, expansion)
        .map_err(|error| at.error(Problem::Plan(error)))
}

/// Only a filter that grows has more than one table.
pub(super) fn check_tables(
    at: &impl DecodePosition,
    tables: u64,
    expansion: u16,
) -> Result<u32, DecodeError> {
    let most = if expansion == 0 { 1 } else { MAX_TABLES };
    if (1..=most).contains(&tables) {
        return Ok(tables as u32);
    }
    let accepted = "1, and where the expansion is not 0 up to 65535";
    Err(at.value("tables", i128::from(tables), accepted))
}
