//! `Fuse`: the fastest filter for a fixed set. A lookup reads three cells.

use super::static_filter::{BuildStatic, StaticFilter, StaticTable};
use crate::build::shards::Items;
use crate::build::{peel, shards};
use crate::plan::{FusePlan, FuseShardShape};
use crate::probe::fuse::{FuseWalk, mix, seed};
use crate::simd::plain_bytes::{self, Plain};
use crate::simd::{FuseTable, StaticLookup};
use crate::store::{Borrowed, FuseCell, Owned, Storage, copied, reserved};
use crate::{HashScheme, Hashed, KeyHash, Kind, PlanError};
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// A binary fuse filter: 9 bits per key at 0.39 %, 18 at 0.0015 %, 36 at 2.3e-10.
///
/// Cells have 8, 16 or 32 bits, so the actual rate is 1/256, 1/65536 or 2^-32, whichever meets the requested one.
///
/// ```
/// # use mayhap_core as mayhap;
/// let words = mayhap::Fuse::build(&["apple", "pear", "apple"], 0.01)?;
/// assert!(words.contains("pear"));
/// assert_eq!(words.len(), 2);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
pub type Fuse = StaticFilter<FuseCells>;

/// The cells of a [`Fuse`].
#[derive(Clone, PartialEq)]
pub struct FuseCells<S: Storage = Owned>(CellTable<S>);

#[derive(Clone, PartialEq)]
enum CellTable<S: Storage> {
    Bits8(FuseTable<u8, S>),
    Bits16(FuseTable<u16, S>),
    Bits32(FuseTable<u32, S>),
}

impl BuildStatic for FuseCells {
    fn solve<I>(items: &I, plan: &FusePlan, scheme: HashScheme) -> Result<(Self, u64), PlanError>
    where
        I: IntoIterator<Item: Hashed, IntoIter: ExactSizeIterator> + Clone,
    {
        Ok(match plan.cell_bits() {
            8 => {
                let (table, keys) = solve(items, plan, scheme)?;
                (Self(CellTable::Bits8(table)), keys)
            }
            16 => {
                let (table, keys) = solve(items, plan, scheme)?;
                (Self(CellTable::Bits16(table)), keys)
            }
            _ => {
                let (table, keys) = solve(items, plan, scheme)?;
                (Self(CellTable::Bits32(table)), keys)
            }
        })
    }
}

impl<S: Storage> StaticTable for FuseCells<S> {
    const NAME: &'static str = "Fuse";
    const KIND: Kind = Kind::Fuse;
    type Plan = FusePlan;

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        match &self.0 {
            CellTable::Bits8(table) => table.contains(hash),
            CellTable::Bits16(table) => table.contains(hash),
            CellTable::Bits32(table) => table.contains(hash),
        }
    }

    fn contains_each(&self, hashes: &[KeyHash], found: &mut [bool]) {
        match &self.0 {
            CellTable::Bits8(table) => table.contains_each(hashes, found),
            CellTable::Bits16(table) => table.contains_each(hashes, found),
            CellTable::Bits32(table) => table.contains_each(hashes, found),
        }
    }

    fn rate(&self, plan: &FusePlan) -> f64 {
        plan.rate()
    }

    fn size_bytes(&self) -> u64 {
        match &self.0 {
            CellTable::Bits8(table) => table.size_bytes(),
            CellTable::Bits16(table) => table.size_bytes(),
            CellTable::Bits32(table) => table.size_bytes(),
        }
    }
}

/// The arrangement of the cells of a [`Fuse`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FuseLayout {
    /// A segment has this power of two of cells.
    pub segment_bits: u32,
    /// Segments of a shard in which a key can start; a shard has two more.
    pub starts: u64,
    /// The seed that hashes are mixed with.
    pub seed: u64,
}

impl Fuse {
    /// A filter from existing cells, as [`Fuse::bytes`] returns them.
    ///
    /// # Errors
    /// If the layout is invalid, or the number of bytes does not match the plan and the layout.
    pub fn from_bytes(
        plan: FusePlan,
        layout: FuseLayout,
        scheme: HashScheme,
        bytes: &[u8],
    ) -> Result<Self, PlanError> {
        let walk = checked_walk(&plan, layout, bytes)?;
        let table = match plan.cell_bits() {
            8 => CellTable::Bits8(FuseTable::new(walk, copied(bytes)?.into())),
            16 => {
                let stored = bytes.as_chunks().0;
                let mut cells = reserved(stored.len() as u64)?;
                cells.extend(stored.iter().map(|cell| u16::from_le_bytes(*cell)));
                CellTable::Bits16(FuseTable::new(walk, cells.into()))
            }
            _ => {
                let stored = bytes.as_chunks().0;
                let mut cells = reserved(stored.len() as u64)?;
                cells.extend(stored.iter().map(|cell| u32::from_le_bytes(*cell)));
                CellTable::Bits32(FuseTable::new(walk, cells.into()))
            }
        };
        Ok(Self::from_table(FuseCells(table), plan, scheme))
    }
}

/// A [`Fuse`] over borrowed bytes, such as a mapped file. Lookups are as fast.
pub type FuseView<'a> = StaticFilter<FuseCells<Borrowed<'a>>>;

impl<'a> FuseView<'a> {
    /// A filter over borrowed cells, as [`Fuse::bytes`] returns them.
    ///
    /// # Errors
    /// As [`Fuse::from_bytes`]; also if the bytes are not aligned to the size of a cell, and for cells of several bytes on
    /// big-endian machines.
    pub fn borrowed(
        plan: FusePlan,
        layout: FuseLayout,
        scheme: HashScheme,
        bytes: &'a [u8],
    ) -> Result<Self, PlanError> {
        let walk = checked_walk(&plan, layout, bytes)?;
        let table = match plan.cell_bits() {
            8 => CellTable::Bits8(FuseTable::new(walk, bytes)),
            16 => CellTable::Bits16(FuseTable::new(
                walk,
                plain_bytes::from_bytes(bytes, walk.cells())?,
            )),
            _ => CellTable::Bits32(FuseTable::new(
                walk,
                plain_bytes::from_bytes(bytes, walk.cells())?,
            )),
        };
        Ok(Self::from_table(FuseCells(table), plan, scheme))
    }
}

impl<S: Storage> StaticFilter<FuseCells<S>> {
    /// The arrangement of the cells.
    pub fn layout(&self) -> FuseLayout {
        let walk = match &self.table().0 {
            CellTable::Bits8(table) => table.walk(),
            CellTable::Bits16(table) => table.walk(),
            CellTable::Bits32(table) => table.walk(),
        };
        let (shape, seed) = walk.shape_and_seed();
        FuseLayout {
            segment_bits: shape.segment_bits,
            starts: shape.starts,
            seed,
        }
    }

    /// The cells, each in little-endian order. No copy on little-endian machines.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match &self.table().0 {
            CellTable::Bits8(table) => Cow::Borrowed(table.cells()),
            CellTable::Bits16(table) => cell_bytes(table.cells(), u16::to_le_bytes),
            CellTable::Bits32(table) => cell_bytes(table.cells(), u32::to_le_bytes),
        }
    }

    /// The offsets in [`bytes`](Self::bytes) of the cells that a lookup of this hash reads.
    pub fn offsets(&self, hash: KeyHash) -> impl Iterator<Item = u64> + use<S> {
        let hash = hash.to_u64();
        let cells = match &self.table().0 {
            CellTable::Bits8(table) => table.offsets(hash),
            CellTable::Bits16(table) => table.offsets(hash),
            CellTable::Bits32(table) => table.offsets(hash),
        };
        cells.into_iter().flatten()
    }
}

/// The bytes of cells, converted on big-endian machines.
fn cell_bytes<T: Plain + Copy, const N: usize>(
    cells: &[T],
    spell: fn(T) -> [u8; N],
) -> Cow<'_, [u8]> {
    plain_bytes::as_bytes(cells).map_or_else(
        || cells.iter().flat_map(|&cell| spell(cell)).collect(),
        Cow::Borrowed,
    )
}

/// The walk over all cells, if the layout is valid and the number of bytes matches the plan and the layout.
fn checked_walk(plan: &FusePlan, layout: FuseLayout, bytes: &[u8]) -> Result<FuseWalk, PlanError> {
    let shape = FuseShardShape::checked(layout.segment_bits, layout.starts)?;
    let shards = if plan.keys() == 0 { 0 } else { plan.shards() };
    let cell_bytes = u128::from(plan.cell_bits()) / 8;
    let expected = u128::from(shards) * u128::from(shape.cells()) * cell_bytes;
    if expected != bytes.len() as u128 {
        return Err(PlanError::InvalidInteger {
            field: "bytes",
            value: bytes.len() as u64,
            accepted: "as many as all cells of all shards need",
        });
    }
    Ok(FuseWalk::new(shape, shards, layout.seed))
}

/// The number of seeds to try. One fails with a probability of a few percent, less for large shards.
const ATTEMPTS: u64 = 100;

/// The table for the items, in the shards of the plan, and the number of distinct keys.
fn solve<I: Items<Item: Hashed>, C: FuseCell>(
    items: &I,
    plan: &FusePlan,
    scheme: HashScheme,
) -> Result<(FuseTable<C>, u64), PlanError> {
    if items.count() == 0 {
        return Ok((
            FuseTable::new(FuseWalk::new(plan.shape(), 0, 0), Vec::new().into()),
            0,
        ));
    }
    let work = plan.work(shards::available_threads());
    for attempt in 0..ATTEMPTS {
        let seed = seed(0, attempt);
        let walk = FuseWalk::new(plan.shape(), plan.shards(), seed);
        let hash = |item: I::Item| mix(item.hash_with(&scheme).to_u64(), seed);
        let counts = shards::count_per_shard(items, hash, plan.shards());
        let mut cells = reserved(walk.cells())?;
        let mut keys = 0;
        let solve = |_, hashes: &mut [u64]| peel::solve::<C>(hashes, &walk);
        let take = |solved: peel::SolvedFuseShard<C>| {
            cells.extend_from_slice(&solved.cells);
            keys += solved.keys;
            Ok(())
        };
        match shards::solve_each(items, hash, &counts, work, solve, take) {
            Err(PlanError::Unsolvable { .. }) => {}
            solved => return solved.map(|()| (FuseTable::new(walk, cells.into()), keys)),
        }
    }
    Err(PlanError::Unsolvable {
        keys: items.count(),
        attempts: ATTEMPTS,
    })
}
