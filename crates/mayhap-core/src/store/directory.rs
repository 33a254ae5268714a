//! Where the shards of a static set of equations begin: four bytes each.

use crate::PlanError;
use crate::probe::ribbon::RibbonShard;
use crate::store::reserved;
use alloc::vec::Vec;

/// Bits of an entry that say how far a shard begins from where it would if all were alike; the others are its seed.
const DRIFT_BITS: u32 = 24;
const NO_DRIFT: u64 = 1 << (DRIFT_BITS - 1);

/// The shards of a filter, and the end of the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ShardDirectory {
    entries: Vec<u32>,
    /// Slots of a shard, on average.
    mean_slots: u64,
}

impl ShardDirectory {
    /// For `shards` shards of `mean_slots` slots, which are still to come.
    pub(crate) fn new(shards: u64, mean_slots: u64) -> Result<Self, PlanError> {
        let mut entries = reserved(shards + 1)?;
        entries.push(NO_DRIFT as u32);
        Ok(Self {
            entries,
            mean_slots,
        })
    }

    /// A directory that exists already, for example in a file; every shard must have `min_slots` slots or more.
    ///
    /// # Errors
    /// When a shard does not begin where the one before ends, or is too small, or an entry holds what it has no use for.
    pub(crate) fn from_entries(
        entries: Vec<u32>,
        mean_slots: u64,
        min_slots: u64,
    ) -> Result<Self, PlanError> {
        let begins = (0..).zip(&entries).map(|(number, &entry)| {
            let drift = u64::from(entry) % (1 << DRIFT_BITS);
            (number * mean_slots + drift).checked_sub(NO_DRIFT)
        });
        let mut end = None;
        for (number, begin) in (0_u64..).zip(begins) {
            let fits = match (end, begin) {
                (None, Some(0)) => true,
                (Some(before), Some(begin)) => before + min_slots <= begin,
                _ => false,
            };
            if !fits {
                return Err(PlanError::InvalidInteger {
                    field: "beginning of a shard",
                    value: number,
                    accepted: "for the first, 0, and for others, where the one before has enough slots",
                });
            }
            end = begin;
        }
        match entries.last() {
            Some(last) if last >> DRIFT_BITS == 0 => Ok(Self {
                entries,
                mean_slots,
            }),
            _ => Err(PlanError::InvalidInteger {
                field: "entries of shards",
                value: entries.len() as u64,
                accepted: "one for every shard, and the end of the last without a seed",
            }),
        }
    }

    /// The next shard, which begins at the end of the one before.
    ///
    /// # Errors
    /// When it ends millions of slots from where it should, which takes hashes that were chosen to.
    pub(crate) fn push(&mut self, slots: u64, seed: u8) -> Result<(), PlanError> {
        let number = self.shards();
        let end = self.slots() + slots;
        let drift = (end + NO_DRIFT).wrapping_sub((number + 1) * self.mean_slots);
        if drift >> DRIFT_BITS != 0 {
            return Err(PlanError::Unsolvable {
                keys: end,
                attempts: 1,
            });
        }
        self.entries[number as usize] |= u32::from(seed) << DRIFT_BITS;
        self.entries.push(drift as u32);
        Ok(())
    }

    pub(crate) fn shards(&self) -> u64 {
        self.entries.len() as u64 - 1
    }

    #[inline(always)]
    fn begin(&self, number: u64) -> u64 {
        let drift = u64::from(self.entries[number as usize]) % (1 << DRIFT_BITS);
        (number * self.mean_slots + drift) - NO_DRIFT
    }

    /// Slots of all shards.
    pub(crate) fn slots(&self) -> u64 {
        self.begin(self.shards())
    }

    pub(crate) fn shard(&self, number: u64) -> RibbonShard {
        let at = number as usize;
        self.decode_shard(number, self.entries[at], self.entries[at + 1])
    }

    pub(crate) fn entries(&self) -> &[u32] {
        &self.entries
    }

    /// The shard of this number, whose entry and the next one are given.
    #[inline(always)]
    pub(crate) fn decode_shard(&self, number: u64, entry: u32, next: u32) -> RibbonShard {
        let drift = u64::from(entry) % (1 << DRIFT_BITS);
        let next_drift = u64::from(next) % (1 << DRIFT_BITS);
        RibbonShard {
            first_slot: number * self.mean_slots + drift - NO_DRIFT,
            slots: self.mean_slots + next_drift - drift,
            seed: (entry >> DRIFT_BITS) as u8,
        }
    }

    /// Without shards there is nothing to know.
    pub(crate) fn size_bytes(&self) -> u64 {
        match self.entries.as_slice() {
            [_] => 0,
            entries => size_of_val(entries) as u64,
        }
    }
}
