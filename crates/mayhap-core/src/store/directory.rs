//! The starts of the shards of a static system of equations: four bytes per shard.

use crate::PlanError;
use crate::probe::ribbon::RibbonShard;
use crate::store::reserved;
use alloc::vec::Vec;

/// Bits of an entry for the deviation of a shard's start from where it would be if all shards had the same length; the others are
/// the seed.
const DRIFT_BITS: u32 = 24;
const NO_DRIFT: u64 = 1 << (DRIFT_BITS - 1);

/// The shards of a filter, and the end of the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ShardDirectory {
    entries: Vec<u32>,
    /// The mean number of slots per shard.
    mean_slots: u64,
}

impl ShardDirectory {
    /// A directory for `shards` shards of about `mean_slots` slots, to be added with `push`.
    pub(crate) fn new(shards: u64, mean_slots: u64) -> Result<Self, PlanError> {
        let mut entries = reserved(shards + 1)?;
        entries.push(NO_DRIFT as u32);
        Ok(Self {
            entries,
            mean_slots,
        })
    }

    /// A directory from stored entries; every shard must have at least `min_slots` slots.
    ///
    /// # Errors
    /// If a shard does not start at or after the end of the previous one, or is too small, or unused bits of an entry are set.
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
                    field: "start of a shard",
                    value: number,
                    accepted: "0 for the first, and enough slots after the previous start for others",
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
                field: "directory entries",
                value: entries.len() as u64,
                accepted: "one for every shard, and one without a seed for the end of the last",
            }),
        }
    }

    /// Adds a shard, which starts at the end of the previous one.
    ///
    /// # Errors
    /// If it ends millions of slots from its expected end, which happens only with hashes that were chosen for that.
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

    /// The number of slots of all shards.
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

    /// The shard with this number, from its entry and the next one.
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

    /// 0 without shards.
    pub(crate) fn size_bytes(&self) -> u64 {
        match self.entries.as_slice() {
            [_] => 0,
            entries => size_of_val(entries) as u64,
        }
    }
}
