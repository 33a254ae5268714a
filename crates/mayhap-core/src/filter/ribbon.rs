//! `Ribbon`: the smallest filter for a fixed set, within two percent of the theoretical minimum.

use super::static_filter::{BuildStatic, StaticFilter, StaticTable};
use crate::build::shards::Items;
use crate::build::{ribbon, shards};
use crate::plan::{RibbonPlan, narrow_shard_slots};
use crate::probe::ribbon::spread;
use crate::simd::plain_bytes;
use crate::simd::{RibbonTable, StaticLookup};
use crate::store::{Borrowed, Owned, ShardDirectory, Storage, reserved};
use crate::{HashScheme, Hashed, KeyHash, Kind, PlanError};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::ops::Range;

/// A ribbon filter in small shards: at most 1.02 times `log2(1 / rate)` bits per key at rates below 1 % and 10,000 keys or more,
/// for every rate, not only for powers of two.
///
/// Lookups take two to three times as long as those of a [`Fuse`](crate::Fuse). Between two powers of two, some keys have one bit
/// more than others; at rates above 1 % that costs up to 0.086 bits per key, see [`RibbonPlan::new`].
///
/// ```
/// # use mayhap_core as mayhap;
/// let words = mayhap::Ribbon::build(&["apple", "pear", "apple"], 0.01)?;
/// assert!(words.contains("pear"));
/// assert_eq!(words.len(), 2);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
pub type Ribbon = StaticFilter<RibbonColumns>;

/// The columns of a [`Ribbon`].
#[derive(Clone, PartialEq)]
pub struct RibbonColumns<S: Storage = Owned> {
    table: RibbonTable<S>,
    /// The share of positions with an extra bit: that of the plan, rounded up to whole blocks.
    wide_share: f64,
}

impl BuildStatic for RibbonColumns {
    fn solve<I>(items: &I, plan: &RibbonPlan, scheme: HashScheme) -> Result<(Self, u64), PlanError>
    where
        I: IntoIterator<Item: Hashed, IntoIter: ExactSizeIterator> + Clone,
    {
        let count = items.count();
        let shards = if count == 0 { 0 } else { plan.shards() };
        let mut directory = ShardDirectory::new(shards, narrow_shard_slots())?;
        let (mut words, mut wide_blocks, mut keys) = (Vec::new(), 0, 0);
        if count > 0 {
            words = reserved(plan.max_words(count))?;
            let hash = |item: I::Item| spread(item.hash_with(&scheme).to_u64());
            let counts = shards::count_per_shard(items, hash, plan.parts());
            let work = plan.work(shards::available_threads());
            let solve = |part, hashes: &mut [u64]| ribbon::solve(part, hashes, plan);
            let take = |solved: ribbon::SolvedRibbonPart| {
                for (slots, seed) in solved.shards {
                    directory.push(slots, seed)?;
                }
                words.extend_from_slice(&solved.words);
                wide_blocks += solved.wide_blocks;
                keys += solved.keys;
                Ok(())
            };
            shards::solve_each(items, hash, &counts, work, solve, take)?;
        }
        let table = RibbonTable::new(directory, words, plan.columns(), wide_blocks);
        let wide_share = table.wide_share();
        Ok((Self { table, wide_share }, keys))
    }
}

impl<S: Storage> StaticTable for RibbonColumns<S> {
    const NAME: &'static str = "Ribbon";
    const KIND: Kind = Kind::Ribbon;
    type Plan = RibbonPlan;

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        self.table.contains(hash)
    }

    fn contains_each(&self, hashes: &[KeyHash], found: &mut [bool]) {
        self.table.contains_each(hashes, found);
    }

    fn rate(&self, plan: &RibbonPlan) -> f64 {
        plan.rate_with(self.wide_share)
    }

    fn size_bytes(&self) -> u64 {
        self.table.size_bytes()
    }
}

/// The stored parts of a [`Ribbon`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RibbonParts<'r> {
    /// For every shard, and for the end of the last: its start in the lower 24 bits, relative to 2^23 slots before the start that
    /// it would have if all shards had 1403 slots; and its seed in the upper 8 bits.
    pub directory: &'r [u32],
    /// For every block of 64 slots a word of each column, block by block.
    pub words: &'r [u64],
    /// Blocks with an extra column; they come first.
    pub wide_blocks: u64,
}

impl Ribbon {
    /// The stored parts.
    pub fn parts(&self) -> RibbonParts<'_> {
        let table = &self.table().table;
        RibbonParts {
            directory: table.directory().entries(),
            words: table.words(),
            wide_blocks: table.wide_blocks(),
        }
    }

    /// A filter from stored parts, as [`Ribbon::parts`] returns them.
    ///
    /// # Errors
    /// If they do not match the plan or each other.
    pub fn from_parts(
        plan: RibbonPlan,
        scheme: HashScheme,
        directory: Vec<u32>,
        words: Vec<u64>,
        wide_blocks: u64,
    ) -> Result<Self, PlanError> {
        let directory = checked_directory(&plan, directory)?;
        let table = RibbonTable::checked(directory, words, plan.columns(), wide_blocks)?;
        let wide_share = table.wide_share();
        Ok(Self::from_table(
            RibbonColumns { table, wide_share },
            plan,
            scheme,
        ))
    }

    /// The words of [`Ribbon::parts`] in little-endian order, followed by the zeros that [`RibbonView::borrowed`] needs. No copy on
    /// little-endian machines.
    pub fn padded_bytes(&self) -> Cow<'_, [u8]> {
        let words = self.table().table.padded_words();
        plain_bytes::as_bytes(words).map_or_else(
            || words.iter().flat_map(|word| word.to_le_bytes()).collect(),
            Cow::Borrowed,
        )
    }
}

/// The directory of a filter with this plan.
fn checked_directory(plan: &RibbonPlan, entries: Vec<u32>) -> Result<ShardDirectory, PlanError> {
    let directory = ShardDirectory::from_entries(entries, narrow_shard_slots(), 64)?;
    let shards = if plan.keys() == 0 { 0 } else { plan.shards() };
    if directory.shards() != shards {
        return Err(PlanError::InvalidInteger {
            field: "shards",
            value: directory.shards(),
            accepted: "as many as planned, and 0 without keys",
        });
    }
    Ok(directory)
}

/// A [`Ribbon`] over borrowed bytes, such as a mapped file. Lookups are as fast.
pub type RibbonView<'a> = StaticFilter<RibbonColumns<Borrowed<'a>>>;

impl<'a> RibbonView<'a> {
    /// A filter over borrowed words, as [`Ribbon::padded_bytes`] returns them. The directory is small, and copied.
    ///
    /// # Errors
    /// As [`Ribbon::from_parts`]; also if the bytes are not aligned to eight, or the machine is big-endian.
    pub fn borrowed(
        plan: RibbonPlan,
        scheme: HashScheme,
        directory: Vec<u32>,
        bytes: &'a [u8],
        wide_blocks: u64,
    ) -> Result<Self, PlanError> {
        let directory = checked_directory(&plan, directory)?;
        let words = plain_bytes::from_bytes(bytes, bytes.len() as u64 / 8)?;
        let table = RibbonTable::borrowed(directory, words, plan.columns(), wide_blocks)?;
        let wide_share = table.wide_share();
        Ok(Self::from_table(
            RibbonColumns { table, wide_share },
            plan,
            scheme,
        ))
    }

    /// The range of the borrowed bytes that a lookup of this hash depends on; `None` without keys.
    pub fn bytes_of(&self, hash: KeyHash) -> Option<Range<u64>> {
        let words = self.table().table.words_of(hash.to_u64())?;
        Some(8 * words.start as u64..8 * words.end as u64)
    }
}
