//! `GrowingCuckoo`: for an unknown number of keys that may be removed again. It grows in place, in small steps.
//!
//! It is one table (`slice_table.rs`) if the maximum is known. Otherwise a table whose share of the rate is used up is followed by
//! one for 32 times as many keys. A key belongs to the oldest table that has its slice, so that removal from several tables is safe:
//! `cuckoo_chain.rs` explains why.

mod close;
pub(super) mod counted_table;
mod union;

pub use counted_table::GrowingCuckooTable;

use super::slice_table::SliceTable;
use crate::key_type::key_type_methods;
use crate::plan::GrowingCuckooPlan;
use crate::probe::slice::place;
use crate::simd::CACHED_BYTES;
use crate::stats::known;
use crate::store::{Multiset, reserved};
use crate::{Full, HashScheme, Kernel, Key, KeyHash, KeyType, Kind, PlanError, SipKey, Stats};
use alloc::vec::Vec;
use core::fmt;
use counted_table::CountedTable;

/// How many keys are looked up in one table before the next.
const KEYS_PER_ROUND: usize = 1024;

/// How many keys of a batch are prefetched before they are inserted.
const CHUNK: usize = 32;

/// A cuckoo filter that grows with its keys: they can be inserted, removed and counted, and there is always room.
///
/// With a maximum it takes little more memory than a filter of fixed size, however few keys it holds; without one, it keeps the
/// false-positive rate for any number of keys. Inserting takes longer than in a [`GrowingBloom`](crate::GrowingBloom), because keys
/// are rewritten as it grows; lookups take less time.
///
/// ```
/// # use mayhap_core as mayhap;
/// let mut seen = mayhap::GrowingCuckoo::with_maximum(10_000_000, 0.01)?;
/// assert!(seen.size_bytes() < 100);
/// for user in 0..10_000_u32 {
///     seen.try_insert(user)?;
/// }
/// assert!(seen.contains(77_u32) && seen.remove(77_u32) && !seen.contains(77_u32));
/// assert_eq!(seen.estimated_keys(), 9_999);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct GrowingCuckoo {
    /// Never empty; the oldest is first.
    tables: Vec<CountedTable>,
    plan: GrowingCuckooPlan,
    scheme: HashScheme,
    /// `scheme.origin()`, cached because debug builds compare it for every hash.
    origin: u64,
    key_type: Option<KeyType>,
    is_set: bool,
}

impl GrowingCuckoo {
    /// An empty filter that keeps the false-positive rate for any number of keys. `capacity` is a guess: up to there a lookup reads
    /// one table. Keys are hashed with XXH3; for untrusted keys see [`GrowingCuckoo::keyed`].
    ///
    /// # Errors
    /// If the capacity is 0, or the rate is not between 0 and 1, or too strict for the capacity.
    pub fn new(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            GrowingCuckooPlan::new(capacity as u64, false_positive_rate)?,
            HashScheme::Xxh3,
        )
    }

    /// An empty filter for at most `maximum` keys, which starts with a few bytes: faster and smaller than one without a maximum. It
    /// accepts more keys, and [`is_over_capacity`](Self::is_over_capacity) then reports that the rate is no longer kept.
    ///
    /// # Errors
    /// As [`GrowingCuckoo::new`].
    pub fn with_maximum(maximum: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            GrowingCuckooPlan::with_maximum(maximum as u64, false_positive_rate)?,
            HashScheme::Xxh3,
        )
    }

    /// The same as [`GrowingCuckoo::new`] for untrusted keys: hashed with SipHash-1-3 under a secret key, so that attackers cannot
    /// craft colliding keys.
    ///
    /// # Errors
    /// As [`GrowingCuckoo::new`].
    pub fn keyed(
        capacity: usize,
        false_positive_rate: f64,
        key: SipKey,
    ) -> Result<Self, PlanError> {
        Self::from_plan(
            GrowingCuckooPlan::new(capacity as u64, false_positive_rate)?,
            HashScheme::Sip13(key),
        )
    }

    /// The same as [`GrowingCuckoo::new`] for callers that already have good 64-bit hashes, passed as [`KeyHash::from_u64`]. Methods
    /// that take key bytes panic on such a filter.
    ///
    /// # Errors
    /// As [`GrowingCuckoo::new`].
    pub fn for_hashes(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            GrowingCuckooPlan::new(capacity as u64, false_positive_rate)?,
            HashScheme::Caller,
        )
    }

    /// An empty filter that grows as planned.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn from_plan(plan: GrowingCuckooPlan, scheme: HashScheme) -> Result<Self, PlanError> {
        Self::empty(plan, scheme, false)
    }

    /// An empty filter. One with counters is the inside of a `CountingCuckoo`.
    pub(super) fn empty(
        plan: GrowingCuckooPlan,
        scheme: HashScheme,
        has_counters: bool,
    ) -> Result<Self, PlanError> {
        let mut tables = reserved(1)?;
        tables.push(CountedTable::new(plan.first_table(), has_counters)?);
        Ok(Self::with_tables(plan, scheme, tables))
    }

    fn with_tables(plan: GrowingCuckooPlan, scheme: HashScheme, tables: Vec<CountedTable>) -> Self {
        Self {
            tables,
            plan,
            scheme,
            origin: scheme.origin(),
            key_type: None,
            is_set: false,
        }
    }

    /// Whether the tables have counters.
    fn has_counters(&self) -> bool {
        self.tables[0].slices.has_counters()
    }

    /// A filter from existing tables, as [`GrowingCuckoo::tables`] returns them.
    ///
    /// # Errors
    /// If there are no tables, or they are not those of the plan, or one of them is damaged, or there is not enough memory.
    pub fn from_tables<'t>(
        plan: GrowingCuckooPlan,
        scheme: HashScheme,
        tables: impl IntoIterator<Item = GrowingCuckooTable<'t>>,
    ) -> Result<Self, PlanError> {
        let opened = tables.into_iter().map(CountedTable::from_parts);
        Self::from_opened(plan, scheme, opened)
    }

    /// A filter from existing tables, if they are those of the plan.
    pub(super) fn from_opened(
        plan: GrowingCuckooPlan,
        scheme: HashScheme,
        tables: impl Iterator<Item = Result<CountedTable, PlanError>>,
    ) -> Result<Self, PlanError> {
        let mut opened: Vec<CountedTable> = Vec::new();
        for table in tables {
            let table = table?;
            if plan.table(opened.len() as u32) != Some(table.plan) {
                return Err(PlanError::InvalidInteger {
                    field: "slice bits",
                    value: table.plan.slice_bits.into(),
                    accepted: "those of the plan",
                });
            }
            opened.push(table);
        }
        if opened.is_empty() {
            return Err(PlanError::InvalidInteger {
                field: "tables",
                value: 0,
                accepted: "at least one",
            });
        }
        Ok(Self::with_tables(plan, scheme, opened))
    }

    /// The contents of all tables, the oldest first.
    pub fn tables(&self) -> impl Iterator<Item = GrowingCuckooTable<'_>> {
        self.tables.iter().map(|table| {
            let mut extra_copies: Vec<_> = table.extra_copies.iter().collect();
            extra_copies.sort_unstable();
            GrowingCuckooTable {
                capacity: table.plan.capacity,
                slices: table.slices.parts(),
                extra_copies,
            }
        })
    }

    /// All tables and their capacities, for filters with counters.
    pub(super) fn counted_tables(&self) -> impl ExactSizeIterator<Item = (&SliceTable, u64)> {
        self.tables
            .iter()
            .map(|table| (&table.slices, table.plan.capacity))
    }

    key_type_methods!();

    /// Whether the filter is a set: its keys are not counted, however often they are inserted.
    pub fn is_set(&self) -> bool {
        self.is_set
    }

    /// Makes it a set, or a filter that counts. Do this before the first insert; it is saved with the filter.
    pub fn set_is_set(&mut self, is_set: bool) {
        self.is_set = is_set;
    }

    /// The hash of a key. Every filter of the same scheme accepts it.
    ///
    /// # Panics
    /// On a filter created by [`GrowingCuckoo::for_hashes`]. The same for all methods below that take key bytes.
    #[inline]
    pub fn hash(&self, key: impl Key) -> KeyHash {
        self.scheme.hash(key)
    }

    /// `Ok(true)`: the key was definitely new. `Ok(false)`: the key, or one that the filter cannot distinguish from it, was present;
    /// it is counted once more, and needs its own [`remove`](Self::remove), unless the filter [is a set](Self::is_set).
    ///
    /// # Errors
    /// If there is not enough memory. The filter then contains what it contained before.
    #[inline]
    pub fn try_insert(&mut self, key: impl Key) -> Result<bool, Full> {
        let hash = self.hash(key);
        self.try_insert_hash(hash)
    }

    /// `Ok(true)`: the key was definitely new and has been inserted. `Ok(false)`: the key, or one that the filter cannot distinguish
    /// from it, was present, and nothing changed. For sets whose keys may arrive twice and are not removed.
    ///
    /// A new key that looks like a stored one is not counted, and is lost when that other key is removed.
    ///
    /// # Errors
    /// As [`try_insert`](Self::try_insert).
    #[inline]
    pub fn insert_if_absent(&mut self, key: impl Key) -> Result<bool, Full> {
        let hash = self.hash(key);
        self.insert_hash_if_absent(hash)
    }

    /// `true`: the key was present, and one insert of it is undone. `false`: the key was definitely absent, and nothing changed.
    ///
    /// Only remove keys that were inserted. Removing a false positive removes the other key that it looks like; no filter can detect
    /// that.
    #[inline]
    pub fn remove(&mut self, key: impl Key) -> bool {
        let hash = self.hash(key);
        self.remove_hash(hash)
    }

    /// `false` is certain: the key is absent. `true` is probable.
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// `contains` for many keys. Faster, because the memory accesses of dozens of keys overlap.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length; on a filter created by [`GrowingCuckoo::for_hashes`].
    pub fn contains_each(&self, keys: &[impl Key], found: &mut [bool]) {
        let look_up = |hashes: &[KeyHash], found: &mut [bool]| self.contains_hashes(hashes, found);
        self.scheme.look_up_in_chunks(keys, found, look_up);
    }

    /// As [`try_insert`](Self::try_insert), for a hash of this filter's scheme.
    ///
    /// # Errors
    /// As `try_insert`.
    #[inline]
    pub fn try_insert_hash(&mut self, hash: KeyHash) -> Result<bool, Full> {
        hash.assert_mixed(self.origin);
        self.insert_placed(place(hash.to_u64()), true, None)
    }

    /// As [`insert_if_absent`](Self::insert_if_absent), for a hash of this filter's scheme.
    ///
    /// # Errors
    /// As `insert_if_absent`.
    #[inline]
    pub fn insert_hash_if_absent(&mut self, hash: KeyHash) -> Result<bool, Full> {
        hash.assert_mixed(self.origin);
        self.insert_placed(place(hash.to_u64()), false, None)
    }

    /// As [`try_insert_hash`](Self::try_insert_hash), for callers with a memory limit: if the filter must grow and would then exceed
    /// `max_bytes`, it rejects the key. Accepted keys are stored exactly as without a limit.
    ///
    /// # Errors
    /// As `try_insert_hash`, and [`Full::Memory`] if it must not grow.
    pub fn try_insert_hash_within(&mut self, hash: KeyHash, max_bytes: u64) -> Result<bool, Full> {
        hash.assert_origin(self.origin);
        self.insert_placed(place(hash.to_u64()), true, Some(max_bytes))
    }

    /// As [`insert_hash_if_absent`](Self::insert_hash_if_absent), for callers with a memory limit, as
    /// [`try_insert_hash_within`](Self::try_insert_hash_within).
    ///
    /// # Errors
    /// As `try_insert_hash_within`.
    pub fn insert_hash_if_absent_within(
        &mut self,
        hash: KeyHash,
        max_bytes: u64,
    ) -> Result<bool, Full> {
        hash.assert_origin(self.origin);
        self.insert_placed(place(hash.to_u64()), false, Some(max_bytes))
    }

    /// [`try_insert_hash`](Self::try_insert_hash) for many hashes. Faster if the filter is larger than a core's cache; the resulting
    /// bytes are the same.
    ///
    /// # Errors
    /// If one is rejected. Those before it have been inserted; it and those after it have not.
    pub fn try_insert_hashes(&mut self, hashes: &[KeyHash]) -> Result<(), Full> {
        self.insert_each(hashes, true, |_, _| {})
    }

    /// [`insert_hash_if_absent`](Self::insert_hash_if_absent) for many hashes; `is_new` says for each what it would have returned.
    ///
    /// # Errors
    /// As [`try_insert_hashes`](Self::try_insert_hashes).
    ///
    /// # Panics
    /// If `hashes` and `is_new` differ in length.
    pub fn insert_hashes_if_absent(
        &mut self,
        hashes: &[KeyHash],
        is_new: &mut [bool],
    ) -> Result<(), Full> {
        assert_eq!(
            hashes.len(),
            is_new.len(),
            "one place in `is_new` for every hash"
        );
        self.insert_each(hashes, false, |at, new| is_new[at] = new)
    }

    fn insert_each(
        &mut self,
        hashes: &[KeyHash],
        counts: bool,
        mut report: impl FnMut(usize, bool),
    ) -> Result<(), Full> {
        let mut at = 0;
        for chunk in hashes.chunks(CHUNK) {
            if self.size_bytes() > CACHED_BYTES {
                for hash in chunk {
                    let placed = place(hash.to_u64());
                    for table in &self.tables {
                        table.slices.prefetch(placed);
                    }
                }
            }
            for hash in chunk {
                hash.assert_mixed(self.origin);
                report(at, self.insert_placed(place(hash.to_u64()), counts, None)?);
                at += 1;
            }
        }
        Ok(())
    }

    /// As [`remove`](Self::remove), for a hash of this filter's scheme.
    pub fn remove_hash(&mut self, hash: KeyHash) -> bool {
        hash.assert_origin(self.origin);
        let placed = place(hash.to_u64());
        match self.tables.iter_mut().find(|table| table.find(placed)) {
            Some(table) => table.remove(placed),
            None => false,
        }
    }

    /// As [`contains`](Self::contains), for a hash of this filter's scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.contains_hash_with::<false>(hash)
    }

    /// `contains_hash`; `HAS_COUNTERS` says whether the tables have counters.
    #[inline(always)]
    pub(super) fn contains_hash_with<const HAS_COUNTERS: bool>(&self, hash: KeyHash) -> bool {
        hash.assert_origin(self.origin);
        let placed = place(hash.to_u64());
        let find = |table: &CountedTable| table.slices.find::<HAS_COUNTERS>(placed);
        match self.tables.as_slice() {
            [only] => find(only),
            // Without a branch between two tables, so that their cache misses overlap.
            [first, second] => find(first) | find(second),
            tables => tables
                .iter()
                .fold(false, |found, table| found | find(table)),
        }
    }

    /// `contains_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        assert_eq!(
            hashes.len(),
            found.len(),
            "one place in `found` for every hash"
        );
        if cfg!(debug_assertions) {
            for hash in hashes {
                hash.assert_origin(self.origin);
            }
        }
        let Some((first, others)) = self.tables.split_first() else {
            unreachable!("there is always a table");
        };
        let mut more = [false; KEYS_PER_ROUND];
        for (hashes, found) in hashes
            .chunks(KEYS_PER_ROUND)
            .zip(found.chunks_mut(KEYS_PER_ROUND))
        {
            first.slices.find_each(hashes, found);
            for table in others {
                let more = &mut more[..found.len()];
                table.slices.find_each(hashes, more);
                for (found, more) in found.iter_mut().zip(&*more) {
                    *found |= more;
                }
            }
        }
    }

    /// The instructions that batches use.
    pub fn kernel(&self) -> Kernel {
        self.tables[0].slices.kernel()
    }

    /// The same filter with batches that use a given kernel, if this CPU has it. For tests and measurements; tables that are added
    /// later use the fastest.
    #[must_use]
    pub fn with_kernel(mut self, kernel: Kernel) -> Self {
        for table in &mut self.tables {
            table.slices.set_kernel(kernel);
        }
        self
    }

    /// The number of copies of a key, including keys that look the same; never too low.
    pub fn count_hash(&self, hash: KeyHash) -> u64 {
        hash.assert_origin(self.origin);
        let placed = place(hash.to_u64());
        let table = self.tables.iter().find(|table| table.find(placed));
        table.map_or(0, |table| table.count_of(placed))
    }

    /// `count_hash` for many hashes, in a filter with counters.
    pub(super) fn count_hashes(&self, hashes: &[KeyHash], counts: &mut [u64]) {
        assert_eq!(
            hashes.len(),
            counts.len(),
            "one place in `counts` for every hash"
        );
        let mut payloads = [0_u16; KEYS_PER_ROUND];
        counts.fill(0);
        for (hashes, counts) in hashes
            .chunks(KEYS_PER_ROUND)
            .zip(counts.chunks_mut(KEYS_PER_ROUND))
        {
            let payloads = &mut payloads[..hashes.len()];
            for table in &self.tables {
                table.slices.find_each(hashes, payloads);
                for ((hash, count), &found) in hashes.iter().zip(&mut *counts).zip(&*payloads) {
                    // The oldest table with a slice owns it.
                    if *count == 0 && found > 0 {
                        let payload = u64::from(found) - 1;
                        let rest = table.slices.rest_of(place(hash.to_u64()), payload);
                        *count = u64::from(found) + rest;
                    }
                }
            }
        }
    }

    fn insert_placed(
        &mut self,
        placed: u64,
        counts: bool,
        max_bytes: Option<u64>,
    ) -> Result<bool, Full> {
        let mut tables = self.tables.iter();
        if let Some(at) = tables.position(|table| table.find(placed)) {
            if counts && !self.is_set {
                let others = self.tables.iter().enumerate().filter(|other| other.0 != at);
                let others: u64 = others.map(|(_, other)| other.size_bytes()).sum();
                let max_bytes = max_bytes.map(|max| max.saturating_sub(others));
                self.tables[at].add_copy(placed, max_bytes)?;
            }
            return Ok(false);
        }
        self.insert_new(placed, max_bytes)?;
        Ok(true)
    }

    fn insert_new(&mut self, placed: u64, max_bytes: Option<u64>) -> Result<(), Full> {
        let newest = self.newest();
        // Planning takes as long as an insert.
        let is_full = newest.slices.keys() >= newest.plan.capacity;
        let next = if is_full {
            self.plan.table(self.tables.len() as u32)
        } else {
            None
        };
        if let Some(plan) = next {
            let no_memory = Full::Memory {
                size_bytes: self.size_bytes(),
            };
            self.tables.try_reserve(1).map_err(|_| no_memory)?;
            let table = CountedTable::new(plan, self.has_counters()).map_err(|_| no_memory)?;
            self.tables.push(table);
        }
        let Some((newest, older)) = self.tables.split_last_mut() else {
            unreachable!("there is always a table");
        };
        let for_newest = max_bytes.map(|max| {
            let older: u64 = older.iter().map(CountedTable::size_bytes).sum();
            max.saturating_sub(older + newest.extra_copies.size_bytes())
        });
        let room = newest.slices.make_room(for_newest);
        let inserted = room.and_then(|()| newest.slices.insert(placed, 0));
        if inserted.is_err() && next.is_some() {
            self.tables.pop();
        }
        inserted
    }

    fn newest(&self) -> &CountedTable {
        &self.tables[self.tables.len() - 1]
    }

    /// Makes room for `more` keys at once. That takes less time than growing step by step, and must precede keys that arrive in the
    /// order of their hashes, as those of another filter or of a sorted file do.
    ///
    /// # Errors
    /// If there is not enough memory. The filter then contains what it contained before.
    pub fn reserve(&mut self, more: u64) -> Result<(), Full> {
        let newest = self.tables.len() - 1;
        let newest = &mut self.tables[newest];
        let room = newest.plan.capacity.saturating_sub(newest.slices.keys());
        let more = if self.plan.maximum().is_some() {
            more
        } else {
            more.min(room)
        };
        newest
            .slices
            .reserve(newest.slices.keys().saturating_add(more))
    }

    /// Removes all keys, and returns the memory.
    pub fn clear(&mut self) {
        self.tables.truncate(1);
        self.tables[0].slices.clear();
        self.tables[0].extra_copies = Multiset::default();
    }

    /// A copy, or an error if there is not enough memory for it.
    ///
    /// # Errors
    /// [`PlanError::OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, PlanError> {
        let mut tables = reserved(self.tables.len() as u64)?;
        for table in &self.tables {
            tables.push(CountedTable {
                slices: table.slices.try_clone()?,
                extra_copies: table.extra_copies.try_clone()?,
                plan: table.plan,
            });
        }
        Ok(Self { tables, ..*self })
    }

    /// The number of keys, copies included: exact, and known without reading the cells.
    pub fn estimated_keys(&self) -> u64 {
        self.keys_in_tables().fold(0, u64::saturating_add)
    }

    /// The number of different slices.
    pub(super) fn distinct_keys(&self) -> u64 {
        self.tables
            .iter()
            .map(|table| table.slices.distinct())
            .sum()
    }

    /// Whether the filter is empty.
    pub fn is_empty(&self) -> bool {
        self.estimated_keys() == 0
    }

    /// The requested false-positive rate.
    pub fn false_positive_rate(&self) -> f64 {
        self.plan.false_positive_rate()
    }

    /// The false-positive rate now: the share of all slices that are stored.
    pub fn estimated_rate(&self) -> f64 {
        let misses = |table: &CountedTable| {
            let slices = libm::exp2(f64::from(table.plan.slice_bits));
            1.0 - table.slices.distinct() as f64 / slices
        };
        1.0 - self.tables.iter().map(misses).product::<f64>()
    }

    /// The share of cells in use.
    pub fn load(&self) -> f64 {
        let sum = |count: fn(&SliceTable) -> u64| {
            let counts = self.tables.iter().map(|table| count(&table.slices));
            counts.sum::<u64>() as f64
        };
        sum(SliceTable::keys) / sum(SliceTable::windows)
    }

    /// Whether the filter holds more keys than its maximum, so that the rate is no longer kept. One without a maximum never does, up
    /// to a rate that 54 bits of hash cannot keep.
    pub fn is_over_capacity(&self) -> bool {
        let mut tables = self.tables.iter();
        // A union may overfill an older table. Copies do not count: they do not affect the rate.
        tables.any(|table| table.slices.distinct() > table.plan.capacity)
    }

    /// The number of keys that the present tables are for.
    pub fn capacity(&self) -> u64 {
        self.tables.iter().map(|table| table.plan.capacity).sum()
    }

    /// How many more keys fit before the filter grows; 0 while it is growing. The rare key without a cell takes memory even then.
    pub fn keys_until_growth(&self) -> u64 {
        let newest = self.newest();
        let until_sweep = newest.slices.keys_until_growth();
        match self.plan.table(self.tables.len() as u32) {
            None => until_sweep,
            Some(_) => until_sweep.min(newest.plan.capacity.saturating_sub(newest.slices.keys())),
        }
    }

    /// The number of keys in each table, copies included, the oldest first.
    pub fn keys_in_tables(&self) -> impl ExactSizeIterator<Item = u64> {
        self.tables.iter().map(CountedTable::keys)
    }

    /// How many more keys fit before the filter is over capacity; `u64::MAX` without a maximum.
    pub fn keys_until_full(&self) -> u64 {
        match self.plan.maximum() {
            None => u64::MAX,
            Some(_) => self
                .capacity()
                .saturating_sub(self.newest().slices.distinct()),
        }
    }

    /// Bytes of memory.
    pub fn size_bytes(&self) -> u64 {
        self.tables.iter().map(CountedTable::size_bytes).sum()
    }

    /// What the filter is, how full it is and which rate it has now.
    pub fn stats(&self) -> Stats {
        Stats {
            capacity: Some(self.capacity()),
            bits: Some(8 * self.size_bytes()),
            fill: Some(self.load()),
            estimated_keys: Some(self.estimated_keys()),
            false_positive_rate: Some(self.false_positive_rate()),
            estimated_rate: Some(self.estimated_rate()),
            is_over_capacity: self.is_over_capacity(),
            keys_until_full: known(self.keys_until_full()),
            layers: self.tables.len() as u64,
            ..Stats::new(Kind::GrowingCuckoo, self.size_bytes())
        }
    }

    /// The plan.
    pub fn plan(&self) -> &GrowingCuckooPlan {
        &self.plan
    }

    /// The hash scheme.
    pub fn scheme(&self) -> HashScheme {
        self.scheme
    }
}

impl fmt::Debug for GrowingCuckoo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "GrowingCuckoo({} keys in {} tables, {:.1} % full, {:?})",
            self.estimated_keys(),
            self.tables.len(),
            100.0 * self.load(),
            self.scheme
        )
    }
}
