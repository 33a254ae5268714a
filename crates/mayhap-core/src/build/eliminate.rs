//! Solves a shard of equations by Gaussian elimination in a band: rows are 64 or 128 slots wide, and there are hardly more slots
//! than rows. About every third or fourth seed works, so seeds are tried until one does.

use crate::PlanError;
use crate::probe::ribbon::{Coefficients, RibbonShard};
use crate::store::zeroed;
use alloc::vec::Vec;

/// The number of seeds to try.
const ATTEMPTS: u16 = 256;

/// Slots per counter of `may_fit`.
const BIN: u64 = 8;
/// How many rows the first attempts keep away from the limits, because a seed that is close to them seldom works: 97 ns per key
/// instead of 147 at 100,000 keys. Shards with many keys need the seeds that this margin rejects, so later attempts drop it.
const MARGIN: u64 = 12;
const MARGIN_ATTEMPTS: u8 = 16;

/// Rows in echelon form: the row stored for a slot has its first coefficient there; 0 if there is no row.
pub(crate) struct BandMatrix<W> {
    coefficients: Vec<W>,
    values: Vec<u32>,
    slots: usize,
    counts: Vec<u64>,
}

impl<W: Coefficients> BandMatrix<W> {
    pub(crate) fn new() -> Self {
        Self {
            coefficients: Vec::new(),
            values: Vec::new(),
            slots: 0,
            counts: Vec::new(),
        }
    }

    /// Finds a seed for keys that are pairs of a spread hash, all different, and a value. The number of slots may grow with the
    /// attempts.
    pub(crate) fn eliminate<K>(
        &mut self,
        keys: &[K],
        pair: impl Fn(&K) -> (u64, u32),
        slots: impl Fn(u16) -> u64,
    ) -> Result<RibbonShard, PlanError> {
        for seed in 0..ATTEMPTS {
            let shard = RibbonShard {
                first_slot: 0,
                slots: slots(seed),
                seed: seed as u8,
            };
            let margin = if shard.seed < MARGIN_ATTEMPTS {
                MARGIN
            } else {
                0
            };
            if self.try_shard(&shard, keys, &pair, margin)? {
                return Ok(shard);
            }
        }
        Err(PlanError::Unsolvable {
            keys: keys.len() as u64,
            attempts: u64::from(ATTEMPTS),
        })
    }

    /// Whether a seed solves the equations of at most as many keys as slots.
    pub(crate) fn try_shard<K>(
        &mut self,
        shard: &RibbonShard,
        keys: &[K],
        pair: &impl Fn(&K) -> (u64, u32),
        margin: u64,
    ) -> Result<bool, PlanError> {
        if !self.may_fit(shard, keys, pair, margin)? {
            return Ok(false);
        }
        self.clear(shard.slots)?;
        Ok(keys.iter().all(|key| {
            let (hash, value) = pair(key);
            let (start, coefficients) = shard.row(hash);
            self.insert(start, coefficients, value)
        }))
    }

    /// Whether the positions are so even that no range of slots has too many or too few rows. Counting is much faster than
    /// elimination, and rejects most seeds that do not work.
    fn may_fit<K>(
        &mut self,
        shard: &RibbonShard,
        keys: &[K],
        pair: &impl Fn(&K) -> (u64, u32),
        margin: u64,
    ) -> Result<bool, PlanError> {
        let bins = (shard.slots / BIN + 1) as usize;
        if self.counts.len() < bins {
            self.counts = zeroed(bins as u64)?;
        }
        let counts = &mut self.counts[..bins];
        counts.fill(0);
        for key in keys {
            counts[(shard.position(pair(key).0) / BIN) as usize] += 1;
        }
        // Rows that end within the slots so far, and rows that cannot start later.
        let most = W::WIDTH / 2 - margin;
        let spare = shard.slots - keys.len() as u64;
        let (mut rows, mut slots) = (0, 0);
        Ok(counts.iter().all(|&count| {
            rows += count;
            slots += BIN;
            rows <= slots + most && slots <= rows + spare + most + BIN
        }))
    }

    fn clear(&mut self, slots: u64) -> Result<(), PlanError> {
        self.slots = slots as usize;
        if self.coefficients.len() < self.slots {
            self.coefficients = zeroed(slots)?;
            self.values = zeroed(slots)?;
        } else {
            self.coefficients[..self.slots].fill(W::default());
            self.values[..self.slots].fill(0);
        }
        Ok(())
    }

    /// Adds a row; `false` if it is a linear combination of the rows before.
    #[inline]
    fn insert(&mut self, start: u64, mut left: W, mut value: u32) -> bool {
        let mut at = start as usize;
        loop {
            let there = self.coefficients[at];
            if there == W::default() {
                self.coefficients[at] = left;
                self.values[at] = value;
                return true;
            }
            left ^= there;
            value ^= self.values[at];
            if left == W::default() {
                return false;
            }
            let step = left.trailing_zeros();
            left >>= step;
            at += step as usize;
        }
    }

    /// Passes the values of the slots to `take(block, column, bits)`, from the last block of 64 slots to the first. The shard
    /// starts `first_slot` slots after the start of the first block; bits that belong to other shards are 0.
    pub(crate) fn solve(
        &self,
        first_slot: u64,
        columns: usize,
        mut take: impl FnMut(u64, usize, u64),
    ) {
        let mut windows = [W::default(); 32];
        let windows = &mut windows[..columns];
        for at in (0..self.slots).rev() {
            let (coefficients, value) = (self.coefficients[at], self.values[at]);
            for (column, window) in windows.iter_mut().enumerate() {
                // A slot without a row gets 0, because its coefficients and its value are 0.
                let bit = coefficients.parity(*window) ^ value >> column & 1;
                *window = window.preceded_by(bit);
            }
            let slot = first_slot + at as u64;
            if at == 0 || slot.is_multiple_of(64) {
                for (column, window) in windows.iter().enumerate() {
                    take(slot / 64, column, window.low() << (slot % 64));
                }
            }
        }
    }
}
