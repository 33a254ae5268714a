//! `ClassicCuckoo`: the textbook cuckoo filter in RedisBloom's layout, for bytes that other systems read and write.
//!
//! | step | rule |
//! | --- | --- |
//! | fingerprint | hash mod 255 + 1, one byte; 0 is a free slot |
//! | buckets | hash, and hash xor fingerprint * 0x5bd1e995, each modulo the table's number of buckets, a power of two |
//! | insert | the newest table with a free slot in one of the two, the first bucket first; otherwise moves, in the newest table only |
//! | moves | swap with slot 0 of the first bucket, then slot 1 of the other bucket of the evicted fingerprint, and so on; undone on failure |
//! | growth | another table, `expansion` times as large; its fingerprints are as short, so the rate grows with each |
//! | remove | the newest table first; if more than a tenth as many keys were removed as are left, tables are compacted |
//!
//! It shares only the idea with `Cuckoo`, whose cells store their choice and offset and whose random walk looks ahead; here both
//! are fixed by the other system, byte for byte. For new filters prefer `Cuckoo`: it is smaller at every rate, keeps its rate
//! when it grows, and removes keys from a chain without losing others.

use crate::plan::{ClassicCuckooPlan, FINGERPRINTS};
use crate::stats::share;
use crate::store::{copied, reserved, zeroed};
use crate::{Full, Kind, PlanError, Stats};
use alloc::vec::Vec;
use core::fmt;

/// The factor that maps a bucket of a fingerprint to the other one.
const PARTNER_MULTIPLIER: u64 = 0x5bd1_e995;

/// The maximum number of tables: what the counters of the layout can hold.
const MAX_TABLES: usize = u16::MAX as usize;

/// A cuckoo filter with buckets of bytes. It takes hashes that the caller computes: the format defines the hash function.
///
/// ```
/// # use mayhap_core as mayhap;
/// let plan = mayhap::plan::ClassicCuckooPlan::new(1000, 2, 20, 1)?;
/// let mut filter = mayhap::ClassicCuckoo::from_plan(plan)?;
/// assert!(filter.try_insert_hash(0x1234_5678_9abc_def0).is_ok());
/// assert!(filter.contains_hash(0x1234_5678_9abc_def0));
/// assert!(filter.remove_hash(0x1234_5678_9abc_def0));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ClassicCuckoo {
    /// Never empty; the newest is last. Table n has the length that the plan gives it.
    tables: Vec<SlotTable>,
    /// The numbers of the tables that have a slot in use, ascending. A header of 38 bytes can declare 65535 tables; only the ones
    /// in use cost lookups time.
    occupied: Vec<u16>,
    /// Bytes of all tables.
    size_bytes: u64,
    plan: ClassicCuckooPlan,
    keys: u64,
    removed: u64,
}

#[derive(Clone, PartialEq, Eq)]
struct SlotTable {
    slots: Vec<u8>,
    /// Slots that hold a fingerprint.
    used: usize,
}

impl SlotTable {
    fn empty(size_bytes: u64) -> Result<Self, PlanError> {
        Ok(Self {
            slots: zeroed(size_bytes)?,
            used: 0,
        })
    }

    fn from_slots(slots: Vec<u8>) -> Self {
        let used = used_slots(&slots);
        Self { slots, used }
    }

    fn is_full(&self) -> bool {
        self.used == self.slots.len()
    }

    /// Stores a fingerprint in a free slot of its buckets, if there is one.
    fn insert(&mut self, size: usize, key: KeyBuckets) -> bool {
        let inserted = !self.is_full()
            && key.buckets.into_iter().any(|bucket| {
                slot_with(&mut self.slots, size, bucket, 0)
                    .map(|slot| *slot = key.fingerprint)
                    .is_some()
            });
        self.used += usize::from(inserted);
        inserted
    }

    /// Frees one slot that holds the fingerprint, if there is one.
    fn free(&mut self, size: usize, key: KeyBuckets) -> bool {
        let freed = key.buckets.into_iter().any(|bucket| {
            slot_with(&mut self.slots, size, bucket, key.fingerprint)
                .map(|slot| *slot = 0)
                .is_some()
        });
        self.used -= usize::from(freed);
        freed
    }
}

fn used_slots(slots: &[u8]) -> usize {
    slots.iter().filter(|&&slot| slot != 0).count()
}

/// What a table needs to know about a key.
#[derive(Clone, Copy)]
struct KeyBuckets {
    fingerprint: u8,
    /// Not yet reduced to the table's number of buckets.
    buckets: [u64; 2],
}

impl KeyBuckets {
    fn new(hash: u64) -> Self {
        let fingerprint = (hash % FINGERPRINTS + 1) as u8;
        Self {
            fingerprint,
            buckets: [hash, partner(hash, fingerprint)],
        }
    }
}

fn partner(bucket: u64, fingerprint: u8) -> u64 {
    bucket ^ (u64::from(fingerprint) * PARTNER_MULTIPLIER)
}

impl ClassicCuckoo {
    /// What every table after the first counts in addition to its slots: a pointer, a count, and the allocator's overhead. Limits
    /// include it, because there may be 65535 tables of two slots.
    pub const TABLE_BYTES: u64 = 64;

    /// An empty filter of one table.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn from_plan(plan: ClassicCuckooPlan) -> Result<Self, PlanError> {
        Self::with_empty_tables(plan, 1, 0, 0)
    }

    /// A filter of this many empty tables, whose slots will be loaded piece by piece ([`overwrite`](Self::overwrite)). The counts
    /// are not checked.
    ///
    /// # Errors
    /// As [`from_parts`](Self::from_parts), or if there is not enough memory.
    pub fn with_empty_tables(
        plan: ClassicCuckooPlan,
        count: u32,
        keys: u64,
        removed: u64,
    ) -> Result<Self, PlanError> {
        check_count(u64::from(count))?;
        let mut tables = reserved(u64::from(count))?;
        let mut size_bytes = 0_u64;
        for number in 0..count {
            let bytes = plan.size_bytes_of(number)?;
            size_bytes = size_bytes.saturating_add(bytes);
            tables.push(SlotTable::empty(bytes)?);
        }
        Ok(Self {
            tables,
            occupied: reserved(u64::from(count))?,
            size_bytes,
            plan,
            keys,
            removed,
        })
    }

    /// A filter from stored data: its tables, the oldest first, and the numbers of keys and of keys removed since the last
    /// compaction. The counts are not checked.
    ///
    /// # Errors
    /// If there is no table, or more than 65535, or more than one although the expansion is 0, or if the length of one differs
    /// from the plan.
    pub fn from_parts(
        plan: ClassicCuckooPlan,
        tables: Vec<Vec<u8>>,
        keys: u64,
        removed: u64,
    ) -> Result<Self, PlanError> {
        check_count(tables.len() as u64)?;
        let mut size_bytes = 0_u64;
        for (number, table) in (0..).zip(&tables) {
            if table.len() as u64 != plan.size_bytes_of(number)? {
                return Err(PlanError::InvalidInteger {
                    field: "table bytes",
                    value: table.len() as u64,
                    accepted: "buckets * expansion^number * bucket size",
                });
            }
            size_bytes = size_bytes.saturating_add(table.len() as u64);
        }
        let mut filter = Self {
            tables: reserved(tables.len() as u64)?,
            occupied: reserved(tables.len() as u64)?,
            size_bytes,
            plan,
            keys,
            removed,
        };
        filter
            .tables
            .extend(tables.into_iter().map(SlotTable::from_slots));
        filter.list_occupied();
        Ok(filter)
    }

    /// A copy, or an error if there is not enough memory for it. Pages of zeros are not touched.
    ///
    /// # Errors
    /// [`PlanError::OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, PlanError> {
        let mut tables = reserved(self.tables.len() as u64)?;
        for SlotTable { slots, used } in &self.tables {
            tables.push(SlotTable {
                slots: copied(slots)?,
                used: *used,
            });
        }
        let mut occupied = reserved(self.tables.len() as u64)?;
        occupied.extend_from_slice(&self.occupied);
        Ok(Self {
            tables,
            occupied,
            ..*self
        })
    }

    /// Inserts a key, even if the filter already contains it.
    ///
    /// # Errors
    /// If the filter is full and does not grow, or there is not enough memory to grow. The filter is then unchanged.
    pub fn try_insert_hash(&mut self, hash: u64) -> Result<(), Full> {
        self.try_insert_hash_within(hash, u64::MAX)
    }

    /// The same for callers with a memory limit.
    ///
    /// # Errors
    /// The same, and [`Full::Memory`] if it must grow and would then exceed `max_bytes`. The filter is then unchanged.
    pub fn try_insert_hash_within(&mut self, hash: u64, max_bytes: u64) -> Result<(), Full> {
        let key = KeyBuckets::new(hash);
        if !self.take_free_slot(key) && !self.insert_by_moving(key) {
            self.grow(max_bytes)?;
            self.take_free_slot(key);
        }
        self.keys = self.keys.saturating_add(1);
        Ok(())
    }

    /// `Ok(true)`: the key was definitely new and has been inserted. `Ok(false)`: the key, or one that the filter cannot
    /// distinguish from it, was present, and nothing changed.
    ///
    /// # Errors
    /// As [`try_insert_hash`](Self::try_insert_hash).
    pub fn insert_hash_if_absent(&mut self, hash: u64) -> Result<bool, Full> {
        if self.contains_hash(hash) {
            return Ok(false);
        }
        self.try_insert_hash(hash).map(|()| true)
    }

    /// `false` is certain: the key is absent. `true` is probable.
    pub fn contains_hash(&self, hash: u64) -> bool {
        let key = KeyBuckets::new(hash);
        let size = self.bucket_size();
        self.occupied().rev().any(|table| {
            let has = |bucket| bucket_of(table, size, bucket).contains(&key.fingerprint);
            has(key.buckets[0]) || has(key.buckets[1])
        })
    }

    /// The number of slots with the key's fingerprint in both buckets of every table. A bucket that is its own partner counts
    /// twice.
    pub fn count_hash(&self, hash: u64) -> u64 {
        let key = KeyBuckets::new(hash);
        let size = self.bucket_size();
        let buckets = self
            .occupied()
            .flat_map(|table| key.buckets.map(|bucket| bucket_of(table, size, bucket)));
        let slots = buckets.flatten();
        slots.filter(|&&slot| slot == key.fingerprint).count() as u64
    }

    /// `true`: one copy of the key was removed. `false`: the key was definitely absent, and nothing changed.
    ///
    /// Only remove keys that were inserted: a false positive removes another key. If there are several tables, even an inserted
    /// key may be mistaken for another one, because the layout does not record which table it went to.
    pub fn remove_hash(&mut self, hash: u64) -> bool {
        if !self.free(KeyBuckets::new(hash)) {
            return false;
        }
        self.keys = self.keys.saturating_sub(1);
        self.removed = self.removed.saturating_add(1);
        if self.tables.len() > 1 && self.removed as f64 > self.keys as f64 * 0.1 {
            self.compact_while(|emptied| emptied);
        }
        true
    }

    /// The slots of the tables in use, the oldest first.
    fn occupied(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        let numbers = self.occupied.iter();
        numbers.map(|&number| self.tables[usize::from(number)].slots.as_slice())
    }

    fn list_occupied(&mut self) {
        let tables = (0..).zip(&self.tables);
        let occupied = tables.filter(|(_, table)| table.used > 0);
        self.occupied.clear();
        self.occupied.extend(occupied.map(|(number, _)| number));
    }

    /// Updates the list of occupied tables after a change to table `number`.
    fn update_occupied(&mut self, number: usize) {
        let is_occupied = self.tables[number].used > 0;
        match self.occupied.binary_search(&(number as u16)) {
            Ok(at) if !is_occupied => _ = self.occupied.remove(at),
            Err(at) if is_occupied => self.occupied.insert(at, number as u16),
            _ => {}
        }
    }

    /// Frees one slot of a key; `false` if there is none.
    fn free(&mut self, key: KeyBuckets) -> bool {
        let size = self.bucket_size();
        let mut numbers = self.occupied.iter().rev().map(|&number| number.into());
        let tables = &mut self.tables;
        match numbers.find(|&number: &usize| tables[number].free(size, key)) {
            Some(number) => {
                self.update_occupied(number);
                true
            }
            None => false,
        }
    }

    /// Moves fingerprints from newer tables to free slots of older ones, and drops the newest table if it becomes empty.
    pub fn compact(&mut self) {
        self.compact_while(|_| true);
    }

    /// Empties one table after the other as far as possible, the newest first. After each, calls `go_on` with whether the table
    /// became empty.
    fn compact_while(&mut self, go_on: impl Fn(bool) -> bool) {
        let mut search = FreeSlotSearch::new(&self.tables, self.bucket_size());
        for number in (1..self.tables.len()).rev() {
            let emptied = self.drain_table(number, &mut search);
            if emptied && number + 1 == self.tables.len() {
                self.tables.pop();
                self.size_bytes -= self.plan.size_bytes_of(number as u32).unwrap_or(0);
            }
            if !go_on(emptied) {
                break;
            }
        }
        self.list_occupied();
        self.removed = 0;
    }

    /// Moves fingerprints of a table to older ones, the oldest first; `true` if the table is then empty.
    fn drain_table(&mut self, number: usize, search: &mut FreeSlotSearch) -> bool {
        let size = self.bucket_size();
        let (older, newer) = self.tables.split_at_mut(number);
        let table = &mut newer[0];
        if table.used == 0 {
            return true;
        }
        for (at, slot) in table.slots.iter_mut().enumerate() {
            if *slot == 0 {
                continue;
            }
            // A bucket of a larger table, modulo the buckets of a smaller one, is one of the key's two buckets there.
            let bucket = (at / size) as u64;
            let key = KeyBuckets {
                fingerprint: *slot,
                buckets: [bucket, partner(bucket, *slot)],
            };
            if search.insert(older, size, key) {
                *slot = 0;
                table.used -= 1;
            }
        }
        table.used == 0
    }

    /// Inserts a key into the newest table that has a free slot for it.
    fn take_free_slot(&mut self, key: KeyBuckets) -> bool {
        let size = self.bucket_size();
        let mut tables = self.tables.iter_mut().enumerate().rev();
        match tables.find_map(|(number, table)| table.insert(size, key).then_some(number)) {
            Some(number) => {
                self.update_occupied(number);
                true
            }
            None => false,
        }
    }

    /// Makes room in the newest table by moving fingerprints; if that fails, all moves are undone.
    fn insert_by_moving(&mut self, key: KeyBuckets) -> bool {
        let (size, moves) = (self.bucket_size(), usize::from(self.plan.max_moves()));
        let Some(SlotTable { slots, used }) = self.tables.last_mut() else {
            return false;
        };
        // Moves end at a free slot. Without one, up to 65535 of them would be made and undone.
        if *used == slots.len() {
            return false;
        }
        let (mut fingerprint, mut bucket) = (key.fingerprint, key.buckets[0]);
        for step in 0..moves {
            let victim = &mut bucket_of_mut(slots, size, bucket)[step % size];
            core::mem::swap(victim, &mut fingerprint);
            bucket = partner(bucket, fingerprint);
            if let Some(free) = slot_with(slots, size, bucket, 0) {
                *free = fingerprint;
                *used += 1;
                return true;
            }
        }
        for step in (0..moves).rev() {
            bucket = partner(bucket, fingerprint);
            let victim = &mut bucket_of_mut(slots, size, bucket)[step % size];
            core::mem::swap(victim, &mut fingerprint);
        }
        false
    }

    fn grow(&mut self, max_bytes: u64) -> Result<(), Full> {
        let full = Full::Table {
            keys: self.keys,
            capacity: self.capacity(),
        };
        if self.tables.len() >= MAX_TABLES {
            return Err(full);
        }
        let size_bytes = self.plan.size_bytes_of(self.tables.len() as u32);
        let size_bytes = size_bytes.map_err(|_| full)?;
        let no_memory = Full::Memory { size_bytes };
        let together = self.size_bytes.saturating_add(size_bytes);
        let beside = Self::TABLE_BYTES * self.tables.len() as u64;
        if together.saturating_add(beside) > max_bytes {
            return Err(no_memory);
        }
        let table = SlotTable::empty(size_bytes).map_err(|_| no_memory)?;
        self.tables.try_reserve(1).map_err(|_| no_memory)?;
        let unlisted = self.tables.len() + 1 - self.occupied.len();
        self.occupied.try_reserve(unlisted).map_err(|_| no_memory)?;
        self.tables.push(table);
        self.size_bytes = together;
        Ok(())
    }

    /// The false-positive rate now, from the slots in use: the probability that a random absent key is found.
    pub fn estimated_rate(&self) -> f64 {
        let passes = |number: &u16| {
            let SlotTable { slots, used } = &self.tables[usize::from(*number)];
            self.plan.passes(*used as f64 / slots.len() as f64)
        };
        1.0 - self.occupied.iter().map(passes).product::<f64>()
    }

    /// What the filter is, how full it is and which rate it has now. The layout stores no requested rate.
    pub fn stats(&self) -> Stats {
        let grows = self.plan.expansion() != 0;
        Stats {
            capacity: Some(self.capacity()),
            bits: Some(8 * self.size_bytes()),
            fill: share(self.used_slots(), self.capacity()),
            estimated_keys: Some(self.keys),
            estimated_rate: Some(self.estimated_rate()),
            keys_until_full: (!grows).then(|| self.capacity().saturating_sub(self.keys)),
            layers: self.tables.len() as u64,
            ..Stats::new(Kind::Cuckoo, self.size_bytes())
        }
    }

    /// Slots that hold a fingerprint, in all tables.
    pub fn used_slots(&self) -> u64 {
        self.tables.iter().map(|table| table.used as u64).sum()
    }

    /// The number of keys, copies included.
    pub fn estimated_keys(&self) -> u64 {
        self.keys
    }

    /// The number of keys removed since the last compaction.
    pub fn removed_keys(&self) -> u64 {
        self.removed
    }

    /// Slots in all tables.
    pub fn capacity(&self) -> u64 {
        self.size_bytes()
    }

    /// Bytes of memory for the tables.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// The plan of the filter.
    pub fn plan(&self) -> &ClassicCuckooPlan {
        &self.plan
    }

    /// The slots of every table, bucket by bucket, the oldest table first.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.tables.iter().map(|table| table.slots.as_slice())
    }

    /// The slots of a table; the oldest has number 0.
    pub fn table(&self, number: usize) -> Option<&[u8]> {
        self.tables.get(number).map(|table| table.slots.as_slice())
    }

    /// The table that contains slot `at`, counted over all tables in order, and the index of the slot in that table.
    pub fn locate(&self, at: u64) -> Option<(usize, usize)> {
        let first = self.tables.first()?.slots.len() as u64;
        if self.plan.expansion() == 1 {
            let number = usize::try_from(at / first).ok()?;
            return (number < self.tables.len()).then_some((number, (at % first) as usize));
        }
        // Each table is at least twice as large as the one before, so there are at most 41.
        let mut left = at;
        for (number, table) in self.tables.iter().enumerate() {
            let length = table.slots.len() as u64;
            if left < length {
                return Some((number, left as usize));
            }
            left -= length;
        }
        None
    }

    /// Overwrites the slots of a table from slot `start` on. The counts of keys do not change. `false`, without a change, if
    /// there is no such table or the slots extend past its end.
    pub fn overwrite(&mut self, number: usize, start: usize, bytes: &[u8]) -> bool {
        let Some(table) = self.tables.get_mut(number) else {
            return false;
        };
        let end = start.checked_add(bytes.len());
        let Some(slots) = end.and_then(|end| table.slots.get_mut(start..end)) else {
            return false;
        };
        let (before, now) = (used_slots(slots), used_slots(bytes));
        slots.copy_from_slice(bytes);
        table.used = table.used - before + now;
        self.update_occupied(number);
        true
    }

    fn bucket_size(&self) -> usize {
        usize::from(self.plan.bucket_size())
    }
}

/// The slots of a bucket; its number is reduced modulo the table's number of buckets.
fn bucket_of(table: &[u8], size: usize, bucket: u64) -> &[u8] {
    &table[start_of(table.len(), size, bucket)..][..size]
}

fn bucket_of_mut(table: &mut [u8], size: usize, bucket: u64) -> &mut [u8] {
    let start = start_of(table.len(), size, bucket);
    &mut table[start..][..size]
}

/// The number of buckets is a power of two.
fn start_of(length: usize, size: usize, bucket: u64) -> usize {
    #[cfg(test)]
    tests::BUCKET_READS.with(|reads| reads.set(reads.get() + 1));
    (bucket & (length / size - 1) as u64) as usize * size
}

/// The first slot of a bucket that holds a fingerprint; 0 finds a free slot.
fn slot_with(table: &mut [u8], size: usize, bucket: u64, fingerprint: u8) -> Option<&mut u8> {
    bucket_of_mut(table, size, bucket)
        .iter_mut()
        .find(|slot| **slot == fingerprint)
}

/// How a compaction finds free slots in older tables. During a compaction these only fill up: a full bucket stays full.
enum FreeSlotSearch {
    /// Tries each table in turn.
    Scan,
    /// For every bucket, the oldest table in which it may have a free slot; for tables of one size. The entries only increase, so
    /// that a compaction reads every bucket of every table once, and not once per fingerprint.
    Indexed(Vec<u16>),
}

/// Up to this many tables are tried in turn. Chains whose tables grow have fewer.
const FEW_TABLES: usize = 64;

impl FreeSlotSearch {
    fn new(tables: &[SlotTable], size: usize) -> Self {
        if tables.len() <= FEW_TABLES {
            return Self::Scan;
        }
        // The index takes two bytes per bucket and the tables at least 65; without memory for it, compaction is slower.
        let buckets = tables[0].slots.len() / size;
        zeroed(buckets as u64).map_or(Self::Scan, Self::Indexed)
    }

    /// Inserts a key into the oldest table that has a free slot for it.
    fn insert(&mut self, tables: &mut [SlotTable], size: usize, key: KeyBuckets) -> bool {
        let Self::Indexed(oldest) = self else {
            return tables.iter_mut().any(|table| table.insert(size, key));
        };
        let mask = oldest.len() as u64 - 1;
        let mut find = |bucket: u64| {
            let at = &mut oldest[(bucket & mask) as usize];
            let is_taken = |table: &SlotTable| {
                table.is_full() || !bucket_of(&table.slots, size, bucket).contains(&0)
            };
            while tables.get(usize::from(*at)).is_some_and(is_taken) {
                *at += 1;
            }
            usize::from(*at)
        };
        // Within one table, the first bucket comes first.
        let found = key.buckets.map(|bucket| (find(bucket), bucket));
        let [(first, bucket), second] = found;
        let (number, bucket) = if second.0 < first {
            second
        } else {
            (first, bucket)
        };
        match tables.get_mut(number) {
            Some(table) => {
                let buckets = [bucket; 2];
                table.insert(size, KeyBuckets { buckets, ..key })
            }
            None => false,
        }
    }
}

fn check_count(tables: u64) -> Result<(), PlanError> {
    if (1..=MAX_TABLES as u64).contains(&tables) {
        return Ok(());
    }
    Err(PlanError::InvalidInteger {
        field: "tables",
        value: tables,
        accepted: "1 to 65535",
    })
}

impl fmt::Debug for ClassicCuckoo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ClassicCuckoo({} tables, the first of {} buckets of {} slots, {} keys in)",
            self.tables.len(),
            self.plan.buckets(),
            self.plan.bucket_size(),
            self.keys
        )
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use core::cell::Cell;

    std::thread_local! {
        /// The number of buckets read.
        pub(super) static BUCKET_READS: Cell<u64> = const { Cell::new(0) };
    }

    fn bucket_reads(run: impl FnOnce()) -> u64 {
        let before = BUCKET_READS.get();
        run();
        BUCKET_READS.get() - before
    }

    /// A filter as a header of 38 bytes declares it.
    fn with_tables(tables: u32) -> ClassicCuckoo {
        let plan = ClassicCuckooPlan::from_buckets(4, 2, 65_535, 1).unwrap();
        ClassicCuckoo::with_empty_tables(plan, tables, 0, 0).unwrap()
    }

    #[test]
    fn empty_tables_are_not_read() {
        let mut filter = with_tables(62_979);
        assert_eq!(bucket_reads(|| assert!(!filter.contains_hash(7))), 0);
        assert_eq!(bucket_reads(|| assert_eq!(filter.count_hash(7), 0)), 0);
        assert_eq!(bucket_reads(|| assert!(!filter.remove_hash(7))), 0);
        filter.try_insert_hash(7).unwrap();
        assert!(bucket_reads(|| assert!(filter.contains_hash(7))) <= 2);
        assert!(
            bucket_reads(|| filter.compact()) <= 4,
            "one key and its two buckets"
        );
        assert_eq!((filter.tables().len(), filter.size_bytes()), (1, 8));
        assert!(filter.contains_hash(7) && filter.remove_hash(7) && !filter.contains_hash(7));
    }

    #[test]
    fn compaction_reads_every_bucket_a_few_times_for_any_number_of_tables() {
        for tables in [65_u32, 1000, 20_000] {
            // The worst case: every older table has free slots, but none in the buckets of this fingerprint, which are 0 and 3.
            let mut filter = with_tables(tables);
            for number in 0..tables as usize {
                assert!(filter.overwrite(number, 0, &[7, 7, 0, 0, 0, 0, 7, 7]));
            }
            let slots = filter.used_slots();
            let reads = bucket_reads(|| filter.compact());
            assert!(
                reads <= 8 * slots,
                "{reads} for {slots} slots in {tables} tables"
            );
        }
    }

    #[test]
    fn indexed_compaction_moves_to_the_same_slots_as_scanning() {
        let mut random = 0_u64;
        let mut next = || {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (random >> 33) as u8
        };
        for fill in [20, 100, 200, 250] {
            let mut slots = || if next() < fill { next() } else { 0 };
            let tables: Vec<Vec<u8>> = (0..200)
                .map(|_| (0..8).map(|_| slots()).collect())
                .collect();
            let plan = ClassicCuckooPlan::from_buckets(4, 2, 20, 1).unwrap();
            let mut filter = ClassicCuckoo::from_parts(plan, tables.clone(), 0, 0).unwrap();
            let mut scanned = filter.clone();
            filter.compact();
            let mut search = FreeSlotSearch::Scan;
            for number in (1..200).rev() {
                if scanned.drain_table(number, &mut search) && number + 1 == scanned.tables.len() {
                    scanned.tables.pop();
                }
            }
            let compacted: Vec<&[u8]> = filter.tables().collect();
            assert_eq!(compacted, scanned.tables().collect::<Vec<_>>());
            // The redundant fields agree with the slots.
            let again = ClassicCuckoo::from_parts(
                plan,
                filter.tables().map(<[u8]>::to_vec).collect(),
                0,
                0,
            );
            assert!(again.unwrap() == filter);
        }
    }

    #[test]
    fn a_full_table_is_not_searched_for_a_free_slot() {
        let mut filter = with_tables(1);
        assert!(filter.overwrite(0, 0, &[9; 8]));
        let reads = bucket_reads(|| assert!(filter.try_insert_hash_within(1, 8).is_err()));
        assert!(reads <= 4, "{reads} for 65535 moves that were in vain");
    }

    #[test]
    fn slots_are_located_across_tables() {
        for expansion in [1, 2] {
            let plan = ClassicCuckooPlan::from_buckets(4, 2, 20, expansion).unwrap();
            let filter = ClassicCuckoo::with_empty_tables(plan, 5, 0, 0).unwrap();
            let mut at = 0;
            for (number, table) in filter.tables().enumerate() {
                for slot in 0..table.len() {
                    assert_eq!(filter.locate(at), Some((number, slot)));
                    at += 1;
                }
            }
            assert_eq!(filter.locate(at), None);
            assert_eq!(filter.locate(u64::MAX), None);
        }
        let mut filter = with_tables(2);
        assert!(!filter.overwrite(2, 0, &[1]) && !filter.overwrite(1, 8, &[1]));
        assert!(!filter.overwrite(1, usize::MAX, &[1]) && filter.overwrite(1, 8, &[]));
        assert_eq!(filter.used_slots(), 0);
        assert!(
            [filter.table(0), filter.table(1)]
                .iter()
                .all(Option::is_some)
        );
        assert!(filter.table(2).is_none());
    }
}
