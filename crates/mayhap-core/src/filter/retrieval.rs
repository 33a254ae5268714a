//! `Retrieval`: a value of 1 to 32 bits for each hash of a set, in hardly more than these bits, and the set itself nowhere. Who
//! asks for another hash gets anything.
//!
//! With fingerprints for values it is an approximate filter, as small for a hundred keys as for a million.

use crate::PlanError;
use crate::build::eliminate::BandMatrix;
use crate::plan::{shard_slots, wide_shard_slots, wide_shards};
use crate::probe::blocked::mul_high;
use crate::probe::ribbon::{fingerprint, spread};
use crate::store::{ShardDirectory, reserved};
use alloc::vec::Vec;

/// Rows of 128 slots: shards are then so large that the directory takes less than a hundredth of a bit per key.
type Row = u128;

/// The coefficients of a row, in three blocks of slots from `block` on.
struct RetrievalRow {
    block: u64,
    masks: [u64; 3],
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Retrieval {
    directory: ShardDirectory,
    /// For every block of 64 slots a word of each column; the last block has fewer slots, and its columns stand close.
    words: Vec<u64>,
    bits: u8,
}

impl Retrieval {
    /// The values, of which the low `bits` bits count, of hashes that are all different.
    ///
    /// # Errors
    /// If there is not enough memory, or the hashes were chosen not to fit together (or are not different).
    pub(crate) fn build(pairs: &[(u64, u32)], bits: u8) -> Result<Self, PlanError> {
        let mut keys = reserved(pairs.len() as u64)?;
        keys.extend(pairs.iter().map(|&(hash, value)| (spread(hash), value)));
        keys.sort_unstable();
        Self::from_sorted(&keys, bits)
    }

    /// An approximate filter of hashes, which may repeat: see [`Retrieval::matches`].
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
        let mut band = BandMatrix::<Row>::new();
        let mut rest = keys;
        for number in 0..shards {
            let here = rest.partition_point(|&(hash, _)| mul_high(hash, shards) == number);
            let (part, after) = rest.split_at(here);
            rest = after;
            let shard = band.eliminate(
                part,
                |&pair| pair,
                |attempt| shard_slots(here as u64, attempt),
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

    /// A structure that exists already, as [`Retrieval::parts`] has it.
    ///
    /// # Errors
    /// When the parts do not fit together.
    pub(crate) fn from_parts(
        bits: u8,
        directory: Vec<u32>,
        words: Vec<u64>,
    ) -> Result<Self, PlanError> {
        let refuse = |field, value, accepted| {
            Err(PlanError::InvalidInteger {
                field,
                value,
                accepted,
            })
        };
        if !(1..=32).contains(&bits) {
            return refuse("bits of a value", bits.into(), "1 to 32");
        }
        let directory = ShardDirectory::from_entries(directory, wide_shard_slots(), 0)?;
        if directory.shards() == 0 {
            return refuse("shards", 0, "at least 1");
        }
        // Shards are as many as bytes at hand, so that nothing here overflows.
        let (slots, columns) = (directory.slots(), u64::from(bits));
        let expected = slots / 64 * columns + (slots % 64 * columns).div_ceil(64);
        if words.len() as u64 != expected {
            let accepted = "as many as the slots of all shards need";
            return refuse("words", words.len() as u64, accepted);
        }
        Ok(Self {
            directory,
            words,
            bits,
        })
    }

    /// Bits of a value, where the shards begin, and the columns.
    pub(crate) fn parts(&self) -> (u8, &[u32], &[u64]) {
        (self.bits, self.directory.entries(), &self.words)
    }

    /// The value of a hash that is in the set, and anything for others.
    #[inline]
    pub(crate) fn get(&self, hash: u64) -> u32 {
        let row = self.locate(spread(hash));
        let columns = (0..u64::from(self.bits)).rev();
        columns.fold(0, |value, column| value << 1 | self.bit(&row, column))
    }

    /// Of a filter made from hashes, whether one of them may be this one; `false` is certain. Half of all others are known by
    /// the first bit that is looked at.
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
            // Nothing is there, and all bits are 0.
            return RetrievalRow {
                block: 0,
                masks: [0; 3],
            };
        }
        let (start, coefficients) = shard.row::<Row>(spread);
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

    /// The bit of a column at a place.
    #[inline(always)]
    fn bit(&self, place: &RetrievalRow, column: u64) -> u32 {
        let met = (place.block..)
            .zip(place.masks)
            .fold(0, |met, (block, mask)| match mask {
                0 => met,
                mask => met ^ self.word(block, column) & mask,
            });
        met.count_ones() & 1
    }

    /// A column's bits in a block, and after those of the last block anything.
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

    /// Bytes that a file would have to keep, but for the number of keys and that of bits. In memory the last word is whole.
    pub(crate) fn size_bytes(&self) -> u64 {
        let bits = self.directory.slots() * u64::from(self.bits);
        bits.div_ceil(8) + self.directory.size_bytes()
    }
}

/// Puts the columns of the last block, which has only `slots` slots, next to each other.
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

    /// How often the values' own bits there are in all.
    fn size_ratio(retrieval: &Retrieval, keys: u64) -> f64 {
        8.0 * retrieval.size_bytes() as f64 / (keys * u64::from(retrieval.bits)) as f64
    }

    fn pairs(count: u64) -> impl Iterator<Item = (u64, u32)> {
        (0..count).map(|at| (seed(at, 1), seed(at, 2) as u32))
    }

    #[test]
    fn every_key_finds_its_value_and_hardly_more_is_stored() {
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
                // Eight bytes say where the only shard ends, and the last byte is not full.
                let header = 72.0 / (count * u64::from(bits)) as f64;
                assert!(ratio <= 1.01 + header, "{count} keys, {bits} bits: {ratio}");
            }
        }
    }

    #[test]
    fn fingerprints_make_a_filter_of_the_rate_that_their_bits_say() {
        for (count, bits) in [(1, 3), (300, 4), (20_000, 8), (300_000, 11)] {
            let keys: Vec<_> = pairs(count).map(|(hash, _)| hash).collect();
            let twice = keys.iter().chain(&keys).copied().collect::<Vec<_>>();
            let filter = Retrieval::from_fingerprints(twice.into_iter(), bits).unwrap();
            assert!(keys.iter().all(|&key| filter.matches(key)));
            let strangers = 4_000_000;
            let wrong = (0..strangers)
                .filter(|&at| filter.matches(seed(at, 3)))
                .count();
            let rate = wrong as f64 / strangers as f64;
            let asked = 0.5_f64.powi(i32::from(bits));
            assert!(
                (rate / asked - 1.0).abs() < 0.05,
                "{count} keys, {bits} bits: {rate}"
            );
        }
    }

    #[test]
    fn no_keys_and_keys_that_are_only_counted_are_fine() {
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
    fn one_hash_with_two_values_is_refused() {
        let error = Retrieval::build(&[(1, 0), (1, 1)], 1).unwrap_err();
        assert!(matches!(error, PlanError::Unsolvable { .. }), "{error}");
    }
}
