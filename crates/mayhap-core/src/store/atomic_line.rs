//! Lines of atomic words: the same bytes as `Line`, filled by many threads through `&self`.
//!
//! All accesses are Relaxed. Bits only change from 0 to 1, so coherence alone is enough: if `insert` returned, and that happens
//! before `contains`, then `contains` sees every bit, whichever thread set it. Reading before writing keeps a line shared between
//! cores if its bits are already set, which is the common case for repeated keys.

use super::Line;

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{
    AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{
    AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

/// A `Line` of atomic words.
#[repr(C, align(64))]
pub(crate) struct AtomicLine([AtomicU64; 8]);

impl AtomicLine {
    /// One bit for each word that lacks a bit of the mask.
    #[inline(always)]
    pub(crate) fn missing_words(&self, mask: &Line) -> u32 {
        (0..8).fold(0, |missing, word| {
            let lacks = self.0[word].load(Relaxed) & mask.0[word] != mask.0[word];
            missing | u32::from(lacks) << word
        })
    }

    /// Sets all bits that are set in `other`.
    #[inline(always)]
    pub(crate) fn union_with(&self, other: &Line) {
        for (word, bits) in self.0.iter().zip(other.0) {
            if word.load(Relaxed) & bits != bits {
                word.fetch_or(bits, Relaxed);
            }
        }
    }

    /// Sets a bit of a word; `true` if this call set it.
    #[inline(always)]
    pub(crate) fn set(&self, word: usize, bit: u64) -> bool {
        self.0[word].fetch_or(bit, Relaxed) & bit == 0
    }

    /// The number of bits that are set at the moment.
    pub(crate) fn set_bits(&self) -> u64 {
        let set = |word: &AtomicU64| u64::from(word.load(Relaxed).count_ones());
        self.0.iter().map(set).sum()
    }

    #[cfg(loom)]
    pub(crate) fn from_plain(line: &Line) -> Self {
        Self(line.0.map(AtomicU64::new))
    }

    /// Clears all bits.
    pub(crate) fn clear(&self) {
        for word in &self.0 {
            word.store(0, Relaxed);
        }
    }

    /// The bits at the moment, word by word.
    pub(crate) fn to_plain(&self) -> Line {
        Line(core::array::from_fn(|word| self.0[word].load(Relaxed)))
    }
}
