//! A Bloom filter in our own layout: of one size, growing, or forgetting.

use crate::bf::Added;
use mayhap_codec::redis::{BloomInfo, ChunkError, MAX_CHUNK, six_digits};
use mayhap_core::plan::{BloomPlan, GrowingPlan, WindowPlan};
use mayhap_core::{
    Bloom, Full, GrowingBloom, HashScheme, KeyHash, PlanError, Timestamp, WindowBloom,
};
use std::time::Duration;

/// How many items are hashed before any goes in.
const CHUNK: usize = 128;

/// A Bloom filter of the native layout.
#[derive(Clone, PartialEq, Debug)]
pub struct NativeBloom {
    pub(crate) kind: BloomKind,
    /// Items for which adding answered that they are new. A window counts by itself.
    pub(crate) items: u64,
    /// As asked for, and told back: growth has its own rule. 0 when it does not grow.
    pub(crate) expansion: u32,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum BloomKind {
    Fixed(Bloom),
    Growing(GrowingBloom),
    Window(WindowBloom),
}

/// What could not be merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Merged {
    /// One grows or forgets and the other does not.
    Kinds,
    Windows,
    Mismatch(mayhap_core::Mismatch),
}

impl NativeBloom {
    /// An empty filter; with an expansion of 0 it does not grow.
    pub(crate) fn reserve(
        error: f64,
        capacity: u64,
        expansion: u32,
        scheme: HashScheme,
        max_bytes: u64,
    ) -> Result<Self, PlanError> {
        let kind = if expansion == 0 {
            let plan = BloomPlan::new(capacity, error)?;
            check(plan.size_bytes(), max_bytes)?;
            BloomKind::Fixed(Bloom::from_plan(plan, scheme)?)
        } else {
            let plan = GrowingPlan::new(capacity, error)?;
            check(plan.layer(0)?.size_bytes(), max_bytes)?;
            BloomKind::Growing(GrowingBloom::from_plan(plan, scheme)?)
        };
        Ok(Self {
            kind,
            items: 0,
            expansion,
        })
    }

    /// An empty filter that remembers items for some seconds.
    pub(crate) fn window(
        error: f64,
        capacity: u64,
        seconds: u64,
        (scheme, now): (HashScheme, Timestamp),
        max_bytes: u64,
    ) -> Result<Self, PlanError> {
        let plan = WindowPlan::new(capacity, error, Duration::from_secs(seconds))?;
        let generations = u64::from(plan.slices()) + 1;
        let size_bytes = plan.layer(0)?.size_bytes().saturating_mul(generations);
        check(size_bytes, max_bytes)?;
        Ok(Self {
            kind: BloomKind::Window(WindowBloom::from_plan(plan, scheme, now)?),
            items: 0,
            expansion: 0,
        })
    }

    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        let kind = match &self.kind {
            BloomKind::Fixed(filter) => BloomKind::Fixed(filter.try_clone()?),
            BloomKind::Growing(filter) => BloomKind::Growing(filter.try_clone()?),
            BloomKind::Window(filter) => BloomKind::Window(filter.try_clone()?),
        };
        Ok(Self { kind, ..*self })
    }

    pub(crate) fn scheme(&self) -> HashScheme {
        match &self.kind {
            BloomKind::Fixed(filter) => filter.scheme(),
            BloomKind::Growing(filter) => filter.scheme(),
            BloomKind::Window(filter) => filter.scheme(),
        }
    }

    pub(crate) fn contains(&self, item: &[u8], now: Timestamp) -> bool {
        match &self.kind {
            BloomKind::Fixed(filter) => filter.contains(item),
            BloomKind::Growing(filter) => filter.contains(item),
            BloomKind::Window(filter) => filter.contains(item, now),
        }
    }

    pub(crate) fn contains_each(&self, items: &[&[u8]], now: Timestamp, found: &mut [bool]) {
        match &self.kind {
            BloomKind::Fixed(filter) => filter.contains_each(items, found),
            BloomKind::Growing(filter) => filter.contains_each(items, found),
            BloomKind::Window(filter) => filter.contains_each(items, now, found),
        }
    }

    /// `Ok(true)`: the item was surely new. Nothing is changed where it is refused.
    pub(crate) fn add(
        &mut self,
        item: &[u8],
        now: Timestamp,
        max_bytes: u64,
    ) -> Result<bool, Full> {
        let hash = self.scheme().hash(item);
        let new = match &mut self.kind {
            BloomKind::Fixed(filter) => {
                let capacity = filter.capacity();
                if self.items < capacity {
                    filter.insert_hash(hash)
                } else if filter.contains_hash(hash) {
                    false
                } else {
                    let keys = self.items;
                    return Err(Full::Table { keys, capacity });
                }
            }
            BloomKind::Growing(filter) => filter.try_insert_hash_within(hash, max_bytes)?,
            BloomKind::Window(filter) => {
                return filter.try_insert_hash_within(hash, now, max_bytes);
            }
        };
        self.items = self.items.saturating_add(u64::from(new));
        Ok(new)
    }

    pub(crate) fn add_each(&mut self, items: &[&[u8]], now: Timestamp, max_bytes: u64) -> Added {
        let mut max_bytes = max_bytes;
        let mut added = Added::for_items(items.len());
        for items in items.chunks(CHUNK) {
            if self.has_room_for(items.len() as u64) {
                self.add_chunk(items, &mut added);
                continue;
            }
            for item in items {
                let answer = self.add(item, now, max_bytes);
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

    /// Whether so many items fit for certain, without growing.
    pub(crate) fn has_room_for(&self, items: u64) -> bool {
        match &self.kind {
            BloomKind::Fixed(filter) => self.items.saturating_add(items) <= filter.capacity(),
            BloomKind::Growing(filter) => items <= filter.keys_until_growth(),
            BloomKind::Window(_) => false,
        }
    }

    fn add_chunk(&mut self, items: &[&[u8]], added: &mut Added) {
        let scheme = self.scheme();
        let mut hashes = [KeyHash::from_u64(0); CHUNK];
        for (hash, item) in hashes.iter_mut().zip(items) {
            *hash = scheme.hash(item);
        }
        let hashes = &hashes[..items.len()];
        let is_new = added.more(items.len());
        match &mut self.kind {
            BloomKind::Fixed(filter) => filter.insert_hashes_reporting_new(hashes, is_new),
            BloomKind::Growing(filter) => filter.insert_hashes_reporting_new(hashes, is_new),
            BloomKind::Window(_) => {}
        }
        let new = is_new.iter().filter(|&&new| new).count() as u64;
        self.items = self.items.saturating_add(new);
    }

    /// All layers, the oldest first; of a window, generation by generation.
    pub(crate) fn layers(&self) -> Vec<&Bloom> {
        match &self.kind {
            BloomKind::Fixed(filter) => vec![filter],
            BloomKind::Growing(filter) => filter.layers().collect(),
            BloomKind::Window(filter) => {
                let generations = filter.generations();
                generations.flat_map(|(_, _, layers)| layers).collect()
            }
        }
    }

    pub(crate) fn is_window(&self) -> bool {
        matches!(self.kind, BloomKind::Window(_))
    }

    /// Bytes of memory, its own fields included.
    pub(crate) fn size_bytes(&self) -> u64 {
        let (bits, layers) = match &self.kind {
            BloomKind::Fixed(filter) => (filter.size_bytes(), 0),
            BloomKind::Growing(filter) => (filter.size_bytes(), filter.layer_count()),
            BloomKind::Window(filter) => {
                let layers = filter.generations().map(|(_, _, layers)| layers.len());
                (filter.size_bytes(), layers.sum())
            }
        };
        (size_of::<Self>() + layers * size_of::<Bloom>()) as u64 + bits
    }

    pub(crate) fn info(&self, now: Timestamp) -> BloomInfo {
        let (capacity, layers, items) = match &self.kind {
            BloomKind::Fixed(filter) => (filter.capacity(), 1, self.items),
            BloomKind::Growing(filter) => {
                (filter.capacity(), filter.layer_count() as u64, self.items)
            }
            BloomKind::Window(filter) => {
                let layers = filter
                    .generations()
                    .map(|(_, _, layers)| layers.len() as u64);
                (filter.capacity(), layers.sum(), filter.counted_keys(now))
            }
        };
        BloomInfo {
            capacity,
            size_bytes: self.size_bytes(),
            layers,
            items,
            expansion: Some(self.expansion).filter(|&expansion| expansion != 0),
        }
    }

    /// The lines of `BF.DEBUG`: all items, and each layer with those in it.
    pub(crate) fn debug_lines(&self) -> Vec<String> {
        let counts: Vec<u64> = match &self.kind {
            BloomKind::Fixed(_) => vec![self.items],
            BloomKind::Growing(filter) => counts(filter.layers(), filter.keys_in_newest()),
            BloomKind::Window(filter) => filter
                .generations()
                .flat_map(|(_, in_newest, layers)| counts(layers.iter(), in_newest))
                .collect(),
        };
        let items = match &self.kind {
            BloomKind::Window(_) => counts.iter().fold(0, |sum: u64, n| sum.saturating_add(*n)),
            _ => self.items,
        };
        let layers = self.layers().into_iter().zip(counts).map(|(layer, count)| {
            let plan = layer.plan();
            format!(
                "bytes:{} bits:{} hashes:{} hashwidth:64 capacity:{} size:{count} ratio:{}",
                plan.size_bytes(),
                plan.size_bits(),
                plan.probes(),
                plan.capacity(),
                six_digits(plan.false_positive_rate())
            )
        });
        std::iter::once(format!("size:{items}"))
            .chain(layers)
            .collect()
    }

    /// The answer of `BF.SCANDUMP` after the header: the rest of the layer that the iterator falls into.
    pub(crate) fn scan(&self, iterator: i64) -> Option<(i64, Vec<u8>)> {
        let mut start = u64::try_from(iterator).ok()?.checked_sub(1)?;
        for layer in self.layers() {
            let size_bytes = layer.size_bytes();
            if start < size_bytes {
                let end = size_bytes.min(start + MAX_CHUNK);
                let chunk = layer.bytes()[start as usize..end as usize].to_vec();
                return Some((iterator.checked_add((end - start).cast_signed())?, chunk));
            }
            start -= size_bytes;
        }
        None
    }

    pub(crate) fn load_chunk(&mut self, iterator: i64, chunk: &[u8]) -> Result<(), ChunkError> {
        let length = chunk.len() as u64;
        let end = u64::try_from(iterator).ok();
        let end = end.filter(|&end| end > 0 && end >= length);
        let end = end.ok_or(ChunkError::Iterator { iterator, length })?;
        let outside = ChunkError::Outside { iterator, length };
        let mut start = (end - length).checked_sub(1).ok_or(outside)?;
        let sizes: Vec<u64> = self
            .layers()
            .iter()
            .map(|layer| layer.size_bytes())
            .collect();
        for (number, size_bytes) in sizes.into_iter().enumerate() {
            if start >= size_bytes {
                start -= size_bytes;
                continue;
            }
            let left = size_bytes - start;
            if length > left {
                return Err(ChunkError::TooLong { length, left });
            }
            let written = match &mut self.kind {
                BloomKind::Fixed(filter) => filter.overwrite(start, chunk),
                BloomKind::Growing(filter) => filter.overwrite(number, start, chunk),
                BloomKind::Window(filter) => filter.overwrite(number, start, chunk),
            };
            return written.map_err(|_| outside);
        }
        Err(outside)
    }

    /// Whether [`union_with`](Self::union_with) takes the other.
    pub(crate) fn check_union(&self, other: &Self) -> Result<(), Merged> {
        let checked = match (&self.kind, &other.kind) {
            (BloomKind::Fixed(ours), BloomKind::Fixed(theirs)) => ours.check_union(theirs),
            (BloomKind::Growing(ours), BloomKind::Growing(theirs)) => ours.check_union(theirs),
            (BloomKind::Window(_), BloomKind::Window(_)) => return Err(Merged::Windows),
            _ => return Err(Merged::Kinds),
        };
        checked.map_err(Merged::Mismatch)
    }

    /// Makes this filter hold the items of both. Nothing is changed where that is refused.
    pub(crate) fn union_with(&mut self, other: &Self) -> Result<(), Merged> {
        match (&mut self.kind, &other.kind) {
            (BloomKind::Fixed(ours), BloomKind::Fixed(theirs)) => {
                ours.union_with(theirs).map_err(Merged::Mismatch)?;
            }
            (BloomKind::Growing(ours), BloomKind::Growing(theirs)) => {
                ours.union_with(theirs).map_err(Merged::Mismatch)?;
            }
            (BloomKind::Window(_), BloomKind::Window(_)) => return Err(Merged::Windows),
            _ => return Err(Merged::Kinds),
        }
        // What both have is counted once, as far as the bits tell.
        let estimated = match &self.kind {
            BloomKind::Fixed(filter) => filter.estimated_keys(),
            BloomKind::Growing(filter) => filter.estimated_keys(),
            BloomKind::Window(_) => 0,
        };
        let least = self.items.max(other.items);
        let most = self.items.saturating_add(other.items);
        self.items = estimated.clamp(least, most);
        Ok(())
    }
}

/// How many items are in each layer: older ones are full.
fn counts<'f>(layers: impl ExactSizeIterator<Item = &'f Bloom>, in_newest: u64) -> Vec<u64> {
    let mut counts: Vec<u64> = layers.map(Bloom::capacity).collect();
    if let Some(newest) = counts.last_mut() {
        *newest = in_newest;
    }
    counts
}

/// Refuses what would take more than allowed, as if the memory were not there.
pub(super) fn check(size_bytes: u64, max_bytes: u64) -> Result<(), PlanError> {
    if size_bytes > max_bytes {
        return Err(PlanError::OutOfMemory { size_bytes });
    }
    Ok(())
}
