//! The walk in AVX2: a line, and a key's bits in it, are two registers each.
//!
//! Twice: in intrinsics for the batch loops, and in inline assembly for single keys. A function with
//! `#[target_feature]` is never inlined into a program that is built for plain x86-64, and behind a call a single query
//! took 3.0 against 2.3 ns in cache and 25 against 20 ns at 10M keys; assembly inlines anywhere. That it names all vector registers
//! as written to costs a plain loop nothing (2.5 ns with and without) and a caller that has a float in one of them 1 ns.

use super::batch::{self, LineOps};
use super::bloom_table::BloomTable;
use super::multi_table;
use super::prefetch::Prefetch;
use crate::KeyHash;
use crate::probe::blocked::{BlockedWalk, FIRST, Pattern};
use crate::store::atomic_line::AtomicLine;
use crate::store::{Line, Storage};
use core::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_andnot_si256, _mm256_load_si256, _mm256_or_si256,
    _mm256_set1_epi64x, _mm256_shuffle_epi8, _mm256_sllv_epi64, _mm256_srlv_epi64,
    _mm256_store_si256, _mm256_testz_si256,
};
use core::borrow::Borrow;

const SPREAD: usize = core::mem::offset_of!(Pattern, spread);
const SIX_BITS: usize = core::mem::offset_of!(Pattern, six_bits);

/// # Safety
/// The CPU must have AVX2; the rest as `batch::contains` says.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn contains(
    lines: &[Line],
    walk: BlockedWalk,
    hashes: &[KeyHash],
    found: &mut [bool],
    fetched: Prefetch,
) {
    // SAFETY: the caller's promise.
    unsafe { batch::contains::<Avx2>(lines, walk, hashes, found, fetched) }
}

/// # Safety
/// The CPU must have AVX2; the rest as `batch::insert` says.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn insert(
    lines: &mut [Line],
    walk: BlockedWalk,
    hashes: &[KeyHash],
    fetched: Prefetch,
) {
    // SAFETY: the caller's promise.
    unsafe { batch::insert::<Avx2>(lines, walk, hashes, fetched) }
}

/// # Safety
/// The CPU must have AVX2; the rest as `chain::contains` says.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn any_contains_each<S: Storage>(
    tables: &[impl Borrow<BloomTable<S>>],
    hashes: &[KeyHash],
    found: &mut [bool],
) {
    // SAFETY: the caller's promise.
    unsafe { multi_table::contains::<Avx2, _>(tables, hashes, found) }
}

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

struct Avx2;

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
            // After the shuffle, although once before it would do: only so does the compiler see that the positions are below
            // 64, and leaves out what a shift by more would need (six instructions).
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
        // SAFETY: the caller has checked the CPU; a Line is 64 bytes, aligned to 64, and ours to write.
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

// Registers, by number, since every one that is cleared must be named (`vector_asm!`): 0 has the hash and then the key's positions in
// the last four words, 1 those in the first four, 2 a half of a line, 3 what is missing.

/// Makes a key's positions.
macro_rules! positions {
    () => {
        "vpbroadcastq ymm0, xmm0
         vpand ymm0, ymm0, ymmword ptr [{pattern} + {SIX_BITS}]
         vpshufb ymm1, ymm0, ymmword ptr [{pattern} + {SPREAD}]
         vpshufb ymm0, ymm0, ymmword ptr [{pattern} + {SPREAD} + 32]"
    };
}

/// Moves the bits at the positions to the low ends of the words of the line, and leaves 1 in place of the positions where the row wants
/// one and there is none. Shifting the line and not the row saves a load: the row can be an operand in memory.
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

/// Positions, then the given lines of assembly, with the operands that all of them need: {pattern}, and {row}, which is the row's offset
/// in the pattern.
macro_rules! with_positions {
    ($walk:expr, $hash:expr, [$($line:expr),* $(,)?], $($operands:tt)*) => {
        vector_asm!(
            [positions!(), $($line),*],
            pattern = in(reg) $walk.pattern(),
            row = in(reg) $hash.wrapping_mul(FIRST) >> 26 & (7 << 6),
            SIX_BITS = const SIX_BITS,
            SPREAD = const SPREAD,
            $($operands)*
            inout("xmm0") f64::from_bits($hash) => _,
            out("xmm1") _,
            out("xmm2") _,
            out("xmm3") _,
        )
    };
}

/// Whether the key's bits are all set: one key, inlined anywhere.
///
/// # Safety
/// The CPU must have AVX2 and `lines` must point to `walk.lines()` lines.
#[inline(always)]
pub(super) unsafe fn contains_one(lines: *const Line, walk: &BlockedWalk, hash: u64) -> bool {
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
    }
    found != 0
}

/// Sets the key's bits; `true` when one of them was not set before.
///
/// One by one this is no faster than a filter with 256-bit blocks (0.85 to 0.99x sbbf-rs-safe in cache): the assembly may write
/// anything, so the fields of the filter are loaded again for each key, and there are two halves to load, or and store: 44
/// instructions against about 31. Batches keep the fields in registers and do not suffer from it.
///
/// # Safety
/// The CPU must have AVX2 and `lines` must point to `walk.lines()` lines that nobody else uses.
#[inline(always)]
pub(super) unsafe fn insert_one(lines: *mut Line, walk: &BlockedWalk, hash: u64) -> bool {
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
/// The CPU must have AVX2 and `at` must be ours to write.
#[inline(always)]
unsafe fn set_one(at: *mut Line, walk: &BlockedWalk, hash: u64) -> bool {
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
    }
    new != 0
}

/// One bit for each word of the line that lacks a bit of the key: `AtomicLine::missing_words` for many threads at once.
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
