//! Which cell is whose: a shard of a `Fuse` is solved by peeling.
//!
//! Every key needs the xor of its three cells to be its fingerprint. A cell that only one key looks at can be left to that
//! key; without that key, other cells have only one key left, and so on until all keys have one. Then the cells are filled
//! in the opposite order: each key's own cell is written after the two others it depends on. Where peeling gets stuck, which
//! is rare, it starts again with another seed.
//!
//! What comes out depends on the set of hashes only: cells are visited in their own order, and a cell with one key left
//! names it, wherever that key stands. Repeated hashes always get stuck, so they are looked for only then.

use super::sort::{group, sort};
use crate::PlanError;
use crate::plan::FuseShape;
use crate::probe::fuse::{FREE, Walk, fingerprint, mix, seed, unmix};
use crate::store::{Cell, zeroed};
use alloc::vec;
use alloc::vec::Vec;

/// Seeds that are tried. One fails with a chance of a few percent, less for large shards.
const ATTEMPTS: u64 = 100;

/// A cell's keys while peeling, in one number: how many, in the bits that a mixed hash has free, and the xor of them all. A
/// number beside the place of the key in `hashes` takes half the memory and twice the time: 1M keys do not fit the cache.
const COUNT: u64 = FREE;

/// Cells that are looked at together for having one key.
const BLOCK: usize = 1024;

/// A shard whose every key finds its fingerprint.
pub(crate) struct Solved<C> {
    pub(crate) walk: Walk,
    pub(crate) cells: Vec<C>,
    /// Distinct keys.
    pub(crate) keys: u64,
}

/// Solves shard number `shard` for its hashes, which may repeat and are lost.
pub(crate) fn solve<C: Cell>(shard: u64, hashes: &mut [u64]) -> Result<Solved<C>, PlanError> {
    let mut scratch = zeroed(hashes.len() as u64)?;
    let mut keys = hashes.len();
    let mut distinct = false;
    let mut attempt = 0;
    while attempt < ATTEMPTS {
        let seed = seed(shard, attempt);
        let (hashes, scratch) = (&mut hashes[..keys], &mut scratch[..keys]);
        for hash in &mut *hashes {
            *hash = mix(*hash, seed);
        }
        group(hashes, scratch);
        let walk = Walk::new(FuseShape::new(keys as u64), seed);
        if peel(scratch, &walk, hashes)? {
            return Ok(Solved {
                walk,
                cells: fill(&walk, hashes)?,
                keys: keys as u64,
            });
        }
        for (hash, mixed) in hashes.iter_mut().zip(&*scratch) {
            *hash = unmix(*mixed, seed);
        }
        if distinct {
            attempt += 1;
        } else {
            sort(hashes, scratch);
            let kept = super::without_repetitions(hashes);
            attempt += u64::from(kept == keys);
            (keys, distinct) = (kept, true);
        }
    }
    Err(PlanError::Unsolvable {
        keys: keys as u64,
        attempts: ATTEMPTS,
    })
}

/// Writes into `order` the mixed hashes, first peeled first, each with the number of its own cell among its three in the
/// free bits; `false` when stuck.
fn peel(hashes: &[u64], walk: &Walk, order: &mut [u64]) -> Result<bool, PlanError> {
    let mut looks: Vec<u64> = zeroed(walk.end())?;
    for &hash in hashes {
        let hash = hash & !FREE;
        for cell in walk.cells_of(hash) {
            let looks = &mut looks[cell];
            if *looks & COUNT == COUNT {
                return Ok(false);
            }
            *looks = (*looks ^ hash) + 1;
        }
    }
    let mut peeled = 0;
    // A stack of cells that had one key. Pushing is writing and moving the top by a condition: a branch here is a coin toss.
    let mut stack = vec![0_u32; 2 * BLOCK];
    for start in (0..looks.len()).step_by(BLOCK) {
        let end = looks.len().min(start + BLOCK);
        let mut top = 0;
        for (cell, looks) in (start..).zip(&looks[start..end]) {
            stack[top] = cell as u32;
            top += usize::from(looks & COUNT == 1);
        }
        while top > 0 {
            top -= 1;
            let own = stack[top] as usize;
            if looks[own] & COUNT != 1 {
                continue;
            }
            let hash = looks[own] & !COUNT;
            let cells = walk.cells_of(hash);
            let which = u64::from(own == cells[1]) + 2 * u64::from(own == cells[2]);
            order[peeled] = hash | which;
            peeled += 1;
            if top + 3 > stack.len() {
                stack.resize(2 * stack.len(), 0);
            }
            for cell in cells {
                let left = (looks[cell] ^ hash) - 1;
                looks[cell] = left;
                // Later cells are met by the scan.
                stack[top] = cell as u32;
                top += usize::from(left & COUNT == 1 && cell < end);
            }
        }
    }
    Ok(peeled == hashes.len())
}

/// The cells, from the key that was peeled last to the first. A key's own cell is still zero when its turn comes.
fn fill<C: Cell>(walk: &Walk, order: &[u64]) -> Result<Vec<C>, PlanError> {
    let mut cells: Vec<C> = zeroed(walk.end())?;
    for &step in order.iter().rev() {
        let (hash, which) = (step & !FREE, (step & FREE) as usize);
        let of_key = walk.cells_of(hash);
        let [a, b, c] = of_key.map(|cell| cells[cell]);
        cells[of_key[which]] = fingerprint::<C>(hash) ^ a ^ b ^ c;
    }
    Ok(cells)
}
