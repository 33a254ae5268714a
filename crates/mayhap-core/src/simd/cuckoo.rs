//! `WindowedCells`: cells and the windows over them, known to fit together, so that lookups need no checks.
//!
//! A lookup uses as few instructions as possible, because out of cache they limit how many lookups a core can overlap: both
//! windows are loaded without a branch, and the two cells of a window are compared in one word.

use crate::PlanError;
use crate::probe::cuckoo::CuckooWindows;
use crate::store::PackedCells;

/// The cells of a `Cuckoo`. Invariant: the windows match the number of cells.
#[derive(Clone)]
pub(crate) struct WindowedCells {
    cells: PackedCells,
    windows: CuckooWindows,
    constants: LookupConstants,
}

/// Constants of a lookup, each a memory operand: computing them from the width of a cell takes five more instructions.
#[derive(Clone, Copy)]
struct LookupConstants {
    /// 1 in each of the two cells of a window.
    ones: u64,
    /// Copies a fingerprint into both cells, above choice and offset.
    fingerprints: u64,
    /// Offset 0 in the first cell, 1 in the second.
    offsets: u64,
    /// Choice 1 in both.
    choices: u64,
    /// The top bit of both.
    tops: u64,
}

impl LookupConstants {
    fn new(cell_bits: u32) -> Self {
        let ones = 1 << cell_bits | 1;
        Self {
            ones,
            fingerprints: ones << 2,
            offsets: ones - 1,
            choices: ones << 1,
            tops: ones << (cell_bits - 1),
        }
    }
}

impl WindowedCells {
    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        let cells = self.cells.try_clone()?;
        Ok(Self { cells, ..*self })
    }

    /// Empty cells for fingerprints of `fingerprint_bits` bits, with two more bits each for choice and offset.
    pub(crate) fn zeroed(cells: u64, fingerprint_bits: u32) -> Result<Self, PlanError> {
        let cell_bits = fingerprint_bits + 2;
        Ok(Self {
            cells: PackedCells::zeroed(cells, cell_bits)?,
            windows: CuckooWindows::new(cells, fingerprint_bits),
            constants: LookupConstants::new(cell_bits),
        })
    }

    /// Overwrites the cells; `bytes` must have the same length.
    pub(crate) fn copy_from(&mut self, bytes: &[u8]) {
        self.cells.copy_from(bytes);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.cells.bytes()
    }

    pub(crate) fn clear(&mut self) {
        self.cells.clear();
    }

    #[inline(always)]
    pub(crate) fn windows(&self) -> &CuckooWindows {
        &self.windows
    }

    /// One cell of a window: `offset` is 0 or 1.
    #[inline(always)]
    pub(crate) fn cell(&self, window: u64, offset: u64) -> u64 {
        self.cells.cell(window, offset)
    }

    /// Writes one cell of a window.
    #[inline(always)]
    pub(crate) fn set(&mut self, window: u64, offset: u64, cell: u64) {
        self.cells.set(window, offset, cell);
    }

    /// Prefetches a window.
    #[inline(always)]
    pub(crate) fn prefetch_window(&self, window: u64) {
        self.cells.prefetch(window);
    }

    /// Prefetches both windows of a hash.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        let (first, fingerprint) = self.windows.locate(hash);
        self.cells.prefetch(first);
        self.cells.prefetch(self.windows.second(first, fingerprint));
    }

    /// Whether one of the four cells of a hash holds its fingerprint. Without branches, which would be mispredicted for every
    /// second key and delay the loads of the next one (68 ns per key instead of 45 at 10M keys, on a busy machine).
    #[inline(always)]
    pub(crate) fn find(&self, hash: u64) -> bool {
        let (first, fingerprint) = self.windows.locate(hash);
        let second = self.windows.second(first, fingerprint);
        let constants = &self.constants;
        // The values that the two cells of the first window would have, and those of the second.
        let in_first = fingerprint.wrapping_mul(constants.fingerprints) + constants.offsets;
        let in_second = in_first + constants.choices;
        // SAFETY: both are below the number of windows.
        let (first, second) = unsafe { (self.load(first), self.load(second)) };
        // Subtracting 1 from a cell without differences sets its top bit, which was 0 before.
        let same = |differences: u64| differences.wrapping_sub(constants.ones) & !differences;
        (same(first ^ in_first) | same(second ^ in_second)) & constants.tops != 0
    }

    /// The two cells of a window, as `PackedCells::window`.
    ///
    /// # Safety
    /// The window must be below the number of windows.
    #[inline(always)]
    unsafe fn load(&self, window: u64) -> u64 {
        let (byte, shift) = self.cells.locate(window);
        debug_assert!(byte + 8 <= self.cells.bytes().len());
        // SAFETY: the bytes end where the load of the last window does (`store/packed_cells.rs`).
        let pair = unsafe {
            self.cells
                .bytes()
                .as_ptr()
                .add(byte)
                .cast::<u64>()
                .read_unaligned()
        };
        u64::from_le(pair) >> shift
    }
}

impl PartialEq for WindowedCells {
    fn eq(&self, other: &Self) -> bool {
        self.cells == other.cells
    }
}
