//! The kernel in AVX-512 (F and BW): a line, and a key's bits in it, are one register each.
//!
//! As in `avx2.rs`, batches use intrinsics and single keys use inline assembly. The assembly uses registers that AVX2 does not have (`zmm16`
//! and above): they do not slow down the SSE code around it, so no `vzeroupper` is needed, and all that changes is declared. It has no
//! SSE instruction either, which would wait for the old value of its register while the upper half of that is in use. On a Zen 5 it gives
//! the same times in a program's first thread and in new ones, and with upper halves in use: against the assembly in AVX2, 0.91 instead
//! of 1.16 ns per query in cache and three quarters of the time at 10M keys, 0.97 instead of 1.55 ns per insert in cache and half of
//! the time at 10M keys. Reading a bit for each word of the row into a mask register (`kmovb`) instead of the row saves 3 % more in cache;
//! the same in `ymm16` and above takes 15 % longer, and words one by one three times as long.

use super::avx2::top_bit_parities;
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
    __m512i, _mm512_and_si512, _mm512_andnot_si512, _mm512_cvtepi64_epi32, _mm512_load_si512,
    _mm512_loadu_si512, _mm512_or_si512, _mm512_rolv_epi64, _mm512_rorv_epi64, _mm512_set1_epi64,
    _mm512_shuffle_epi8, _mm512_srli_epi64, _mm512_store_si512, _mm512_test_epi64_mask,
    _mm512_xor_si512,
};
use core::borrow::Borrow;

batch_functions!(
    Avx512,
    "The CPU must have AVX-512 F and BW",
    #[target_feature(enable = "avx512f,avx512bw")]
);

ribbon_function!(
    Avx512,
    "The CPU must have AVX-512 F and BW",
    #[target_feature(enable = "avx512f,avx512bw")]
);

// For the rest, AVX-512 has nothing better.
pub(super) use super::avx2::{any_contains, parities, prefetch_to_write};
pub(super) use super::cuckoo_avx512::find_each;

const SPREAD: usize = core::mem::offset_of!(Pattern, spread);

pub(super) struct Avx512;

impl LineOps for Avx512 {
    type Positions = __m512i;

    #[inline(always)]
    unsafe fn positions(hash: u64, pattern: &Pattern) -> __m512i {
        // SAFETY: the caller has checked the CPU; `spread` is 64 bytes, aligned to 64.
        unsafe {
            let bytes = _mm512_set1_epi64(hash.cast_signed());
            // Not masked: rotations use only the low six bits. Against a mask and shifts, at 1M keys, lookups in two lines take 4 % less and
            // those in a ring (`WindowBloom`) up to 3 % more; at 1 % and for inserts it is the same.
            _mm512_shuffle_epi8(bytes, _mm512_load_si512(pattern.spread.as_ptr().cast()))
        }
    }

    #[inline(always)]
    unsafe fn covers(line: &Line, positions: __m512i, row: &Line) -> bool {
        // SAFETY: the caller has checked the CPU.
        unsafe { none_missing(load(line), positions, row) }
    }

    #[inline(always)]
    unsafe fn covers_both(first: &Line, second: &Line, positions: __m512i, row: &Line) -> bool {
        // SAFETY: the caller has checked the CPU.
        unsafe { none_missing(_mm512_and_si512(load(first), load(second)), positions, row) }
    }

    #[inline(always)]
    unsafe fn set(line: &mut Line, positions: __m512i, row: &Line) {
        // SAFETY: the caller has checked the CPU; a Line is 64 bytes, aligned to 64, and borrowed exclusively.
        unsafe {
            let bits = _mm512_or_si512(load(line), _mm512_rolv_epi64(load(row), positions));
            _mm512_store_si512((&raw mut *line).cast(), bits);
        }
    }
}

impl ParityOps for Avx512 {
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
            let here = _mm512_set1_epi64(low_coefficients.cast_signed());
            let there = _mm512_set1_epi64(high_coefficients.cast_signed());
            let columns = _mm512_xor_si512(
                _mm512_and_si512(here, _mm512_loadu_si512(low.as_ptr().cast())),
                _mm512_and_si512(there, _mm512_loadu_si512(high.as_ptr().cast())),
            );
            let halves = _mm512_xor_si512(columns, _mm512_srli_epi64::<32>(columns));
            top_bit_parities(_mm512_cvtepi64_epi32(halves))
        }
    }
}

/// Whether the bits at the positions are set, in the words that the row uses.
///
/// # Safety
/// The CPU must have AVX-512 F.
#[inline(always)]
unsafe fn none_missing(line: __m512i, positions: __m512i, row: &Line) -> bool {
    // SAFETY: the caller has checked the CPU.
    unsafe {
        let missing = _mm512_andnot_si512(_mm512_rorv_epi64(line, positions), load(row));
        _mm512_test_epi64_mask(missing, missing) == 0
    }
}

/// # Safety
/// The CPU must have AVX-512 F.
#[inline(always)]
unsafe fn load(line: &Line) -> __m512i {
    // SAFETY: a Line is 64 bytes, aligned to 64.
    unsafe { _mm512_load_si512((&raw const *line).cast()) }
}

/// Assembly for one key, which starts with its positions in `zmm16`. Operands that all lines need: {pattern}, {hash}, and {row}, the
/// byte offset of the row in the pattern. The lines may use `zmm16` to `zmm18` and `k1`.
///
/// Positions are bytes of the hash, not masked: rotations use only their low six bits.
macro_rules! with_positions {
    ($walk:expr, $hash:expr, [$($line:expr),* $(,)?], $($operands:tt)*) => {
        core::arch::asm!(
            "vpbroadcastq zmm16, {hash}",
            "vpshufb zmm16, zmm16, zmmword ptr [{pattern} + {SPREAD}]",
            $($line,)*
            hash = in(reg) $hash,
            pattern = in(reg) $walk.pattern(),
            row = in(reg) BlockedWalk::row_number($hash) * size_of::<Line>(),
            SPREAD = const SPREAD,
            $($operands)*
            out("zmm16") _,
            out("zmm17") _,
            out("zmm18") _,
            out("k1") _,
        )
    };
}

/// Rotates the bits at the positions to the low end of each word of the line in `zmm17`, and sets a bit of {missing} for each word that
/// the row uses and whose bit is not set.
macro_rules! missing {
    () => {
        "vprorvq zmm17, zmm17, zmm16
         vpandnq zmm17, zmm17, zmmword ptr [{pattern} + {row}]
         vptestmq k1, zmm17, zmm17
         kmovw {missing:e}, k1"
    };
}

/// Whether all bits of one key are set. Inlined anywhere.
///
/// # Safety
/// The CPU must have AVX-512 F and BW, and there must be `walk.lines()` lines.
#[inline(always)]
pub(super) unsafe fn contains_one(lines: &[Line], walk: BlockedWalk, hash: u64) -> bool {
    let lines = lines.as_ptr();
    let missing: u32;
    let first = walk.first(hash) << 6;
    // SAFETY: the lines lie inside the table and the row inside the pattern; nothing is written.
    unsafe {
        if walk.two_lines() {
            with_positions!(
                walk,
                hash,
                [
                    "vmovdqa64 zmm17, zmmword ptr [{lines} + {first}]",
                    "vpandq zmm17, zmm17, zmmword ptr [{lines} + {second}]",
                    missing!(),
                ],
                lines = in(reg) lines,
                first = in(reg) first,
                second = in(reg) walk.second(hash) << 6,
                missing = lateout(reg) missing,
                options(pure, readonly, nostack, preserves_flags),
            );
        } else {
            with_positions!(
                walk,
                hash,
                [
                    "vmovdqa64 zmm17, zmmword ptr [{lines} + {first}]",
                    missing!(),
                ],
                lines = in(reg) lines,
                first = in(reg) first,
                missing = lateout(reg) missing,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
    }
    missing == 0
}

/// Sets the bits of one key; `true` if one of them was not set before.
///
/// # Safety
/// The CPU must have AVX-512 F and BW, and there must be `walk.lines()` lines.
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
/// The CPU must have AVX-512 F and BW, and the caller must have exclusive access to `at`.
#[inline(always)]
unsafe fn set_one(at: *mut Line, walk: BlockedWalk, hash: u64) -> bool {
    let new: u32;
    // SAFETY: only the line is written, and the row lies inside the pattern.
    unsafe {
        with_positions!(
            walk,
            hash,
            [
                "vmovdqa64 zmm17, zmmword ptr [{pattern} + {row}]",
                "vprolvq zmm17, zmm17, zmm16",
                "vmovdqa64 zmm16, zmmword ptr [{at}]",
                "vpandnq zmm18, zmm16, zmm17",
                "vporq zmm16, zmm16, zmm17",
                "vmovdqa64 zmmword ptr [{at}], zmm16",
                "vptestmq k1, zmm18, zmm18",
                "kmovw {new:e}, k1",
            ],
            at = in(reg) at,
            new = lateout(reg) new,
            options(nostack, preserves_flags),
        );
    }
    new != 0
}

/// One bit for each word of the line that lacks a bit of the key, while other threads may write to the line. See `avx2.rs`.
///
/// # Safety
/// The CPU must have AVX-512 F and BW.
#[inline(always)]
pub(super) unsafe fn missing_words(line: &AtomicLine, walk: &BlockedWalk, hash: u64) -> u32 {
    let missing: u32;
    // SAFETY: a line is 64 bytes, aligned to 64, and the row lies inside the pattern; nothing is written. Aligned vector
    // loads do not tear 8-byte words on any CPU with AVX-512.
    unsafe {
        with_positions!(
            walk,
            hash,
            ["vmovdqa64 zmm17, zmmword ptr [{at}]", missing!()],
            at = in(reg) line,
            missing = lateout(reg) missing,
            options(readonly, nostack, preserves_flags),
        );
    }
    missing
}
