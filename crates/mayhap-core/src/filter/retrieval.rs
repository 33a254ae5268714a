//! `Retrieval`: stores a value of 1 to 32 bits for each hash of a set, in hardly more than these bits and without the set itself.
//! For other hashes the value is arbitrary.
//!
//! With fingerprints as values it is an approximate filter, as compact for a hundred keys as for a million.

use crate::PlanError;
use crate::build::eliminate::BandMatrix;
use crate::plan::{shard_slots, wide_shard_slots, wide_shards};
use crate::probe::blocked::mul_high;
use crate::probe::ribbon::{fingerprint, spread};
use crate::store::{ShardDirectory, reserved};
use alloc::vec::Vec;

/// Rows of 128 slots: shards are then so large that the directory takes less than a hundredth of a bit per key.
type WideRow = u128;

/// The coefficients of a row, in three blocks of slots from `block` on.
struct RetrievalRow {
    block: u64,
    masks: [u64; 3],
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Retrieval {
    directory: ShardDirectory,
    /// For every block of 64 slots a word of each column; the last block has fewer slots, and its columns are packed.
    words: Vec<u64>,
    bits: u8,
}

impl Retrieval {
    /// A structure for distinct hashes and their values, of which the low `bits` bits are stored.
    ///
    /// # Errors
    /// If there is not enough memory, or the hashes are not distinct or were chosen to be unsolvable.
    pub(crate) fn build(pairs: &[(u64, u32)], bits: u8) -> Result<Self, PlanError> {
        let mut keys = reserved(pairs.len() as u64)?;
        keys.extend(pairs.iter().map(|&(hash, value)| (spread(hash), value)));
        keys.sort_unstable();
        Self::from_sorted(&keys, bits)
    }

    /// An approximate filter of hashes, duplicates allowed: see [`Retrieval::matches`].
    ///
    /// # Errors
    /// As [`Retrieval::build`].
    pub(crate) fn from_fingerprints(
        hashes: impl ExactSizeIterator<Item = u64>,
        bits: u8,
    ) -> Result<Self, PlanError> {
        let mut keys = reserved(hashes.len() as u64)?;
        keys.extend(hashes.map(|hash| (spread(hash), fingerprint(spread(hash)))));
        keys.sort_unstable();
        keys.dedup();
        Self::from_sorted(&keys, bits)
    }

    fn from_sorted(keys: &[(u64, u32)], bits: u8) -> Result<Self, PlanError> {
        debug_assert!((1..=32).contains(&bits), "a value has 1 to 32 bits");
        let (count, columns) = (keys.len() as u64, usize::from(bits));
        let shards = wide_shards(count);
        let mut directory = ShardDirectory::new(shards, wide_shard_slots())?;
        let mut words = reserved((count + count / 64 + 64).div_ceil(64) * u64::from(bits))?;
        let mut band = BandMatrix::<WideRow>::new();
        let mut rest = keys;
        for number in 0..shards {
            let count = rest.partition_point(|&(hash, _)| mul_high(hash, shards) == number);
            let (part, after) = rest.split_at(count);
            rest = after;
            let shard = band.eliminate(
                part,
                |&pair| pair,
                |attempt| shard_slots(count as u64, attempt),
            )?;
            let first_slot = directory.slots();
            directory.push(shard.slots, shard.seed)?;
            words.resize(directory.slots().div_ceil(64) as usize * columns, 0);
            band.solve(first_slot, columns, |block, column, bits| {
                words[block as usize * columns + column] |= bits;
            });
        }
        pack_last_block(&mut words, columns, directory.slots() % 64);
        words.shrink_to_fit();
        Ok(Self {
            directory,
            words,
            bits,
        })
    }

    /// A structure from stored parts, as [`Retrieval::parts`] returns them.
    ///
    /// # Errors
    /// If the parts are inconsistent.
    pub(crate) fn from_parts(
        bits: u8,
        directory: Vec<u32>,
        words: Vec<u64>,
    ) -> Result<Self, PlanError> {
        let invalid = |field, value, accepted| {
            Err(PlanError::InvalidInteger {
                field,
                value,
                accepted,
            })
        };
        if !(1..=32).contains(&bits) {
            return invalid("bits of a value", bits.into(), "1 to 32");
        }
        let directory = ShardDirectory::from_entries(directory, wide_shard_slots(), 0)?;
        if directory.shards() == 0 {
            return invalid("shards", 0, "at least 1");
        }
        // No overflow: the number of shards is limited by the bytes of the directory.
        let (slots, columns) = (directory.slots(), u64::from(bits));
        let expected = slots / 64 * columns + (slots % 64 * columns).div_ceil(64);
        if words.len() as u64 != expected {
            let accepted = "as many as the slots of all shards need";
            return invalid("words", words.len() as u64, accepted);
        }
        Ok(Self {
            directory,
            words,
            bits,
        })
    }

    /// Bits per value, the directory of shards, and the columns.
    pub(crate) fn parts(&self) -> (u8, &[u32], &[u64]) {
        (self.bits, self.directory.entries(), &self.words)
    }

    /// The value of a hash in the set; arbitrary for other hashes.
    #[inline]
    pub(crate) fn get(&self, hash: u64) -> u32 {
        let row = self.locate(spread(hash));
        let columns = (0..u64::from(self.bits)).rev();
        columns.fold(0, |value, column| value << 1 | self.bit(&row, column))
    }

    /// For a filter of hashes, whether it may contain this one; `false` is certain. The first bit reveals half of all absent
    /// hashes.
    #[inline]
    pub(crate) fn matches(&self, hash: u64) -> bool {
        let spread = spread(hash);
        let fingerprint = fingerprint(spread);
        let row = self.locate(spread);
        (0..u64::from(self.bits)).all(|column| self.bit(&row, column) == fingerprint >> column & 1)
    }

    #[inline(always)]
    fn locate(&self, spread: u64) -> RetrievalRow {
        let number = mul_high(spread, self.directory.shards());
        let shard = self.directory.shard(number);
        if shard.slots == 0 {
            // The shard is empty, and all bits are 0.
            return RetrievalRow {
                block: 0,
                masks: [0; 3],
            };
        }
        let (start, coefficients) = shard.row::<WideRow>(spread);
        let slot = shard.first_slot + start;
        let shift = slot % 64;
        RetrievalRow {
            block: slot / 64,
            masks: [
                (coefficients << shift) as u64,
                (coefficients >> 1 >> (63 - shift)) as u64,
                (coefficients >> 64 >> 1 >> (63 - shift)) as u64,
            ],
        }
    }

    /// The bit of a column for a row.
    #[inline(always)]
    fn bit(&self, row: &RetrievalRow, column: u64) -> u32 {
        let met = (row.block..)
            .zip(row.masks)
            .fold(0, |met, (block, mask)| match mask {
                0 => met,
                mask => met ^ self.word(block, column) & mask,
            });
        met.count_ones() & 1
    }

    /// The bits of a column in a block; those past the last slot are arbitrary.
    #[inline(always)]
    fn word(&self, block: u64, column: u64) -> u64 {
        let columns = u64::from(self.bits);
        let whole = self.directory.slots() / 64;
        if block < whole {
            return self.words[(block * columns + column) as usize];
        }
        let first_bit = column * (self.directory.slots() % 64);
        let at = (whole * columns + first_bit / 64) as usize;
        let next = self.words.get(at + 1).copied().unwrap_or_default();
        self.words[at] >> (first_bit % 64) | next << 1 << (63 - first_bit % 64)
    }

    /// Bytes that a file needs, without the numbers of keys and bits. In memory the last word is padded.
    pub(crate) fn size_bytes(&self) -> u64 {
        let bits = self.directory.slots() * u64::from(self.bits);
        bits.div_ceil(8) + self.directory.size_bytes()
    }
}

/// Packs the columns of the last block, which has only `slots` slots, without gaps.
fn pack_last_block(words: &mut Vec<u64>, columns: usize, slots: u64) {
    if slots == 0 {
        return;
    }
    let last = words.split_off(words.len() - columns);
    let from = words.len();
    words.resize(from + (slots as usize * columns).div_ceil(64), 0);
    for (first_bit, bits) in (0..).step_by(slots as usize).zip(last) {
        let at = from + first_bit / 64;
        words[at] |= bits << (first_bit % 64);
        if let Some(next) = words.get_mut(at + 1) {
            *next |= bits >> 1 >> (63 - first_bit % 64);
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::probe::fuse::seed;
    use std::vec::Vec;

    /// The size relative to the bits of the values alone.
    fn size_ratio(retrieval: &Retrieval, keys: u64) -> f64 {
        8.0 * retrieval.size_bytes() as f64 / (keys * u64::from(retrieval.bits)) as f64
    }

    fn pairs(count: u64) -> impl Iterator<Item = (u64, u32)> {
        (0..count).map(|at| (seed(at, 1), seed(at, 2) as u32))
    }

    #[test]
    fn every_key_gets_its_value_and_the_size_is_close_to_minimal() {
        for count in [
            1, 2, 10, 63, 64, 65, 100, 127, 128, 129, 500, 1000, 10_000, 100_000, 1_000_000,
        ] {
            let pairs: Vec<_> = pairs(count).collect();
            for bits in [1, 2, 7, 8, 31, 32] {
                let retrieval = Retrieval::build(&pairs, bits).unwrap();
                let mask = u32::MAX >> (32 - bits);
                let right = |&(hash, value): &(u64, u32)| retrieval.get(hash) == value & mask;
                assert!(pairs.iter().all(right), "{count} keys, {bits} bits");
                let ratio = size_ratio(&retrieval, count);
                // Eight bytes for the directory, and a partly used last byte.
                let header = 72.0 / (count * u64::from(bits)) as f64;
                assert!(ratio <= 1.01 + header, "{count} keys, {bits} bits: {ratio}");
            }
        }
    }

    #[test]
    fn a_filter_of_fingerprints_has_the_rate_of_their_bits() {
        for (count, bits) in [(1, 3), (300, 4), (20_000, 8), (300_000, 11)] {
            let keys: Vec<_> = pairs(count).map(|(hash, _)| hash).collect();
            let twice = keys.iter().chain(&keys).copied().collect::<Vec<_>>();
            let filter = Retrieval::from_fingerprints(twice.into_iter(), bits).unwrap();
            assert!(keys.iter().all(|&key| filter.matches(key)));
            let absent = 4_000_000;
            let wrong = (0..absent)
                .filter(|&at| filter.matches(seed(at, 3)))
                .count();
            let rate = wrong as f64 / absent as f64;
            let expected = 0.5_f64.powi(i32::from(bits));
            assert!(
                (rate / expected - 1.0).abs() < 0.05,
                "{count} keys, {bits} bits: {rate}"
            );
        }
    }

    #[test]
    fn no_keys_and_sequential_keys_work() {
        Retrieval::build(&[], 5).unwrap().get(7);
        let pairs: Vec<_> = (0..100_000).map(|at| (at, at as u32)).collect();
        let retrieval = Retrieval::build(&pairs, 17).unwrap();
        assert!(
            pairs
                .iter()
                .all(|&(hash, value)| retrieval.get(hash) == value)
        );
    }

    #[test]
    fn one_hash_with_two_values_is_rejected() {
        let error = Retrieval::build(&[(1, 0), (1, 1)], 1).unwrap_err();
        assert!(matches!(error, PlanError::Unsolvable { .. }), "{error}");
    }
}
