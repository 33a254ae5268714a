//! One cache line of bits.

use super::memory::filled;
use crate::PlanError;
use alloc::vec::Vec;

/// 512 bits that are fetched from memory together. Bit `i` is bit `i % 64` of word `i / 64`.
#[repr(C, align(64))]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line(pub(crate) [u64; 8]);

impl Line {
    /// The words, each with its lowest byte first.
    pub(crate) fn from_le_bytes(bytes: &[u8; 64]) -> Self {
        let (words, _) = bytes.as_chunks();
        Self(core::array::from_fn(|word| u64::from_le_bytes(words[word])))
    }
}

/// Empty lines.
pub(crate) fn zeroed_lines(count: u64) -> Result<Vec<Line>, PlanError> {
    filled(count, Line([0; 8]))
}
