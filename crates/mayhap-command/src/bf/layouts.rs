//! A Bloom filter of either layout.

use super::Making;
use crate::command::{Words, words};
use crate::{Bloom, Context, DecodeError, Limits, Reply, not_made};
use mayhap::{Full, Timestamp};
use mayhap_codec::redis::{self, BloomInfo, ChunkError};

/// What came of adding some items.
#[derive(Debug, Default)]
pub(crate) struct Added {
    /// For each item that was looked at, whether it was surely new.
    pub(super) answers: Vec<bool>,
    /// Which of them were refused because the filter could not grow, in order.
    pub(super) without_memory: Vec<usize>,
    /// Whether the next item found the filter full, and none after it was looked at.
    pub(super) is_full: bool,
}

impl Bloom {
    /// An empty filter.
    pub(super) fn make(making: Making, _context: &Context<'_>) -> Result<Self, Reply> {
        redis::Bloom::reserve(making.error, making.capacity, making.expansion)
            .map(Self::RedisBloom)
            .map_err(not_made("ERR could not create filter"))
    }

    /// The command that makes this filter, which is empty, whatever the settings.
    pub(super) fn creation(&self, key: &[u8]) -> Words {
        match self {
            Self::RedisBloom(filter) => words("BF.LOADCHUNK", key, &[b"1", &filter.header()]),
        }
    }

    /// The empty filter of a header.
    pub(super) fn from_header(header: &[u8], limits: Limits) -> Result<Self, DecodeError> {
        redis::Bloom::from_header(header, limits).map(Self::RedisBloom)
    }

    pub(super) fn contains(&self, item: &[u8], _now: Timestamp) -> bool {
        match self {
            Self::RedisBloom(filter) => filter.contains(item),
        }
    }

    /// One place in `found` for every item.
    pub(super) fn contains_each(&self, items: &[&[u8]], _now: Timestamp, found: &mut [bool]) {
        match self {
            Self::RedisBloom(filter) => {
                for (found, item) in found.iter_mut().zip(items) {
                    *found = filter.contains(item);
                }
            }
        }
    }

    pub(super) fn add(&mut self, item: &[u8], _context: &Context<'_>) -> Result<bool, Full> {
        match self {
            Self::RedisBloom(filter) => filter.try_insert(item),
        }
    }

    pub(super) fn add_each(&mut self, items: &[&[u8]], context: &Context<'_>) -> Added {
        let mut added = Added::default();
        for (at, item) in items.iter().enumerate() {
            match self.add(item, context) {
                Ok(new) => added.answers.push(new),
                Err(Full::Table { .. }) => {
                    added.is_full = true;
                    break;
                }
                Err(_) => {
                    added.answers.push(false);
                    added.without_memory.push(at);
                }
            }
        }
        added
    }

    pub(super) fn info(&self, _now: Timestamp) -> BloomInfo {
        match self {
            Self::RedisBloom(filter) => filter.info(),
        }
    }

    pub(super) fn debug_lines(&self) -> Vec<String> {
        match self {
            Self::RedisBloom(filter) => filter.debug_lines(),
        }
    }

    /// The answer of `BF.SCANDUMP`.
    pub(super) fn scan(&self, iterator: i64) -> Option<(i64, Vec<u8>)> {
        match self {
            Self::RedisBloom(filter) => filter.scan(iterator),
        }
    }

    pub(super) fn load_chunk(&mut self, iterator: i64, chunk: &[u8]) -> Result<(), ChunkError> {
        match self {
            Self::RedisBloom(filter) => filter.load_chunk(iterator, chunk),
        }
    }
}
