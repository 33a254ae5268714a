//! A layer of RedisBloom's Bloom filter: its stored numbers, and its bits.

use super::bloom::{OPTION_64_BIT, OPTION_CAPACITY_IS_BITS, OPTION_NO_ROUNDING};
use super::fields::DecodePosition;
use crate::{DecodeError, bits};
use mayhap_core::plan::classic::{ClassicPlan, MAX_PROBES};
use mayhap_core::{ClassicBloom, HashPair, HashScheme, PlanError, Scheme, zeroed_bytes};
use std::borrow::Cow;

/// ln 2 and its square, with RedisBloom's digits.
#[expect(clippy::approx_constant, reason = "not ours")]
const LN_2: f64 = 0.693_147_180_559_945;
const LN_2_SQUARED: f64 = 0.480_453_013_918_201;

/// The numbers of a layer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Shape {
    pub(super) bytes: u64,
    pub(super) bits: u64,
    pub(super) error: f64,
    pub(super) bits_per_entry: f64,
    pub(super) hashes: u32,
    pub(super) capacity: u64,
    /// Not 0 in old layouts: positions are taken modulo two to this power.
    pub(super) n2: u8,
}

impl Shape {
    /// The shape of a new layer for that many keys at a rate, with the options of the filter.
    pub(super) fn planned(capacity: u64, error: f64, options: u32) -> Result<Self, PlanError> {
        if capacity == 0 {
            return Err(PlanError::InvalidInteger {
                field: "capacity",
                value: 0,
                accepted: "1 or more",
            });
        }
        if !(error > 0.0 && error < 1.0) {
            return Err(PlanError::InvalidNumber {
                field: "error",
                value: error,
                accepted: "a number above 0 and below 1, such as 0.01",
            });
        }
        let bits_per_entry = (error.ln() / LN_2_SQUARED).abs();
        let wanted = capacity as f64 * bits_per_entry;
        let (bits, capacity, n2) = if options & OPTION_CAPACITY_IS_BITS != 0 {
            let bits = power_of_two(capacity)?;
            (bits, (bits as f64 / bits_per_entry) as u64, capacity as u8)
        } else if options & OPTION_NO_ROUNDING != 0 {
            ((wanted as u64).max(1), capacity, 0)
        } else {
            let n2 = if wanted < 1.0 {
                0
            } else {
                u64::from((wanted as u64).ilog2()) + 1
            };
            let bits = power_of_two(n2)?;
            // The bits that rounding added are used for more keys.
            let more = ((bits as f64 - wanted) as u64) as f64 / bits_per_entry;
            (bits, capacity.saturating_add(more as u64), n2 as u8)
        };
        let bits = bits
            .checked_next_multiple_of(64)
            .filter(|&bits| bits <= 1 << 62);
        let bits = bits.ok_or(PlanError::InvalidInteger {
            field: "capacity",
            value: capacity,
            accepted: "at most 2^62 bits: use fewer keys or a higher rate",
        })?;
        Ok(Self {
            bytes: bits / 8,
            bits,
            error,
            bits_per_entry,
            hashes: hashes(bits_per_entry),
            capacity,
            n2,
        })
    }

    /// Rejects what RedisBloom rejects, and filters without bits or probes.
    pub(super) fn check(&self, at: &impl DecodePosition) -> Result<(), DecodeError> {
        let wrong = |field, value: u64, accepted| Err(at.value(field, i128::from(value), accepted));
        if !(self.error > 0.0 && self.error < 1.0) {
            let error = self.error.clamp(-1e30, 1e30) as i128;
            return Err(at.value("error of a layer", error, "above 0 and below 1"));
        }
        if self.n2 > 63 {
            return wrong("n2", u64::from(self.n2), "at most 63");
        }
        if self.bits == 0 || self.bytes.checked_mul(8) != Some(self.bits) {
            return wrong("bits", self.bits, "eight for each byte, and not none");
        }
        if self.n2 != 0 && self.bits < 1 << self.n2 {
            return wrong("bits", self.bits, "2^n2 or more");
        }
        if self.hashes == 0
            || self.hashes > MAX_PROBES
            || self.hashes != hashes(self.bits_per_entry)
        {
            let accepted = "ln 2 times the bits per entry, rounded up; 1 to 4096";
            return wrong("hashes", u64::from(self.hashes), accepted);
        }
        Ok(())
    }

    /// Old filters use 32-bit hashes, which do not reach all bits.
    pub(super) fn scheme(&self, options: u32) -> Scheme {
        if options & OPTION_64_BIT != 0 || self.n2 > 31 {
            Scheme::RedisBloom
        } else {
            Scheme::RedisBloom32
        }
    }

    /// Whether the bits of both have the same meaning; otherwise the name of what differs.
    pub(super) fn same_as(&self, other: &Self) -> Result<(), &'static str> {
        if self.error.to_bits() != other.error.to_bits() {
            return Err("error rate");
        }
        if self.capacity != other.capacity {
            return Err("capacity");
        }
        if (self.bits, self.hashes, self.n2) != (other.bits, other.hashes, other.n2) {
            return Err("bits");
        }
        Ok(())
    }

    /// The number that positions are taken modulo.
    fn modulus(&self) -> u64 {
        match self.n2 {
            0 => self.bits,
            n2 => 1 << n2,
        }
    }

    /// The number of bytes that positions reach, the last one perhaps in part.
    fn reached(&self) -> u64 {
        self.modulus().div_ceil(8)
    }

    /// The bits of the last byte that positions reach.
    fn mask(&self) -> u8 {
        match self.modulus() {
            few @ 0..8 => (1 << few) - 1,
            _ => 0xff,
        }
    }

    fn plan(&self) -> Result<ClassicPlan, PlanError> {
        Ok(ClassicPlan {
            capacity: self.capacity,
            false_positive_rate: self.error,
            ..ClassicPlan::with_bits_and_probes(self.modulus(), self.hashes)?
        })
    }
}

fn power_of_two(exponent: u64) -> Result<u64, PlanError> {
    let shift = u32::try_from(exponent).ok();
    shift
        .and_then(|shift| 1_u64.checked_shl(shift))
        .ok_or(PlanError::InvalidInteger {
            field: "n2",
            value: exponent,
            accepted: "at most 63",
        })
}

fn hashes(bits_per_entry: f64) -> u32 {
    (LN_2 * bits_per_entry).ceil() as u32
}

/// A layer: the numbers of its header, and its bits.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Layer {
    pub(super) shape: Shape,
    pub(super) items: u64,
    /// The bits that positions reach.
    filter: ClassicBloom,
    /// Bits that no position reaches, from the first byte that has any. Old layouts may have them.
    spare: Vec<u8>,
}

impl Layer {
    /// An empty layer.
    pub(super) fn empty(shape: Shape, items: u64, options: u32) -> Result<Self, PlanError> {
        let filter =
            ClassicBloom::from_plan(shape.plan()?, shape.scheme(options), HashScheme::Caller)?;
        let spare = zeroed_bytes(shape.bytes - shape.modulus() / 8)?;
        Ok(Self {
            shape,
            items,
            filter,
            spare,
        })
    }

    /// A layer from its bytes, as many as the shape has.
    pub(super) fn from_bytes(
        shape: Shape,
        items: u64,
        options: u32,
        bytes: &[u8],
    ) -> Result<Self, PlanError> {
        let mask = shape.mask();
        let mut words = bits::from_bytes(&bytes[..shape.reached() as usize]);
        let mut spare = bytes[(shape.modulus() / 8) as usize..].to_vec();
        if mask != 0xff {
            words[0] &= u64::from(mask);
            spare[0] &= !mask;
        }
        let plan = shape.plan()?;
        let filter =
            ClassicBloom::from_words(plan, shape.scheme(options), HashScheme::Caller, words)?;
        Ok(Self {
            shape,
            items,
            filter,
            spare,
        })
    }

    pub(super) fn try_clone(&self) -> Result<Self, PlanError> {
        let mut spare = zeroed_bytes(self.spare.len() as u64)?;
        spare.copy_from_slice(&self.spare);
        Ok(Self {
            filter: self.filter.try_clone()?,
            spare,
            ..*self
        })
    }

    pub(super) fn insert(&mut self, pair: HashPair) -> bool {
        let new = self.filter.insert_pair(pair);
        self.items = self.items.saturating_add(u64::from(new));
        new
    }

    pub(super) fn insert_pairs_reporting_new(&mut self, pairs: &[HashPair], is_new: &mut [bool]) {
        self.filter.insert_pairs_reporting_new(pairs, is_new);
        let new = is_new.iter().filter(|&&new| new).count() as u64;
        self.items = self.items.saturating_add(new);
    }

    /// Merges a layer of the same shape. Keys of both are counted once, as far as the bits show.
    pub(super) fn union_with(&mut self, other: &Self) {
        if self.filter.union_with(&other.filter).is_err() {
            // Shapes agree.
            return;
        }
        for (ours, theirs) in self.spare.iter_mut().zip(&other.spare) {
            *ours |= theirs;
        }
        let least = self.items.max(other.items);
        let most = self.items.saturating_add(other.items);
        self.items = self.filter.estimated_keys().clamp(least, most);
    }

    pub(super) fn is_full(&self) -> bool {
        self.items >= self.shape.capacity
    }

    pub(super) fn filter(&self) -> &ClassicBloom {
        &self.filter
    }

    /// All bytes; without a copy if memory has the same layout, as for current filters.
    pub(super) fn bytes(&self) -> Cow<'_, [u8]> {
        if self.shape.mask() == 0xff
            && self.shape.reached() == self.shape.bytes
            && let Cow::Borrowed(bytes) = self.filter.bytes()
            && let Some(bytes) = bytes.get(..self.shape.bytes as usize)
        {
            return Cow::Borrowed(bytes);
        }
        let mut bytes = Vec::new();
        self.write(0, self.shape.bytes, &mut bytes);
        Cow::Owned(bytes)
    }

    /// Writes bytes `start` to `end`, which must exist.
    pub(super) fn write(&self, start: u64, end: u64, out: &mut Vec<u8>) {
        let (first, reached) = (out.len(), self.shape.reached());
        out.reserve((end - start) as usize + 8);
        if start < reached {
            let (word, last) = (start / 8, end.min(reached));
            let words = self.filter.words().skip(word as usize);
            let words = words.take((last.div_ceil(8) - word) as usize);
            bits::to_bytes(words, last - 8 * word, out);
            out.drain(first..first + (start % 8) as usize);
        }
        if self.shape.mask() != 0xff && start == 0 && end > 0 {
            out[first] |= self.spare[0];
        }
        let whole = self.shape.modulus() / 8;
        if end > reached {
            let spare = (start.max(reached) - whole) as usize..(end - whole) as usize;
            out.extend_from_slice(&self.spare[spare]);
        }
    }

    /// Overwrites the bytes from `start` on; there must be as many.
    pub(super) fn overwrite(&mut self, start: u64, bytes: &[u8]) -> Result<(), PlanError> {
        let (reached, mask) = (self.shape.reached(), self.shape.mask());
        let split = (reached.saturating_sub(start)).min(bytes.len() as u64) as usize;
        let (ours, beyond) = bytes.split_at(split);
        if mask == 0xff {
            if !ours.is_empty() {
                self.filter.overwrite(start, ours)?;
            }
        } else if let Some(byte) = ours.first() {
            self.filter.overwrite(0, &[byte & mask])?;
            self.spare[0] = byte & !mask;
        }
        if !beyond.is_empty() {
            let first = (start.max(reached) - self.shape.modulus() / 8) as usize;
            self.spare[first..first + beyond.len()].copy_from_slice(beyond);
        }
        Ok(())
    }
}
