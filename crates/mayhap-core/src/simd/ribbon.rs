//! `RibbonTable`: columns and shards that are known to fit together, so that questions need not check where they look.

use super::kernel::{Kernel, UsableKernel};
use super::prefetch::prefetch;
use super::static_lookup::StaticLookup;
use crate::PlanError;
use crate::plan::RibbonPlan;
use crate::probe::blocked::mul_high;
use crate::probe::ribbon::{fingerprint, spread};
use crate::store::ShardDirectory;
use alloc::vec::Vec;

/// Columns that are compared at once.
const GROUP: usize = 8;

/// The columns of a `Ribbon`. Always: every shard has 64 slots or more, and for every block of 64 slots, there is a word of each
/// column, and at the end there are as many words more as make a group whole.
#[derive(Clone)]
pub(crate) struct RibbonTable {
    directory: ShardDirectory,
    words: Vec<u64>,
    columns: u64,
    /// Blocks that have a column more, before all others.
    wide_blocks: u64,
    /// Slots at which a row can start that lies in such blocks.
    wide_slots: u64,
    max_columns: usize,
    kernel: UsableKernel,
}

/// What a key's answer depends on.
#[derive(Clone, Copy)]
pub(crate) struct RibbonProbe {
    /// The words of the row's first slot and of its last.
    low: usize,
    high: usize,
    /// The coefficients in both.
    here: u64,
    there: u64,
    columns: usize,
    fingerprint: u32,
}

impl RibbonTable {
    /// A table from parts that are there already, such as those in a file.
    ///
    /// # Errors
    /// When they do not fit together.
    pub(crate) fn checked(
        directory: ShardDirectory,
        words: Vec<u64>,
        columns: u8,
        wide_blocks: u64,
    ) -> Result<Self, PlanError> {
        let refuse = |field, value, accepted| {
            Err(PlanError::InvalidInteger {
                field,
                value,
                accepted,
            })
        };
        let blocks = directory.slots() / 64;
        let mut shards = (0..directory.shards()).map(|number| directory.shard(number));
        if !directory.slots().is_multiple_of(64) || shards.any(|shard| shard.slots < 64) {
            let accepted = "64 or more for every shard, and whole blocks of 64 for all";
            return refuse("slots", directory.slots(), accepted);
        }
        if wide_blocks > blocks {
            return refuse("blocks with a column more", wide_blocks, "at most all");
        }
        // Shards are as many as bytes at hand, so that nothing here overflows.
        if words.len() as u64 != blocks * u64::from(columns) + wide_blocks {
            let accepted = "one of each column for every block";
            return refuse("words", words.len() as u64, accepted);
        }
        Ok(Self::new(directory, words, columns, wide_blocks))
    }

    pub(crate) fn new(
        directory: ShardDirectory,
        mut words: Vec<u64>,
        columns: u8,
        wide_blocks: u64,
    ) -> Self {
        let columns = u64::from(columns);
        let blocks = directory.slots() / 64;
        let mut shards = (0..directory.shards()).map(|number| directory.shard(number));
        assert!(
            shards.all(|shard| shard.slots >= 64 && shard.first_slot + shard.slots <= 64 * blocks),
            "every shard is large enough for a row and ends before the last block does"
        );
        assert_eq!(
            words.len() as u64,
            blocks * columns + blocks.min(wide_blocks),
            "a word of each column for every block"
        );
        if blocks > 0 {
            words.extend_from_slice(&[0; GROUP][(columns as usize).min(GROUP)..]);
        }
        words.shrink_to_fit();
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

    pub(crate) fn directory(&self) -> &ShardDirectory {
        &self.directory
    }

    /// Blocks that have a column more, before all others.
    pub(crate) fn wide_blocks(&self) -> u64 {
        self.wide_blocks
    }

    /// The columns, without what makes the last group whole.
    pub(crate) fn words(&self) -> &[u64] {
        let blocks = self.directory.slots() / 64;
        &self.words[..(blocks * self.columns + self.wide_blocks) as usize]
    }

    /// The share of all places that have a column more.
    pub(crate) fn wide_share(&self) -> f64 {
        let shards = self.directory.shards();
        let wide = (0..shards).map(|number| {
            let shard = self.directory.shard(number);
            RibbonPlan::wide_part(shard.first_slot, shard.slots, self.wide_blocks)
        });
        wide.sum::<f64>() / shards.max(1) as f64
    }
}

impl PartialEq for RibbonTable {
    fn eq(&self, other: &Self) -> bool {
        self.directory == other.directory
            && self.words == other.words
            && self.columns == other.columns
            && self.wide_blocks == other.wide_blocks
    }
}

impl StaticLookup for RibbonTable {
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
        // SAFETY: the number is below that of shards, and there is an entry for each and one more.
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
            here: coefficients << shift,
            // In two steps, because nothing is left when the shift is 0.
            there: coefficients >> 1 >> (63 - shift),
            columns: self.columns as usize + usize::from(slot < self.wide_slots),
            fingerprint: fingerprint(spread),
        })
    }

    #[inline(always)]
    fn prefetch(&self, question: &RibbonProbe) {
        // Blocks do not begin where lines do.
        let words = self.words.as_ptr();
        let end = question.high + question.columns;
        for at in (question.low..end)
            .step_by(8)
            .chain([end.saturating_sub(1)])
        {
            prefetch(words.wrapping_add(at));
        }
    }

    #[inline(always)]
    unsafe fn check(&self, question: &RibbonProbe) -> bool {
        let is_wrong = |column: usize, mask: u32| {
            // SAFETY: all slots of a row lie in its shard, all shards in the blocks, and where columns are fewer than a group,
            // enough words come after the last block (`new`).
            let found = unsafe {
                let words = self.words.as_ptr().add(column);
                let low = &*words.add(question.low).cast();
                let high = &*words.add(question.high).cast();
                let (here, there) = (question.here, question.there);
                match self.kernel.get() {
                    #[cfg(target_arch = "x86_64")]
                    // The kernel is usable; AVX-512 implies AVX2 (`Kernel::is_available`).
                    Kernel::Avx2 | Kernel::Avx512 => avx2_parities(low, high, here, there),
                    _ => parities(low, high, here, there),
                }
            };
            (found ^ question.fingerprint >> column) & mask != 0
        };
        let all = (1 << GROUP) - 1;
        // Whether a key has a column more is not to be guessed, nor whether it is a stranger: up to two groups, all branches are
        // on the filter.
        if self.max_columns <= GROUP {
            return !is_wrong(0, (1 << question.columns) - 1);
        }
        // The last group begins so that it ends with the columns.
        let last = question.columns - GROUP;
        let is_wrong_at_the_ends = is_wrong(0, all) | is_wrong(last, all);
        if self.max_columns <= 2 * GROUP || is_wrong_at_the_ends {
            return !is_wrong_at_the_ends;
        }
        (GROUP..last)
            .step_by(GROUP)
            .all(|column| !is_wrong(column, all))
    }

    fn size_bytes(&self) -> u64 {
        size_of_val(self.words.as_slice()) as u64 + self.directory.size_bytes()
    }
}

/// For every column of a group, whether an odd number of its bits meets the coefficients: bit `i` is column `i`.
// Out of the way of the assembly, where there is one.
#[cfg_attr(target_arch = "x86_64", inline(never))]
#[cfg_attr(not(target_arch = "x86_64"), inline(always))]
fn parities(low: &[u64; GROUP], high: &[u64; GROUP], here: u64, there: u64) -> u32 {
    let columns = low.iter().zip(high).rev();
    columns.fold(0, |found, (low, high)| {
        found << 1 | (low & here ^ high & there).count_ones() & 1
    })
}

/// The same in 27 instructions instead of some 150: the columns' halves are xored, and what is left is shifted onto itself until
/// its uppermost bit is the parity of all.
///
/// # Safety
/// The CPU must have AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn avx2_parities(low: &[u64; GROUP], high: &[u64; GROUP], here: u64, there: u64) -> u32 {
    let found: u32;
    // SAFETY: both groups are 64 bytes that can be read; nothing is written.
    unsafe {
        vector_asm!(
            [
            "vmovq xmm0, {here}",
            "vmovq xmm1, {there}",
            "vpbroadcastq ymm0, xmm0",
            "vpbroadcastq ymm1, xmm1",
            "vpand ymm2, ymm0, ymmword ptr [{low}]",
            "vpand ymm0, ymm0, ymmword ptr [{low} + 32]",
            "vpand ymm3, ymm1, ymmword ptr [{high}]",
            "vpand ymm1, ymm1, ymmword ptr [{high} + 32]",
            "vpxor ymm2, ymm2, ymm3",
            "vpxor ymm0, ymm0, ymm1",
            // Halves of columns 0 1 4 5 and 2 3 6 7, then in their order.
            "vshufps ymm1, ymm2, ymm0, 0x88",
            "vshufps ymm3, ymm2, ymm0, 0xDD",
            "vpxor ymm0, ymm1, ymm3",
            "vpermq ymm0, ymm0, 0xD8",
            "vpslld ymm1, ymm0, 16",
            "vpxor ymm0, ymm0, ymm1",
            "vpslld ymm1, ymm0, 8",
            "vpxor ymm0, ymm0, ymm1",
            "vpslld ymm1, ymm0, 4",
            "vpxor ymm0, ymm0, ymm1",
            "vpslld ymm1, ymm0, 2",
            "vpxor ymm0, ymm0, ymm1",
            "vpslld ymm1, ymm0, 1",
            "vpxor ymm0, ymm0, ymm1",
            "vmovmskps {found:e}, ymm0",
            ],
            here = in(reg) here,
            there = in(reg) there,
            low = in(reg) low,
            high = in(reg) high,
            found = out(reg) found,
            options(pure, readonly, nostack, preserves_flags),
            out("xmm0") _,
            out("xmm1") _,
            out("xmm2") _,
            out("xmm3") _,
        );
    }
    found
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::probe::fuse::seed;
    use core::array;

    #[test]
    fn every_spelling_counts_the_same_parities() {
        if !Kernel::Avx2.is_available() {
            return;
        }
        for at in 0..10_000 {
            let words: [u64; 18] = array::from_fn(|word| seed(at, word as u64));
            let low = words.first_chunk().unwrap();
            let high = words[8..].first_chunk().unwrap();
            // SAFETY: the CPU has AVX2.
            let found = unsafe { avx2_parities(low, high, words[16], words[17]) };
            assert_eq!(found, parities(low, high, words[16], words[17]));
        }
    }
}
