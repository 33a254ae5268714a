//! One table of a `WindowCuckoo`: slices with the number of the epoch in which they were last seen, and how many there are of each.

use super::clock::LiveEpochs;
use crate::filter::slice_table::{SliceTable, SliceTableParts};
use crate::plan::{EPOCH_BITS, EPOCHS, SliceTablePlan};
use crate::probe::slice::SliceShape;
use crate::{Full, PlanError};

/// A table with fewer keys than one in so many windows is rewritten in a smaller shape.
const SPARSE: u64 = 8;

#[derive(Clone, PartialEq)]
pub(super) struct EpochTable {
    /// Its keys are the live ones.
    pub(super) slices: SliceTable,
    plan: SliceTablePlan,
    /// Live keys by the number of their epoch.
    counts: [u64; EPOCHS as usize],
}

impl EpochTable {
    /// An empty table.
    pub(super) fn new(plan: SliceTablePlan, shape: SliceShape) -> Result<Self, PlanError> {
        Ok(Self {
            slices: SliceTable::with_shape(shape)?,
            plan,
            counts: [0; EPOCHS as usize],
        })
    }

    /// The smallest table.
    pub(super) fn smallest(plan: SliceTablePlan) -> Result<Self, PlanError> {
        Self::new(plan, smallest_shape(plan))
    }

    /// A table from existing parts, which may come from an untrusted file.
    pub(super) fn from_parts(
        plan: SliceTablePlan,
        parts: SliceTableParts<'_>,
        live: LiveEpochs,
    ) -> Result<Self, PlanError> {
        if let Some(&(_, expired)) = parts
            .stash
            .iter()
            .find(|slice| !(1..=EPOCHS).contains(&slice.1) || !live.contains(slice.1 - 1))
        {
            return Err(PlanError::InvalidInteger {
                field: "stash",
                value: expired,
                accepted: "slices of live epochs",
            });
        }
        let mut slices = SliceTable::from_parts(parts)?;
        slices.set_live(live.0);
        let mut counts = [0; EPOCHS as usize];
        for stored in slices.slices() {
            counts[stored.payload as usize] += 1;
        }
        slices.set_keys(counts.iter().sum());
        Ok(Self {
            slices,
            plan,
            counts,
        })
    }

    pub(super) fn try_clone(&self) -> Result<Self, PlanError> {
        Ok(Self {
            slices: self.slices.try_clone()?,
            ..*self
        })
    }

    /// The number of keys in live epochs.
    pub(super) fn keys_in(&self, live: LiveEpochs) -> u64 {
        let counts = (0..).zip(&self.counts);
        let live = counts.filter(|&(number, _)| live.contains(number));
        live.map(|(_, count)| count).sum()
    }

    /// How many keys it has room for at its share of the rate.
    pub(super) fn capacity(&self) -> u64 {
        self.plan.capacity
    }

    /// Its share of the rate when it has that many keys.
    pub(super) fn rate_at(&self, keys: u64) -> f64 {
        keys as f64 / libm::exp2(f64::from(self.plan.slice_bits))
    }

    /// Stores a slice that is not stored yet.
    pub(super) fn insert(&mut self, placed: u64, number: u64) -> Result<(), Full> {
        self.slices.insert(placed, number)?;
        self.counts[number as usize] += 1;
        Ok(())
    }

    /// Stores a slice that is not stored yet, if there is a cell for it.
    pub(super) fn insert_in_cell(&mut self, placed: u64, number: u64) -> bool {
        let is_stored = self.slices.insert_in_cell(placed, number);
        self.counts[number as usize] += u64::from(is_stored);
        is_stored
    }

    /// Changes the epoch of a slice that is stored.
    pub(super) fn refresh(&mut self, placed: u64, old: u64, number: u64) {
        if old != number {
            self.slices.set_payload(placed, number);
            self.counts[old as usize] -= 1;
            self.counts[number as usize] += 1;
        }
    }

    /// Removes a slice that is stored.
    pub(super) fn remove(&mut self, placed: u64, number: u64) {
        self.slices.remove(placed);
        self.counts[number as usize] -= 1;
    }

    /// Forgets the keys of all other epochs. Their cells are free, and are emptied later.
    pub(super) fn expire(&mut self, live: LiveEpochs) {
        for (number, count) in (0..).zip(&mut self.counts) {
            if !live.contains(number) {
                *count = 0;
            }
        }
        self.slices.set_live(live.0);
        self.slices.set_keys(self.counts.iter().sum());
        self.slices.clean_stash();
    }

    /// Removes all keys; the shape is the one to return to.
    pub(super) fn clear(&mut self, shape: SliceShape) {
        self.counts = [0; EPOCHS as usize];
        self.slices.clear_to(shape);
    }

    /// Rewrites a sparse table in a smaller shape, if there is enough memory: a burst does not take memory forever.
    pub(super) fn shrink(&mut self) {
        let keys = self.slices.keys();
        if keys * SPARSE >= self.slices.windows() {
            return;
        }
        let shape = SliceShape::for_keys(self.plan.slice_bits, EPOCH_BITS, keys);
        if let Ok(Some(smaller)) = self.slices.rewritten(shape) {
            self.slices = smaller;
        }
    }
}

pub(super) fn smallest_shape(plan: SliceTablePlan) -> SliceShape {
    SliceShape::for_keys(plan.slice_bits, EPOCH_BITS, 0)
}
