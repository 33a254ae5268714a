//! `SliceCells`: the cells of all groups of one shape, one group after the other, so that lookups need no checks and no pointers.
//!
//! A table that is being rewritten has two of them. Their memory is zeros that the system provides when they are written, and goes
//! back to the system as groups move to the other one.

use super::cuckoo::LookupConstants;
use super::cuckoo_batch::{CellWalk, CuckooAnswer, CuckooLookup, PayloadShape, SelectingShape};
use super::huge_pages;
use super::kernel::{Kernel, UsableKernel};
use super::prefetch::prefetch;
use crate::probe::slice::{MAX_NARROW_BITS, SliceShape, place};
use crate::store::{copied, zeroed};
use crate::{KeyHash, PlanError};
use alloc::vec::Vec;

/// What `find_each` says about a hash.
pub(crate) trait SliceAnswer: CuckooAnswer {
    /// Whether the answer is a payload.
    const IS_PAYLOAD: bool;

    /// The answer for a payload plus 1, or 0 for a slice that is not stored.
    fn from_payload(payload: u64) -> Self;
}

/// Whether the slice is stored.
impl SliceAnswer for bool {
    const IS_PAYLOAD: bool = false;

    fn from_payload(payload: u64) -> Self {
        payload != 0
    }
}

/// The payload of the slice plus 1, or 0.
impl SliceAnswer for u16 {
    const IS_PAYLOAD: bool = true;

    fn from_payload(payload: u64) -> Self {
        payload as u16
    }
}

/// Invariant: there are as many bytes as the shape says.
#[derive(Clone)]
pub(crate) struct SliceCells {
    bytes: Vec<u8>,
    shape: SliceShape,
    /// For narrow cells.
    constants: LookupConstants,
    kernel: UsableKernel,
    /// How many bytes, from the start, were given back to the system.
    released: usize,
    /// The payloads of cells in use, one bit each; other cells are free. All, unless payloads say that a cell has expired.
    live: u64,
}

impl SliceCells {
    /// Empty cells.
    pub(crate) fn zeroed(shape: SliceShape) -> Result<Self, PlanError> {
        Ok(Self {
            bytes: zeroed(shape.size_bytes())?,
            constants: LookupConstants::new(
                shape.cell_bits().min(MAX_NARROW_BITS),
                shape.payload_bits(),
            ),
            kernel: UsableKernel::best(),
            shape,
            released: 0,
            live: u64::MAX,
        })
    }

    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        let bytes = copied(&self.bytes)?;
        Ok(Self { bytes, ..*self })
    }

    #[inline(always)]
    pub(crate) fn shape(&self) -> &SliceShape {
        &self.shape
    }

    fn range(&self, groups: core::ops::Range<u64>) -> core::ops::Range<usize> {
        let at = |group| (group * self.shape.group_bytes()) as usize;
        at(groups.start)..at(groups.end)
    }

    /// The bytes of some groups.
    pub(crate) fn groups(&self, groups: core::ops::Range<u64>) -> &[u8] {
        &self.bytes[self.range(groups)]
    }

    /// The bytes of some groups, to be overwritten.
    pub(crate) fn groups_mut(&mut self, groups: core::ops::Range<u64>) -> &mut [u8] {
        let range = self.range(groups);
        &mut self.bytes[range]
    }

    /// Gives the memory of the groups before `group` back to the system, where that is possible. They are not read any more.
    pub(crate) fn release_before(&mut self, group: u64) {
        let end = (group * self.shape.group_bytes()) as usize;
        self.released += huge_pages::release(&mut self.bytes[self.released..end]);
    }

    /// The first bit of a group.
    #[inline(always)]
    pub(crate) fn group_bit(&self, group: u64) -> u64 {
        self.shape.group_bit(group)
    }

    /// The first bits of both windows of `place(hash)`.
    #[inline(always)]
    pub(crate) fn bits(&self, placed: u64) -> [u64; 2] {
        self.probe(placed).1
    }

    /// The tag of `place(hash)`, and the first bits of both windows.
    #[inline(always)]
    fn probe(&self, placed: u64) -> (u64, [u64; 2]) {
        let at = self.shape.locate(placed);
        (
            at.tag,
            at.windows.map(|window| self.shape.bit(at.group, window)),
        )
    }

    /// Prefetches what `find_at` reads.
    #[inline(always)]
    pub(crate) fn prefetch_bits(&self, bits: [u64; 2]) {
        for bit in bits {
            let start = self.bytes.as_ptr().wrapping_add((bit >> 3) as usize);
            prefetch(start);
            prefetch(start.wrapping_add(7));
        }
    }

    /// Prefetches the cell that starts at `bit`.
    #[inline(always)]
    pub(crate) fn prefetch_bit(&self, bit: u64) {
        prefetch(self.bytes.as_ptr().wrapping_add((bit >> 3) as usize));
    }

    /// Whether the slice of `place(hash)` is stored; `HAS_PAYLOAD` says whether cells have payloads.
    #[inline(always)]
    pub(crate) fn find<const HAS_PAYLOAD: bool>(&self, placed: u64) -> bool {
        debug_assert_eq!(HAS_PAYLOAD, self.shape.payload_bits() > 0);
        let (tag, bits) = self.probe(placed);
        if self.is_wide() {
            return self.find_wide(tag, bits) != 0;
        }
        // Without branches, as `WindowedCells::find`.
        let [first, second] = bits.map(|bit| self.load(bit));
        let expected = self.constants.in_first(tag);
        if HAS_PAYLOAD {
            self.constants
                .any_equal::<PayloadShape>(first, second, expected)
        } else {
            self.constants
                .any_equal::<SliceShape>(first, second, expected)
        }
    }

    /// The payload of the slice of `place(hash)`, plus 1; 0 if it is not stored. Cells must have payloads, and no slice two cells.
    #[inline(always)]
    pub(crate) fn find_payload(&self, placed: u64) -> u64 {
        let (tag, bits) = self.probe(placed);
        if self.is_wide() {
            return self.find_wide(tag, bits);
        }
        let [first, second] = bits.map(|bit| self.load(bit));
        let expected = self.constants.in_first(tag);
        self.constants
            .payload::<PayloadShape>(first, second, expected)
    }

    /// `find`, or `find_payload`, for many hashes; both slices must have the same length.
    pub(crate) fn find_each<A: SliceAnswer>(&self, hashes: &[KeyHash], answers: &mut [A]) {
        if self.is_wide() {
            for (hash, answer) in hashes.iter().zip(answers) {
                let placed = place(hash.to_u64());
                let (tag, bits) = self.probe(placed);
                let payload = self.find_wide(tag, bits);
                *answer = A::from_payload(payload);
            }
            return;
        }
        if self.shape.payload_bits() == 0 {
            assert!(!A::IS_PAYLOAD, "cells without payloads");
            self.find_each_with(self.shape, hashes, answers);
        } else {
            self.find_each_with(PayloadShape(self.shape), hashes, answers);
        }
    }

    /// Whether the slice of `place(hash)` is stored with one of these payloads, one bit each. Cells must have payloads, and no slice two
    /// cells.
    #[inline(always)]
    pub(crate) fn find_live(&self, placed: u64, live: u64) -> bool {
        let (tag, bits) = self.probe(placed);
        if self.is_wide() {
            // Bit 0 is for 0, which is no payload.
            return (live << 1) >> self.find_wide(tag, bits) & 1 != 0;
        }
        let windows = bits.map(|bit| self.load(bit));
        let expected = self.constants.in_first(tag);
        self.constants
            .is_accepted::<PayloadShape>(windows, expected, live)
    }

    /// `find_live` for many hashes; both slices must have the same length.
    pub(crate) fn find_each_live(&self, hashes: &[KeyHash], live: u64, found: &mut [bool]) {
        if self.is_wide() {
            for (hash, found) in hashes.iter().zip(found) {
                *found = self.find_live(place(hash.to_u64()), live);
            }
            return;
        }
        let walk = SelectingShape {
            shape: self.shape,
            accepted: live,
        };
        self.find_each_with(walk, hashes, found);
    }

    fn find_each_with<W: CellWalk>(
        &self,
        walk: W,
        hashes: &[KeyHash],
        answers: &mut [impl CuckooAnswer],
    ) {
        let table = &CuckooLookup {
            bytes: &self.bytes,
            walk,
            cell_bits: self.shape.cell_bits(),
            constants: self.constants,
        };
        // SAFETY: the shape matches the bytes.
        unsafe { CellWalk::find_each(table, self.batch_kernel(), hashes, answers) }
    }

    #[inline(always)]
    fn is_wide(&self) -> bool {
        self.shape.cell_bits() > MAX_NARROW_BITS
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
        if self.shape.level() <= 32 {
            self.kernel
        } else {
            UsableKernel::PORTABLE
        }
    }

    /// `find_payload` for wide cells, which only tables with few keys have; and 1 if cells without payloads hold the slice.
    #[inline(never)]
    fn find_wide(&self, tag: u64, bits: [u64; 2]) -> u64 {
        let cell_bits = u64::from(self.shape.cell_bits());
        for at in 0..4 {
            let bit = bits[at as usize >> 1] + u64::from(at & 1) * cell_bits;
            let cell = self.load(bit) & self.cell_mask();
            let payload = self.shape.cell_payload(cell);
            if cell == self.shape.cell_value(tag, at, payload) && (tag != 0 || at != 0) {
                return payload + 1;
            }
        }
        0
    }

    /// The 57 bits, or more, from `bit` on.
    #[inline(always)]
    fn load(&self, bit: u64) -> u64 {
        let byte = (bit >> 3) as usize;
        debug_assert!(byte + 8 <= self.bytes.len());
        // SAFETY: `bit` is the start of a cell, because groups are below `groups()` (they are the top `level` bits of a number) and
        // windows below `windows()`; and there are 8 bytes after the last group.
        let word = unsafe { self.bytes.as_ptr().add(byte).cast::<u64>().read_unaligned() };
        u64::from_le(word) >> (bit & 7)
    }

    /// The cell that starts at `bit`.
    #[inline(always)]
    pub(crate) fn cell(&self, bit: u64) -> u64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.bytes[(bit >> 3) as usize..][..8]);
        u64::from_le_bytes(bytes) >> (bit & 7) & self.cell_mask()
    }

    /// Whether an insert may overwrite a cell, and a rewrite leaves it out: it is empty or has expired.
    #[inline(always)]
    pub(crate) fn is_free(&self, cell: u64) -> bool {
        // Payloads of more than 6 bits do not expire.
        cell == 0 || self.live.wrapping_shr(self.shape.cell_payload(cell) as u32) & 1 == 0
    }

    /// The payloads of cells in use, one bit each. Other cells are free from now on.
    pub(crate) fn set_live(&mut self, live: u64) {
        self.live = live;
    }

    pub(crate) fn live(&self) -> u64 {
        self.live
    }

    /// Empties the cells of a group that have expired.
    pub(crate) fn clean_group(&mut self, group: u64) {
        let cell_bits = self.shape.cell_bits();
        let per_load = 57 / cell_bits;
        let expired = !self.live;
        let to_payload = cell_bits - self.shape.payload_bits();
        let mut bit = self.group_bit(group);
        let end = bit + u64::from(self.shape.windows() + 1) * u64::from(cell_bits);
        // As many cells as a load has, and a branch for all of them: one by one, a cell took three times as long.
        while bit + u64::from(per_load * cell_bits) <= end {
            let cells = self.load(bit) & ((1 << (per_load * cell_bits)) - 1);
            let mut payloads = cells >> to_payload;
            let mut may_be_expired = 0;
            for _ in 0..per_load {
                let payload = payloads & ((1 << self.shape.payload_bits()) - 1);
                may_be_expired |= expired.wrapping_shr(payload as u32);
                payloads >>= cell_bits;
            }
            if may_be_expired & 1 != 0 {
                (0..per_load).for_each(|at| self.clean_cell(bit + u64::from(at * cell_bits)));
            }
            bit += u64::from(per_load * cell_bits);
        }
        while bit < end {
            self.clean_cell(bit);
            bit += u64::from(cell_bits);
        }
    }

    /// Empties the cell that starts at `bit` if it has expired.
    #[inline(always)]
    fn clean_cell(&mut self, bit: u64) {
        let cell = self.cell(bit);
        if cell != 0 && self.is_free(cell) {
            self.set(bit, 0);
        }
    }

    /// Whether cells expire.
    #[inline(always)]
    pub(crate) fn expires(&self) -> bool {
        self.live != u64::MAX
    }

    /// Writes the cell that starts at `bit`.
    #[inline(always)]
    pub(crate) fn set(&mut self, bit: u64, cell: u64) {
        let (mask, shift) = (self.cell_mask(), bit & 7);
        let word = &mut self.bytes[(bit >> 3) as usize..][..8];
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        let bits = u64::from_le_bytes(bytes) & !(mask << shift) | cell << shift;
        word.copy_from_slice(&bits.to_le_bytes());
    }

    #[inline(always)]
    fn cell_mask(&self) -> u64 {
        (1 << self.shape.cell_bits()) - 1
    }

    /// Sets all cells of a group to zero.
    pub(crate) fn clear_group(&mut self, group: u64) {
        self.groups_mut(group..group + 1).fill(0);
    }
}
