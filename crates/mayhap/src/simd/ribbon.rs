//! `RibbonTable`: columns and shards that are known to fit together, so that questions need not check where they look.

use super::ask::Questions;
use super::prefetch::prefetch;
use crate::plan::RibbonPlan;
use crate::probe::band::{fingerprint, spread};
use crate::probe::blocked::mul_high;
use crate::store::Directory;
use alloc::vec::Vec;

/// Columns that are compared at once. A stranger gets past them once in 256.
const GROUP: usize = 8;

/// The columns of a `Ribbon`. Always: every shard has 64 slots or more, and for every block of 64 slots, there is a word of each
/// column, and at the end there are as many words more as make a group whole.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct RibbonTable {
    directory: Directory,
    words: Vec<u64>,
    columns: u64,
    /// Blocks that have a column more, before all others.
    wide_blocks: u64,
}

/// What a key's answer depends on.
#[derive(Clone, Copy)]
pub(crate) struct Question {
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
    pub(crate) fn new(
        directory: Directory,
        mut words: Vec<u64>,
        columns: u8,
        wide_blocks: u64,
    ) -> Self {
        let columns = u64::from(columns);
        let blocks = directory.slots() / 64;
        let every_shard = |fits: &dyn Fn(u64, u64) -> bool| {
            (0..directory.shards()).all(|number| {
                let shard = directory.shard(number);
                fits(shard.first_slot, shard.slots)
            })
        };
        assert!(
            every_shard(&|first, slots| slots >= 64 && first + slots <= 64 * blocks),
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
        }
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

    #[inline(always)]
    fn word(&self, block: u64) -> usize {
        (block * self.columns + block.min(self.wide_blocks)) as usize
    }
}

impl Questions for RibbonTable {
    type Question = Question;

    #[inline(always)]
    fn question(&self, hash: u64) -> Option<Question> {
        let shards = self.directory.shards();
        if shards == 0 {
            return None;
        }
        let spread = spread(hash);
        let shard = self.directory.shard(mul_high(spread, shards));
        let (start, coefficients) = shard.row_of_64(spread);
        let slot = shard.first_slot + start;
        let (shift, last) = (slot % 64, slot.div_ceil(64));
        Some(Question {
            low: self.word(slot / 64),
            high: self.word(last),
            here: coefficients << shift,
            // In two steps, because nothing is left when the shift is 0.
            there: coefficients >> 1 >> (63 - shift),
            columns: (self.columns + u64::from(last < self.wide_blocks)) as usize,
            fingerprint: fingerprint(spread),
        })
    }

    #[inline(always)]
    fn prefetch(&self, question: &Question) {
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
    unsafe fn answer(&self, question: &Question) -> bool {
        let parities = |column: usize| {
            // SAFETY: all slots of a row lie in its shard, all shards in the blocks, and after the last block's columns, or the
            // first ones of a group that is not whole, come enough words for a group (`new`).
            unsafe {
                let low = self.words.as_ptr().add(question.low + column);
                let high = self.words.as_ptr().add(question.high + column);
                parities(low.cast(), high.cast(), question.here, question.there)
            }
        };
        let is_wrong = |column: usize, columns: usize| {
            let mask = (1 << columns) - 1;
            (parities(column) ^ question.fingerprint >> column) & mask != 0
        };
        if question.columns <= GROUP {
            return !is_wrong(0, question.columns);
        }
        // The last group begins so that it ends with the columns.
        let last = question.columns - GROUP;
        let mut column = 0;
        while column < last {
            if is_wrong(column, GROUP) {
                return false;
            }
            column += GROUP;
        }
        !is_wrong(last, GROUP)
    }

    fn size_bytes(&self) -> u64 {
        size_of_val(self.words.as_slice()) as u64 + self.directory.size_bytes()
    }
}

/// For every column of a group, whether an odd number of its bits meets the coefficients: bit `i` is column `i`.
///
/// # Safety
/// Both pointers must be to words that can be read.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn parities(
    low: *const [u64; GROUP],
    high: *const [u64; GROUP],
    here: u64,
    there: u64,
) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { portable_parities(&*low, &*high, here, there) }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
fn portable_parities(low: &[u64; GROUP], high: &[u64; GROUP], here: u64, there: u64) -> u32 {
    let columns = low.iter().zip(high).rev();
    columns.fold(0, |found, (low, high)| {
        found << 1 | (low & here ^ high & there).count_ones() & 1
    })
}

/// The same for two columns at once, with what every CPU of this kind has: the halves of the words are xored until a byte is
/// left of each, and the bytes in the same way until a bit is.
///
/// # Safety
/// Both pointers must be to words that can be read.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn parities(
    low: *const [u64; GROUP],
    high: *const [u64; GROUP],
    here: u64,
    there: u64,
) -> u32 {
    use core::arch::x86_64::{
        _mm_and_si128, _mm_castps_si128, _mm_castsi128_ps, _mm_loadu_si128, _mm_movemask_epi8,
        _mm_packs_epi32, _mm_packus_epi16, _mm_set1_epi64x, _mm_shuffle_ps, _mm_slli_epi16,
        _mm_slli_epi32, _mm_srai_epi32, _mm_srli_epi16, _mm_xor_ps, _mm_xor_si128,
    };
    // SAFETY: SSE2 is part of x86-64, and the pointers are the caller's promise.
    unsafe {
        let here = _mm_set1_epi64x(here.cast_signed());
        let there = _mm_set1_epi64x(there.cast_signed());
        let met = |pair: usize| {
            let low = _mm_loadu_si128((&raw const (*low)[2 * pair]).cast());
            let high = _mm_loadu_si128((&raw const (*high)[2 * pair]).cast());
            _mm_xor_si128(_mm_and_si128(low, here), _mm_and_si128(high, there))
        };
        let halves = |pair: usize| {
            let (a, b) = (_mm_castsi128_ps(met(pair)), _mm_castsi128_ps(met(pair + 1)));
            let (even, odd) = (_mm_shuffle_ps::<0x88>(a, b), _mm_shuffle_ps::<0xDD>(a, b));
            let half = _mm_castps_si128(_mm_xor_ps(even, odd));
            // Half of that again, in the upper half, with the sign that packing keeps.
            let quarter = _mm_xor_si128(half, _mm_slli_epi32::<16>(half));
            _mm_srai_epi32::<16>(quarter)
        };
        let words = _mm_packs_epi32(halves(0), halves(2));
        let bytes = _mm_srli_epi16::<8>(_mm_xor_si128(words, _mm_slli_epi16::<8>(words)));
        let bytes = _mm_packus_epi16(bytes, bytes);
        // The upper bits of a byte never take from another byte's.
        let bits = _mm_xor_si128(bytes, _mm_slli_epi16::<4>(bytes));
        let bits = _mm_xor_si128(bits, _mm_slli_epi16::<2>(bits));
        let bits = _mm_xor_si128(bits, _mm_slli_epi16::<1>(bits));
        _mm_movemask_epi8(bits).cast_unsigned() & 0xFF
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::fuse::seed;
    use core::array;

    #[test]
    fn every_spelling_counts_the_same_parities() {
        for at in 0..10_000 {
            let words: [u64; 18] = array::from_fn(|word| seed(at, word as u64));
            let (low, high) = (
                words.first_chunk().unwrap(),
                words[8..].first_chunk().unwrap(),
            );
            // SAFETY: references can be read.
            let found = unsafe { parities(low, high, words[16], words[17]) };
            assert_eq!(found, portable_parities(low, high, words[16], words[17]));
        }
    }
}
