//! A slice in its cell, and how other slices are moved to make room for it.
//!
//! A slice whose four cells are taken evicts one of their slices, which then tries its own three other cells, and so on: a random
//! walk of at most `MAX_MOVES` steps that looks one step ahead. Its random numbers are computed from the slice and the number of the
//! step, so that equal operations give equal bytes.

use crate::probe::slice::{SliceShape, random};
use crate::simd::SliceCells;

/// How many slices one insert may move before one of them goes to the stash.
const MAX_MOVES: u64 = 400;

/// A slice and its payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
    group_bit: u64,
    tag: u64,
    payload: u64,
    windows: [u32; 2],
    at: u32,
}

impl SliceEntry {
    #[inline(always)]
    fn new(cells: &SliceCells, stored: StoredSlice) -> Self {
        let place = cells.shape().locate(stored.slice);
        Self {
            group: place.group,
            group_bit: cells.group_bit(place.group),
            tag: place.tag,
            payload: stored.payload,
            windows: place.windows,
            at: 0,
        }
    }

    /// Stores a slice if one of its cells is empty, or can be emptied by moving one other slice. (Testing all four cells before one branch
    /// took 4 % more instructions, and was not faster.)
    #[inline(always)]
    pub(super) fn insert(cells: &mut SliceCells, stored: StoredSlice) -> bool {
        let entry = Self::new(cells, stored);
        let value = entry.value(cells);
        let cell_bits = u64::from(cells.shape().cell_bits());
        for (choice, window) in (0..).zip(entry.windows) {
            let bit = entry.group_bit + u64::from(window) * cell_bits;
            for offset in 0..2 {
                let (bit, value) = (bit + offset * cell_bits, value | choice << 1 | offset);
                let is_storable = entry.tag != 0 || choice | offset != 0;
                if cells.is_free(cells.cell(bit)) && is_storable {
                    cells.set(bit, value);
                    return true;
                }
            }
        }
        (cells.expires() && entry.make_room_nearby(cells)) || entry.make_room(cells, 0)
    }

    /// Stores a slice for which `insert` has found no room, by moving others. The error is the slice that has no cell in the end, which
    /// may be another one.
    #[cold]
    pub(super) fn insert_by_moving(
        cells: &mut SliceCells,
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
        cells: &SliceCells,
        group: u64,
        group_bit: u64,
        number: u32,
    ) -> Option<Self> {
        let shape = cells.shape();
        let cell = cells.cell(group_bit + u64::from(number) * u64::from(shape.cell_bits()));
        if cells.is_free(cell) {
            return None;
        }
        let tag = shape.cell_tag(cell);
        let at = cell as u32 & 3;
        // Wraps only in cells that no insert writes.
        let window = number.wrapping_sub(at & 1);
        let is_first = at & 2 == 0;
        let first = shape.first(window, tag);
        let first = if is_first { window } else { first };
        let second = shape.second(first, tag);
        Some(Self {
            group,
            group_bit,
            tag,
            payload: shape.cell_payload(cell),
            windows: [first, if is_first { second } else { window }],
            at,
        })
    }

    /// The slices of a group. (Rewriting every 64th cell first, so that no store delays the next load, took 1.6
    /// times as long: in the order of the cells, fewer slices must be moved.)
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
            let tag = shape.cell_tag(cell);
            let window = number.wrapping_sub(cell as u32 & 1);
            let first = shape.first(window, tag);
            let first = if cell & 2 == 0 { window } else { first };
            Some(StoredSlice {
                slice: shape.slice_at(group, first, tag),
                payload: shape.cell_payload(cell),
            })
        })
    }

    /// The entries of a group.
    pub(super) fn of_group(cells: &SliceCells, group: u64) -> impl Iterator<Item = Self> {
        let group_bit = cells.group_bit(group);
        let numbers = 0..=cells.shape().windows();
        numbers.filter_map(move |number| Self::load(cells, group, group_bit, number))
    }

    /// The cells that hold a slice, with any payload.
    #[inline(always)]
    fn cells_of(cells: &SliceCells, slice: u64) -> impl Iterator<Item = Self> {
        let entry = Self::new(cells, StoredSlice { slice, payload: 0 });
        (0..4).filter_map(move |at| {
            let entry = Self { at, ..entry };
            let cell = cells.cell(entry.bit(cells));
            let payload = cells.shape().cell_payload(cell);
            let entry = Self { payload, ..entry };
            (entry.is_storable() && cell == entry.value(cells)).then_some(entry)
        })
    }

    /// The entry of a slice that is stored.
    #[inline(always)]
    pub(super) fn find(cells: &SliceCells, slice: u64) -> Option<Self> {
        Self::cells_of(cells, slice).next()
    }

    /// In how many cells a slice is stored.
    pub(super) fn copies(cells: &SliceCells, slice: u64) -> u64 {
        Self::cells_of(cells, slice).count() as u64
    }

    /// The first bit of the cell.
    #[inline(always)]
    fn bit(&self, cells: &SliceCells) -> u64 {
        let number = self.windows[(self.at >> 1) as usize] + (self.at & 1);
        self.group_bit + u64::from(number) * u64::from(cells.shape().cell_bits())
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
    fn value(&self, cells: &SliceCells) -> u64 {
        cells.shape().cell_value(self.tag, self.at, self.payload)
    }

    #[inline(always)]
    fn write(&self, cells: &mut SliceCells) {
        cells.set(self.bit(cells), self.value(cells));
    }

    /// Overwrites the payload in the cell.
    pub(super) fn set_payload(self, cells: &mut SliceCells, payload: u64) {
        Self { payload, ..self }.write(cells);
    }

    /// Empties the cell.
    pub(super) fn erase(&self, cells: &mut SliceCells) {
        cells.set(self.bit(cells), 0);
    }

    /// The entry in the cell of this one.
    #[inline(always)]
    fn occupant(&self, cells: &SliceCells) -> Option<Self> {
        let number = self.windows[(self.at >> 1) as usize] + (self.at & 1);
        Self::load(cells, self.group, self.group_bit, number)
    }

    /// Stores the entry in its cell and returns the one that was there.
    #[inline(always)]
    fn swap(self, cells: &mut SliceCells) -> Self {
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
    fn make_room_nearby(self, cells: &mut SliceCells) -> bool {
        for at in 0..4 {
            let entry = Self { at, ..self };
            let Some(occupant) = entry.occupant(cells).filter(|_| entry.is_storable()) else {
                continue;
            };
            let moved = Self {
                at: occupant.at ^ 1,
                ..occupant
            };
            if moved.is_storable() && cells.is_free(cells.cell(moved.bit(cells))) {
                moved.write(cells);
                entry.write(cells);
                return true;
            }
        }
        false
    }

    /// Stores the entry in one of its cells, from the `first`th after its own on, if the slice there can move to an empty cell. The
    /// windows of all candidates are prefetched together, so that their cache misses overlap.
    fn make_room(self, cells: &mut SliceCells, first: u32) -> bool {
        let mut occupants = [None; 4];
        for turn in first..4 {
            let entry = self.turned(turn);
            if entry.is_storable() {
                let Some(occupant) = entry.occupant(cells) else {
                    entry.write(cells);
                    return true;
                };
                cells.prefetch_bit(occupant.turned(2).bit(cells));
                occupants[turn as usize] = Some(occupant);
            }
        }
        for turn in first..4 {
            let Some(occupant) = occupants[turn as usize] else {
                continue;
            };
            for step in 1..4 {
                let moved = occupant.turned(step);
                if moved.is_storable() && cells.is_free(cells.cell(moved.bit(cells))) {
                    moved.write(cells);
                    self.turned(turn).write(cells);
                    return true;
                }
            }
        }
        false
    }
}
