//! A cuckoo filter of the native layout.

use super::bloom::check_size;
use crate::image;
use crate::{Limits, Slot};
use mayhap_codec::redis::{ChunkError, CuckooInfo, MAX_CHUNK};
use mayhap_core::plan::{CuckooPlan, GrowingPlan};
use mayhap_core::{Cuckoo, Full, HashScheme, KeyHash, PlanError, zeroed_bytes};

/// How many items are hashed before the first is inserted.
const CHUNK: usize = 128;

/// A cuckoo filter of the native layout.
#[derive(Clone, PartialEq, Debug)]
pub struct NativeCuckoo {
    pub(crate) filter: Cuckoo,
    /// Items removed since the filter was created or compacted.
    pub(crate) removed: u64,
    pub(crate) parameters: CuckooParameters,
    pub(crate) loading: Option<PartialImage>,
}

/// Parameters as requested, which `CF.INFO` reports. The native layout uses neither buckets nor iterations; an expansion of 0 does not grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CuckooParameters {
    pub(crate) bucket_size: u8,
    pub(crate) max_iterations: u16,
    pub(crate) expansion: u16,
}

/// The part of a filter's image that `CF.LOADCHUNK` has received. Cells cannot be loaded one chunk at a time: the contents of one cell
/// determine where others may be.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PartialImage {
    pub(crate) total: u64,
    /// Fewer than the total.
    pub(crate) bytes: Vec<u8>,
}

impl NativeCuckoo {
    /// An empty filter.
    pub(crate) fn reserve(
        capacity: u64,
        error: f64,
        parameters: CuckooParameters,
        scheme: HashScheme,
        max_bytes: u64,
    ) -> Result<Self, PlanError> {
        let filter = if parameters.expansion == 0 {
            let plan = CuckooPlan::new(capacity, error)?;
            check_size(plan.size_bytes(), max_bytes)?;
            Cuckoo::from_plan(plan, scheme)?
        } else {
            let plan = GrowingPlan::new(capacity, error)?;
            check_size(plan.cuckoo_table(0)?.size_bytes(), max_bytes)?;
            Cuckoo::growing_from_plan(plan, scheme)?
        };
        // As RedisBloom reports it.
        let expansion = match parameters.expansion {
            0 => 0,
            expansion => expansion.checked_next_power_of_two().unwrap_or(u16::MAX),
        };
        Ok(Self {
            filter,
            removed: 0,
            parameters: CuckooParameters {
                expansion,
                ..parameters
            },
            loading: None,
        })
    }

    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        let loading = match &self.loading {
            None => None,
            Some(PartialImage { total, bytes }) => {
                let mut copy = zeroed_bytes(bytes.len() as u64)?;
                copy.copy_from_slice(bytes);
                Some(PartialImage {
                    total: *total,
                    bytes: copy,
                })
            }
        };
        Ok(Self {
            filter: self.filter.try_clone()?,
            loading,
            ..*self
        })
    }

    pub(crate) fn contains(&self, item: &[u8]) -> bool {
        self.filter.contains(item)
    }

    pub(crate) fn contains_each(&self, items: &[&[u8]], found: &mut [bool]) {
        self.filter.contains_each(items, found);
    }

    pub(crate) fn count(&self, item: &[u8]) -> u64 {
        self.filter.count_hash(self.filter.hash(item))
    }

    /// Adds an item, or with `if_absent` only if the filter does not seem to contain it; then `Ok(false)` if it does. An error leaves the filter
    /// unchanged.
    pub(crate) fn add(
        &mut self,
        item: &[u8],
        if_absent: bool,
        max_bytes: u64,
    ) -> Result<bool, Full> {
        self.add_hash(self.filter.hash(item), if_absent, max_bytes)
    }

    fn add_hash(&mut self, hash: KeyHash, if_absent: bool, max_bytes: u64) -> Result<bool, Full> {
        if if_absent && self.filter.contains_hash(hash) {
            return Ok(false);
        }
        self.filter.try_insert_hash_within(hash, max_bytes)?;
        // Loading the rest of an image would drop the item.
        self.loading = None;
        Ok(true)
    }

    pub(crate) fn add_each(
        &mut self,
        items: &[&[u8]],
        if_absent: bool,
        max_bytes: u64,
    ) -> Vec<Result<bool, Full>> {
        let mut answers = Vec::with_capacity(items.len());
        let mut hashes = [KeyHash::from_u64(0); CHUNK];
        for items in items.chunks(CHUNK) {
            for (hash, item) in hashes.iter_mut().zip(items) {
                *hash = self.filter.hash(item);
            }
            let hashes = &hashes[..items.len()];
            // A batch lookup prefetches the cells for the inserts that follow.
            if items.len() > 1 {
                let found = &mut [false; CHUNK][..items.len()];
                self.filter.contains_hashes(hashes, found);
            }
            let added = hashes
                .iter()
                .map(|&hash| self.add_hash(hash, if_absent, max_bytes));
            answers.extend(added);
        }
        answers
    }

    pub(crate) fn remove(&mut self, item: &[u8]) -> bool {
        let removed = self.filter.remove(item);
        self.removed = self.removed.saturating_add(u64::from(removed));
        removed
    }

    /// There is nothing to move: empty tables are dropped at once, and items must stay in their table for removals to be correct.
    pub(crate) fn compact(&mut self) {
        self.removed = 0;
    }

    /// Bytes of memory, its own fields included.
    pub(crate) fn size_bytes(&self) -> u64 {
        let loading = self
            .loading
            .as_ref()
            .map_or(0, |loading| loading.bytes.len());
        (size_of::<Self>() + loading) as u64 + self.filter.size_bytes()
    }

    pub(crate) fn tables(&self) -> u64 {
        match self.filter.growth() {
            None => 1,
            Some(_) => self.filter.tables().count() as u64,
        }
    }

    pub(crate) fn info(&self) -> CuckooInfo {
        let cells = self
            .filter
            .tables()
            .next()
            .map_or(0, |(plan, _)| plan.cells());
        CuckooInfo {
            size_bytes: self.size_bytes(),
            buckets: cells.div_ceil(u64::from(self.parameters.bucket_size).max(1)),
            tables: self.tables(),
            items: self.filter.estimated_keys(),
            deleted: self.removed,
            bucket_size: self.parameters.bucket_size,
            expansion: self.parameters.expansion,
            max_iterations: self.parameters.max_iterations,
        }
    }

    /// The chunk that `CF.SCANDUMP` replies with: a header, then the image of the filter. An empty filter has no chunks, as in RedisBloom.
    pub(crate) fn scan(&self, position: i64) -> Option<(i64, Vec<u8>)> {
        if self.filter.is_empty() {
            return None;
        }
        let pieces = image::cuckoo_parts(self, true);
        if position == 0 {
            let total = pieces.iter().map(|piece| piece.len() as u64).sum();
            return Some((1, image::loading_header(self, total)));
        }
        let mut start = usize::try_from(position).ok()?.checked_sub(1)?;
        let mut chunk = Vec::new();
        for piece in &pieces {
            // Skip what lies before the chunk.
            let rest = piece.get(start..).unwrap_or_default();
            start = start.saturating_sub(piece.len());
            let room = MAX_CHUNK as usize - chunk.len();
            chunk.extend_from_slice(&rest[..rest.len().min(room)]);
        }
        let next = position.checked_add(i64::try_from(chunk.len()).ok()?)?;
        (!chunk.is_empty()).then_some((next, chunk))
    }

    /// Receives the next chunk of an image. After the last one, the filter is replaced by the decoded image.
    pub(crate) fn load_chunk(
        &mut self,
        position: i64,
        chunk: &[u8],
        limits: Limits,
    ) -> Result<(), ChunkError> {
        let length = chunk.len() as u64;
        let outside = ChunkError::Outside {
            iterator: position,
            length,
        };
        let loading = self.loading.as_mut().ok_or(outside)?;
        let end = u64::try_from(position)
            .ok()
            .and_then(|end| end.checked_sub(1));
        let expected = (loading.bytes.len() as u64).checked_add(length);
        if length == 0 || end != expected || end.is_none_or(|end| end > loading.total) {
            return Err(outside);
        }
        if end < Some(loading.total) {
            loading
                .bytes
                .try_reserve(chunk.len())
                .map_err(|_| outside)?;
            loading.bytes.extend_from_slice(chunk);
            return Ok(());
        }
        // The filter stays unchanged if the image is invalid.
        let mut image = Vec::new();
        image
            .try_reserve_exact(loading.bytes.len() + chunk.len())
            .map_err(|_| outside)?;
        image.extend_from_slice(&loading.bytes);
        image.extend_from_slice(chunk);
        match image::decode(&image, limits) {
            Ok(Slot::Cuckoo(loaded)) => match *loaded {
                crate::AnyCuckoo::Native(loaded) => {
                    *self = loaded;
                    Ok(())
                }
                crate::AnyCuckoo::RedisBloom(_) => Err(outside),
            },
            _ => Err(outside),
        }
    }
}
