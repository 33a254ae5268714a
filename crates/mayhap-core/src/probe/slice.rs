//! The walk of `GrowingCuckoo`: where the *slice* of a hash is stored, and how to get the slice back from there.
//!
//! The slice is the top bits of `hash * PLACE`, as many as the table was planned with, kept left-aligned in 64 bits. A table stores
//! slices exactly, so two keys look alike if, and only if, their slices are equal: the false-positive rate is the number of keys
//! divided by the number of slices, at every size of the table. And a table can be rewritten at any size without the keys.
//!
//! A table has 2^level groups. The first bits of the slice are the number of the group, and the others are its *local part*. A group
//! has W windows of two neighbouring cells, in W + 1 cells. The first window is the high half of the product of the local part's top
//! 32 bits and W, so it never decreases with the local part: the local parts of one window are consecutive numbers, at most
//! `2^tag_bits` of them, and their low `tag_bits` bits distinguish them. That is the *tag*. The second window is at a distance after
//! the first, cyclically, that depends on the tag alone.
//!
//! A cell has, lowest first, a bit for the offset (which cell of its window), one for the choice (first or second window), the tag, and
//! the *payload*: bits of another kind of filter that move with the slice, such as a counter. `GrowingCuckoo` has none. A cell of
//! zeros is empty, so tag 0 is never stored at choice 0 and offset 0, whatever its payload.
//!
//! Files and other programs rely on this walk: it never changes.

use super::blocked::mul_high;
use core::hint::select_unpredictable;

/// An odd constant, different from those of the other kinds, so that a second filter over the same hashes has other false positives.
/// It also makes the first bits of the slice depend on all bits of the hash: keys that were distributed to several filters by their
/// first bits still spread over all groups.
pub(crate) const PLACE: u64 = 0x9FB2_1C65_1E98_DF25;

/// Spreads the distances of neighbouring tags.
pub(crate) const DISTANCE: u32 = 0x9E37_79B1;

/// Windows double after four steps: 10, 12, 14, 16, 20, ... (Doubling in eight steps saves 4 % of the memory on average and rewrites
/// each key twice as often; two steps take 9 % more memory.)
const STEPS_PER_DOUBLING: u32 = 4;

/// A group has at most 16 << this windows, so that an insert rewrites at most 16 Ki cells.
const MAX_GROUP_DOUBLINGS: u32 = 10;

/// Limits of the number of bits in a slice: a table of the smallest size has cells of at most 53 bits, which one load covers.
pub(crate) const MIN_SLICE_BITS: u32 = 16;
pub(crate) const MAX_SLICE_BITS: u32 = 54;

/// The most bits of a slice and a payload together: the cells of the smallest table then have 57, which one load just covers.
pub(crate) const MAX_SLICE_AND_PAYLOAD_BITS: u32 = 58;

/// The most bits of a payload.
pub(crate) const MAX_PAYLOAD_BITS: u32 = 8;

/// Cells up to this width are read two at a time.
pub(crate) const MAX_NARROW_BITS: u32 = 28;

/// A sweep begins at this load and ends at the next, in percent of the windows. In the last decade before the maximum, at 1 %, that is
/// 13.2 bits per key on average and 16.3 at most. (With a maximum of 10.7M keys, 82 to 85 took 13.7 and 16.9, 86 to 89 13.2 and 16.2.)
const SWEEP_BEGINS: u64 = 85;
const SWEEP_ENDS: u64 = 88;

/// The slice of a hash, before its length is known: [`SliceShape::slice`] cuts it.
#[inline(always)]
pub(crate) fn place(hash: u64) -> u64 {
    hash.wrapping_mul(PLACE)
}

/// The shape of a table: how slices map to cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SliceShape {
    /// The number of the shape, from the smallest table on.
    step: u32,
    slice_bits: u32,
    level: u32,
    /// Windows per group.
    windows: u32,
    tag_bits: u32,
    payload_bits: u32,
    cell_bits: u32,
    group_bytes: u64,
    /// For dividing by the number of windows.
    reciprocal: u64,
    /// Computed once, so that a lookup takes fewer instructions: see `locate` and `tag`.
    slice_shift: u32,
    group_shift: u32,
    local_mask: u32,
    tag_mask: u64,
}

/// The precision of the reciprocal: more than the bits of two numbers of windows.
const RECIPROCAL_BITS: u32 = 30;

/// Where a slice may be stored: its group, its tag and its two windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlicePlace {
    pub(crate) group: u64,
    pub(crate) tag: u64,
    pub(crate) windows: [u32; 2],
}

impl SliceShape {
    /// The shape number `step`, or `None` if it has so many cells that the tags would have no bits.
    pub(crate) fn new(slice_bits: u32, payload_bits: u32, step: u32) -> Option<Self> {
        assert!((MIN_SLICE_BITS..=MAX_SLICE_BITS).contains(&slice_bits));
        assert!(payload_bits <= MAX_PAYLOAD_BITS);
        assert!(slice_bits + payload_bits <= MAX_SLICE_AND_PAYLOAD_BITS);
        let (doublings, quarter) = (step / STEPS_PER_DOUBLING, step % STEPS_PER_DOUBLING);
        // 10 to 14 windows need the tags of 8, and 16 need one bit less.
        let place_bits = doublings + if quarter == 3 { 4 } else { 3 };
        let tag_bits = slice_bits
            .checked_sub(place_bits)
            .filter(|&bits| bits > 0)?;
        let windows = (10 + 2 * quarter) << doublings.min(MAX_GROUP_DOUBLINGS);
        let cell_bits = tag_bits + 2 + payload_bits;
        let level = doublings.saturating_sub(MAX_GROUP_DOUBLINGS);
        let product_bits = (slice_bits - level).min(32);
        Some(Self {
            step,
            slice_bits,
            level,
            windows,
            tag_bits,
            payload_bits,
            cell_bits,
            group_bytes: (u64::from(windows + 1) * u64::from(cell_bits)).div_ceil(8),
            reciprocal: (1 << (product_bits + RECIPROCAL_BITS)) / u64::from(windows),
            slice_shift: 64 - slice_bits,
            group_shift: 63 - level,
            local_mask: u32::MAX << (32 - product_bits),
            tag_mask: (1 << tag_bits) - 1,
        })
    }

    /// The smallest shape in which `keys` keys start no sweep, or the largest shape.
    pub(crate) fn for_keys(slice_bits: u32, payload_bits: u32, keys: u64) -> Self {
        let mut step = 0;
        while let Some(shape) = Self::new(slice_bits, payload_bits, step)
            && shape.sweep_begins() < keys
        {
            step += 1;
        }
        let fitting = Self::new(slice_bits, payload_bits, step);
        let largest = || Self::new(slice_bits, payload_bits, step - 1);
        fitting
            .or_else(largest)
            .expect("every slice has more bits than the smallest shape needs")
    }

    /// With more keys than this, the table grows to the next shape.
    pub(crate) fn sweep_begins(&self) -> u64 {
        self.all_windows() * SWEEP_BEGINS / 100
    }

    /// With so many keys, all groups have moved to the next shape.
    pub(crate) fn sweep_ends(&self) -> u64 {
        (self.all_windows() * SWEEP_ENDS / 100).max(self.sweep_begins() + 1)
    }

    /// Bytes of all groups, and 8 more, so that every cell can be read by one load.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.groups() * self.group_bytes + 8
    }

    /// The next larger shape.
    pub(crate) fn larger(&self) -> Option<Self> {
        Self::new(self.slice_bits, self.payload_bits, self.step + 1)
    }

    pub(crate) fn step(&self) -> u32 {
        self.step
    }

    #[inline(always)]
    pub(crate) fn slice_bits(&self) -> u32 {
        self.slice_bits
    }

    pub(crate) fn groups(&self) -> u64 {
        1 << self.level
    }

    /// Windows in all groups. A table is as full as its keys divided by this.
    pub(crate) fn all_windows(&self) -> u64 {
        u64::from(self.windows) << self.level
    }

    /// Windows per group.
    #[inline(always)]
    pub(crate) fn windows(&self) -> u32 {
        self.windows
    }

    #[inline(always)]
    pub(crate) fn cell_bits(&self) -> u32 {
        self.cell_bits
    }

    #[inline(always)]
    pub(crate) fn payload_bits(&self) -> u32 {
        self.payload_bits
    }

    /// The value of a cell, or of one without its payload.
    #[inline(always)]
    pub(crate) fn cell_value(&self, tag: u64, at: u32, payload: u64) -> u64 {
        payload << (self.tag_bits + 2) | tag << 2 | u64::from(at)
    }

    /// The tag in a cell.
    #[inline(always)]
    pub(crate) fn cell_tag(&self, cell: u64) -> u64 {
        cell >> 2 & self.tag_mask
    }

    /// The payload in a cell.
    #[inline(always)]
    pub(crate) fn cell_payload(&self, cell: u64) -> u64 {
        cell >> (self.tag_bits + 2)
    }

    /// Only vector kernels ask.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn tag_bits(&self) -> u32 {
        self.tag_bits
    }

    /// Groups are the first so many bits of a slice.
    #[inline(always)]
    pub(crate) fn level(&self) -> u32 {
        self.level
    }

    /// The first bit of a group.
    #[inline(always)]
    pub(crate) fn group_bit(&self, group: u64) -> u64 {
        group * self.group_bytes * 8
    }

    /// The first bit of a window.
    #[inline(always)]
    pub(crate) fn bit(&self, group: u64, window: u32) -> u64 {
        self.group_bit(group) + u64::from(window) * u64::from(self.cell_bits)
    }

    /// Bytes of one group.
    #[inline(always)]
    pub(crate) fn group_bytes(&self) -> u64 {
        self.group_bytes
    }

    /// The slice of [`place`]`(hash)`.
    #[inline(always)]
    pub(crate) fn slice(&self, placed: u64) -> u64 {
        placed >> self.slice_shift << self.slice_shift
    }

    /// The group of a slice, or of [`place`]`(hash)`.
    #[inline(always)]
    pub(crate) fn group(&self, slice: u64) -> u64 {
        // Two shifts, because one by 64 is not possible.
        slice >> 1 >> self.group_shift
    }

    /// The tag of a slice, or of [`place`]`(hash)`.
    #[inline(always)]
    pub(crate) fn tag(&self, slice: u64) -> u64 {
        slice >> self.slice_shift & self.tag_mask
    }

    /// Where a slice, or that of [`place`]`(hash)`, may be stored.
    #[inline(always)]
    pub(crate) fn locate(&self, slice: u64) -> SlicePlace {
        let tag = self.tag(slice);
        let local = (slice << self.level >> 32) & u64::from(self.local_mask);
        let first = ((local * u64::from(self.windows)) >> 32) as u32;
        SlicePlace {
            group: self.group(slice),
            tag,
            windows: [first, self.second(first, tag)],
        }
    }

    /// The second window of a tag whose first window is `first`.
    #[inline(always)]
    pub(crate) fn second(&self, first: u32, tag: u64) -> u32 {
        // A window that no insert writes may wrap.
        let sum = first.wrapping_add(self.distance(tag));
        // The one in range: the other is larger, by far if it has wrapped.
        sum.min(sum.wrapping_sub(self.windows))
    }

    /// The first window of a tag whose second window is `second`.
    #[inline(always)]
    pub(crate) fn first(&self, second: u32, tag: u64) -> u32 {
        let difference = second.wrapping_sub(self.distance(tag));
        difference.min(difference.wrapping_add(self.windows))
    }

    /// The windows of the slice in cell `number` of a group.
    #[inline(always)]
    pub(crate) fn windows_of(&self, cell: u64, number: u32) -> [u32; 2] {
        let tag = self.cell_tag(cell);
        // Wraps only in cells that no insert writes.
        let window = number.wrapping_sub(cell as u32 & 1);
        let is_first = cell & 2 == 0;
        let first = select_unpredictable(is_first, window, self.first(window, tag));
        let second = self.second(first, tag);
        [first, select_unpredictable(is_first, second, window)]
    }

    /// The slice in cell `number` of a group.
    #[inline(always)]
    pub(crate) fn slice_in(&self, group: u64, number: u32, cell: u64) -> u64 {
        let [first, _] = self.windows_of(cell, number);
        self.slice_at(group, first, self.cell_tag(cell))
    }

    /// The distance from the first window to the second: at least 1, below the number of windows.
    #[inline(always)]
    fn distance(&self, tag: u64) -> u32 {
        let mixed = (tag as u32).wrapping_mul(DISTANCE);
        1 + ((u64::from(mixed) * u64::from(self.windows - 1)) >> 32) as u32
    }

    /// The slice of a tag whose first window is `first`. If no slice has this tag there, the result is a slice of another window or
    /// group, which [`locate`](Self::locate) shows.
    #[inline(always)]
    pub(crate) fn slice_at(&self, group: u64, first: u32, tag: u64) -> u64 {
        let local_bits = self.slice_bits - self.level;
        let product_bits = local_bits.min(32);
        // The smallest local part in the window: `first << product_bits` divided by the number of windows, rounded up. The product is too
        // small by less than `first`, and a fraction is larger than that: at least 2^30 divided by the number of windows.
        let product = u64::from(first).wrapping_mul(self.reciprocal);
        let quotient = product.wrapping_add((1 << RECIPROCAL_BITS) - 1) >> RECIPROCAL_BITS;
        let start = quotient << (local_bits - product_bits);
        let local = start + (tag.wrapping_sub(start) & ((1 << self.tag_bits) - 1));
        (group << local_bits).wrapping_add(local) << (64 - self.slice_bits)
    }
}

/// The random number `step` of a slice, below `range`.
#[inline(always)]
pub(crate) fn random(slice: u64, step: u64, range: u64) -> u64 {
    let mixed = (slice ^ step.wrapping_mul(PLACE)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mul_high((mixed ^ mixed >> 32).wrapping_mul(PLACE), range)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::HashScheme;

    fn hashes(count: u64) -> impl Iterator<Item = u64> {
        (0..count).map(|key| HashScheme::Xxh3.hash(key.to_le_bytes()).to_u64())
    }

    #[test]
    fn a_place_gives_its_slice_back_in_every_shape() {
        for slice_bits in [16, 17, 26, 32, 33, 40, 54] {
            for step in 0..120 {
                let Some(shape) = SliceShape::new(slice_bits, 0, step) else {
                    break;
                };
                let edges = [0, u64::MAX, 1 << 63, u64::MAX >> 1];
                for slice in hashes(2000)
                    .chain(edges)
                    .map(|hash| shape.slice(place(hash)))
                {
                    let at = shape.locate(slice);
                    let [first, second] = at.windows;
                    assert!(first < shape.windows && second < shape.windows && first != second);
                    assert_eq!(shape.first(second, at.tag), first);
                    assert_eq!(shape.slice_at(at.group, first, at.tag), slice, "{shape:?}");
                }
            }
        }
    }

    #[test]
    fn no_two_slices_share_a_window_and_a_tag() {
        // All slices of 16 bits.
        for step in 0..48 {
            let Some(shape) = SliceShape::new(16, 0, step) else {
                return;
            };
            let mut seen = std::collections::BTreeSet::new();
            for slice in 0..1_u64 << 16 {
                let at = shape.locate(slice << 48);
                assert!(seen.insert((at.group, at.windows[0], at.tag)), "{shape:?}");
            }
        }
    }

    #[test]
    fn every_step_is_larger_and_a_table_of_the_smallest_size_is_tiny() {
        let mut before = 0;
        for step in 0..100 {
            let shape = SliceShape::new(54, 0, step);
            let Some(shape) = shape else { break };
            assert!(shape.all_windows() > before && shape.all_windows() <= before * 5 / 4 + 10);
            assert!(shape.windows <= 16 << 10 && shape.cell_bits <= 53);
            before = shape.all_windows();
        }
        assert_eq!(SliceShape::new(26, 0, 0).unwrap().group_bytes(), 35);
    }
}
