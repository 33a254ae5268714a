//! Which cell is whose: a shard of a `Fuse` is solved by peeling.
//!
//! Every key needs the xor of its three cells to be its fingerprint. A cell that only one key looks at can be left to that
//! key; without that key, other cells have only one key left, and so on until all keys have one. Then the cells are filled
//! in the opposite order: each key's own cell is written after the two others it depends on. Where peeling gets stuck, which
//! is rare, all shards start again with another seed: one for all makes questions cheap.
//!
//! What comes out depends on the set of hashes only: cells are visited in their own order, and a cell with one key left
//! names it, wherever that key stands. Repeated hashes always get stuck, so they are looked for only then.

use super::sort::{group, sort};
use crate::PlanError;
use crate::probe::fuse::{FREE_BITS, FuseWalk, fingerprint};
use crate::store::{FuseCell, zeroed};
use alloc::vec;
use alloc::vec::Vec;

/// A cell's keys while peeling, in one number: how many, in the bits that a mixed hash has free, and the xor of them all. A
/// number beside the place of the key in `hashes` takes half the memory and twice the time: 1M keys do not fit the cache.
const COUNT: u64 = FREE_BITS;

/// Cells that are looked at together for having one key.
const BLOCK: usize = 1024;

/// A shard whose every key finds its fingerprint.
pub(crate) struct SolvedFuseShard<C> {
    pub(crate) cells: Vec<C>,
    /// Distinct keys.
    pub(crate) keys: u64,
}

/// Solves a shard for its mixed hashes, which may repeat and are lost.
///
/// # Errors
/// When the walk's seed is not one for these hashes.
pub(crate) fn solve<C: FuseCell>(
    mixed: &mut [u64],
    walk: &FuseWalk,
) -> Result<SolvedFuseShard<C>, PlanError> {
    let mut scratch = zeroed(mixed.len() as u64)?;
    for mixed in &mut *mixed {
        *mixed = walk.in_shard(*mixed);
    }
    let mut keys = mixed.len();
    loop {
        let (order, grouped) = (&mut mixed[..keys], &mut scratch[..keys]);
        group(order, grouped);
        if peel(grouped, walk, order)? {
            return Ok(SolvedFuseShard {
                cells: fill(walk, order)?,
                keys: keys as u64,
            });
        }
        sort(grouped, order);
        let distinct = super::dedup_sorted(grouped);
        if distinct == keys {
            return Err(PlanError::Unsolvable {
                keys: keys as u64,
                attempts: 1,
            });
        }
        order.copy_from_slice(grouped);
        keys = distinct;
    }
}

/// Writes into `order` the mixed hashes, first peeled first, each with the number of its own cell among its three in the
/// free bits; `false` when stuck.
fn peel(hashes: &[u64], walk: &FuseWalk, order: &mut [u64]) -> Result<bool, PlanError> {
    let mut looks: Vec<u64> = zeroed(walk.shard_cells())?;
    for &hash in hashes {
        for cell in walk.cells_of(0, hash) {
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
            let cells = walk.cells_of(0, hash);
            let which = u64::from(own == cells[1]) + 2 * u64::from(own == cells[2]);
            order[peeled] = hash | which;
            peeled += 1;
            if top + 3 > stack.len() {
                stack.resize(2 * stack.len(), 0);
            }
            // To leave out the key's own cell takes longer: 45.9 instead of 41.4 ns a key.
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
fn fill<C: FuseCell>(walk: &FuseWalk, order: &[u64]) -> Result<Vec<C>, PlanError> {
    let mut cells: Vec<C> = zeroed(walk.shard_cells())?;
    for &step in order.iter().rev() {
        let (hash, which) = (step & !FREE_BITS, (step & FREE_BITS) as usize);
        let of_key = walk.cells_of(0, hash);
        let [a, b, c] = of_key.map(|cell| cells[cell]);
        cells[of_key[which]] = fingerprint::<C>(hash) ^ a ^ b ^ c;
    }
    Ok(cells)
}
