//! An exact set of hashes: open addressing with linear probing. For the few keys that a filter must store exactly.

use super::open_addressing::fill_table;
use super::zeroed;
use crate::PlanError;
use crate::probe::blocked::mul_high;
use crate::probe::fuse::mix;
use alloc::vec::Vec;

/// A seed of its own, so that hashes that look alike to a filter do not cluster here.
const SEED: u64 = 0x5851_F42D_4C95_7F2D;

const MIN_SLOTS: u64 = 8;

#[derive(Clone, Debug, Default)]
pub(crate) struct ExactSet {
    /// 0 is an empty slot; at least a quarter of them are.
    slots: Vec<u64>,
    in_slots: u64,
    has_zero: bool,
}

/// The preferred slot of a hash.
#[inline]
fn home(hash: u64, slots: usize) -> usize {
    mul_high(mix(hash, SEED), slots as u64) as usize
}

impl ExactSet {
    pub(crate) fn len(&self) -> u64 {
        self.in_slots + u64::from(self.has_zero)
    }

    /// The hashes, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        let filled = self.slots.iter().copied().filter(|&hash| hash != 0);
        filled.chain(self.has_zero.then_some(0))
    }

    #[inline]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        if hash == 0 {
            return self.has_zero;
        }
        !self.slots.is_empty() && self.slots[self.find(hash)] == hash
    }

    /// The slot of a hash that is not 0, or the one where it would be inserted.
    fn find(&self, hash: u64) -> usize {
        let slots = self.slots.len();
        let mut at = home(hash, slots);
        while self.slots[at] != 0 && self.slots[at] != hash {
            at += 1;
            if at == slots {
                at = 0;
            }
        }
        at
    }

    /// Makes room for the next insert.
    pub(crate) fn make_room(&mut self) -> Result<(), PlanError> {
        let slots = self.slots.len() as u64;
        if (self.in_slots + 1) * 4 <= slots * 3 {
            return Ok(());
        }
        let mut larger: Vec<u64> = zeroed((slots * 2).max(MIN_SLOTS))?;
        let count = larger.len();
        self.slots.retain(|&hash| hash != 0);
        fill_table(&mut self.slots, &mut larger, |&hash| home(hash, count));
        self.slots = larger;
        Ok(())
    }

    /// A set of distinct hashes. Hashes that were chosen to collide take no longer than others.
    pub(crate) fn from_distinct(mut hashes: Vec<u64>) -> Result<Self, PlanError> {
        let all = hashes.len();
        hashes.retain(|&hash| hash != 0);
        let mut set = Self {
            slots: Vec::new(),
            in_slots: hashes.len() as u64,
            has_zero: hashes.len() < all,
        };
        if !hashes.is_empty() {
            let mut count = MIN_SLOTS;
            while set.in_slots * 4 > count * 3 {
                count *= 2;
            }
            set.slots = zeroed(count)?;
            let slots = set.slots.len();
            fill_table(&mut hashes, &mut set.slots, |&hash| home(hash, slots));
        }
        Ok(set)
    }

    /// Inserts a hash, after [`make_room`](Self::make_room).
    pub(crate) fn insert(&mut self, hash: u64) {
        if hash == 0 {
            self.has_zero = true;
            return;
        }
        let at = self.find(hash);
        self.in_slots += u64::from(self.slots[at] == 0);
        self.slots[at] = hash;
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        size_of_val(self.slots.as_slice()) as u64
    }
}

/// Sets are equal if they hold the same hashes, in any order.
impl PartialEq for ExactSet {
    fn eq(&self, other: &Self) -> bool {
        let filled = self.slots.iter().filter(|&&hash| hash != 0);
        self.len() == other.len()
            && self.has_zero == other.has_zero
            && filled.copied().all(|hash| other.contains(hash))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_set_holds_exactly_what_was_inserted() {
        for step in [1, 1 << 32, 1 << 63, 0x9E37_79B9_7F4A_7C15_u64] {
            let mut set = ExactSet::default();
            let mut model = BTreeSet::new();
            for at in 0..5000_u64 {
                // Every third hash is only looked up; 0 is among them, and each occurs twice.
                let hash = (at / 2).wrapping_mul(step);
                if at / 2 % 3 != 1 {
                    set.make_room().unwrap();
                    set.insert(hash);
                    model.insert(hash);
                }
                assert_eq!(set.contains(hash), model.contains(&hash));
                assert_eq!(set.len(), model.len() as u64);
            }
            for at in 0..10_000_u64 {
                let hash = at.wrapping_mul(step);
                assert_eq!(set.contains(hash), model.contains(&hash));
            }
            let mut reversed = ExactSet::default();
            for &hash in model.iter().rev() {
                reversed.make_room().unwrap();
                assert!(reversed != set);
                reversed.insert(hash);
            }
            assert!(reversed == set && set.size_bytes() <= 8 * 2 * 5000);
            let at_once = ExactSet::from_distinct(model.iter().copied().collect()).unwrap();
            assert!(at_once == set && at_once.size_bytes() == set.size_bytes());
        }
    }

    #[test]
    fn a_million_colliding_hashes_are_inserted_quickly() {
        // Inserted one by one, they would take half a million million steps.
        let spread = 0xC2B2_AE3D_27D4_EB4F_u64;
        let undone = (0..6).fold(spread, |x: u64, _| {
            x.wrapping_mul(2_u64.wrapping_sub(spread.wrapping_mul(x)))
        });
        let halves = |x: u64| x ^ x >> 32;
        let colliding = |at: u64| halves(halves(at).wrapping_mul(undone)) ^ SEED;
        let hashes: Vec<u64> = (1..1_000_000).map(colliding).collect();
        assert!(hashes.iter().all(|&hash| home(hash, 1 << 21) == 0));
        let mut set = ExactSet::from_distinct(hashes.clone()).unwrap();
        assert!(set.len() == 999_999 && set.contains(hashes[500]) && !set.contains(colliding(0)));
        set.in_slots = set.slots.len() as u64 * 3 / 4;
        set.make_room().unwrap();
        assert!(set.contains(hashes[999]));
    }
}
