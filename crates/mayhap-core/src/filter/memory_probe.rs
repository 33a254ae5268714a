//! The speed of memory itself, on the lines of a filter: what benchmarks compare `contains` with. Used by `mayhap bench` and the
//! benchmarks; not part of the documented API.

use super::bloom::Bloom;
use crate::KeyHash;
use crate::probe::blocked::mul_high;

/// Loads the line (or two) of every hash, prefetched `distance` hashes ahead, and only adds up one word of each. No batch lookup
/// can be faster than this at its best distance.
pub fn load_lines(filter: &Bloom, hashes: &[KeyHash], distance: usize) -> u64 {
    filter.assert_origins(hashes);
    filter.table.load_each(hashes, distance)
}

/// Loads `count` lines one after the other, where the address of each depends on the contents of the one before: the full memory
/// latency per line. Returns the last state, so that the compiler cannot remove the loads.
pub fn chase_lines(filter: &Bloom, count: usize) -> u64 {
    let lines = filter.table.lines();
    let mut hash = 0x0123_4567_89AB_CDEF_u64;
    for _ in 0..count {
        let at = mul_high(hash, lines.len() as u64);
        hash = (hash ^ lines[at as usize].0[0]).wrapping_add(0x9E37_79B9_7F4A_7C15);
        hash = (hash ^ (hash >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        hash ^= hash >> 32;
    }
    hash
}
