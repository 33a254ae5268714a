//! One table of a `Cuckoo`: where a key goes, and how others make room for it.
//!
//! A cell is a fingerprint, a bit for the choice (does it sit in its first window or its second?) and a bit for the offset (in
//! which cell of that window?). A key that finds its four cells taken pushes one fingerprint out, which then looks for room
//! among its own other three cells, and so on: a random walk of at most `KICKS` steps that looks one step ahead. Its randomness
//! is computed from the key's hash and the number of the step, so that the same keys in the same order always give the same
//! bytes, and a walk that ends nowhere can be walked back without having been written down.

use crate::plan::CuckooPlan;
use crate::probe::blocked::{FIRST, mul_high};
use crate::simd::WindowedCells;
use crate::{Full, PlanError};

/// How many fingerprints one insert may move. A million cells are filled to 0.954 before the first is refused, 16 million to
/// 0.953; a walk that does not look ahead reaches 0.949.
const MAX_MOVES: u64 = 2000;

/// Cells, and how many are in use.
#[derive(Clone)]
pub(super) struct CuckooTable {
    pub(super) cells: WindowedCells,
    pub(super) keys: u64,
    pub(super) plan: CuckooPlan,
}

/// A fingerprint on its way: both windows, and which of the four cells it has, or came from: `choice * 2 + offset`.
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

    /// What is written into the cell.
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

    /// A table from existing cells. Each must lie in a window of its own, so that it can be moved.
    pub(super) fn from_bytes(plan: CuckooPlan, bytes: &[u8]) -> Result<Self, PlanError> {
        let refuse = |field, value, accepted| {
            Err(PlanError::InvalidInteger {
                field,
                value,
                accepted,
            })
        };
        if bytes.len() as u64 != plan.size_bytes() {
            let length = bytes.len() as u64;
            return refuse("bytes", length, "as many as the cells need");
        }
        let mut nest = Self::new(plan)?;
        nest.cells.copy_from(bytes);
        let last = plan.cells() - 1;
        for at in 0..=last {
            let (window, offset) = if at == 0 { (0, 0) } else { (at - 1, 1) };
            let cell = nest.cells.cell(window, offset);
            let (fingerprint, is_second) = (cell >> 2, cell & 1 == 1);
            if cell == 0 {
                continue;
            }
            if fingerprint == 0 || (is_second && at == 0) || (!is_second && at == last) {
                return refuse("cell", cell, "a fingerprint in a window of the table");
            }
            nest.keys += 1;
        }
        let end = plan.cells() * u64::from(plan.cell_bits());
        let past = bytes.iter().skip((end / 8) as usize);
        let mut past = past.zip([end % 8].into_iter().chain(core::iter::repeat(0)));
        if past.any(|(byte, from)| byte >> from != 0) {
            return refuse("bits past the last cell", 1, "zeros");
        }
        Ok(nest)
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

    /// A number that is not 0, and equal for keys that look alike in this table: its first window and fingerprint. There are
    /// fewer than 2^64, because rates below capacity / 2^63 are not planned for.
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
        let places = 4 - u32::from(key.windows[0].abs_diff(key.windows[1]) == 1);
        if copies == places {
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

    /// How many cells hold the key, or one that looks like it.
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

    /// Takes out one copy.
    pub(super) fn remove(&mut self, hash: u64) -> bool {
        let mut key = self.placed(hash);
        // The last of the places first: of two copies, mostly the one that came later.
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
    fn write(&mut self, lodger: PlacedFingerprint) {
        let (window, offset) = lodger.place();
        self.cells.set(window, offset, lodger.cell());
    }

    /// The one who has a cell that is not empty.
    #[inline(always)]
    fn occupant(&self, (window, offset): (u64, u64)) -> PlacedFingerprint {
        let cell = self.cells.cell(window, offset);
        let (fingerprint, at) = (cell >> 2, cell & 3);
        // The same cell, seen from the window of the one who has it.
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

    /// Puts `lodger` into its cell and hands over the one who had it.
    #[inline(always)]
    fn swap(&mut self, lodger: PlacedFingerprint) -> PlacedFingerprint {
        let resident = self.occupant(lodger.place());
        self.write(lodger);
        resident
    }

    /// Puts `lodger` into one of its cells, from the `first`th after its own on, if the one who has that can move to an empty
    /// one. All who might move are asked for together, so that memory is waited for once.
    #[inline(always)]
    fn make_room(&mut self, lodger: PlacedFingerprint, first: u64) -> bool {
        let turned = |lodger: PlacedFingerprint, turn| PlacedFingerprint {
            at: (lodger.at + turn) & 3,
            ..lodger
        };
        let mut residents = [lodger; 4];
        for turn in first..4 {
            let resident = self.occupant(turned(lodger, turn).place());
            self.cells
                .prefetch_window(resident.windows[(resident.at >> 1 ^ 1) as usize]);
            residents[turn as usize] = resident;
        }
        for turn in first..4 {
            for step in 1..4 {
                let moved = turned(residents[turn as usize], step);
                let (window, offset) = moved.place();
                if self.cells.cell(window, offset) == 0 {
                    self.write(moved);
                    self.write(turned(lodger, turn));
                    return true;
                }
            }
        }
        false
    }

    /// The random walk: each lodger pushes out the next, until one can be given room. If none can, the walk is undone.
    #[cold]
    fn insert_by_moving(&mut self, key: PlacedFingerprint, hash: u64) -> Result<(), Full> {
        let mut lodger = PlacedFingerprint { at: 0, ..key };
        if self.make_room(lodger, 0) {
            return Ok(());
        }
        lodger.at = random(hash, 0, 4);
        for step in 1..=MAX_MOVES {
            // Who is pushed out finds no empty cell: `make_room` has looked.
            lodger = self.swap(lodger);
            if self.make_room(lodger, 1) {
                return Ok(());
            }
            lodger.at = (lodger.at + 1 + random(hash, step, 3)) & 3;
        }
        // Each lodger goes back to where it came from, which is where the random number of its step says, and meets there the
        // one who pushed it.
        for step in (1..=MAX_MOVES).rev() {
            lodger.at = (lodger.at + 3 - random(hash, step, 3)) & 3;
            lodger = self.swap(lodger);
        }
        Err(self.full())
    }
}

/// Number `step` of the random numbers that belong to a hash, below `range`.
#[inline(always)]
fn random(hash: u64, step: u64, range: u64) -> u64 {
    let mixed = (hash ^ step.wrapping_mul(FIRST)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mul_high((mixed ^ mixed >> 32).wrapping_mul(FIRST), range)
}

/// The same cells by the same plan.
impl PartialEq for CuckooTable {
    fn eq(&self, other: &Self) -> bool {
        self.plan == other.plan && self.cells == other.cells
    }
}
