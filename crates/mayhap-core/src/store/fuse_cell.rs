//! The cells of `Fuse`: numbers of 8, 16 or 32 bits, or packed ones of any width between 4 and 32.
//!
//! Packed cell `i` is the bits `i * cell_bits ..` of the bytes, lowest first. It is read by one unaligned load of 8 bytes, so the
//! bytes end where the load of the last cell does; the bits after that cell are 0.

use super::reserved;
use crate::PlanError;
use crate::simd::plain_bytes::Plain;
use alloc::vec::Vec;
use core::ops::BitXor;

/// A number that holds a fingerprint.
pub(crate) trait FuseCell:
    Plain + Default + Eq + BitXor<Output = Self> + Into<u64> + Send + 'static
{
    /// The low bits of a number.
    fn truncated(number: u64) -> Self;
}

impl FuseCell for u8 {
    #[inline(always)]
    fn truncated(number: u64) -> Self {
        number as Self
    }
}

impl FuseCell for u16 {
    #[inline(always)]
    fn truncated(number: u64) -> Self {
        number as Self
    }
}

impl FuseCell for u32 {
    #[inline(always)]
    fn truncated(number: u64) -> Self {
        number as Self
    }
}

/// Bytes of `cells` packed cells.
pub(crate) const fn packed_size_bytes(cells: u64, cell_bits: u32) -> u128 {
    match cells {
        0 => 0,
        _ => (cells as u128 - 1) * cell_bits as u128 / 8 + 8,
    }
}

/// Packs cells one after the other.
pub(crate) struct CellPacker {
    bytes: Vec<u8>,
    size_bytes: usize,
    cell_bits: u32,
    /// Bits that do not fill a word of 32 bits yet, and how many.
    rest: u64,
    rest_bits: u32,
}

impl CellPacker {
    /// # Errors
    /// If there is not enough memory.
    pub(crate) fn new(cells: u64, cell_bits: u32) -> Result<Self, PlanError> {
        let size_bytes = u64::try_from(packed_size_bytes(cells, cell_bits)).unwrap_or(u64::MAX);
        Ok(Self {
            bytes: reserved(size_bytes)?,
            size_bytes: size_bytes as usize,
            cell_bits,
            rest: 0,
            rest_bits: 0,
        })
    }

    /// Appends the low bits of cells.
    pub(crate) fn extend<C: FuseCell>(&mut self, cells: &[C]) {
        let mask = (1 << self.cell_bits) - 1;
        for &cell in cells {
            self.rest |= (cell.into() & mask) << self.rest_bits;
            self.rest_bits += self.cell_bits;
            if self.rest_bits >= 32 {
                self.bytes
                    .extend_from_slice(&(self.rest as u32).to_le_bytes());
                self.rest >>= 32;
                self.rest_bits -= 32;
            }
        }
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        let rest = self.rest.to_le_bytes();
        self.bytes
            .extend_from_slice(&rest[..self.rest_bits.div_ceil(8) as usize]);
        self.bytes.resize(self.size_bytes, 0);
        self.bytes
    }
}
