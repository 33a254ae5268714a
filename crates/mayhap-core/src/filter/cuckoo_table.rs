//! One table of a `Cuckoo`: where a key is stored, and how other keys are moved to make room.
//!
//! A cell holds a fingerprint, one bit for the choice (first or second window) and one bit for the offset (which cell of that
//! window). A key whose four cells are taken evicts one fingerprint, which then tries its own three other cells, and so on: a
//! random walk of at most `MAX_MOVES` steps that looks one step ahead. Its random numbers are computed from the key's hash and
//! the step number, so that the same keys in the same order always give the same bytes, and a failed walk can be undone without a
//! record of it.

use crate::plan::CuckooPlan;
use crate::probe::blocked::{FIRST, mul_high};
use crate::simd::WindowedCells;
use crate::{Full, PlanError};

/// How many fingerprints one insert may move. A million cells are filled to 0.954 before the first insert fails, 16 million to
/// 0.953; a walk without look-ahead reaches 0.949.
const MAX_MOVES: u64 = 2000;

/// The cells, and the number in use.
#[derive(Clone)]
pub(super) struct CuckooTable {
    pub(super) cells: WindowedCells,
    pub(super) keys: u64,
    pub(super) plan: CuckooPlan,
}

/// A fingerprint with its two windows and one of its four cells: `choice * 2 + offset`.
#[derive(Clone, Copy)]
struct PlacedFingerprint {
    fingerprint: u64,
    windows: [u64; 2],
    at: u64,
}

impl PlacedFingerprint {
    /// The window and the offset of the cell.
    #[inline(always)]
    fn place(&self) -> (u64, u64) {
        (self.windows[(self.at >> 1) as usize], self.at & 1)
    }

    /// The value of the cell.
    #[inline(always)]
    fn cell(&self) -> u64 {
        self.fingerprint << 2 | self.at
    }
}

impl CuckooTable {
    pub(super) fn new(plan: CuckooPlan) -> Result<Self, PlanError> {
        Ok(Self {
            cells: WindowedCells::zeroed(plan.cells(), plan.fingerprint_bits())?,
            keys: 0,
            plan,
        })
    }

    /// A table from existing cells. Each must lie in one of its windows, so that it can be moved.
    pub(super) fn from_bytes(plan: CuckooPlan, bytes: &[u8]) -> Result<Self, PlanError> {
        let invalid = |field, value, accepted| {
            Err(PlanError::InvalidInteger {
                field,
                value,
                accepted,
            })
        };
        if bytes.len() as u64 != plan.size_bytes() {
            let length = bytes.len() as u64;
            return invalid("bytes", length, "as many as the cells need");
        }
        let mut table = Self::new(plan)?;
        table.cells.copy_from(bytes);
        let last = plan.cells() - 1;
        for at in 0..=last {
            let (window, offset) = if at == 0 { (0, 0) } else { (at - 1, 1) };
            let cell = table.cells.cell(window, offset);
            let (fingerprint, is_second) = (cell >> 2, cell & 1 == 1);
            if cell == 0 {
                continue;
            }
            if fingerprint == 0 || (is_second && at == 0) || (!is_second && at == last) {
                return invalid("cell", cell, "a fingerprint in a window of the table");
            }
            table.keys += 1;
        }
        let end = plan.cells() * u64::from(plan.cell_bits());
        let past = bytes.iter().skip((end / 8) as usize);
        let mut past = past.zip([end % 8].into_iter().chain(core::iter::repeat(0)));
        if past.any(|(byte, from)| byte >> from != 0) {
            return invalid("bits past the last cell", 1, "zeros");
        }
        Ok(table)
    }

    pub(super) fn try_clone(&self) -> Result<Self, PlanError> {
        let table = self.cells.try_clone()?;
        Ok(Self {
            cells: table,
            ..*self
        })
    }

    pub(super) fn clear(&mut self) {
        self.cells.clear();
        self.keys = 0;
    }

    #[inline(always)]
    fn placed(&self, hash: u64) -> PlacedFingerprint {
        let (first, fingerprint) = self.cells.windows().locate(hash);
        PlacedFingerprint {
            fingerprint,
            windows: [first, self.cells.windows().second(first, fingerprint)],
            at: 0,
        }
    }

    /// A number, not 0, that is equal for keys that this table cannot distinguish: the first window and the fingerprint. It fits
    /// into 64 bits, because rates below capacity / 2^63 are not planned.
    pub(super) fn fingerprint_id(&self, hash: u64) -> u64 {
        let (window, fingerprint) = self.cells.windows().locate(hash);
        window << self.plan.fingerprint_bits() | fingerprint
    }

    pub(super) fn insert(&mut self, hash: u64) -> Result<bool, Full> {
        let mut key = self.placed(hash);
        let (mut empty, mut copies) = (None, 0);
        for at in 0..4 {
            key.at = at;
            let (window, offset) = key.place();
            let cell = self.cells.cell(window, offset);
            copies += u32::from(cell == key.cell());
            if cell == 0 && empty.is_none() {
                empty = Some(at);
            }
        }
        // Neighbouring windows share a cell.
        let cells_per_key = 4 - u32::from(key.windows[0].abs_diff(key.windows[1]) == 1);
        if copies == cells_per_key {
            return Err(Full::Copies { copies });
        }
        if self.keys >= self.plan.max_keys() {
            return Err(self.full());
        }
        if let Some(at) = empty {
            self.write(PlacedFingerprint { at, ..key });
        } else {
            self.insert_by_moving(key, hash)?;
        }
        self.keys += 1;
        Ok(copies == 0)
    }

    /// The number of cells that hold the key's fingerprint.
    pub(super) fn copies(&self, hash: u64) -> u32 {
        let key = self.placed(hash);
        let holds = |at| {
            let key = PlacedFingerprint { at, ..key };
            let (window, offset) = key.place();
            self.cells.cell(window, offset) == key.cell()
        };
        (0..4).map(|at| u32::from(holds(at))).sum()
    }

    #[cold]
    pub(super) fn full(&self) -> Full {
        Full::Table {
            keys: self.keys,
            capacity: self.plan.capacity(),
        }
    }

    /// Removes one copy.
    pub(super) fn remove(&mut self, hash: u64) -> bool {
        let mut key = self.placed(hash);
        // From the last cell to the first: of two copies, this is mostly the later one.
        for at in (0..4).rev() {
            key.at = at;
            let (window, offset) = key.place();
            if self.cells.cell(window, offset) == key.cell() {
                self.cells.set(window, offset, 0);
                self.keys -= 1;
                return true;
            }
        }
        false
    }

    #[inline(always)]
    fn write(&mut self, entry: PlacedFingerprint) {
        let (window, offset) = entry.place();
        self.cells.set(window, offset, entry.cell());
    }

    /// The fingerprint stored in a cell that is not empty.
    #[inline(always)]
    fn occupant(&self, (window, offset): (u64, u64)) -> PlacedFingerprint {
        let cell = self.cells.cell(window, offset);
        let (fingerprint, at) = (cell >> 2, cell & 3);
        // The same cell, relative to the window of its fingerprint.
        let window = window + offset - (at & 1);
        let windows = if at & 2 == 0 {
            [window, self.cells.windows().second(window, fingerprint)]
        } else {
            [self.cells.windows().first(window, fingerprint), window]
        };
        PlacedFingerprint {
            fingerprint,
            windows,
            at,
        }
    }

    /// Stores `key` in its cell and returns the fingerprint that was there.
    #[inline(always)]
    fn swap(&mut self, entry: PlacedFingerprint) -> PlacedFingerprint {
        let occupant = self.occupant(entry.place());
        self.write(entry);
        occupant
    }

    /// Stores `key` in one of its cells, from the `first`th after its own on, if the fingerprint there can move to an empty cell.
    /// The windows of all candidates are prefetched together, so that their cache misses overlap.
    #[inline(always)]
    fn make_room(&mut self, entry: PlacedFingerprint, first: u64) -> bool {
        let turned = |entry: PlacedFingerprint, turn| PlacedFingerprint {
            at: (entry.at + turn) & 3,
            ..entry
        };
        let mut occupants = [entry; 4];
        for turn in first..4 {
            let occupant = self.occupant(turned(entry, turn).place());
            self.cells
                .prefetch_window(occupant.windows[(occupant.at >> 1 ^ 1) as usize]);
            occupants[turn as usize] = occupant;
        }
        for turn in first..4 {
            for step in 1..4 {
                let moved = turned(occupants[turn as usize], step);
                let (window, offset) = moved.place();
                if self.cells.cell(window, offset) == 0 {
                    self.write(moved);
                    self.write(turned(entry, turn));
                    return true;
                }
            }
        }
        false
    }

    /// The random walk: each fingerprint evicts the next, until one finds room. If none does, the walk is undone.
    #[cold]
    fn insert_by_moving(&mut self, key: PlacedFingerprint, hash: u64) -> Result<(), Full> {
        let mut entry = PlacedFingerprint { at: 0, ..key };
        if self.make_room(entry, 0) {
            return Ok(());
        }
        entry.at = random(hash, 0, 4);
        for step in 1..=MAX_MOVES {
            // The evicted fingerprint has no empty cell: `make_room` has checked.
            entry = self.swap(entry);
            if self.make_room(entry, 1) {
                return Ok(());
            }
            entry.at = (entry.at + 1 + random(hash, step, 3)) & 3;
        }
        // Each fingerprint returns to where it came from, which the random number of its step determines, and evicts the one that
        // had evicted it.
        for step in (1..=MAX_MOVES).rev() {
            entry.at = (entry.at + 3 - random(hash, step, 3)) & 3;
            entry = self.swap(entry);
        }
        Err(self.full())
    }
}

/// The random number `step` of a hash, below `range`.
#[inline(always)]
fn random(hash: u64, step: u64, range: u64) -> u64 {
    let mixed = (hash ^ step.wrapping_mul(FIRST)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mul_high((mixed ^ mixed >> 32).wrapping_mul(FIRST), range)
}

/// Equal plans and equal cells.
impl PartialEq for CuckooTable {
    fn eq(&self, other: &Self) -> bool {
        self.plan == other.plan && self.cells == other.cells
    }
}
