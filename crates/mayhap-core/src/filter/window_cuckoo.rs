//! `WindowCuckoo`: "seen in the last 24 hours?" One table of slices, each with the epoch in which its key was last seen.
//!
//! Time is an argument: the crate reads no clock. `window_cuckoo/clock.rs` says which epochs are live. An insert of a present key
//! only rewrites its epoch. Cells of expired keys count as free, and are emptied in turn, before the number of their epoch is used again.
//!
//! The first table has room for a window of keys, and never grows. A burst that exceeds it adds a table that does, with longer slices. Keys
//! in it that are seen again after the burst move back to the first table, and it is dropped when its last key has expired.

mod clock;
mod epoch_table;

use super::slice_table::SliceTableParts;
use super::window::Timestamp;
use crate::key_type::key_type_methods;
use crate::plan::{EPOCH_BITS, SliceTablePlan, WindowCuckooPlan};
use crate::probe::slice::place;
use crate::simd::CACHED_BYTES;
use crate::stats::share;
use crate::store::reserved;
use crate::{Full, HashScheme, Kernel, Key, KeyHash, KeyType, Kind, PlanError, SipKey, Stats};
use alloc::vec::Vec;
use clock::{Clock, LiveEpochs};
use core::fmt;
use core::time::Duration;
use epoch_table::{EpochTable, smallest_shape};

/// How many keys are looked up in one table before the next.
const KEYS_PER_ROUND: usize = 1024;

/// How many keys of a batch are prefetched before they are inserted.
const CHUNK: usize = 32;

/// A filter that keeps a key for a window of time, and at most 1/8 of it longer. One lookup reads one place, however the window is
/// divided, and seeing a key again refreshes it.
///
/// A `now` that goes backwards is treated as the newest time seen. A key that was inserted less than a window ago is always found. With
/// more keys than planned the filter grows, and its rate at most doubles; it shrinks again when they have expired.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Timestamp, WindowCuckoo};
/// use std::time::Duration;
/// let mut seen = WindowCuckoo::new(1000, 0.01, Duration::from_secs(3600), Timestamp(0))?;
/// assert!(seen.try_insert("a", Timestamp(5))?);
/// assert!(seen.contains("a", Timestamp(3_600_000)));
/// assert!(!seen.contains("a", Timestamp(2 * 3_600_000)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct WindowCuckoo {
    /// Never empty; more than one only after a burst.
    tables: Vec<EpochTable>,
    plan: WindowCuckooPlan,
    clock: Clock,
    scheme: HashScheme,
    /// `scheme.origin()`, cached because debug builds compare it for every hash.
    origin: u64,
    key_type: Option<KeyType>,
}

impl WindowCuckoo {
    /// An empty filter for about `keys_per_window` keys per window. Keys are hashed with XXH3; for untrusted keys see
    /// [`WindowCuckoo::keyed`].
    ///
    /// # Errors
    /// If the window is shorter than a millisecond, the number of keys is 0, the rate is not between 0 and 1, or there is not
    /// enough memory.
    pub fn new(
        keys_per_window: usize,
        false_positive_rate: f64,
        window: Duration,
        now: Timestamp,
    ) -> Result<Self, PlanError> {
        let plan = WindowCuckooPlan::new(keys_per_window as u64, false_positive_rate, window)?;
        Self::from_plan(plan, HashScheme::Xxh3, now)
    }

    /// The same for untrusted keys: hashed with SipHash-1-3 under a secret key, so that attackers cannot craft colliding keys.
    ///
    /// # Errors
    /// As [`WindowCuckoo::new`].
    pub fn keyed(
        keys_per_window: usize,
        false_positive_rate: f64,
        window: Duration,
        now: Timestamp,
        key: SipKey,
    ) -> Result<Self, PlanError> {
        let plan = WindowCuckooPlan::new(keys_per_window as u64, false_positive_rate, window)?;
        Self::from_plan(plan, HashScheme::Sip13(key), now)
    }

    /// The same for callers that already have good 64-bit hashes, passed as [`KeyHash::from_u64`]. Methods that take key bytes panic
    /// on such a filter.
    ///
    /// # Errors
    /// As [`WindowCuckoo::new`].
    pub fn for_hashes(
        keys_per_window: usize,
        false_positive_rate: f64,
        window: Duration,
        now: Timestamp,
    ) -> Result<Self, PlanError> {
        let plan = WindowCuckooPlan::new(keys_per_window as u64, false_positive_rate, window)?;
        Self::from_plan(plan, HashScheme::Caller, now)
    }

    /// An empty filter with a given plan.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn from_plan(
        plan: WindowCuckooPlan,
        scheme: HashScheme,
        now: Timestamp,
    ) -> Result<Self, PlanError> {
        let mut tables = reserved(1)?;
        tables.push(EpochTable::new(plan.first_table(), plan.first_shape())?);
        let clock = Clock::new(&plan, now, now);
        let mut filter = Self::from_parts(tables, plan, scheme, clock);
        filter.set_live();
        Ok(filter)
    }

    fn from_parts(
        tables: Vec<EpochTable>,
        plan: WindowCuckooPlan,
        scheme: HashScheme,
        clock: Clock,
    ) -> Self {
        Self {
            tables,
            plan,
            clock,
            scheme,
            origin: scheme.origin(),
            key_type: None,
        }
    }

    /// A filter from existing tables, as [`WindowCuckoo::tables`] returns them, with the start time and the newest time.
    ///
    /// # Errors
    /// If there are no tables, they are not those of the plan, one of them is damaged, the newest time is before the start, or there is
    /// not enough memory.
    pub fn from_tables<'t>(
        plan: WindowCuckooPlan,
        scheme: HashScheme,
        (start, newest): (Timestamp, Timestamp),
        tables: impl IntoIterator<Item = SliceTableParts<'t>>,
    ) -> Result<Self, PlanError> {
        let check = |holds, field, value, accepted| {
            let refused = PlanError::InvalidInteger {
                field,
                value,
                accepted,
            };
            if holds { Ok(()) } else { Err(refused) }
        };
        check(start <= newest, "newest", newest.0, "not before the start")?;
        let clock = Clock::new(&plan, start, newest);
        let live = clock.live_at(newest);
        let mut opened: Vec<EpochTable> = Vec::new();
        for parts in tables {
            let planned = plan.table(opened.len() as u32);
            let planned = planned.filter(|planned| {
                (planned.slice_bits, EPOCH_BITS) == (parts.slice_bits, parts.payload_bits)
            });
            let bits = parts.slice_bits.into();
            let refused = PlanError::InvalidInteger {
                field: "slice bits",
                value: bits,
                accepted: "those of the plan, and 4 bits of payload",
            };
            let planned = planned.ok_or(refused)?;
            let has_shape = parts.shape == plan.first_shape().step() && parts.moved_groups == 0;
            let is_first = opened.is_empty();
            let shape = parts.shape.into();
            check(!is_first || has_shape, "shape", shape, "that of the plan")?;
            opened.push(EpochTable::from_parts(planned, parts, live)?);
        }
        check(!opened.is_empty(), "tables", 0, "at least one")?;
        Ok(Self::from_parts(opened, plan, scheme, clock))
    }

    /// The contents of all tables, the first one first.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = SliceTableParts<'_>> {
        self.tables.iter().map(|table| table.slices.parts())
    }

    /// A copy, or an error if there is not enough memory for it.
    ///
    /// # Errors
    /// [`PlanError::OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, PlanError> {
        let mut tables = reserved(self.tables.len() as u64)?;
        for table in &self.tables {
            tables.push(table.try_clone()?);
        }
        Ok(Self { tables, ..*self })
    }

    key_type_methods!();

    /// The hash of a key. Every filter of the same scheme accepts it.
    ///
    /// # Panics
    /// On a filter created by [`WindowCuckoo::for_hashes`]. The same for all methods below that take key bytes.
    #[inline]
    pub fn hash(&self, key: impl Key) -> KeyHash {
        self.scheme.hash(key)
    }

    /// `Ok(true)`: the key was definitely not inserted within the last window. Stores it from `now` on.
    ///
    /// # Errors
    /// If the filter must grow and there is not enough memory. It then contains what it contained before.
    #[inline]
    pub fn try_insert(&mut self, key: impl Key, now: Timestamp) -> Result<bool, Full> {
        let hash = self.hash(key);
        self.try_insert_hash(hash, now)
    }

    /// `false` is certain: the key was not inserted within the last window. `true` is probable. Forgets nothing.
    #[inline]
    pub fn contains(&self, key: impl Key, now: Timestamp) -> bool {
        self.contains_hash(self.hash(key), now)
    }

    /// `contains` for many keys. Faster, because the memory accesses of dozens of keys overlap.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length.
    pub fn contains_each(&self, keys: &[impl Key], now: Timestamp, found: &mut [bool]) {
        let look_up =
            |hashes: &[KeyHash], found: &mut [bool]| self.contains_hashes(hashes, now, found);
        self.scheme.look_up_in_chunks(keys, found, look_up);
    }

    /// As [`try_insert`](Self::try_insert), for a hash of this filter's scheme.
    ///
    /// # Errors
    /// As `try_insert`.
    #[inline]
    pub fn try_insert_hash(&mut self, hash: KeyHash, now: Timestamp) -> Result<bool, Full> {
        hash.assert_mixed(self.origin);
        self.advance(now.max(self.newest()));
        self.store(place(hash.to_u64()))
    }

    /// As [`try_insert_hash`](Self::try_insert_hash), for callers with a memory limit: if a burst makes the filter grow and it would then
    /// exceed `max_bytes`, it rejects the key. Accepted keys are stored exactly as without a limit.
    ///
    /// # Errors
    /// As `try_insert_hash`, and [`Full::Memory`] if it must not grow. The filter is then unchanged.
    pub fn try_insert_hash_within(
        &mut self,
        hash: KeyHash,
        now: Timestamp,
        max_bytes: u64,
    ) -> Result<bool, Full> {
        hash.assert_origin(self.origin);
        let (placed, now) = (place(hash.to_u64()), now.max(self.newest()));
        self.check_limit(placed, now, max_bytes)?;
        self.advance(now);
        self.store(placed)
    }

    /// [`try_insert_hash`](Self::try_insert_hash) for many hashes at one time. Faster if the filter is larger than a core's cache; the
    /// resulting bytes are the same.
    ///
    /// # Errors
    /// If one is rejected. Those before it have been inserted; it and those after it have not.
    pub fn try_insert_hashes(&mut self, hashes: &[KeyHash], now: Timestamp) -> Result<(), Full> {
        self.store_each(hashes, now, |_, _| {})
    }

    /// The same; `is_new` says for each hash what [`try_insert_hash`](Self::try_insert_hash) would have returned.
    ///
    /// # Errors
    /// As [`try_insert_hashes`](Self::try_insert_hashes).
    ///
    /// # Panics
    /// If `hashes` and `is_new` differ in length.
    pub fn try_insert_hashes_reporting_new(
        &mut self,
        hashes: &[KeyHash],
        now: Timestamp,
        is_new: &mut [bool],
    ) -> Result<(), Full> {
        assert_eq!(
            hashes.len(),
            is_new.len(),
            "one place in `is_new` for every hash"
        );
        self.store_each(hashes, now, |at, new| is_new[at] = new)
    }

    fn store_each(
        &mut self,
        hashes: &[KeyHash],
        now: Timestamp,
        mut report: impl FnMut(usize, bool),
    ) -> Result<(), Full> {
        if hashes.is_empty() {
            return Ok(());
        }
        self.advance(now.max(self.newest()));
        let mut at = 0;
        for chunk in hashes.chunks(CHUNK) {
            if self.size_bytes() > CACHED_BYTES {
                for hash in chunk {
                    for table in &self.tables {
                        table.slices.prefetch(place(hash.to_u64()));
                    }
                }
            }
            for hash in chunk {
                hash.assert_mixed(self.origin);
                report(at, self.store(place(hash.to_u64()))?);
                at += 1;
            }
        }
        Ok(())
    }

    /// As [`contains`](Self::contains), for a hash of this filter's scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash, now: Timestamp) -> bool {
        hash.assert_origin(self.origin);
        self.find(place(hash.to_u64()), self.clock.live_at(now))
    }

    #[inline]
    fn find(&self, placed: u64, live: LiveEpochs) -> bool {
        match self.tables.as_slice() {
            [only] => only.slices.find_live(placed, live.0),
            // Without a branch between tables, so that their cache misses overlap.
            tables => tables.iter().fold(false, |found, table| {
                found | table.slices.find_live(placed, live.0)
            }),
        }
    }

    /// `contains_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], now: Timestamp, found: &mut [bool]) {
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
        let live = self.clock.live_at(now);
        let Some((first, others)) = self.tables.split_first() else {
            unreachable!("there is always a table");
        };
        let mut more = [false; KEYS_PER_ROUND];
        for (hashes, found) in hashes
            .chunks(KEYS_PER_ROUND)
            .zip(found.chunks_mut(KEYS_PER_ROUND))
        {
            first.slices.find_each_live(hashes, live.0, found);
            for table in others {
                let more = &mut more[..found.len()];
                table.slices.find_each_live(hashes, live.0, more);
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

    /// Makes `now`, which is not before the newest time, the newest: forgets what has expired, and empties the cells that are due.
    #[inline]
    fn advance(&mut self, now: Timestamp) {
        if now > self.newest() {
            self.pass_time(now);
        }
    }

    fn pass_time(&mut self, now: Timestamp) {
        let is_later_epoch = self.clock.is_later_epoch(now);
        if is_later_epoch {
            let live = self.clock.live_at(now);
            if live.is_empty() {
                self.clear();
            }
            for table in &mut self.tables {
                table.expire(live);
            }
        }
        for table in &mut self.tables {
            let (first, count) = self.clock.due_groups(now, table.slices.groups());
            table.slices.clean_groups(first, count);
        }
        self.clock.advance(now);
        if is_later_epoch {
            self.set_live();
            while let [_, .., last] = self.tables.as_slice()
                && last.slices.keys() == 0
            {
                self.tables.pop();
            }
            for burst in &mut self.tables[1..] {
                burst.shrink();
            }
        }
    }

    /// Tells the tables which epochs are live now.
    fn set_live(&mut self) {
        let live = self.clock.live_at(self.newest());
        for table in &mut self.tables {
            table.slices.set_live(live.0);
        }
    }

    /// Stores the slice of `place(hash)` at the newest time; `true` if it was new.
    #[inline]
    fn store(&mut self, placed: u64) -> Result<bool, Full> {
        let (live, number) = (self.clock.live_at(self.newest()), self.clock.number());
        for at in 0..self.tables.len() {
            match self.tables[at].slices.find_payload(placed) {
                Some(epoch) if live.contains(epoch) => {
                    self.refresh(at, placed, epoch);
                    return Ok(false);
                }
                // No slice has two cells: lookups rely on it.
                Some(_) => self.tables[at].slices.erase(placed),
                None => {}
            }
        }
        self.store_new(placed, number).map(|()| true)
    }

    fn refresh(&mut self, at: usize, placed: u64, epoch: u64) {
        let number = self.clock.number();
        let has_room = |table: &EpochTable| table.slices.keys() < table.capacity();
        if at > 0
            && let Some(to) = self.tables[..at].iter().position(has_room)
            && self.tables[to].insert_in_cell(placed, number)
        {
            self.tables[at].remove(placed, epoch);
        } else {
            self.tables[at].refresh(placed, epoch, number);
        }
    }

    fn store_new(&mut self, placed: u64, number: u64) -> Result<(), Full> {
        let (to, added) = self.table_for_new(self.tables.len(), |table| table.slices.keys());
        if let Some(plan) = added {
            let no_memory = Full::Memory {
                size_bytes: self.size_bytes(),
            };
            self.tables.try_reserve(1).map_err(|_| no_memory)?;
            let table = EpochTable::smallest(plan).map_err(|_| no_memory)?;
            self.tables.push(table);
            self.set_live();
        }
        let table = &mut self.tables[to];
        // The first table has its size from the plan.
        let room = if to == 0 {
            Ok(())
        } else {
            table.slices.make_room(None)
        };
        let inserted = room.and_then(|()| table.insert(placed, number));
        if inserted.is_err() && added.is_some() {
            self.tables.pop();
        }
        inserted
    }

    /// The number of the table for a new key, if only the first `count` tables are there, and its plan if it must be added.
    fn table_for_new(
        &self,
        count: usize,
        keys: impl Fn(&EpochTable) -> u64,
    ) -> (usize, Option<SliceTablePlan>) {
        let mut tables = self.tables[..count].iter();
        if let Some(at) = tables.position(|table| keys(table) < table.capacity()) {
            return (at, None);
        }
        match self.plan.table(count as u32) {
            Some(plan) => (count, Some(plan)),
            // There are no bits for another one: the rate rises.
            None => (count - 1, None),
        }
    }

    /// Whether an insert at `now` keeps to a limit.
    fn check_limit(&self, placed: u64, now: Timestamp, max_bytes: u64) -> Result<(), Full> {
        let live = self.clock.live_at(now);
        if self.find(placed, live) {
            return Ok(());
        }
        let mut count = self.tables.len();
        if self.clock.is_later_epoch(now) {
            while count > 1 && self.tables[count - 1].keys_in(live) == 0 {
                count -= 1;
            }
        }
        let (to, added) = self.table_for_new(count, |table| table.keys_in(live));
        let others = self.tables[..count].iter().enumerate();
        let others = others.filter(|(at, _)| *at != to);
        let others: u64 = others.map(|(_, table)| table.slices.size_bytes()).sum();
        let left = max_bytes.saturating_sub(others);
        if let Some(plan) = added {
            let size_bytes = smallest_shape(plan).size_bytes();
            return if size_bytes > left {
                let size_bytes = others + size_bytes;
                Err(Full::Memory { size_bytes })
            } else {
                Ok(())
            };
        }
        let table = &self.tables[to];
        let checked = if to == 0 {
            table.slices.check_stash_growth(left)
        } else {
            table.slices.check_room(table.keys_in(live), Some(left))
        };
        checked.map_err(|full| match full {
            Full::Memory { size_bytes } => Full::Memory {
                size_bytes: others + size_bytes,
            },
            other => other,
        })
    }

    /// Removes all keys, and returns the memory that a burst has taken.
    pub fn clear(&mut self) {
        self.tables.truncate(1);
        self.tables[0].clear(self.plan.first_shape());
        self.set_live();
    }

    /// The number of keys stored at `now`: known without reading the cells, and exact but for keys that look the same.
    pub fn counted_keys(&self, now: Timestamp) -> u64 {
        let live = self.clock.live_at(now);
        self.tables.iter().map(|table| table.keys_in(live)).sum()
    }

    /// The live epochs at `now`, the oldest first, and how many keys were last seen in each.
    pub fn keys_in_epochs(&self, now: Timestamp) -> impl Iterator<Item = (u64, u64)> {
        self.clock.live_numbers(now).map(|(epoch, live)| {
            let keys = self.tables.iter().map(|table| table.keys_in(live));
            (epoch, keys.sum())
        })
    }

    /// The false-positive rate at `now`: the share of all slices that are stored.
    pub fn estimated_rate(&self, now: Timestamp) -> f64 {
        let live = self.clock.live_at(now);
        let misses = |table: &EpochTable| 1.0 - table.rate_at(table.keys_in(live));
        1.0 - self.tables.iter().map(misses).product::<f64>()
    }

    /// The requested false-positive rate.
    pub fn false_positive_rate(&self) -> f64 {
        self.plan.false_positive_rate()
    }

    /// Whether there are more keys at `now` than planned, so that the rate may be worse than requested; at most twice.
    pub fn is_over_capacity(&self, now: Timestamp) -> bool {
        self.counted_keys(now) > self.tables[0].capacity()
    }

    /// How many more keys fit at `now` before [`is_over_capacity`](Self::is_over_capacity).
    pub fn keys_until_full(&self, now: Timestamp) -> u64 {
        let capacity = self.tables[0].capacity();
        capacity.saturating_sub(self.counted_keys(now))
    }

    /// What the filter is, how full it is and which rate it has at `now`.
    pub fn stats(&self, now: Timestamp) -> Stats {
        let keys = self.counted_keys(now);
        let windows = self.tables.iter().map(|table| table.slices.windows()).sum();
        Stats {
            capacity: Some(self.capacity()),
            bits: Some(8 * self.size_bytes()),
            fill: share(keys, windows),
            estimated_keys: Some(keys),
            false_positive_rate: Some(self.false_positive_rate()),
            estimated_rate: Some(self.estimated_rate(now)),
            is_over_capacity: self.is_over_capacity(now),
            keys_until_full: Some(self.keys_until_full(now)),
            layers: self.tables.len() as u64,
            ..Stats::new(Kind::WindowCuckoo, self.size_bytes())
        }
    }

    /// The number of keys per window that the filter was planned for.
    pub fn capacity(&self) -> u64 {
        self.plan.keys_per_window()
    }

    /// Bytes of memory.
    pub fn size_bytes(&self) -> u64 {
        let sizes = self.tables.iter().map(|table| table.slices.size_bytes());
        sizes.sum()
    }

    /// The time at which epoch 0 started.
    pub fn start(&self) -> Timestamp {
        self.clock.start()
    }

    /// The newest time that an insert has passed.
    pub fn newest(&self) -> Timestamp {
        self.clock.newest()
    }

    /// The plan: how keys, rate and time are divided.
    pub fn plan(&self) -> &WindowCuckooPlan {
        &self.plan
    }

    /// The hash scheme.
    pub fn scheme(&self) -> HashScheme {
        self.scheme
    }
}

impl fmt::Debug for WindowCuckoo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "WindowCuckoo({} keys in {} ms at {}: {} epochs, {} tables, {} bytes, {:?})",
            self.plan.keys_per_window(),
            self.plan.window_ms(),
            self.plan.false_positive_rate(),
            self.plan.epochs(),
            self.tables.len(),
            self.size_bytes(),
            self.scheme
        )
    }
}
