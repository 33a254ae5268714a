//! The kernel in NEON: a line, and a key's bits in it, are four registers each.
//!
//! NEON is part of every aarch64 target with an operating system, so the intrinsics are inlined anywhere, and single keys need no
//! assembly. The compiler also vectorises the batch loops of `portable.rs`. In batches this kernel saves a few instructions per
//! key; for single keys, the portable code has a branch for each word, and this has none. It is tested under emulation; its speed
//! has not been measured on a real CPU.
//!
//! Only for little-endian CPUs: the bytes of a register are numbered as in memory.

use super::batch::{self, LineOps};
use super::bloom_table::BloomTable;
use super::kernel::UsableKernel;
use super::multi_table;
use super::prefetch::Prefetch;
use super::ribbon::{GROUP, InBatch, ParityOps, RibbonTable};
use super::static_lookup::StaticLookup;
use crate::KeyHash;
use crate::probe::blocked::{BlockedWalk, Pattern, SPREAD};
use crate::store::atomic_line::AtomicLine;
use crate::store::{Line, Storage};
use core::arch::aarch64::{
    uint64x2_t, vaddv_u8, vand_u8, vandq_u8, vandq_u64, vbicq_u64, vcntq_u8, vcreate_s8,
    vcreate_u8, vdup_n_u8, vdupq_n_u8, vdupq_n_u64, veorq_u64, vget_high_u8, vget_low_u8,
    vgetq_lane_u64, vld1q_u8, vld1q_u64, vmovn_u16, vorrq_u64, vpadd_u8, vpaddq_u8, vpmaxq_u32,
    vqtbl1q_u8, vreinterpretq_s64_u64, vreinterpretq_u8_u64, vreinterpretq_u16_u32,
    vreinterpretq_u32_u64, vreinterpretq_u64_u8, vreinterpretq_u64_u32, vshl_u8, vshlq_u64,
    vst1q_u64, vtstq_u64, vuzp1q_u16, vuzp1q_u32,
};
use core::array;
use core::borrow::Borrow;

/// The eight words of a line.
type Words = [uint64x2_t; 4];

batch_functions!(Neon, "The CPU must have NEON");
ribbon_function!(Neon, "The CPU must have NEON");

impl ParityOps for Neon {
    #[inline(always)]
    unsafe fn parities(
        _kernel: UsableKernel,
        low: &[u64; GROUP],
        high: &[u64; GROUP],
        low_coefficients: u64,
        high_coefficients: u64,
    ) -> u32 {
        // SAFETY: the caller has checked the CPU.
        unsafe { parities(low, high, low_coefficients, high_coefficients) }
    }
}

/// NEON has no multiplication of 64-bit words and no loads from several addresses.
pub(super) use super::portable::find_each;

/// Whether one of several tables has all bits of a key.
///
/// # Safety
/// The CPU must have NEON, and there must be a table.
pub(super) unsafe fn any_contains<S: Storage>(
    tables: &[impl Borrow<BloomTable<S>>],
    hash: u64,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe { multi_table::contains_one::<Neon, _>(tables, hash) }
}

struct Neon;

impl LineOps for Neon {
    type Positions = Words;

    #[inline(always)]
    unsafe fn positions(hash: u64, _pattern: &Pattern) -> Words {
        // A constant, which stays in registers: the compiler loads `pattern.spread` again for every key.
        // SAFETY: the caller has checked the CPU; `SPREAD` is 64 bytes.
        unsafe {
            let bytes = vandq_u8(vreinterpretq_u8_u64(vdupq_n_u64(hash)), vdupq_n_u8(63));
            array::from_fn(|at| {
                let spread = vld1q_u8(SPREAD.as_ptr().add(16 * at));
                vreinterpretq_u64_u8(vqtbl1q_u8(bytes, spread))
            })
        }
    }

    #[inline(always)]
    unsafe fn covers(line: &Line, positions: Words, row: &Line) -> bool {
        // SAFETY: the caller has checked the CPU.
        unsafe { !any(missing(load(line), mask(positions, row))) }
    }

    #[inline(always)]
    unsafe fn covers_both(first: &Line, second: &Line, positions: Words, row: &Line) -> bool {
        // SAFETY: the caller has checked the CPU.
        unsafe {
            let (first, second) = (load(first), load(second));
            let both = array::from_fn(|at| vandq_u64(first[at], second[at]));
            !any(missing(both, mask(positions, row)))
        }
    }

    #[inline(always)]
    unsafe fn set(line: &mut Line, positions: Words, row: &Line) {
        // SAFETY: the caller has checked the CPU.
        unsafe { set(line, load(line), mask(positions, row)) }
    }
}

/// # Safety
/// The CPU must have NEON.
#[inline(always)]
unsafe fn load(line: &Line) -> Words {
    // SAFETY: a line is four times 16 bytes.
    unsafe { array::from_fn(|at| vld1q_u64(line.0.as_ptr().add(2 * at))) }
}

/// The key's bits: the ones of its row, shifted to its positions.
///
/// # Safety
/// The CPU must have NEON.
#[inline(always)]
unsafe fn mask(positions: Words, row: &Line) -> Words {
    // SAFETY: the caller has checked the CPU.
    unsafe {
        let row = load(row);
        array::from_fn(|at| vshlq_u64(row[at], vreinterpretq_s64_u64(positions[at])))
    }
}

/// The bits of the mask that the line lacks.
///
/// # Safety
/// The CPU must have NEON.
#[inline(always)]
unsafe fn missing(line: Words, mask: Words) -> Words {
    // SAFETY: the caller has checked the CPU.
    unsafe { array::from_fn(|at| vbicq_u64(mask[at], line[at])) }
}

/// Whether a bit is set.
///
/// # Safety
/// The CPU must have NEON.
#[inline(always)]
unsafe fn any([a, b, c, d]: Words) -> bool {
    // SAFETY: the caller has checked the CPU.
    unsafe {
        let bits = vreinterpretq_u32_u64(vorrq_u64(vorrq_u64(a, b), vorrq_u64(c, d)));
        // The larger ones of each two quarters of the register, in 64 bits.
        vgetq_lane_u64::<0>(vreinterpretq_u64_u32(vpmaxq_u32(bits, bits))) != 0
    }
}

/// Sets the bits of the mask in a line that holds `old`.
///
/// # Safety
/// The CPU must have NEON.
#[inline(always)]
unsafe fn set(line: &mut Line, old: Words, mask: Words) {
    let words = line.0.as_mut_ptr();
    for (at, (old, mask)) in old.into_iter().zip(mask).enumerate() {
        // SAFETY: a line is four times 16 bytes; the caller has checked the CPU.
        unsafe { vst1q_u64(words.add(2 * at), vorrq_u64(old, mask)) };
    }
}

/// Whether all bits of one key are set.
///
/// # Safety
/// The CPU must have NEON, and there must be `walk.lines()` lines.
#[inline(always)]
pub(super) unsafe fn contains_one(lines: &[Line], walk: BlockedWalk, hash: u64) -> bool {
    // SAFETY: the caller has checked the CPU; both lines lie inside the table.
    unsafe {
        let positions = Neon::positions(hash, walk.pattern());
        let first = lines.get_unchecked(walk.first(hash));
        if walk.two_lines() {
            let second = lines.get_unchecked(walk.second(hash));
            Neon::covers_both(first, second, positions, walk.row(hash))
        } else {
            Neon::covers(first, positions, walk.row(hash))
        }
    }
}

/// Sets the bits of one key; `true` if one of them was not set before.
///
/// # Safety
/// The CPU must have NEON, and there must be `walk.lines()` lines.
#[inline(always)]
pub(super) unsafe fn insert_one(lines: &mut [Line], walk: BlockedWalk, hash: u64) -> bool {
    // SAFETY: the caller has checked the CPU; both lines lie inside the table.
    unsafe {
        let mask = mask(Neon::positions(hash, walk.pattern()), walk.row(hash));
        let new = set_one(lines.get_unchecked_mut(walk.first(hash)), mask);
        if walk.two_lines() {
            set_one(lines.get_unchecked_mut(walk.second(hash)), mask) | new
        } else {
            new
        }
    }
}

/// # Safety
/// The CPU must have NEON.
#[inline(always)]
unsafe fn set_one(line: &mut Line, mask: Words) -> bool {
    // SAFETY: the caller has checked the CPU.
    unsafe {
        let old = load(line);
        set(line, old, mask);
        any(missing(old, mask))
    }
}

/// One bit for each word of the line that lacks a bit of the key, while other threads may write to the line.
///
/// The line is read as eight relaxed atomic loads would read it: in assembly, so that the compiler makes no assumptions about
/// words that other threads write, and not `pure`, so that it reads again each time.
///
/// # Safety
/// The CPU must have NEON.
#[inline(always)]
pub(super) unsafe fn missing_words(line: &AtomicLine, walk: &BlockedWalk, hash: u64) -> u32 {
    let (a, b, c, d): (uint64x2_t, uint64x2_t, uint64x2_t, uint64x2_t);
    // SAFETY: a line is 64 bytes; nothing is written. `ld1` reads each aligned 8-byte element atomically (Arm ARM, B2.2.1). The
    // caller has checked the CPU.
    unsafe {
        core::arch::asm!(
            "ld1 {{v0.2d, v1.2d, v2.2d, v3.2d}}, [{line}]",
            line = in(reg) line,
            out("v0") a,
            out("v1") b,
            out("v2") c,
            out("v3") d,
            options(readonly, nostack, preserves_flags),
        );
        let mask = mask(Neon::positions(hash, walk.pattern()), walk.row(hash));
        // All ones in each word that lacks a bit, then in each of eight bytes, then one bit of each.
        let [a, b, c, d] =
            missing([a, b, c, d], mask).map(|words| vreinterpretq_u32_u64(vtstq_u64(words, words)));
        let low = vreinterpretq_u16_u32(vuzp1q_u32(a, b));
        let high = vreinterpretq_u16_u32(vuzp1q_u32(c, d));
        let lacking = vmovn_u16(vuzp1q_u16(low, high));
        u32::from(vaddv_u8(vand_u8(
            lacking,
            vcreate_u8(0x8040_2010_0804_0201),
        )))
    }
}

/// Prefetches a line for writing: this core gets it exclusively, so that the write need not wait for other cores to give it up.
///
/// # Safety
/// None is needed: unsafe only because the other kernels' function is.
#[inline(always)]
pub(super) unsafe fn prefetch_to_write(line: *const AtomicLine) {
    // SAFETY: a prefetch faults on no address.
    unsafe {
        core::arch::asm!("prfm pstl1keep, [{}]", in(reg) line, options(nostack, preserves_flags, readonly));
    }
}

/// The parity of each column of a group: the halves of each column are xored, the bits of each byte are counted, and the counts of
/// each column are added.
///
/// # Safety
/// The CPU must have NEON.
#[inline(always)]
pub(super) unsafe fn parities(
    low: &[u64; GROUP],
    high: &[u64; GROUP],
    low_coefficients: u64,
    high_coefficients: u64,
) -> u32 {
    // SAFETY: both groups are four times 16 bytes; the caller has checked the CPU.
    unsafe {
        let here = vdupq_n_u64(low_coefficients);
        let there = vdupq_n_u64(high_coefficients);
        let [a, b, c, d]: [_; 4] = array::from_fn(|at| {
            let low = vandq_u64(vld1q_u64(low.as_ptr().add(2 * at)), here);
            let high = vandq_u64(vld1q_u64(high.as_ptr().add(2 * at)), there);
            vcntq_u8(vreinterpretq_u8_u64(veorq_u64(low, high)))
        });
        // Four sums for each column, then two, then one.
        let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        let sums = vpadd_u8(vget_low_u8(sums), vget_high_u8(sums));
        let odd = vand_u8(sums, vdup_n_u8(1));
        // Column `i` becomes bit `i`.
        u32::from(vaddv_u8(vshl_u8(odd, vcreate_s8(0x0706_0504_0302_0100))))
    }
}
