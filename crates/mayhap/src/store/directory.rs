//! Where the shards of a static set of equations begin: four bytes each.

use crate::PlanError;
use crate::probe::band::Shard;
use crate::store::reserved;
use alloc::vec::Vec;

/// Bits of an entry that say how far a shard begins from where it would if all were alike; the others are its seed.
const DRIFT_BITS: u32 = 24;
const NO_DRIFT: u64 = 1 << (DRIFT_BITS - 1);

/// The shards of a filter, and the end of the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Directory {
    entries: Vec<u32>,
    /// Slots of a shard, on average.
    mean_slots: u64,
}

impl Directory {
    /// For `shards` shards of `mean_slots` slots, which are still to come.
    pub(crate) fn new(shards: u64, mean_slots: u64) -> Result<Self, PlanError> {
        let mut entries = reserved(shards + 1)?;
        entries.push(NO_DRIFT as u32);
        Ok(Self {
            entries,
            mean_slots,
        })
    }

    /// The next shard, which begins at the end of the one before; `false` when it ends too far from where it should.
    pub(crate) fn push(&mut self, slots: u64, seed: u8) -> bool {
        let number = self.shards();
        let end =
            (self.begin(number) + slots + NO_DRIFT).checked_sub((number + 1) * self.mean_slots);
        let Some(drift) = end.filter(|&drift| drift < 1 << DRIFT_BITS) else {
            return false;
        };
        self.entries[number as usize] |= u32::from(seed) << DRIFT_BITS;
        self.entries.push(drift as u32);
        true
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

    #[inline(always)]
    pub(crate) fn shard(&self, number: u64) -> Shard {
        let first_slot = self.begin(number);
        Shard {
            first_slot,
            slots: self.begin(number + 1) - first_slot,
            seed: (self.entries[number as usize] >> DRIFT_BITS) as u8,
        }
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        size_of_val(self.entries.as_slice()) as u64
    }
}
