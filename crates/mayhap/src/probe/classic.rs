//! The walks of the flat filters, `ClassicBloom` and `CountingBloom`: k positions anywhere, told apart by a frozen number.
//!
//! A walk makes k 64-bit values of a hash and takes each modulo the number of bits. The first value is the hash; the second
//! ingredient, the step, is the two halves of `hash * FIRST` folded together and made odd. Sums wrap at 2^64, which is part
//! of the walk: it tells apart keys whose hash and step agree modulo the number of bits, and so takes away most of what
//! double hashing costs in small filters.
//!
//! Files and other programs rely on this: a published scheme never changes, it only gains company.

use super::blocked::FIRST;
use super::modulo::Modulo;

/// How a hash becomes the positions of a flat filter. The numbers are frozen; 16 and above are kept for the layouts of other
/// systems.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Scheme {
    /// 1: plain double hashing, `hash + i * step` for i from 0. The step is moved on by 2, at most three times, while two
    /// neighbouring probes would be one bit. In small filters the rate is higher than planned: by 2 % for 1000 keys at
    /// 0.1 %, by 6 % at 0.01 %, twofold for 100 keys at 0.01 %.
    DoubleHashing,
    /// 2: enhanced double hashing (Dillinger and Manolios 2004), `hash + i * step + (i^3 - i) / 6`. The default: its rate is
    /// that of independent probes, within 1 % for 1000 keys and 3 % for 100 at 0.01 %.
    EnhancedDoubleHashing,
}

impl Scheme {
    /// Every scheme there is.
    pub const ALL: [Self; 2] = [Self::DoubleHashing, Self::EnhancedDoubleHashing];

    /// The number under which files know this scheme.
    pub const fn id(self) -> u16 {
        match self {
            Self::DoubleHashing => 1,
            Self::EnhancedDoubleHashing => 2,
        }
    }

    /// The scheme of a number, if there is one.
    pub fn from_id(id: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.id() == id)
    }
}

/// Where a hash goes in a filter of a given shape.
#[derive(Clone, Copy)]
pub(crate) struct Walk {
    modulo: Modulo,
    probes: u32,
    scheme: Scheme,
    /// 2^64 modulo the number of bits: by how much a sum that wraps around steps back.
    wrap: u64,
}

impl Walk {
    /// A walk of `probes` probes over `bits` bits; neither is 0.
    pub(crate) fn new(bits: u64, probes: u32, scheme: Scheme) -> Self {
        let modulo = Modulo::by(bits);
        Self {
            modulo,
            probes,
            scheme,
            wrap: modulo.of(modulo.of(u64::MAX).wrapping_add(1)),
        }
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.probes as usize
    }

    /// The positions of a hash, in the order of the walk, equal ones as often as they come.
    #[inline(always)]
    pub(crate) fn probes(&self, hash: u64) -> Probes {
        let product = u128::from(hash) * u128::from(FIRST);
        let step = (product as u64 ^ (product >> 64) as u64) | 1;
        let (step, growth) = match self.scheme {
            Scheme::DoubleHashing => (self.apart(step), 0),
            Scheme::EnhancedDoubleHashing => (step, 1),
        };
        Probes {
            value: hash,
            step,
            bend: 0,
            growth,
            modulo: self.modulo,
            left: self.probes,
        }
    }

    /// A step that moves: neither it nor it less 2^64 is a multiple of the number of bits. With 1 bit there is none, with an
    /// even number an odd step is one already.
    #[inline(always)]
    fn apart(&self, mut step: u64) -> u64 {
        for _ in 0..3 {
            let moves = self.modulo.of(step);
            if moves != 0 && moves != self.wrap {
                break;
            }
            step = step.wrapping_add(2);
        }
        step
    }
}

/// The positions of one hash.
#[derive(Clone)]
pub(crate) struct Probes {
    value: u64,
    step: u64,
    /// What the step grows by next, and by how much that grows: 0 for plain double hashing, 1 for enhanced.
    bend: u64,
    growth: u64,
    modulo: Modulo,
    left: u32,
}

impl Iterator for Probes {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let at = self.modulo.of(self.value);
        self.value = self.value.wrapping_add(self.step);
        self.bend = self.bend.wrapping_add(self.growth);
        self.step = self.step.wrapping_add(self.bend);
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    fn hashes() -> impl Iterator<Item = u64> {
        let edges = (0..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit, u64::MAX << bit]);
        edges.chain((1..2000).map(|i: u64| i.wrapping_mul(0xD6E8_FEB8_6659_FD93)))
    }

    #[test]
    fn positions_are_those_of_the_formulas() {
        for bits in [1, 2, 3, 7, 64, 9586, 95_850_584, 1 << 40, u64::MAX] {
            for hash in hashes() {
                let product = u128::from(hash) * 0x9E37_79B9_7F4A_7C15;
                let step = ((product >> 64) as u64 ^ product as u64) | 1;
                let enhanced: Vec<u64> = (0..20_u64)
                    .map(|i| {
                        let bend = (i * i * i - i) / 6;
                        hash.wrapping_add(i.wrapping_mul(step)).wrapping_add(bend) % bits
                    })
                    .collect();
                let walk = Walk::new(bits, 20, Scheme::EnhancedDoubleHashing);
                assert_eq!(walk.probes(hash).collect::<Vec<_>>(), enhanced);

                let wrap = ((1_u128 << 64) % u128::from(bits)) as u64;
                let step = (0..3).fold(step, |step, _| {
                    let stands = step % bits == 0 || step % bits == wrap;
                    if stands { step.wrapping_add(2) } else { step }
                });
                let plain: Vec<u64> = (0..20_u64)
                    .map(|i| hash.wrapping_add(i.wrapping_mul(step)) % bits)
                    .collect();
                let walk = Walk::new(bits, 20, Scheme::DoubleHashing);
                assert_eq!(walk.probes(hash).collect::<Vec<_>>(), plain);
            }
        }
    }

    #[test]
    fn no_key_has_all_its_probes_on_one_bit() {
        // Divisors of 2^64 - 1 and 2^64 + 1 are the ones where a step that wraps could undo itself.
        let bits = (4..2000).chain([65_535, 65_537, 274_177, 4_294_967_297, 1 << 40, u64::MAX]);
        for bits in bits {
            // Hashes whose step is, or would be, a multiple of the number of bits are among so many for small numbers.
            for hash in hashes() {
                let plain = Walk::new(bits, 4, Scheme::DoubleHashing);
                let positions: Vec<u64> = plain.probes(hash).collect();
                assert!(
                    positions.windows(2).all(|pair| pair[0] != pair[1]),
                    "{hash:#x} in {bits} bits: {positions:?}"
                );
                let enhanced = Walk::new(bits, 4, Scheme::EnhancedDoubleHashing);
                let positions: BTreeSet<u64> = enhanced.probes(hash).collect();
                assert!(
                    positions.len() > 1,
                    "{hash:#x} in {bits} bits: {positions:?}"
                );
            }
        }
    }

    #[test]
    fn numbers_are_frozen_and_lead_back_to_their_scheme() {
        for (scheme, id) in Scheme::ALL.into_iter().zip([1, 2]) {
            assert_eq!(scheme.id(), id);
            assert_eq!(Scheme::from_id(id), Some(scheme));
        }
        assert_eq!(Scheme::from_id(0), None);
        assert_eq!(Scheme::from_id(3), None);
    }
}
