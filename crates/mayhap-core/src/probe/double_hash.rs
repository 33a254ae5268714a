//! RedisBloom's walk by itself: `start + i * step`, modulo the number of bits. `foreign.rs` has it among the others, where every
//! probe asks anew which walk it is.

use super::classic::Scheme;
use crate::hash::foreign::murmur2;

/// The two hashes by which RedisBloom knows a key, whatever the size of the filter: all layers of a chain are asked with them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct HashPair {
    start: u64,
    step: u64,
}

impl HashPair {
    /// Of a key under one of RedisBloom's two schemes; none for those of others.
    #[inline]
    pub(crate) fn for_key(scheme: Scheme, key: &[u8]) -> Option<Self> {
        let (start, step) = match scheme {
            // To mix the words of a key once for both hashes took 142 instructions instead of 102 for 16 bytes.
            Scheme::RedisBloom => {
                let start = murmur2::hash64(key, 0xc6a4_a793_5bd1_e995);
                (start, murmur2::hash64(key, start))
            }
            Scheme::RedisBloom32 => {
                let start = murmur2::hash32(key, 0x9747_b28c);
                (u64::from(start), u64::from(murmur2::hash32(key, start)))
            }
            _ => return None,
        };
        Some(Self { start, step })
    }

    /// What the walk begins with and moves by.
    #[inline(always)]
    pub(super) fn start_and_step(self) -> (u64, u64) {
        (self.start, self.step)
    }

    /// The sum at probe number `i`.
    #[inline(always)]
    pub(crate) fn sum(self, i: u32) -> u64 {
        self.start.wrapping_add(self.step.wrapping_mul(i.into()))
    }

    /// From one sum to the next; hashes of 32 bits have sums of 64 all the same.
    #[inline(always)]
    pub(crate) fn next_sum(self, sum: u64) -> u64 {
        sum.wrapping_add(self.step)
    }
}
