//! How wide the counters of a `CountingCuckoo` are.
//!
//! A counter is part of a cell, so every stored key pays for it. A key with more copies than its counter holds has the rest in an exact
//! map, where it takes about 40 bytes. So counters are as narrow as possible while few keys are in the map.

use crate::probe::slice::{MAX_PAYLOAD_BITS, MAX_SLICE_AND_PAYLOAD_BITS};

/// The widths of a counter. One of `b` bits holds 1 to 2^b copies.
pub(crate) const WIDTHS: [u32; 3] = [2, 4, MAX_PAYLOAD_BITS];

/// How many keys may have more copies than their counters hold. With one key in 64, the map takes less than 8 bits per key.
pub(crate) fn allowed_in_map(keys: u64) -> u64 {
    (keys / 64).max(64)
}

/// The number of copies that a counter holds.
pub(crate) fn max_copies(width: u32) -> u64 {
    1 << width
}

/// The narrowest width with which few enough of `keys` keys are in the map; `over` says for each width but the last how many would be.
pub(crate) fn narrowest(slice_bits: u32, keys: u64, over: [u64; 2]) -> u32 {
    let few = over
        .iter()
        .position(|&over| over <= allowed_in_map(keys))
        .unwrap_or(over.len());
    let fits = |width: &u32| slice_bits + width <= MAX_SLICE_AND_PAYLOAD_BITS;
    let narrowest = WIDTHS[..=few].iter().rev().find(|width| fits(width));
    // Every slice has room for the first.
    *narrowest.unwrap_or(&WIDTHS[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_as_narrow_as_the_counts_allow() {
        assert_eq!(narrowest(30, 1_000_000, [0, 0]), 2);
        assert_eq!(narrowest(30, 1_000_000, [15_625, 0]), 2);
        assert_eq!(narrowest(30, 1_000_000, [15_626, 0]), 4);
        assert_eq!(narrowest(30, 1_000_000, [500_000, 15_626]), 8);
        assert_eq!(narrowest(30, 100, [64, 0]), 2);
        assert_eq!(narrowest(54, 1000, [1000, 1000]), 4);
        assert_eq!(narrowest(50, 1000, [1000, 1000]), 8);
    }
}
