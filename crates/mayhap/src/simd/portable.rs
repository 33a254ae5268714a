//! The walk in plain Rust: what every other kernel must agree with.

use super::batch::Vector;
use crate::probe::blocked::{self, Pattern};
use crate::store::Line;

/// Eight words, one after the other.
pub(super) struct Portable;

impl Vector for Portable {
    type Mask = Line;

    #[inline(always)]
    unsafe fn mask(hash: u64, row: &Line, _pattern: &Pattern) -> Line {
        blocked::mask(hash, row)
    }

    #[inline(always)]
    unsafe fn covers(line: &Line, mask: Line) -> bool {
        let missing = (0..8).fold(0, |missing, word| missing | (mask.0[word] & !line.0[word]));
        missing == 0
    }

    #[inline(always)]
    unsafe fn covers_both(first: &Line, second: &Line, mask: Line) -> bool {
        let missing = (0..8).fold(0, |missing, word| {
            missing | (mask.0[word] & !(first.0[word] & second.0[word]))
        });
        missing == 0
    }

    #[inline(always)]
    unsafe fn set(line: &mut Line, mask: Line) -> bool {
        let mut missing = 0;
        for (word, bits) in line.0.iter_mut().zip(mask.0) {
            missing |= bits & !*word;
            *word |= bits;
        }
        missing != 0
    }
}
