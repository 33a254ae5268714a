//! The union of two `GrowingCuckoo` filters, built from their slices.

use super::{CountedTable, GrowingCuckoo};
use crate::filter::slice_entry::StoredSlice;
use crate::{Full, KeyType, Mismatch};

impl GrowingCuckoo {
    /// Whether [`union_with`](Self::union_with) would succeed, if there is enough memory.
    ///
    /// # Errors
    /// As `union_with`.
    pub fn check_union(&self, other: &Self) -> Result<(), Mismatch> {
        let (ours, theirs) = (self.scheme, other.scheme);
        Mismatch::check("hash scheme", ours.id().into(), theirs.id().into())?;
        if ours != theirs {
            return Err(Mismatch::HashKey);
        }
        KeyType::common(self.key_type, other.key_type)?;
        let bits = |filter: &Self| u64::from(filter.plan.first_table().slice_bits);
        let have_one_table = self.plan.maximum().is_some() && other.plan.maximum().is_some();
        if have_one_table || self.plan.has_tables_of(&other.plan) {
            Ok(())
        } else {
            Mismatch::check("slice bits", bits(self), bits(other))?;
            let tables = |filter: &Self| filter.tables.len() as u64;
            Mismatch::check("tables", tables(self), tables(other))
        }
    }

    /// Adds all keys of another filter to this one. A key that is in both is then counted twice, so that every insert can still be
    /// undone; if both are sets, it is not. Two filters with different maxima give one with the
    /// higher rate of both.
    ///
    /// # Errors
    /// If the hash schemes or key types differ, or the plans do and one of them has no maximum, or there is not enough memory. The
    /// filter is then unchanged.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Mismatch> {
        self.check_union(other)?;
        let is_set = self.is_set && other.is_set;
        let keeps_copies = !is_set;
        let no_memory = Mismatch::Memory {
            size_bytes: self.size_bytes() + other.size_bytes(),
        };
        let bits = |filter: &Self| filter.plan.first_table().slice_bits;
        let plan = if bits(other) < bits(self) {
            other.plan
        } else {
            self.plan
        };
        // Built from scratch: adding keys to older tables would break the rule that the oldest table with a slice owns it.
        let mut union =
            Self::empty(plan, self.scheme, self.has_counters()).map_err(|_| no_memory)?;
        union.key_type = KeyType::common(self.key_type, other.key_type)?;
        union.is_set = is_set;
        for number in 0..self.tables.len().max(other.tables.len()) {
            let sources = [
                (self.tables.get(number), true),
                (other.tables.get(number), keeps_copies),
            ];
            union.merge_tables(number, sources).map_err(|_| no_memory)?;
        }
        *self = union;
        Ok(())
    }

    /// Fills table `number`; the older ones are complete.
    fn merge_tables(
        &mut self,
        number: usize,
        sources: [(Option<&CountedTable>, bool); 2],
    ) -> Result<(), Full> {
        let no_memory = Full::Memory {
            size_bytes: self.size_bytes(),
        };
        if number == self.tables.len()
            && let Some(plan) = self.plan.table(number as u32)
        {
            let table = CountedTable::new(plan, self.has_counters()).map_err(|_| no_memory)?;
            self.tables.push(table);
        }
        let keys = sources
            .iter()
            .filter_map(|source| source.0)
            .map(|table| table.slices.keys());
        let keys = keys.sum();
        // Slices arrive in their own order.
        self.tables[number].slices.reserve(keys)?;
        for (source, keeps_copies) in sources {
            let Some(source) = source else { continue };
            for StoredSlice { slice, payload } in source.slices.slices() {
                let owner = self.tables.iter().position(|table| table.find(slice));
                match owner {
                    None => self.tables[number].slices.insert(slice, 0)?,
                    Some(owner) if keeps_copies => self.tables[owner].add_copy(slice, None)?,
                    Some(_) => {}
                }
                // What is in counters.
                let copies = payload + source.slices.rest_of(slice, payload);
                if copies > 0 {
                    let owner = &mut self.tables[owner.unwrap_or(number)];
                    owner.slices.add_copies(slice, copies, None)?;
                }
            }
            for (slice, copies) in source.extra_copies.iter().filter(|_| keeps_copies) {
                let owner = self.tables.iter_mut().find(|table| table.find(slice));
                if let Some(owner) = owner {
                    let number = owner.slices.number(slice);
                    let inserted = owner.extra_copies.insert_times(number, copies);
                    inserted.map_err(|_| no_memory)?;
                }
            }
        }
        Ok(())
    }
}
