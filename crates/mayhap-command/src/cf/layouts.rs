//! A cuckoo filter of either layout.

use super::Making;
use crate::command::{Words, words};
use crate::native::{Asked, NativeCuckoo};
use crate::{Context, Cuckoo, DecodeError, Layout, Limits, Reply, image, not_made};
use mayhap_codec::redis::{self, ChunkError, CuckooInfo};
use mayhap_core::plan::ClassicCuckooPlan;
use mayhap_core::{Full, HashScheme, PlanError};

/// Bytes of the header of RedisBloom's SCANDUMP.
const HEADER: usize = 38;

impl Cuckoo {
    /// An empty filter.
    pub(super) fn make(making: Making, context: &Context<'_>) -> Result<Self, Reply> {
        let max_bytes = context.max_bytes();
        let made = match context.config.layout {
            Layout::Native => {
                let asked = Asked {
                    bucket_size: making.bucket_size,
                    max_iterations: making.max_iterations,
                    expansion: making.expansion,
                };
                let scheme = HashScheme::Sip13(context.secret);
                NativeCuckoo::reserve(making.capacity, making.error, asked, scheme, max_bytes)
                    .map(Self::Native)
            }
            Layout::RedisBloom => classic(making, max_bytes).map(Self::RedisBloom),
        };
        made.map_err(not_made("ERR Could not create filter"))
    }

    /// The command that makes this filter, which is empty, whatever the settings.
    pub(super) fn creation(&self, key: &[u8]) -> Words {
        match self {
            Self::RedisBloom(filter) => words("CF.LOADCHUNK", key, &[b"1", &filter.header()]),
            Self::Native(filter) => words("MAYHAP.LOAD", key, &[&image::cuckoo_header(filter)]),
        }
    }

    pub(super) fn may_be_header(chunk: &[u8]) -> bool {
        chunk.len() == HEADER || image::is_image(chunk)
    }

    /// The empty filter of a header.
    pub(super) fn from_header(header: &[u8], limits: Limits) -> Result<Self, DecodeError> {
        if image::is_image(header) {
            image::cuckoo_of_header(header, limits)
        } else {
            redis::Cuckoo::from_header(header, limits).map(Self::RedisBloom)
        }
    }

    pub(super) fn tables(&self) -> u64 {
        match self {
            Self::RedisBloom(filter) => filter.filter().tables().len() as u64,
            Self::Native(filter) => filter.tables(),
        }
    }

    pub(super) fn contains(&self, item: &[u8]) -> bool {
        match self {
            Self::RedisBloom(filter) => filter.contains(item),
            Self::Native(filter) => filter.contains(item),
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
            Self::Native(filter) => filter.contains_each(items, found),
        }
    }

    pub(super) fn count(&self, item: &[u8]) -> u64 {
        match self {
            Self::RedisBloom(filter) => filter.count(item),
            Self::Native(filter) => filter.count(item),
        }
    }

    pub(super) fn add(
        &mut self,
        item: &[u8],
        if_absent: bool,
        context: &Context<'_>,
    ) -> Result<bool, Full> {
        let max_bytes = context.max_bytes();
        match self {
            Self::RedisBloom(filter) => add_classic(filter, item, if_absent, max_bytes),
            Self::Native(filter) => filter.add(item, if_absent, max_bytes),
        }
    }

    pub(super) fn add_each(
        &mut self,
        items: &[&[u8]],
        if_absent: bool,
        context: &Context<'_>,
    ) -> Vec<Result<bool, Full>> {
        let mut max_bytes = context.max_bytes();
        match self {
            Self::Native(filter) => filter.add_each(items, if_absent, max_bytes),
            Self::RedisBloom(filter) => {
                let added = items.iter().map(|item| {
                    let added = add_classic(filter, item, if_absent, max_bytes);
                    if matches!(added, Err(Full::Memory { .. })) {
                        // The same table is not asked for again for each of the items that follow.
                        max_bytes = 0;
                    }
                    added
                });
                added.collect()
            }
        }
    }

    pub(super) fn remove(&mut self, item: &[u8]) -> bool {
        match self {
            Self::RedisBloom(filter) => filter.remove(item),
            Self::Native(filter) => filter.remove(item),
        }
    }

    pub(super) fn compact(&mut self) {
        match self {
            Self::RedisBloom(filter) => filter.compact(),
            Self::Native(filter) => filter.compact(),
        }
    }

    pub(super) fn info(&self) -> CuckooInfo {
        match self {
            Self::RedisBloom(filter) => filter.info(),
            Self::Native(filter) => filter.info(),
        }
    }

    pub(super) fn debug_line(&self) -> String {
        match self {
            Self::RedisBloom(filter) => filter.debug_line(),
            Self::Native(filter) => filter.info().debug_line(),
        }
    }

    /// The answer of `CF.SCANDUMP`.
    pub(super) fn scan(&self, position: i64) -> Option<(i64, Vec<u8>)> {
        match self {
            Self::RedisBloom(filter) => filter.scan(position),
            Self::Native(filter) => filter.scan(position),
        }
    }

    pub(super) fn load_chunk(
        &mut self,
        position: i64,
        chunk: &[u8],
        limits: Limits,
    ) -> Result<(), ChunkError> {
        match self {
            Self::RedisBloom(filter) => filter.load_chunk(position, chunk),
            Self::Native(filter) => filter.load_chunk(position, chunk, limits),
        }
    }
}

fn add_classic(
    filter: &mut redis::Cuckoo,
    item: &[u8],
    if_absent: bool,
    max_bytes: u64,
) -> Result<bool, Full> {
    if if_absent && filter.contains(item) {
        return Ok(false);
    }
    filter.try_insert_within(item, max_bytes).map(|()| true)
}

fn classic(making: Making, max_bytes: u64) -> Result<redis::Cuckoo, PlanError> {
    let Making {
        capacity,
        bucket_size,
        max_iterations,
        expansion,
        error: _,
    } = making;
    let plan = ClassicCuckooPlan::new(capacity, bucket_size, max_iterations, expansion)?;
    let size_bytes = plan.size_bytes_of(0)?;
    if size_bytes > max_bytes {
        return Err(PlanError::OutOfMemory { size_bytes });
    }
    redis::Cuckoo::reserve(capacity, bucket_size, max_iterations, expansion)
}
