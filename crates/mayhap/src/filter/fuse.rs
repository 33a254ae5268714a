//! `Fuse`: the fastest filter for a set that does not change. Three cells a question.

use super::built::{Shape, Static, Structure};
use crate::build::{peel, shards};
use crate::plan::FusePlan;
use crate::simd::{FuseTable, Questions};
use crate::store::{Cell, reserved};
use crate::{HashScheme, Hashed, KeyHash, PlanError};
use alloc::vec::Vec;

/// A binary fuse filter: 9 bits a key at 0.39 %, 18 at 0.0015 %, 36 at 2.3e-10.
///
/// Cells have 8, 16 or 32 bits: the rate that results is 1/256, 1/65536 or 2^-32, whichever keeps the one asked for.
///
/// ```
/// let words = mayhap::Fuse::build(&["apple", "pear", "apple"], 0.01)?;
/// assert!(words.contains("pear"));
/// assert_eq!(words.len(), 2);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
pub type Fuse = Static<FuseCells>;

/// The cells of a [`Fuse`].
#[derive(Clone, PartialEq, Eq)]
pub struct FuseCells(Table);

#[derive(Clone, PartialEq, Eq)]
enum Table {
    Bits8(FuseTable<u8>),
    Bits16(FuseTable<u16>),
    Bits32(FuseTable<u32>),
}

impl Structure for FuseCells {
    const NAME: &'static str = "Fuse";
    type Plan = FusePlan;

    fn solve<K: Hashed>(
        items: &[K],
        plan: &FusePlan,
        scheme: HashScheme,
    ) -> Result<(Self, u64), PlanError> {
        let mut keys = 0;
        let table = match plan.cell_bits() {
            8 => Table::Bits8(solve(items, plan, scheme, &mut keys)?),
            16 => Table::Bits16(solve(items, plan, scheme, &mut keys)?),
            _ => Table::Bits32(solve(items, plan, scheme, &mut keys)?),
        };
        Ok((Self(table), keys))
    }

    #[inline(always)]
    fn ask(&self, hash: u64) -> bool {
        match &self.0 {
            Table::Bits8(table) => table.contains(hash),
            Table::Bits16(table) => table.contains(hash),
            Table::Bits32(table) => table.contains(hash),
        }
    }

    fn ask_each(&self, hashes: &[KeyHash], found: &mut [bool]) {
        match &self.0 {
            Table::Bits8(table) => table.contains_each(hashes, found),
            Table::Bits16(table) => table.contains_each(hashes, found),
            Table::Bits32(table) => table.contains_each(hashes, found),
        }
    }

    fn rate(&self, plan: &FusePlan) -> f64 {
        plan.rate()
    }

    fn size_bytes(&self) -> u64 {
        match &self.0 {
            Table::Bits8(table) => table.size_bytes(),
            Table::Bits16(table) => table.size_bytes(),
            Table::Bits32(table) => table.size_bytes(),
        }
    }
}

impl Shape for FusePlan {
    fn of_keys(keys: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::new(keys, false_positive_rate)
    }

    fn of_items(items: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::without_collisions(items, false_positive_rate)
    }

    fn is_alike(&self, other: &Self) -> bool {
        self.shards() == other.shards()
    }

    fn keys(&self) -> u64 {
        self.keys()
    }

    fn false_positive_rate(&self) -> f64 {
        self.false_positive_rate()
    }
}

/// The table for the items, in the plan's shards; counts the distinct keys.
fn solve<K: Hashed, C: Cell>(
    items: &[K],
    plan: &FusePlan,
    scheme: HashScheme,
    keys: &mut u64,
) -> Result<FuseTable<C>, PlanError> {
    if items.is_empty() {
        return Ok(FuseTable::new(Vec::new(), Vec::new()));
    }
    let hash = |item: &K| item.hash_with(&scheme).to_u64();
    let counts = shards::count(items, hash, plan.shards());
    let work = plan.work(shards::available_threads());
    let most = |&count: &u64| FusePlan::shard_cells(count);
    let mut cells = reserved(counts.iter().map(most).sum())?;
    let mut walks = Vec::new();
    let take = |solved: peel::Solved<C>| {
        let walk = solved.walk.starting_from(cells.len() as u64);
        cells.resize(walk.start() as usize, C::default());
        cells.extend_from_slice(&solved.cells);
        walks.push(walk);
        *keys += solved.keys;
        Ok(())
    };
    shards::solve_each(items, hash, &counts, work, peel::solve, take)?;
    // Repeated items had room, too.
    cells.shrink_to_fit();
    Ok(FuseTable::new(walks, cells))
}
