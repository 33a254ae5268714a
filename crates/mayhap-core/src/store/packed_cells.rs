//! Packed cells of a few bits each, read two neighbours at a time.
//!
//! Cell `i` is the bits `i * cell_bits ..` of the bytes, lowest first, so a window, which is two cells, starts inside some byte
//! and ends at most 63 bits after the start of that byte: one unaligned load. All reads go through a window, so the bytes end
//! where the load of the last window does.

use super::{clear, copied, zeroed};
use crate::PlanError;
use crate::simd::prefetch;
use alloc::vec::Vec;

/// The widest cell: two cells, plus the up to 7 bits before the start of a window, fit into 64 bits.
pub(crate) const MAX_CELL_BITS: u32 = 28;

/// Bytes of a table of `cells` cells.
pub(crate) const fn size_bytes(cells: u64, cell_bits: u32) -> u64 {
    (cells - 2) * cell_bits as u64 / 8 + 8
}

/// Cells; 0 is an empty one.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PackedCells {
    bytes: Vec<u8>,
    cell_bits: u32,
}

impl PackedCells {
    /// Empty cells.
    pub(crate) fn zeroed(cells: u64, cell_bits: u32) -> Result<Self, PlanError> {
        assert!(cells >= 2 && cell_bits <= MAX_CELL_BITS);
        let bytes = zeroed(size_bytes(cells, cell_bits))?;
        Ok(Self { bytes, cell_bits })
    }

    /// Overwrites the cells; `bytes` must have the same length.
    pub(crate) fn copy_from(&mut self, bytes: &[u8]) {
        self.bytes.copy_from_slice(bytes);
    }

    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        let bytes = copied(&self.bytes)?;
        Ok(Self { bytes, ..*self })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn clear(&mut self) {
        clear(&mut self.bytes);
    }

    pub(crate) fn cell_bits(&self) -> u32 {
        self.cell_bits
    }

    /// A mask of the bits of one cell.
    #[inline(always)]
    pub(crate) fn mask(&self) -> u64 {
        (1 << self.cell_bits) - 1
    }

    /// The two cells of a window, the first one lowest; the bits above them are arbitrary.
    #[inline(always)]
    pub(crate) fn window(&self, window: u64) -> u64 {
        let (byte, shift) = self.locate(window);
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.bytes[byte..byte + 8]);
        u64::from_le_bytes(bytes) >> shift
    }

    /// One cell of a window: `offset` is 0 or 1.
    #[inline(always)]
    pub(crate) fn cell(&self, window: u64, offset: u64) -> u64 {
        self.window(window) >> (offset as u32 * self.cell_bits) & self.mask()
    }

    /// Writes one cell of a window.
    #[inline(always)]
    pub(crate) fn set(&mut self, window: u64, offset: u64, cell: u64) {
        let (byte, shift) = self.locate(window);
        let shift = shift + offset as u32 * self.cell_bits;
        let mask = self.mask();
        let place = &mut self.bytes[byte..byte + 8];
        let mut bytes = [0; 8];
        bytes.copy_from_slice(place);
        let bits = u64::from_le_bytes(bytes) & !(mask << shift) | cell << shift;
        place.copy_from_slice(&bits.to_le_bytes());
    }

    /// Prefetches a window: both lines if the load crosses into the next one, as one in nine does.
    #[inline(always)]
    pub(crate) fn prefetch(&self, window: u64) {
        let start = self.bytes.as_ptr().wrapping_add(self.locate(window).0);
        prefetch(start);
        prefetch(start.wrapping_add(7));
    }

    /// The first byte of a window, and the bit offset in it.
    #[inline(always)]
    pub(crate) fn locate(&self, window: u64) -> (usize, u32) {
        let bit = window * u64::from(self.cell_bits);
        ((bit >> 3) as usize, bit as u32 & 7)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec;

    #[test]
    fn cells_of_every_width_are_independent_of_their_neighbours() {
        for cell_bits in 1..=MAX_CELL_BITS {
            for count in [2, 3, 4, 9, 40] {
                let mut cells = PackedCells::zeroed(count, cell_bits).unwrap();
                let mut model = vec![0; count as usize];
                for step in 0..400_u64 {
                    let random = step.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
                    let window = random % (count - 1);
                    let offset = random >> 30 & 1;
                    let cell = random >> 7 & cells.mask();
                    cells.set(window, offset, cell);
                    model[(window + offset) as usize] = cell;
                    for window in 0..count - 1 {
                        for offset in 0..2 {
                            let expected = model[(window + offset) as usize];
                            assert_eq!(cells.cell(window, offset), expected);
                        }
                    }
                }
            }
        }
    }
}
