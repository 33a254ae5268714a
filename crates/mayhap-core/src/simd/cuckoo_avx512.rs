//! Batch lookups of a `Cuckoo` and of filters with slices in AVX-512 (F and BW), eight keys at once. The arithmetic is that of `cuckoo_avx2.rs`.

use super::cuckoo_batch::{
    self, CellWalk, CuckooAnswer, CuckooLookup, CuckooOps, CuckooProbes, LocateOps, SliceWalk,
    WindowStarts,
};
use crate::KeyHash;
use crate::probe::blocked::FIRST;
use crate::probe::cuckoo::{CuckooWindows, DISTANCE, PLACE};
use crate::probe::slice;
use core::arch::x86_64::{
    __m512i, _mm_cvtsi64_si128, _mm512_add_epi64, _mm512_and_si512, _mm512_andnot_si512,
    _mm512_cmpeq_epi64_mask, _mm512_mask_or_epi64, _mm512_maskz_add_epi64, _mm512_min_epu64,
    _mm512_mul_epu32, _mm512_or_si512, _mm512_set_epi64, _mm512_set1_epi64, _mm512_shuffle_epi8,
    _mm512_sll_epi64, _mm512_slli_epi64, _mm512_srl_epi64, _mm512_srli_epi64, _mm512_srlv_epi64,
    _mm512_sub_epi64, _mm512_test_epi64_mask, _mm512_xor_si512,
};

cuckoo_function!(
    Avx512,
    "The CPU must have AVX-512 F and BW",
    #[target_feature(enable = "avx512f,avx512bw")]
);

pub(super) struct Avx512;

impl LocateOps<CuckooWindows> for Avx512 {
    #[inline(always)]
    unsafe fn locate(
        table: &CuckooLookup<'_, CuckooWindows>,
        hashes: &[KeyHash],
    ) -> CuckooProbes<__m512i> {
        // SAFETY: the caller has checked the CPU, and there are eight hashes.
        unsafe {
            let hash = words(hashes);
            let product = multiply(fold(hash), PLACE);
            let count = broadcast(table.walk.count);
            let one = broadcast(1);
            let first = multiply_high(product, count);
            let fingerprints = broadcast(table.walk.fingerprints);
            let fingerprint =
                _mm512_add_epi64(multiply_high(swap_bytes(product), fingerprints), one);
            let mixed = multiply(fold(multiply_short(fingerprint, FIRST)), DISTANCE);
            let distance = multiply_high(mixed, broadcast(table.walk.distances));
            let sum = _mm512_add_epi64(_mm512_add_epi64(first, distance), one);
            let second = _mm512_min_epu64(sum, _mm512_sub_epi64(sum, count));
            let cell_bits = broadcast(u64::from(table.cell_bits));
            CuckooProbes {
                first: starts(_mm512_mul_epu32(first, cell_bits)),
                second: starts(_mm512_mul_epu32(second, cell_bits)),
                expected: _mm512_add_epi64(
                    _mm512_mul_epu32(fingerprint, broadcast(table.constants.fingerprints)),
                    broadcast(table.constants.offsets),
                ),
            }
        }
    }
}

impl<W: SliceWalk> LocateOps<W> for Avx512 {
    #[inline(always)]
    unsafe fn locate(table: &CuckooLookup<'_, W>, hashes: &[KeyHash]) -> CuckooProbes<__m512i> {
        // SAFETY: the caller has checked the CPU, and there are eight hashes.
        unsafe {
            let shape = table.walk.shape();
            let shift = |bits: u32| _mm_cvtsi64_si128(i64::from(bits));
            let after = shift(64 - shape.slice_bits());
            let level = shift(shape.level());
            let number = _mm512_srl_epi64(multiply(words(hashes), slice::PLACE), after);
            let slice = _mm512_sll_epi64(number, after);
            let tag = _mm512_and_si512(number, broadcast((1 << shape.tag_bits()) - 1));
            // Two shifts: the emulator of `make test-avx512` does not clear words that are shifted by 64.
            let group = _mm512_srli_epi64::<1>(slice);
            let group = _mm512_srl_epi64(group, shift(63 - shape.level()));
            let local = _mm512_srli_epi64::<32>(_mm512_sll_epi64(slice, level));
            let count = broadcast(u64::from(shape.windows()));
            let one = broadcast(1);
            let first = _mm512_srli_epi64::<32>(_mm512_mul_epu32(local, count));
            let mixed = _mm512_mul_epu32(tag, broadcast(u64::from(slice::DISTANCE)));
            let distances = _mm512_sub_epi64(count, one);
            let distance = _mm512_srli_epi64::<32>(_mm512_mul_epu32(mixed, distances));
            let sum = _mm512_add_epi64(_mm512_add_epi64(first, distance), one);
            let second = _mm512_min_epu64(sum, _mm512_sub_epi64(sum, count));
            let cell_bits = broadcast(u64::from(table.cell_bits));
            let start = _mm512_mul_epu32(group, broadcast(8 * shape.group_bytes()));
            CuckooProbes {
                first: starts(_mm512_add_epi64(start, _mm512_mul_epu32(first, cell_bits))),
                second: starts(_mm512_add_epi64(start, _mm512_mul_epu32(second, cell_bits))),
                expected: _mm512_add_epi64(
                    _mm512_mul_epu32(tag, broadcast(table.constants.fingerprints)),
                    broadcast(table.constants.offsets),
                ),
            }
        }
    }
}

impl CuckooOps for Avx512 {
    type Words = __m512i;

    #[inline(always)]
    unsafe fn check<W: CellWalk>(
        table: &CuckooLookup<'_, W>,
        probes: &CuckooProbes<__m512i>,
        found: &mut [bool],
    ) {
        // SAFETY: the caller has checked the CPU, and there are eight places.
        unsafe {
            let equal = if W::SELECTS_PAYLOADS {
                // Bit 0 is for 0, which is no payload.
                let accepted = broadcast(table.walk.accepted() << 1);
                let accepted = _mm512_srlv_epi64(accepted, payloads(table, probes));
                _mm512_test_epi64_mask(accepted, broadcast(1))
            } else {
                let (first, second, _) = differences(table, probes);
                let ones = broadcast(table.constants.ones);
                // As in `LookupConstants::any_equal`.
                let first = _mm512_andnot_si512(first, _mm512_sub_epi64(first, ones));
                let second = _mm512_andnot_si512(second, _mm512_sub_epi64(second, ones));
                _mm512_test_epi64_mask(
                    _mm512_or_si512(first, second),
                    broadcast(table.constants.tops),
                )
            };
            // Bit `i` to byte `i`, four at a time.
            let spread = |bits: u32| bits.wrapping_mul(0x0020_4081) & 0x0101_0101;
            let answers: *mut u32 = found.as_mut_ptr().cast();
            answers.write_unaligned(spread(u32::from(equal & 15)));
            answers
                .add(1)
                .write_unaligned(spread(u32::from(equal >> 4)));
        }
    }

    #[inline(always)]
    unsafe fn payloads<W: CellWalk>(
        table: &CuckooLookup<'_, W>,
        probes: &CuckooProbes<__m512i>,
        payloads: &mut [u16],
    ) {
        // SAFETY: the caller has checked the CPU, and there are eight places.
        unsafe {
            let found = self::payloads(table, probes);
            let found: *const u64 = (&raw const found).cast();
            for (at, payload) in payloads.iter_mut().enumerate().take(8) {
                *payload = *found.add(at) as u16;
            }
        }
    }
}

/// The payload of the cell of each key, plus 1; 0 if there is none.
///
/// # Safety
/// As for `CuckooOps::payloads`.
#[inline(always)]
unsafe fn payloads<W: CellWalk>(
    table: &CuckooLookup<'_, W>,
    probes: &CuckooProbes<__m512i>,
) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe {
        let constants = &table.constants;
        let shift = |bits: u32| _mm_cvtsi64_si128(i64::from(bits));
        let (first, second, [in_first, in_second]) = differences(table, probes);
        let (tops, ones) = (broadcast(constants.tops), broadcast(constants.ones));
        // As in `LookupConstants::payload`.
        let same = |differences: __m512i| {
            let tested = _mm512_sub_epi64(_mm512_or_si512(differences, tops), ones);
            _mm512_andnot_si512(tested, tops)
        };
        let widened = |tops: __m512i| {
            let lowest = _mm512_srl_epi64(tops, shift(constants.payload_bits - 1));
            _mm512_sub_epi64(_mm512_slli_epi64::<1>(tops), lowest)
        };
        let (first, second) = (same(first), same(second));
        let payload = _mm512_or_si512(
            _mm512_and_si512(in_first, widened(first)),
            _mm512_and_si512(in_second, widened(second)),
        );
        let below = constants.below_payload;
        let payload = _mm512_or_si512(
            _mm512_srl_epi64(payload, shift(below)),
            _mm512_srl_epi64(payload, shift(2 * below + constants.payload_bits)),
        );
        let payload = _mm512_and_si512(payload, broadcast((1 << constants.payload_bits) - 1));
        let is_found = _mm512_test_epi64_mask(_mm512_or_si512(first, second), tops);
        _mm512_maskz_add_epi64(is_found, payload, broadcast(1))
    }
}

/// Where the cells of both windows differ from their values, and the windows.
///
/// # Safety
/// As for `CuckooOps::check`.
#[inline(always)]
unsafe fn differences<W: CellWalk>(
    table: &CuckooLookup<'_, W>,
    probes: &CuckooProbes<__m512i>,
) -> (__m512i, __m512i, [__m512i; 2]) {
    // SAFETY: the caller's promise.
    unsafe {
        let expected = probes.expected;
        let in_second = _mm512_add_epi64(expected, broadcast(table.constants.choices));
        let read = [
            windows(table, &probes.first),
            windows(table, &probes.second),
        ];
        let mut first = _mm512_xor_si512(read[0], expected);
        if W::HAS_ZERO {
            let offsets = broadcast(table.constants.offsets);
            let is_zero = _mm512_cmpeq_epi64_mask(expected, offsets);
            first = _mm512_mask_or_epi64(first, is_zero, first, broadcast(1));
        }
        let mut second = _mm512_xor_si512(read[1], in_second);
        if W::HAS_PAYLOAD {
            let compared = broadcast(table.constants.compared);
            first = _mm512_and_si512(first, compared);
            second = _mm512_and_si512(second, compared);
        }
        (first, second, read)
    }
}

/// The hashes of a round.
///
/// # Safety
/// The CPU must have AVX-512 F, and there must be eight hashes.
#[inline(always)]
unsafe fn words(hashes: &[KeyHash]) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe {
        let hash = |at: usize| hashes.get_unchecked(at).to_u64().cast_signed();
        _mm512_set_epi64(
            hash(7),
            hash(6),
            hash(5),
            hash(4),
            hash(3),
            hash(2),
            hash(1),
            hash(0),
        )
    }
}

/// Where windows start, from their first bits.
///
/// # Safety
/// The CPU must have AVX-512 F.
#[inline(always)]
unsafe fn starts(bits: __m512i) -> WindowStarts<__m512i> {
    // SAFETY: the caller's promise.
    unsafe {
        WindowStarts {
            byte: _mm512_srli_epi64::<3>(bits),
            shift: _mm512_and_si512(bits, broadcast(7)),
        }
    }
}

/// The two cells of each window; the bits above them are arbitrary.
///
/// Eight loads, not a gather: that is slow on AMD and on Intel CPUs whose microcode mitigates the leak of gathered data, and the
/// emulator of `make test-avx512` rejects gathers whose indices are in the upper sixteen registers.
///
/// # Safety
/// The CPU must have AVX-512 F, and there must be windows there.
#[inline(always)]
unsafe fn windows<W>(table: &CuckooLookup<'_, W>, starts: &WindowStarts<__m512i>) -> __m512i {
    // SAFETY: the caller's promise; a vector is eight words.
    unsafe {
        let at: *const u64 = (&raw const starts.byte).cast();
        let words = _mm512_set_epi64(
            table.load(*at.add(7)).cast_signed(),
            table.load(*at.add(6)).cast_signed(),
            table.load(*at.add(5)).cast_signed(),
            table.load(*at.add(4)).cast_signed(),
            table.load(*at.add(3)).cast_signed(),
            table.load(*at.add(2)).cast_signed(),
            table.load(*at.add(1)).cast_signed(),
            table.load(*at).cast_signed(),
        );
        _mm512_srlv_epi64(words, starts.shift)
    }
}

/// `word ^ word >> 32`.
///
/// # Safety
/// The CPU must have AVX-512 F and BW. The same for all functions below.
#[inline(always)]
unsafe fn fold(words: __m512i) -> __m512i {
    // SAFETY: the caller has checked the CPU.
    unsafe { _mm512_xor_si512(words, _mm512_srli_epi64::<32>(words)) }
}

/// The low halves of the products.
#[inline(always)]
unsafe fn multiply(words: __m512i, factor: u64) -> __m512i {
    // SAFETY: the caller has checked the CPU.
    unsafe {
        let (low, high) = (broadcast(factor), broadcast(factor >> 32));
        let crossed = _mm512_add_epi64(
            _mm512_mul_epu32(_mm512_srli_epi64::<32>(words), low),
            _mm512_mul_epu32(words, high),
        );
        _mm512_add_epi64(
            _mm512_mul_epu32(words, low),
            _mm512_slli_epi64::<32>(crossed),
        )
    }
}

/// The same for words below 2^32.
#[inline(always)]
unsafe fn multiply_short(words: __m512i, factor: u64) -> __m512i {
    // SAFETY: the caller has checked the CPU.
    unsafe {
        let high = _mm512_mul_epu32(words, broadcast(factor >> 32));
        _mm512_add_epi64(
            _mm512_mul_epu32(words, broadcast(factor)),
            _mm512_slli_epi64::<32>(high),
        )
    }
}

/// The high halves of the products with a number below 2^32.
#[inline(always)]
unsafe fn multiply_high(words: __m512i, factor: __m512i) -> __m512i {
    // SAFETY: the caller has checked the CPU.
    unsafe {
        let low = _mm512_srli_epi64::<32>(_mm512_mul_epu32(words, factor));
        let high = _mm512_mul_epu32(_mm512_srli_epi64::<32>(words), factor);
        _mm512_srli_epi64::<32>(_mm512_add_epi64(low, high))
    }
}

#[inline(always)]
unsafe fn swap_bytes(words: __m512i) -> __m512i {
    // SAFETY: the caller has checked the CPU.
    unsafe {
        let (low, high) = (0x0001_0203_0405_0607, 0x0809_0A0B_0C0D_0E0F);
        let order = _mm512_set_epi64(high, low, high, low, high, low, high, low);
        _mm512_shuffle_epi8(words, order)
    }
}

#[inline(always)]
unsafe fn broadcast(word: u64) -> __m512i {
    // SAFETY: the caller has checked the CPU.
    unsafe { _mm512_set1_epi64(word.cast_signed()) }
}
