//! One table of a filter that grows in place: it stores slices of hashes exactly, and grows in small steps.
//!
//! When the keys are 85 % of the windows, a *sweep* begins: group after group is rewritten in the next, larger shape, a group for
//! every few hundred inserts, until all have moved when the keys are 88 %. So no insert takes long, and no two complete tables exist
//! at the same time. Which groups have moved depends on the number of inserted keys only, so equal sequences of operations give equal
//! bytes.
//!
//! A slice that finds no cell goes to the *stash*, an exact map that lookups read only if it is not empty. At this load that
//! happens for none in ten million keys, unless the keys arrive in the order of their hashes or an attacker chooses them: then the
//! filter becomes a hash table, larger but not wrong. Every sweep empties the stash again, as far as the new cells allow.
//!
//! Cells may have a *payload* of a few bits, which moves with its slice. In such a table every slice is stored once, and the stash
//! has its payload plus 1 in place of its copies. In a table that counts, payloads are counters (`counters.rs`).

mod counters;
mod expiry;
mod parts;
#[cfg(test)]
mod payload_tests;

pub use parts::SliceTableParts;

use super::slice_entry::{SliceEntry, StoredSlice, UnpackedCells};
use crate::probe::slice::{SliceShape, place};
use crate::simd::{SliceAnswer, SliceCells, for_each_slice};
use crate::store::Multiset;
use crate::{Full, Kernel, KeyHash, PlanError};
use alloc::vec::Vec;
use core::hint::select_unpredictable;
use counters::Counters;

/// How many keys of a batch are looked up together, during a sweep.
const CHUNK: usize = 1024;

/// The maximum number of copies of one slice.
pub(super) const MAX_COPIES: u64 = 2;

/// With so many slices in the stash, some group is overfull, and moving slices inside of it is futile.
const CROWDED: u64 = 64;

/// A multiset of slices.
#[derive(Clone)]
pub(super) struct SliceTable {
    cells: SliceCells,
    /// The larger cells to which groups move, during a sweep.
    next: Option<SliceCells>,
    /// How many groups of `cells` have moved.
    moved: u64,
    /// Whether all slices are in `cells`: no sweep, no stash. Lookups test this instead of both.
    is_plain: bool,
    /// Cells and stashed slices, copies included.
    keys: u64,
    /// How many of these are copies of another.
    copies: u64,
    /// Slices without a cell, as `number` makes them, with their copies.
    stash: Multiset,
    /// Only in a table whose payloads are counters.
    counters: Option<Counters>,
}

impl SliceTable {
    /// An empty table of a given shape.
    pub(super) fn with_shape(shape: SliceShape) -> Result<Self, PlanError> {
        Ok(Self::from_cells(SliceCells::zeroed(shape)?))
    }

    /// An empty table.
    pub(super) fn new(slice_bits: u32, payload_bits: u32) -> Result<Self, PlanError> {
        Self::with_shape(SliceShape::for_keys(slice_bits, payload_bits, 0))
    }

    fn from_cells(cells: SliceCells) -> Self {
        Self {
            cells,
            next: None,
            moved: 0,
            is_plain: true,
            keys: 0,
            copies: 0,
            stash: Multiset::default(),
            counters: None,
        }
    }

    pub(super) fn try_clone(&self) -> Result<Self, PlanError> {
        let next = match &self.next {
            None => None,
            Some(next) => Some(next.try_clone()?),
        };
        let counters = match &self.counters {
            None => None,
            Some(counters) => Some(counters.try_clone()?),
        };
        Ok(Self {
            cells: self.cells.try_clone()?,
            next,
            stash: self.stash.try_clone()?,
            counters,
            ..*self
        })
    }

    pub(super) fn slice_bits(&self) -> u32 {
        self.cells.shape().slice_bits()
    }

    pub(super) fn payload_bits(&self) -> u32 {
        self.cells.shape().payload_bits()
    }

    /// The number of slices, copies included.
    pub(super) fn keys(&self) -> u64 {
        self.keys
    }

    /// The number of different slices.
    pub(super) fn distinct(&self) -> u64 {
        self.keys - self.copies
    }

    /// The windows of the present shape: the keys that would fill it completely.
    pub(super) fn windows(&self) -> u64 {
        self.next
            .as_ref()
            .unwrap_or(&self.cells)
            .shape()
            .all_windows()
    }

    /// Bytes of memory in use: groups that have moved, and those that nothing has moved to yet, take none.
    pub(super) fn size_bytes(&self) -> u64 {
        let groups: u64 = self
            .live_groups()
            .map(|(cells, groups)| cells.groups(groups).len() as u64)
            .sum();
        groups + 8 + self.stash.size_bytes() + self.rest_bytes()
    }

    /// The groups that hold slices, in the order of their slices.
    fn live_groups(&self) -> impl Iterator<Item = (&SliceCells, core::ops::Range<u64>)> {
        let next = self.next.iter().map(|next| (next, 0..self.moved_to(next)));
        next.chain([(&self.cells, self.moved..self.cells.shape().groups())])
    }

    /// How many groups of the larger cells the moved ones fill.
    fn moved_to(&self, next: &SliceCells) -> u64 {
        self.moved * (next.shape().groups() / self.cells.shape().groups())
    }

    /// Whether the slice of `place(hash)` is stored; `HAS_PAYLOAD` says whether cells have payloads.
    #[inline(always)]
    pub(super) fn find<const HAS_PAYLOAD: bool>(&self, placed: u64) -> bool {
        if self.is_plain {
            self.cells.find::<HAS_PAYLOAD>(placed)
        } else {
            self.find_anywhere::<HAS_PAYLOAD>(placed)
        }
    }

    #[inline(never)]
    fn find_anywhere<const HAS_PAYLOAD: bool>(&self, placed: u64) -> bool {
        let found = self.cells_of(placed).find_checked::<HAS_PAYLOAD>(placed);
        // The answer decides about no branch while the stash is empty: it would be mispredicted.
        if self.stash.distinct() == 0 {
            return found;
        }
        found || self.stash.count(self.number(placed)) > 0
    }

    /// The payload of the slice of `place(hash)`; `None` if it is not stored. Cells must have payloads.
    #[inline(always)]
    pub(super) fn find_payload(&self, placed: u64) -> Option<u64> {
        let mut found = self.cells_of(placed).find_payload(placed);
        if self.stash.distinct() > 0 && found == 0 {
            found = self.stash.count(self.number(placed));
        }
        found.checked_sub(1)
    }

    /// Overwrites the payload of a slice; `false` if it is not stored. Cells must have payloads.
    pub(super) fn set_payload(&mut self, placed: u64, payload: u64) -> bool {
        let slice = self.cells.shape().slice(placed);
        let cells = self.cells_of_mut(slice);
        if let Some(entry) = SliceEntry::find(cells, slice) {
            entry.set_payload(cells, payload);
            return true;
        }
        self.stash.replace(slice | 1, payload + 1)
    }

    /// The cells that hold the group of a slice, or of `place(hash)`. Without a branch on the group, which would be mispredicted and
    /// keep the cache misses of several lookups from overlapping.
    #[inline(always)]
    fn cells_of(&self, slice: u64) -> &SliceCells {
        match &self.next {
            Some(next) => {
                let has_moved = self.cells.shape().group(slice) < self.moved;
                select_unpredictable(has_moved, next, &self.cells)
            }
            None => &self.cells,
        }
    }

    /// Prefetches what `find` reads.
    #[inline(always)]
    pub(super) fn prefetch(&self, placed: u64) {
        let cells = self.cells_of(placed);
        cells.prefetch_bits(cells.bits(placed));
    }

    /// `find` for many hashes, or their payloads plus 1 (0 for one that is not stored); both slices must have the same length.
    pub(super) fn find_each<A: SliceAnswer>(&self, hashes: &[KeyHash], answers: &mut [A]) {
        self.find_each_with(hashes, answers, SliceCells::find_each, A::from_payload);
    }

    /// Looks up hashes in the cells that hold them by `find`; `answer` is the one for a slice in the stash.
    fn find_each_with<A: Copy + Default>(
        &self,
        hashes: &[KeyHash],
        answers: &mut [A],
        find: impl Fn(&SliceCells, &[KeyHash], &mut [A]),
        answer: impl Fn(u64) -> A,
    ) {
        if self.is_plain {
            return find(&self.cells, hashes, answers);
        }
        for (hashes, answers) in hashes.chunks(CHUNK).zip(answers.chunks_mut(CHUNK)) {
            match &self.next {
                None => find(&self.cells, hashes, answers),
                Some(next) => self.find_each_in_both(next, hashes, answers, &find),
            }
            if self.stash.distinct() > 0 {
                for (hash, found) in hashes.iter().zip(answers) {
                    let stashed = self.stash.count(self.number(place(hash.to_u64())));
                    if stashed > 0 {
                        *found = answer(stashed);
                    }
                }
            }
        }
    }

    /// During a sweep: the hashes of groups that have moved are looked up together, and so are the others. (One by one it took five
    /// times as long.)
    fn find_each_in_both<A: Copy + Default>(
        &self,
        next: &SliceCells,
        hashes: &[KeyHash],
        found: &mut [A],
        find: impl Fn(&SliceCells, &[KeyHash], &mut [A]),
    ) {
        let mut sorted = [KeyHash::from_u64(0); CHUNK];
        let mut places = [0_u16; CHUNK];
        // Those that have moved are at the front, the others at the end.
        let (mut front, mut end) = (0, hashes.len());
        for (at, &hash) in (0..).zip(hashes) {
            let has_moved = self.cells.shape().group(place(hash.to_u64())) < self.moved;
            let to = if has_moved { front } else { end - 1 };
            (sorted[to], places[to]) = (hash, at);
            front += usize::from(has_moved);
            end -= usize::from(!has_moved);
        }
        let mut answers = [A::default(); CHUNK];
        let (moved, others) = answers[..hashes.len()].split_at_mut(front);
        find(next, &sorted[..front], moved);
        find(&self.cells, &sorted[front..hashes.len()], others);
        for (&at, answer) in places.iter().zip(&answers[..hashes.len()]) {
            found[usize::from(at)] = *answer;
        }
    }

    pub(super) fn kernel(&self) -> Kernel {
        self.cells.kernel()
    }

    /// Switches to a kernel if this CPU has it; otherwise nothing changes.
    pub(super) fn set_kernel(&mut self, kernel: Kernel) {
        self.cells.set_kernel(kernel);
        if let Some(next) = &mut self.next {
            next.set_kernel(kernel);
        }
    }

    /// The number of a slice in the stash and among extra copies; not 0.
    pub(super) fn number(&self, placed: u64) -> u64 {
        self.cells.shape().slice(placed) | 1
    }

    /// How many more keys start no sweep; 0 during one.
    pub(super) fn keys_until_growth(&self) -> u64 {
        match self.next {
            None => self.cells.shape().sweep_begins().saturating_sub(self.keys),
            Some(_) => 0,
        }
    }

    /// Makes room for one more key: begins or continues a sweep. Nothing is lost if there is not enough memory. Nothing is changed if
    /// the table would exceed `max_bytes`, even if the key then went to the stash: who repeats the accepted keys elsewhere, without
    /// the limit, gets the same bytes.
    pub(super) fn make_room(&mut self, max_bytes: Option<u64>) -> Result<(), Full> {
        self.check_room(self.keys, max_bytes)?;
        if let Some(is_due) = self.is_widening() {
            return if is_due {
                self.sweep(self.moved + 1)
            } else {
                Ok(())
            };
        }
        let due = self.due_groups(self.keys);
        if due <= self.moved {
            return Ok(());
        }
        if self.next.is_none() {
            let Some(larger) = self.larger_shape() else {
                // A third of all slices are present. Whatever finds no cell goes to the stash.
                return Ok(());
            };
            self.begin_sweep(larger)?;
        }
        self.sweep(due)
    }

    /// The shape to which a table grows.
    fn larger_shape(&self) -> Option<SliceShape> {
        let step = self.cells.shape().step() + 1;
        SliceShape::new(self.slice_bits(), self.next_payload_bits(), step)
    }

    /// How many groups must have moved before a key is added to `keys` others.
    #[inline(always)]
    fn due_groups(&self, keys: u64) -> u64 {
        let shape = self.cells.shape();
        let begins = shape.sweep_begins();
        let Some(more) = keys.checked_sub(begins) else {
            return 0;
        };
        // Evenly spread over the rest of the load.
        let groups = shape.groups();
        let inserts = shape.sweep_ends() - begins;
        ((more + 1).saturating_mul(groups) / inserts).min(groups)
    }

    /// Whether `make_room` for one more than `keys` keys would keep to a limit.
    #[inline(always)]
    pub(super) fn check_room(&self, keys: u64, max_bytes: Option<u64>) -> Result<(), Full> {
        let Some(max_bytes) = max_bytes else {
            return Ok(());
        };
        self.check_stash_growth(max_bytes)?;
        if self.due_groups(keys) > self.moved
            && self.next.is_none()
            && let Some(larger) = self.larger_shape()
        {
            let size_bytes = self.swept_bytes(&larger);
            if size_bytes > max_bytes {
                return Err(Full::Memory { size_bytes });
            }
        }
        Ok(())
    }

    /// Bytes when all groups have moved to the larger shape, and the stash has grown.
    fn swept_bytes(&self, larger: &SliceShape) -> u64 {
        let stash_bytes = self.stash.size_bytes() + self.stash.growth_bytes();
        larger.size_bytes() + stash_bytes + self.rest_bytes_with(larger.payload_bits())
    }

    /// Whether the stash may grow when all groups have moved.
    pub(super) fn check_stash_growth(&self, max_bytes: u64) -> Result<(), Full> {
        let growth_bytes = self.stash.growth_bytes();
        let shape = self.next.as_ref().unwrap_or(&self.cells).shape();
        let size_bytes =
            shape.size_bytes() + self.stash.size_bytes() + growth_bytes + self.rest_bytes();
        if growth_bytes > 0 && size_bytes > max_bytes {
            return Err(Full::Memory { size_bytes });
        }
        Ok(())
    }

    fn begin_sweep(&mut self, larger: SliceShape) -> Result<(), Full> {
        let size_bytes = self.swept_bytes(&larger);
        let cells = SliceCells::without_groups(larger);
        let mut cells = cells.map_err(|_| Full::Memory { size_bytes })?;
        cells.set_live(self.cells.live());
        self.next = Some(cells);
        self.is_plain = false;
        Ok(())
    }

    /// Continues a sweep until `due` groups have moved.
    fn sweep(&mut self, due: u64) -> Result<(), Full> {
        while self.moved < due {
            if let Err(full) = self.move_group() {
                if self.moved == 0 {
                    self.next = None;
                    self.update_plain();
                }
                return Err(full);
            }
        }
        if self.moved == self.cells.shape().groups()
            && let Some(next) = self.next.take()
        {
            self.cells = next;
            self.moved = 0;
            self.empty_stash();
            self.shrink_rests();
        }
        Ok(())
    }

    /// Rewrites the next group in the larger shape. Nothing is changed if there is not enough memory.
    fn move_group(&mut self) -> Result<(), Full> {
        let Some(next) = &mut self.next else {
            return Ok(());
        };
        let group = self.moved;
        let ratio = next.shape().groups() / self.cells.shape().groups();
        let groups = group * ratio..(group + 1) * ratio;
        let size_bytes = self.stash.size_bytes() + self.stash.growth_bytes();
        let no_memory = Full::Memory { size_bytes };
        let unpacked = UnpackedCells::zeroed(*next.shape(), groups.clone(), next.expires());
        let mut unpacked = unpacked.map_err(|_| no_memory)?;
        let width = next.shape().payload_bits();
        let refitting = self
            .counters
            .as_ref()
            .filter(|_| width != self.cells.shape().payload_bits());
        let mut without_cell: Vec<StoredSlice> = Vec::new();
        let mut is_complete = true;
        for_each_slice(
            &self.cells,
            group,
            *next.shape(),
            |slice, payload, place| {
                let mut stored = StoredSlice { slice, payload };
                if let Some(counters) = refitting {
                    (stored, _) = counters.refitted(stored, width);
                }
                if !SliceEntry::insert_at(&mut unpacked, place, stored.payload)
                    && let Err(stored) = SliceEntry::insert_by_moving(&mut unpacked, stored)
                {
                    is_complete &= without_cell.try_reserve(1).is_ok();
                    if is_complete {
                        without_cell.push(stored);
                    }
                }
            },
        );
        let is_refitting = refitting.is_some();
        if !is_complete
            || self.stash.make_room(without_cell.len() as u64).is_err()
            || is_refitting && self.make_room_for_rests(group, width).is_err()
        {
            return Err(no_memory);
        }
        if let Some(next) = &mut self.next {
            next.add_groups(groups.end);
            unpacked.pack(next.groups_mut(groups));
        }
        for stored in without_cell {
            self.stash_slice(stored);
        }
        if is_refitting {
            self.refit_rests(group, width);
        }
        self.moved += 1;
        self.cells.release_before(self.moved);
        Ok(())
    }

    /// Adds a slice to the stash, which has room.
    fn stash_slice(&mut self, stored: StoredSlice) {
        // Without payloads, one copy more.
        let inserted = self
            .stash
            .insert_times(stored.slice | 1, stored.payload + 1);
        debug_assert!(inserted.is_ok(), "room was made before");
        self.is_plain = false;
    }

    /// Moves slices from the stash to cells that are empty or easily emptied, in their own order, so that equal sets give equal bytes.
    fn empty_stash(&mut self) {
        let mut stashed = Vec::new();
        if stashed
            .try_reserve_exact(self.stash.distinct() as usize)
            .is_ok()
        {
            stashed.extend(self.stash.iter());
            stashed.sort_unstable();
            self.stash.clear();
            for (number, count) in stashed {
                let (times, stored) = self.stashed(number, count);
                match self.refit_stashed(stored) {
                    Some(stored) => (0..times).for_each(|_| self.place_at_once(stored)),
                    None => self.stash_slice(stored),
                }
            }
        }
        self.update_plain();
    }

    fn update_plain(&mut self) {
        self.is_plain = self.next.is_none() && self.stash.distinct() == 0;
    }

    /// What an element of the stash means: how often which slice is stored.
    fn stashed(&self, number: u64, count: u64) -> (u64, StoredSlice) {
        let has_payload = self.payload_bits() > 0;
        let stored = StoredSlice {
            slice: number & !1,
            payload: if has_payload { count - 1 } else { 0 },
        };
        (if has_payload { 1 } else { count }, stored)
    }

    /// Stores a copy of a slice that is stored, without a payload; see [`insert`](Self::insert).
    pub(super) fn insert_copy(&mut self, placed: u64) -> Result<(), Full> {
        self.insert(placed, 0)?;
        self.copies += 1;
        Ok(())
    }

    /// Stores a slice that is not stored yet; see [`make_room`](Self::make_room). Nothing is changed if there is not enough memory
    /// for the stash.
    #[inline(always)]
    pub(super) fn insert(&mut self, placed: u64, payload: u64) -> Result<(), Full> {
        let slice = self.cells.shape().slice(placed);
        let stored = StoredSlice { slice, payload };
        if !SliceEntry::insert(self.cells_of_mut(slice), stored) {
            self.insert_by_moving(stored)?;
        }
        self.keys += 1;
        Ok(())
    }

    #[cold]
    fn insert_by_moving(&mut self, stored: StoredSlice) -> Result<(), Full> {
        // First the room, because the slice that ends without a cell may be another one.
        let size_bytes = self.size_bytes() + self.stash.growth_bytes();
        let no_memory = |_| Full::Memory { size_bytes };
        self.stash.make_room(1).map_err(no_memory)?;
        if self.stash.distinct() >= CROWDED {
            self.stash_slice(stored);
        } else if let Err(stored) =
            SliceEntry::insert_by_moving(self.cells_of_mut(stored.slice), stored)
        {
            self.stash_slice(stored);
        }
        Ok(())
    }

    /// Stores a slice in a cell or in the stash, which has room.
    fn place_at_once(&mut self, stored: StoredSlice) {
        if !SliceEntry::insert(self.cells_of_mut(stored.slice), stored) {
            self.stash_slice(stored);
        }
    }

    #[inline(always)]
    fn cells_of_mut(&mut self, slice: u64) -> &mut SliceCells {
        match &mut self.next {
            Some(next) if self.cells.shape().group(slice) < self.moved => next,
            _ => &mut self.cells,
        }
    }

    /// Removes a slice, or one of its copies; `false` if it is not stored.
    pub(super) fn remove(&mut self, placed: u64) -> bool {
        let slice = self.cells.shape().slice(placed);
        self.copies -= u64::from(self.copies > 0 && self.copies_of(placed) > 1);
        let was_stashed = if self.payload_bits() > 0 {
            self.stash.remove_all(slice | 1) > 0
        } else {
            self.stash.remove(slice | 1)
        };
        if was_stashed {
            self.update_plain();
        } else {
            let cells = self.cells_of_mut(slice);
            let Some(entry) = SliceEntry::find(cells, slice) else {
                return false;
            };
            entry.erase(cells);
        }
        self.keys -= 1;
        true
    }

    /// How often a slice without a payload is stored.
    pub(super) fn copies_of(&self, placed: u64) -> u64 {
        let slice = self.cells.shape().slice(placed);
        let in_cells = SliceEntry::copies(self.cells_of(slice), slice);
        in_cells + self.stash.count(slice | 1)
    }

    /// Every slice, copies one by one: first those in cells, then the stash.
    pub(super) fn slices(&self) -> impl Iterator<Item = StoredSlice> {
        let in_cells = self.live_groups().flat_map(|(cells, groups)| {
            groups.flat_map(move |group| SliceEntry::slices(cells, group))
        });
        let stash = self.stash.iter();
        let stashed = stash.flat_map(|(number, count)| {
            let (times, stored) = self.stashed(number, count);
            (0..times).map(move |_| stored)
        });
        in_cells.chain(stashed)
    }

    /// Grows at once, so that `keys` keys in total start no further sweep. Keys that arrive in the order of their hashes need it:
    /// otherwise the first groups would overflow before the table grows.
    pub(super) fn reserve(&mut self, keys: u64) -> Result<(), Full> {
        let shape = SliceShape::for_keys(self.slice_bits(), self.payload_bits(), keys);
        if self.keys == 0 && shape.step() > self.cells.shape().step() {
            let size_bytes = shape.size_bytes();
            let cells = SliceCells::zeroed(shape).map_err(|_| Full::Memory { size_bytes })?;
            self.start_again(cells);
            return Ok(());
        }
        // Step by step, because files know only sweeps to the next shape, and a sweep may end early if there is not enough memory.
        while self.next.is_some() || self.cells.shape().step() < shape.step() {
            if self.next.is_none() {
                let Some(larger) = self.larger_shape() else {
                    break;
                };
                self.begin_sweep(larger)?;
            }
            self.sweep(self.cells.shape().groups())?;
        }
        Ok(())
    }

    /// Removes all slices, and returns to the smallest shape.
    pub(super) fn clear(&mut self) {
        // Without slices, counters are narrow.
        self.keys = 0;
        self.counters = self.counters.take().map(|_| Counters::default());
        let shape = SliceShape::for_keys(self.slice_bits(), self.next_payload_bits(), 0);
        self.clear_to(shape);
    }

    /// Removes all slices, and returns to a shape.
    pub(super) fn clear_to(&mut self, shape: SliceShape) {
        // If there is no memory for them, the present cells are overwritten.
        if let Ok(cells) = SliceCells::zeroed(shape) {
            return self.start_again(cells);
        }
        (0..self.cells.shape().groups()).for_each(|group| self.cells.clear_group(group));
        self.next = None;
        (self.moved, self.keys, self.copies) = (0, 0, 0);
        self.stash = Multiset::default();
        self.is_plain = true;
    }

    /// Removes everything, and continues with other cells.
    fn start_again(&mut self, cells: SliceCells) {
        let counters = self.counters.as_ref().map(|_| Counters::default());
        *self = Self {
            counters,
            ..Self::from_cells(cells)
        };
    }
}

/// Tables are equal if they have the same shape, cells and stash.
impl PartialEq for SliceTable {
    fn eq(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.parts(), other.parts());
        self.cells.shape() == other.cells.shape()
            && ours.moved_groups == theirs.moved_groups
            && ours.moved == theirs.moved
            && ours.cells == theirs.cells
            && ours.stash == theirs.stash
            && self.moved_shape() == other.moved_shape()
            && self.counters == other.counters
    }
}
