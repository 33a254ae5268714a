//! A cuckoo filter of the native layout.

use super::bloom::check_size;
use super::cuckoo_kind::CuckooKind;
use super::growing_set;
use super::partial_image::{self, PartialImage};
use crate::image;
use crate::{AnyCuckoo, Limits, Slot};
use mayhap_codec::redis::{ChunkError, CuckooInfo};
use mayhap_core::plan::{CuckooPlan, GrowingPlan};
use mayhap_core::{Cuckoo, Full, HashScheme, KeyHash, PlanError};

/// How many items are hashed before the first is inserted.
const CHUNK: usize = 128;

/// A cuckoo filter of the native layout.
#[derive(Clone, PartialEq, Debug)]
pub struct NativeCuckoo {
    pub(crate) filter: CuckooKind,
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

impl NativeCuckoo {
    /// An empty filter for a known number of items; one with an expansion of 0 does not grow.
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
            CuckooKind::Tables(Cuckoo::from_plan(plan, scheme)?)
        } else {
            let plan = GrowingPlan::new(capacity, error)?;
            check_size(plan.cuckoo_table(0)?.size_bytes(), max_bytes)?;
            CuckooKind::Tables(Cuckoo::growing_from_plan(plan, scheme)?)
        };
        Ok(Self::empty(filter, parameters))
    }

    /// An empty filter for an unknown number of items; one with an expansion of 0 does not grow.
    pub(crate) fn growing(
        capacity: u64,
        error: f64,
        parameters: CuckooParameters,
        scheme: HashScheme,
        max_bytes: u64,
    ) -> Result<Self, PlanError> {
        let grows = parameters.expansion != 0;
        let filter = grows.then(|| growing_set::create(capacity, error, scheme, max_bytes));
        let Some(filter) = filter.transpose()?.flatten() else {
            return Self::reserve(capacity, error, parameters, scheme, max_bytes);
        };
        Ok(Self::empty(CuckooKind::Growing(filter), parameters))
    }

    fn empty(filter: CuckooKind, parameters: CuckooParameters) -> Self {
        // As RedisBloom reports it.
        let expansion = match parameters.expansion {
            0 => 0,
            expansion => expansion.checked_next_power_of_two().unwrap_or(u16::MAX),
        };
        Self {
            filter,
            removed: 0,
            parameters: CuckooParameters {
                expansion,
                ..parameters
            },
            loading: None,
        }
    }

    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        let loading = self.loading.as_ref().map(PartialImage::try_clone);
        Ok(Self {
            filter: self.filter.try_clone()?,
            loading: loading.transpose()?,
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
        let is_added = self.filter.add(hash, if_absent, max_bytes)?;
        if is_added {
            // Loading the rest of an image would drop the item.
            self.loading = None;
        }
        Ok(is_added)
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
        self.filter.tables()
    }

    pub(crate) fn info(&self) -> CuckooInfo {
        CuckooInfo {
            size_bytes: self.size_bytes(),
            buckets: self
                .filter
                .cells()
                .div_ceil(u64::from(self.parameters.bucket_size).max(1)),
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
        let image = image::cuckoo_parts(self, true);
        if position == 0 {
            let total = image.iter().map(|part| part.len() as u64).sum();
            return Some((1, image::cuckoo_loading_header(self, total)));
        }
        partial_image::scan(&image, position)
    }

    /// Receives the next chunk of an image. After the last one, the filter is replaced by the decoded image.
    pub(crate) fn load_chunk(
        &mut self,
        position: i64,
        chunk: &[u8],
        limits: Limits,
    ) -> Result<(), ChunkError> {
        let outside = ChunkError::Outside {
            iterator: position,
            length: chunk.len() as u64,
        };
        let loading = self.loading.as_mut().ok_or(outside)?;
        match loading.receive(position, chunk, limits)? {
            None => Ok(()),
            Some(Slot::Cuckoo(loaded)) => match *loaded {
                AnyCuckoo::Native(loaded) => {
                    *self = loaded;
                    Ok(())
                }
                AnyCuckoo::RedisBloom(_) => Err(outside),
            },
            Some(_) => Err(outside),
        }
    }
}
