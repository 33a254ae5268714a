//! A shard of a `Ribbon` is solved by elimination in a band: equations are 64 slots wide, and those that do not fit are left
//! to the next layer, with all of their bucket that start before them.

use super::sort::sort;
use crate::PlanError;
use crate::plan::{BUCKET, layer_starts};
use crate::probe::fuse::{mix, seed, unmix};
use crate::probe::ribbon::{Layer, Row, THRESHOLDS};
use crate::store::zeroed;
use alloc::vec::Vec;

/// Layers of a shard. The last has room for all: some hundred keys of a million come to it.
pub(crate) const LAYERS: usize = 4;

/// Seeds that are tried for the last layer.
const ATTEMPTS: u64 = 100;

/// A shard whose every key finds its fingerprint; places are counted from its own beginning.
pub(crate) struct Solved {
    pub(crate) layers: [Layer; LAYERS],
    /// For every block of 64 slots, a word of each column.
    pub(crate) words: Vec<u64>,
    pub(crate) thresholds: Vec<u8>,
    /// Distinct keys.
    pub(crate) keys: u64,
}

/// Rows in echelon form: the row of a slot has its first coefficient there; 0 where there is none.
struct Band {
    coefficients: Vec<u64>,
    fingerprints: Vec<u32>,
}

impl Band {
    fn new(layer: &Layer) -> Result<Self, PlanError> {
        let slots = layer.blocks() * 64;
        Ok(Self {
            coefficients: zeroed(slots)?,
            fingerprints: zeroed(slots)?,
        })
    }

    /// The slot that the row took, or `None` when its coefficients are used up.
    #[inline]
    fn insert(&mut self, row: Row) -> Option<usize> {
        let (mut at, mut left, mut fingerprint) =
            (row.start as usize, row.coefficients, row.fingerprint);
        loop {
            let there = self.coefficients[at];
            if there == 0 {
                self.coefficients[at] = left;
                self.fingerprints[at] = fingerprint;
                return Some(at);
            }
            left ^= there;
            fingerprint ^= self.fingerprints[at];
            if left == 0 {
                return None;
            }
            let step = left.trailing_zeros();
            left >>= step;
            at += step as usize;
        }
    }

    /// The columns, from the last slot to the first.
    fn solve(&self, columns: usize, words: &mut Vec<u64>) {
        let start = words.len();
        let blocks = self.coefficients.len() / 64;
        words.resize(start + blocks * columns, 0);
        let mut windows = [0_u64; 32];
        let windows = &mut windows[..columns];
        for block in (0..blocks).rev() {
            for slot in (0..64).rev() {
                let at = block * 64 + slot;
                let (coefficients, fingerprint) = (self.coefficients[at], self.fingerprints[at]);
                for (column, window) in windows.iter_mut().enumerate() {
                    // A slot without a row is zero: its coefficients are, and its fingerprint.
                    let others = (*window << 1 & coefficients).count_ones();
                    let bit = (others ^ fingerprint >> column) & 1;
                    *window = *window << 1 | u64::from(bit);
                }
            }
            let here = start + block * columns;
            words[here..here + columns].copy_from_slice(windows);
        }
    }
}

/// Solves shard number `shard` for its hashes, which may repeat and are lost.
pub(crate) fn solve(shard: u64, hashes: &mut [u64], columns: u8) -> Result<Solved, PlanError> {
    let mut solved = Solved {
        layers: [Layer::default(); LAYERS],
        words: Vec::new(),
        thresholds: Vec::new(),
        keys: 0,
    };
    let mut scratch = zeroed(hashes.len() as u64)?;
    sort(hashes, &mut scratch);
    let mut keys = super::without_repetitions(hashes);
    solved.keys = keys as u64;
    for number in 0..LAYERS {
        let last = number == LAYERS - 1;
        let mut layer = Layer {
            seed: 0,
            starts: layer_starts(keys as u64, last),
            word: solved.words.len() as u64,
            bucket: solved.thresholds.len() as u64,
        };
        let mut attempt = 0;
        let (band, bumped) = loop {
            layer.seed = seed(shard * LAYERS as u64 + number as u64, attempt);
            for hash in &mut hashes[..keys] {
                *hash = mix(*hash, layer.seed);
            }
            sort(&mut hashes[..keys], &mut scratch[..keys]);
            let mut band = Band::new(&layer)?;
            let thresholds = &mut solved.thresholds;
            thresholds.truncate(layer.bucket as usize);
            let bumped = insert_buckets(&layer, &mut band, &mut hashes[..keys], thresholds);
            for hash in &mut hashes[..keys] {
                *hash = unmix(*hash, layer.seed);
            }
            if !last || bumped == 0 {
                break (band, bumped);
            }
            attempt += 1;
            if attempt == ATTEMPTS {
                return Err(PlanError::Unsolvable {
                    keys: keys as u64,
                    attempts: ATTEMPTS,
                });
            }
        };
        band.solve(usize::from(columns), &mut solved.words);
        solved.layers[number] = layer;
        keys = bumped;
    }
    Ok(solved)
}

/// Inserts sorted mixed hashes, bucket by bucket, each from its last start to its first; writes the thresholds, moves what is
/// bumped to the front and counts it.
fn insert_buckets(
    layer: &Layer,
    band: &mut Band,
    mixed: &mut [u64],
    thresholds: &mut Vec<u8>,
) -> usize {
    let mut bumped = 0;
    let mut from = 0;
    let mut taken = Vec::new();
    for bucket in 0..layer.starts / BUCKET {
        let to = from
            + mixed[from..]
                .iter()
                .take_while(|&&key| layer.row_of_mixed(key).start / BUCKET == bucket)
                .count();
        taken.clear();
        let mut threshold = 0;
        for &key in mixed[from..to].iter().rev() {
            let row = layer.row_of_mixed(key);
            let Some(slot) = band.insert(row) else {
                let offset = row.start % BUCKET;
                threshold = THRESHOLDS
                    .iter()
                    .position(|&threshold| threshold > offset)
                    .unwrap_or(THRESHOLDS.len() - 1);
                break;
            };
            taken.push((row.start % BUCKET, slot));
        }
        // Rows that came later never changed those before, so the last ones can be taken out again.
        while let Some((_, slot)) = taken.pop_if(|(offset, _)| *offset < THRESHOLDS[threshold]) {
            band.coefficients[slot] = 0;
            band.fingerprints[slot] = 0;
        }
        let count = to - from - taken.len();
        thresholds.push(threshold as u8);
        for at in from..from + count {
            mixed.swap(bumped, at);
            bumped += 1;
        }
        from = to;
    }
    bumped
}
