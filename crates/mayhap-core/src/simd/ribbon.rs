//! `RibbonTable`: columns and shards that are known to fit together, so that lookups need no checks.

use super::kernel::{Kernel, UsableKernel};
use super::prefetch::prefetch;
use super::static_lookup::StaticLookup;
use crate::KeyHash;
use crate::PlanError;
use crate::plan::RibbonPlan;
use crate::probe::blocked::mul_high;
use crate::probe::ribbon::{fingerprint, spread};
use crate::store::{Borrowed, Owned, ShardDirectory, Storage};
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::ops::Range;

/// Columns that are compared at once.
pub(super) const GROUP: usize = 8;

/// The columns of a `Ribbon`. Invariants: every shard has at least 64 slots; every block of 64 slots has a word of each column;
/// and after the last block there are enough words to load a whole group.
#[derive(Clone)]
pub(crate) struct RibbonTable<S: Storage = Owned> {
    directory: ShardDirectory,
    words: S::Buffer<u64>,
    columns: u64,
    /// Blocks with an extra column; they come first.
    wide_blocks: u64,
    /// Slots at which a row can start that lies in such blocks.
    wide_slots: u64,
    max_columns: usize,
    kernel: UsableKernel,
}

/// What a lookup reads and compares.
#[derive(Clone, Copy)]
pub(crate) struct RibbonProbe {
    /// The words of the row's first slot and of its last.
    low: usize,
    high: usize,
    /// The coefficients in both.
    low_coefficients: u64,
    high_coefficients: u64,
    columns: usize,
    fingerprint: u32,
}

impl RibbonTable {
    /// A table from stored parts.
    ///
    /// # Errors
    /// If the parts are inconsistent.
    pub(crate) fn checked(
        directory: ShardDirectory,
        words: Vec<u64>,
        columns: u8,
        wide_blocks: u64,
    ) -> Result<Self, PlanError> {
        check_parts(&directory, words.len() as u64, columns, wide_blocks)?;
        Ok(Self::new(directory, words, columns, wide_blocks))
    }

    pub(crate) fn new(
        directory: ShardDirectory,
        mut words: Vec<u64>,
        columns: u8,
        wide_blocks: u64,
    ) -> Self {
        words.resize(words.len() + padding_words(&directory, columns), 0);
        words.shrink_to_fit();
        Self::padded(directory, words.into(), columns, wide_blocks)
    }
}

impl<'a> RibbonTable<Borrowed<'a>> {
    /// A table over borrowed words, with the padding after the last block.
    ///
    /// # Errors
    /// If the parts are inconsistent, or the padding is missing.
    pub(crate) fn borrowed(
        directory: ShardDirectory,
        words: &'a [u64],
        columns: u8,
        wide_blocks: u64,
    ) -> Result<Self, PlanError> {
        let used = words.len().checked_sub(padding_words(&directory, columns));
        let used = used.unwrap_or(words.len() + 1);
        check_parts(&directory, used as u64, columns, wide_blocks)?;
        Ok(Self::padded(directory, words, columns, wide_blocks))
    }
}

/// Words after the last block, so that a whole group can be loaded there.
fn padding_words(directory: &ShardDirectory, columns: u8) -> usize {
    match directory.slots() {
        0 => 0,
        _ => GROUP.saturating_sub(columns.into()),
    }
}

/// Whether stored parts are consistent; `words` is their number without the padding.
fn check_parts(
    directory: &ShardDirectory,
    words: u64,
    columns: u8,
    wide_blocks: u64,
) -> Result<(), PlanError> {
    let invalid = |field, value, accepted| {
        Err(PlanError::InvalidInteger {
            field,
            value,
            accepted,
        })
    };
    let blocks = directory.slots() / 64;
    let mut shards = (0..directory.shards()).map(|number| directory.shard(number));
    if !directory.slots().is_multiple_of(64) || shards.any(|shard| shard.slots < 64) {
        let accepted = "at least 64 in every shard, and whole blocks of 64 in total";
        return invalid("slots", directory.slots(), accepted);
    }
    if wide_blocks > blocks {
        let accepted = "at most the number of blocks";
        return invalid("blocks with an extra column", wide_blocks, accepted);
    }
    // No overflow: the number of shards is limited by the bytes of the directory.
    if words != blocks * u64::from(columns) + wide_blocks {
        let accepted = "one per column for every block";
        return invalid("words", words, accepted);
    }
    Ok(())
}

impl<S: Storage> RibbonTable<S> {
    fn padded(
        directory: ShardDirectory,
        words: S::Buffer<u64>,
        columns: u8,
        wide_blocks: u64,
    ) -> Self {
        let padding = padding_words(&directory, columns) as u64;
        let columns = u64::from(columns);
        let blocks = directory.slots() / 64;
        let mut shards = (0..directory.shards()).map(|number| directory.shard(number));
        assert!(
            shards.all(|shard| shard.slots >= 64 && shard.first_slot + shard.slots <= 64 * blocks),
            "every shard is large enough for a row and ends before the last block does"
        );
        assert_eq!(
            words.len() as u64,
            blocks * columns + blocks.min(wide_blocks) + padding,
            "a word of each column for every block, and the padding"
        );
        Self {
            directory,
            words,
            columns,
            wide_blocks,
            wide_slots: (64 * wide_blocks).saturating_sub(63),
            max_columns: (columns + u64::from(wide_blocks > 0)) as usize,
            kernel: UsableKernel::best(),
        }
    }

    /// The words, with the padding after the last block.
    pub(crate) fn padded_words(&self) -> &[u64] {
        &self.words
    }

    /// The words that a lookup of this hash depends on; `None` without keys.
    pub(crate) fn words_of(&self, hash: u64) -> Option<Range<usize>> {
        let probe = self.locate(hash)?;
        Some(probe.low..probe.high + probe.columns)
    }

    pub(crate) fn directory(&self) -> &ShardDirectory {
        &self.directory
    }

    /// Blocks with an extra column; they come first.
    pub(crate) fn wide_blocks(&self) -> u64 {
        self.wide_blocks
    }

    /// The columns, without the padding after the last block.
    pub(crate) fn words(&self) -> &[u64] {
        let blocks = self.directory.slots() / 64;
        &self.words[..(blocks * self.columns + self.wide_blocks) as usize]
    }

    /// Whether the columns have the fingerprint of a key.
    ///
    /// # Safety
    /// The CPU must have the instruction set of `V`, and the probe must come from this table.
    #[inline(always)]
    unsafe fn check_with<V: ParityOps>(&self, probe: &RibbonProbe) -> bool {
        // Whether a key has an extra column cannot be predicted, nor whether it is present: up to two groups, all branches depend
        // on the filter only.
        // SAFETY: the caller's promise; the columns of the probe exist.
        unsafe {
            if self.max_columns <= GROUP {
                return !self.differs::<V>(probe, 0, (1 << probe.columns) - 1);
            }
            let all = (1 << GROUP) - 1;
            // The last group ends with the last column, and may overlap the one before.
            let last = probe.columns - GROUP;
            let ends_differ =
                self.differs::<V>(probe, 0, all) | self.differs::<V>(probe, last, all);
            if self.max_columns <= 2 * GROUP || ends_differ {
                return !ends_differ;
            }
            let mut column = GROUP;
            while column < last {
                if self.differs::<V>(probe, column, all) {
                    return false;
                }
                column += GROUP;
            }
        }
        true
    }

    /// Whether a group of columns differs from the fingerprint in the bits of the mask.
    ///
    /// # Safety
    /// As for `check_with`; the first column must be one of the probe's.
    #[inline(always)]
    unsafe fn differs<V: ParityOps>(&self, probe: &RibbonProbe, column: usize, mask: u32) -> bool {
        // SAFETY: all slots of a row lie in its shard and all shards in the blocks; if there are fewer columns than a group, enough
        // words come after the last block (`new`). The caller has checked the CPU.
        let found = unsafe {
            let words = self.words.as_ptr().add(column);
            let low = &*words.add(probe.low).cast();
            let high = &*words.add(probe.high).cast();
            V::parities(
                self.kernel,
                low,
                high,
                probe.low_coefficients,
                probe.high_coefficients,
            )
        };
        (found ^ probe.fingerprint >> column) & mask != 0
    }

    /// The share of all positions that have an extra column.
    pub(crate) fn wide_share(&self) -> f64 {
        let shards = self.directory.shards();
        let wide = (0..shards).map(|number| {
            let shard = self.directory.shard(number);
            RibbonPlan::wide_part(shard.first_slot, shard.slots, self.wide_blocks)
        });
        wide.sum::<f64>() / shards.max(1) as f64
    }
}

/// How the parities of a group of columns are computed.
pub(super) trait ParityOps {
    /// The parity of each column of a group under the coefficients of a row: bit `i` is column `i`.
    ///
    /// # Safety
    /// The CPU must have the instruction set.
    unsafe fn parities(
        kernel: UsableKernel,
        low: &[u64; GROUP],
        high: &[u64; GROUP],
        low_coefficients: u64,
        high_coefficients: u64,
    ) -> u32;
}

/// For one key: code that is inlined anywhere, chosen by the table's kernel.
struct SingleKey;

impl ParityOps for SingleKey {
    #[inline(always)]
    unsafe fn parities(
        kernel: UsableKernel,
        low: &[u64; GROUP],
        high: &[u64; GROUP],
        low_coefficients: u64,
        high_coefficients: u64,
    ) -> u32 {
        // SAFETY: the kernel is usable.
        unsafe {
            call_kernel!(
                kernel,
                parities(low, high, low_coefficients, high_coefficients)
            )
        }
    }
}

/// A table inside of a batch loop that is compiled for a kernel.
pub(super) struct InBatch<'t, V, S: Storage> {
    table: &'t RibbonTable<S>,
    kernel: PhantomData<V>,
}

impl<'t, V: ParityOps, S: Storage> InBatch<'t, V, S> {
    /// # Safety
    /// The CPU must have the instruction set of `V`, and the result must be used by a function that is compiled for it.
    #[inline(always)]
    pub(super) unsafe fn new(table: &'t RibbonTable<S>) -> Self {
        Self {
            table,
            kernel: PhantomData,
        }
    }
}

impl<V: ParityOps, S: Storage> StaticLookup for InBatch<'_, V, S> {
    type Probe = RibbonProbe;

    #[inline(always)]
    fn locate(&self, hash: u64) -> Option<RibbonProbe> {
        self.table.locate(hash)
    }

    #[inline(always)]
    fn prefetch(&self, probe: &RibbonProbe) {
        self.table.prefetch(probe);
    }

    #[inline(always)]
    unsafe fn check(&self, probe: &RibbonProbe) -> bool {
        // SAFETY: the caller's promise, and that of `new`.
        unsafe { self.table.check_with::<V>(probe) }
    }

    fn size_bytes(&self) -> u64 {
        self.table.size_bytes()
    }
}

impl<S: Storage> PartialEq for RibbonTable<S> {
    fn eq(&self, other: &Self) -> bool {
        self.directory == other.directory
            && *self.words == *other.words
            && self.columns == other.columns
            && self.wide_blocks == other.wide_blocks
    }
}

impl<S: Storage> StaticLookup for RibbonTable<S> {
    type Probe = RibbonProbe;

    #[inline(always)]
    fn locate(&self, hash: u64) -> Option<RibbonProbe> {
        let shards = self.directory.shards();
        if shards == 0 {
            return None;
        }
        let spread = spread(hash);
        let number = mul_high(spread, shards);
        let at = number as usize;
        // SAFETY: the number is below the number of shards, and the directory has one more entry than shards.
        let (entry, next) = unsafe {
            let entries = self.directory.entries();
            (*entries.get_unchecked(at), *entries.get_unchecked(at + 1))
        };
        let shard = self.directory.decode_shard(number, entry, next);
        let (start, coefficients) = shard.row_64(spread);
        let slot = shard.first_slot + start;
        let (block, shift) = (slot / 64, slot % 64);
        let low = (block * self.columns + block.min(self.wide_blocks)) as usize;
        let next = self.columns as usize + usize::from(block < self.wide_blocks);
        Some(RibbonProbe {
            low,
            high: if shift == 0 { low } else { low + next },
            low_coefficients: coefficients << shift,
            // In two steps: for a shift of 0 the result is 0.
            high_coefficients: coefficients >> 1 >> (63 - shift),
            columns: self.columns as usize + usize::from(slot < self.wide_slots),
            fingerprint: fingerprint(spread),
        })
    }

    #[inline(always)]
    fn prefetch(&self, probe: &RibbonProbe) {
        // Blocks are not aligned to cache lines.
        let words = self.words.as_ptr();
        let end = probe.high + probe.columns;
        for at in (probe.low..end).step_by(8).chain([end.saturating_sub(1)]) {
            prefetch(words.wrapping_add(at));
        }
    }

    #[inline(always)]
    unsafe fn check(&self, probe: &RibbonProbe) -> bool {
        // SAFETY: the caller's promise, and the kernel is usable.
        unsafe { self.check_with::<SingleKey>(probe) }
    }

    #[inline(always)]
    fn contains_each(&self, hashes: &[KeyHash], found: &mut [bool]) {
        // SAFETY: the kernel is usable.
        unsafe { call_kernel!(self.kernel, ribbon_contains_each(self, hashes, found)) }
    }

    fn size_bytes(&self) -> u64 {
        size_of_val(&*self.words) as u64 + self.directory.size_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::portable;
    use super::*;
    use crate::probe::fuse::seed;
    use core::array;

    #[test]
    fn kernels_compute_equal_parities() {
        for kernel in Kernel::available().filter_map(UsableKernel::new) {
            for at in 0..10_000 {
                let words: [u64; 18] = array::from_fn(|word| seed(at, word as u64));
                let low = words.first_chunk().unwrap();
                let high = words[8..].first_chunk().unwrap();
                // SAFETY: the kernel is usable.
                let (single, in_batch, expected) = unsafe {
                    (
                        call_kernel!(kernel, parities(low, high, words[16], words[17])),
                        in_batch(kernel, low, high, words[16], words[17]),
                        portable::parities(low, high, words[16], words[17]),
                    )
                };
                assert_eq!(single, expected, "{}", kernel.get());
                assert_eq!(in_batch, expected, "{}", kernel.get());
            }
        }
    }
    /// # Safety
    /// None is needed: unsafe only because the functions of the kernels are.
    unsafe fn in_batch(
        kernel: UsableKernel,
        low: &[u64; GROUP],
        high: &[u64; GROUP],
        low_coefficients: u64,
        high_coefficients: u64,
    ) -> u32 {
        let parities = match kernel.get() {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => super::super::avx2::Avx2::parities,
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => super::super::avx512::Avx512::parities,
            #[cfg(not(target_arch = "x86_64"))]
            Kernel::Avx2 | Kernel::Avx512 => portable::Portable::parities,
            Kernel::Portable | Kernel::Neon => portable::Portable::parities,
        };
        // SAFETY: the kernel is usable.
        unsafe { parities(kernel, low, high, low_coefficients, high_coefficients) }
    }
}
