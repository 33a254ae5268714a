//! What the bits of a Bloom filter say about its keys and its false-positive rate; `Bloom` and `SharedBloom` share it.
//!
//! An absent key has a row of words in one line or two, and any of 64 places in each word. If it has one line, its rate is the
//! mean over lines and rows of the product of the words' fills. If it has two, its places are the same in both, and what counts
//! is how many of them a pair of lines has in common: more than both fills say if the two lines share a key.
//!
//! The number of keys does not tell how many lines do. A fold of an odd number of lines copies lines, so that one key is shared
//! by up to four pairs and looks like two keys. Therefore `line_pairs` compares lines, as long as a filter is small enough for
//! shared keys to matter. With up to 128 lines in each half the rate is exact. With 129 to 4097 it was within 1 % of the exact
//! one above 1e-5, 5 % above 1e-7 and 10 % above 1e-8, plain and folded; far below, it can be a few times too low.

use super::line_pairs::{MAX_PAIRS, NonEmptyLines};
use crate::plan::{BloomPlan, LinesPerKey};
use crate::probe::blocked::PATTERNS;
use crate::stats::{known, share};
use crate::store::Line;
use crate::{Kind, Stats};

/// The maximum number of lines in each half of a filter with two lines per key whose rate is exact.
const EXACT_LINES: u64 = MAX_PAIRS.isqrt() as u64;

/// The smallest share of the rate that shared keys must have for lines of larger filters to be compared.
const LEAST_EXCESS: f64 = 0.005;

/// What comparing lines of a larger filter can add to the rate, in multiples of what the number of keys says, besides the rate of
/// independent lines. Two keys of one row that share both lines count as much as 64 or more other pairs of lines, and which pairs
/// are compared is chance. A fold at least doubles the one and multiplies the other by 3.8, unless the rate is close to 1; so it
/// never lowers the rate.
const MAX_EXCESS: f64 = 3.0;

/// What the lines of a filter, or a sample of them, tell.
#[derive(Clone, Copy, Debug)]
pub(in crate::filter) struct LineEstimate {
    /// Of the whole filter.
    pub(in crate::filter) set_bits: u64,
    /// The false-positive rate: the probability that a random absent key finds all its bits set.
    pub(in crate::filter) rate: f64,
    /// One of so many lines was read.
    stride: u64,
}

/// Estimates from every `stride`-th line, given with its number.
pub(in crate::filter) fn estimate(
    plan: &BloomPlan,
    lines: impl Iterator<Item = (u64, Line)>,
    stride: u64,
) -> LineEstimate {
    let rows = Rows::new(plan.bits_per_line());
    let two_lines = plan.lines_per_key() == LinesPerKey::Two;
    let mut non_empty = NonEmptyLines::default();
    let mut by_row = [[0.0; 8]; 2];
    let mut counts = [0_u64; 2];
    let mut set_bits = 0;
    for (number, line) in lines {
        // A filter with two lines per key has as many first lines as second ones.
        let half = usize::from(number >= plan.line_range());
        counts[half] += 1;
        let set_in_line = line.0.map(u64::count_ones).iter().sum::<u32>();
        if set_in_line == 0 {
            continue;
        }
        set_bits += u64::from(set_in_line);
        rows.add_found(&line, &mut by_row[half]);
        // The lines of a sample share almost no keys.
        if two_lines && stride == 1 {
            non_empty.add(half, line);
        }
    }
    let [first_lines, second_lines] = counts.map(|count| count.max(1) as f64);
    let set_bits = if stride == 1 {
        set_bits
    } else {
        let share = plan.lines() as f64 / (counts[0] + counts[1]).max(1) as f64;
        (libm::round(set_bits as f64 * share) as u64).min(plan.size_bits())
    };
    let rate = if two_lines {
        let pairs = first_lines * second_lines;
        let independent = Rows::product(&by_row[0], &by_row[1]) / pairs;
        let by_keys = plan.shared_key_excess(set_bits);
        let is_exact = plan.line_range() <= EXACT_LINES;
        let matters = is_exact || by_keys > independent * LEAST_EXCESS;
        let compared = (stride == 1 && matters).then(|| non_empty.compare(&rows, &by_row[1]));
        match compared.flatten() {
            Some(compared) if is_exact => compared.found / pairs,
            Some(compared) => {
                let by_pairs = compared.excess() / pairs;
                independent + by_pairs.clamp(by_keys, independent + MAX_EXCESS * by_keys)
            }
            None => independent + by_keys,
        }
    } else {
        by_row[0].iter().map(|sum| sum / first_lines).sum::<f64>() / 8.0
    };
    LineEstimate {
        set_bits,
        rate: rate.min(1.0),
        stride,
    }
}

/// The words of each row.
pub(super) struct Rows {
    /// The first `words` of eight.
    used: [[usize; 8]; 8],
    words: usize,
}

impl Rows {
    fn new(bits_per_line: u8) -> Self {
        let words = usize::from(bits_per_line);
        let used = core::array::from_fn(|row| {
            let pattern = PATTERNS[words - 1].rotate_left(row as u32);
            let mut used = (0..8).filter(|word| pattern >> word & 1 == 1);
            core::array::from_fn(|_| used.next().unwrap_or_default())
        });
        Self { used, words }
    }

    /// Bits per key in a line.
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// Adds the probabilities that an absent key of each row has all its bits in this line.
    #[inline(always)]
    pub(super) fn add_found(&self, line: &Line, sums: &mut [f64; 8]) {
        let fill = line.0.map(|word| f64::from(word.count_ones()) / 64.0);
        for (used, sum) in self.used.iter().zip(sums) {
            let used = &used[..self.words];
            *sum += used.iter().map(|word| fill[*word]).product::<f64>();
        }
    }

    /// The mean over rows of the probability that a key is found in both of two lines, or of two sums of lines, if what they
    /// contain is independent.
    pub(super) fn product(first: &[f64; 8], second: &[f64; 8]) -> f64 {
        let both = first.iter().zip(second);
        both.map(|(first, second)| first * second).sum::<f64>() / 8.0
    }
}

/// The stats of a filter with this estimate.
pub(in crate::filter) fn stats(plan: &BloomPlan, estimate: LineEstimate) -> Stats {
    let LineEstimate {
        set_bits,
        rate,
        stride,
    } = estimate;
    // Saturates, as float to integer casts do.
    let keys = libm::round(plan.keys_for_set_bits(set_bits)) as u64;
    Stats {
        capacity: Some(plan.capacity()),
        bits: Some(plan.size_bits()),
        probes: Some(plan.probes()),
        fill: share(set_bits, plan.size_bits()),
        estimated_keys: known(keys),
        false_positive_rate: Some(plan.false_positive_rate()),
        estimated_rate: Some(rate),
        is_over_capacity: plan.is_sample_over_capacity(set_bits, stride),
        keys_until_full: Some(plan.capacity().saturating_sub(keys)),
        ..Stats::new(Kind::Bloom, plan.size_bytes())
    }
}
