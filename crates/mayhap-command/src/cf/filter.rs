//! A cuckoo filter of either layout.

use super::create::CreateOptions;
use crate::native::{CuckooParameters, NativeCuckoo};
use crate::outcome::{OwnedCommand, owned_command};
use crate::{AnyCuckoo, Context, DecodeError, Layout, Limits, Reply, creation_error, image};
use mayhap_codec::redis::{self, ChunkError, CuckooInfo};
use mayhap_core::plan::ClassicCuckooPlan;
use mayhap_core::{Full, HashScheme, PlanError};

/// The length of the header of RedisBloom's SCANDUMP.
const HEADER_BYTES: usize = 38;

impl AnyCuckoo {
    /// An empty filter.
    pub(super) fn create(options: CreateOptions, context: &Context<'_>) -> Result<Self, Reply> {
        let max_bytes = context.max_bytes();
        let created = match context.config.layout {
            Layout::Native => {
                let parameters = CuckooParameters {
                    bucket_size: options.bucket_size,
                    max_iterations: options.max_iterations,
                    expansion: options.expansion,
                };
                let scheme = HashScheme::Sip13(context.secret);
                let create = if options.is_reserved {
                    NativeCuckoo::reserve
                } else {
                    NativeCuckoo::growing
                };
                create(
                    options.capacity,
                    options.error,
                    parameters,
                    scheme,
                    max_bytes,
                )
                .map(Self::Native)
            }
            Layout::RedisBloom => create_classic(options, max_bytes).map(Self::RedisBloom),
        };
        created.map_err(creation_error("ERR Could not create filter"))
    }

    /// The command that creates this empty filter, whatever the settings of the host that runs it.
    pub(super) fn creation(&self, key: &[u8]) -> OwnedCommand {
        match self {
            Self::RedisBloom(filter) => {
                owned_command("CF.LOADCHUNK", key, &[b"1", &filter.header()])
            }
            Self::Native(filter) => {
                owned_command("MAYHAP.LOAD", key, &[&image::cuckoo_header(filter)])
            }
        }
    }

    pub(super) fn may_be_header(chunk: &[u8]) -> bool {
        chunk.len() == HEADER_BYTES || image::is_image(chunk)
    }

    /// The empty filter that a header describes.
    pub(super) fn from_header(header: &[u8], limits: Limits) -> Result<Self, DecodeError> {
        if image::is_image(header) {
            image::cuckoo_from_header(header, limits)
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

    /// `found` has one element per item.
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
                let results = items.iter().map(|item| {
                    let result = add_classic(filter, item, if_absent, max_bytes);
                    if matches!(result, Err(Full::Memory { .. })) {
                        // Do not try to allocate the same table again for each of the following items.
                        max_bytes = 0;
                    }
                    result
                });
                results.collect()
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

    /// The chunk that `CF.SCANDUMP` replies with.
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

fn create_classic(options: CreateOptions, max_bytes: u64) -> Result<redis::Cuckoo, PlanError> {
    let CreateOptions {
        capacity,
        bucket_size,
        max_iterations,
        expansion,
        error: _,
        is_reserved: _,
    } = options;
    let plan = ClassicCuckooPlan::new(capacity, bucket_size, max_iterations, expansion)?;
    let size_bytes = plan.size_bytes_of(0)?;
    if size_bytes > max_bytes {
        return Err(PlanError::OutOfMemory { size_bytes });
    }
    redis::Cuckoo::reserve(capacity, bucket_size, max_iterations, expansion)
}
