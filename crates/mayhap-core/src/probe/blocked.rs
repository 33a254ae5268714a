//! The walk of `Bloom` and `SharedBloom`: the line of a hash, and its bits there.
//!
//! A filter consists of lines of eight 64-bit words. The eight bytes of the hash are eight positions: byte `w`, modulo 64, is a
//! bit of word `w`. A key uses only some of the words (all eight at strict rates, six at 1 %), given by one of eight rows, which
//! are rotations of one pattern, so that all words fill evenly. The line is the high half of `hash * FIRST` times the number of
//! lines: any number of lines works, and two neighbours fold into one. Filters with two lines per key have two halves of equal
//! length, with one line in each and the same bits in both.
//!
//! This file defines the behaviour, and `simd/` implements it faster. Files and other programs rely on it: it never changes.

use crate::store::Line;

/// Odd constants (the golden ratio, and one of a well-known mixing function) that make the line independent of the positions.
pub(crate) const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
pub(crate) const SECOND: u64 = 0xD6E8_FEB8_6659_FD93;

/// `PATTERNS[k - 1]`: the words of row 0 for k bits per key in a line, word 0 lowest. Among all patterns of k words these give
/// the lowest rate when rotated.
pub(crate) const PATTERNS: [u8; 8] = [
    0b0000_0001,
    0b0000_0011,
    0b0000_1011,
    0b0001_0111,
    0b0010_1111,
    0b0011_1111,
    0b0111_1111,
    0b1111_1111,
];

/// A pattern in the layout that the kernels load. Their constants follow the rows, so that one register addresses everything.
#[repr(C, align(64))]
pub(crate) struct Pattern {
    /// 1 in every word that a key of this row uses.
    pub(crate) rows: [Line; 8],
    /// [`SPREAD`].
    pub(crate) spread: [u8; 64],
    /// Keeps six bits of every byte: a position in a word.
    pub(crate) six_bits: [u8; 32],
}

/// For byte shuffles: moves byte `w` of every 64-bit group to the low end of word `w`, and zeros to the rest.
pub(crate) const SPREAD: [u8; 64] = {
    let mut spread = [0x80; 64];
    let mut word = 0;
    while word < 8 {
        spread[8 * word] = word as u8;
        word += 1;
    }
    spread
};

static PATTERN_TABLES: [Pattern; 8] = {
    let mut all = [const {
        Pattern {
            rows: [Line([0; 8]); 8],
            spread: SPREAD,
            six_bits: [63; 32],
        }
    }; 8];
    let mut k = 0;
    while k < 8 {
        let mut row = 0;
        while row < 8 {
            let words = PATTERNS[k].rotate_left(row as u32);
            let mut word = 0;
            while word < 8 {
                all[k].rows[row].0[word] = (words >> word & 1) as u64;
                word += 1;
            }
            row += 1;
        }
        k += 1;
    }
    all
};

/// The positions of hashes in a filter of a given shape.
#[derive(Clone, Copy)]
pub(crate) struct BlockedWalk {
    /// Lines in the filter, or in each of its halves if a key has two lines.
    line_range: u64,
    two_lines: bool,
    pattern: &'static Pattern,
}

impl BlockedWalk {
    /// A walk over `line_range` lines (times two for two lines per key), with bits in `bits_per_line` of the eight words of a
    /// line.
    pub(crate) fn new(line_range: u64, two_lines: bool, words: u8) -> Self {
        assert!(line_range > 0, "a filter has at least one line");
        Self {
            line_range,
            two_lines,
            pattern: &PATTERN_TABLES[usize::from(words) - 1],
        }
    }

    #[inline]
    pub(crate) fn two_lines(&self) -> bool {
        self.two_lines
    }

    #[inline]
    pub(crate) fn pattern(&self) -> &'static Pattern {
        self.pattern
    }

    /// Lines in the whole filter.
    #[inline]
    pub(crate) fn lines(&self) -> u64 {
        if self.two_lines {
            2 * self.line_range
        } else {
            self.line_range
        }
    }

    /// The key's first line; below `line_range`.
    #[inline(always)]
    pub(crate) fn first(&self, hash: u64) -> usize {
        mul_high(hash.wrapping_mul(FIRST), self.line_range) as usize
    }

    /// The key's line in the second half, counted from the start of the filter; only for walks of two lines.
    #[inline(always)]
    pub(crate) fn second(&self, hash: u64) -> usize {
        (self.line_range + mul_high(hash.wrapping_mul(SECOND), self.line_range)) as usize
    }

    /// The key's second line, or its only one. Without a branch, which would be mispredicted among tables of both sorts.
    #[inline(always)]
    pub(crate) fn last(&self, hash: u64) -> usize {
        let if_two = u64::from(self.two_lines).wrapping_neg();
        let multiplier = FIRST ^ (if_two & (FIRST ^ SECOND));
        let line = mul_high(hash.wrapping_mul(multiplier), self.line_range);
        ((if_two & self.line_range) + line) as usize
    }

    /// The number of the key's row, below 8.
    #[inline(always)]
    pub(crate) fn row_number(hash: u64) -> usize {
        (hash.wrapping_mul(FIRST) >> 32 & 7) as usize
    }

    /// The key's row.
    #[inline(always)]
    pub(crate) fn row(&self, hash: u64) -> &'static Line {
        &self.pattern.rows[Self::row_number(hash)]
    }

    /// The position of the key's bit in a word, if its row uses that word.
    #[inline(always)]
    pub(crate) fn position(hash: u64, word: usize) -> u64 {
        hash >> (8 * word) & 63
    }

    /// The key's bits in each of its lines.
    #[inline(always)]
    pub(crate) fn mask(&self, hash: u64) -> Line {
        mask(hash, self.row(hash))
    }
}

/// Shifts the ones of a row to the positions that the hash has for their words.
#[inline(always)]
pub(crate) fn mask(hash: u64, row: &Line) -> Line {
    let mut mask = *row;
    for (word, bits) in mask.0.iter_mut().enumerate() {
        *bits <<= BlockedWalk::position(hash, word);
    }
    mask
}

/// The high half of a product: maps a full-range number evenly onto `0..range`.
#[inline(always)]
pub(crate) fn mul_high(number: u64, range: u64) -> u64 {
    ((u128::from(number) * u128::from(range)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::HashScheme;
    use std::vec;

    /// How many standard deviations a contingency table is from independence (chi-square, its normal approximation).
    fn deviation(counts: &[u64], rows: usize, columns: usize) -> f64 {
        let total: u64 = counts.iter().sum();
        let expected = total as f64 / (rows * columns) as f64;
        let chi_square: f64 = counts
            .iter()
            .map(|&count| (count as f64 - expected).powi(2) / expected)
            .sum();
        let freedom = (rows * columns - 1) as f64;
        (chi_square - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    fn line_row_and_positions_are_uniform_and_pairwise_independent() {
        // Sequential integers through XXH3, which are typical keys. Eight positions, the row, both lines: every pair of the
        // eleven as a table of counts. Lines are reduced modulo 64, of few lines and of many.
        const KEYS: u64 = 1 << 20;
        for line_range in [64 * 16, 64 * 65_536] {
            let walk = BlockedWalk::new(line_range, true, 6);
            let mut tables = vec![0_u64; 11 * 11 * 64 * 64];
            for key in 0..KEYS {
                let hash = HashScheme::Xxh3.hash(key.to_le_bytes()).to_u64();
                let mut parts = [0; 11];
                for (word, part) in parts.iter_mut().take(8).enumerate() {
                    *part = (hash >> (8 * word) & 63) as usize;
                }
                parts[8] = BlockedWalk::row_number(hash) * 8;
                parts[9] = walk.first(hash) % 64;
                parts[10] = (walk.second(hash) - line_range as usize) % 64;
                for (a, &left) in parts.iter().enumerate() {
                    for (b, &right) in parts.iter().enumerate().skip(a + 1) {
                        tables[((a * 11 + b) * 64 + left) * 64 + right] += 1;
                    }
                }
            }
            for a in 0..11 {
                for b in a + 1..11 {
                    let table = &tables[(a * 11 + b) * 64 * 64..][..64 * 64];
                    // The row has eight values, at every eighth index.
                    let used: vec::Vec<u64> = table
                        .iter()
                        .enumerate()
                        .filter(|(at, _)| (a != 8 || at / 64 % 8 == 0) && (b != 8 || at % 8 == 0))
                        .map(|(_, &count)| count)
                        .collect();
                    let (rows, columns) =
                        (if a == 8 { 8 } else { 64 }, if b == 8 { 8 } else { 64 });
                    let sigmas = deviation(&used, rows, columns);
                    assert!(
                        sigmas.abs() < 6.0,
                        "parts {a} and {b} of {line_range} lines: {sigmas} standard deviations"
                    );
                }
            }
        }
    }

    #[test]
    fn all_words_are_used_by_equally_many_rows() {
        for (words, pattern) in (1..).zip(PATTERNS) {
            assert_eq!(pattern.count_ones(), words);
            for word in 0..8 {
                let rows = (0..8)
                    .filter(|&row| pattern.rotate_left(row) >> word & 1 == 1)
                    .count();
                assert_eq!(rows, words as usize, "pattern {pattern:08b}, word {word}");
            }
        }
    }

    #[test]
    fn lines_stay_inside_their_half() {
        for line_range in [1, 2, 3, 1000, 1 << 40] {
            let walk = BlockedWalk::new(line_range, true, 8);
            for hash in [0, 1, u64::MAX, u64::MAX / 3, FIRST, SECOND] {
                assert!((walk.first(hash) as u64) < line_range);
                assert!((line_range..2 * line_range).contains(&(walk.second(hash) as u64)));
            }
        }
    }
}
