//! The cells of a group that is being rewritten, one per word.

use super::CellAccess;
use crate::PlanError;
use crate::probe::slice::SliceShape;
use crate::store::zeroed;
use alloc::vec::Vec;
use core::ops::Range;

/// Empty cells of some groups. Positions are numbers of cells.
pub(in crate::filter) struct UnpackedCells {
    cells: Vec<u64>,
    shape: SliceShape,
    first_group: u64,
    expires: bool,
}

impl UnpackedCells {
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
            let mut write = |cell: u64, bytes: &mut [u8]| {
                word |= cell << (bit & 7);
                let count = bytes.len().min(8);
                bytes[..count].copy_from_slice(&word.to_le_bytes()[..count]);
                let written = ((bit & 7) + cell_bits) & !7;
                // Cells have 57 bits at most.
                word = word.checked_shr(written).unwrap_or(0);
                bit += cell_bits;
                (bit >> 3) as usize
            };
            // The others start less than 8 bytes before the end.
            let whole = cells.len().saturating_sub((64 / cell_bits + 1) as usize);
            let (whole, last) = cells.split_at(whole);
            let mut byte = 0;
            for &cell in whole {
                byte = write(cell, &mut bytes[byte..][..8]);
            }
            for &cell in last {
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
        // Without a branch on the first cell, which would often be mispredicted.
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
    use crate::simd::SliceCells;
    use crate::{HashScheme, KeyHash};

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
}
