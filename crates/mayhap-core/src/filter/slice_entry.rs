//! A slice in its cell, and how other slices are moved to make room for it.
//!
//! A slice whose four cells are taken evicts one of their slices, which then tries its own three other cells, and so on: a random
//! walk of at most `MAX_MOVES` steps that looks one step ahead. Its random numbers are computed from the slice and the number of the
//! step, so that equal operations give equal bytes.

mod unpacked;

pub(super) use unpacked::UnpackedCells;

use crate::probe::slice::{SlicePlace, SliceShape, random};
use crate::simd::SliceCells;

/// How many slices one insert may move before one of them goes to the stash.
const MAX_MOVES: u64 = 400;

/// The cells of groups as the rules of this file use them: packed, or [`UnpackedCells`] for a rewrite.
pub(super) trait CellAccess {
    fn shape(&self) -> &SliceShape;

    /// Where a group starts.
    fn start(&self, group: u64) -> u64;

    /// Where cell `number` of the group at `start` is.
    fn position(&self, start: u64, number: u32) -> u64;

    fn cell(&self, position: u64) -> u64;

    fn set(&mut self, position: u64, cell: u64);

    /// Which cells of a window are free, one bit each.
    #[inline(always)]
    fn free_in_window(&self, start: u64, window: u32) -> u32 {
        let first = self.is_free(self.cell(self.position(start, window)));
        let second = self.is_free(self.cell(self.position(start, window + 1)));
        u32::from(first) | u32::from(second) << 1
    }

    /// The first free cell of a window, from the offset `from` on.
    fn free_offset(&self, start: u64, window: u32, from: u32) -> Option<u32>;

    /// Whether an insert may overwrite a cell.
    fn is_free(&self, cell: u64) -> bool;

    /// Whether cells expire.
    fn expires(&self) -> bool;

    fn prefetch(&self, position: u64);
}

/// Positions are bits.
impl CellAccess for SliceCells {
    #[inline(always)]
    fn shape(&self) -> &SliceShape {
        self.shape()
    }

    #[inline(always)]
    fn start(&self, group: u64) -> u64 {
        self.group_bit(group)
    }

    #[inline(always)]
    fn position(&self, start: u64, number: u32) -> u64 {
        start + u64::from(number) * u64::from(self.shape().cell_bits())
    }

    #[inline(always)]
    fn cell(&self, position: u64) -> u64 {
        self.cell(position)
    }

    #[inline(always)]
    fn set(&mut self, position: u64, cell: u64) {
        self.set(position, cell);
    }

    #[inline(always)]
    fn free_offset(&self, start: u64, window: u32, from: u32) -> Option<u32> {
        // With a branch on each cell: at the load of a table, the first is rarely free.
        let is_free =
            |offset| self.is_free(self.cell(CellAccess::position(self, start, window + offset)));
        if from == 0 && is_free(0) {
            Some(0)
        } else {
            is_free(1).then_some(1)
        }
    }

    #[inline(always)]
    fn is_free(&self, cell: u64) -> bool {
        self.is_free(cell)
    }

    #[inline(always)]
    fn expires(&self) -> bool {
        self.expires()
    }

    #[inline(always)]
    fn prefetch(&self, position: u64) {
        self.prefetch_bit(position);
    }
}

/// A slice and its payload.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct StoredSlice {
    pub(super) slice: u64,
    /// 0 in cells without payloads.
    pub(super) payload: u64,
}

/// A tag with its payload, its two windows, and one of its four cells: `choice * 2 + offset`.
#[derive(Clone, Copy)]
pub(super) struct SliceEntry {
    group: u64,
    /// Where the group starts.
    start: u64,
    tag: u64,
    payload: u64,
    windows: [u32; 2],
    at: u32,
}

impl SliceEntry {
    #[inline(always)]
    fn new(cells: &impl CellAccess, stored: StoredSlice) -> Self {
        let place = cells.shape().locate(stored.slice);
        Self::at_place(cells, place, stored.payload)
    }

    #[inline(always)]
    fn at_place(cells: &impl CellAccess, place: SlicePlace, payload: u64) -> Self {
        Self {
            group: place.group,
            start: cells.start(place.group),
            tag: place.tag,
            payload,
            windows: place.windows,
            at: 0,
        }
    }

    /// Stores a slice if one of its cells is empty, or can be emptied by moving one other slice.
    #[inline(always)]
    pub(super) fn insert(cells: &mut impl CellAccess, stored: StoredSlice) -> bool {
        let place = cells.shape().locate(stored.slice);
        Self::insert_at(cells, place, stored.payload)
    }

    /// The same for a slice that has been located.
    #[inline(always)]
    pub(super) fn insert_at(cells: &mut impl CellAccess, place: SlicePlace, payload: u64) -> bool {
        let start = cells.start(place.group);
        for (choice, window) in (0..).zip(place.windows) {
            // A cell of zeros would look empty.
            let from = u32::from(choice == 0 && place.tag == 0);
            if let Some(offset) = cells.free_offset(start, window, from) {
                let at = choice << 1 | offset;
                let value = cells.shape().cell_value(place.tag, at, payload);
                cells.set(cells.position(start, window + offset), value);
                return true;
            }
        }
        let entry = Self::at_place(cells, place, payload);
        (cells.expires() && entry.make_room_nearby(cells)) || entry.make_room(cells, 0)
    }

    /// Stores a slice for which `insert` has found no room, by moving others. The error is the slice that has no cell in the end, which
    /// may be another one.
    #[cold]
    pub(super) fn insert_by_moving(
        cells: &mut impl CellAccess,
        stored: StoredSlice,
    ) -> Result<(), StoredSlice> {
        let slice = stored.slice;
        let mut entry = Self::new(cells, stored);
        entry.at = random(slice, 0, 4) as u32;
        for step in 1..=MAX_MOVES {
            if !entry.is_storable() {
                entry.at = 1 + random(slice, step, 3) as u32;
            }
            // The evicted slice has no empty cell: `make_room` has checked.
            entry = entry.swap(cells);
            if entry.make_room(cells, 1) {
                return Ok(());
            }
            entry.at = (entry.at + 1 + random(slice, step, 3) as u32) & 3;
        }
        Err(entry.stored(cells.shape()))
    }

    /// The entry in cell `number` of a group; `None` if the cell is empty.
    #[inline(always)]
    pub(super) fn load(
        cells: &impl CellAccess,
        group: u64,
        start: u64,
        number: u32,
    ) -> Option<Self> {
        let shape = cells.shape();
        let cell = cells.cell(cells.position(start, number));
        if cells.is_free(cell) {
            return None;
        }
        Some(Self {
            group,
            start,
            tag: shape.cell_tag(cell),
            payload: shape.cell_payload(cell),
            windows: shape.windows_of(cell, number),
            at: cell as u32 & 3,
        })
    }

    /// The slices of a group, in the order of their cells.
    #[inline(always)]
    pub(super) fn slices(cells: &SliceCells, group: u64) -> impl Iterator<Item = StoredSlice> {
        let shape = *cells.shape();
        let mut bit = cells.group_bit(group);
        (0..=shape.windows()).filter_map(move |number| {
            let cell = cells.cell(bit);
            bit += u64::from(shape.cell_bits());
            if cells.is_free(cell) {
                return None;
            }
            Some(StoredSlice {
                slice: shape.slice_in(group, number, cell),
                payload: shape.cell_payload(cell),
            })
        })
    }

    /// The entries of a group.
    pub(super) fn of_group(cells: &impl CellAccess, group: u64) -> impl Iterator<Item = Self> {
        let start = cells.start(group);
        let numbers = 0..=cells.shape().windows();
        numbers.filter_map(move |number| Self::load(cells, group, start, number))
    }

    /// The cells that hold a slice, with any payload.
    #[inline(always)]
    fn cells_of(cells: &impl CellAccess, slice: u64) -> impl Iterator<Item = Self> {
        let entry = Self::new(cells, StoredSlice { slice, payload: 0 });
        (0..4).filter_map(move |at| {
            let entry = Self { at, ..entry };
            let cell = cells.cell(entry.position(cells));
            let payload = cells.shape().cell_payload(cell);
            let entry = Self { payload, ..entry };
            (entry.is_storable() && cell == entry.value(cells)).then_some(entry)
        })
    }

    /// The entry of a slice that is stored.
    #[inline(always)]
    pub(super) fn find(cells: &impl CellAccess, slice: u64) -> Option<Self> {
        Self::cells_of(cells, slice).next()
    }

    /// In how many cells a slice is stored.
    pub(super) fn copies(cells: &impl CellAccess, slice: u64) -> u64 {
        Self::cells_of(cells, slice).count() as u64
    }

    /// The number of the cell.
    #[inline(always)]
    fn number(&self) -> u32 {
        self.windows[(self.at >> 1) as usize] + (self.at & 1)
    }

    /// Where the cell is.
    #[inline(always)]
    fn position(&self, cells: &impl CellAccess) -> u64 {
        cells.position(self.start, self.number())
    }

    /// Whether the cell would not look empty.
    #[inline(always)]
    fn is_storable(&self) -> bool {
        self.tag != 0 || self.at != 0
    }

    /// Whether the entry can be where it is: its window exists, and a slice has this tag there.
    pub(super) fn is_valid(&self, shape: &SliceShape) -> bool {
        let [first, second] = self.windows;
        if first >= shape.windows() || second >= shape.windows() || !self.is_storable() {
            return false;
        }
        let place = shape.locate(self.slice(shape));
        place.group == self.group && place.tag == self.tag && place.windows == self.windows
    }

    #[inline(always)]
    pub(super) fn slice(&self, shape: &SliceShape) -> u64 {
        shape.slice_at(self.group, self.windows[0], self.tag)
    }

    #[inline(always)]
    fn stored(&self, shape: &SliceShape) -> StoredSlice {
        StoredSlice {
            slice: self.slice(shape),
            payload: self.payload,
        }
    }

    /// The value of the cell.
    #[inline(always)]
    fn value(&self, cells: &impl CellAccess) -> u64 {
        cells.shape().cell_value(self.tag, self.at, self.payload)
    }

    #[inline(always)]
    fn write(&self, cells: &mut impl CellAccess) {
        cells.set(self.position(cells), self.value(cells));
    }

    /// Overwrites the payload in the cell.
    pub(super) fn set_payload(self, cells: &mut impl CellAccess, payload: u64) {
        Self { payload, ..self }.write(cells);
    }

    /// Empties the cell.
    pub(super) fn erase(&self, cells: &mut impl CellAccess) {
        cells.set(self.position(cells), 0);
    }

    /// The entry in the cell of this one.
    #[inline(always)]
    fn occupant(&self, cells: &impl CellAccess) -> Option<Self> {
        Self::load(cells, self.group, self.start, self.number())
    }

    /// Stores the entry in its cell and returns the one that was there.
    #[inline(always)]
    fn swap(self, cells: &mut impl CellAccess) -> Self {
        let occupant = self.occupant(cells);
        self.write(cells);
        // The cell was not empty; if it had been, there would be nothing to move.
        occupant.unwrap_or(self)
    }

    #[inline(always)]
    fn turned(self, turn: u32) -> Self {
        Self {
            at: (self.at + turn) & 3,
            ..self
        }
    }

    /// Stores the entry in one of its cells if the slice there can move to the other cell of the same window, which is in the same cache
    /// line. (Only in tables whose slices expire: others never did, and equal operations give equal bytes.)
    fn make_room_nearby(self, cells: &mut impl CellAccess) -> bool {
        for at in 0..4 {
            let entry = Self { at, ..self };
            let Some(occupant) = entry.occupant(cells).filter(|_| entry.is_storable()) else {
                continue;
            };
            let moved = Self {
                at: occupant.at ^ 1,
                ..occupant
            };
            if moved.is_storable() && cells.is_free(cells.cell(moved.position(cells))) {
                moved.write(cells);
                entry.write(cells);
                return true;
            }
        }
        false
    }

    /// Stores the entry in one of its cells, from the `first`th after its own on, if the slice there can move to an empty cell. The
    /// windows of all candidates are prefetched together, so that their cache misses overlap.
    fn make_room(self, cells: &mut impl CellAccess, first: u32) -> bool {
        // Their cells and windows; 0 where this entry cannot be.
        let mut occupants = [(0, [0; 2]); 4];
        for turn in first..4 {
            let entry = self.turned(turn);
            if entry.is_storable() {
                let number = entry.number();
                let cell = cells.cell(cells.position(self.start, number));
                if cells.is_free(cell) {
                    entry.write(cells);
                    return true;
                }
                let windows = cells.shape().windows_of(cell, number);
                let other = windows[usize::from(cell & 2 == 0)];
                cells.prefetch(cells.position(self.start, other));
                occupants[turn as usize] = (cell, windows);
            }
        }
        for turn in first..4 {
            let (cell, windows) = occupants[turn as usize];
            if cell == 0 {
                continue;
            }
            let at = cell as u32 & 3;
            // One branch for all of its cells: with one for each, inserts took 15 ns longer.
            let [first, second] = windows;
            let free = cells.free_in_window(self.start, first)
                | cells.free_in_window(self.start, second) << 2;
            // A cell of zeros would look empty.
            let free = free & !u32::from(cells.shape().cell_tag(cell) == 0);
            // From the cell after its own on, cyclically; its own is not free.
            let after = (free | free << 4) >> at;
            if after != 0 {
                let to = (at + after.trailing_zeros()) & 3;
                let number = windows[(to >> 1) as usize] + (to & 1);
                let moved = cell & !3 | u64::from(to);
                cells.set(cells.position(self.start, number), moved);
                self.turned(turn).write(cells);
                return true;
            }
        }
        false
    }
}
