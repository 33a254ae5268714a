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

    /// The number of elements without duplicates.
    pub(crate) fn distinct(&self) -> u64 {
        self.distinct
    }

    /// The number of elements, duplicates included.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        size_of_val(self.slots.as_slice()) as u64
    }

    /// The bytes of a new multiset of so many different numbers.
    pub(crate) fn bytes_for(distinct: u64) -> u64 {
        if distinct == 0 {
            return 0;
        }
        let mut slots = MIN_SLOTS;
        while 2 * distinct > slots {
            slots *= 2;
        }
        slots * size_of::<(u64, u64)>() as u64
    }

    /// Gives memory back if most of it is unused, unless there is not enough memory to do so.
    pub(crate) fn shrink(&mut self) {
        if 4 * Self::bytes_for(self.distinct) > self.size_bytes() {
            return;
        }
        let mut counted = Vec::new();
        if counted.try_reserve_exact(self.distinct as usize).is_ok() {
            counted.extend(self.iter());
            if let Ok(smaller) = Self::from_distinct(counted) {
                *self = smaller;
            }
        }
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
        self.insert_times(number, 1)
    }

    /// Adds a number several times. Nothing changes if there is not enough memory.
    pub(crate) fn insert_times(&mut self, number: u64, times: u64) -> Result<(), PlanError> {
        debug_assert!(number != 0 && times != 0);
        self.make_room(1)?;
        let at = self.find(number);
        let (place, count) = &mut self.slots[at];
        self.distinct += u64::from(*place == 0);
        self.len += times;
        (*place, *count) = (number, *count + times);
        Ok(())
    }

    /// Changes the count of a number, not to 0; `false` if it is absent.
    pub(crate) fn replace(&mut self, number: u64, count: u64) -> bool {
        let before = self.count(number);
        if before > 0 {
            let at = self.find(number);
            self.slots[at].1 = count;
            self.len = self.len - before + count;
        }
        before > 0
    }

    /// Makes room for that many numbers: inserting them does not fail.
    pub(crate) fn make_room(&mut self, more: u64) -> Result<(), PlanError> {
        let mut slots = self.slots.len() as u64;
        if 2 * (self.distinct + more) <= slots {
            return Ok(());
        }
        while 2 * (self.distinct + more) > slots {
            slots = MIN_SLOTS.max(2 * slots);
        }
        let mut larger: Vec<(u64, u64)> = zeroed(slots)?;
        let count = larger.len();
        self.slots.retain(|slot| slot.0 != 0);
        fill_table(&mut self.slots, &mut larger, |slot| home(slot.0, count));
        self.slots = larger;
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
            bag.slots = zeroed(Self::bytes_for(distinct) / size_of::<(u64, u64)>() as u64)?;
            let count = bag.slots.len();
            fill_table(&mut counted, &mut bag.slots, |slot| home(slot.0, count));
        }
        Ok(bag)
    }

    /// Removes all numbers whose count is not kept.
    pub(crate) fn retain(&mut self, keeps: impl Fn(u64) -> bool) {
        for at in 0..self.slots.len() {
            // Another number may take the place of a removed one, from a later slot or from one that was checked.
            while self.slots[at].0 != 0 && !keeps(self.slots[at].1) {
                self.remove_all(self.slots[at].0);
            }
        }
    }

    /// Removes everything, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.slots.fill((0, 0));
        (self.distinct, self.len) = (0, 0);
    }

    /// Removes a number once; `false` if it is absent.
    pub(crate) fn remove(&mut self, number: u64) -> bool {
        let count = self.count(number);
        if count > 1 {
            let at = self.find(number);
            self.slots[at].1 -= 1;
            self.len -= 1;
        } else if count == 1 {
            self.remove_all(number);
        }
        count > 0
    }

    /// Removes a number as often as it is there, and returns that count.
    pub(crate) fn remove_all(&mut self, number: u64) -> u64 {
        let count = self.count(number);
        if count == 0 {
            return 0;
        }
        let mut hole = self.find(number);
        self.len -= count;
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
        count
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
