//! A filter of a Bloom key in the native layout: of fixed size, growing, or with a window.

use super::growing_set::{self, GrowingSet};
use super::partial_image;
use super::window_set::WindowSet;
use crate::bf::BatchAdded;
use crate::{AnyBloom, Limits, Slot, image};
use mayhap_codec::redis::{BloomInfo, ChunkError, MAX_CHUNK, six_digits};
use mayhap_core::plan::{BloomPlan, GrowingPlan, WindowPlan};
use mayhap_core::{
    Bloom, Full, GrowingBloom, HashScheme, KeyHash, PlanError, Timestamp, WindowBloom,
};
use std::time::Duration;

/// How many items are hashed before the first is inserted.
const CHUNK: usize = 128;

/// A Bloom filter of the native layout.
#[derive(Clone, PartialEq, Debug)]
pub struct NativeBloom {
    pub(crate) kind: BloomKind,
    /// Items that were new when they were added; 0 if the filter counts its items itself, as windows and growing sets do.
    pub(crate) items: u64,
    /// As requested, and reported by `BF.INFO`; growth itself follows another rule. 0 if the filter does not grow.
    pub(crate) expansion: u32,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum BloomKind {
    Fixed(Bloom),
    /// A chain of layers, whose first one is for the reserved capacity.
    Growing(GrowingBloom),
    /// A ring of Bloom filters: of keys that older versions created, and of rates that are too strict for a window set.
    Window(WindowBloom),
    /// For an unknown number of items.
    GrowingSet(GrowingSet),
    WindowSet(Box<WindowSet>),
}

/// Why two filters cannot be merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MergeError {
    /// The filters are of different kinds.
    Kinds,
    /// Both grow: one is a chain of layers, and the other is not.
    Growth,
    Windows,
    Mismatch(mayhap_core::Mismatch),
}

impl NativeBloom {
    /// An empty filter for a known number of items; one with an expansion of 0 does not grow.
    pub(crate) fn reserve(
        error: f64,
        capacity: u64,
        expansion: u32,
        scheme: HashScheme,
        max_bytes: u64,
    ) -> Result<Self, PlanError> {
        let kind = if expansion == 0 {
            let plan = BloomPlan::new(capacity, error)?;
            check_size(plan.size_bytes(), max_bytes)?;
            BloomKind::Fixed(Bloom::from_plan(plan, scheme)?)
        } else {
            let plan = GrowingPlan::new(capacity, error)?;
            check_size(plan.layer(0)?.size_bytes(), max_bytes)?;
            BloomKind::Growing(GrowingBloom::from_plan(plan, scheme)?)
        };
        Ok(Self {
            kind,
            items: 0,
            expansion,
        })
    }

    /// An empty filter for an unknown number of items; one with an expansion of 0 does not grow.
    pub(crate) fn growing(
        error: f64,
        capacity: u64,
        expansion: u32,
        scheme: HashScheme,
        max_bytes: u64,
    ) -> Result<Self, PlanError> {
        let grows = expansion != 0;
        let set = grows.then(|| growing_set::create(capacity, error, scheme, max_bytes));
        let Some(filter) = set.transpose()?.flatten() else {
            return Self::reserve(error, capacity, expansion, scheme, max_bytes);
        };
        Ok(Self {
            kind: BloomKind::GrowingSet(GrowingSet::new(filter, None)),
            items: 0,
            expansion,
        })
    }

    /// An empty filter that forgets items after some seconds.
    pub(crate) fn window(
        error: f64,
        capacity: u64,
        seconds: u64,
        (scheme, now): (HashScheme, Timestamp),
        max_bytes: u64,
    ) -> Result<Self, PlanError> {
        let window = Duration::from_secs(seconds);
        if let Some(set) = WindowSet::reserve(capacity, error, window, (scheme, now), max_bytes)? {
            return Ok(Self {
                kind: BloomKind::WindowSet(Box::new(set)),
                items: 0,
                expansion: 0,
            });
        }
        let plan = WindowPlan::new(capacity, error, window)?;
        let generations = u64::from(plan.slices()) + 1;
        let size_bytes = plan.layer(0)?.size_bytes().saturating_mul(generations);
        check_size(size_bytes, max_bytes)?;
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
            BloomKind::GrowingSet(set) => BloomKind::GrowingSet(set.try_clone()?),
            BloomKind::WindowSet(set) => BloomKind::WindowSet(Box::new(set.try_clone()?)),
        };
        Ok(Self { kind, ..*self })
    }

    pub(crate) fn scheme(&self) -> HashScheme {
        match &self.kind {
            BloomKind::Fixed(filter) => filter.scheme(),
            BloomKind::Growing(filter) => filter.scheme(),
            BloomKind::Window(filter) => filter.scheme(),
            BloomKind::GrowingSet(set) => set.filter.scheme(),
            BloomKind::WindowSet(set) => set.filter.scheme(),
        }
    }

    pub(crate) fn contains(&self, item: &[u8], now: Timestamp) -> bool {
        match &self.kind {
            BloomKind::Fixed(filter) => filter.contains(item),
            BloomKind::Growing(filter) => filter.contains(item),
            BloomKind::Window(filter) => filter.contains(item, now),
            BloomKind::GrowingSet(set) => set.filter.contains(item),
            BloomKind::WindowSet(set) => set.filter.contains(item, now),
        }
    }

    pub(crate) fn contains_each(&self, items: &[&[u8]], now: Timestamp, found: &mut [bool]) {
        match &self.kind {
            BloomKind::Fixed(filter) => filter.contains_each(items, found),
            BloomKind::Growing(filter) => filter.contains_each(items, found),
            BloomKind::Window(filter) => filter.contains_each(items, now, found),
            BloomKind::GrowingSet(set) => set.filter.contains_each(items, found),
            BloomKind::WindowSet(set) => set.filter.contains_each(items, now, found),
        }
    }

    /// `Ok(true)`: the item was definitely new. An error leaves the filter unchanged.
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
            BloomKind::GrowingSet(set) => return set.add(hash, max_bytes),
            BloomKind::WindowSet(set) => return set.add(hash, now, max_bytes),
        };
        self.items = self.items.saturating_add(u64::from(new));
        Ok(new)
    }

    pub(crate) fn add_each(
        &mut self,
        items: &[&[u8]],
        now: Timestamp,
        max_bytes: u64,
    ) -> BatchAdded {
        match &mut self.kind {
            BloomKind::GrowingSet(set) => return set.add_each(items, max_bytes),
            BloomKind::WindowSet(set) => return set.add_each(items, now, max_bytes),
            BloomKind::Fixed(_) | BloomKind::Growing(_) | BloomKind::Window(_) => {}
        }
        let mut max_bytes = max_bytes;
        let mut added = BatchAdded::for_items(items.len());
        for items in items.chunks(CHUNK) {
            if self.has_room_for(items.len() as u64) {
                self.add_chunk(items, &mut added);
                continue;
            }
            for item in items {
                let result = self.add(item, now, max_bytes);
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

    /// Whether this number of items definitely fits without growing.
    pub(crate) fn has_room_for(&self, items: u64) -> bool {
        match &self.kind {
            BloomKind::Fixed(filter) => self.items.saturating_add(items) <= filter.capacity(),
            BloomKind::Growing(filter) => items <= filter.keys_until_growth(),
            BloomKind::Window(_) | BloomKind::WindowSet(_) => false,
            BloomKind::GrowingSet(set) => items <= set.filter.keys_until_growth(),
        }
    }

    fn add_chunk(&mut self, items: &[&[u8]], added: &mut BatchAdded) {
        let scheme = self.scheme();
        let mut hashes = [KeyHash::from_u64(0); CHUNK];
        for (hash, item) in hashes.iter_mut().zip(items) {
            *hash = scheme.hash(item);
        }
        let hashes = &hashes[..items.len()];
        let is_new = added.extend(items.len());
        match &mut self.kind {
            BloomKind::Fixed(filter) => filter.insert_hashes_reporting_new(hashes, is_new),
            BloomKind::Growing(filter) => filter.insert_hashes_reporting_new(hashes, is_new),
            BloomKind::Window(_) | BloomKind::GrowingSet(_) | BloomKind::WindowSet(_) => {}
        }
        let new = is_new.iter().filter(|&&new| new).count() as u64;
        self.items = self.items.saturating_add(new);
    }

    /// All layers, the oldest first; for a window filter, generation by generation. Sets have none.
    pub(crate) fn layers(&self) -> Vec<&Bloom> {
        match &self.kind {
            BloomKind::Fixed(filter) => vec![filter],
            BloomKind::Growing(filter) => filter.layers().collect(),
            BloomKind::Window(filter) => {
                let generations = filter.generations();
                generations.flat_map(|(_, _, layers)| layers).collect()
            }
            BloomKind::GrowingSet(_) | BloomKind::WindowSet(_) => Vec::new(),
        }
    }

    fn growing_set(&self) -> Option<&GrowingSet> {
        match &self.kind {
            BloomKind::GrowingSet(set) => Some(set),
            BloomKind::Fixed(_)
            | BloomKind::Growing(_)
            | BloomKind::Window(_)
            | BloomKind::WindowSet(_) => None,
        }
    }

    /// Whether it is copied and loaded as an image, and not layer by layer.
    fn is_set(&self) -> bool {
        match &self.kind {
            BloomKind::GrowingSet(_) | BloomKind::WindowSet(_) => true,
            BloomKind::Fixed(_) | BloomKind::Growing(_) | BloomKind::Window(_) => false,
        }
    }

    pub(crate) fn is_loading(&self) -> bool {
        match &self.kind {
            BloomKind::GrowingSet(set) => set.loading.is_some(),
            BloomKind::WindowSet(set) => set.loading.is_some(),
            BloomKind::Fixed(_) | BloomKind::Growing(_) | BloomKind::Window(_) => false,
        }
    }

    pub(crate) fn is_window(&self) -> bool {
        matches!(self.kind, BloomKind::Window(_) | BloomKind::WindowSet(_))
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
            BloomKind::GrowingSet(set) => (set.size_bytes(), 0),
            BloomKind::WindowSet(set) => (set.size_bytes(), 0),
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
            BloomKind::GrowingSet(GrowingSet { filter, .. }) => {
                let tables = filter.keys_in_tables().len() as u64;
                let capacity = growing_set::capacity(filter);
                (capacity, tables, filter.estimated_keys())
            }
            BloomKind::WindowSet(set) => {
                let filter = &set.filter;
                let tables = filter.tables().len() as u64;
                (filter.capacity(), tables, filter.counted_keys(now))
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

    /// The lines of `BF.DEBUG`: the number of items, then one line per layer or table.
    pub(crate) fn debug_lines(&self) -> Vec<String> {
        let first_line = |items: u64| std::iter::once(format!("size:{items}"));
        let counts: Vec<u64> = match &self.kind {
            BloomKind::Fixed(_) => vec![self.items],
            BloomKind::Growing(filter) => counts(filter.layers(), filter.keys_in_newest()),
            BloomKind::Window(filter) => filter
                .generations()
                .flat_map(|(_, in_newest, layers)| counts(layers.iter(), in_newest))
                .collect(),
            BloomKind::GrowingSet(set) => {
                let items = set.filter.estimated_keys();
                return first_line(items).chain(set.debug_lines()).collect();
            }
            BloomKind::WindowSet(set) => {
                let items = set.filter.counted_keys(set.filter.newest());
                return first_line(items).chain(set.debug_lines()).collect();
            }
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
        first_line(items).chain(layers).collect()
    }

    /// The chunk that `BF.SCANDUMP` replies with: the header, then the rest of the layer at the iterator. For a set, the image in
    /// chunks.
    pub(crate) fn scan(&self, iterator: i64) -> Option<(i64, Vec<u8>)> {
        if self.is_set() {
            let image = image::bloom_parts(self, true);
            if iterator == 0 {
                let total = image.iter().map(|part| part.len() as u64).sum();
                return Some((1, image::bloom_loading_header(self, total)));
            }
            return partial_image::scan(&image, iterator);
        }
        if iterator == 0 {
            return Some((1, image::bloom_header(self)));
        }
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

    pub(crate) fn load_chunk(
        &mut self,
        iterator: i64,
        chunk: &[u8],
        limits: Limits,
    ) -> Result<(), ChunkError> {
        let length = chunk.len() as u64;
        let end = u64::try_from(iterator).ok();
        let end = end.filter(|&end| end > 0 && end >= length);
        let end = end.ok_or(ChunkError::Iterator { iterator, length })?;
        let outside = ChunkError::Outside { iterator, length };
        let loading = match &mut self.kind {
            BloomKind::GrowingSet(set) => Some(&mut set.loading),
            BloomKind::WindowSet(set) => Some(&mut set.loading),
            BloomKind::Fixed(_) | BloomKind::Growing(_) | BloomKind::Window(_) => None,
        };
        if let Some(loading) = loading {
            let loading = loading.as_mut().ok_or(outside)?;
            return match loading.receive(iterator, chunk, limits)? {
                None => Ok(()),
                Some(Slot::Bloom(loaded)) => match *loaded {
                    AnyBloom::Native(loaded) => {
                        *self = loaded;
                        Ok(())
                    }
                    AnyBloom::RedisBloom(_) => Err(outside),
                },
                Some(_) => Err(outside),
            };
        }
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
                // They have no layers.
                BloomKind::GrowingSet(_) | BloomKind::WindowSet(_) => return Err(outside),
            };
            return written.map_err(|_| outside);
        }
        Err(outside)
    }

    /// Whether [`union_with`](Self::union_with) accepts the other filter.
    pub(crate) fn check_union(&self, other: &Self) -> Result<(), MergeError> {
        let checked = match (&self.kind, &other.kind) {
            (BloomKind::Fixed(ours), BloomKind::Fixed(theirs)) => ours.check_union(theirs),
            (BloomKind::Growing(ours), BloomKind::Growing(theirs)) => ours.check_union(theirs),
            (BloomKind::GrowingSet(ours), BloomKind::GrowingSet(theirs)) => {
                ours.filter.check_union(&theirs.filter)
            }
            _ if self.is_window() && other.is_window() => return Err(MergeError::Windows),
            (BloomKind::Growing(_), BloomKind::GrowingSet(_))
            | (BloomKind::GrowingSet(_), BloomKind::Growing(_)) => return Err(MergeError::Growth),
            _ => return Err(MergeError::Kinds),
        };
        checked.map_err(MergeError::Mismatch)
    }

    /// A growing set with the items of others in addition; `None` if this is no growing set.
    pub(crate) fn union_of(
        &self,
        others: &[&Self],
        max_bytes: u64,
    ) -> Option<Result<Self, MergeError>> {
        let sets = others.iter().filter_map(|other| other.growing_set());
        let union = self.growing_set()?.union_of(sets, max_bytes);
        let union = union.map(|union| Self {
            kind: BloomKind::GrowingSet(union),
            ..*self
        });
        Some(union.map_err(MergeError::Mismatch))
    }

    /// Adds the items of the other filter, of the same kind but no growing set. An error leaves this filter unchanged.
    pub(crate) fn union_with(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.is_window() && other.is_window() {
            return Err(MergeError::Windows);
        }
        match (&mut self.kind, &other.kind) {
            (BloomKind::Fixed(ours), BloomKind::Fixed(theirs)) => {
                ours.union_with(theirs).map_err(MergeError::Mismatch)?;
            }
            (BloomKind::Growing(ours), BloomKind::Growing(theirs)) => {
                ours.union_with(theirs).map_err(MergeError::Mismatch)?;
            }
            _ => return Err(MergeError::Kinds),
        }
        // Items that are in both filters are counted once, as far as the bits allow an estimate.
        let estimated = match &self.kind {
            BloomKind::Fixed(filter) => filter.estimated_keys(),
            BloomKind::Growing(filter) => filter.estimated_keys(),
            BloomKind::Window(_) | BloomKind::GrowingSet(_) | BloomKind::WindowSet(_) => 0,
        };
        let min = self.items.max(other.items);
        let max = self.items.saturating_add(other.items);
        self.items = estimated.clamp(min, max);
        Ok(())
    }
}

/// The number of items in each layer: all but the newest are full.
fn counts<'f>(layers: impl ExactSizeIterator<Item = &'f Bloom>, in_newest: u64) -> Vec<u64> {
    let mut counts: Vec<u64> = layers.map(Bloom::capacity).collect();
    if let Some(newest) = counts.last_mut() {
        *newest = in_newest;
    }
    counts
}

/// Reports more memory than allowed as if it were not available.
pub(super) fn check_size(size_bytes: u64, max_bytes: u64) -> Result<(), PlanError> {
    if size_bytes > max_bytes {
        return Err(PlanError::OutOfMemory { size_bytes });
    }
    Ok(())
}
