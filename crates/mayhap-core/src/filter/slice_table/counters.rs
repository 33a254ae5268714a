//! Payloads that count: how often each slice of a table was inserted.
//!
//! A slice has one cell, and the counter in it holds its copies after the first. What exceeds the counter is the *rest*, in an exact
//! map. If too many slices have a rest, counters become wider: group after group is rewritten, a group for each slice that joins the
//! map, so that the map hardly grows meanwhile. A table that grows chooses the width anew, and counters become narrower if few slices
//! need the present ones.
//!
//! Invariant: a slice with a rest has a full counter. One that is stashed while groups move between widths has that of its old cell.

use super::SliceTable;
use crate::filter::cuckoo::{MAX_EXTRA_COPIES, check_extra_copies};
use crate::filter::slice_entry::{SliceEntry, StoredSlice};
use crate::plan::counter_width;
use crate::probe::slice::SliceShape;
use crate::store::Multiset;
use crate::{Full, PlanError};
use alloc::vec::Vec;

/// A narrower counter than this never has a rest.
const NARROWEST_FULL: u64 = (1 << counter_width::WIDTHS[0]) - 1;

/// A sweep to wider counters moves a group for so many new slices at least. Groups have more than 8000, so it ends before the next
/// growth begins.
const SLICES_PER_GROUP: u64 = 64;

/// What the counters of a table do not hold.
#[derive(Clone, Default)]
pub(super) struct Counters {
    /// By the number of the slice.
    pub(super) rests: Multiset,
    /// All copies after the first, of all slices.
    pub(super) copies: u64,
    /// How many slices have more copies than a counter of each width holds, but for the widest.
    over: [u64; 2],
}

impl Counters {
    pub(super) fn try_clone(&self) -> Result<Self, PlanError> {
        Ok(Self {
            rests: self.rests.try_clone()?,
            ..*self
        })
    }

    /// The copies of a slice that are not in its counter.
    #[inline(always)]
    fn rest(&self, number: u64, payload: u64) -> u64 {
        if payload < NARROWEST_FULL {
            return 0;
        }
        self.rests.count(number)
    }

    /// A slice with the counter that it has in cells of some width, and its rest there.
    pub(super) fn refitted(&self, stored: StoredSlice, width: u32) -> (StoredSlice, u64) {
        let rest = self.rest(stored.slice | 1, stored.payload);
        let copies = stored.payload + rest;
        let payload = copies.min((1 << width) - 1);
        (StoredSlice { payload, ..stored }, copies - payload)
    }

    /// Changes a rest. If it was 0, there must be room for it.
    pub(super) fn set_rest(&mut self, number: u64, rest: u64) {
        if rest == 0 {
            self.rests.remove_all(number);
        } else if !self.rests.replace(number, rest) {
            let inserted = self.rests.insert_times(number, rest);
            debug_assert!(inserted.is_ok(), "room was made before");
        }
    }

    /// Notes that a slice has another number of copies, the first included.
    fn count_changes(&mut self, before: u64, after: u64) {
        for (over, width) in self.over.iter_mut().zip(counter_width::WIDTHS) {
            let is_over = |copies| copies > counter_width::max_copies(width);
            *over = *over + u64::from(is_over(after)) - u64::from(is_over(before));
        }
    }
}

impl SliceTable {
    /// An empty table that counts.
    pub(in crate::filter) fn counting(slice_bits: u32) -> Result<Self, PlanError> {
        let mut table = Self::new(slice_bits, counter_width::WIDTHS[0])?;
        table.counters = Some(Counters::default());
        Ok(table)
    }

    pub(in crate::filter) fn has_counters(&self) -> bool {
        self.counters.is_some()
    }

    /// The copies of all slices after the first, in a table that counts.
    pub(in crate::filter) fn counted_copies(&self) -> u64 {
        self.counters.as_ref().map_or(0, |counters| counters.copies)
    }

    pub(super) fn rest_bytes(&self) -> u64 {
        let counters = self.counters.as_ref();
        counters.map_or(0, |counters| counters.rests.size_bytes())
    }

    /// The bytes of the rests when counters have `width` bits: narrower ones have more rests.
    pub(super) fn rest_bytes_with(&self, width: u32) -> u64 {
        let over = self.counters.iter().filter_map(|counters| {
            let widths = counter_width::WIDTHS.into_iter();
            let over = widths.zip(counters.over).find(|over| over.0 == width);
            over.map(|(_, over)| Multiset::bytes_for(over))
        });
        self.rest_bytes().max(over.sum())
    }

    /// Gives back memory of rests that are in wider counters now.
    pub(super) fn shrink_rests(&mut self) {
        if let Some(counters) = &mut self.counters {
            counters.rests.shrink();
        }
    }

    /// How often a slice was inserted.
    pub(in crate::filter) fn count_of(&self, placed: u64) -> u64 {
        let Some(payload) = self.find_payload(placed) else {
            return 0;
        };
        1 + payload + self.rest_of(placed, payload)
    }

    #[inline(always)]
    pub(in crate::filter) fn rest_of(&self, placed: u64, payload: u64) -> u64 {
        let counters = self.counters.as_ref();
        counters.map_or(0, |counters| counters.rest(self.number(placed), payload))
    }

    /// The counter of a slice that is stored, and how many more copies it holds.
    fn counter(&self, placed: u64) -> (u64, u64) {
        let payload = self.find_payload(placed).unwrap_or(0);
        let width = self.cells_of(placed).shape().payload_bits();
        (payload, ((1 << width) - 1_u64).saturating_sub(payload))
    }

    /// Counts a slice that is stored `times` times more. An error changes no count. Nothing is changed if the table would exceed
    /// `max_bytes`, as in [`make_room`](Self::make_room).
    pub(in crate::filter) fn add_copies(
        &mut self,
        placed: u64,
        times: u64,
        max_bytes: Option<u64>,
    ) -> Result<(), Full> {
        let number = self.number(placed);
        let before = self.count_of(placed);
        let too_many = Full::Copies {
            copies: before.try_into().unwrap_or(u32::MAX),
        };
        let all = self.counted_copies().checked_add(times);
        let after = before.checked_add(times);
        let (Some(all), Some(after)) = (all, after.filter(|&after| after <= MAX_EXTRA_COPIES))
        else {
            return Err(too_many);
        };
        let (mut payload, mut room) = self.counter(placed);
        if times > room && self.rest_of(placed, payload) == 0 {
            self.make_room_for_rest(max_bytes)?;
            // The slice may have moved to a wider counter.
            (payload, room) = self.counter(placed);
        }
        let here = times.min(room);
        let rest = self.rest_of(placed, payload) + times - here;
        if here > 0 {
            self.set_payload(placed, payload + here);
        }
        if let Some(counters) = &mut self.counters {
            counters.set_rest(number, rest);
            counters.copies = all;
            counters.count_changes(before, after);
        }
        Ok(())
    }

    /// Undoes one insert of a slice; `false` if it is not stored.
    pub(in crate::filter) fn remove_copy(&mut self, placed: u64) -> bool {
        let Some(payload) = self.find_payload(placed) else {
            return false;
        };
        let rest = self.rest_of(placed, payload);
        let number = self.number(placed);
        if payload + rest == 0 {
            return self.remove(placed);
        }
        if rest == 0 {
            self.set_payload(placed, payload - 1);
        }
        if let Some(counters) = &mut self.counters {
            if rest > 0 {
                counters.set_rest(number, rest - 1);
            }
            counters.copies -= 1;
            counters.count_changes(payload + rest + 1, payload + rest);
        }
        true
    }

    /// The width of the counters to which groups move: the narrowest that the counts allow.
    pub(super) fn next_payload_bits(&self) -> u32 {
        match &self.counters {
            None => self.payload_bits(),
            Some(counters) => counter_width::narrowest(self.slice_bits(), self.keys, counters.over),
        }
    }

    /// Makes room for one more slice with a rest. If there are too many, continues a sweep, or begins one to wider counters.
    fn make_room_for_rest(&mut self, max_bytes: Option<u64>) -> Result<(), Full> {
        let Some(counters) = &self.counters else {
            return Ok(());
        };
        let growth_bytes = counters.rests.growth_bytes();
        let is_crowded = counters.rests.distinct() >= counter_width::allowed_in_map(self.keys);
        let shape = self.next.as_ref().unwrap_or(&self.cells).shape();
        let size_bytes = shape.size_bytes()
            + self.stash.size_bytes()
            + self.stash.growth_bytes()
            + counters.rests.size_bytes()
            + growth_bytes;
        let no_memory = Full::Memory { size_bytes };
        if growth_bytes > 0 && max_bytes.is_some_and(|max| size_bytes > max) {
            return Err(no_memory);
        }
        if is_crowded {
            self.widen(max_bytes)?;
        }
        match &mut self.counters {
            None => Ok(()),
            Some(counters) => counters.rests.make_room(1).map_err(|_| no_memory),
        }
    }

    fn widen(&mut self, max_bytes: Option<u64>) -> Result<(), Full> {
        if self.next.is_none() {
            let width = self.next_payload_bits();
            if width <= self.payload_bits() {
                return Ok(());
            }
            let shape = *self.cells.shape();
            let begins = shape.sweep_begins();
            // Shortly before it grows, both at once.
            let larger = (self.keys > begins - begins / 16).then(|| shape.larger());
            let wider = larger.flatten().unwrap_or(shape);
            let Some(wider) = SliceShape::new(self.slice_bits(), width, wider.step()) else {
                return Ok(());
            };
            let size_bytes = self.swept_bytes(&wider);
            if max_bytes.is_some_and(|max| size_bytes > max) {
                return Err(Full::Memory { size_bytes });
            }
            self.begin_sweep(wider)?;
        }
        self.sweep(self.moved + 1)
    }

    /// Whether a sweep to wider counters in as many cells moves a group before the next new slice.
    pub(super) fn is_widening(&self) -> Option<bool> {
        let next = self.next.as_ref()?;
        let is_widening = next.shape().step() == self.cells.shape().step();
        is_widening.then_some(self.keys.is_multiple_of(SLICES_PER_GROUP))
    }

    /// Makes room for the rests of a group whose slices move to cells of `width`: those that have none yet.
    pub(super) fn make_room_for_rests(&mut self, group: u64, width: u32) -> Result<(), PlanError> {
        let Some(counters) = &mut self.counters else {
            return Ok(());
        };
        let more = SliceEntry::slices(&self.cells, group).filter(|&stored| {
            counters.refitted(stored, width).1 > 0
                && counters.rest(stored.slice | 1, stored.payload) == 0
        });
        let more = more.count() as u64;
        counters.rests.make_room(more)
    }

    /// Changes the rests of a group whose slices have moved to cells of `width`.
    pub(super) fn refit_rests(&mut self, group: u64, width: u32) {
        let Some(counters) = &mut self.counters else {
            return;
        };
        for stored in SliceEntry::slices(&self.cells, group) {
            let (refitted, rest) = counters.refitted(stored, width);
            if refitted != stored {
                counters.set_rest(stored.slice | 1, rest);
            }
        }
    }

    /// A stashed slice with the counter of the cells where it would be; `None` if there is no memory for its rest.
    pub(super) fn refit_stashed(&mut self, stored: StoredSlice) -> Option<StoredSlice> {
        let width = self.cells_of(stored.slice).shape().payload_bits();
        let Some(counters) = &mut self.counters else {
            return Some(stored);
        };
        let (refitted, rest) = counters.refitted(stored, width);
        if refitted != stored {
            counters.rests.make_room(1).ok()?;
            counters.set_rest(stored.slice | 1, rest);
        }
        Some(refitted)
    }

    /// The rests in ascending order.
    pub(in crate::filter) fn rests(&self) -> Vec<(u64, u64)> {
        let counters = self.counters.iter();
        let mut rests: Vec<_> = counters
            .flat_map(|counters| counters.rests.iter())
            .collect();
        rests.sort_unstable();
        rests
    }

    /// Counts what an opened table contains, with rests that may come from an untrusted file.
    pub(super) fn open_counters(&mut self, rests: Vec<(u64, u64)>) -> Result<(), PlanError> {
        check_extra_copies(&rests)?;
        let invalid = |value| PlanError::InvalidInteger {
            field: "rest of a counter",
            value,
            accepted: "that of a slice with a full counter, and fewer than 2^64 in total",
        };
        let rests_sum = rests
            .iter()
            .try_fold(0_u64, |sum, rest| sum.checked_add(rest.1))
            .ok_or(invalid(u64::MAX))?;
        for &(number, rest) in &rests {
            let is_stashed = self.stash.count(number) > 0;
            let payload = self.find_payload(number);
            let (_, room) = self.counter(number);
            let is_full = payload.is_some_and(|payload| payload >= NARROWEST_FULL)
                && (room == 0 || is_stashed);
            if number != self.number(number) || !is_full {
                return Err(invalid(rest));
            }
        }
        let mut counters = Counters {
            rests: Multiset::from_distinct(rests)?,
            ..Counters::default()
        };
        let mut copies = rests_sum;
        for stored in self.slices() {
            let rest = counters.rest(stored.slice | 1, stored.payload);
            copies = copies.saturating_add(stored.payload);
            counters.count_changes(1, 1 + stored.payload + rest);
        }
        counters.copies = copies;
        self.counters = Some(counters);
        Ok(())
    }
}

/// The same rests; the other fields follow from the cells.
impl PartialEq for Counters {
    fn eq(&self, other: &Self) -> bool {
        self.rests == other.rests
    }
}
