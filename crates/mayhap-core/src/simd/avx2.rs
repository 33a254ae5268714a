//! The kernel in AVX2: a line, and a key's bits in it, are two registers each.
//!
//! It is written twice: with intrinsics for the batch loops, and in inline assembly for single keys. A function with
//! `#[target_feature]` is never inlined into a program that is built for plain x86-64, and behind a call a single query took
//! 3.0 ns instead of 2.3 in cache, and 25 instead of 20 ns at 10M keys; assembly is inlined anywhere. Declaring all vector
//! registers as clobbered costs a plain loop nothing (2.5 ns with and without), and 1 ns if the caller has a float in one of them.

use super::batch::{self, LineOps};
use super::bloom_table::BloomTable;
use super::kernel::UsableKernel;
use super::multi_table;
use super::prefetch::Prefetch;
use super::ribbon::{GROUP, InBatch, ParityOps, RibbonTable};
use super::static_lookup::StaticLookup;
use crate::KeyHash;
use crate::probe::blocked::{BlockedWalk, Pattern};
use crate::store::atomic_line::AtomicLine;
use crate::store::{Line, Storage};
use core::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_andnot_si256, _mm256_castps_si256, _mm256_castsi256_ps,
    _mm256_load_si256, _mm256_loadu_si256, _mm256_movemask_ps, _mm256_or_si256,
    _mm256_permute4x64_epi64, _mm256_set1_epi64x, _mm256_shuffle_epi8, _mm256_shuffle_ps,
    _mm256_slli_epi32, _mm256_sllv_epi64, _mm256_srlv_epi64, _mm256_store_si256,
    _mm256_testz_si256, _mm256_xor_si256,
};
use core::borrow::Borrow;
use core::hint::assert_unchecked;

const SPREAD: usize = core::mem::offset_of!(Pattern, spread);
const SIX_BITS: usize = core::mem::offset_of!(Pattern, six_bits);

batch_functions!(
    Avx2,
    "The CPU must have AVX2",
    #[target_feature(enable = "avx2")]
);

ribbon_function!(
    Avx2,
    "The CPU must have AVX2",
    #[target_feature(enable = "avx2")]
);

pub(super) use super::cuckoo_avx2::find_each;

/// Whether one of several tables has all bits of a key.
///
/// # Safety
/// The CPU must have AVX2, and there must be a table.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn any_contains<S: Storage>(
    tables: &[impl Borrow<BloomTable<S>>],
    hash: u64,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe { multi_table::contains_one::<Avx2, _>(tables, hash) }
}

pub(super) struct Avx2;

impl LineOps for Avx2 {
    type Positions = (__m256i, __m256i);

    #[inline(always)]
    unsafe fn positions(hash: u64, pattern: &Pattern) -> Self::Positions {
        // SAFETY: the caller has checked the CPU; `spread` is 64 bytes, aligned to 64.
        unsafe {
            let bytes = _mm256_set1_epi64x(hash.cast_signed());
            let spread: *const __m256i = pattern.spread.as_ptr().cast();
            let low = _mm256_shuffle_epi8(bytes, _mm256_load_si256(spread));
            let high = _mm256_shuffle_epi8(bytes, _mm256_load_si256(spread.add(1)));
            // One mask before the shuffle would do, but only after it does the compiler see that the positions are below 64 and
            // omit the six instructions that larger shifts need.
            let six_bits = _mm256_set1_epi64x(63);
            (
                _mm256_and_si256(low, six_bits),
                _mm256_and_si256(high, six_bits),
            )
        }
    }

    #[inline(always)]
    unsafe fn covers(line: &Line, positions: Self::Positions, row: &Line) -> bool {
        // SAFETY: the caller has checked the CPU.
        unsafe { none_missing(load(line), positions, row) }
    }

    #[inline(always)]
    unsafe fn covers_both(
        first: &Line,
        second: &Line,
        positions: Self::Positions,
        row: &Line,
    ) -> bool {
        // SAFETY: the caller has checked the CPU.
        unsafe {
            let (first, second) = (load(first), load(second));
            let both = (
                _mm256_and_si256(first.0, second.0),
                _mm256_and_si256(first.1, second.1),
            );
            none_missing(both, positions, row)
        }
    }

    #[inline(always)]
    unsafe fn set(line: &mut Line, positions: Self::Positions, row: &Line) {
        // SAFETY: the caller has checked the CPU; a Line is 64 bytes, aligned to 64, and borrowed exclusively.
        unsafe {
            let (old, row) = (load(line), load(row));
            let at: *mut __m256i = (&raw mut *line).cast();
            _mm256_store_si256(
                at,
                _mm256_or_si256(old.0, _mm256_sllv_epi64(row.0, positions.0)),
            );
            _mm256_store_si256(
                at.add(1),
                _mm256_or_si256(old.1, _mm256_sllv_epi64(row.1, positions.1)),
            );
        }
    }
}

impl ParityOps for Avx2 {
    #[inline(always)]
    unsafe fn parities(
        _kernel: UsableKernel,
        low: &[u64; GROUP],
        high: &[u64; GROUP],
        low_coefficients: u64,
        high_coefficients: u64,
    ) -> u32 {
        // SAFETY: the caller has checked the CPU; a group is 64 bytes.
        unsafe {
            let (low, high): (*const __m256i, *const __m256i) =
                (low.as_ptr().cast(), high.as_ptr().cast());
            let here = _mm256_set1_epi64x(low_coefficients.cast_signed());
            let there = _mm256_set1_epi64x(high_coefficients.cast_signed());
            let first = _mm256_xor_si256(
                _mm256_and_si256(here, _mm256_loadu_si256(low)),
                _mm256_and_si256(there, _mm256_loadu_si256(high)),
            );
            let last = _mm256_xor_si256(
                _mm256_and_si256(here, _mm256_loadu_si256(low.add(1))),
                _mm256_and_si256(there, _mm256_loadu_si256(high.add(1))),
            );
            // As the assembly below.
            let (first, last) = (_mm256_castsi256_ps(first), _mm256_castsi256_ps(last));
            let halves = _mm256_xor_si256(
                _mm256_castps_si256(_mm256_shuffle_ps::<0x88>(first, last)),
                _mm256_castps_si256(_mm256_shuffle_ps::<0xDD>(first, last)),
            );
            top_bit_parities(_mm256_permute4x64_epi64::<0xD8>(halves))
        }
    }
}

/// The parity of each 32-bit word: bit `i` is word `i`.
///
/// # Safety
/// The CPU must have AVX2.
#[inline(always)]
pub(super) unsafe fn top_bit_parities(words: __m256i) -> u32 {
    // SAFETY: the caller has checked the CPU.
    unsafe {
        let words = _mm256_xor_si256(words, _mm256_slli_epi32::<16>(words));
        let words = _mm256_xor_si256(words, _mm256_slli_epi32::<8>(words));
        let words = _mm256_xor_si256(words, _mm256_slli_epi32::<4>(words));
        let words = _mm256_xor_si256(words, _mm256_slli_epi32::<2>(words));
        let words = _mm256_xor_si256(words, _mm256_slli_epi32::<1>(words));
        _mm256_movemask_ps(_mm256_castsi256_ps(words)).cast_unsigned()
    }
}

/// Whether the bits at the positions are set, in the words that the row uses.
///
/// # Safety
/// The CPU must have AVX2.
#[inline(always)]
unsafe fn none_missing(
    line: (__m256i, __m256i),
    positions: (__m256i, __m256i),
    row: &Line,
) -> bool {
    // SAFETY: the caller has checked the CPU.
    unsafe {
        let row = load(row);
        let low = _mm256_andnot_si256(_mm256_srlv_epi64(line.0, positions.0), row.0);
        let high = _mm256_andnot_si256(_mm256_srlv_epi64(line.1, positions.1), row.1);
        let any = _mm256_or_si256(low, high);
        _mm256_testz_si256(any, any) == 1
    }
}

/// # Safety
/// The CPU must have AVX.
#[inline(always)]
unsafe fn load(line: &Line) -> (__m256i, __m256i) {
    let at: *const __m256i = (&raw const *line).cast();
    // SAFETY: a Line is 64 bytes, aligned to 64.
    unsafe { (_mm256_load_si256(at), _mm256_load_si256(at.add(1))) }
}

// Registers have numbers here, because every one that `vzeroupper` clears must be named (`vector_asm!`): 0 holds the hash and then
// the key's positions in the last four words, 1 those in the first four, 2 half of a line, 3 the missing bits.

/// Computes a key's positions.
macro_rules! positions {
    () => {
        "vmovq xmm0, {hash}
         vpbroadcastq ymm0, xmm0
         vpand ymm0, ymm0, ymmword ptr [{pattern} + {SIX_BITS}]
         vpshufb ymm1, ymm0, ymmword ptr [{pattern} + {SPREAD}]
         vpshufb ymm0, ymm0, ymmword ptr [{pattern} + {SPREAD} + 32]"
    };
}

/// Shifts the bits at the positions to the low end of each word of the line, and replaces the positions by 1 where the row uses a
/// word whose bit is not set. Shifting the line instead of the row saves a load: the row can be a memory operand.
macro_rules! missing {
    ($half:literal, $at:literal) => {
        concat!(
            "vpsrlvq ymm2, ymm2, ",
            $half,
            "\n",
            "vpandn ",
            $half,
            ", ymm2, ymmword ptr [{pattern} + {row} + ",
            $at,
            "]"
        )
    };
}

/// The positions, then the given lines of assembly, with the operands that all of them need: {pattern}, and {row}, the byte offset
/// of the row in the pattern.
macro_rules! with_positions {
    ($walk:expr, $hash:expr, [$($line:expr),* $(,)?], $($operands:tt)*) => {
        vector_asm!(
            [positions!(), $($line),*],
            hash = in(reg) $hash,
            pattern = in(reg) $walk.pattern(),
            row = in(reg) BlockedWalk::row_number($hash) * size_of::<Line>(),
            SIX_BITS = const SIX_BITS,
            SPREAD = const SPREAD,
            $($operands)*
            out("xmm0") _,
            out("xmm1") _,
            out("xmm2") _,
            out("xmm3") _,
        )
    };
}

/// Whether all bits of one key are set. Inlined anywhere.
///
/// # Safety
/// The CPU must have AVX2, and there must be `walk.lines()` lines.
#[inline(always)]
pub(super) unsafe fn contains_one(lines: &[Line], walk: BlockedWalk, hash: u64) -> bool {
    let lines = lines.as_ptr();
    let found: u8;
    let first = walk.first(hash) << 6;
    // SAFETY: the lines lie inside the table and the row inside the pattern; nothing is written.
    unsafe {
        if walk.two_lines() {
            with_positions!(
                walk,
                hash,
                [
                    "vmovdqa ymm2, ymmword ptr [{lines} + {first}]",
                    "vpand ymm2, ymm2, ymmword ptr [{lines} + {second}]",
                    missing!("ymm1", "0"),
                    "vmovdqa ymm2, ymmword ptr [{lines} + {first} + 32]",
                    "vpand ymm2, ymm2, ymmword ptr [{lines} + {second} + 32]",
                    missing!("ymm0", "32"),
                    "vpor ymm0, ymm0, ymm1",
                    "vptest ymm0, ymm0",
                    "sete {found}",
                ],
                lines = in(reg) lines,
                first = in(reg) first,
                second = in(reg) walk.second(hash) << 6,
                found = out(reg_byte) found,
                options(pure, readonly, nostack),
            );
        } else {
            with_positions!(
                walk,
                hash,
                [
                    "vmovdqa ymm2, ymmword ptr [{lines} + {first}]",
                    missing!("ymm1", "0"),
                    "vmovdqa ymm2, ymmword ptr [{lines} + {first} + 32]",
                    missing!("ymm0", "32"),
                    "vpor ymm0, ymm0, ymm1",
                    "vptest ymm0, ymm0",
                    "sete {found}",
                ],
                lines = in(reg) lines,
                first = in(reg) first,
                found = out(reg_byte) found,
                options(pure, readonly, nostack),
            );
        }
        // What `sete` writes; otherwise the compiler normalises it.
        assert_unchecked(found < 2);
    }
    found != 0
}

/// Sets the bits of one key; `true` if one of them was not set before.
///
/// Two halves to load, combine and store: on a Zen 5 it takes 1.1 to 1.3 times as long as an insert into a filter with 256-bit blocks
/// (sbbf-rs-safe) in cache. `avx512.rs` takes 1.0 to 1.2 times.
///
/// # Safety
/// The CPU must have AVX2, and there must be `walk.lines()` lines.
#[inline(always)]
pub(super) unsafe fn insert_one(lines: &mut [Line], walk: BlockedWalk, hash: u64) -> bool {
    let lines = lines.as_mut_ptr();
    // SAFETY: both lines lie inside the table.
    unsafe {
        let new = set_one(lines.add(walk.first(hash)), walk, hash);
        if walk.two_lines() {
            set_one(lines.add(walk.second(hash)), walk, hash) | new
        } else {
            new
        }
    }
}

/// # Safety
/// The CPU must have AVX2, and the caller must have exclusive access to `at`.
#[inline(always)]
unsafe fn set_one(at: *mut Line, walk: BlockedWalk, hash: u64) -> bool {
    let new: u8;
    // SAFETY: only the line is written, and the row lies inside the pattern.
    unsafe {
        with_positions!(
            walk,
            hash,
            [
                "vmovdqa ymm2, ymmword ptr [{pattern} + {row}]",
                "vpsllvq ymm1, ymm2, ymm1",
                "vmovdqa ymm2, ymmword ptr [{pattern} + {row} + 32]",
                "vpsllvq ymm0, ymm2, ymm0",
                "vmovdqa ymm2, ymmword ptr [{at}]",
                "vpandn ymm3, ymm2, ymm1",
                "vpor ymm2, ymm2, ymm1",
                "vmovdqa ymmword ptr [{at}], ymm2",
                "vmovdqa ymm2, ymmword ptr [{at} + 32]",
                "vpandn ymm1, ymm2, ymm0",
                "vpor ymm2, ymm2, ymm0",
                "vmovdqa ymmword ptr [{at} + 32], ymm2",
                "vpor ymm3, ymm3, ymm1",
                "vptest ymm3, ymm3",
                "setne {new}",
            ],
            at = in(reg) at,
            new = out(reg_byte) new,
            options(nostack),
        );
        assert_unchecked(new < 2);
    }
    new != 0
}

/// One bit for each word of the line that lacks a bit of the key, while other threads may write to the line.
///
/// The line is read as eight relaxed atomic loads would read it: in assembly, so that the compiler makes no assumptions about
/// words that other threads write, and not `pure`, so that it reads again each time.
///
/// # Safety
/// The CPU must have AVX2.
#[inline(always)]
pub(super) unsafe fn missing_words(line: &AtomicLine, walk: &BlockedWalk, hash: u64) -> u32 {
    let (low, high): (u32, u32);
    // SAFETY: a line is 64 bytes, aligned to 64, and the row lies inside the pattern; nothing is written. Aligned vector
    // loads do not tear 8-byte words on any CPU with AVX2.
    unsafe {
        with_positions!(
            walk,
            hash,
            [
                "vmovdqa ymm2, ymmword ptr [{at}]",
                missing!("ymm1", "0"),
                "vmovdqa ymm2, ymmword ptr [{at} + 32]",
                missing!("ymm0", "32"),
                "vpxor xmm2, xmm2, xmm2",
                "vpcmpeqq ymm1, ymm1, ymm2",
                "vpcmpeqq ymm0, ymm0, ymm2",
                "vmovmskpd {covered_low:e}, ymm1",
                "vmovmskpd {covered_high:e}, ymm0",
            ],
            at = in(reg) line,
            covered_low = out(reg) low,
            covered_high = out(reg) high,
            options(readonly, nostack),
        );
    }
    (low | high << 4) ^ 0xFF
}

/// Prefetches a line for writing: this core gets it exclusively, so that the write need not wait for other cores to give it up.
///
/// # Safety
/// The CPU must have AVX2: older ones may not know the instruction.
#[inline(always)]
pub(super) unsafe fn prefetch_to_write(line: *const AtomicLine) {
    // SAFETY: a prefetch faults on no address, and every CPU with AVX2 accepts this one, if only as a no-op.
    unsafe {
        core::arch::asm!("prefetchw byte ptr [{}]", in(reg) line, options(nostack, preserves_flags, readonly));
    }
}

/// The parity of each column of a group, in 27 instructions instead of some 150: the halves of each column are xored, and the
/// result is shifted onto itself until its top bit is the parity of all bits.
///
/// # Safety
/// The CPU must have AVX2.
#[inline(always)]
pub(super) unsafe fn parities(
    low: &[u64; GROUP],
    high: &[u64; GROUP],
    low_coefficients: u64,
    high_coefficients: u64,
) -> u32 {
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
            here = in(reg) low_coefficients,
            there = in(reg) high_coefficients,
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
