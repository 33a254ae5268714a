//! Solves a shard of a `Fuse` by peeling.
//!
//! The xor of a key's three cells must be its fingerprint. A cell that only one key uses can be assigned to that key; without
//! that key, other cells have only one key left, and so on until every key has a cell. Then the cells are filled in reverse
//! order: each key's own cell is written after the two others that it depends on. If peeling gets stuck, which is rare, all
//! shards start again with another seed: one seed for all shards makes lookups cheap.
//!
//! A shard of a filter with several has its hashes collected first. A filter of one shard with many keys would take 200 bits per
//! key in that way, so `solve_whole` collects a third of them at a time, and leaves a key's hash in its own cell until
//! the cell is filled.
//!
//! The result depends only on the set of hashes: cells are visited in order, and a cell with one key left identifies that key.
//! Repeated hashes always get stuck, so duplicates are removed only then.

use super::shards::{self, Items};
use super::sort::{group, sort};
use crate::PlanError;
use crate::probe::fuse::{FREE_BITS, FuseWalk, fingerprint};
use crate::store::{FuseCell, reserved, zeroed};
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
    let mut looks: Vec<u64> = zeroed(walk.shard_cells)?;
    if !hashes.iter().all(|&hash| add(&mut looks, walk, hash)) {
        return Ok(false);
    }
    let mut peeled = 0;
    peel_cells(&mut looks, walk, |_, hash, which| {
        order[peeled] = hash | which;
        peeled += 1;
        0
    });
    Ok(peeled == hashes.len())
}

/// Adds a hash to its cells; `false` if one of them has as many as can be counted.
#[inline(always)]
fn add(looks: &mut [u64], walk: &FuseWalk, hash: u64) -> bool {
    walk.cells_of(0, hash).into_iter().all(|cell| {
        let looks = &mut looks[cell];
        let has_room = *looks & COUNT < COUNT;
        *looks = (*looks ^ hash) + u64::from(has_room);
        has_room
    })
}

/// Peels while a cell has one key. `show` gets each such cell with its hash and its index among the key's cells, and returns what
/// the cell has from then on: no keys, so the count must be 0.
#[inline(always)]
fn peel_cells(looks: &mut [u64], walk: &FuseWalk, mut show: impl FnMut(usize, u64, u64) -> u64) {
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
            looks[own] = show(own, hash, which);
        }
    }
}

/// Fills the cells, from the key that was peeled last to the first. A key's own cell is still zero at its turn.
fn fill<C: FuseCell>(walk: &FuseWalk, order: &[u64]) -> Result<Vec<C>, PlanError> {
    let mut cells: Vec<C> = zeroed(walk.shard_cells)?;
    for &step in order.iter().rev() {
        let (hash, which) = (step & !FREE_BITS, (step & FREE_BITS) as usize);
        let of_key = walk.cells_of(0, hash);
        let [a, b, c] = of_key.map(|cell| cells[cell]);
        cells[of_key[which]] = fingerprint::<C>(hash) ^ a ^ b ^ c;
    }
    Ok(cells)
}

/// The hashes of `solve_whole` are added in groups, whose cells are neighbours and so stay in cache, and in passes over the items
/// that collect a third of them. In the order of the items it took 1.5 times as long at 1M keys.
const GROUPS: u64 = 96;
const PASSES: usize = 3;

/// A cell in three bytes: the order of peeling is the second largest part of the memory.
type ShortCell = [u8; 3];

/// The most cells that `solve_whole` can number.
pub(crate) const MAX_WHOLE_CELLS: u64 = 1 << 24;

/// Solves a filter of one shard for items, which may repeat, given their mixed hashes. Returns the
/// cells, as numbers of 32 bits, and the number of distinct keys.
///
/// # Errors
/// If the walk's seed does not work for these hashes.
pub(crate) fn solve_whole<I: Items>(
    items: &I,
    mixed: impl Fn(I::Item) -> u64,
    walk: &FuseWalk,
) -> Result<(Vec<u64>, u64), PlanError> {
    assert!(walk.shards == 1 && walk.shard_cells <= MAX_WHOLE_CELLS);
    let mut looks: Vec<u64> = zeroed(walk.shard_cells)?;
    let mixed = |item| walk.in_shard(mixed(item));
    let counts = shards::count_per_shard(items, mixed, GROUPS);
    let add_all = |looks: &mut [u64], only_distinct: bool| {
        let (mut keys, mut fits) = (0, true);
        shards::for_each_shard(items, mixed, &counts, PASSES, |hashes| {
            let mut count = hashes.len();
            if only_distinct {
                hashes.sort_unstable();
                count = super::dedup_sorted(hashes);
            }
            keys += count as u64;
            fits = fits && hashes[..count].iter().all(|&hash| add(looks, walk, hash));
        })?;
        Ok(fits.then_some(keys).ok_or(keys))
    };
    let mut order = Vec::new();
    let mut keys = add_all(&mut looks, false)?;
    if let Ok(keys) = keys {
        order = peel_whole(&mut looks, walk, keys)?;
    }
    if keys != Ok(order.len() as u64) {
        drop(order);
        looks.fill(0);
        keys = add_all(&mut looks, true)?;
        order = match keys {
            Ok(keys) if keys < items.count() => peel_whole(&mut looks, walk, keys)?,
            _ => Vec::new(),
        };
    }
    let keys = match keys {
        Ok(keys) if keys == order.len() as u64 => keys,
        Ok(keys) | Err(keys) => return Err(PlanError::Unsolvable { keys, attempts: 1 }),
    };
    // From the key that was peeled last to the first, as `fill` does. Own cells still hold the hashes.
    for &[a, b, c] in order.iter().rev() {
        let own = u32::from_le_bytes([a, b, c, 0]) as usize;
        let hash = looks[own];
        let cells = walk.cells_of(0, hash);
        let others = cells.iter().fold(hash, |xor, &cell| xor ^ looks[cell]);
        looks[own] = others ^ u64::from(fingerprint::<u32>(hash));
    }
    Ok((looks, keys))
}

/// The cells in the order in which they are peeled, which then hold the hashes of their keys.
fn peel_whole(looks: &mut [u64], walk: &FuseWalk, keys: u64) -> Result<Vec<ShortCell>, PlanError> {
    let mut order = reserved(keys)?;
    peel_cells(looks, walk, |own, hash, _| {
        let [a, b, c, _] = (own as u32).to_le_bytes();
        order.push([a, b, c]);
        hash
    });
    Ok(order)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::plan::FuseShardShape;
    use crate::probe::fuse::seed;

    #[test]
    fn both_ways_to_solve_give_the_same_cells() {
        for count in [1, 100, 5000, 60_000] {
            let walk = FuseWalk::new(FuseShardShape::new(count), 1, 0);
            for copies in [1, 2, 100] {
                let hashes: Vec<u64> = (0..copies)
                    .flat_map(|_| (0..count).map(|at| seed(at, 7)))
                    .collect();
                let whole = solve_whole(&hashes.iter(), |&hash| hash, &walk);
                let collected = solve::<u16>(&mut hashes.clone(), &walk);
                match (whole, collected) {
                    (Ok((cells, keys)), Ok(solved)) => {
                        assert_eq!((keys, solved.keys), (count, count));
                        let cells: Vec<_> = cells.into_iter().map(u16::truncated).collect();
                        assert!(cells == solved.cells, "{count} keys, {copies} copies");
                    }
                    (Err(_), Err(_)) => {}
                    _ => panic!("{count} keys, {copies} copies: one way fails"),
                }
            }
        }
    }

    #[test]
    fn hashes_that_cannot_be_solved_are_reported() {
        // All keys share their cells.
        let walk = FuseWalk::new(FuseShardShape::new(1000), 1, 0);
        let hashes: Vec<u64> = (0..1000).map(|at| at << 36).collect();
        let solved = solve_whole(&hashes.iter(), |&hash| hash, &walk);
        assert!(matches!(solved, Err(PlanError::Unsolvable { .. })));
    }
}
