//! `SliceCells`: the cells of all groups of one shape, one group after the other, so that lookups need no checks and no pointers.
//!
//! A table that is being rewritten has two of them. The larger one gets its groups one by one, as they move there, because an allocator
//! clears memory that it got back before, and 10 MB in the middle of one insert took up to 14 ms. Meanwhile the memory of the smaller
//! one goes back to the system.

use super::cuckoo::LookupConstants;
use super::cuckoo_batch::{CellWalk, CuckooAnswer, CuckooLookup, PayloadShape, SelectingShape};
use super::huge_pages;
use super::kernel::{Kernel, UsableKernel};
use super::prefetch::prefetch;
#[cfg(target_arch = "x86_64")]
use super::slice_lookup::SliceLookup;
use crate::probe::slice::{MAX_NARROW_BITS, SliceShape, place};
use crate::store::{copied, reserved, zeroed};
use crate::{KeyHash, PlanError};
use alloc::alloc::{Layout, handle_alloc_error};
use alloc::vec::Vec;

/// Bytes after the last group.
const SPARE_BYTES: usize = 8;

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

/// Invariant: the bytes are those of `groups` groups, and 8 more, so that every cell can be read by one load.
pub(crate) struct SliceCells {
    bytes: Vec<u8>,
    shape: SliceShape,
    /// How many groups there are: those of the shape, or fewer at first.
    groups: u64,
    /// Whether there are all groups, and cells are narrow: lookups test this instead of both.
    is_plain: bool,
    /// For narrow cells.
    constants: LookupConstants,
    /// For single lookups in narrow cells, if the kernel has AVX2.
    #[cfg(target_arch = "x86_64")]
    vectors: Option<SliceLookup>,
    kernel: UsableKernel,
    /// How many bytes, from the start, were given back to the system.
    released: usize,
    /// The payloads of cells in use, one bit each; other cells are free. All, unless payloads say that a cell has expired.
    live: u64,
}

impl SliceCells {
    /// Empty cells.
    pub(crate) fn zeroed(shape: SliceShape) -> Result<Self, PlanError> {
        let bytes = zeroed(shape.size_bytes())?;
        Ok(Self::from_bytes(shape, bytes, shape.groups()))
    }

    /// Memory for all groups, but none of them.
    pub(crate) fn without_groups(shape: SliceShape) -> Result<Self, PlanError> {
        let mut bytes = reserved(shape.size_bytes())?;
        bytes.resize(SPARE_BYTES, 0);
        Ok(Self::from_bytes(shape, bytes, 0))
    }

    /// Adds empty groups until there are `groups`.
    pub(crate) fn add_groups(&mut self, groups: u64) {
        if groups > self.groups {
            debug_assert!(groups <= self.shape.groups());
            // There is memory for them.
            let size_bytes = (groups * self.shape.group_bytes()) as usize + SPARE_BYTES;
            self.bytes.resize(size_bytes, 0);
            self.groups = groups;
            self.is_plain = is_plain(&self.shape, groups);
        }
    }

    fn from_bytes(shape: SliceShape, bytes: Vec<u8>, groups: u64) -> Self {
        let kernel = UsableKernel::best();
        Self {
            bytes,
            #[cfg(target_arch = "x86_64")]
            vectors: SliceLookup::new(&shape, kernel),
            constants: LookupConstants::new(
                shape.cell_bits().min(MAX_NARROW_BITS),
                shape.payload_bits(),
            ),
            kernel,
            shape,
            groups,
            is_plain: is_plain(&shape, groups),
            released: 0,
            live: u64::MAX,
        }
    }

    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        let bytes = if self.groups == self.shape.groups() {
            copied(&self.bytes)?
        } else {
            // With room for the groups that are still to be added.
            let mut bytes = reserved(self.shape.size_bytes())?;
            bytes.extend_from_slice(&self.bytes);
            bytes
        };
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
        if self.is_plain {
            // SAFETY: every group is there.
            unsafe { self.find_narrow::<HAS_PAYLOAD>(placed) }
        } else {
            self.find_checked::<HAS_PAYLOAD>(placed)
        }
    }

    /// `find` without a branch on `is_plain`, which would be mispredicted where keys alternate between the cells of a sweep.
    #[inline(always)]
    pub(crate) fn find_checked<const HAS_PAYLOAD: bool>(&self, placed: u64) -> bool {
        if self.is_narrow_at(placed) {
            // SAFETY: the group is there.
            unsafe { self.find_narrow::<HAS_PAYLOAD>(placed) }
        } else {
            self.find_wide(placed) != 0
        }
    }

    /// # Safety
    /// Cells must be narrow, and the group of `placed` must be there.
    #[inline(always)]
    unsafe fn find_narrow<const HAS_PAYLOAD: bool>(&self, placed: u64) -> bool {
        debug_assert_eq!(HAS_PAYLOAD, self.shape.payload_bits() > 0);
        #[cfg(target_arch = "x86_64")]
        if let Some(vectors) = &self.vectors {
            // SAFETY: these are the constants of the shape, and the group is there.
            return unsafe { vectors.find::<HAS_PAYLOAD>(&self.bytes, placed) };
        }
        // Without branches, as `WindowedCells::find`.
        let (tag, bits) = self.probe(placed);
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
        if !self.is_narrow_at(placed) {
            return self.find_wide(placed);
        }
        let (tag, bits) = self.probe(placed);
        let [first, second] = bits.map(|bit| self.load(bit));
        let expected = self.constants.in_first(tag);
        self.constants
            .payload::<PayloadShape>(first, second, expected)
    }

    /// `find`, or `find_payload`, for many hashes; both slices must have the same length.
    pub(crate) fn find_each<A: SliceAnswer>(&self, hashes: &[KeyHash], answers: &mut [A]) {
        if !self.is_narrow_for(hashes) {
            for (hash, answer) in hashes.iter().zip(answers) {
                *answer = A::from_payload(self.find_wide(place(hash.to_u64())));
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
        if self.is_plain {
            // SAFETY: every group is there.
            unsafe { self.find_live_narrow(placed, live) }
        } else {
            self.find_live_checked(placed, live)
        }
    }

    /// As [`find_checked`](Self::find_checked).
    #[inline(always)]
    pub(crate) fn find_live_checked(&self, placed: u64, live: u64) -> bool {
        if self.is_narrow_at(placed) {
            // SAFETY: the group is there.
            unsafe { self.find_live_narrow(placed, live) }
        } else {
            // Bit 0 is for 0, which is no payload.
            (live << 1) >> self.find_wide(placed) & 1 != 0
        }
    }

    /// # Safety
    /// As for `find_narrow`.
    #[inline(always)]
    unsafe fn find_live_narrow(&self, placed: u64, live: u64) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Some(vectors) = &self.vectors {
            // SAFETY: as in `find_narrow`.
            return unsafe { vectors.find_live(&self.bytes, placed, live) };
        }
        let (tag, bits) = self.probe(placed);
        let windows = bits.map(|bit| self.load(bit));
        let expected = self.constants.in_first(tag);
        self.constants
            .is_accepted::<PayloadShape>(windows, expected, live)
    }

    /// `find_live` for many hashes; both slices must have the same length.
    pub(crate) fn find_each_live(&self, hashes: &[KeyHash], live: u64, found: &mut [bool]) {
        if !self.is_narrow_for(hashes) {
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
        // SAFETY: the shape matches the bytes, and the callers have checked that the groups of all hashes are there.
        unsafe { CellWalk::find_each(table, self.batch_kernel(), hashes, answers) }
    }

    /// Whether cells are narrow, and the group of `place(hash)` is there.
    #[inline(always)]
    fn is_narrow_at(&self, placed: u64) -> bool {
        is_narrow(&self.shape) && self.shape.group(placed) < self.groups
    }

    /// Whether cells are narrow, and the groups of all hashes are there.
    fn is_narrow_for(&self, hashes: &[KeyHash]) -> bool {
        let has_group = |hash: &KeyHash| self.shape.group(place(hash.to_u64())) < self.groups;
        self.is_plain || is_narrow(&self.shape) && hashes.iter().all(has_group)
    }

    pub(crate) fn kernel(&self) -> Kernel {
        self.kernel.get()
    }

    #[cfg(all(test, target_arch = "x86_64"))]
    pub(super) fn vectors(&self) -> Option<&SliceLookup> {
        self.vectors.as_ref()
    }

    /// Switches to a kernel if this CPU has it; otherwise nothing changes.
    pub(crate) fn set_kernel(&mut self, kernel: Kernel) {
        if let Some(kernel) = UsableKernel::new(kernel) {
            self.kernel = kernel;
            #[cfg(target_arch = "x86_64")]
            {
                self.vectors = SliceLookup::new(&self.shape, kernel);
            }
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

    /// `find_payload` for wide cells, which only tables with few keys have; and 1 if cells without payloads hold the slice. It is 0 if the
    /// group is not there.
    #[inline(never)]
    fn find_wide(&self, placed: u64) -> u64 {
        if self.shape.group(placed) >= self.groups {
            return 0;
        }
        let (tag, bits) = self.probe(placed);
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
        // SAFETY: `bit` is the start of a cell: callers have checked that the group is there (in plain cells, every group is: it is the top
        // `level` bits of a number), and windows are below `windows()`; and there are 8 bytes after the last group.
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
        if !self.expires() {
            return cell == 0;
        }
        // Payloads of more than 6 bits do not expire. Without a branch on the cell, which would often be mispredicted.
        let has_expired = (!self.live).wrapping_shr(self.shape.cell_payload(cell) as u32) & 1;
        u64::from(cell == 0) | has_expired != 0
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
        assert!(group < self.groups);
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

impl Clone for SliceCells {
    /// Aborts if there is not enough memory, as a vector does.
    fn clone(&self) -> Self {
        self.try_clone()
            .unwrap_or_else(|_| handle_alloc_error(Layout::for_value(self.bytes.as_slice())))
    }
}

fn is_narrow(shape: &SliceShape) -> bool {
    shape.cell_bits() <= MAX_NARROW_BITS
}

fn is_plain(shape: &SliceShape, groups: u64) -> bool {
    is_narrow(shape) && groups == shape.groups()
}
