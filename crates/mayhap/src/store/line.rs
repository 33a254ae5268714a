//! One cache line of bits.

use super::memory::filled;
use crate::PlanError;
use alloc::vec::Vec;

/// 512 bits that are fetched from memory together. Bit `i` is bit `i % 64` of word `i / 64`.
#[repr(C, align(64))]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line(pub(crate) [u64; 8]);

/// Empty lines.
pub(crate) fn zeroed_lines(count: u64) -> Result<Vec<Line>, PlanError> {
    filled(count, Line([0; 8]))
}
