//! RocksDB's Ribbon filter, read only: segments of 128 slots, a 128-bit word per column; the first blocks have one column less than the
//! others.

use super::Filter;
use crate::DecodeError;
use crate::cursor::Cursor;
use mayhap_core::foreign::xxph3;
use std::fmt;

const SLOTS: u64 = 128;
const SEGMENT_BYTES: usize = 16;
const MAX_COLUMNS: u64 = 32;

/// A ribbon filter that RocksDB built.
#[derive(Clone, PartialEq)]
pub struct Ribbon {
    segments: Vec<u128>,
    /// Blocks of 128 slots.
    blocks: u64,
    /// Columns of the later blocks; the first `upper` blocks have one less.
    columns: u64,
    upper: u64,
    seed: u8,
}

pub(super) fn decode(
    at: &Cursor<'_>,
    seed: u8,
    blocks: u32,
    data: &[u8],
) -> Result<Filter, DecodeError> {
    if blocks < 2 {
        return Ok(Filter::Everything);
    }
    let blocks = u64::from(blocks);
    if !data.len().is_multiple_of(SEGMENT_BYTES) {
        return Err(at.value("length", data.len() as i128, "a multiple of 16"));
    }
    let segments: Vec<u128> = data
        .chunks_exact(SEGMENT_BYTES)
        .map(|segment| u128::from_le_bytes(segment.try_into().expect("sixteen bytes")))
        .collect();
    let columns = (segments.len() as u64).div_ceil(blocks);
    if columns == 0 || columns > MAX_COLUMNS {
        return Err(at.value("columns", i128::from(columns), "1 to 32"));
    }
    Ok(Filter::Ribbon(Ribbon {
        upper: columns * blocks - segments.len() as u64,
        segments,
        blocks,
        columns,
        seed,
    }))
}

impl Ribbon {
    /// Whether the key may be in the table.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        let raw = u64::from(self.seed).wrapping_mul(0xc782_19a2_3eea_dd03);
        let raw = (raw ^ ((raw & 0xf0f0_f0f0_f0f0_f0f0) >> 4)) & 0xffff_ffff;
        let hash = (xxph3::hash(key.as_ref()) ^ raw).wrapping_mul(0x6193_d459_236a_3a0d);
        let starts = self.blocks * SLOTS - (SLOTS - 1);
        let slot = ((u128::from(hash) * u128::from(starts)) >> 64) as u64;
        let mixed = hash.wrapping_mul(0xc28f_8282_2b65_0bed);
        let row = u128::from(mixed) << 64 | u128::from(mixed ^ 0xc367_844a_6e52_731d) | 1;
        let expected = mixed.swap_bytes();

        let (block, bit) = (slot / SLOTS, (slot % SLOTS) as u32);
        let columns = self.columns - u64::from(block < self.upper);
        let first = (block * self.columns - block.min(self.upper)) as usize;
        let (here, there) = (row << bit, row.checked_shr(128 - bit).unwrap_or(0));
        (0..columns as usize).all(|column| {
            let mut parity = self.segments[first + column] & here;
            if bit > 0 {
                parity ^= self.segments[first + columns as usize + column] & there;
            }
            u64::from(parity.count_ones() & 1) == expected >> column & 1
        })
    }

    /// The false-positive rate: two to the power of minus the number of columns, averaged over the blocks.
    pub fn estimated_rate(&self) -> f64 {
        let strict = 0.5_f64.powi(self.columns as i32);
        let loose = self.upper as f64 / self.blocks as f64;
        strict * (1.0 + loose)
    }

    /// Bytes of memory.
    pub fn size_bytes(&self) -> u64 {
        (self.segments.len() * SEGMENT_BYTES) as u64
    }
}

impl fmt::Debug for Ribbon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Ribbon({} blocks of 128 slots, {} columns, {} bytes)",
            self.blocks,
            self.columns,
            self.size_bytes()
        )
    }
}
