//! The walk of `Cuckoo`: the two windows of a hash, and its fingerprint.
//!
//! A table of M cells has W = M - 1 windows; window `w` is the cells `w` and `w + 1`. The hash gives a first window and a
//! fingerprint. The second window is at a distance after the first, cyclically, that depends only on the fingerprint. So a stored
//! fingerprint together with its window, and whether that is the first or the second, gives both windows, for any number of cells
//! and without the hash.
//!
//! The first window comes from the high end of a product and the fingerprint from the low end: together they distinguish as many
//! hashes as there are pairs of the two. Files and other programs rely on this walk: it never changes.

use super::blocked::{FIRST, mul_high};

/// Odd constants: one for the position, different from that of `Bloom`, so that a Bloom filter over the same hashes has other
/// false positives, and two that separate the distances of neighbouring fingerprints.
pub(crate) const PLACE: u64 = 0xF135_7AEA_2E62_A9C5;
pub(crate) const DISTANCE: u64 = 0xBEA2_25F9_EB34_556D;

/// The windows of hashes in a table of a given shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CuckooWindows {
    pub(crate) count: u64,
    /// Distances are 1 to this.
    pub(crate) distances: u64,
    /// Fingerprints are 1 to this: 0 is the empty cell.
    pub(crate) fingerprints: u64,
}

impl CuckooWindows {
    /// The windows of `cells` cells with fingerprints of `fingerprint_bits` bits.
    pub(crate) fn new(cells: u64, fingerprint_bits: u32) -> Self {
        assert!(cells >= 3, "two windows take three cells");
        Self {
            count: cells - 1,
            distances: cells - 2,
            fingerprints: (1 << fingerprint_bits) - 1,
        }
    }

    /// The first window and the fingerprint of a hash.
    #[inline(always)]
    pub(crate) fn locate(&self, hash: u64) -> (u64, u64) {
        let product = (hash ^ hash >> 32).wrapping_mul(PLACE);
        (
            mul_high(product, self.count),
            1 + mul_high(product.swap_bytes(), self.fingerprints),
        )
    }

    /// The second window of a fingerprint whose first window is `first`.
    #[inline(always)]
    pub(crate) fn second(&self, first: u64, fingerprint: u64) -> u64 {
        let sum = first + self.distance(fingerprint);
        // The one in range: the other is larger, by far if it has wrapped. A comparison would become a branch that is
        // mispredicted every second time.
        sum.min(sum.wrapping_sub(self.count))
    }

    /// The first window of a fingerprint whose second window is `second`.
    #[inline(always)]
    pub(crate) fn first(&self, second: u64, fingerprint: u64) -> u64 {
        let difference = second.wrapping_sub(self.distance(fingerprint));
        difference.min(difference.wrapping_add(self.count))
    }

    /// The distance from the first window to the second: at least 1, below the number of windows.
    #[inline(always)]
    fn distance(&self, fingerprint: u64) -> u64 {
        let product = fingerprint.wrapping_mul(FIRST);
        let mixed = (product ^ product >> 32).wrapping_mul(DISTANCE);
        1 + mul_high(mixed, self.distances)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::HashScheme;
    use std::vec;

    #[test]
    fn each_window_determines_the_other_in_tables_of_any_size() {
        for cells in [3, 4, 5, 100, 1001, (1 << 40) - 3] {
            for bits in [1, 2, 7, 10, 26] {
                let windows = CuckooWindows::new(cells, bits);
                for key in 0..2000_u64 {
                    let hash = HashScheme::Xxh3.hash(key.to_le_bytes()).to_u64();
                    let (first, fingerprint) = windows.locate(hash);
                    let second = windows.second(first, fingerprint);
                    assert!(first < cells - 1 && second < cells - 1 && first != second);
                    assert!((1..1 << bits).contains(&fingerprint));
                    assert_eq!(windows.first(second, fingerprint), first);
                }
            }
        }
    }

    #[test]
    fn window_and_fingerprint_are_uniform_and_independent() {
        // Sequential integers through XXH3. 60 windows and 15 fingerprints, as a table of counts; then the distances of many
        // fingerprints, which must not cluster.
        const KEYS: u64 = 1 << 20;
        let windows = CuckooWindows::new(61, 4);
        let mut counts = vec![0_u64; 60 * 15];
        for key in 0..KEYS {
            let hash = HashScheme::Xxh3.hash(key.to_le_bytes()).to_u64();
            let (first, fingerprint) = windows.locate(hash);
            counts[first as usize * 15 + fingerprint as usize - 1] += 1;
        }
        assert!(sigmas(&counts).abs() < 6.0, "{}", sigmas(&counts));

        let windows = CuckooWindows::new(65, 20);
        let mut counts = vec![0_u64; 63];
        for fingerprint in 1..1 << 20 {
            counts[windows.distance(fingerprint) as usize - 1] += 1;
        }
        assert!(sigmas(&counts).abs() < 6.0, "{}", sigmas(&counts));
    }

    /// How many standard deviations counts are from being equal (chi-square, its normal approximation).
    fn sigmas(counts: &[u64]) -> f64 {
        let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        let chi_square: f64 = counts
            .iter()
            .map(|&count| (count as f64 - expected).powi(2) / expected)
            .sum();
        let freedom = counts.len() as f64 - 1.0;
        (chi_square - freedom) / (2.0 * freedom).sqrt()
    }
}
