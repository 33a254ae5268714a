//! A cuckoo filter in our own layout.

use super::bloom::check;
use crate::image;
use crate::{Limits, Slot};
use mayhap_codec::redis::{ChunkError, CuckooInfo, MAX_CHUNK};
use mayhap_core::plan::{CuckooPlan, GrowingPlan};
use mayhap_core::{Cuckoo, Full, HashScheme, KeyHash, PlanError, zeroed_bytes};

/// How many items are hashed before any goes in.
const CHUNK: usize = 128;

/// A cuckoo filter of the native layout.
#[derive(Clone, PartialEq, Debug)]
pub struct NativeCuckoo {
    pub(crate) filter: Cuckoo,
    /// Items removed since the filter was made or compacted.
    pub(crate) removed: u64,
    pub(crate) asked: Asked,
    pub(crate) staged: Option<Staged>,
}

/// What was asked for and is told back. Buckets and iterations mean nothing here; an expansion of 0 does not grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Asked {
    pub(crate) bucket_size: u8,
    pub(crate) max_iterations: u16,
    pub(crate) expansion: u16,
}

/// The image of the filter that this one is to become, as far as it was loaded. Cells cannot be put in piece by piece: what is
/// in one says where others may be.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Staged {
    pub(crate) total: u64,
    /// Fewer than the total.
    pub(crate) bytes: Vec<u8>,
}

impl NativeCuckoo {
    /// An empty filter.
    pub(crate) fn reserve(
        capacity: u64,
        error: f64,
        asked: Asked,
        scheme: HashScheme,
        max_bytes: u64,
    ) -> Result<Self, PlanError> {
        let filter = if asked.expansion == 0 {
            let plan = CuckooPlan::new(capacity, error)?;
            check(plan.size_bytes(), max_bytes)?;
            Cuckoo::from_plan(plan, scheme)?
        } else {
            let plan = GrowingPlan::new(capacity, error)?;
            check(plan.cuckoo_table(0)?.size_bytes(), max_bytes)?;
            Cuckoo::growing_from_plan(plan, scheme)?
        };
        // As RedisBloom tells it back.
        let expansion = match asked.expansion {
            0 => 0,
            asked => asked.checked_next_power_of_two().unwrap_or(u16::MAX),
        };
        Ok(Self {
            filter,
            removed: 0,
            asked: Asked { expansion, ..asked },
            staged: None,
        })
    }

    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        let staged = match &self.staged {
            None => None,
            Some(Staged { total, bytes }) => {
                let mut copy = zeroed_bytes(bytes.len() as u64)?;
                copy.copy_from_slice(bytes);
                Some(Staged {
                    total: *total,
                    bytes: copy,
                })
            }
        };
        Ok(Self {
            filter: self.filter.try_clone()?,
            staged,
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

    /// Puts an item in, or only if it looks absent; `Ok(false)` when it does not. Nothing is changed where it is refused.
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
        // What is to come would take it away again.
        self.staged = None;
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
            // Asked for together, the cells are at hand when the items go in one by one.
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

    /// There is nothing to be moved: tables that became empty are gone already, and what is in an older one must stay there for
    /// removals to be right.
    pub(crate) fn compact(&mut self) {
        self.removed = 0;
    }

    /// Bytes of memory, its own fields included.
    pub(crate) fn size_bytes(&self) -> u64 {
        let staged = self.staged.as_ref().map_or(0, |staged| staged.bytes.len());
        (size_of::<Self>() + staged) as u64 + self.filter.size_bytes()
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
            buckets: cells.div_ceil(u64::from(self.asked.bucket_size).max(1)),
            tables: self.tables(),
            items: self.filter.estimated_keys(),
            deleted: self.removed,
            bucket_size: self.asked.bucket_size,
            expansion: self.asked.expansion,
            max_iterations: self.asked.max_iterations,
        }
    }

    /// The answer of `CF.SCANDUMP`: a header, then the image of the filter in pieces. Nothing of an empty filter, as RedisBloom.
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
            // What lies before the chunk is stepped over.
            let rest = piece.get(start..).unwrap_or_default();
            start = start.saturating_sub(piece.len());
            let room = MAX_CHUNK as usize - chunk.len();
            chunk.extend_from_slice(&rest[..rest.len().min(room)]);
        }
        let next = position.checked_add(i64::try_from(chunk.len()).ok()?)?;
        (!chunk.is_empty()).then_some((next, chunk))
    }

    /// Takes the next piece of the image; with the last one the filter becomes what the image says.
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
        let staged = self.staged.as_mut().ok_or(outside)?;
        let end = u64::try_from(position)
            .ok()
            .and_then(|end| end.checked_sub(1));
        let expected = (staged.bytes.len() as u64).checked_add(length);
        if length == 0 || end != expected || end.is_none_or(|end| end > staged.total) {
            return Err(outside);
        }
        if end < Some(staged.total) {
            staged.bytes.try_reserve(chunk.len()).map_err(|_| outside)?;
            staged.bytes.extend_from_slice(chunk);
            return Ok(());
        }
        // It stays as it was when the whole is no filter.
        let mut image = Vec::new();
        image
            .try_reserve_exact(staged.bytes.len() + chunk.len())
            .map_err(|_| outside)?;
        image.extend_from_slice(&staged.bytes);
        image.extend_from_slice(chunk);
        match image::decode(&image, limits) {
            Ok(Slot::Cuckoo(loaded)) => match *loaded {
                crate::Cuckoo::Native(loaded) => {
                    *self = loaded;
                    Ok(())
                }
                crate::Cuckoo::RedisBloom(_) => Err(outside),
            },
            _ => Err(outside),
        }
    }
}
