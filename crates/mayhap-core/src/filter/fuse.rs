//! `Fuse`: the fastest filter for a fixed set. A lookup reads three cells.

use super::static_filter::{BuildStatic, StaticFilter, StaticTable};
use crate::build::shards::Items;
use crate::build::{peel, shards};
use crate::plan::{FusePlan, FuseShardShape};
use crate::probe::fuse::{FuseWalk, mix, seed};
use crate::simd::plain_bytes::{self, Plain};
use crate::simd::{CellWord, EmptyFuseTable, FuseTable, PackedFuseTable, StaticLookup};
use crate::store::{Borrowed, CellPacker, FuseCell, Owned, Storage, copied, reserved};
use crate::{HashScheme, Hashed, KeyHash, Kind, PlanError};
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// A binary fuse filter. A cell has the fewest bits, 4 to 32, that keep the rate, and there are 1.13 cells per key (1.17 at
/// 100,000 keys): 7.9 bits per key at 1 %, 11.3 at 0.1 %, 15.8 at 0.01 %.
///
/// The actual rate is 2^-bits of a cell. Lookups are fastest with 8, 16 and 32 bits, which are not packed.
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
    /// Without keys.
    Empty(EmptyFuseTable),
    Bits8(FuseTable<u8, S>),
    Bits16(FuseTable<u16, S>),
    Bits32(FuseTable<u32, S>),
    /// Other widths up to 25.
    Packed(PackedFuseTable<u32, S>),
    /// 26 to 31 bits.
    WidePacked(PackedFuseTable<u64, S>),
}

impl<S: Storage> CellTable<S> {
    /// A table of packed cells.
    ///
    /// # Errors
    /// As [`PackedFuseTable::new`].
    fn packed(walk: FuseWalk, cell_bits: u32, bytes: S::Buffer<u8>) -> Result<Self, PlanError> {
        Ok(if cell_bits <= u32::MAX_CELL_BITS {
            Self::Packed(PackedFuseTable::new(walk, cell_bits, bytes)?)
        } else {
            Self::WidePacked(PackedFuseTable::new(walk, cell_bits, bytes)?)
        })
    }
}

/// The same expression for the table of every width.
macro_rules! each {
    ($cells:expr, $table:ident => $body:expr) => {
        match $cells {
            CellTable::Empty($table) => $body,
            CellTable::Bits8($table) => $body,
            CellTable::Bits16($table) => $body,
            CellTable::Bits32($table) => $body,
            CellTable::Packed($table) => $body,
            CellTable::WidePacked($table) => $body,
        }
    };
}

impl BuildStatic for FuseCells {
    fn solve<I>(items: &I, plan: &FusePlan, scheme: HashScheme) -> Result<(Self, u64), PlanError>
    where
        I: IntoIterator<Item: Hashed, IntoIter: ExactSizeIterator> + Clone,
    {
        if items.count() == 0 {
            let walk = FuseWalk::new(plan.shape(), 0, 0);
            return Ok((Self(CellTable::Empty(EmptyFuseTable(walk))), 0));
        }
        let (cells, keys) = match plan.cell_bits() {
            8 => {
                let (walk, cells, keys) = solve(items, plan, scheme, &typed::<u8>())?;
                (CellTable::Bits8(FuseTable::new(walk, cells.into())), keys)
            }
            16 => {
                let (walk, cells, keys) = solve(items, plan, scheme, &typed::<u16>())?;
                (CellTable::Bits16(FuseTable::new(walk, cells.into())), keys)
            }
            32 => {
                let (walk, cells, keys) = solve(items, plan, scheme, &typed::<u32>())?;
                (CellTable::Bits32(FuseTable::new(walk, cells.into())), keys)
            }
            // Solved in the next wider type. Its low bits are a solution too.
            width => {
                let bits = u32::from(width);
                let (walk, cells, keys) = match width {
                    ..=7 => solve(items, plan, scheme, &packed::<u8>(bits))?,
                    8..=15 => solve(items, plan, scheme, &packed::<u16>(bits))?,
                    _ => solve(items, plan, scheme, &packed::<u32>(bits))?,
                };
                (CellTable::packed(walk, bits, cells.finish().into())?, keys)
            }
        };
        Ok((Self(cells), keys))
    }
}

impl<S: Storage> StaticTable for FuseCells<S> {
    const NAME: &'static str = "Fuse";
    const KIND: Kind = Kind::Fuse;
    type Plan = FusePlan;

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        each!(&self.0, table => table.contains(hash))
    }

    fn contains_each(&self, hashes: &[KeyHash], found: &mut [bool]) {
        each!(&self.0, table => table.contains_each(hashes, found));
    }

    fn rate(&self, plan: &FusePlan) -> f64 {
        plan.rate()
    }

    fn size_bytes(&self) -> u64 {
        each!(&self.0, table => table.size_bytes())
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
    /// If the layout is invalid, the number of bytes does not match the plan and the layout, or bits after the last cell are set.
    pub fn from_bytes(
        plan: FusePlan,
        layout: FuseLayout,
        scheme: HashScheme,
        bytes: &[u8],
    ) -> Result<Self, PlanError> {
        let walk = checked_walk(&plan, layout, bytes)?;
        let table = match plan.cell_bits() {
            _ if bytes.is_empty() => CellTable::Empty(EmptyFuseTable(walk)),
            8 => CellTable::Bits8(FuseTable::new(walk, copied(bytes)?.into())),
            16 => {
                let stored = bytes.as_chunks().0;
                let mut cells = reserved(stored.len() as u64)?;
                cells.extend(stored.iter().map(|cell| u16::from_le_bytes(*cell)));
                CellTable::Bits16(FuseTable::new(walk, cells.into()))
            }
            32 => {
                let stored = bytes.as_chunks().0;
                let mut cells = reserved(stored.len() as u64)?;
                cells.extend(stored.iter().map(|cell| u32::from_le_bytes(*cell)));
                CellTable::Bits32(FuseTable::new(walk, cells.into()))
            }
            width => {
                let bytes = copied(bytes)?.into();
                CellTable::packed(walk, width.into(), bytes)?
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
    /// As [`Fuse::from_bytes`]; also if cells of 16 or 32 bits are not aligned to their size, or the machine is big-endian.
    pub fn borrowed(
        plan: FusePlan,
        layout: FuseLayout,
        scheme: HashScheme,
        bytes: &'a [u8],
    ) -> Result<Self, PlanError> {
        let walk = checked_walk(&plan, layout, bytes)?;
        let table = match plan.cell_bits() {
            _ if bytes.is_empty() => CellTable::Empty(EmptyFuseTable(walk)),
            8 => CellTable::Bits8(FuseTable::new(walk, bytes)),
            16 => CellTable::Bits16(FuseTable::new(
                walk,
                plain_bytes::from_bytes(bytes, walk.cells())?,
            )),
            32 => CellTable::Bits32(FuseTable::new(
                walk,
                plain_bytes::from_bytes(bytes, walk.cells())?,
            )),
            width => CellTable::packed(walk, width.into(), bytes)?,
        };
        Ok(Self::from_table(FuseCells(table), plan, scheme))
    }
}

impl<S: Storage> StaticFilter<FuseCells<S>> {
    /// The arrangement of the cells.
    pub fn layout(&self) -> FuseLayout {
        let (shape, seed) = each!(&self.table().0, table => table.shape_and_seed());
        FuseLayout {
            segment_bits: shape.segment_bits,
            starts: shape.starts,
            seed,
        }
    }

    /// The cells: numbers of 8, 16 or 32 bits in little-endian order, or packed bits, lowest first, up to the end of an 8-byte
    /// load of the last cell. No copy on little-endian machines.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match &self.table().0 {
            CellTable::Empty(_) => Cow::Borrowed(&[]),
            CellTable::Bits8(table) => Cow::Borrowed(table.cells()),
            CellTable::Bits16(table) => cell_bytes(table.cells(), u16::to_le_bytes),
            CellTable::Bits32(table) => cell_bytes(table.cells(), u32::to_le_bytes),
            CellTable::Packed(table) => Cow::Borrowed(table.bytes()),
            CellTable::WidePacked(table) => Cow::Borrowed(table.bytes()),
        }
    }

    /// The offsets in [`bytes`](Self::bytes) of the first and the last byte of the cells that a lookup of this hash reads.
    pub fn offsets(&self, hash: KeyHash) -> impl Iterator<Item = u64> + use<S> {
        let cells = each!(&self.table().0, table => table.offsets(hash.to_u64()));
        cells.into_iter().flatten().flatten()
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
    let expected = shards
        .checked_mul(shape.cells())
        .map(|cells| plan.cells_size_bytes(cells));
    if expected != Some(bytes.len() as u128) {
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

/// Where solved cells are collected: how to begin, given their number, and how to append the cells of a shard.
struct Collect<C, B> {
    begin: fn(u64, u32) -> Result<B, PlanError>,
    append: fn(&mut B, &[C]),
    cell_bits: u32,
}

/// Collects cells as they are.
fn typed<C: FuseCell>() -> Collect<C, Vec<C>> {
    Collect {
        begin: |cells, _| reserved(cells),
        append: |cells, solved| cells.extend_from_slice(solved),
        cell_bits: 8 * size_of::<C>() as u32,
    }
}

/// Packs the low bits of cells.
fn packed<C: FuseCell>(cell_bits: u32) -> Collect<C, CellPacker> {
    Collect {
        begin: CellPacker::new,
        append: CellPacker::extend,
        cell_bits,
    }
}

/// The cells for the items, in the shards of the plan, with their walk and the number of distinct keys.
fn solve<I: Items<Item: Hashed>, C: FuseCell, B>(
    items: &I,
    plan: &FusePlan,
    scheme: HashScheme,
    collect: &Collect<C, B>,
) -> Result<(FuseWalk, B, u64), PlanError> {
    let begin = |cells| (collect.begin)(cells, collect.cell_bits);
    let work = plan.work(shards::available_threads());
    for attempt in 0..ATTEMPTS {
        let seed = seed(0, attempt);
        let walk = FuseWalk::new(plan.shape(), plan.shards(), seed);
        let hash = |item: I::Item| mix(item.hash_with(&scheme).to_u64(), seed);
        if plan.is_solved_whole() {
            let (solved, keys) = match peel::solve_whole(items, hash, &walk) {
                Err(PlanError::Unsolvable { .. }) => continue,
                solved => solved?,
            };
            let mut cells = begin(walk.cells())?;
            for solved in solved.chunks(1 << 10) {
                let solved: Vec<C> = solved.iter().map(|&cell| C::truncated(cell)).collect();
                (collect.append)(&mut cells, &solved);
            }
            return Ok((walk, cells, keys));
        }
        let mut cells = begin(walk.cells())?;
        let counts = shards::count_per_shard(items, hash, plan.shards());
        let mut keys = 0;
        let solve = |_, hashes: &mut [u64]| peel::solve::<C>(hashes, &walk);
        let take = |solved: peel::SolvedFuseShard<C>| {
            (collect.append)(&mut cells, &solved.cells);
            keys += solved.keys;
            Ok(())
        };
        match shards::solve_each(items, hash, &counts, work, solve, take) {
            Err(PlanError::Unsolvable { .. }) => {}
            solved => return solved.map(|()| (walk, cells, keys)),
        }
    }
    Err(PlanError::Unsolvable {
        keys: items.count(),
        attempts: ATTEMPTS,
    })
}
