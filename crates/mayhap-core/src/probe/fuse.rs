//! The walk of `Fuse`: the shard of a hash, and three cells of that shard. Frozen.
//!
//! ```text
//! mixed  = mix(hash ^ seed) * shards: the high half is the shard, the low half is used below, its low 6 bits cleared
//! first  = fastrange of mixed over the cells of all segments but the last two
//! second = first + segment, its low bits xor bits 22.. of mixed
//! third  = first + 2 segments, its low bits xor bits 6.. of mixed
//! fingerprint = bits 32.. of mixed * GOLDEN
//! ```
//!
//! The unused bits hold a count while the filter is built, which is worth more than 6 bits of the hash: two keys of a shard
//! collide once in 2^58. Sorting by `mixed` also sorts by first cell, which makes building fast.

use super::blocked::mul_high;
use crate::plan::FuseShardShape;
use crate::store::FuseCell;

pub(crate) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// An odd constant with evenly distributed bits (a multiplier of the xxHash family).
pub(crate) const MIX: u64 = 0xC2B2_AE3D_27D4_EB4F;

/// The unused bits of a mixed hash.
pub(crate) const FREE_BITS: u64 = 63;

/// The shard of a hash.
#[inline(always)]
pub(crate) fn shard(hash: u64, shards: u64) -> u64 {
    mul_high(hash, shards)
}

/// The seed for an attempt at a shard: fixed, so that the same keys give the same bytes.
pub(crate) fn seed(shard: u64, attempt: u64) -> u64 {
    let mut x = (shard << 8 | attempt).wrapping_add(1).wrapping_mul(GOLDEN);
    x = (x ^ (x >> 32)).wrapping_mul(MIX);
    x = (x ^ (x >> 29)).wrapping_mul(GOLDEN);
    x ^ (x >> 32)
}

/// Invertible, so that different hashes stay different.
#[inline(always)]
pub(crate) fn mix(hash: u64, seed: u64) -> u64 {
    let x = hash ^ seed;
    let x = (x ^ (x >> 32)).wrapping_mul(MIX);
    x ^ (x >> 32)
}

/// The value that the xor of a mixed hash's cells must have. The bits of the product are independent of the position: with plain
/// bits of the hash, some of which determine the position, 16 bits of fingerprint had a rate of 2.3e-5 instead of 1.5e-5.
#[inline(always)]
pub(crate) fn fingerprint<C: FuseCell>(mixed: u64) -> C {
    C::truncated(mixed.wrapping_mul(GOLDEN) >> 32)
}

/// The positions of keys. All shards have the same shape; without keys there are none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FuseWalk {
    pub(crate) seed: u64,
    pub(crate) shards: u64,
    /// Cells of a shard, a multiple of the segment.
    pub(crate) shard_cells: u64,
    /// Cells of a shard that can be a key's first.
    pub(crate) first_cells: u64,
    pub(crate) segment: u64,
}

impl FuseWalk {
    pub(crate) fn new(shape: FuseShardShape, shards: u64, seed: u64) -> Self {
        Self {
            seed,
            shards,
            shard_cells: shape.cells(),
            first_cells: shape.starts << shape.segment_bits,
            segment: 1 << shape.segment_bits,
        }
    }

    /// The shape of a shard, and the seed.
    pub(crate) fn shape_and_seed(&self) -> (FuseShardShape, u64) {
        let segment_bits = self.segment.trailing_zeros();
        let shape = FuseShardShape {
            segment_bits,
            starts: self.first_cells >> segment_bits,
        };
        (shape, self.seed)
    }

    /// Whether there are cells, and 32 bits are enough for the number of each.
    pub(crate) fn fits_32_bits(&self) -> bool {
        (1..1 << 32).contains(&self.cells())
    }

    /// Cells of all shards.
    pub(crate) fn cells(&self) -> u64 {
        self.shards * self.shard_cells
    }

    /// The first cell of a hash's shard, and the hash mixed for it. There must be a shard.
    #[inline(always)]
    pub(crate) fn locate(&self, hash: u64) -> (u64, u64) {
        let mixed = mix(hash, self.seed);
        // Most filters have one shard, and a branch that never changes costs less than a multiplication.
        if self.shards == 1 {
            return (0, mixed & !FREE_BITS);
        }
        let start = shard(mixed, self.shards) * self.shard_cells;
        (start, self.in_shard(mixed))
    }

    /// The rest of a mixed hash after its shard is taken: different hashes stay different, and in order.
    #[inline(always)]
    pub(crate) fn in_shard(&self, mixed: u64) -> u64 {
        mixed.wrapping_mul(self.shards) & !FREE_BITS
    }

    /// The three cells of a mixed hash in a shard that begins at `start`.
    #[inline(always)]
    pub(crate) fn cells_of(&self, start: u64, mixed: u64) -> [usize; 3] {
        let mask = self.segment - 1;
        let first = start + mul_high(mixed, self.first_cells);
        let next = first + self.segment;
        let second = next ^ (mixed >> 22 & mask);
        let third = (next + self.segment) ^ (mixed >> 6 & mask);
        [first, second, third].map(|cell| cell as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_hashes_stay_distinct_and_ordered_within_a_shard() {
        for shards in [1, 2, 3, 64, 1000] {
            let walk = FuseWalk::new(FuseShardShape::new(1000), shards, 0);
            let from = (u64::MAX / shards) * (shards - 1) + shards;
            let places = (0..1000).map(|at| walk.in_shard(from + at * 64));
            assert!(places.is_sorted_by(|a, b| a < b), "{shards} shards");
        }
    }

    #[test]
    fn the_three_cells_lie_in_three_neighbouring_segments() {
        for keys in [1, 2, 10, 1000, 100_000, 10_000_000] {
            let shape = FuseShardShape::new(keys);
            for shards in [1, 2, 7, 100] {
                let walk = FuseWalk::new(shape, shards, seed(3, 1));
                let extremes = [0, u64::MAX, 0xFFFF_FFFF, !0xFFFF_FFFF];
                let places = (0..1000).map(|at: u64| walk.locate(at.wrapping_mul(GOLDEN)));
                let last = walk.cells() - shape.cells();
                for (start, mixed) in places.chain(extremes.map(|mixed| (last, mixed))) {
                    let segment_of = |cell: usize| (cell as u64 - start) >> shape.segment_bits;
                    let cells = walk.cells_of(start, mixed);
                    let first = segment_of(cells[0]);
                    assert!(start <= last && start % shape.cells() == 0);
                    assert!(first < shape.starts);
                    assert_eq!(segment_of(cells[1]), first + 1);
                    assert_eq!(segment_of(cells[2]), first + 2);
                    assert!((cells[2] as u64) < walk.cells());
                }
            }
        }
    }
}
