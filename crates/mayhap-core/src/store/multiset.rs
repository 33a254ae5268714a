//! A small multiset of numbers: open addressing with linear probing.

use super::open_addressing::fill_table;
use super::{copied, zeroed};
use crate::PlanError;
use crate::probe::blocked::{FIRST, mul_high};
use alloc::vec::Vec;

/// The initial number of slots.
const MIN_SLOTS: u64 = 16;

/// A multiset of numbers other than 0.
#[derive(Clone, Default)]
pub(crate) struct Multiset {
    /// A number and its count; 0 is an empty slot, and at least half of them are.
    slots: Vec<(u64, u64)>,
    distinct: u64,
    len: u64,
}

/// The preferred slot of a number.
fn home(number: u64, slots: usize) -> usize {
    mul_high(number.wrapping_mul(FIRST), slots as u64) as usize
}

impl Multiset {
    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        let slots = copied(&self.slots)?;
        Ok(Self { slots, ..*self })
    }

    /// The number of elements, duplicates included.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        size_of_val(self.slots.as_slice()) as u64
    }

    /// How many more bytes the next insert needs.
    pub(crate) fn growth_bytes(&self) -> u64 {
        let slots = self.slots.len() as u64;
        if 2 * (self.distinct + 1) > slots {
            (MIN_SLOTS.max(2 * slots) - slots) * size_of::<(u64, u64)>() as u64
        } else {
            0
        }
    }

    /// The numbers and their counts, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.slots.iter().copied().filter(|slot| slot.0 != 0)
    }

    /// Adds a number once. Nothing changes if there is not enough memory.
    pub(crate) fn insert(&mut self, number: u64) -> Result<(), PlanError> {
        debug_assert!(number != 0);
        let slots = self.slots.len() as u64;
        if 2 * (self.distinct + 1) > slots {
            let mut larger: Vec<(u64, u64)> = zeroed(MIN_SLOTS.max(2 * slots))?;
            let count = larger.len();
            self.slots.retain(|slot| slot.0 != 0);
            fill_table(&mut self.slots, &mut larger, |slot| home(slot.0, count));
            self.slots = larger;
        }
        let at = self.find(number);
        let (place, count) = &mut self.slots[at];
        self.distinct += u64::from(*place == 0);
        self.len += 1;
        (*place, *count) = (number, *count + 1);
        Ok(())
    }

    /// A multiset of distinct numbers, none of them 0, and their counts. Numbers that were chosen to collide take no longer than
    /// others.
    pub(crate) fn from_distinct(mut counted: Vec<(u64, u64)>) -> Result<Self, PlanError> {
        let distinct = counted.len() as u64;
        let mut bag = Self {
            slots: Vec::new(),
            distinct,
            len: counted.iter().map(|&(_, times)| times).sum(),
        };
        if distinct > 0 {
            let mut slots = MIN_SLOTS;
            while 2 * distinct > slots {
                slots *= 2;
            }
            bag.slots = zeroed(slots)?;
            let count = bag.slots.len();
            fill_table(&mut counted, &mut bag.slots, |slot| home(slot.0, count));
        }
        Ok(bag)
    }

    /// Removes a number once; `false` if it is absent.
    pub(crate) fn remove(&mut self, number: u64) -> bool {
        if self.count(number) == 0 {
            return false;
        }
        let mut hole = self.find(number);
        self.len -= 1;
        self.slots[hole].1 -= 1;
        if self.slots[hole].1 > 0 {
            return true;
        }
        self.distinct -= 1;
        let mut at = self.after(hole);
        // Moves numbers that were displaced past the hole back into it.
        while self.slots[at].0 != 0 {
            if self.distance(self.home(self.slots[at].0), at) >= self.distance(hole, at) {
                self.slots[hole] = self.slots[at];
                hole = at;
            }
            at = self.after(at);
        }
        self.slots[hole] = (0, 0);
        true
    }

    /// The count of a number.
    pub(crate) fn count(&self, number: u64) -> u64 {
        if self.slots.is_empty() {
            return 0;
        }
        self.slots[self.find(number)].1
    }

    /// The slot of a number, or the one where it would be inserted. There must be slots.
    fn find(&self, number: u64) -> usize {
        let mut at = self.home(number);
        while self.slots[at].0 != 0 && self.slots[at].0 != number {
            at = self.after(at);
        }
        at
    }

    fn home(&self, number: u64) -> usize {
        home(number, self.slots.len())
    }

    fn after(&self, at: usize) -> usize {
        (at + 1) % self.slots.len()
    }

    fn distance(&self, from: usize, to: usize) -> usize {
        (to + self.slots.len() - from) % self.slots.len()
    }
}

/// The same numbers with the same counts, in any slots.
impl PartialEq for Multiset {
    fn eq(&self, other: &Self) -> bool {
        let same = |&(number, count): &(u64, u64)| number == 0 || other.count(number) == count;
        self.len == other.len && self.slots.iter().all(same)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_multiset_agrees_with_a_map_of_counts() {
        let (mut bag, mut model) = (Multiset::default(), BTreeMap::<u64, u64>::new());
        let mut random = 1_u64;
        for step in 0..20_000_u64 {
            random = random.wrapping_mul(FIRST).wrapping_add(step);
            let number = 1 + (random >> 33) % 300;
            let count = model.entry(number).or_default();
            // First it fills, then it empties.
            if random >> 60 < if step < 10_000 { 9 } else { 6 } {
                bag.insert(number).unwrap();
                *count += 1;
            } else {
                assert_eq!(bag.remove(number), *count > 0);
                *count -= u64::from(*count > 0);
            }
            assert_eq!(bag.count(number), *count);
            if step % 500 == 0 {
                assert!(
                    model
                        .iter()
                        .all(|(&number, &count)| bag.count(number) == count)
                );
                assert_eq!(bag.len(), model.values().sum::<u64>());
                let counted = model.iter().map(|(&number, &count)| (number, count));
                let counted = counted.filter(|&(_, count)| count > 0).collect();
                assert!(Multiset::from_distinct(counted).unwrap() == bag);
            }
        }
    }
}
