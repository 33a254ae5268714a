//! The walk in AVX2: a line, and a key's bits in it, are two registers each.
//!
//! Twice: in intrinsics for the batch loops, and in inline assembly for single keys. A function with
//! `#[target_feature]` is never inlined into a program that is built for plain x86-64, and behind a call a single query
//! took 3.0 against 2.0 ns in cache and 25 against 20 ns at 10M keys; assembly inlines anywhere.

use super::batch::{self, Vector};
use super::prefetch::Fetched;
use crate::KeyHash;
use crate::probe::blocked::{FIRST, Pattern, Walk, mul_high};
use crate::store::Line;
use crate::store::shared::AtomicLine;
use core::arch::asm;
use core::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_andnot_si256, _mm256_load_si256, _mm256_or_si256,
    _mm256_set1_epi8, _mm256_set1_epi64x, _mm256_shuffle_epi8, _mm256_sllv_epi64,
    _mm256_store_si256, _mm256_testz_si256,
};

const SPREAD: usize = core::mem::offset_of!(Pattern, spread);
const SIX_BITS: usize = core::mem::offset_of!(Pattern, six_bits);

/// # Safety
/// The CPU must have AVX2; the rest as `batch::contains` says.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn contains(
    lines: &[Line],
    walk: Walk,
    hashes: &[KeyHash],
    found: &mut [bool],
    fetched: Fetched,
) {
    // SAFETY: the caller's promise.
    unsafe { batch::contains::<Avx2>(lines, walk, hashes, found, fetched) }
}

/// # Safety
/// The CPU must have AVX2; the rest as `batch::insert` says.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn insert(lines: &mut [Line], walk: Walk, hashes: &[KeyHash], fetched: Fetched) {
    // SAFETY: the caller's promise.
    unsafe { batch::insert::<Avx2>(lines, walk, hashes, fetched) }
}

struct Avx2;

impl Vector for Avx2 {
    type Mask = (__m256i, __m256i);

    #[inline(always)]
    unsafe fn mask(hash: u64, row: &Line, pattern: &Pattern) -> Self::Mask {
        // SAFETY: the caller has checked the CPU; `spread` is 64 bytes, aligned to 64.
        unsafe {
            let positions =
                _mm256_and_si256(_mm256_set1_epi64x(hash.cast_signed()), _mm256_set1_epi8(63));
            let spread: *const __m256i = pattern.spread.as_ptr().cast();
            let low = _mm256_shuffle_epi8(positions, _mm256_load_si256(spread));
            let high = _mm256_shuffle_epi8(positions, _mm256_load_si256(spread.add(1)));
            let row = load(row);
            (
                _mm256_sllv_epi64(row.0, low),
                _mm256_sllv_epi64(row.1, high),
            )
        }
    }

    #[inline(always)]
    unsafe fn covers(line: &Line, mask: Self::Mask) -> bool {
        // SAFETY: the caller has checked the CPU.
        unsafe {
            let line = load(line);
            none(
                _mm256_andnot_si256(line.0, mask.0),
                _mm256_andnot_si256(line.1, mask.1),
            )
        }
    }

    #[inline(always)]
    unsafe fn covers_both(first: &Line, second: &Line, mask: Self::Mask) -> bool {
        // SAFETY: the caller has checked the CPU.
        unsafe {
            let (first, second) = (load(first), load(second));
            let both = (
                _mm256_and_si256(first.0, second.0),
                _mm256_and_si256(first.1, second.1),
            );
            none(
                _mm256_andnot_si256(both.0, mask.0),
                _mm256_andnot_si256(both.1, mask.1),
            )
        }
    }

    #[inline(always)]
    unsafe fn set(line: &mut Line, mask: Self::Mask) -> bool {
        // SAFETY: the caller has checked the CPU; a Line is 64 bytes, aligned to 64, and ours to write.
        unsafe {
            let old = load(line);
            let at: *mut __m256i = (&raw mut *line).cast();
            _mm256_store_si256(at, _mm256_or_si256(old.0, mask.0));
            _mm256_store_si256(at.add(1), _mm256_or_si256(old.1, mask.1));
            !none(
                _mm256_andnot_si256(old.0, mask.0),
                _mm256_andnot_si256(old.1, mask.1),
            )
        }
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

/// # Safety
/// The CPU must have AVX2.
#[inline(always)]
unsafe fn none(low: __m256i, high: __m256i) -> bool {
    // SAFETY: the caller has checked the CPU.
    unsafe {
        let any = _mm256_or_si256(low, high);
        _mm256_testz_si256(any, any) == 1
    }
}

/// Builds a key's mask: {low} and {high} are its halves, {other} is scratch. {high} holds the hash at first.
macro_rules! mask {
    () => {
        "vpbroadcastq {high:y}, {high}
         vpand {high:y}, {high:y}, ymmword ptr [{pattern} + {SIX_BITS}]
         vpshufb {low:y}, {high:y}, ymmword ptr [{pattern} + {SPREAD}]
         vpshufb {high:y}, {high:y}, ymmword ptr [{pattern} + {SPREAD} + 32]
         vmovdqa {other:y}, ymmword ptr [{pattern} + {row}]
         vpsllvq {low:y}, {other:y}, {low:y}
         vmovdqa {other:y}, ymmword ptr [{pattern} + {row} + 32]
         vpsllvq {high:y}, {other:y}, {high:y}"
    };
}

/// Whether the key's bits are all set: one key, inlined anywhere.
///
/// # Safety
/// The CPU must have AVX2 and `lines` must point to `walk.lines()` lines.
#[inline(always)]
pub(super) unsafe fn contains_one(lines: *const Line, walk: &Walk, hash: u64) -> bool {
    let found: u8;
    let mixed = hash.wrapping_mul(FIRST);
    let first = mul_high(mixed, walk.reach()) << 6;
    let row = mixed >> 26 & (7 << 6);
    if walk.two_lines() {
        let second = (walk.second(hash) as u64) << 6;
        // SAFETY: both lines lie inside the table and the row inside the rows; nothing is written.
        unsafe {
            asm!(
                mask!(),
                "vmovdqa {other:y}, ymmword ptr [{lines} + {first}]",
                "vpand {other:y}, {other:y}, ymmword ptr [{lines} + {second}]",
                "vpandn {low:y}, {other:y}, {low:y}",
                "vmovdqa {other:y}, ymmword ptr [{lines} + {first} + 32]",
                "vpand {other:y}, {other:y}, ymmword ptr [{lines} + {second} + 32]",
                "vpandn {high:y}, {other:y}, {high:y}",
                "vpor {high:y}, {high:y}, {low:y}",
                "vptest {high:y}, {high:y}",
                "sete {found}",
                // Without it, the SSE code around pays a state change: 115 ns a key instead of 2.
                "vzeroupper",
                high = inout(xmm_reg) f64::from_bits(hash) => _,
                low = out(xmm_reg) _,
                other = out(xmm_reg) _,
                pattern = in(reg) walk.pattern(),
                SIX_BITS = const SIX_BITS,
                SPREAD = const SPREAD,
                row = in(reg) row,
                lines = in(reg) lines,
                first = in(reg) first,
                second = in(reg) second,
                found = out(reg_byte) found,
                options(pure, readonly, nostack),
            );
        }
    } else {
        // SAFETY: the line lies inside the table and the row inside the rows; nothing is written.
        unsafe {
            asm!(
                mask!(),
                "vmovdqa {other:y}, ymmword ptr [{lines} + {first}]",
                "vpandn {low:y}, {other:y}, {low:y}",
                "vmovdqa {other:y}, ymmword ptr [{lines} + {first} + 32]",
                "vpandn {high:y}, {other:y}, {high:y}",
                "vpor {high:y}, {high:y}, {low:y}",
                "vptest {high:y}, {high:y}",
                "sete {found}",
                "vzeroupper",
                high = inout(xmm_reg) f64::from_bits(hash) => _,
                low = out(xmm_reg) _,
                other = out(xmm_reg) _,
                pattern = in(reg) walk.pattern(),
                SIX_BITS = const SIX_BITS,
                SPREAD = const SPREAD,
                row = in(reg) row,
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
/// # Safety
/// The CPU must have AVX2 and `lines` must point to `walk.lines()` lines that nobody else uses.
#[inline(always)]
pub(super) unsafe fn insert_one(lines: *mut Line, walk: &Walk, hash: u64) -> bool {
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
/// The CPU must have AVX2 and `line` must be ours to write.
#[inline(always)]
unsafe fn set_one(line: *mut Line, walk: &Walk, hash: u64) -> bool {
    let new: u8;
    // SAFETY: only the line is written, and the row lies inside the rows.
    unsafe {
        asm!(
            mask!(),
            "vmovdqa {other:y}, ymmword ptr [{line}]",
            "vpandn {missing:y}, {other:y}, {low:y}",
            "vpor {other:y}, {other:y}, {low:y}",
            "vmovdqa ymmword ptr [{line}], {other:y}",
            "vmovdqa {other:y}, ymmword ptr [{line} + 32]",
            "vpandn {low:y}, {other:y}, {high:y}",
            "vpor {other:y}, {other:y}, {high:y}",
            "vmovdqa ymmword ptr [{line} + 32], {other:y}",
            "vpor {missing:y}, {missing:y}, {low:y}",
            "vptest {missing:y}, {missing:y}",
            "setne {new}",
            "vzeroupper",
            high = inout(xmm_reg) f64::from_bits(hash) => _,
            low = out(xmm_reg) _,
            other = out(xmm_reg) _,
            missing = out(xmm_reg) _,
            pattern = in(reg) walk.pattern(),
            SIX_BITS = const SIX_BITS,
            SPREAD = const SPREAD,
            row = in(reg) hash.wrapping_mul(FIRST) >> 26 & (7 << 6),
            line = in(reg) line,
            new = out(reg_byte) new,
            options(nostack),
        );
    }
    new != 0
}

/// One bit for each word of the line that lacks a bit of the key: `AtomicLine::missing` for many threads at once.
///
/// The line is read as eight relaxed atomic loads would read it: in assembly, so that the compiler makes no assumptions about
/// words that other threads write, and not `pure`, so that it reads again each time.
///
/// # Safety
/// The CPU must have AVX2.
#[inline(always)]
pub(super) unsafe fn missing_words(line: &AtomicLine, walk: &Walk, hash: u64) -> u32 {
    let (low, high): (u32, u32);
    // SAFETY: a line is 64 bytes, aligned to 64, and the row lies inside the pattern; nothing is written. Aligned vector
    // loads do not tear 8-byte words on any CPU with AVX2.
    unsafe {
        asm!(
            mask!(),
            "vmovdqa {other:y}, ymmword ptr [{line}]",
            "vpandn {low:y}, {other:y}, {low:y}",
            "vmovdqa {other:y}, ymmword ptr [{line} + 32]",
            "vpandn {high:y}, {other:y}, {high:y}",
            "vpxor {other}, {other}, {other}",
            "vpcmpeqq {low:y}, {low:y}, {other:y}",
            "vpcmpeqq {high:y}, {high:y}, {other:y}",
            "vmovmskpd {covered_low:e}, {low:y}",
            "vmovmskpd {covered_high:e}, {high:y}",
            "vzeroupper",
            high = inout(xmm_reg) f64::from_bits(hash) => _,
            low = out(xmm_reg) _,
            other = out(xmm_reg) _,
            pattern = in(reg) walk.pattern(),
            SIX_BITS = const SIX_BITS,
            SPREAD = const SPREAD,
            row = in(reg) hash.wrapping_mul(FIRST) >> 26 & (7 << 6),
            line = in(reg) line,
            covered_low = out(reg) low,
            covered_high = out(reg) high,
            options(readonly, nostack),
        );
    }
    (low | high << 4) ^ 0xFF
}
