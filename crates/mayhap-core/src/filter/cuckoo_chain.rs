//! The older tables of a growing `Cuckoo`, and the rule that makes removal from a chain safe.
//!
//! A key collides with stored keys at the rate of each table. If it were stored in the newest table while an older one has a cell
//! with the same fingerprint, a removal could not know which of the two cells belongs to the key, and removing the wrong one
//! would lose another key. Therefore
//!
//! * a key goes to the oldest table that has a cell with its fingerprint, and is counted there as an *extra copy*;
//! * only a key that no table contains goes into the newest table, so that older tables never get new cells;
//! * a removal searches the oldest table first: the first table that contains the key is the one that it went to.
//!
//! Extra copies are counted outside of the tables, because an older table may be full. Their share of the keys is the filter's
//! rate, and each distinct one takes 16 to 64 bytes. Their number is not limited: from 100 keys to a million at 1 %, the hundred
//! cells of the first table get 60 extra copies each, all of them different keys. (Searching the newest table first, or storing
//! extra copies in the newest table, would lose a key in every 1/rate removals.)

use super::cuckoo_table::CuckooTable;
use crate::plan::{CuckooPlan, GrowingPlan, NextPart, check_growth};
use crate::store::{Multiset, reserved};
use crate::{Full, Kernel, KeyHash, PlanError};
use alloc::vec::Vec;

/// The maximum number of tables in stored data. No plan reaches it.
const MAX_TABLES: u32 = 1000;

/// How many keys a batch looks up in one table before it goes on to the next.
const KEYS_PER_ROUND: usize = 512;

/// All of a growing `Cuckoo` except its newest table.
#[derive(Clone, PartialEq)]
pub(super) struct CuckooChain {
    plan: GrowingPlan,
    next: NextPart<CuckooPlan>,
    /// The oldest is first; none is empty.
    older: Vec<OlderTable>,
    newest: TableInfo,
}

/// A table's number in the plan, and its extra copies: keys that collide with one of its cells and have no cell of their own.
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

    /// A chain from stored data, and its newest table: for every table, the oldest first, its cells, number and extra copies.
    pub(super) fn from_tables(
        plan: GrowingPlan,
        mut tables: Vec<(CuckooTable, u32, Multiset)>,
    ) -> Result<(Self, CuckooTable), PlanError> {
        let invalid = |field, value, accepted| {
            Err(PlanError::InvalidInteger {
                field,
                value,
                accepted,
            })
        };
        for (at, (table, number, _)) in tables.iter().enumerate() {
            let is_older = at + 1 < tables.len();
            if is_older && table.keys == 0 {
                return invalid("keys in an older table", 0, "at least one");
            }
            let mut before = tables.iter().take(at);
            if *number > MAX_TABLES || before.any(|(_, other, _)| other == number) {
                let accepted = "a different one for every table, at most 1000";
                return invalid("number of a table", u64::from(*number), accepted);
            }
        }
        let held = tables
            .iter()
            .map(|(table, ..)| table.plan.size_bytes())
            .sum();
        let next = plan.cuckoo_table(first_free_number(
            tables.iter().map(|(_, number, _)| *number),
        ));
        check_growth(next.map(|next| next.size_bytes()), held)?;
        let Some((newest, number, extra_copies)) = tables.pop() else {
            return invalid("tables", 0, "at least one");
        };
        let link = |(table, number, extra_copies)| OlderTable {
            table,
            info: TableInfo {
                number,
                extra_copies,
            },
        };
        let chain = Self {
            plan,
            next: NextPart::default(),
            older: tables.into_iter().map(link).collect(),
            newest: TableInfo {
                number,
                extra_copies,
            },
        };
        Ok((chain, newest))
    }

    pub(super) fn try_clone(&self) -> Result<Self, PlanError> {
        let mut older = reserved(self.older.len() as u64)?;
        for OlderTable { table, info } in &self.older {
            older.push(OlderTable {
                table: table.try_clone()?,
                info: info.try_clone()?,
            });
        }
        Ok(Self {
            older,
            newest: self.newest.try_clone()?,
            ..*self
        })
    }

    /// The number of every table and its extra copies, the oldest first.
    pub(super) fn numbers_and_extra_copies(&self) -> impl Iterator<Item = (u32, &Multiset)> {
        self.table_infos()
            .map(|info| (info.number, &info.extra_copies))
    }

    pub(super) fn plan(&self) -> &GrowingPlan {
        &self.plan
    }

    /// The tables before the newest, the oldest first.
    pub(super) fn older(&self) -> impl DoubleEndedIterator<Item = &CuckooTable> {
        self.older.iter().map(|link| &link.table)
    }

    /// The number of keys without a cell of their own.
    pub(super) fn extra_copies(&self) -> u64 {
        self.table_infos().map(|info| info.extra_copies.len()).sum()
    }

    /// Bytes of memory for the extra copies.
    pub(super) fn extra_copies_size_bytes(&self) -> u64 {
        self.table_infos()
            .map(|info| info.extra_copies.size_bytes())
            .sum()
    }

    fn table_infos(&self) -> impl Iterator<Item = &TableInfo> {
        let older = self.older.iter().map(|link| &link.info);
        older.chain([&self.newest])
    }

    /// Whether one of the older tables contains the key.
    pub(super) fn older_contains(&self, hash: u64) -> bool {
        self.older().any(|table| table.cells.find(hash))
    }

    /// Sets those places of `found` whose hash one of the older tables contains.
    ///
    /// Hashes that were found are dropped once they are an eighth of all: half of the keys are in the newest table, but for absent
    /// keys it would cost more than it saves.
    pub(super) fn find_each_in_older(&self, hashes: &[KeyHash], found: &mut [bool]) {
        let mut places = [0; KEYS_PER_ROUND];
        let mut left = [KeyHash::from_u64(0); KEYS_PER_ROUND];
        let mut left_found = [false; KEYS_PER_ROUND];
        let mut found_here = [false; KEYS_PER_ROUND];
        for (hashes, found) in hashes
            .chunks(KEYS_PER_ROUND)
            .zip(found.chunks_mut(KEYS_PER_ROUND))
        {
            let mut count = hashes.len();
            left[..count].copy_from_slice(hashes);
            left_found[..count].copy_from_slice(found);
            for (at, place) in places[..count].iter_mut().enumerate() {
                *place = at;
            }
            for table in self.older().rev() {
                let found_count = left_found[..count].iter().filter(|&&found| found).count();
                if 8 * found_count >= count {
                    let all = core::mem::take(&mut count);
                    for at in 0..all {
                        let (place, hash, is_found) = (places[at], left[at], left_found[at]);
                        found[place] = is_found;
                        (places[count], left[count], left_found[count]) = (place, hash, false);
                        count += usize::from(!is_found);
                    }
                }
                table
                    .cells
                    .find_each(&left[..count], &mut found_here[..count]);
                for (found, is_here) in left_found[..count].iter_mut().zip(&found_here) {
                    *found |= is_here;
                }
            }
            for (&place, &is_found) in places[..count].iter().zip(&left_found) {
                found[place] = is_found;
            }
        }
    }

    /// Sets the kernel of the older tables.
    pub(super) fn set_kernel(&mut self, kernel: Kernel) {
        for older in &mut self.older {
            older.table.cells.set_kernel(kernel);
        }
    }

    /// Prefetches what `older_contains` reads.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: u64) {
        for table in self.older() {
            table.cells.prefetch(hash);
        }
    }

    /// Inserts a key; `true` if it was definitely new. Grows when the newest table holds as many keys as planned. With a memory
    /// limit for the whole filter it grows exactly as without, or rejects the key.
    pub(super) fn insert(
        &mut self,
        newest: &mut CuckooTable,
        hash: u64,
        max_bytes: Option<u64>,
    ) -> Result<bool, Full> {
        let left = max_bytes.map(|max| max.saturating_sub(self.size_bytes(newest)));
        for OlderTable { table, info } in &mut self.older {
            if table.cells.find(hash) {
                info.add_extra_copy(table, hash, left)?;
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
            // Without memory for another table, the key goes into the newest one while that has free cells.
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

    /// The number of copies of a key: all of them are in the oldest table that contains it.
    pub(super) fn count(&self, newest: &CuckooTable, hash: u64) -> u64 {
        let older = self.older.iter().map(|link| (&link.table, &link.info));
        let mut tables = older.chain([(newest, &self.newest)]);
        let contains = tables.find(|(table, _)| table.cells.find(hash));
        contains.map_or(0, |(table, info)| {
            u64::from(table.copies(hash)) + info.extra_copies.count(table.fingerprint_id(hash))
        })
    }

    fn size_bytes(&self, newest: &CuckooTable) -> u64 {
        let older = self
            .older()
            .map(|table| table.plan.size_bytes())
            .sum::<u64>();
        older + newest.plan.size_bytes() + self.extra_copies_size_bytes()
    }

    /// Removes one copy.
    pub(super) fn remove(&mut self, newest: &mut CuckooTable, hash: u64) -> bool {
        let contains = |link: &OlderTable| link.table.cells.find(hash);
        let Some(at) = self.older.iter().position(contains) else {
            return newest.cells.find(hash) && self.newest.remove(newest, hash);
        };
        let OlderTable { table, info } = &mut self.older[at];
        info.remove(table, hash);
        if table.keys == 0 {
            self.older.remove(at);
        }
        true
    }

    /// Adds the next table; `false` if its rate would be too strict or there is not enough memory. If `left` bytes remain of a
    /// limit, a lack of memory is an error.
    fn grow(&mut self, newest: &mut CuckooTable, left: Option<u64>) -> Result<bool, Full> {
        let number = first_free_number(self.table_infos().map(|info| info.number));
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

    /// Keeps one table, empty.
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

/// The number of the next table. The numbers of tables that became empty and were dropped are reused, and with them their shares
/// of the rate.
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
        let extra_copies = self.extra_copies.try_clone()?;
        Ok(Self {
            extra_copies,
            ..*self
        })
    }

    fn add_extra_copy(
        &mut self,
        table: &CuckooTable,
        hash: u64,
        left: Option<u64>,
    ) -> Result<(), Full> {
        let size_bytes = self.extra_copies.growth_bytes();
        let no_memory = Full::Memory { size_bytes };
        match left {
            Some(left) if size_bytes > left => Err(no_memory),
            Some(_) => self
                .extra_copies
                .insert(table.fingerprint_id(hash))
                .map_err(|_| no_memory),
            None => self
                .extra_copies
                .insert(table.fingerprint_id(hash))
                .map_err(|_| table.full()),
        }
    }

    /// Removes one copy of a key that the table contains: an extra copy if there is one, because the cell must then stay.
    fn remove(&mut self, table: &mut CuckooTable, hash: u64) -> bool {
        self.extra_copies.remove(table.fingerprint_id(hash)) || table.remove(hash)
    }
}
