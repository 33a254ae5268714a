//! A cuckoo filter of either layout.

use super::Making;
use crate::command::{Words, words};
use crate::{Context, Cuckoo, DecodeError, Limits, Reply, not_made};
use mayhap::Full;
use mayhap_codec::redis::{self, ChunkError, CuckooInfo};

/// Bytes of the header of RedisBloom's SCANDUMP.
const HEADER: usize = 38;

impl Cuckoo {
    /// An empty filter.
    pub(super) fn make(making: Making, _context: &Context<'_>) -> Result<Self, Reply> {
        let Making {
            capacity,
            bucket_size,
            max_iterations,
            expansion,
            error: _,
        } = making;
        redis::Cuckoo::reserve(capacity, bucket_size, max_iterations, expansion)
            .map(Self::RedisBloom)
            .map_err(not_made("ERR Could not create filter"))
    }

    /// The command that makes this filter, which is empty, whatever the settings.
    pub(super) fn creation(&self, key: &[u8]) -> Words {
        match self {
            Self::RedisBloom(filter) => words("CF.LOADCHUNK", key, &[b"1", &filter.header()]),
        }
    }

    pub(super) fn may_be_header(chunk: &[u8]) -> bool {
        chunk.len() == HEADER
    }

    /// The empty filter of a header.
    pub(super) fn from_header(header: &[u8], limits: Limits) -> Result<Self, DecodeError> {
        redis::Cuckoo::from_header(header, limits).map(Self::RedisBloom)
    }

    pub(super) fn tables(&self) -> u64 {
        self.info().tables
    }

    pub(super) fn contains(&self, item: &[u8]) -> bool {
        match self {
            Self::RedisBloom(filter) => filter.contains(item),
        }
    }

    /// One place in `found` for every item.
    pub(super) fn contains_each(&self, items: &[&[u8]], found: &mut [bool]) {
        match self {
            Self::RedisBloom(filter) => {
                for (found, item) in found.iter_mut().zip(items) {
                    *found = filter.contains(item);
                }
            }
        }
    }

    pub(super) fn count(&self, item: &[u8]) -> u64 {
        match self {
            Self::RedisBloom(filter) => filter.count(item),
        }
    }

    pub(super) fn add(
        &mut self,
        item: &[u8],
        if_absent: bool,
        _context: &Context<'_>,
    ) -> Result<bool, Full> {
        match self {
            Self::RedisBloom(filter) if if_absent => filter.insert_if_absent(item),
            Self::RedisBloom(filter) => filter.try_insert(item).map(|()| true),
        }
    }

    pub(super) fn add_each(
        &mut self,
        items: &[&[u8]],
        if_absent: bool,
        context: &Context<'_>,
    ) -> Vec<Result<bool, Full>> {
        let added = items.iter().map(|item| self.add(item, if_absent, context));
        added.collect()
    }

    pub(super) fn remove(&mut self, item: &[u8]) -> bool {
        match self {
            Self::RedisBloom(filter) => filter.remove(item),
        }
    }

    pub(super) fn compact(&mut self) {
        match self {
            Self::RedisBloom(filter) => filter.compact(),
        }
    }

    pub(super) fn info(&self) -> CuckooInfo {
        match self {
            Self::RedisBloom(filter) => filter.info(),
        }
    }

    pub(super) fn debug_line(&self) -> String {
        match self {
            Self::RedisBloom(filter) => filter.debug_line(),
        }
    }

    /// The answer of `CF.SCANDUMP`.
    pub(super) fn scan(&self, position: i64) -> Option<(i64, Vec<u8>)> {
        match self {
            Self::RedisBloom(filter) => filter.scan(position),
        }
    }

    pub(super) fn load_chunk(
        &mut self,
        position: i64,
        chunk: &[u8],
        _limits: Limits,
    ) -> Result<(), ChunkError> {
        match self {
            Self::RedisBloom(filter) => filter.load_chunk(position, chunk),
        }
    }
}
