//! Flat bits, the storage of `ClassicBloom`. Bit `i` is bit `i % 64` of word `i / 64`; unused bits of the last word stay zero.

use super::{Owned, Slab, Storage};
use crate::PlanError;

#[derive(Clone)]
pub(crate) struct Bits<S: Storage = Owned> {
    words: S::Buffer<u64>,
}

impl Bits {
    /// This many zero bits.
    pub(crate) fn zeroed(bits: u64) -> Result<Self, PlanError> {
        Ok(Self {
            words: Slab::zeroed(bits.div_ceil(64))?,
        })
    }

    /// Sets a bit; `true` if it was not set.
    #[inline(always)]
    pub(crate) fn set(&mut self, at: u64) -> bool {
        let word = &mut self.words[(at / 64) as usize];
        let bit = 1 << (at % 64);
        let clear = *word & bit == 0;
        *word |= bit;
        clear
    }

    /// Sets the bits at these positions. The words stay in registers, unlike with `set`, where a written word might be part of the
    /// fields.
    #[inline(always)]
    pub(crate) fn set_all(&mut self, positions: impl Iterator<Item = u64>) {
        let words = self.words_mut();
        for at in positions {
            words[(at / 64) as usize] |= 1 << (at % 64);
        }
    }

    /// Clears a bit.
    pub(crate) fn clear_bit(&mut self, at: u64) {
        self.words[(at / 64) as usize] &= !(1 << (at % 64));
    }

    /// Overwrites bytes from offset `start` on, lowest bit first; they must not extend past the end.
    pub(crate) fn overwrite(&mut self, start: usize, bytes: &[u8]) {
        let to_edge = (start.next_multiple_of(8) - start).min(bytes.len());
        let (head, rest) = bytes.split_at(to_edge);
        let (whole, tail) = rest.as_chunks::<8>();
        let first = (start + to_edge) / 8;
        for (word, bytes) in self.words[first..].iter_mut().zip(whole) {
            *word = u64::from_le_bytes(*bytes);
        }
        let tail_start = start + to_edge + 8 * whole.len();
        let edges = (start..).zip(head).chain((tail_start..).zip(tail));
        for (at, &byte) in edges {
            let (word, shift) = (&mut self.words[at / 8], 8 * (at % 8));
            *word = *word & !(0xff << shift) | u64::from(byte) << shift;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.words.clear();
    }

    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        let words = self.words.try_clone()?;
        Ok(Self { words })
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }
}

impl<S: Storage> Bits<S> {
    /// Bits from existing words.
    pub(crate) fn from_words(words: S::Buffer<u64>, bits: u64) -> Result<Self, PlanError> {
        if words.len() as u64 != bits.div_ceil(64) {
            return Err(PlanError::InvalidInteger {
                field: "words",
                value: words.len() as u64,
                accepted: "a word for every 64 bits",
            });
        }
        let past = bits % 64;
        match words.last() {
            Some(&last) if past != 0 && last >> past != 0 => Err(PlanError::InvalidInteger {
                field: "last word",
                value: last,
                accepted: "no bits past the last",
            }),
            _ => Ok(Self { words }),
        }
    }

    #[inline(always)]
    pub(crate) fn has(&self, at: u64) -> bool {
        self.words[(at / 64) as usize] >> (at % 64) & 1 == 1
    }

    /// The address of a bit's word, for prefetching.
    #[inline(always)]
    pub(crate) fn word_ptr(&self, at: u64) -> *const u64 {
        self.words.as_ptr().wrapping_add((at / 64) as usize)
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
}
