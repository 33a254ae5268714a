//! Solves a shard of a `Fuse` by peeling.
//!
//! The xor of a key's three cells must be its fingerprint. A cell that only one key uses can be assigned to that key; without
//! that key, other cells have only one key left, and so on until every key has a cell. Then the cells are filled in reverse
//! order: each key's own cell is written after the two others that it depends on. If peeling gets stuck, which is rare, all
//! shards start again with another seed: one seed for all shards makes lookups cheap.
//!
//! The result depends only on the set of hashes: cells are visited in order, and a cell with one key left identifies that key.
//! Repeated hashes always get stuck, so duplicates are removed only then.

use super::sort::{group, sort};
use crate::PlanError;
use crate::probe::fuse::{FREE_BITS, FuseWalk, fingerprint};
use crate::store::{FuseCell, zeroed};
use alloc::vec;
use alloc::vec::Vec;

/// The keys of a cell while peeling, in one number: their count, in the unused bits of a mixed hash, and the xor of their hashes.
/// A separate index into `hashes` takes half the memory and twice the time: 1M keys do not fit the cache.
const COUNT: u64 = FREE_BITS;

/// Cells that are scanned together for having one key.
const BLOCK: usize = 1024;

/// A shard in which every key finds its fingerprint.
pub(crate) struct SolvedFuseShard<C> {
    pub(crate) cells: Vec<C>,
    /// Distinct keys.
    pub(crate) keys: u64,
}

/// Solves a shard for its mixed hashes, which may repeat and are overwritten.
///
/// # Errors
/// If the walk's seed does not work for these hashes.
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

/// Writes the mixed hashes into `order` as they are peeled, each with the index of its own cell (0 to 2) in the unused bits;
/// `false` if peeling gets stuck.
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
    // A stack of cells that had one key. Pushing writes the cell and moves the top by a condition: a branch here could not be
    // predicted.
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
            // Skipping the key's own cell takes longer: 45.9 instead of 41.4 ns per key.
            for cell in cells {
                let left = (looks[cell] ^ hash) - 1;
                looks[cell] = left;
                // The scan reaches later cells by itself.
                stack[top] = cell as u32;
                top += usize::from(left & COUNT == 1 && cell < end);
            }
        }
    }
    Ok(peeled == hashes.len())
}

/// Fills the cells, from the key that was peeled last to the first. A key's own cell is still zero at its turn.
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
