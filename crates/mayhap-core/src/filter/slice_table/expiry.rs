//! Tables whose slices expire: the payload of a cell says whether it is in use, and the cells of expired slices are free.
//!
//! A free cell may still hold the slice that has expired. Inserts and sweeps treat it as empty, and a table is *cleaned* group by
//! group, so that no such cell is left when its payload is used again.

use super::SliceTable;
use crate::filter::slice_entry::{SliceEntry, StoredSlice};
use crate::probe::slice::SliceShape;
use crate::store::Multiset;
use crate::{Full, KeyHash};

impl SliceTable {
    /// Sets the payloads of cells in use, one bit each.
    pub(in crate::filter) fn set_live(&mut self, live: u16) {
        self.cells.set_live(live.into());
        if let Some(next) = &mut self.next {
            next.set_live(live.into());
        }
    }

    /// Sets the number of slices that have not expired.
    pub(in crate::filter) fn set_keys(&mut self, keys: u64) {
        self.keys = keys;
    }

    /// Forgets slices without a cell that have expired, and finds cells for the others.
    pub(in crate::filter) fn clean_stash(&mut self) {
        if self.stash.distinct() > 0 {
            let live = self.cells.live();
            self.stash.retain(|count| live >> (count - 1) & 1 != 0);
            self.empty_stash();
        }
        if self.stash.distinct() == 0 {
            self.stash = Multiset::default();
        }
    }

    /// Whether the slice of `place(hash)` is stored with one of these payloads.
    #[inline(always)]
    pub(in crate::filter) fn find_live(&self, placed: u64, live: u16) -> bool {
        if self.is_plain {
            self.cells.find_live(placed, live.into())
        } else {
            self.find_live_anywhere(placed, live)
        }
    }

    #[inline(never)]
    fn find_live_anywhere(&self, placed: u64, live: u16) -> bool {
        let found = self.cells_of(placed).find_live_checked(placed, live.into());
        if self.stash.distinct() == 0 {
            return found;
        }
        // No slice is in both. Bit 0 is for 0, which is no payload.
        found || (u64::from(live) << 1) >> self.stash.count(self.number(placed)) & 1 != 0
    }

    /// `find_live` for many hashes; both slices must have the same length.
    pub(in crate::filter) fn find_each_live(
        &self,
        hashes: &[KeyHash],
        live: u16,
        found: &mut [bool],
    ) {
        self.find_each_with(
            hashes,
            found,
            |cells, hashes, found| cells.find_each_live(hashes, live.into(), found),
            |stashed| live >> (stashed - 1) & 1 != 0,
        );
    }

    /// The number of groups that are cleaned one by one.
    pub(in crate::filter) fn groups(&self) -> u64 {
        self.cells.shape().groups()
    }

    /// Empties the expired cells of `count` groups from `first` on, cyclically.
    pub(in crate::filter) fn clean_groups(&mut self, first: u64, count: u64) {
        let groups = self.groups();
        for group in (first..first + count).map(|group| group % groups) {
            match &mut self.next {
                Some(next) if group < self.moved => {
                    let ratio = next.shape().groups() / groups;
                    (group * ratio..(group + 1) * ratio).for_each(|group| next.clean_group(group));
                }
                _ => self.cells.clean_group(group),
            }
        }
    }

    /// Empties the cell of a slice that has expired.
    pub(in crate::filter) fn erase(&mut self, placed: u64) {
        let slice = self.cells.shape().slice(placed);
        let cells = self.cells_of_mut(slice);
        if let Some(entry) = SliceEntry::find(cells, slice) {
            entry.erase(cells);
        }
    }

    /// Stores a slice that is not stored yet, if a cell is free or easily freed.
    pub(in crate::filter) fn insert_in_cell(&mut self, placed: u64, payload: u64) -> bool {
        let slice = self.cells.shape().slice(placed);
        let is_stored =
            SliceEntry::insert(self.cells_of_mut(slice), StoredSlice { slice, payload });
        self.keys += u64::from(is_stored);
        is_stored
    }

    /// The same slices in a smaller shape; `None` if it is not smaller.
    pub(in crate::filter) fn rewritten(&self, shape: SliceShape) -> Result<Option<Self>, Full> {
        if shape.step() >= self.cells.shape().step() {
            return Ok(None);
        }
        let size_bytes = shape.size_bytes();
        let smaller = Self::with_shape(shape);
        let mut smaller = smaller.map_err(|_| Full::Memory { size_bytes })?;
        smaller.cells.set_live(self.cells.live());
        smaller.set_kernel(self.kernel());
        for stored in self.slices() {
            smaller.insert(stored.slice, stored.payload)?;
        }
        Ok(Some(smaller))
    }
}
