//! The cells of a group that is being rewritten, one per word. They are packed once, when all slices have their cells.
//!
//! Storing into packed cells took 4 ns per key more, and a group that fails halfway had to be cleared. (32 or 16 bits per cell were
//! not faster than 64, which hold cells of any width: 160 KiB at most.)

use super::CellAccess;
use crate::PlanError;
use crate::probe::slice::{MAX_NARROW_BITS, SliceShape};
use crate::store::zeroed;
use alloc::vec::Vec;
use core::ops::Range;

/// The cells of some groups. Positions are numbers of cells.
pub(in crate::filter) struct UnpackedCells {
    cells: Vec<u64>,
    shape: SliceShape,
    first_group: u64,
    expires: bool,
}

impl UnpackedCells {
    /// Empty cells.
    pub(in crate::filter) fn zeroed(
        shape: SliceShape,
        groups: Range<u64>,
        expires: bool,
    ) -> Result<Self, PlanError> {
        let count = (groups.end - groups.start) * u64::from(shape.windows() + 1);
        Ok(Self {
            cells: zeroed(count)?,
            shape,
            first_group: groups.start,
            expires,
        })
    }

    /// Overwrites the bytes of the groups.
    pub(in crate::filter) fn pack(&self, bytes: &mut [u8]) {
        let cell_bits = self.shape.cell_bits();
        let groups = self.cells.chunks_exact(self.shape.windows() as usize + 1);
        for (cells, bytes) in groups.zip(bytes.chunks_exact_mut(self.shape.group_bytes() as usize))
        {
            let (mut word, mut bit) = (0, 0);
            let mut write = |cells: &[u64], bytes: &mut [u8]| {
                let all = cells
                    .iter()
                    .rev()
                    .fold(0, |all, cell| all << cell_bits | cell);
                let all_bits = cells.len() as u32 * cell_bits;
                word |= all << (bit & 7);
                let count = bytes.len().min(8);
                bytes[..count].copy_from_slice(&word.to_le_bytes()[..count]);
                let written = ((bit & 7) + all_bits) & !7;
                // Cells have 57 bits at most.
                word = word.checked_shr(written).unwrap_or(0);
                bit += all_bits;
                (bit >> 3) as usize
            };
            // 8 bytes from the start of one of these are in the group.
            let whole = cells.len().saturating_sub((64 / cell_bits + 1) as usize);
            let (whole, last) = cells.split_at(whole & !1);
            let mut byte = 0;
            if cell_bits <= MAX_NARROW_BITS {
                // Half as many steps that depend on each other.
                for pair in whole.chunks_exact(2) {
                    byte = write(pair, &mut bytes[byte..][..8]);
                }
            } else {
                for cell in whole.chunks_exact(1) {
                    byte = write(cell, &mut bytes[byte..][..8]);
                }
            }
            for cell in last.chunks_exact(1) {
                byte = write(cell, &mut bytes[byte..]);
            }
        }
    }
}

impl CellAccess for UnpackedCells {
    #[inline(always)]
    fn shape(&self) -> &SliceShape {
        &self.shape
    }

    #[inline(always)]
    fn start(&self, group: u64) -> u64 {
        (group - self.first_group) * u64::from(self.shape.windows() + 1)
    }

    #[inline(always)]
    fn position(&self, start: u64, number: u32) -> u64 {
        start + u64::from(number)
    }

    #[inline(always)]
    fn cell(&self, position: u64) -> u64 {
        self.cells[position as usize]
    }

    #[inline(always)]
    fn set(&mut self, position: u64, cell: u64) {
        self.cells[position as usize] = cell;
    }

    #[inline(always)]
    fn free_offset(&self, start: u64, window: u32, from: u32) -> Option<u32> {
        // Without a branch on the first cell: in a new group it is free for two slices of three, and is hard to predict. (A branch on
        // each cell was 1 ns slower per key. So was a choice among all four cells without a branch: a store whose place is computed
        // late delays the next slice.)
        let position = self.position(start, window);
        let offset = from | u32::from(!self.is_free(self.cell(position)));
        let cell = self.cell(position + u64::from(offset));
        self.is_free(cell).then_some(offset)
    }

    /// Expired slices were left out.
    #[inline(always)]
    fn is_free(&self, cell: u64) -> bool {
        cell == 0
    }

    #[inline(always)]
    fn expires(&self) -> bool {
        self.expires
    }

    #[inline(always)]
    fn prefetch(&self, _position: u64) {}
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::filter::slice_entry::{SliceEntry, StoredSlice};
    use crate::probe::slice::place;
    use crate::simd::{SliceCells, for_each_slice};
    use crate::{HashScheme, Kernel, KeyHash};

    fn store(cells: &mut impl CellAccess, stored: StoredSlice) -> Option<StoredSlice> {
        if SliceEntry::insert(cells, stored) {
            return None;
        }
        SliceEntry::insert_by_moving(cells, stored).err()
    }

    /// Fills groups until slices find no cell, packed and unpacked.
    fn compare(shape: SliceShape, live: u64, groups: Range<u64>) {
        let mut packed = SliceCells::zeroed(shape).unwrap();
        packed.set_live(live);
        let mut unpacked = UnpackedCells::zeroed(shape, groups.clone(), packed.expires()).unwrap();
        let keys = (groups.end - groups.start) * u64::from(shape.windows()) * 21 / 20 + 4;
        let mut lost = 0;
        let mut number = 0_u64;
        for _ in 0..keys {
            let (group, payload) = loop {
                number += 1;
                let payload = number & ((1 << shape.payload_bits()) - 1);
                if live >> (payload & 63) & 1 != 0 {
                    break (groups.start + number % (groups.end - groups.start), payload);
                }
            };
            let hash: KeyHash = HashScheme::Xxh3.hash(number.to_le_bytes());
            let local = place(hash.to_u64()) >> shape.level();
            let slice = shape.slice((group << 1 << (63 - shape.level())) | local);
            let stored = StoredSlice { slice, payload };
            let without_cell = store(&mut packed, stored);
            assert_eq!(store(&mut unpacked, stored), without_cell);
            lost += u64::from(without_cell.is_some());
        }
        assert!(lost > 0, "the rules for full groups were not compared");
        let bytes = packed.groups(groups);
        // Whatever was there is overwritten.
        let mut copy = std::vec![0xA5; bytes.len()];
        unpacked.pack(&mut copy);
        assert!(copy == bytes, "{shape:?}");
    }

    #[test]
    fn unpacked_groups_have_the_bytes_of_packed_ones() {
        // (slice bits, payload bits, shape): from 3 bits per cell to 57, one group and several.
        let cases = [
            (16, 0, 50),
            (30, 0, 40),
            (24, 8, 17),
            (54, 4, 0),
            (50, 8, 3),
        ];
        for (slice_bits, payload_bits, step) in cases {
            let shape = SliceShape::new(slice_bits, payload_bits, step).unwrap();
            compare(shape, u64::MAX, 0..1);
        }
        let shape = SliceShape::new(30, 4, 48).unwrap();
        compare(shape, 0b0110_1111, 2..4);
        compare(shape, u64::MAX, shape.groups() - 1..shape.groups());
    }

    #[test]
    fn every_kernel_reads_the_same_slices() {
        for (slice_bits, payload_bits, step) in [(16, 0, 40), (30, 4, 43), (54, 4, 6), (54, 0, 81)]
        {
            let shape = SliceShape::new(slice_bits, payload_bits, step).unwrap();
            let next = shape.larger().unwrap();
            let mut cells = SliceCells::zeroed(shape).unwrap();
            let group = shape.groups() - 1;
            for number in 0..u64::from(shape.windows()) * 4 / 5 {
                let hash: KeyHash = HashScheme::Xxh3.hash(number.to_le_bytes());
                let local = place(hash.to_u64()) >> shape.level();
                let slice = shape.slice((group << 1 << (63 - shape.level())) | local);
                let payload = number & ((1 << payload_bits) - 1);
                store(&mut cells, StoredSlice { slice, payload });
            }
            // Not all of them, if there are payloads.
            cells.set_live(!2);
            let expected: Vec<_> = SliceEntry::slices(&cells, group)
                .map(|stored| {
                    let place = next.locate(stored.slice);
                    (stored, place.group, place.tag, place.windows)
                })
                .collect();
            for kernel in Kernel::available() {
                cells.set_kernel(kernel);
                let mut read = Vec::new();
                for_each_slice(&cells, group, next, |slice, payload, place| {
                    let stored = StoredSlice { slice, payload };
                    read.push((stored, place.group, place.tag, place.windows));
                });
                assert!(read == expected, "{kernel} {shape:?}");
            }
        }
    }
}
