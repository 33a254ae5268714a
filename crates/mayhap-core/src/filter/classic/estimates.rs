//! Estimates from the set bits: the number of keys, the current rate, the fill.

use super::{ClassicBloom, keys_for};

use crate::plan::classic;
use crate::stats::{known, share};
use crate::store::Storage;
use crate::{Kind, Mismatch, Stats};

impl<S: Storage> ClassicBloom<S> {
    /// The estimated number of distinct keys, from the bits that are set; `u64::MAX` when all are. Reads the whole filter.
    pub fn estimated_keys(&self) -> u64 {
        if self.scheme.block_bits() == 1 {
            return keys_for(&self.plan, self.set_bits());
        }
        let keys: f64 = self
            .block_fills()
            .map(|set| classic::estimated_keys(self.scheme.block_bits(), self.plan.probes, set))
            .sum();
        // Saturates, as float to integer casts do.
        libm::round(keys) as u64
    }

    /// How many bits are set in each block of a blocked scheme.
    fn block_fills(&self) -> impl Iterator<Item = u64> {
        let words = (self.scheme.block_bits() / 64).max(1) as usize;
        let blocks = self.bits.words().chunks(words);
        blocks.map(|block| block.iter().map(|word| u64::from(word.count_ones())).sum())
    }

    /// The estimated number of distinct keys in both filters together. Reads both.
    ///
    /// # Errors
    /// If the two differ in shape or scheme.
    pub fn estimated_union_keys(&self, other: &Self) -> Result<u64, Mismatch> {
        self.check_same_shape(other)?;
        let both = self
            .words()
            .zip(other.words())
            .map(|(ours, theirs)| u64::from((ours | theirs).count_ones()))
            .sum();
        Ok(keys_for(&self.plan, both))
    }

    /// The estimated number of keys that both filters contain: the sum of both minus the union, which is more accurate than
    /// counting the bits of the intersection. Reads both.
    ///
    /// # Errors
    /// If the two differ in shape or scheme.
    pub fn estimated_common_keys(&self, other: &Self) -> Result<u64, Mismatch> {
        let union = self.estimated_union_keys(other)?;
        Ok(self
            .estimated_keys()
            .saturating_add(other.estimated_keys())
            .saturating_sub(union))
    }

    /// The requested false-positive rate.
    pub fn false_positive_rate(&self) -> f64 {
        self.plan.false_positive_rate
    }

    /// The false-positive rate now, from the bits that are set: the probability that a random absent key is found. Reads the whole
    /// filter.
    pub fn estimated_rate(&self) -> f64 {
        let block_bits = self.scheme.block_bits();
        if block_bits == 1 {
            return classic::rate_from_set_bits(self.plan.bits, self.plan.probes, self.set_bits());
        }
        // A lookup reads one block. (Parquet's eight words of a block fill evenly, so their mean is good enough.)
        let rates = self
            .block_fills()
            .map(|set| classic::rate_from_set_bits(block_bits, self.plan.probes, set));
        rates.sum::<f64>() / (self.plan.bits / block_bits) as f64
    }

    /// Whether the filter holds more keys than it was planned for, so that its rate is worse than requested. The estimate must
    /// exceed the capacity by more than three standard errors. Reads the whole filter.
    pub fn is_over_capacity(&self) -> bool {
        self.plan.is_over_capacity(self.set_bits())
    }

    /// The estimated number of keys that still fit before the rate is worse than requested. Reads the whole filter.
    pub fn keys_until_full(&self) -> u64 {
        self.plan.capacity.saturating_sub(self.estimated_keys())
    }

    /// What the filter is, how full it is and which rate it has now. Reads the whole filter.
    pub fn stats(&self) -> Stats {
        let set_bits = self.set_bits();
        let is_over_capacity = self.plan.is_over_capacity(set_bits);
        self.stats_with(
            set_bits,
            self.estimated_keys(),
            self.estimated_rate(),
            is_over_capacity,
        )
    }

    /// [`stats`](Self::stats), estimated from at most `max_bytes` of the filter, as [`Bloom::sampled_stats`](crate::Bloom). Filters
    /// with blocks are read as a whole.
    pub fn sampled_stats(&self, max_bytes: u64) -> Stats {
        /// Words that are read together: a cache line.
        const RUN: usize = 8;
        let stride = self.size_bytes().div_ceil(max_bytes.max(1)).max(1) as usize;
        if stride == 1 || self.scheme.block_bits() != 1 {
            return self.stats();
        }
        let words = self.bits.words();
        let (mut read, mut set) = (0_u64, 0_u64);
        for run in words.chunks_exact(RUN).step_by(stride) {
            read += 64 * RUN as u64;
            set += run
                .iter()
                .map(|word| u64::from(word.count_ones()))
                .sum::<u64>();
        }
        let (bits, probes) = (self.plan.bits, self.plan.probes);
        let share = bits as f64 / read.max(1) as f64;
        let set_bits = (libm::round(set as f64 * share) as u64).min(bits);
        let keys = keys_for(&self.plan, set_bits);
        let rate = classic::rate_from_set_bits(bits, probes, set_bits);
        let is_over_capacity = self.plan.is_sample_over_capacity(set_bits, stride as u64);
        self.stats_with(set_bits, keys, rate, is_over_capacity)
    }

    fn stats_with(&self, set_bits: u64, keys: u64, rate: f64, is_over_capacity: bool) -> Stats {
        Stats {
            capacity: Some(self.capacity()),
            bits: Some(self.plan.bits),
            probes: Some(self.plan.probes),
            fill: share(set_bits, self.plan.bits),
            estimated_keys: known(keys),
            false_positive_rate: Some(self.false_positive_rate()),
            estimated_rate: Some(rate),
            is_over_capacity,
            keys_until_full: Some(self.capacity().saturating_sub(keys)),
            ..Stats::new(Kind::Classic, self.size_bytes())
        }
    }
}
