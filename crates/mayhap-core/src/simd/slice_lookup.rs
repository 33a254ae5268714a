//! A lookup of one slice with vectors: lane 0 computes the first window, lane 1 the second.
//!
//! Out of cache, the number of instructions limits how many lookups a core can overlap: both windows together take 45 instead of 70, and
//! three quarters of the time in cache. These functions are not inlined, because programs are built for plain x86-64. Inline assembly, as
//! for `Bloom` (`avx2.rs`), takes up to 5 % less time, and 10 % less in several tables: not enough for a hundred lines without types.
//!
//! All registers are of 128 bits, so there is no `vzeroupper`. The compiler must not see what the constants are: it would replace shifts
//! by what they are for any count, in up to three times as many instructions.

use super::cuckoo::LookupConstants;
use super::kernel::{Kernel, UsableKernel};
use crate::probe::slice::{DISTANCE, MAX_NARROW_BITS, SliceShape};
use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_add_epi64, _mm_and_si128, _mm_andnot_si128, _mm_cmpeq_epi64,
    _mm_cvtsi128_si64, _mm_extract_epi64, _mm_load_si128, _mm_min_epu32, _mm_mul_epu32,
    _mm_or_si128, _mm_set_epi64x, _mm_set1_epi64x, _mm_shuffle_epi32, _mm_sllv_epi64,
    _mm_srli_epi64, _mm_srlv_epi64, _mm_sub_epi32, _mm_sub_epi64, _mm_testz_si128, _mm_xor_si128,
};

/// One number for each lane.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Lanes([u64; 2]);

impl Lanes {
    #[target_feature(enable = "avx2")]
    #[inline]
    fn load(&self) -> __m128i {
        // SAFETY: 16 bytes, aligned to 16.
        unsafe { _mm_load_si128((&raw const self.0).cast()) }
    }
}

const fn both(value: u64) -> Lanes {
    Lanes([value; 2])
}

/// The constants of a shape. Invariants: its cells are narrow, it has at most 2^32 groups, and the CPU has AVX2.
#[derive(Clone, Copy)]
pub(super) struct SliceLookup {
    slice_mask: Lanes,
    tag_shift: Lanes,
    tag_mask: Lanes,
    level: Lanes,
    windows: Lanes,
    /// Spreads the tags; see `SliceShape::distance`.
    spread: Lanes,
    /// How many distances there are. Lane 0 has only 0, because the first window is at no distance from itself.
    distances: Lanes,
    /// The smallest distance and the number of windows, in the upper halves.
    min_distance: Lanes,
    upper_windows: Lanes,
    /// Not 64, which the emulator of `make test-avx512` takes for 0: if there is one group, it has 0 bits.
    group_shift: Lanes,
    group_bits: Lanes,
    cell_bits: Lanes,
    bit_in_byte: Lanes,
    /// What copies a tag into both cells of a window, and the rest of the cells' values.
    tags: Lanes,
    places: Lanes,
    /// Tag 0 in the first cell of the first window would be an empty cell, and is never stored there: 0 in lane 0, no tag in lane 1.
    not_in_first_cell: Lanes,
    ones: Lanes,
    compared: Lanes,
    tops: Lanes,
    /// Where the payload of each cell starts, where the cell ends, and which bits a payload has.
    first_payload: Lanes,
    second_payload: Lanes,
    first_top: Lanes,
    second_top: Lanes,
    payload: Lanes,
    one: Lanes,
}

impl SliceLookup {
    /// The constants of a shape; `None` if vectors cannot be used.
    pub(super) fn new(shape: &SliceShape, kernel: UsableKernel) -> Option<Self> {
        let has_avx2 = matches!(kernel.get(), Kernel::Avx2 | Kernel::Avx512);
        if !has_avx2 || shape.cell_bits() > MAX_NARROW_BITS || shape.level() > 32 {
            return None;
        }
        let cell_bits = shape.cell_bits();
        let constants = LookupConstants::new(cell_bits, shape.payload_bits());
        let windows = u64::from(shape.windows());
        let slice_shift = 64 - shape.slice_bits();
        let below_payload = constants.below_payload;
        Some(Self {
            slice_mask: both(u64::MAX << slice_shift),
            tag_shift: both(slice_shift.into()),
            tag_mask: both((1 << shape.tag_bits()) - 1),
            level: both(shape.level().into()),
            windows: both(windows),
            spread: both(DISTANCE.into()),
            distances: Lanes([0, windows - 1]),
            min_distance: Lanes([0, 1 << 32]),
            upper_windows: both(windows << 32),
            group_shift: both((64 - shape.level().max(1)).into()),
            group_bits: both(if shape.level() > 0 {
                shape.group_bytes() * 8
            } else {
                0
            }),
            cell_bits: both(cell_bits.into()),
            bit_in_byte: both(7),
            tags: both(constants.fingerprints),
            places: Lanes([constants.offsets, constants.offsets + constants.choices]),
            not_in_first_cell: Lanes([0, u64::MAX]),
            ones: both(constants.ones),
            compared: both(constants.compared),
            tops: both(constants.tops),
            first_payload: both(below_payload.into()),
            second_payload: both((below_payload + cell_bits).into()),
            first_top: both((cell_bits - 1).into()),
            second_top: both((2 * cell_bits - 1).into()),
            payload: both((1 << constants.payload_bits) - 1),
            one: both(1),
        })
    }

    /// Whether the slice of `place(hash)` is stored; `HAS_PAYLOAD` says whether cells have payloads.
    ///
    /// # Safety
    /// The bytes must be those of cells of this shape, with the group of the slice, and 8 more.
    #[inline(always)]
    pub(super) unsafe fn find<const HAS_PAYLOAD: bool>(&self, bytes: &[u8], placed: u64) -> bool {
        // SAFETY: the CPU has AVX2; the rest is the caller's promise.
        unsafe { find::<HAS_PAYLOAD>(self, bytes.as_ptr(), placed) }
    }

    /// Whether the slice of `place(hash)` is stored with one of these payloads, one bit each.
    ///
    /// # Safety
    /// As for [`find`](Self::find), and cells must have payloads.
    #[inline(always)]
    pub(super) unsafe fn find_live(&self, bytes: &[u8], placed: u64, live: u64) -> bool {
        // SAFETY: as in `find`.
        unsafe { find_live(self, bytes.as_ptr(), placed, live) }
    }

    /// The words at both windows of `place(hash)`, where they differ from cells that hold its slice, and 1 in every cell that may hold it.
    ///
    /// # Safety
    /// As for [`find`](Self::find), and the CPU must have AVX2.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn windows(&self, bytes: *const u8, placed: u64) -> [__m128i; 3] {
        let placed = _mm_set1_epi64x(placed.cast_signed());
        let slice = _mm_and_si128(placed, self.slice_mask.load());
        let tag = _mm_srlv_epi64(slice, self.tag_shift.load());
        let tag = _mm_and_si128(tag, self.tag_mask.load());
        // The first window is the upper half of a product, and so is the distance from it.
        let local = _mm_shuffle_epi32::<0xF5>(_mm_sllv_epi64(slice, self.level.load()));
        let first = _mm_mul_epu32(local, self.windows.load());
        let mixed = _mm_mul_epu32(tag, self.spread.load());
        let distance = _mm_mul_epu32(mixed, self.distances.load());
        let sum = _mm_add_epi32(first, _mm_add_epi32(distance, self.min_distance.load()));
        // The one in range: the other is larger, by far if it has wrapped.
        let window = _mm_min_epu32(sum, _mm_sub_epi32(sum, self.upper_windows.load()));
        let window = _mm_shuffle_epi32::<0xF5>(window);
        let group = _mm_srlv_epi64(slice, self.group_shift.load());
        let bit = _mm_add_epi64(
            _mm_mul_epu32(group, self.group_bits.load()),
            _mm_mul_epu32(window, self.cell_bits.load()),
        );
        let byte = _mm_srli_epi64::<3>(bit);
        // SAFETY: the caller's promise: the group is there, windows are in range, and 8 bytes follow the last group.
        let load = |byte: i64| unsafe { bytes.add(byte as usize).cast::<i64>().read_unaligned() };
        let words = [_mm_extract_epi64::<1>(byte), _mm_cvtsi128_si64(byte)].map(load);
        let words = _mm_set_epi64x(words[0], words[1]);
        let words = _mm_srlv_epi64(words, _mm_and_si128(bit, self.bit_in_byte.load()));
        let expected = _mm_add_epi64(_mm_mul_epu32(tag, self.tags.load()), self.places.load());
        let is_never = _mm_cmpeq_epi64(tag, self.not_in_first_cell.load());
        let ones = _mm_add_epi64(self.ones.load(), is_never);
        [words, _mm_xor_si128(words, expected), ones]
    }
}

/// # Safety
/// As for [`SliceLookup::find`], and the CPU must have AVX2.
#[target_feature(enable = "avx2")]
unsafe fn find<const HAS_PAYLOAD: bool>(
    lookup: &SliceLookup,
    bytes: *const u8,
    placed: u64,
) -> bool {
    // SAFETY: the caller's promise.
    let [_, mut differences, ones] = unsafe { lookup.windows(bytes, placed) };
    if HAS_PAYLOAD {
        differences = _mm_and_si128(differences, lookup.compared.load());
    }
    // Subtracting 1 from a cell without differences sets its top bit, which was 0 before.
    let same = _mm_andnot_si128(differences, _mm_sub_epi64(differences, ones));
    _mm_testz_si128(same, lookup.tops.load()) == 0
}

/// # Safety
/// As for [`SliceLookup::find_live`], and the CPU must have AVX2.
#[target_feature(enable = "avx2")]
unsafe fn find_live(lookup: &SliceLookup, bytes: *const u8, placed: u64, live: u64) -> bool {
    // SAFETY: the caller's promise.
    let [words, differences, ones] = unsafe { lookup.windows(bytes, placed) };
    let compared = _mm_and_si128(differences, lookup.compared.load());
    // With all top bits set, subtracting 1 from a cell without differences clears its top bit, and leaves the other cell alone.
    let tops = lookup.tops.load();
    let same = _mm_andnot_si128(_mm_sub_epi64(_mm_or_si128(compared, tops), ones), tops);
    let live = _mm_set1_epi64x(live.cast_signed());
    // Bit 0 of the result, for one cell of each window.
    let is_live = |below_payload: &Lanes, top: &Lanes| {
        let payload = _mm_srlv_epi64(words, below_payload.load());
        let payload = _mm_and_si128(payload, lookup.payload.load());
        let is_same = _mm_srlv_epi64(same, top.load());
        _mm_and_si128(is_same, _mm_srlv_epi64(live, payload))
    };
    let is_live = _mm_or_si128(
        is_live(&lookup.first_payload, &lookup.first_top),
        is_live(&lookup.second_payload, &lookup.second_top),
    );
    _mm_testz_si128(is_live, lookup.one.load()) == 0
}

#[cfg(test)]
mod tests {
    extern crate std;
    use crate::HashScheme;
    use crate::probe::slice::{MAX_NARROW_BITS, SliceShape};
    use crate::simd::{Kernel, SliceCells};
    use std::vec::Vec;

    fn random(number: u64) -> u64 {
        HashScheme::Xxh3.hash(number.to_le_bytes()).to_u64()
    }

    /// Slices at the edges, some with tag 0, and random ones.
    fn places(shape: &SliceShape) -> Vec<u64> {
        let to_tag = 64 - shape.slice_bits() + shape.tag_bits();
        let edges = [0, 1, u64::MAX, 1 << 63, u64::MAX >> 1];
        let pairs = (0..300).flat_map(|number| {
            let random = random(number);
            [random, random >> to_tag << to_tag]
        });
        pairs.chain(edges).collect()
    }

    /// The cells of `placed`, with the values that they have if they hold it with this payload.
    fn cells_of(
        shape: &SliceShape,
        cells: &SliceCells,
        placed: u64,
        payload: u64,
    ) -> Vec<(u64, u64)> {
        let bits = cells.bits(placed);
        let all = (0..4).map(|at| {
            let bit = bits[at as usize >> 1] + u64::from(at & 1) * u64::from(shape.cell_bits());
            (bit, shape.cell_value(shape.tag(placed), at, payload))
        });
        let is_empty = |at: usize| at == 0 && shape.tag(placed) == 0;
        let all = all.enumerate().filter(|&(at, _)| !is_empty(at));
        all.map(|(_, cell)| cell).collect()
    }

    /// Random cells, many of them empty, and half of the places in cells of theirs.
    fn filled(shape: SliceShape) -> SliceCells {
        let mut cells = SliceCells::zeroed(shape).unwrap();
        for (at, byte) in (0..).zip(cells.groups_mut(0..shape.groups())) {
            *byte = (random(at / 16) as u8 & 1) * random(at) as u8;
        }
        let max_payload = (1 << shape.payload_bits()) - 1;
        for (number, placed) in (0..).zip(places(&shape)).step_by(2) {
            let homes = cells_of(&shape, &cells, placed, random(number) & max_payload);
            let (bit, value) = homes[number as usize / 2 % homes.len()];
            cells.set(bit, value);
        }
        cells
    }

    #[test]
    fn vectors_give_the_answers_of_words_in_every_shape() {
        let (mut found, mut queries, mut found_live) = (0, 0, 0);
        for (slice_bits, payload_bits) in [16, 17, 24, 26, 30, 31, 32, 33, 34, 40, 46]
            .into_iter()
            .flat_map(|slice_bits| [0, 2, 4, 6, 8].map(|payload_bits| (slice_bits, payload_bits)))
        {
            let shapes = (0..70).map_while(|step| SliceShape::new(slice_bits, payload_bits, step));
            for shape in shapes.filter(|shape| {
                shape.cell_bits() <= MAX_NARROW_BITS && shape.size_bytes() < 1 << 20
            }) {
                let vectors = filled(shape);
                assert_eq!(vectors.vectors().is_some(), Kernel::Avx2.is_available());
                let mut words = vectors.clone();
                words.set_kernel(Kernel::Portable);
                assert!(words.vectors().is_none());
                for placed in places(&shape) {
                    let find = |cells: &SliceCells| match payload_bits {
                        0 => cells.find::<false>(placed),
                        _ => cells.find::<true>(placed),
                    };
                    let is_found = find(&words);
                    assert_eq!(find(&vectors), is_found, "{shape:?}, {placed:x}");
                    (found, queries) = (found + u64::from(is_found), queries + 1);
                    // Which payload counts is only defined for a slice in one cell.
                    let without_payload = |&(bit, value): &(u64, u64)| {
                        let bits = shape.cell_bits() - shape.payload_bits();
                        (vectors.cell(bit) ^ value) << (64 - bits) == 0
                    };
                    let homes = cells_of(&shape, &vectors, placed, 0);
                    if (1..=6).contains(&payload_bits)
                        && homes.iter().filter(|home| without_payload(home)).count() < 2
                    {
                        let live = random(placed);
                        let is_live = words.find_live(placed, live);
                        assert_eq!(
                            vectors.find_live(placed, live),
                            is_live,
                            "{shape:?}, {placed:x}"
                        );
                        found_live += u64::from(is_live);
                    }
                }
            }
        }
        assert!(
            found > queries / 3 && found < queries * 2 / 3,
            "{found} of {queries}"
        );
        assert!(found_live > queries / 10, "{found_live}");
    }
}
