//! `ClassicCuckoo`: the textbook's cuckoo filter as `RedisBloom` lays it out, for bytes that others read and write.
//!
//! | step | rule |
//! | --- | --- |
//! | fingerprint | hash mod 255 + 1, one byte; 0 is a free slot |
//! | buckets | hash, and hash xor fingerprint * 0x5bd1e995, each modulo the table's number of buckets, a power of two |
//! | insert | the newest table that has a free slot in one of the two, the first bucket first; otherwise moves, in the newest only |
//! | moves | swap with slot 0 of the first bucket, then slot 1 of the other bucket of who was there, and so on; undone if in vain |
//! | growth | another table, `expansion` times as large; its fingerprints are as short, so the rate grows with each |
//! | remove | the newest table first; when more than a tenth as many were removed as are left, tables are compacted |
//!
//! Nothing is shared with `Cuckoo` but the idea: there cells know their choice and offset and the walk is a random one that
//! looks ahead, here both are others' and fixed to the byte. For filters of your own take `Cuckoo`: it is smaller at every rate,
//! keeps its rate when it grows, and removes from a chain without loss.

use crate::plan::{ClassicCuckooPlan, FINGERPRINTS};
use crate::store::{reserved, zeroed};
use crate::{Full, PlanError};
use alloc::vec::Vec;
use core::fmt;

/// Parts the two buckets of a fingerprint.
const PARTNER: u64 = 0x5bd1_e995;

/// Tables in a chain: what the layout's counters hold.
const MOST_TABLES: usize = u16::MAX as usize;

/// A cuckoo filter of buckets of bytes. It knows keys by hashes that the caller computes: which function that is belongs to the
/// format.
///
/// ```
/// let plan = mayhap::plan::ClassicCuckooPlan::new(1000, 2, 20, 1)?;
/// let mut filter = mayhap::ClassicCuckoo::from_plan(plan)?;
/// assert!(filter.try_insert_hash(0x1234_5678_9abc_def0).is_ok());
/// assert!(filter.contains_hash(0x1234_5678_9abc_def0));
/// assert!(filter.remove_hash(0x1234_5678_9abc_def0));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ClassicCuckoo {
    /// Never empty; the newest last. Number n has the length that the plan says.
    tables: Vec<Vec<u8>>,
    plan: ClassicCuckooPlan,
    keys: u64,
    removed: u64,
}

/// What a table needs to know of a key.
#[derive(Clone, Copy)]
struct Seeker {
    fingerprint: u8,
    /// Not yet reduced to the table's number of buckets.
    buckets: [u64; 2],
}

impl Seeker {
    fn new(hash: u64) -> Self {
        let fingerprint = (hash % FINGERPRINTS + 1) as u8;
        Self {
            fingerprint,
            buckets: [hash, partner(hash, fingerprint)],
        }
    }
}

fn partner(bucket: u64, fingerprint: u8) -> u64 {
    bucket ^ (u64::from(fingerprint) * PARTNER)
}

impl ClassicCuckoo {
    /// An empty filter of one table.
    ///
    /// # Errors
    /// When the memory is not there.
    pub fn from_plan(plan: ClassicCuckooPlan) -> Result<Self, PlanError> {
        let mut tables = reserved(1)?;
        tables.push(zeroed(plan.size_bytes_of(0)?)?);
        Ok(Self {
            tables,
            plan,
            keys: 0,
            removed: 0,
        })
    }

    /// A filter from what is stored: its tables, the oldest first, and its counts of keys that are in and of those removed since
    /// it was compacted. The counts are taken as they are.
    ///
    /// # Errors
    /// When there is no table, or more than 65535, or more than one where the expansion is 0, or one is not as long as the plan
    /// says.
    pub fn from_parts(
        plan: ClassicCuckooPlan,
        tables: Vec<Vec<u8>>,
        keys: u64,
        removed: u64,
    ) -> Result<Self, PlanError> {
        if !(1..=MOST_TABLES).contains(&tables.len()) {
            return Err(PlanError::Count {
                field: "tables",
                value: tables.len() as u64,
                accepted: "1 to 65535",
            });
        }
        for (number, table) in (0..).zip(&tables) {
            if table.len() as u64 != plan.size_bytes_of(number)? {
                return Err(PlanError::Count {
                    field: "table bytes",
                    value: table.len() as u64,
                    accepted: "buckets * expansion^number * bucket size",
                });
            }
        }
        Ok(Self {
            tables,
            plan,
            keys,
            removed,
        })
    }

    /// Puts a key in, whether or not it is in already.
    ///
    /// # Errors
    /// When there is no room and the filter does not grow, or there is no memory to grow. Nothing is changed then.
    pub fn try_insert_hash(&mut self, hash: u64) -> Result<(), Full> {
        self.try_insert_hash_within(hash, u64::MAX)
    }

    /// The same for callers with a limit.
    ///
    /// # Errors
    /// As there, and [`Full::Memory`] when it must grow and would take more than `most_bytes` then. Nothing is changed then.
    pub fn try_insert_hash_within(&mut self, hash: u64, most_bytes: u64) -> Result<(), Full> {
        let seeker = Seeker::new(hash);
        if !self.take_free_slot(seeker) && !self.move_in(seeker) {
            self.grow(most_bytes)?;
            self.take_free_slot(seeker);
        }
        self.keys = self.keys.saturating_add(1);
        Ok(())
    }

    /// `Ok(true)`: the key is in now, and was surely new. `Ok(false)`: it, or one that looks like it, was in before, and nothing is
    /// changed.
    ///
    /// # Errors
    /// As [`try_insert_hash`](Self::try_insert_hash).
    pub fn insert_hash_if_absent(&mut self, hash: u64) -> Result<bool, Full> {
        if self.contains_hash(hash) {
            return Ok(false);
        }
        self.try_insert_hash(hash).map(|()| true)
    }

    /// `false` is certain: the key is not in. `true` is mayhap.
    pub fn contains_hash(&self, hash: u64) -> bool {
        let seeker = Seeker::new(hash);
        let size = self.bucket_size();
        self.tables.iter().rev().any(|table| {
            let has = |bucket| bucket_of(table, size, bucket).contains(&seeker.fingerprint);
            has(seeker.buckets[0]) || has(seeker.buckets[1])
        })
    }

    /// How many slots hold the key, or one that looks like it, in both buckets of every table: twice those of a bucket that is its
    /// own partner.
    pub fn count_hash(&self, hash: u64) -> u64 {
        let seeker = Seeker::new(hash);
        let size = self.bucket_size();
        let buckets = self
            .tables
            .iter()
            .flat_map(|table| seeker.buckets.map(|bucket| bucket_of(table, size, bucket)));
        let slots = buckets.flatten();
        slots.filter(|&&slot| slot == seeker.fingerprint).count() as u64
    }

    /// `true`: a copy of the key was in, and is not any more. `false`: the key was certainly not in, and nothing is changed.
    ///
    /// Remove only what was inserted: a key that was not is taken for another one at the filter's false-positive rate. Where
    /// there are several tables even one that was may be, for the layout does not say in which it went.
    pub fn remove_hash(&mut self, hash: u64) -> bool {
        if !self.free(Seeker::new(hash)) {
            return false;
        }
        self.keys = self.keys.saturating_sub(1);
        self.removed = self.removed.saturating_add(1);
        if self.tables.len() > 1 && self.removed as f64 > self.keys as f64 * 0.1 {
            self.compact_while(|emptied| emptied);
        }
        true
    }

    /// Frees one slot that holds a key; `false` when there is none.
    fn free(&mut self, seeker: Seeker) -> bool {
        let size = self.bucket_size();
        let mut tables = self.tables.iter_mut().rev();
        tables.any(|table| {
            seeker.buckets.into_iter().any(|bucket| {
                slot_with(table, size, bucket, seeker.fingerprint)
                    .map(|slot| *slot = 0)
                    .is_some()
            })
        })
    }

    /// Moves fingerprints from newer tables to free slots of older ones, and drops a newest table that is empty then.
    pub fn compact(&mut self) {
        self.compact_while(|_| true);
    }

    /// Empties one table after the other as far as possible, the newest first, while `go_on`, told whether that was all of it.
    fn compact_while(&mut self, go_on: impl Fn(bool) -> bool) {
        for number in (1..self.tables.len()).rev() {
            let emptied = self.empty_out(number);
            if emptied && number + 1 == self.tables.len() {
                self.tables.pop();
            }
            if !go_on(emptied) {
                break;
            }
        }
        self.removed = 0;
    }

    /// Moves what it can of a table to older ones, the oldest first; `true` when nothing is left.
    fn empty_out(&mut self, number: usize) -> bool {
        let size = self.bucket_size();
        let (older, newer) = self.tables.split_at_mut(number);
        // Full ones are left aside: of very many that are, each slot would ask each of them in vain.
        let has_room = |table: &&mut Vec<u8>| table.contains(&0);
        let mut older: Vec<&mut Vec<u8>> = older.iter_mut().filter(has_room).collect();
        let mut emptied = true;
        for (at, slot) in newer[0].iter_mut().enumerate() {
            if *slot == 0 {
                continue;
            }
            // A bucket of a larger table, modulo the buckets of a smaller one, is one of the two that the key has there.
            let bucket = (at / size) as u64;
            let seeker = Seeker {
                fingerprint: *slot,
                buckets: [bucket, partner(bucket, *slot)],
            };
            if older.iter_mut().any(|table| settle(table, size, seeker)) {
                *slot = 0;
            } else {
                emptied = false;
            }
        }
        emptied
    }

    /// Puts a key into the newest table that has a free slot for it.
    fn take_free_slot(&mut self, seeker: Seeker) -> bool {
        let size = self.bucket_size();
        self.tables
            .iter_mut()
            .rev()
            .any(|table| settle(table, size, seeker))
    }

    /// Makes room in the newest table; if that is not to be had, all moves are undone.
    fn move_in(&mut self, seeker: Seeker) -> bool {
        let (size, moves) = (self.bucket_size(), usize::from(self.plan.max_moves()));
        let Some(table) = self.tables.last_mut() else {
            return false;
        };
        let (mut fingerprint, mut bucket) = (seeker.fingerprint, seeker.buckets[0]);
        for step in 0..moves {
            let victim = &mut bucket_of_mut(table, size, bucket)[step % size];
            core::mem::swap(victim, &mut fingerprint);
            bucket = partner(bucket, fingerprint);
            if let Some(free) = slot_with(table, size, bucket, 0) {
                *free = fingerprint;
                return true;
            }
        }
        for step in (0..moves).rev() {
            bucket = partner(bucket, fingerprint);
            let victim = &mut bucket_of_mut(table, size, bucket)[step % size];
            core::mem::swap(victim, &mut fingerprint);
        }
        false
    }

    fn grow(&mut self, most_bytes: u64) -> Result<(), Full> {
        let full = Full::Table {
            keys: self.keys,
            capacity: self.capacity(),
        };
        if self.tables.len() >= MOST_TABLES {
            return Err(full);
        }
        let size_bytes = self.plan.size_bytes_of(self.tables.len() as u32);
        let size_bytes = size_bytes.map_err(|_| full)?;
        let no_memory = Full::Memory { size_bytes };
        if self.size_bytes().saturating_add(size_bytes) > most_bytes {
            return Err(no_memory);
        }
        let table = zeroed(size_bytes).map_err(|_| no_memory)?;
        self.tables.try_reserve(1).map_err(|_| no_memory)?;
        self.tables.push(table);
        Ok(())
    }

    /// The false-positive rate now, from the slots in use: what a random stranger meets. Reads the whole filter.
    pub fn estimated_rate(&self) -> f64 {
        let passes = |table: &Vec<u8>| {
            let used = table.iter().filter(|&&slot| slot != 0).count();
            self.plan.passes(used as f64 / table.len() as f64)
        };
        1.0 - self.tables.iter().map(passes).product::<f64>()
    }

    /// How many keys are in, copies counted.
    pub fn estimated_keys(&self) -> u64 {
        self.keys
    }

    /// How many were removed since the filter was last compacted.
    pub fn removed_keys(&self) -> u64 {
        self.removed
    }

    /// Slots in all tables.
    pub fn capacity(&self) -> u64 {
        self.size_bytes()
    }

    /// Bytes of memory that the tables take.
    pub fn size_bytes(&self) -> u64 {
        self.tables.iter().map(|table| table.len() as u64).sum()
    }

    /// The shape.
    pub fn plan(&self) -> &ClassicCuckooPlan {
        &self.plan
    }

    /// The slots of every table, bucket by bucket, the oldest table first.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.tables.iter().map(Vec::as_slice)
    }

    /// The slots of a table, to load what is stored a piece at a time. The counts stay as they are.
    pub fn table_mut(&mut self, number: usize) -> Option<&mut [u8]> {
        self.tables.get_mut(number).map(Vec::as_mut_slice)
    }

    fn bucket_size(&self) -> usize {
        usize::from(self.plan.bucket_size())
    }
}

/// The slots of a bucket, whose number is first reduced to the buckets that the table has.
fn bucket_of(table: &[u8], size: usize, bucket: u64) -> &[u8] {
    &table[start_of(table.len(), size, bucket)..][..size]
}

fn bucket_of_mut(table: &mut [u8], size: usize, bucket: u64) -> &mut [u8] {
    let start = start_of(table.len(), size, bucket);
    &mut table[start..][..size]
}

/// Tables have a power of two of buckets.
fn start_of(length: usize, size: usize, bucket: u64) -> usize {
    (bucket & (length / size - 1) as u64) as usize * size
}

/// The first slot of a bucket that holds a fingerprint; 0 for a free one.
fn slot_with(table: &mut [u8], size: usize, bucket: u64, fingerprint: u8) -> Option<&mut u8> {
    bucket_of_mut(table, size, bucket)
        .iter_mut()
        .find(|slot| **slot == fingerprint)
}

/// Puts a key into a free slot of its buckets, if a table has one.
fn settle(table: &mut [u8], size: usize, seeker: Seeker) -> bool {
    seeker.buckets.into_iter().any(|bucket| {
        slot_with(table, size, bucket, 0)
            .map(|slot| *slot = seeker.fingerprint)
            .is_some()
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
