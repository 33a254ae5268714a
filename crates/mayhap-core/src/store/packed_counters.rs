//! Packed small counters, the storage of `CountingBloom`. Counter `i` is bits `i * b .. i * b + b` of the bytes, lowest bit
//! first. A counter of at most 8 bits spans at most two bytes, and one more byte at the end allows every counter to be read and
//! written as a pair.

use super::{clear, copied, zeroed};
use crate::PlanError;
use alloc::vec::Vec;

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PackedCounters {
    bytes: Vec<u8>,
    len: u64,
    bits: u64,
}

impl PackedCounters {
    /// This many zero counters of `bits` bits, 1 to 8, in the `size_bytes` bytes of the plan.
    pub(crate) fn zeroed(len: u64, bits: u8, size_bytes: u64) -> Result<Self, PlanError> {
        debug_assert!((1..=8).contains(&bits));
        Ok(Self {
            bytes: zeroed(size_bytes)?,
            len,
            bits: u64::from(bits),
        })
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The largest count, at which a counter saturates.
    #[inline(always)]
    pub(crate) fn max(&self) -> u8 {
        (u16::MAX >> (16 - self.bits)) as u8
    }

    /// The first byte of a counter, and the bit offset in it.
    #[inline(always)]
    fn locate(&self, at: u64) -> (usize, u64) {
        let bit = at * self.bits;
        ((bit / 8) as usize, bit % 8)
    }

    #[inline(always)]
    pub(crate) fn get(&self, at: u64) -> u8 {
        let (byte, shift) = self.locate(at);
        let pair = u16::from_le_bytes([self.bytes[byte], self.bytes[byte + 1]]);
        (pair >> shift) as u8 & self.max()
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, at: u64, count: u8) {
        debug_assert!(count <= self.max());
        let (byte, shift) = self.locate(at);
        let pair = u16::from_le_bytes([self.bytes[byte], self.bytes[byte + 1]]);
        let others = pair & !(u16::from(self.max()) << shift);
        let [low, high] = (others | u16::from(count) << shift).to_le_bytes();
        self.bytes[byte] = low;
        self.bytes[byte + 1] = high;
    }

    /// Increments a counter unless it is saturated; returns its previous value.
    #[inline(always)]
    pub(crate) fn increment(&mut self, at: u64) -> u8 {
        let count = self.get(at);
        if count < self.max() {
            self.set(at, count + 1);
        }
        count
    }

    /// Increments the counters at these positions, in order, unless saturated; `true` if one of them was zero.
    ///
    /// One by one with `increment`, the fields would be read again after every write, because the bytes might be part of them.
    #[inline(always)]
    pub(crate) fn increment_all(&mut self, positions: impl Iterator<Item = u64>) -> bool {
        let (bits, max) = (self.bits, self.max());
        let bytes = self.bytes.as_mut_slice();
        let mut zero = false;
        for at in positions {
            let bit = at * bits;
            let (byte, shift) = ((bit / 8) as usize, bit % 8);
            let pair = &mut bytes[byte..byte + 2];
            let counters = u16::from_le_bytes([pair[0], pair[1]]);
            let count = (counters >> shift) as u8 & max;
            zero |= count == 0;
            // Below the maximum, 1 more does not carry into the next counter.
            let counters = counters + (u16::from(count < max) << shift);
            pair.copy_from_slice(&counters.to_le_bytes());
        }
        zero
    }

    /// The address of a counter, for prefetching.
    #[inline(always)]
    pub(crate) fn byte_ptr(&self, at: u64) -> *const u8 {
        self.bytes.as_ptr().wrapping_add(self.locate(at).0)
    }

    /// All counts in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u8> {
        (0..self.len).map(|at| self.get(at))
    }

    /// Copies existing counters if the length is right and the bits past the last counter are zero.
    pub(crate) fn copy_from(&mut self, bytes: &[u8]) -> bool {
        let end = self.len * self.bits;
        let past = bytes.iter().skip((end / 8) as usize);
        let mut past = past.enumerate().map(|(at, byte)| match at {
            0 => byte >> (end % 8),
            _ => *byte,
        });
        let fits = bytes.len() == self.bytes.len() && past.all(|byte| byte == 0);
        if fits {
            self.bytes.copy_from_slice(bytes);
        }
        fits
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn clear(&mut self) {
        clear(&mut self.bytes);
    }

    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        let bytes = copied(&self.bytes)?;
        Ok(Self { bytes, ..*self })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn counters_of_every_width_are_independent_of_their_neighbours() {
        for bits in 1..=8_u8 {
            let len = 1000;
            let size_bytes = (len * u64::from(bits)).div_ceil(8) + 1;
            let mut counters = PackedCounters::zeroed(len, bits, size_bytes).unwrap();
            assert_eq!(u32::from(counters.max()), (1 << bits) - 1);
            let mut expected = [0_u8; 1000];
            for step in 0..20_000_u64 {
                let at = step * 7_919 % len;
                let count = (step * step % 251) as u8 & counters.max();
                counters.set(at, count);
                expected[at as usize] = count;
                if step % 977 == 0 {
                    assert!(counters.iter().eq(expected), "{bits} bits, step {step}");
                }
            }
            assert!(counters.iter().eq(expected));
        }
    }

    #[test]
    fn a_saturated_counter_stays_saturated() {
        let mut counters = PackedCounters::zeroed(3, 3, 3).unwrap();
        for before in [0, 1, 2, 3, 4, 5, 6, 7, 7, 7] {
            assert_eq!(counters.increment(1), before);
        }
        assert!(counters.iter().eq([0, 7, 0]));
    }
}
