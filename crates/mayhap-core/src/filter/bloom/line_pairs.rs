//! How many places of an absent key the first and second lines of a filter have in common, pair by pair. Only for filters with
//! two lines per key.
//!
//! All pairs give the exact rate: 128 lines on each side, or fewer on one. Of larger filters, some first lines, evenly spaced, are
//! compared with all second ones, and tell how much more they have in common than their fills say.
//!
//! 16 Ki pairs take 0.1 ms, and 4 MiB of lines, the server's sample, take 2. The lines are copied, 512 KiB at most.

use super::estimate::Rows;
use crate::probe::blocked::PATTERNS;
use crate::store::Line;
use alloc::vec::Vec;

/// The maximum number of pairs that are compared.
pub(super) const MAX_PAIRS: usize = 1 << 14;

/// The maximum number of lines on each side. With more, there are too many pairs for shared keys to matter, and fewer than four
/// first lines would be compared.
const MAX_LINES: usize = 1 << 12;

/// The lines of each half that have bits, as long as there are few.
#[derive(Default)]
pub(super) struct NonEmptyLines {
    halves: [Vec<Line>; 2],
    has_too_many: bool,
}

/// What pairs of lines have in common, in whole pairs: 1 if every absent key is found.
pub(super) struct ComparedPairs {
    /// The sum over the pairs that were compared.
    pub(super) found: f64,
    /// The same sum, if both lines of a pair were independent.
    independent: f64,
    /// One of so many first lines was compared.
    stride: f64,
}

impl ComparedPairs {
    /// How much more all pairs have in common than independent ones.
    pub(super) fn excess(&self) -> f64 {
        (self.found - self.independent) * self.stride
    }
}

impl NonEmptyLines {
    pub(super) fn add(&mut self, half: usize, line: Line) {
        if self.halves[half].len() == MAX_LINES {
            self.has_too_many = true;
            self.halves = [const { Vec::new() }; 2];
        } else if !self.has_too_many {
            self.halves[half].push(line);
        }
    }

    /// Compares as many pairs as the limit allows; `None` if not all lines were kept. `second_found` is the sum of
    /// [`Rows::add_found`] over the second lines.
    pub(super) fn compare(&self, rows: &Rows, second_found: &[f64; 8]) -> Option<ComparedPairs> {
        if self.has_too_many {
            return None;
        }
        let [first, second] = &self.halves;
        let matches = MATCHES_BY_WORDS[rows.words() - 1];
        let ways_per_pair = 8.0 * libm::exp2(6.0 * rows.words() as f64);
        let compared = (MAX_PAIRS / second.len().max(1)).min(first.len());
        let (mut ways, mut independent) = (0.0, 0.0);
        for at in 0..compared {
            let line = &first[at * first.len() / compared];
            ways += matches(line, second) as f64;
            let mut first_found = [0.0; 8];
            rows.add_found(line, &mut first_found);
            independent += Rows::product(&first_found, second_found);
        }
        Some(ComparedPairs {
            found: ways / ways_per_pair,
            independent,
            stride: first.len() as f64 / compared.max(1) as f64,
        })
    }
}

/// [`matches`] for 1 to 8 words per row: with a pattern that the compiler knows it takes a third of the time.
const MATCHES_BY_WORDS: [fn(&Line, &[Line]) -> u64; 8] = [
    matches::<1>,
    matches::<2>,
    matches::<3>,
    matches::<4>,
    matches::<5>,
    matches::<6>,
    matches::<7>,
    matches::<8>,
];

/// In how many ways, of 8 rows times 64 places for each of their words, both lines of a pair have all bits; the sum over pairs.
/// At most 2^63: `MAX_LINES` pairs of 8 * 64^8 ways.
fn matches<const WORDS: usize>(first: &Line, second: &[Line]) -> u64 {
    let mut ways = 0;
    for second in second {
        let common: [u64; 8] =
            core::array::from_fn(|word| u64::from((first.0[word] & second.0[word]).count_ones()));
        for row in 0..8 {
            let used = (0..8).filter(|word| PATTERNS[WORDS - 1] >> word & 1 == 1);
            ways += used.map(|word| common[(word + row) % 8]).product::<u64>();
        }
    }
    ways
}
