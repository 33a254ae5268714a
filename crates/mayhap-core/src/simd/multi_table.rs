//! Lookups of one key in several tables, such as the layers of a `GrowingBloom`: one hash, one product and one set of positions
//! for all.
//!
//! Layers at strict rates have two lines per key. An absent key mostly fails at the first, so the first lines of all tables are
//! tested first, and the last line only if the first has all bits. Testing both lines of all tables took 26 ns instead of 15 for
//! ten layers in cache, and 39 instead of 20 ns per key in batches for four layers of 10M keys.

use super::batch::LineOps;
use super::bloom_table::BloomTable;
use super::prefetch::{CACHED_BYTES, prefetch};
use crate::KeyHash;
use crate::store::Storage;
use core::borrow::Borrow;

/// How many lines a batch prefetches ahead, over all tables.
const LINES_AHEAD: usize = 64;

/// How many tables a batch looks up together: one bit each in a mask.
const MAX_TABLES: usize = 16;

/// How many keys a batch tests before it checks the last lines of those whose first line, in one of the tables, has all bits.
const BLOCK: usize = 64;

/// Whether the key's first line in a table has all its bits.
///
/// # Safety
/// The CPU must have `V`'s instruction set.
#[inline(always)]
unsafe fn first_line_covers<V: LineOps>(
    table: &BloomTable<impl Storage>,
    hash: u64,
    positions: V::Positions,
) -> bool {
    let walk = table.walk();
    // SAFETY: the caller has checked the CPU; a table's walk stays inside its lines.
    unsafe {
        let first = table.lines().get_unchecked(walk.first(hash));
        V::covers(first, positions, walk.row(hash))
    }
}

/// Whether one of several tables has all bits of a key.
///
/// # Safety
/// The CPU must have `V`'s instruction set, and there must be a table.
#[inline(always)]
pub(super) unsafe fn contains_one<V: LineOps, S: Storage>(
    tables: &[impl Borrow<BloomTable<S>>],
    hash: u64,
) -> bool {
    let mut rest = tables;
    // SAFETY: the caller has checked the CPU; there is a table.
    unsafe {
        let positions = V::positions(hash, rest.get_unchecked(0).borrow().walk().pattern());
        // The newest table, which holds most keys, comes first.
        while let [older @ .., table] = rest {
            if first_line_covers::<V>(table.borrow(), hash, positions) {
                // Hides the table from the optimiser: otherwise its row would be kept in registers for this rare case, at two
                // instructions per table for all others.
                let table: &BloomTable<S> = core::hint::black_box(table.borrow());
                let (lines, walk) = (table.lines(), table.walk());
                let last = lines.get_unchecked(walk.last(hash));
                return V::covers(last, positions, walk.row(hash)) || rest_contains(older, hash);
            }
            rest = older;
        }
    }
    false
}

/// The same after a first line that has all bits and a last one that does not. A separate function, so that the loop above uses
/// few registers: if it continued after a last line, an absent key in two tables took 6.4 ns instead of 5.4.
#[inline(never)]
fn rest_contains<S: Storage>(tables: &[impl Borrow<BloomTable<S>>], hash: u64) -> bool {
    tables
        .iter()
        .rev()
        .any(|table| table.borrow().contains(hash))
}

/// Sets those places of `found` whose key has all its bits in one of several tables.
///
/// # Safety
/// The CPU must have `V`'s instruction set, and both slices must have the same length.
#[inline(always)]
pub(super) unsafe fn contains<V: LineOps, S: Storage>(
    tables: &[impl Borrow<BloomTable<S>>],
    hashes: &[KeyHash],
    found: &mut [bool],
) {
    for tables in tables.chunks(MAX_TABLES) {
        let (small, large) = split_large(tables);
        if large.is_empty() {
            for (found, hash) in found.iter_mut().zip(hashes) {
                // SAFETY: the caller has checked the CPU.
                *found |= unsafe { contains_cached::<V, S>(tables, hash.to_u64()) };
            }
            continue;
        }
        let distance = LINES_AHEAD.checked_div(large.len()).unwrap_or(0);
        for hash in hashes.iter().take(distance) {
            for table in large {
                prefetch_first_line(table.borrow(), hash.to_u64());
            }
        }
        for (number, found) in found.chunks_mut(BLOCK).enumerate() {
            let block = &hashes[number * BLOCK..];
            let mut candidates = [0; BLOCK];
            for (at, candidates) in candidates[..found.len()].iter_mut().enumerate() {
                let hash = block[at].to_u64();
                let next = block.get(at + distance).map_or(hash, |next| next.to_u64());
                // SAFETY: the caller has checked the CPU.
                unsafe {
                    let positions = V::positions(hash, tables[0].borrow().walk().pattern());
                    let mut covered = 0;
                    for table in large.iter().rev() {
                        prefetch_first_line(table.borrow(), next);
                        covered = covered << 1
                            | u16::from(first_line_covers::<V>(table.borrow(), hash, positions));
                    }
                    for table in small.iter().rev() {
                        covered = covered << 1
                            | u16::from(first_line_covers::<V>(table.borrow(), hash, positions));
                    }
                    *candidates = covered;
                }
            }
            // SAFETY: the caller has checked the CPU.
            unsafe { check_last_lines::<V, S>(tables, block, found, &candidates) };
        }
    }
}

/// `contains_one` inside a batch, where there are enough registers for the last line, too.
///
/// # Safety
/// The CPU must have `V`'s instruction set.
#[inline(always)]
unsafe fn contains_cached<V: LineOps, S: Storage>(
    tables: &[impl Borrow<BloomTable<S>>],
    hash: u64,
) -> bool {
    // SAFETY: the caller has checked the CPU; a table's walk stays inside its lines.
    unsafe {
        let positions = V::positions(hash, tables[0].borrow().walk().pattern());
        for table in tables.iter().rev() {
            let (lines, walk) = (table.borrow().lines(), table.borrow().walk());
            if first_line_covers::<V>(table.borrow(), hash, positions)
                && V::covers(
                    lines.get_unchecked(walk.last(hash)),
                    positions,
                    walk.row(hash),
                )
            {
                return true;
            }
        }
    }
    false
}

/// Checks the last lines of those keys of a block that have candidates, after prefetching all of them.
///
/// # Safety
/// The CPU must have `V`'s instruction set.
#[inline(always)]
unsafe fn check_last_lines<V: LineOps, S: Storage>(
    tables: &[impl Borrow<BloomTable<S>>],
    hashes: &[KeyHash],
    found: &mut [bool],
    candidates: &[u16; BLOCK],
) {
    // Collected without a branch, which would be mispredicted for every second key if half of them are present.
    let mut pending = [0; BLOCK];
    let mut count = 0;
    for (at, &tables) in candidates[..found.len()].iter().enumerate() {
        pending[count] = at;
        count += usize::from(tables != 0);
    }
    for &at in &pending[..count] {
        for number in ones(candidates[at]) {
            let table = tables[number].borrow();
            let last = table.walk().last(hashes[at].to_u64());
            prefetch(table.lines().as_ptr().wrapping_add(last));
        }
    }
    for &at in &pending[..count] {
        let hash = hashes[at].to_u64();
        for number in ones(candidates[at]) {
            let (lines, walk) = (
                tables[number].borrow().lines(),
                tables[number].borrow().walk(),
            );
            // SAFETY: the caller has checked the CPU; a table's walk stays inside its lines.
            unsafe {
                let positions = V::positions(hash, walk.pattern());
                let last = lines.get_unchecked(walk.last(hash));
                found[at] |= V::covers(last, positions, walk.row(hash));
            }
        }
    }
}

/// The indices of the set bits.
#[inline(always)]
fn ones(mut bits: u16) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lowest = bits.trailing_zeros() as usize;
        bits &= bits.checked_sub(1)?;
        Some(lowest)
    })
}

/// Prefetches a key's first line.
#[inline(always)]
fn prefetch_first_line(table: &BloomTable<impl Storage>, hash: u64) {
    prefetch(
        table
            .lines()
            .as_ptr()
            .wrapping_add(table.walk().first(hash)),
    );
}

/// Splits off the tables from the first that does not fit the cache on: in a chain, later tables are larger.
fn split_large<T: Borrow<BloomTable<S>>, S: Storage>(tables: &[T]) -> (&[T], &[T]) {
    let small = tables
        .iter()
        .take_while(|table| size_of_val((*table).borrow().lines()) as u64 <= CACHED_BYTES)
        .count();
    tables.split_at(small)
}
