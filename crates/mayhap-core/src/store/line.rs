//! One cache line of bits.

/// 512 bits that are loaded from memory together. Bit `i` is bit `i % 64` of word `i / 64`.
#[repr(C, align(64))]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line(pub(crate) [u64; 8]);

impl Line {
    /// A line from little-endian words.
    pub(crate) fn from_le_bytes(bytes: &[u8; 64]) -> Self {
        let (words, _) = bytes.as_chunks();
        Self(core::array::from_fn(|word| u64::from_le_bytes(words[word])))
    }
}
