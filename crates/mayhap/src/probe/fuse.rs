//! Where a hash goes in a `Fuse`: its shard, and three cells of that shard. Frozen.
//!
//! ```text
//! shard  = fastrange of the hash over the shards
//! mixed  = mix(hash ^ seed of the shard), its low 6 bits cleared
//! first  = fastrange of mixed over the cells of all segments but the last two
//! second = first + segment, its low bits xor bits 22.. of mixed
//! third  = first + 2 segments, its low bits xor bits 6.. of mixed
//! fingerprint = bits 32.. of mixed * GOLDEN
//! ```
//!
//! The free bits hold a count while the filter is built, which is worth more there than in the answers: two keys of a shard
//! that differ in nothing else are alike once in 2^58. Hashes in the order of `mixed` are in the order of their first cells: that is what makes building fast.

use super::blocked::mul_high;
use crate::plan::FuseShape;
use crate::store::Cell;

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// An odd constant with even bits (a multiplier of the xxHash family), and its inverse modulo 2^64.
const MIX: u64 = 0xC2B2_AE3D_27D4_EB4F;
const UNMIX: u64 = inverse(MIX);

/// The bits of a mixed hash that mean nothing.
pub(crate) const FREE: u64 = 63;

/// The inverse of an odd number modulo 2^64, by Newton's iteration: each step doubles the correct bits.
const fn inverse(odd: u64) -> u64 {
    let mut inverse = odd;
    let mut step = 0;
    while step < 6 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

/// The shard of a hash.
#[inline(always)]
pub(crate) fn shard(hash: u64, shards: u64) -> u64 {
    mul_high(hash, shards)
}

/// The seed of a shard's attempt: fixed, so that the same keys give the same bytes.
pub(crate) fn seed(shard: u64, attempt: u64) -> u64 {
    let mut x = (shard << 8 | attempt).wrapping_add(1).wrapping_mul(GOLDEN);
    x = (x ^ (x >> 32)).wrapping_mul(MIX);
    x = (x ^ (x >> 29)).wrapping_mul(GOLDEN);
    x ^ (x >> 32)
}

/// Invertible, so that equal hashes stay equal and others different.
#[inline(always)]
pub(crate) fn mix(hash: u64, seed: u64) -> u64 {
    let x = hash ^ seed;
    let x = (x ^ (x >> 32)).wrapping_mul(MIX);
    x ^ (x >> 32)
}

/// What was mixed: shifting by half the width undoes itself.
#[inline(always)]
pub(crate) fn unmix(mixed: u64, seed: u64) -> u64 {
    let x = (mixed ^ (mixed >> 32)).wrapping_mul(UNMIX);
    (x ^ (x >> 32)) ^ seed
}

/// What the xor of a mixed hash's cells is compared with. The product's bits follow from no place: with plain bits of the
/// hash, some of which say where in the filter the key is, 16 bits of fingerprint let 2.3e-5 through instead of 1.5e-5.
#[inline(always)]
pub(crate) fn fingerprint<C: Cell>(mixed: u64) -> C {
    C::truncated(mixed.wrapping_mul(GOLDEN) >> 32)
}

/// Where keys go in one shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Walk {
    seed: u64,
    /// The shard's first cell in the filter, a multiple of the segment.
    start: u64,
    /// Cells that can be a key's first.
    reach: u64,
    segment: u64,
}

impl Walk {
    pub(crate) fn new(shape: FuseShape, seed: u64) -> Self {
        Self {
            seed,
            start: 0,
            reach: shape.starts << shape.segment_bits,
            segment: 1 << shape.segment_bits,
        }
    }

    /// The same walk in a shard whose cells begin at the next multiple of its segment.
    pub(crate) fn starting_from(self, cell: u64) -> Self {
        Self {
            start: cell.next_multiple_of(self.segment),
            ..self
        }
    }

    /// The shard's first cell.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// The first cell after the shard.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.reach + 2 * self.segment
    }

    #[inline(always)]
    pub(crate) fn mix(&self, hash: u64) -> u64 {
        mix(hash, self.seed) & !FREE
    }

    /// The three cells of a mixed hash, counted from the beginning of the filter.
    #[inline(always)]
    pub(crate) fn cells_of(&self, mixed: u64) -> [usize; 3] {
        let mask = self.segment - 1;
        let first = self.start + mul_high(mixed, self.reach);
        let second = (first + self.segment) ^ (mixed >> 22 & mask);
        let third = (first + 2 * self.segment) ^ (mixed >> 6 & mask);
        [first, second, third].map(|cell| cell as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixing_can_be_undone() {
        for at in 0..1000_u64 {
            let (value, seed) = (at.wrapping_mul(GOLDEN), seed(at, at % 100));
            assert_eq!(unmix(mix(value, seed), seed), value);
        }
    }

    #[test]
    fn the_three_cells_lie_in_three_neighbouring_segments() {
        for keys in [1, 2, 10, 1000, 100_000, 10_000_000] {
            let shape = FuseShape::new(keys);
            let walk = Walk::new(shape, seed(3, 1)).starting_from(77_777);
            assert_eq!(walk.end() - walk.start(), shape.cells());
            let segment_of = |cell: usize| (cell as u64 - walk.start()) >> shape.segment_bits;
            let extremes = [0, u64::MAX, 0xFFFF_FFFF, !0xFFFF_FFFF];
            let mixed = (0..1000).map(|at: u64| walk.mix(at.wrapping_mul(GOLDEN)));
            for mixed in mixed.chain(extremes) {
                let cells = walk.cells_of(mixed);
                let first = segment_of(cells[0]);
                assert!(first < shape.starts);
                assert_eq!(segment_of(cells[1]), first + 1);
                assert_eq!(segment_of(cells[2]), first + 2);
                assert!((cells[2] as u64) < walk.end());
            }
        }
    }
}
