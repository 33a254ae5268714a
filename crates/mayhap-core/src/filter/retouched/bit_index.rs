//! Which keys use which bit: an index of the bits of unwanted keys, built for one or several clearings and then dropped.
//!
//! Between clearings a `Retouched` stores only hashes, 8 bytes per key. Keys that share no bit with an unwanted one, most of
//! them, are not in the index.

use super::{ClearedBit, ClearingStrategy};
use crate::PlanError;
use crate::filter::classic::ClassicBloom;
use crate::probe::blocked::mul_high;
use crate::probe::fuse::mix;
use crate::store::bits::Bits;
use crate::store::{reserved, zeroed};
use alloc::vec::Vec;

/// The bits that are tracked, numbered in order.
struct TrackedBits {
    marks: Bits,
    /// The number of tracked bits before every word.
    before: Vec<u64>,
    count: u64,
}

impl TrackedBits {
    /// The bits of some hashes.
    fn from_hashes(filter: &ClassicBloom, lists: [&[u64]; 2]) -> Result<Self, PlanError> {
        let mut marks = Bits::zeroed(filter.plan().bits)?;
        for &hash in lists.into_iter().flatten() {
            for at in filter.positions(hash) {
                marks.set(at);
            }
        }
        let mut count = 0;
        let mut before = reserved(marks.words().len() as u64)?;
        for word in marks.words() {
            before.push(count);
            count += u64::from(word.count_ones());
        }
        Ok(Self {
            marks,
            before,
            count,
        })
    }

    fn find(&self, position: u64) -> Option<usize> {
        if !self.marks.has(position) {
            return None;
        }
        let word = (position / 64) as usize;
        let lower = self.marks.words()[word] & ((1 << (position % 64)) - 1);
        Some((self.before[word] + u64::from(lower.count_ones())) as usize)
    }

    /// The tracked bits of a hash, repeated if it uses one several times.
    fn used_by(&self, filter: &ClassicBloom, hash: u64) -> impl Iterator<Item = usize> {
        filter.positions(hash).filter_map(|at| self.find(at))
    }

    /// The positions of all tracked bits, in order.
    fn positions(&self) -> impl Iterator<Item = u64> {
        (0..).zip(self.marks.words()).flat_map(|(word, &bits)| {
            (0..64).filter_map(move |bit| (bits >> bit & 1 == 1).then_some(word * 64 + bit))
        })
    }
}

/// Which hashes of a list use which tracked bit, and which of them have been removed.
struct BitUsers<'l> {
    hashes: &'l [u64],
    /// Indices of hashes in their list, grouped by tracked bit.
    numbers: Vec<u64>,
    /// Where the group of each tracked bit ends.
    ends: Vec<u64>,
    removed: Bits,
}

impl<'l> BitUsers<'l> {
    fn for_bits(
        hashes: &'l [u64],
        filter: &ClassicBloom,
        tracked_bits: &TrackedBits,
    ) -> Result<Self, PlanError> {
        let mut ends: Vec<u64> = zeroed(tracked_bits.count)?;
        for &hash in hashes {
            for tracked in tracked_bits.used_by(filter, hash) {
                ends[tracked] += 1;
            }
        }
        let mut total = 0;
        for end in &mut ends {
            // For now this is the start of the group; it becomes the end as the group is filled.
            let count = core::mem::replace(end, total);
            total += count;
        }
        let mut numbers = zeroed(total)?;
        for (number, &hash) in (0..).zip(hashes) {
            for tracked in tracked_bits.used_by(filter, hash) {
                numbers[ends[tracked] as usize] = number;
                ends[tracked] += 1;
            }
        }
        Ok(Self {
            hashes,
            numbers,
            ends,
            removed: Bits::zeroed(hashes.len() as u64)?,
        })
    }

    /// The indices of the hashes that use a tracked bit and have not been removed, repeated if one uses it several times.
    fn at(&self, tracked: usize) -> impl Iterator<Item = u64> {
        let start = tracked.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.numbers[start as usize..self.ends[tracked] as usize]
            .iter()
            .copied()
            .filter(|&number| !self.removed.has(number))
    }

    fn count(&self, tracked: usize) -> u64 {
        self.at(tracked).count() as u64
    }

    /// Removes all hashes that use a tracked bit from the index, and writes the distinct ones into `taken`, which has the
    /// capacity for them.
    fn take(&mut self, tracked: usize, taken: &mut Vec<u64>) {
        taken.clear();
        taken.extend(self.at(tracked));
        for number in &mut *taken {
            self.removed.set(*number);
            *number = self.hashes[*number as usize];
        }
        taken.sort_unstable();
        taken.dedup();
    }
}

/// The index. It allocates all its memory when it is created, so that a clearing either succeeds or is not started.
pub(super) struct BitIndex<'l> {
    tracked_bits: TrackedBits,
    keys: BitUsers<'l>,
    false_positives: BitUsers<'l>,
    /// Keys per false positive for each tracked bit, from the last clearing by ratio that found both.
    ratios: Vec<f64>,
    /// Ratios of bits that are not tracked.
    other_ratios: Vec<(u64, f64)>,
    /// Tracked bits whose ratio must be computed again, without duplicates.
    stale: Vec<usize>,
    is_stale: Bits,
    taken: Vec<u64>,
}

/// The lists and ratios after the clearings.
pub(super) struct ClearingOutcome {
    pub(super) keys_removed: Bits,
    pub(super) false_positives_removed: Bits,
    pub(super) ratios: Vec<(u64, f64)>,
}

impl<'l> BitIndex<'l> {
    /// An index of the bits that listed false positives or `targets` use.
    pub(super) fn new(
        filter: &ClassicBloom,
        keys: &'l [u64],
        false_positives: &'l [u64],
        targets: &[u64],
        known_ratios: &[(u64, f64)],
    ) -> Result<Self, PlanError> {
        let tracked_bits = TrackedBits::from_hashes(filter, [false_positives, targets])?;
        let keys = BitUsers::for_bits(keys, filter, &tracked_bits)?;
        let false_positives = BitUsers::for_bits(false_positives, filter, &tracked_bits)?;
        let count = tracked_bits.count;
        let mut ratios = zeroed(count)?;
        let mut other_ratios = reserved(count + known_ratios.len() as u64)?;
        for &(position, ratio) in known_ratios {
            match tracked_bits.find(position) {
                Some(tracked) => ratios[tracked] = ratio,
                None => other_ratios.push((position, ratio)),
            }
        }
        let mut uses = Self {
            ratios,
            other_ratios,
            stale: reserved(count)?,
            is_stale: Bits::zeroed(count)?,
            taken: reserved(keys.numbers.len().max(false_positives.numbers.len()) as u64)?,
            tracked_bits,
            keys,
            false_positives,
        };
        for tracked in 0..count {
            uses.is_stale.set(tracked);
            uses.stale.push(tracked as usize);
        }
        Ok(uses)
    }

    /// Clears one bit of a hash that is a target or a listed false positive.
    pub(super) fn clear(
        &mut self,
        filter: &mut ClassicBloom,
        hash: u64,
        clearing: ClearingStrategy,
    ) -> ClearedBit {
        let bit = self.choose(filter, hash, clearing);
        let Some(tracked) = self.tracked_bits.find(bit) else {
            unreachable!("all bits of targets and listed keys are looked at")
        };
        let mut taken = core::mem::take(&mut self.taken);
        self.keys.take(tracked, &mut taken);
        let keys_lost = taken.len() as u64;
        self.mark_stale(filter, &taken);
        self.false_positives.take(tracked, &mut taken);
        // Does not count listed keys that the filter did not find before.
        let false_positives_removed =
            taken.iter().filter(|&&hash| filter.has_all(hash)).count() as u64;
        self.mark_stale(filter, &taken);
        self.taken = taken;
        self.ratios[tracked] = 0.0;
        filter.clear_bit(bit);
        ClearedBit {
            bit,
            keys_lost,
            false_positives_removed,
        }
    }

    /// The bit to clear; among equally good ones, the first on the key's walk.
    fn choose(&mut self, filter: &ClassicBloom, hash: u64, clearing: ClearingStrategy) -> u64 {
        if clearing == ClearingStrategy::Ratio {
            self.update_ratios();
        }
        let cost = |tracked| match clearing {
            ClearingStrategy::Random { .. } => 0.0,
            ClearingStrategy::MinimumFalseNegatives => self.keys.count(tracked) as f64,
            ClearingStrategy::MaximumFalsePositives => {
                -(self.false_positives.count(tracked) as f64)
            }
            ClearingStrategy::Ratio => self.ratios[tracked],
        };
        let first = match clearing {
            ClearingStrategy::Random { seed } => {
                mul_high(mix(hash, seed), u64::from(filter.plan().probes)) as usize
            }
            ClearingStrategy::MinimumFalseNegatives
            | ClearingStrategy::MaximumFalsePositives
            | ClearingStrategy::Ratio => 0,
        };
        let costs = filter
            .positions(hash)
            .skip(first)
            .map(|at| (at, self.tracked_bits.find(at).map_or(f64::INFINITY, cost)));
        let best = costs.reduce(|best, next| if next.1 < best.1 { next } else { best });
        best.map_or(0, |(at, _)| at)
    }

    fn update_ratios(&mut self) {
        for tracked in self.stale.drain(..) {
            self.is_stale.clear_bit(tracked as u64);
            let (keys, false_positives) = (
                self.keys.count(tracked),
                self.false_positives.count(tracked),
            );
            // As Hadoop does: if one of them is 0, the previous value stays.
            if keys > 0 && false_positives > 0 {
                self.ratios[tracked] = keys as f64 / false_positives as f64;
            }
        }
    }

    /// Marks the tracked bits of removed hashes: they have fewer users now.
    fn mark_stale(&mut self, filter: &ClassicBloom, taken: &[u64]) {
        for &hash in taken {
            for tracked in self.tracked_bits.used_by(filter, hash) {
                if self.is_stale.set(tracked as u64) {
                    self.stale.push(tracked);
                }
            }
        }
    }

    pub(super) fn finish(mut self) -> ClearingOutcome {
        let computed = self.tracked_bits.positions().zip(self.ratios);
        self.other_ratios
            .extend(computed.filter(|&(_, ratio)| ratio > 0.0));
        ClearingOutcome {
            keys_removed: self.keys.removed,
            false_positives_removed: self.false_positives.removed,
            ratios: self.other_ratios,
        }
    }
}
