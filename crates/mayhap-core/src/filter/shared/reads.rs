//! What can be read from a `SharedBloom` while other threads insert. Every method that reads the whole filter sees all keys whose
//! inserts are ordered before the call, and some bits of those that are inserted meanwhile.

use super::SharedBloom;
use crate::filter::bloom::{self, Bloom, LineEstimate};
use crate::plan::BloomPlan;
use crate::store::Line;
use crate::store::atomic_line::AtomicLine;
use crate::{HashScheme, PlanError, Stats};

impl SharedBloom {
    /// A copy of the filter, taken while other threads insert.
    ///
    /// It contains every key whose insert is ordered before this call. Keys that are inserted during the call may be in the copy
    /// or not; a part of their bits may be, which costs nothing but a slightly higher fill. The filter itself keeps all keys.
    ///
    /// # Errors
    /// If there is not enough memory for the copy.
    pub fn snapshot(&self) -> Result<Bloom, PlanError> {
        let mut copy = Bloom::from_plan(self.plan, self.scheme)?;
        for (place, line) in copy.table.lines_mut().iter_mut().zip(self.plain_lines()) {
            // Pages of zeros are not touched.
            if line.0 != [0; 8] {
                *place = line;
            }
        }
        copy.set_key_type(self.key_type);
        Ok(copy)
    }

    /// The bits, 64 at a time, in the order of [`Bloom::words`]: a snapshot without a copy, to write the filter to a file.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        self.plain_lines().flat_map(|line| line.0)
    }

    fn plain_lines(&self) -> impl Iterator<Item = Line> {
        self.lines.iter().map(AtomicLine::to_plain)
    }

    /// The estimated number of distinct keys, as [`Bloom::estimated_keys`]. Reads the whole filter.
    pub fn estimated_keys(&self) -> u64 {
        // Saturates, as float to integer casts do.
        libm::round(self.plan.keys_for_set_bits(self.set_bits())) as u64
    }

    /// The estimated number of keys that still fit before the rate is worse than requested. Reads the whole filter.
    pub fn keys_until_full(&self) -> u64 {
        self.plan.capacity().saturating_sub(self.estimated_keys())
    }

    /// The false-positive rate now, as [`Bloom::estimated_rate`]. Reads the whole filter.
    pub fn estimated_rate(&self) -> f64 {
        self.estimate().rate
    }

    /// Whether the filter holds more keys than it was planned for, as [`Bloom::is_over_capacity`]. Reads the whole filter.
    pub fn is_over_capacity(&self) -> bool {
        self.plan.is_over_capacity(self.set_bits())
    }

    fn estimate(&self) -> LineEstimate {
        bloom::estimate(&self.plan, (0..).zip(self.plain_lines()), 1)
    }

    /// What the filter is, how full it is and which rate it has now. Reads the whole filter.
    pub fn stats(&self) -> Stats {
        bloom::stats(&self.plan, self.estimate())
    }

    /// Whether no key was ever inserted.
    pub fn is_empty(&self) -> bool {
        self.words().all(|word| word == 0)
    }

    /// The number of set bits.
    pub fn set_bits(&self) -> u64 {
        self.lines.iter().map(AtomicLine::set_bits).sum()
    }

    /// The number of keys that the filter was planned for.
    pub fn capacity(&self) -> u64 {
        self.plan.capacity()
    }

    /// The requested false-positive rate.
    pub fn false_positive_rate(&self) -> f64 {
        self.plan.false_positive_rate()
    }

    /// Bytes of memory for the bits.
    pub fn size_bytes(&self) -> u64 {
        self.plan.size_bytes()
    }

    /// The plan of the filter.
    pub fn plan(&self) -> &BloomPlan {
        &self.plan
    }

    /// The hash scheme.
    pub fn scheme(&self) -> HashScheme {
        self.scheme
    }
}
