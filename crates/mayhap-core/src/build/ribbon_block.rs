//! Solves the equations of a `RibbonBlock`. Four seeds are tried, and then more and more bytes.

use super::eliminate::BandMatrix;
use crate::PlanError;
use crate::plan::{RibbonBlockPrecision, RibbonBlockShape, SEEDS};
use crate::probe::ribbon::{RibbonShard, fingerprint, is_narrow};
use crate::store::{reserved, zeroed};
use alloc::vec::Vec;

/// Attempts that take a few bytes more each. Later ones take many more: the keys were chosen to be unsolvable.
const SMALL_STEPS: usize = 32;

/// A block in which every key finds its fingerprint.
pub(crate) struct SolvedBlock {
    pub(crate) precision: RibbonBlockPrecision,
    pub(crate) seed: u8,
    pub(crate) bits: Vec<u8>,
}

/// Solves a block for spread hashes, which are sorted and distinct and not empty. `None` if even twice the bytes do not suffice.
pub(crate) fn solve(
    hashes: &[u64],
    precision: RibbonBlockPrecision,
) -> Result<Option<SolvedBlock>, PlanError> {
    let (precision, planned) = precision.plan(hashes.len() as u64);
    let mut solver = Solver::new();
    let mut bytes = planned;
    for attempt in 0.. {
        let Some(shape) = precision.shape(bytes).filter(|_| bytes <= 2 * planned + 64) else {
            break;
        };
        for seed in 0..SEEDS {
            if let Some(bits) = solver.try_seed(hashes, &shape, seed, bytes)? {
                return Ok(Some(SolvedBlock {
                    precision,
                    seed,
                    bits,
                }));
            }
        }
        bytes += 1 + planned / if attempt < SMALL_STEPS { 1024 } else { 16 };
    }
    Ok(None)
}

/// The matrices, which are used again for every seed.
struct Solver {
    main: Matrix,
    extra: Matrix,
    extra_hashes: Vec<u64>,
}

impl Solver {
    fn new() -> Self {
        Self {
            main: Matrix::new(),
            extra: Matrix::new(),
            extra_hashes: Vec::new(),
        }
    }

    fn try_seed(
        &mut self,
        hashes: &[u64],
        shape: &RibbonBlockShape,
        seed: u8,
        bytes: usize,
    ) -> Result<Option<Vec<u8>>, PlanError> {
        let (shard, extra_shard) = (shape.shard(seed), shape.extra_shard(seed));
        let (columns, has_extra) = (shape.columns, shape.quarters > 0);
        let extra_value = |hash| fingerprint(hash) >> columns;
        if has_extra {
            self.extra_hashes.clear();
            if self.extra_hashes.capacity() < hashes.len() {
                self.extra_hashes = reserved(hashes.len() as u64)?;
            }
            let extra = |&&hash: &&u64| shard.quarter(hash) < shape.quarters;
            self.extra_hashes.extend(hashes.iter().filter(extra));
            let extra = &self.extra_hashes;
            if !self.extra.eliminate(&extra_shard, extra, extra_value)? {
                return Ok(None);
            }
        }
        if !self.main.eliminate(&shard, hashes, fingerprint)? {
            return Ok(None);
        }
        let mut bits = zeroed::<u8>(bytes as u64)?;
        self.main.solve(&shard, columns, 0, &mut bits);
        if has_extra {
            let first_bit = u64::from(columns) * shape.slots;
            self.extra.solve(&extra_shard, 1, first_bit, &mut bits);
        }
        Ok(Some(bits))
    }
}

/// Rows of either width.
struct Matrix {
    narrow: BandMatrix<u64>,
    wide: BandMatrix<u128>,
}

impl Matrix {
    fn new() -> Self {
        Self {
            narrow: BandMatrix::new(),
            wide: BandMatrix::new(),
        }
    }

    /// Whether the equations of a shard can be solved.
    fn eliminate(
        &mut self,
        shard: &RibbonShard,
        hashes: &[u64],
        value: impl Fn(u64) -> u32,
    ) -> Result<bool, PlanError> {
        let pair = |&hash: &u64| (hash, value(hash));
        if hashes.len() as u64 > shard.slots {
            Ok(false)
        } else if is_narrow(shard.slots) {
            self.narrow.try_shard(shard, hashes, &pair, 0)
        } else {
            self.wide.try_shard(shard, hashes, &pair, 0)
        }
    }

    /// Writes the columns one after the other, from `first_bit` on.
    fn solve(&self, shard: &RibbonShard, columns: u8, first_bit: u64, bits: &mut [u8]) {
        let take = |block: u64, column: usize, word: u64| {
            write_bits(
                bits,
                first_bit + column as u64 * shard.slots + 64 * block,
                word,
            );
        };
        if is_narrow(shard.slots) {
            self.narrow.solve(0, columns.into(), take);
        } else {
            self.wide.solve(0, columns.into(), take);
        }
    }
}

/// Sets the bits of a word from bit `at` on.
fn write_bits(bits: &mut [u8], at: u64, word: u64) {
    let shifted = u128::from(word) << (at % 8);
    let places = bits.iter_mut().skip((at / 8) as usize);
    for (place, byte) in places.zip(shifted.to_le_bytes()) {
        *place |= byte;
    }
}
