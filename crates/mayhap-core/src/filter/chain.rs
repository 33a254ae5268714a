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

use super::nest::Nest;
use crate::plan::{CuckooPlan, GrowingPlan, NextPart, check_growth};
use crate::store::{Bag, reserved};
use crate::{Full, PlanError};
use alloc::vec::Vec;

/// More tables than any plan reaches are not taken from outside.
const MAX_TABLES: u32 = 1000;

/// All of a growing `Cuckoo` but its newest table.
#[derive(Clone, PartialEq)]
pub(super) struct Chain {
    plan: GrowingPlan,
    next: NextPart<CuckooPlan>,
    /// The oldest first; none is empty.
    older: Vec<Link>,
    newest: Label,
}

/// What belongs to a table: its number in the plan, and the keys that look like one of its own and have no cell.
#[derive(Clone, PartialEq)]
struct Label {
    number: u32,
    twins: Bag,
}

#[derive(Clone, PartialEq)]
struct Link {
    nest: Nest,
    label: Label,
}

impl Chain {
    /// The chain, and its first table.
    pub(super) fn new(plan: GrowingPlan) -> Result<(Self, Nest), PlanError> {
        let chain = Self {
            plan,
            next: NextPart::default(),
            older: Vec::new(),
            newest: Label::new(0),
        };
        Ok((chain, Nest::new(plan.cuckoo_table(0)?)?))
    }

    /// A chain that is there already, and its newest table: for every table, the oldest first, its number, cells and twins.
    pub(super) fn from_tables(
        plan: GrowingPlan,
        mut tables: Vec<(Nest, u32, Bag)>,
    ) -> Result<(Self, Nest), PlanError> {
        let refuse = |field, value, accepted| {
            Err(PlanError::Count {
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
        let next = plan.cuckoo_table(first_free(tables.iter().map(|(_, number, _)| *number)));
        check_growth(next.map(|next| next.size_bytes()), held)?;
        let Some((newest, number, twins)) = tables.pop() else {
            return refuse("tables", 0, "at least one");
        };
        let link = |(nest, number, twins)| Link {
            nest,
            label: Label { number, twins },
        };
        let chain = Self {
            plan,
            next: NextPart::default(),
            older: tables.into_iter().map(link).collect(),
            newest: Label { number, twins },
        };
        Ok((chain, newest))
    }

    pub(super) fn try_clone(&self) -> Result<Self, PlanError> {
        let mut older = reserved(self.older.len() as u64)?;
        for Link { nest, label } in &self.older {
            older.push(Link {
                nest: nest.try_clone()?,
                label: label.try_clone()?,
            });
        }
        Ok(Self {
            older,
            newest: self.newest.try_clone()?,
            ..*self
        })
    }

    /// The number of every table and its twins, the oldest first.
    pub(super) fn numbers_and_twins(&self) -> impl Iterator<Item = (u32, &Bag)> {
        self.labels().map(|label| (label.number, &label.twins))
    }

    pub(super) fn plan(&self) -> &GrowingPlan {
        &self.plan
    }

    /// The tables before the newest, the oldest first.
    pub(super) fn older(&self) -> impl Iterator<Item = &Nest> {
        self.older.iter().map(|link| &link.nest)
    }

    /// Keys that have no cell of their own.
    pub(super) fn twins(&self) -> u64 {
        self.labels().map(|label| label.twins.len()).sum()
    }

    /// Bytes of memory beside the tables.
    pub(super) fn twins_size_bytes(&self) -> u64 {
        self.labels().map(|label| label.twins.size_bytes()).sum()
    }

    fn labels(&self) -> impl Iterator<Item = &Label> {
        let older = self.older.iter().map(|link| &link.label);
        older.chain([&self.newest])
    }

    /// Whether one of the older tables has the key.
    pub(super) fn in_older(&self, hash: u64) -> bool {
        self.older().any(|nest| nest.table.find(hash))
    }

    /// Asks memory for what `in_older` looks at.
    #[inline(always)]
    pub(super) fn prefetch(&self, hash: u64) {
        for nest in self.older() {
            nest.table.prefetch(hash);
        }
    }

    /// Puts a key in; `true` when it was surely new. Grows when the newest table has as many keys as it was made for. With a limit
    /// for all of the filter it grows exactly as without, or refuses the key.
    pub(super) fn put(
        &mut self,
        newest: &mut Nest,
        hash: u64,
        max_bytes: Option<u64>,
    ) -> Result<bool, Full> {
        let left = max_bytes.map(|most| most.saturating_sub(self.size_bytes(newest)));
        for Link { nest, label } in &mut self.older {
            if nest.table.find(hash) {
                label.add_twin(nest, hash, left)?;
                return Ok(false);
            }
        }
        if newest.table.find(hash) {
            if newest.put(hash).is_err() {
                self.newest.add_twin(newest, hash, left)?;
            }
            return Ok(false);
        }
        if newest.keys >= newest.plan.capacity() {
            // Without memory for it the key goes into the full one, as long as that takes more.
            self.grow(newest, left)?;
        }
        newest.put(hash).or_else(|full| {
            if self.grow(newest, left)? {
                newest.put(hash)
            } else {
                Err(full)
            }
        })
    }

    /// How many copies of a key are in: all of them are in the oldest table that knows it.
    pub(super) fn count(&self, newest: &Nest, hash: u64) -> u64 {
        let older = self.older.iter().map(|link| (&link.nest, &link.label));
        let mut tables = older.chain([(newest, &self.newest)]);
        let knows = tables.find(|(nest, _)| nest.table.find(hash));
        knows.map_or(0, |(nest, label)| {
            u64::from(nest.copies(hash)) + label.twins.count(nest.pair(hash))
        })
    }

    fn size_bytes(&self, newest: &Nest) -> u64 {
        let older = self.older().map(|nest| nest.plan.size_bytes()).sum::<u64>();
        older + newest.plan.size_bytes() + self.twins_size_bytes()
    }

    /// Takes out one copy.
    pub(super) fn take(&mut self, newest: &mut Nest, hash: u64) -> bool {
        let knows = |link: &Link| link.nest.table.find(hash);
        let Some(at) = self.older.iter().position(knows) else {
            return newest.table.find(hash) && self.newest.take(newest, hash);
        };
        let Link { nest, label } = &mut self.older[at];
        label.take(nest, hash);
        if nest.keys == 0 {
            self.older.remove(at);
        }
        true
    }

    /// Opens the next table; `false` when its rate would be too strict, or there is no memory for it. With a limit of so many bytes
    /// that are left, want of memory is an error.
    fn grow(&mut self, newest: &mut Nest, left: Option<u64>) -> Result<bool, Full> {
        let number = first_free(self.labels().map(|label| label.number));
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
        match Nest::new(plan) {
            Ok(opened) if self.older.try_reserve(1).is_ok() => {
                self.older.push(Link {
                    nest: core::mem::replace(newest, opened),
                    label: core::mem::replace(&mut self.newest, Label::new(number)),
                });
                Ok(true)
            }
            _ => refused,
        }
    }

    /// Leaves one table, empty.
    pub(super) fn clear(&mut self, newest: &mut Nest) {
        if let Some(at) = self.older.iter().position(|link| link.label.number == 0) {
            let first = self.older.swap_remove(at);
            *newest = first.nest;
            self.newest.number = first.label.number;
        }
        newest.clear();
        self.older.clear();
        self.newest = Label::new(self.newest.number);
    }
}

/// The number of the next table: those of tables that have been emptied and dropped are used again, and so are their shares of
/// the rate.
fn first_free(taken: impl Iterator<Item = u32>) -> u32 {
    let mut is_taken = [false; MAX_TABLES as usize];
    for number in taken {
        if let Some(is_taken) = is_taken.get_mut(number as usize) {
            *is_taken = true;
        }
    }
    let free = is_taken.iter().position(|is_taken| !is_taken);
    free.map_or(MAX_TABLES, |free| free as u32)
}

impl Label {
    fn new(number: u32) -> Self {
        Self {
            number,
            twins: Bag::default(),
        }
    }

    fn try_clone(&self) -> Result<Self, PlanError> {
        let twins = self.twins.try_clone()?;
        Ok(Self { twins, ..*self })
    }

    fn add_twin(&mut self, nest: &Nest, hash: u64, left: Option<u64>) -> Result<(), Full> {
        let size_bytes = self.twins.growth_bytes();
        let no_memory = Full::Memory { size_bytes };
        match left {
            Some(left) if size_bytes > left => Err(no_memory),
            Some(_) => self.twins.insert(nest.pair(hash)).map_err(|_| no_memory),
            None => self.twins.insert(nest.pair(hash)).map_err(|_| nest.full()),
        }
    }

    /// Takes out one copy of a key that the table has: a twin if there is one, since its cell must then stay.
    fn take(&mut self, nest: &mut Nest, hash: u64) -> bool {
        self.twins.remove(nest.pair(hash)) || nest.take(hash)
    }
}
