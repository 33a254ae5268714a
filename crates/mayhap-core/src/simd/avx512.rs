//! The kernel in AVX-512 (F and BW): a line, and a key's bits in it, are one register each. Single keys use `avx2.rs`.

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
use crate::store::{Line, Storage};
use core::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_andnot_si512, _mm512_cvtepi64_epi32, _mm512_load_si512,
    _mm512_loadu_si512, _mm512_or_si512, _mm512_set1_epi64, _mm512_shuffle_epi8, _mm512_sllv_epi64,
    _mm512_srli_epi64, _mm512_srlv_epi64, _mm512_store_si512, _mm512_test_epi64_mask,
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

pub(super) use super::cuckoo_avx512::find_each;

pub(super) struct Avx512;

impl LineOps for Avx512 {
    type Positions = __m512i;

    #[inline(always)]
    unsafe fn positions(hash: u64, pattern: &Pattern) -> __m512i {
        // SAFETY: the caller has checked the CPU; `spread` is 64 bytes, aligned to 64.
        unsafe {
            let bytes = _mm512_set1_epi64(hash.cast_signed());
            let spread =
                _mm512_shuffle_epi8(bytes, _mm512_load_si512(pattern.spread.as_ptr().cast()));
            // After the shuffle, so that the compiler sees that no shift is by 64 or more.
            _mm512_and_si512(spread, _mm512_set1_epi64(63))
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
            let bits = _mm512_or_si512(load(line), _mm512_sllv_epi64(load(row), positions));
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
        let missing = _mm512_andnot_si512(_mm512_srlv_epi64(line, positions), load(row));
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
