//! One table of a `GrowingCuckoo` or of a `CountingCuckoo`, and the copies of keys that do not fit into it.

use crate::filter::cuckoo::check_extra_copies;
use crate::filter::slice_table::{MAX_COPIES, SliceTable, SliceTableParts};
use crate::plan::SliceTablePlan;
use crate::store::Multiset;
use crate::{Full, PlanError};
use alloc::vec::Vec;

/// One table of a [`GrowingCuckoo`](crate::GrowingCuckoo), as files store it.
#[derive(Clone, Debug)]
pub struct GrowingCuckooTable<'t> {
    /// The number of keys at which its share of the rate is used up.
    pub capacity: u64,
    /// Its cells.
    pub slices: SliceTableParts<'t>,
    /// The slices, with the lowest bit set, of keys that were inserted more than twice, and how often, in ascending order.
    pub extra_copies: Vec<(u64, u64)>,
}

/// A table, and the keys that were inserted although their slice was present: they have no cell of their own.
#[derive(Clone, PartialEq)]
pub(in crate::filter) struct CountedTable {
    pub(super) slices: SliceTable,
    pub(super) extra_copies: Multiset,
    pub(super) plan: SliceTablePlan,
}

impl CountedTable {
    pub(super) fn from_parts(table: GrowingCuckooTable<'_>) -> Result<Self, PlanError> {
        let plan = SliceTablePlan {
            slice_bits: table.slices.slice_bits,
            capacity: table.capacity,
        };
        if table.slices.payload_bits != 0 {
            return Err(PlanError::InvalidInteger {
                field: "payload bits",
                value: table.slices.payload_bits.into(),
                accepted: "0",
            });
        }
        let extra_copies = table.extra_copies;
        check_extra_copies(&extra_copies)?;
        let slices = SliceTable::from_parts(table.slices)?;
        if let Some(copy) = extra_copies
            .iter()
            .find(|copy| copy.0 != slices.number(copy.0))
        {
            return Err(PlanError::InvalidInteger {
                field: "slice of an extra copy",
                value: copy.0,
                accepted: "a slice of the table",
            });
        }
        Ok(Self {
            slices,
            extra_copies: Multiset::from_distinct(extra_copies)?,
            plan,
        })
    }

    /// A table whose copies are all in its counters.
    pub(in crate::filter) fn from_slices(slices: SliceTable, plan: SliceTablePlan) -> Self {
        Self {
            slices,
            extra_copies: Multiset::default(),
            plan,
        }
    }

    /// An empty table. With counters, copies are counted in the cells of their slices.
    pub(super) fn new(plan: SliceTablePlan, has_counters: bool) -> Result<Self, PlanError> {
        let slices = if has_counters {
            SliceTable::counting(plan.slice_bits)?
        } else {
            SliceTable::new(plan.slice_bits, 0)?
        };
        Ok(Self {
            slices,
            extra_copies: Multiset::default(),
            plan,
        })
    }

    /// Whether a slice is stored.
    #[inline(always)]
    pub(super) fn find(&self, placed: u64) -> bool {
        if self.slices.has_counters() {
            self.slices.find::<true>(placed)
        } else {
            self.slices.find::<false>(placed)
        }
    }

    /// How often a slice was inserted.
    pub(super) fn count_of(&self, placed: u64) -> u64 {
        if self.slices.has_counters() {
            self.slices.count_of(placed)
        } else {
            self.slices.copies_of(placed) + self.extra_copies.count(self.slices.number(placed))
        }
    }

    /// The number of keys, copies included.
    pub(super) fn keys(&self) -> u64 {
        let copies = self.extra_copies.len() + self.slices.counted_copies();
        self.slices.keys().saturating_add(copies)
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.slices.size_bytes() + self.extra_copies.size_bytes()
    }

    /// Adds a copy of a key that is present: in its counter, or in a second cell, or outside of the table if there are two already.
    pub(super) fn add_copy(&mut self, placed: u64, max_bytes: Option<u64>) -> Result<(), Full> {
        if self.slices.has_counters() {
            return self.slices.add_copies(placed, 1, max_bytes);
        }
        if self.slices.copies_of(placed) < MAX_COPIES {
            let for_slices =
                max_bytes.map(|max| max.saturating_sub(self.extra_copies.size_bytes()));
            self.slices.make_room(for_slices)?;
            return self.slices.insert_copy(placed);
        }
        let size_bytes = self.size_bytes() + self.extra_copies.growth_bytes();
        let no_memory = Full::Memory { size_bytes };
        if self.extra_copies.growth_bytes() > 0 && max_bytes.is_some_and(|max| size_bytes > max) {
            return Err(no_memory);
        }
        let number = self.slices.number(placed);
        self.extra_copies.insert(number).map_err(|_| no_memory)
    }

    /// Removes one copy of a key that is present: an extra copy if there is one, because the cell must then stay.
    pub(super) fn remove(&mut self, placed: u64) -> bool {
        if self.slices.has_counters() {
            return self.slices.remove_copy(placed);
        }
        self.extra_copies.remove(self.slices.number(placed)) || self.slices.remove(placed)
    }
}
