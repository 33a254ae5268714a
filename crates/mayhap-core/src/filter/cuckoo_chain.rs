//! The older tables of a `Cuckoo` that grows, and the rule that lets keys be taken out of a chain without losing others.
//!
//! A key looks like some that are in, at the rate of each table. If it were put into the newest table while an older one has
//! its look-alike, a removal could not tell which of the two cells is whose: taking out the wrong one would lose a key. So
//!
//! * a key goes to the oldest table that has a look-alike of it, and counts there as another copy: its *twin*;
//! * only a key that no table knows goes into the newest one, so that older tables never learn new cells;
//! * a removal asks the oldest table first: the first that knows the key is the one that it went to.
//!
//! Twins are counted beside the tables, for an older one may be full: they are a share of keys as large as the filter's rate,
//! and take 16 to 64 bytes for each distinct look-alike. There is no bound for copies: from 100 keys to a million at 1 %, the
//! hundred cells of the first table get 60 twins each, all of them keys in their own right. (Newest first, or twins in the newest
//! table, would lose a key in every 1/rate removals.)

use super::cuckoo_table::CuckooTable;
use crate::plan::{CuckooPlan, GrowingPlan, NextPart, check_growth};
use crate::store::{Multiset, reserved};
use crate::{Full, PlanError};
use alloc::vec::Vec;

/// More tables than any plan reaches are not taken from outside.
const MAX_TABLES: u32 = 1000;

/// All of a growing `Cuckoo` but its newest table.
#[derive(Clone, PartialEq)]
pub(super) struct CuckooChain {
    plan: GrowingPlan,
    next: NextPart<CuckooPlan>,
    /// The oldest first; none is empty.
    older: Vec<OlderTable>,
    newest: TableInfo,
}

/// What belongs to a table: its number in the plan, and the keys that look like one of its own and have no cell.
#[derive(Clone, PartialEq)]
struct TableInfo {
    number: u32,
    extra_copies: Multiset,
}

#[derive(Clone, PartialEq)]
struct OlderTable {
    table: CuckooTable,
    info: TableInfo,
}

impl CuckooChain {
    /// The chain, and its first table.
    pub(super) fn new(plan: GrowingPlan) -> Result<(Self, CuckooTable), PlanError> {
        let chain = Self {
            plan,
            next: NextPart::default(),
            older: Vec::new(),
            newest: TableInfo::new(0),
        };
        Ok((chain, CuckooTable::new(plan.cuckoo_table(0)?)?))
    }

    /// A chain that exists already, and its newest table: for every table, the oldest first, its number, cells and twins.
    pub(super) fn from_tables(
        plan: GrowingPlan,
        mut tables: Vec<(CuckooTable, u32, Multiset)>,
    ) -> Result<(Self, CuckooTable), PlanError> {
        let refuse = |field, value, accepted| {
            Err(PlanError::InvalidInteger {
                field,
                value,
                accepted,
            })
        };
        for (at, (nest, number, _)) in tables.iter().enumerate() {
            let is_older = at + 1 < tables.len();
            if is_older && nest.keys == 0 {
                return refuse("keys in an older table", 0, "at least one");
            }
            let mut before = tables.iter().take(at);
            if *number > MAX_TABLES || before.any(|(_, other, _)| other == number) {
                let accepted = "one of its own for every table, at most 1000";
                return refuse("number of a table", u64::from(*number), accepted);
            }
        }
        let held = tables.iter().map(|(nest, ..)| nest.plan.size_bytes()).sum();
        let next = plan.cuckoo_table(first_free_number(
            tables.iter().map(|(_, number, _)| *number),
        ));
        check_growth(next.map(|next| next.size_bytes()), held)?;
        let Some((newest, number, twins)) = tables.pop() else {
            return refuse("tables", 0, "at least one");
        };
        let link = |(nest, number, twins)| OlderTable {
            table: nest,
            info: TableInfo {
                number,
                extra_copies: twins,
            },
        };
        let chain = Self {
            plan,
            next: NextPart::default(),
            older: tables.into_iter().map(link).collect(),
            newest: TableInfo {
                number,
                extra_copies: twins,
            },
        };
        Ok((chain, newest))
    }

    pub(super) fn try_clone(&self) -> Result<Self, PlanError> {
        let mut older = reserved(self.older.len() as u64)?;
        for OlderTable {
            table: nest,
            info: label,
        } in &self.older
        {
            older.push(OlderTable {
                table: nest.try_clone()?,
                info: label.try_clone()?,
            });
        }
        Ok(Self {
            older,
            newest: self.newest.try_clone()?,
            ..*self
        })
    }

    /// The number of every table and its twins, the oldest first.
    pub(super) fn numbers_and_extra_copies(&self) -> impl Iterator<Item = (u32, &Multiset)> {
        self.table_infos()
            .map(|label| (label.number, &label.extra_copies))
    }

    pub(super) fn plan(&self) -> &GrowingPlan {
        &self.plan
    }

    /// The tables before the newest, the oldest first.
    pub(super) fn older(&self) -> impl Iterator<Item = &CuckooTable> {
        self.older.iter().map(|link| &link.table)
    }

    /// Keys that have no cell of their own.
    pub(super) fn extra_copies(&self) -> u64 {
        self.table_infos()
            .map(|label| label.extra_copies.len())
            .sum()
    }

    /// Bytes of memory beside the tables.
    pub(super) fn extra_copies_size_bytes(&self) -> u64 {
        self.table_infos()
            .map(|label| label.extra_copies.size_bytes())
            .sum()
    }

    fn table_infos(&self) -> impl Iterator<Item = &TableInfo> {
        let older = self.older.iter().map(|link| &link.info);
        older.chain([&self.newest])
    }

    /// Whether one of the older tables has the key.
    pub(super) fn older_contains(&self, hash: u64) -> bool {
        self.older().any(|nest| nest.cells.find(hash))
    }

    /// Prefetches what `in_older` looks at.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: u64) {
        for nest in self.older() {
            nest.cells.prefetch(hash);
        }
    }

    /// Puts a key in; `true` when it was definitely new. Grows when the newest table has as many keys as it was planned for. With a
    /// limit for all of the filter it grows exactly as without, or refuses the key.
    pub(super) fn insert(
        &mut self,
        newest: &mut CuckooTable,
        hash: u64,
        max_bytes: Option<u64>,
    ) -> Result<bool, Full> {
        let left = max_bytes.map(|most| most.saturating_sub(self.size_bytes(newest)));
        for OlderTable {
            table: nest,
            info: label,
        } in &mut self.older
        {
            if nest.cells.find(hash) {
                label.add_extra_copy(nest, hash, left)?;
                return Ok(false);
            }
        }
        if newest.cells.find(hash) {
            if newest.insert(hash).is_err() {
                self.newest.add_extra_copy(newest, hash, left)?;
            }
            return Ok(false);
        }
        if newest.keys >= newest.plan.capacity() {
            // Without memory for it the key goes into the full one, as long as that takes more.
            self.grow(newest, left)?;
        }
        newest.insert(hash).or_else(|full| {
            if self.grow(newest, left)? {
                newest.insert(hash)
            } else {
                Err(full)
            }
        })
    }

    /// How many copies of a key are in: all of them are in the oldest table that knows it.
    pub(super) fn count(&self, newest: &CuckooTable, hash: u64) -> u64 {
        let older = self.older.iter().map(|link| (&link.table, &link.info));
        let mut tables = older.chain([(newest, &self.newest)]);
        let knows = tables.find(|(nest, _)| nest.cells.find(hash));
        knows.map_or(0, |(nest, label)| {
            u64::from(nest.copies(hash)) + label.extra_copies.count(nest.fingerprint_id(hash))
        })
    }

    fn size_bytes(&self, newest: &CuckooTable) -> u64 {
        let older = self.older().map(|nest| nest.plan.size_bytes()).sum::<u64>();
        older + newest.plan.size_bytes() + self.extra_copies_size_bytes()
    }

    /// Takes out one copy.
    pub(super) fn remove(&mut self, newest: &mut CuckooTable, hash: u64) -> bool {
        let knows = |link: &OlderTable| link.table.cells.find(hash);
        let Some(at) = self.older.iter().position(knows) else {
            return newest.cells.find(hash) && self.newest.remove(newest, hash);
        };
        let OlderTable {
            table: nest,
            info: label,
        } = &mut self.older[at];
        label.remove(nest, hash);
        if nest.keys == 0 {
            self.older.remove(at);
        }
        true
    }

    /// Opens the next table; `false` when its rate would be too strict, or there is no memory for it. With a limit of this many
    /// bytes that are left, want of memory is an error.
    fn grow(&mut self, newest: &mut CuckooTable, left: Option<u64>) -> Result<bool, Full> {
        let number = first_free_number(self.table_infos().map(|label| label.number));
        let plan = self.plan;
        let Ok(plan) = self.next.get(number, |number| plan.cuckoo_table(number)) else {
            return Ok(false);
        };
        let size_bytes = plan.size_bytes();
        let refused = match left {
            Some(left) if size_bytes > left => return Err(Full::Memory { size_bytes }),
            Some(_) => Err(Full::Memory { size_bytes }),
            None => Ok(false),
        };
        match CuckooTable::new(plan) {
            Ok(opened) if self.older.try_reserve(1).is_ok() => {
                self.older.push(OlderTable {
                    table: core::mem::replace(newest, opened),
                    info: core::mem::replace(&mut self.newest, TableInfo::new(number)),
                });
                Ok(true)
            }
            _ => refused,
        }
    }

    /// Leaves one table, empty.
    pub(super) fn clear(&mut self, newest: &mut CuckooTable) {
        if let Some(at) = self.older.iter().position(|link| link.info.number == 0) {
            let first = self.older.swap_remove(at);
            *newest = first.table;
            self.newest.number = first.info.number;
        }
        newest.clear();
        self.older.clear();
        self.newest = TableInfo::new(self.newest.number);
    }
}

/// The number of the next table: those of tables that have been emptied and dropped are used again, and so are their shares of
/// the rate.
fn first_free_number(taken: impl Iterator<Item = u32>) -> u32 {
    let mut is_taken = [false; MAX_TABLES as usize];
    for number in taken {
        if let Some(is_taken) = is_taken.get_mut(number as usize) {
            *is_taken = true;
        }
    }
    let free = is_taken.iter().position(|is_taken| !is_taken);
    free.map_or(MAX_TABLES, |free| free as u32)
}

impl TableInfo {
    fn new(number: u32) -> Self {
        Self {
            number,
            extra_copies: Multiset::default(),
        }
    }

    fn try_clone(&self) -> Result<Self, PlanError> {
        let twins = self.extra_copies.try_clone()?;
        Ok(Self {
            extra_copies: twins,
            ..*self
        })
    }

    fn add_extra_copy(
        &mut self,
        nest: &CuckooTable,
        hash: u64,
        left: Option<u64>,
    ) -> Result<(), Full> {
        let size_bytes = self.extra_copies.growth_bytes();
        let no_memory = Full::Memory { size_bytes };
        match left {
            Some(left) if size_bytes > left => Err(no_memory),
            Some(_) => self
                .extra_copies
                .insert(nest.fingerprint_id(hash))
                .map_err(|_| no_memory),
            None => self
                .extra_copies
                .insert(nest.fingerprint_id(hash))
                .map_err(|_| nest.full()),
        }
    }

    /// Takes out one copy of a key that the table has: a twin if there is one, since its cell must then stay.
    fn remove(&mut self, nest: &mut CuckooTable, hash: u64) -> bool {
        self.extra_copies.remove(nest.fingerprint_id(hash)) || nest.remove(hash)
    }
}
