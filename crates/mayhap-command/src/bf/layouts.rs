//! A Bloom filter of either layout.

use super::Making;
use crate::command::{Words, words};
use crate::native::{BloomKind, NativeBloom};
use crate::{Bloom, Context, DecodeError, Layout, Limits, Reply, image, not_made};
use mayhap_codec::redis::{self, BloomInfo, ChunkError};
use mayhap_core::{Full, HashScheme, Timestamp};

/// How many items go in together.
const CHUNK: usize = 128;

/// What came of adding some items.
#[derive(Debug)]
pub(crate) struct Added {
    /// For each item that was looked at, whether it was surely new.
    pub(super) answers: Vec<bool>,
    /// Which of them were refused because the filter could not grow, in order.
    pub(super) without_memory: Vec<usize>,
    /// Whether the next item found the filter full, and none after it was looked at.
    pub(super) is_full: bool,
}

impl Added {
    pub(crate) fn for_items(count: usize) -> Self {
        Self {
            answers: Vec::with_capacity(count),
            without_memory: Vec::new(),
            is_full: false,
        }
    }

    /// Notes the answer for the next item; `false` when there is none for those after it.
    pub(crate) fn next(&mut self, answer: Result<bool, Full>) -> bool {
        match answer {
            Ok(new) => self.answers.push(new),
            Err(Full::Table { .. }) => {
                self.is_full = true;
                return false;
            }
            Err(_) => {
                self.without_memory.push(self.answers.len());
                self.answers.push(false);
            }
        }
        true
    }

    /// Places for the answers of the next items.
    pub(crate) fn more(&mut self, count: usize) -> &mut [bool] {
        let start = self.answers.len();
        self.answers.resize(start + count, false);
        &mut self.answers[start..]
    }
}

impl Bloom {
    /// An empty filter. Windows are native in any case: there are no others.
    pub(super) fn make(making: Making, context: &Context<'_>) -> Result<Self, Reply> {
        let Making {
            error,
            capacity,
            expansion,
            grows,
            seconds,
        } = making;
        let (scheme, most) = (HashScheme::Sip13(context.secret), context.max_bytes());
        let made = match (seconds, context.config.layout) {
            (Some(seconds), _) => {
                NativeBloom::window(error, capacity, seconds, (scheme, context.now), most)
                    .map(Self::Native)
            }
            (None, Layout::Native) => {
                let expansion = if grows { expansion } else { 0 };
                NativeBloom::reserve(error, capacity, expansion, scheme, most).map(Self::Native)
            }
            (None, Layout::RedisBloom) => {
                let filter = if grows {
                    redis::Bloom::reserve_within(error, capacity, Some(expansion), most)
                } else {
                    redis::Bloom::reserve_fixed_within(error, capacity, expansion, most)
                };
                filter.map(Self::RedisBloom)
            }
        };
        made.map_err(not_made("ERR could not create filter"))
    }

    /// The command that makes this filter, which is empty, whatever the settings.
    pub(super) fn creation(&self, key: &[u8]) -> Words {
        match self {
            Self::RedisBloom(filter) => words("BF.LOADCHUNK", key, &[b"1", &filter.header()]),
            Self::Native(filter) => words("MAYHAP.LOAD", key, &[&image::bloom_header(filter)]),
        }
    }

    /// The empty filter of a header.
    pub(super) fn from_header(header: &[u8], limits: Limits) -> Result<Self, DecodeError> {
        if image::is_image(header) {
            image::bloom_of_header(header, limits)
        } else {
            redis::Bloom::from_header(header, limits).map(Self::RedisBloom)
        }
    }

    pub(super) fn contains(&self, item: &[u8], now: Timestamp) -> bool {
        match self {
            Self::RedisBloom(filter) => filter.contains(item),
            Self::Native(filter) => filter.contains(item, now),
        }
    }

    /// One place in `found` for every item.
    pub(super) fn contains_each(&self, items: &[&[u8]], now: Timestamp, found: &mut [bool]) {
        match self {
            Self::RedisBloom(filter) => filter.contains_each(items, found),
            Self::Native(filter) => filter.contains_each(items, now, found),
        }
    }

    pub(super) fn add(&mut self, item: &[u8], context: &Context<'_>) -> Result<bool, Full> {
        match self {
            Self::RedisBloom(filter) => filter.try_insert_within(item, context.max_bytes()),
            Self::Native(filter) => filter.add(item, context.now, context.max_bytes()),
        }
    }

    pub(super) fn add_each(&mut self, items: &[&[u8]], context: &Context<'_>) -> Added {
        let max_bytes = context.max_bytes();
        match self {
            Self::RedisBloom(filter) => add_each(filter, items, max_bytes),
            Self::Native(filter) => filter.add_each(items, context.now, max_bytes),
        }
    }

    /// Whether an item that is in changes it when it comes again: a window remembers it for longer then.
    pub(super) fn is_renewed(&self) -> bool {
        match self {
            Self::RedisBloom(_) => false,
            Self::Native(filter) => matches!(filter.kind, BloomKind::Window(_)),
        }
    }

    pub(super) fn info(&self, now: Timestamp) -> BloomInfo {
        match self {
            Self::RedisBloom(filter) => filter.info(),
            Self::Native(filter) => filter.info(now),
        }
    }

    pub(super) fn debug_lines(&self) -> Vec<String> {
        match self {
            Self::RedisBloom(filter) => filter.debug_lines(),
            Self::Native(filter) => filter.debug_lines(),
        }
    }

    /// The answer of `BF.SCANDUMP`.
    pub(super) fn scan(&self, iterator: i64) -> Option<(i64, Vec<u8>)> {
        match self {
            Self::RedisBloom(filter) => filter.scan(iterator),
            Self::Native(filter) if iterator == 0 => Some((1, image::bloom_header(filter))),
            Self::Native(filter) => filter.scan(iterator),
        }
    }

    pub(super) fn load_chunk(&mut self, iterator: i64, chunk: &[u8]) -> Result<(), ChunkError> {
        match self {
            Self::RedisBloom(filter) => filter.load_chunk(iterator, chunk),
            Self::Native(filter) => filter.load_chunk(iterator, chunk),
        }
    }
}

/// As long as there is room for certain, many at a time; near growth and fullness one by one.
fn add_each(filter: &mut redis::Bloom, items: &[&[u8]], mut max_bytes: u64) -> Added {
    let mut added = Added::for_items(items.len());
    for items in items.chunks(CHUNK) {
        if items.len() as u64 <= filter.keys_until_growth() {
            filter.insert_each_reporting_new(items, added.more(items.len()));
            continue;
        }
        for item in items {
            let answer = filter.try_insert_within(item, max_bytes);
            if matches!(answer, Err(Full::Memory { .. })) {
                // The same layer is not asked for again for each of the items that follow.
                max_bytes = 0;
            }
            if !added.next(answer) {
                return added;
            }
        }
    }
    added
}
