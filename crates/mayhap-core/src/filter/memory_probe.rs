//! The memory's own speed on a filter's own lines: the ruler that benchmarks hold against `contains`.

use super::bloom::Bloom;
use crate::KeyHash;

impl Bloom {
    /// Loads the line (or two) of every hash, each asked for `ahead` hashes before, and does nothing with them but add up a
    /// word of each. No batch query can be faster than this at its best distance.
    pub fn load_lines(&self, hashes: &[KeyHash], ahead: usize) -> u64 {
        self.assert_origins(hashes);
        self.table.load_each(hashes, ahead)
    }

    /// Loads `count` lines one after the other, each known only when the one before has arrived: the full latency of memory,
    /// once a line. Returns where it ended.
    pub fn chase_lines(&self, count: usize) -> u64 {
        let lines = self.table.lines();
        let mut hash = 0x0123_4567_89AB_CDEF_u64;
        for _ in 0..count {
            let at = crate::probe::blocked::mul_high(hash, lines.len() as u64);
            // The next place depends on what was loaded, so no load can start before the last one has ended.
            hash = (hash ^ lines[at as usize].0[0]).wrapping_add(0x9E37_79B9_7F4A_7C15);
            hash = (hash ^ (hash >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
            hash ^= hash >> 32;
        }
        hash
    }
}
