//! The walk in plain Rust: what every other kernel must agree with.

use super::batch::LineOps;
use crate::probe::blocked::{self, BlockedWalk, Pattern};
use crate::store::Line;

/// Eight words, one after the other.
pub(super) struct Portable;

impl LineOps for Portable {
    /// The hash itself: a word's position is cut out of it when it is needed.
    type Positions = u64;

    #[inline(always)]
    unsafe fn positions(hash: u64, _pattern: &Pattern) -> u64 {
        hash
    }

    #[inline(always)]
    unsafe fn covers(line: &Line, hash: u64, row: &Line) -> bool {
        let mask = blocked::mask(hash, row);
        (0..8).fold(0, |missing, word| missing | (mask.0[word] & !line.0[word])) == 0
    }

    #[inline(always)]
    unsafe fn covers_both(first: &Line, second: &Line, hash: u64, row: &Line) -> bool {
        let mask = blocked::mask(hash, row);
        (0..8).fold(0, |missing, word| {
            missing | (mask.0[word] & !(first.0[word] & second.0[word]))
        }) == 0
    }

    #[inline(always)]
    unsafe fn set(line: &mut Line, hash: u64, row: &Line) {
        set(line, &blocked::mask(hash, row));
    }
}

/// Whether one key's bits are all set.
pub(super) fn contains_one(lines: &[Line], walk: &BlockedWalk, hash: u64) -> bool {
    let mask = walk.mask(hash);
    let covers = |line: &Line| {
        line.0
            .iter()
            .zip(mask.0)
            .all(|(word, bits)| word & bits == bits)
    };
    covers(&lines[walk.first(hash)]) && (!walk.two_lines() || covers(&lines[walk.second(hash)]))
}

/// Sets one key's bits; `true` when one of them was not set before.
pub(super) fn insert_one(lines: &mut [Line], walk: &BlockedWalk, hash: u64) -> bool {
    let mask = walk.mask(hash);
    let new = set(&mut lines[walk.first(hash)], &mask);
    walk.two_lines() && set(&mut lines[walk.second(hash)], &mask) || new
}

#[inline(always)]
fn set(line: &mut Line, mask: &Line) -> bool {
    let mut missing = 0;
    for (word, bits) in line.0.iter_mut().zip(mask.0) {
        missing |= bits & !*word;
        *word |= bits;
    }
    missing != 0
}
