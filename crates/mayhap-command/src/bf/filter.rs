//! A Bloom filter of either layout.

use super::create::CreateOptions;
use crate::native::{BloomKind, NativeBloom};
use crate::outcome::{OwnedCommand, owned_command};
use crate::{AnyBloom, Context, DecodeError, Layout, Limits, Reply, creation_error, image};
use mayhap_codec::redis::{self, BloomInfo, ChunkError};
use mayhap_core::{Full, HashScheme, Timestamp};

pub(super) const FULL: Reply = Reply::error("ERR non scaling filter is full");
pub(super) const CANNOT_GROW: Reply = Reply::error("ERR problem inserting into filter");

/// How many items are added in one batch.
const CHUNK: usize = 128;

/// The result of adding several items.
#[derive(Debug)]
pub(crate) struct BatchAdded {
    /// For each item that was tried, whether it was definitely new.
    pub(super) is_new: Vec<bool>,
    /// The positions of those that were rejected because the filter could not grow, in order.
    pub(super) without_memory: Vec<usize>,
    /// Whether the filter was full for the next item, so that it and those after it were not tried.
    pub(super) is_full: bool,
}

impl BatchAdded {
    pub(crate) fn for_items(count: usize) -> Self {
        Self {
            is_new: Vec::with_capacity(count),
            without_memory: Vec::new(),
            is_full: false,
        }
    }

    /// Records the result of the next item; `false` if the items after it must not be tried.
    pub(crate) fn push(&mut self, result: Result<bool, Full>) -> bool {
        match result {
            Ok(new) => self.is_new.push(new),
            Err(Full::Table { .. }) => {
                self.is_full = true;
                return false;
            }
            Err(_) => {
                self.without_memory.push(self.is_new.len());
                self.is_new.push(false);
            }
        }
        true
    }

    /// Space for the results of the next items.
    pub(crate) fn extend(&mut self, count: usize) -> &mut [bool] {
        let start = self.is_new.len();
        self.is_new.resize(start + count, false);
        &mut self.is_new[start..]
    }
}

impl AnyBloom {
    /// An empty filter. RedisBloom has no window filters: these have the native layout whatever the setting.
    pub(super) fn create(options: CreateOptions, context: &Context<'_>) -> Result<Self, Reply> {
        let CreateOptions {
            error,
            capacity,
            expansion,
            grows,
            is_reserved,
            seconds,
        } = options;
        let (scheme, max_bytes) = (HashScheme::Sip13(context.secret), context.max_bytes());
        let created = match (seconds, context.config.layout) {
            (Some(seconds), _) => {
                NativeBloom::window(error, capacity, seconds, (scheme, context.now), max_bytes)
                    .map(Self::Native)
            }
            (None, Layout::Native) => {
                let expansion = if grows { expansion } else { 0 };
                let create = if is_reserved {
                    NativeBloom::reserve
                } else {
                    NativeBloom::growing
                };
                create(error, capacity, expansion, scheme, max_bytes).map(Self::Native)
            }
            (None, Layout::RedisBloom) => {
                let filter = if grows {
                    redis::Bloom::reserve_within(error, capacity, Some(expansion), max_bytes)
                } else {
                    redis::Bloom::reserve_fixed_within(error, capacity, expansion, max_bytes)
                };
                filter.map(Self::RedisBloom)
            }
        };
        created.map_err(creation_error("ERR could not create filter"))
    }

    /// The command that creates this empty filter, whatever the settings of the host that runs it.
    pub(super) fn creation(&self, key: &[u8]) -> OwnedCommand {
        match self {
            Self::RedisBloom(filter) => {
                owned_command("BF.LOADCHUNK", key, &[b"1", &filter.header()])
            }
            Self::Native(filter) => {
                owned_command("MAYHAP.LOAD", key, &[&image::bloom_header(filter)])
            }
        }
    }

    /// The empty filter that a header describes.
    pub(super) fn from_header(header: &[u8], limits: Limits) -> Result<Self, DecodeError> {
        if image::is_image(header) {
            image::bloom_from_header(header, limits)
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

    /// `found` has one element per item.
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

    pub(super) fn add_each(&mut self, items: &[&[u8]], context: &Context<'_>) -> BatchAdded {
        let max_bytes = context.max_bytes();
        match self {
            Self::RedisBloom(filter) => add_each(filter, items, max_bytes),
            Self::Native(filter) => filter.add_each(items, context.now, max_bytes),
        }
    }

    /// Whether adding a present item again changes the filter: a window filter then keeps it for longer.
    pub(super) fn renews_items(&self) -> bool {
        match self {
            Self::RedisBloom(_) => false,
            Self::Native(filter) => {
                matches!(filter.kind, BloomKind::Window(_) | BloomKind::WindowSet(_))
            }
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

    /// The chunk that `BF.SCANDUMP` replies with.
    pub(super) fn scan(&self, iterator: i64) -> Option<(i64, Vec<u8>)> {
        match self {
            Self::RedisBloom(filter) => filter.scan(iterator),
            Self::Native(filter) => filter.scan(iterator),
        }
    }

    pub(super) fn load_chunk(
        &mut self,
        iterator: i64,
        chunk: &[u8],
        limits: Limits,
    ) -> Result<(), ChunkError> {
        match self {
            Self::RedisBloom(filter) => filter.load_chunk(iterator, chunk),
            Self::Native(filter) => filter.load_chunk(iterator, chunk, limits),
        }
    }
}

/// Adds items in batches while the filter has room for the whole batch, and one by one close to growth or fullness.
fn add_each(filter: &mut redis::Bloom, items: &[&[u8]], mut max_bytes: u64) -> BatchAdded {
    let mut added = BatchAdded::for_items(items.len());
    for items in items.chunks(CHUNK) {
        if items.len() as u64 <= filter.keys_until_growth() {
            filter.insert_each_reporting_new(items, added.extend(items.len()));
            continue;
        }
        for item in items {
            let result = filter.try_insert_within(item, max_bytes);
            if matches!(result, Err(Full::Memory { .. })) {
                // Do not try to allocate the same layer again for each of the following items.
                max_bytes = 0;
            }
            if !added.push(result) {
                return added;
            }
        }
    }
    added
}
