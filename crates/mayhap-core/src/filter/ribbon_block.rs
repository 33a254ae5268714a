//! `RibbonBlock`: a ribbon filter for the few keys of a block of a storage engine, used in place. It has no directory and no header of its
//! own: whoever stores it knows its length, from which the slots follow, its precision and its seed.
//!
//! The slots of each column follow those of the column before, without gaps. Up to 64 slots, the equations of all keys are over all slots.

use crate::build::{dedup_sorted, ribbon_block};
use crate::plan::{RibbonBlockPrecision, RibbonBlockShape, SEEDS};
use crate::probe::ribbon::{Coefficients, RibbonShard, fingerprint, is_narrow, spread};
use crate::{HashScheme, Key, KeyHash, PlanError};
use alloc::vec::Vec;

/// A ribbon filter over borrowed bytes, for one key up to some thousands. Keys are hashed by XXH3.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{RibbonBlock, plan::RibbonBlockPrecision};
/// let precision = RibbonBlockPrecision::for_rate(0.01)?;
/// let parts = RibbonBlock::build(["apple", "pear"], |_keys| precision)?.expect("it is solvable");
/// let block = RibbonBlock::from_parts(parts.precision, parts.seed, &parts.bits).expect("a block");
/// assert!(block.contains("pear"));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RibbonBlock<'b> {
    bits: &'b [u8],
    shape: RibbonBlockShape,
    seed: u8,
}

/// What a [`RibbonBlock`] consists of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RibbonBlockParts {
    /// At least as strict as requested: what fits into the bytes.
    pub precision: RibbonBlockPrecision,
    /// 0 to 3.
    pub seed: u8,
    /// The slots, the first in the lowest bit.
    pub bits: Vec<u8>,
}

impl<'b> RibbonBlock<'b> {
    /// Builds a block with the precision for a number of distinct keys. The same set of keys gives the same bytes, whatever their order and repetitions. `None` if the equations have no
    /// solution, which happens only to keys that were chosen for it, or if there are more than about 2^30 keys.
    ///
    /// # Errors
    /// If there are no keys, or not enough memory.
    pub fn build<K: Key>(
        keys: impl IntoIterator<Item = K>,
        precision: impl FnOnce(u64) -> RibbonBlockPrecision,
    ) -> Result<Option<RibbonBlockParts>, PlanError> {
        let hashes = keys.into_iter().map(|key| HashScheme::Xxh3.hash(key));
        let mut hashes: Vec<u64> = hashes.map(|hash| spread(hash.to_u64())).collect();
        hashes.sort_unstable();
        let distinct = dedup_sorted(&mut hashes);
        hashes.truncate(distinct);
        let count = hashes.len() as u64;
        crate::plan::check_capacity(count)?;
        let solved = ribbon_block::solve(&hashes, precision(count))?;
        Ok(solved.map(|solved| RibbonBlockParts {
            precision: solved.precision,
            seed: solved.seed,
            bits: solved.bits,
        }))
    }

    /// A block in borrowed bytes. `None` if the seed is above 3, or the bytes are too few for one key or more than 4 GiB.
    #[inline]
    pub fn from_parts(precision: RibbonBlockPrecision, seed: u8, bits: &'b [u8]) -> Option<Self> {
        let shape = precision.shape(bits.len()).filter(|_| seed < SEEDS)?;
        Some(Self { bits, shape, seed })
    }

    /// Whether the block may contain a key: `false` is certain.
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.contains_hash(HashScheme::Xxh3.hash(key))
    }

    /// The same for the XXH3 hash of a key.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        let spread = spread(hash.to_u64());
        let fingerprint = fingerprint(spread);
        let RibbonBlockShape {
            columns, quarters, ..
        } = self.shape;
        let shard = self.shape.shard(self.seed);
        if !self.matches(0, columns, &shard, spread, fingerprint) {
            return false;
        }
        if shard.quarter(spread) >= quarters {
            return true;
        }
        let first_bit = u64::from(columns) * shard.slots;
        let extra = self.shape.extra_shard(self.seed);
        self.matches(first_bit, 1, &extra, spread, fingerprint >> columns)
    }

    /// Whether the columns from `first_bit` on have these values for a row.
    #[inline]
    fn matches(
        &self,
        first_bit: u64,
        columns: u8,
        shard: &RibbonShard,
        spread: u64,
        values: u32,
    ) -> bool {
        let columns = (0..u64::from(columns)).map(|column| (column, values >> column & 1));
        if is_narrow(shard.slots) {
            let (start, row) = shard.row::<u64>(spread);
            columns.into_iter().all(|(column, value)| {
                let met = self.window(first_bit + column * shard.slots + start) & row;
                met.count_ones() & 1 == value
            })
        } else {
            let (start, row) = shard.row::<u128>(spread);
            let (low, high) = (row.low(), (row >> 64).low());
            columns.into_iter().all(|(column, value)| {
                let at = first_bit + column * shard.slots + start;
                let met = self.window(at) & low ^ self.window(at + 64) & high;
                met.count_ones() & 1 == value
            })
        }
    }

    /// 64 bits from bit `at` on; 0 past the end, where no row has coefficients.
    #[inline]
    fn window(&self, at: u64) -> u64 {
        let rest = self.bits.get((at / 8) as usize..).unwrap_or_default();
        let bytes = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut bytes = [0; 16];
            let last = &mut bytes[..rest.len().min(16)];
            last.copy_from_slice(&rest[..last.len()]);
            bytes
        });
        (u128::from_le_bytes(bytes) >> (at % 8)) as u64
    }
}
