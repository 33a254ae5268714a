//! RedisBloom's walk by itself: `start + i * step`, modulo the number of bits. `foreign.rs` also has it, but checks the scheme at
//! every probe.

use super::classic::Scheme;
use crate::hash::foreign::murmur2;

/// RedisBloom's two hashes of a key. They do not depend on the size of the filter, so all layers of a chain use the same ones.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct HashPair {
    start: u64,
    step: u64,
}

impl HashPair {
    /// The hashes of a key under one of RedisBloom's two schemes; `None` for other schemes.
    #[inline]
    pub(crate) fn for_key(scheme: Scheme, key: &[u8]) -> Option<Self> {
        let (start, step) = match scheme {
            // Sharing the mixing of a key's words between both hashes took 142 instructions instead of 102 for 16 bytes.
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

    /// The first sum, and what each further one adds.
    #[inline(always)]
    pub(super) fn start_and_step(self) -> (u64, u64) {
        (self.start, self.step)
    }

    /// The sum for probe number `i`.
    #[inline(always)]
    pub(crate) fn sum(self, i: u32) -> u64 {
        self.start.wrapping_add(self.step.wrapping_mul(i.into()))
    }

    /// The next sum. With 32-bit hashes, sums still have 64 bits.
    #[inline(always)]
    pub(crate) fn next_sum(self, sum: u64) -> u64 {
        sum.wrapping_add(self.step)
    }
}
