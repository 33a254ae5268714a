//! Who uses which bit: an index of the bits that unwanted keys use, made for one clearing (or a row of them) and then dropped.
//!
//! Between clearings a `Retouched` keeps nothing but hashes, 8 bytes per key. Keys that share no bit with an unwanted one, most of
//! them, never come into the index.

use super::{ClearedBit, ClearingStrategy};
use crate::PlanError;
use crate::filter::classic::ClassicBloom;
use crate::probe::blocked::mul_high;
use crate::probe::fuse::mix;
use crate::store::bits::Bits;
use crate::store::{reserved, zeroed};
use alloc::vec::Vec;

/// The bits that are looked at, numbered in their order.
struct TrackedBits {
    marks: Bits,
    /// Marks before every word.
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

    /// The looked-at bits of a hash, as often as it uses each.
    fn used_by(&self, filter: &ClassicBloom, hash: u64) -> impl Iterator<Item = usize> {
        filter.positions(hash).filter_map(|at| self.find(at))
    }

    /// The positions of all places, in order.
    fn positions(&self) -> impl Iterator<Item = u64> {
        (0..).zip(self.marks.words()).flat_map(|(word, &bits)| {
            (0..64).filter_map(move |bit| (bits >> bit & 1 == 1).then_some(word * 64 + bit))
        })
    }
}

/// Which hashes of a list use which place, and which of them are gone since.
struct BitUsers<'l> {
    hashes: &'l [u64],
    /// Numbers of hashes in their list, those of one place after those of the other.
    numbers: Vec<u64>,
    /// Where those of a place end.
    ends: Vec<u64>,
    gone: Bits,
}

impl<'l> BitUsers<'l> {
    fn for_bits(
        hashes: &'l [u64],
        filter: &ClassicBloom,
        places: &TrackedBits,
    ) -> Result<Self, PlanError> {
        let mut ends: Vec<u64> = zeroed(places.count)?;
        for &hash in hashes {
            for place in places.used_by(filter, hash) {
                ends[place] += 1;
            }
        }
        let mut total = 0;
        for end in &mut ends {
            // Where the place begins, for now: it becomes the end as the numbers come in.
            let count = core::mem::replace(end, total);
            total += count;
        }
        let mut numbers = zeroed(total)?;
        for (number, &hash) in (0..).zip(hashes) {
            for place in places.used_by(filter, hash) {
                numbers[ends[place] as usize] = number;
                ends[place] += 1;
            }
        }
        Ok(Self {
            hashes,
            numbers,
            ends,
            gone: Bits::zeroed(hashes.len() as u64)?,
        })
    }

    /// The numbers of those who use a place and are not gone, as often as they use it.
    fn at(&self, place: usize) -> impl Iterator<Item = u64> {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.numbers[start as usize..self.ends[place] as usize]
            .iter()
            .copied()
            .filter(|&number| !self.gone.has(number))
    }

    fn count(&self, place: usize) -> u64 {
        self.at(place).count() as u64
    }

    /// Takes all who use a place out of the index, and leaves their hashes, each once, in `taken`, which has room for them.
    fn take(&mut self, place: usize, taken: &mut Vec<u64>) {
        taken.clear();
        taken.extend(self.at(place));
        for number in &mut *taken {
            self.gone.set(*number);
            *number = self.hashes[*number as usize];
        }
        taken.sort_unstable();
        taken.dedup();
    }
}

/// The index. All memory is asked for when it is made, so that a clearing is done or not begun.
pub(super) struct BitIndex<'l> {
    places: TrackedBits,
    keys: BitUsers<'l>,
    false_positives: BitUsers<'l>,
    /// Keys for each false positive, by place, as the last clearing by ratio that met both computed them.
    ratios: Vec<f64>,
    /// Ratios of bits that nobody looks at now.
    other_ratios: Vec<(u64, f64)>,
    /// Places whose ratio is to be computed again, each once.
    stale: Vec<usize>,
    is_stale: Bits,
    taken: Vec<u64>,
}

/// What is left when the clearings are done.
pub(super) struct ClearingOutcome {
    pub(super) keys_gone: Bits,
    pub(super) false_positives_gone: Bits,
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
        let places = TrackedBits::from_hashes(filter, [false_positives, targets])?;
        let keys = BitUsers::for_bits(keys, filter, &places)?;
        let false_positives = BitUsers::for_bits(false_positives, filter, &places)?;
        let count = places.count;
        let mut ratios = zeroed(count)?;
        let mut other_ratios = reserved(count + known_ratios.len() as u64)?;
        for &(position, ratio) in known_ratios {
            match places.find(position) {
                Some(place) => ratios[place] = ratio,
                None => other_ratios.push((position, ratio)),
            }
        }
        let mut uses = Self {
            ratios,
            other_ratios,
            stale: reserved(count)?,
            is_stale: Bits::zeroed(count)?,
            taken: reserved(keys.numbers.len().max(false_positives.numbers.len()) as u64)?,
            places,
            keys,
            false_positives,
        };
        for place in 0..count {
            uses.is_stale.set(place);
            uses.stale.push(place as usize);
        }
        Ok(uses)
    }

    /// Clears one bit of a hash that is one of the targets or of the listed false positives.
    pub(super) fn clear(
        &mut self,
        filter: &mut ClassicBloom,
        hash: u64,
        clearing: ClearingStrategy,
    ) -> ClearedBit {
        let bit = self.choose(filter, hash, clearing);
        let Some(place) = self.places.find(bit) else {
            unreachable!("all bits of targets and listed keys are looked at")
        };
        let mut taken = core::mem::take(&mut self.taken);
        self.keys.take(place, &mut taken);
        let keys_lost = taken.len() as u64;
        self.mark_stale(filter, &taken);
        self.false_positives.take(place, &mut taken);
        // A listed key that the filter said no to before is no achievement.
        let false_positives_gone =
            taken.iter().filter(|&&hash| filter.has_all(hash)).count() as u64;
        self.mark_stale(filter, &taken);
        self.taken = taken;
        self.ratios[place] = 0.0;
        filter.clear_bit(bit);
        ClearedBit {
            bit,
            keys_lost,
            false_positives_removed: false_positives_gone,
        }
    }

    /// The bit to clear; of equally good ones the first on the key's walk.
    fn choose(&mut self, filter: &ClassicBloom, hash: u64, clearing: ClearingStrategy) -> u64 {
        if clearing == ClearingStrategy::Ratio {
            self.update_ratios();
        }
        let cost = |place| match clearing {
            ClearingStrategy::Random { .. } => 0.0,
            ClearingStrategy::MinimumFalseNegatives => self.keys.count(place) as f64,
            ClearingStrategy::MaximumFalsePositives => -(self.false_positives.count(place) as f64),
            ClearingStrategy::Ratio => self.ratios[place],
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
            .map(|at| (at, self.places.find(at).map_or(f64::INFINITY, cost)));
        let best = costs.reduce(|best, next| if next.1 < best.1 { next } else { best });
        best.map_or(0, |(at, _)| at)
    }

    fn update_ratios(&mut self) {
        for place in self.stale.drain(..) {
            self.is_stale.clear_bit(place as u64);
            let (keys, false_positives) =
                (self.keys.count(place), self.false_positives.count(place));
            // As Hadoop does: where one of them is missing, what was computed before stays.
            if keys > 0 && false_positives > 0 {
                self.ratios[place] = keys as f64 / false_positives as f64;
            }
        }
    }

    /// The users of these places have become fewer.
    fn mark_stale(&mut self, filter: &ClassicBloom, taken: &[u64]) {
        for &hash in taken {
            for place in self.places.used_by(filter, hash) {
                if self.is_stale.set(place as u64) {
                    self.stale.push(place);
                }
            }
        }
    }

    pub(super) fn finish(mut self) -> ClearingOutcome {
        let reckoned = self.places.positions().zip(self.ratios);
        self.other_ratios
            .extend(reckoned.filter(|&(_, ratio)| ratio > 0.0));
        ClearingOutcome {
            keys_gone: self.keys.gone,
            false_positives_gone: self.false_positives.gone,
            ratios: self.other_ratios,
        }
    }
}
