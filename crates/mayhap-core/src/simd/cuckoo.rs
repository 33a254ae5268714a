//! `WindowedCells`: cells and the windows over them, known to fit together, so that lookups need no checks.
//!
//! A lookup uses as few instructions as possible, because out of cache they limit how many lookups a core can overlap: both
//! windows are loaded without a branch, and the two cells of a window are compared in one word.

use super::cuckoo_batch::{CellWalk, CuckooLookup};
use super::kernel::{Kernel, UsableKernel};
use crate::probe::cuckoo::CuckooWindows;
use crate::store::PackedCells;
use crate::{KeyHash, PlanError};
use core::hint::select_unpredictable;

/// The cells of a `Cuckoo`. Invariant: the windows match the number of cells.
#[derive(Clone)]
pub(crate) struct WindowedCells {
    cells: PackedCells,
    windows: CuckooWindows,
    constants: LookupConstants,
    kernel: UsableKernel,
}

/// Constants of a lookup, each a memory operand: computing them from the width of a cell takes five more instructions.
#[derive(Clone, Copy)]
pub(super) struct LookupConstants {
    /// 1 in each of the two cells of a window.
    pub(super) ones: u64,
    /// Copies a fingerprint into both cells, above choice and offset.
    pub(super) fingerprints: u64,
    /// Offset 0 in the first cell, 1 in the second.
    pub(super) offsets: u64,
    /// Choice 1 in both.
    pub(super) choices: u64,
    /// The top bit of both.
    pub(super) tops: u64,
    /// What is compared: all bits of both but the payload.
    pub(super) compared: u64,
    /// The bits of the payload, at the top of a cell, and those below it.
    pub(super) payload_bits: u32,
    pub(super) below_payload: u32,
}

impl LookupConstants {
    pub(super) fn new(cell_bits: u32, payload_bits: u32) -> Self {
        let ones = 1 << cell_bits | 1;
        let below_payload = cell_bits - payload_bits;
        Self {
            ones,
            fingerprints: ones << 2,
            offsets: ones - 1,
            choices: ones << 1,
            tops: ones << (cell_bits - 1),
            compared: ones * ((1 << below_payload) - 1),
            payload_bits,
            below_payload,
        }
    }

    /// The values that the two cells of the first window of a fingerprint would have.
    #[inline(always)]
    pub(super) fn in_first(&self, fingerprint: u64) -> u64 {
        fingerprint.wrapping_mul(self.fingerprints) + self.offsets
    }

    /// Whether one of the cells of two windows has its value; `expected` are those of the first window.
    #[inline(always)]
    pub(super) fn any_equal<W: CellWalk>(&self, first: u64, second: u64, expected: u64) -> bool {
        // Subtracting 1 from a cell without differences sets its top bit, which was 0 before.
        let same = |differences: u64| differences.wrapping_sub(self.ones) & !differences;
        let [first, second] = self.differences::<W>(first, second, expected);
        (same(first) | same(second)) & self.tops != 0
    }

    /// Where the cells of two windows differ from their values.
    #[inline(always)]
    fn differences<W: CellWalk>(&self, first: u64, second: u64, expected: u64) -> [u64; 2] {
        let in_second = expected + self.choices;
        // Fingerprint 0 in the first cell would be an empty one, and is never stored there.
        let is_empty = u64::from(W::HAS_ZERO && expected == self.offsets);
        let differences = [first ^ expected | is_empty, second ^ in_second];
        if W::HAS_PAYLOAD {
            differences.map(|differences| differences & self.compared)
        } else {
            differences
        }
    }

    /// The top bits of the cells that have their value, of both windows. There must be a payload.
    #[inline(always)]
    fn matches<W: CellWalk>(&self, first: u64, second: u64, expected: u64) -> [u64; 2] {
        // The top bits are not compared. With all of them set, subtracting 1 from a cell without differences clears its top bit, and
        // leaves the other cell alone.
        let same =
            |differences: u64| !(differences | self.tops).wrapping_sub(self.ones) & self.tops;
        self.differences::<W>(first, second, expected).map(same)
    }

    /// Whether the cell that has its value has a payload that is accepted: bit n of `accepted` for payload n. At most one may have it.
    /// There must be a payload. (Fewer instructions than `payload` and a test of its result.)
    #[inline(always)]
    #[expect(
        clippy::needless_bitwise_bool,
        reason = "a branch on the answer would be mispredicted"
    )]
    pub(super) fn is_accepted<W: CellWalk>(
        &self,
        [first, second]: [u64; 2],
        expected: u64,
        accepted: u64,
    ) -> bool {
        let [in_first, in_second] = self.matches::<W>(first, second, expected);
        let window = select_unpredictable(in_first != 0, first, second);
        let top = in_first | in_second;
        // If there is no such cell, any shift will do.
        let payload = window >> ((top.trailing_zeros() + 1 - self.payload_bits) & 63);
        let payload = payload & ((1 << self.payload_bits) - 1);
        (top != 0) & (accepted >> payload & 1 != 0)
    }

    /// The payload of the cell that has its value, plus 1; 0 if none has. At most one may have it. There must be a payload.
    #[inline(always)]
    pub(super) fn payload<W: CellWalk>(&self, first: u64, second: u64, expected: u64) -> u64 {
        let [in_first, in_second] = self.matches::<W>(first, second, expected);
        // From the top bit of a cell to all bits of its payload.
        let widened = |tops: u64| (tops << 1) - (tops >> (self.payload_bits - 1));
        let payload = first & widened(in_first) | second & widened(in_second);
        let payload =
            payload >> self.below_payload | payload >> (2 * self.below_payload + self.payload_bits);
        let payload = payload & ((1 << self.payload_bits) - 1);
        (payload + 1) * u64::from(in_first | in_second != 0)
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
            constants: LookupConstants::new(cell_bits, 0),
            kernel: UsableKernel::best(),
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
        // SAFETY: both are below the number of windows.
        let (first, second) = unsafe { (self.load(first), self.load(second)) };
        let expected = self.constants.in_first(fingerprint);
        self.constants
            .any_equal::<CuckooWindows>(first, second, expected)
    }

    /// `find` for many hashes; both slices must have the same length.
    pub(crate) fn find_each(&self, hashes: &[KeyHash], found: &mut [bool]) {
        let table = &CuckooLookup {
            bytes: self.cells.bytes(),
            walk: self.windows,
            cell_bits: self.cells.cell_bits(),
            constants: self.constants,
        };
        // SAFETY: the windows match the cells.
        unsafe { CellWalk::find_each(table, self.batch_kernel(), hashes, found) }
    }

    pub(crate) fn kernel(&self) -> Kernel {
        self.kernel.get()
    }

    /// Switches to a kernel if this CPU has it; otherwise nothing changes.
    pub(crate) fn set_kernel(&mut self, kernel: Kernel) {
        if let Some(kernel) = UsableKernel::new(kernel) {
            self.kernel = kernel;
        }
    }

    /// The kernel of batches. Those with vectors multiply by numbers of 32 bits.
    fn batch_kernel(&self) -> UsableKernel {
        if self.windows.count >> 32 == 0 {
            self.kernel
        } else {
            UsableKernel::PORTABLE
        }
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
