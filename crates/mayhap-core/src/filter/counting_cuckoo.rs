//! `CountingCuckoo`: a multiset. Every distinguishable key has one cell with its count in it.
//!
//! It is a `GrowingCuckoo` whose cells have counters (`slice_table/counters.rs`).

use super::growing_cuckoo::GrowingCuckoo;
use super::growing_cuckoo::counted_table::CountedTable;
use super::slice_table::{SliceTable, SliceTableParts};
use crate::plan::{GrowingCuckooPlan, SliceTablePlan};
use crate::{
    Full, HashScheme, Kernel, Key, KeyHash, KeyType, Kind, Mismatch, PlanError, SipKey, Stats,
};
use alloc::vec::Vec;
use core::fmt;

/// A cuckoo filter that counts its keys: they can be inserted, counted and removed, and filters can be added. It grows with its keys,
/// and its counters never saturate.
///
/// Counts are exact, except that keys which the filter cannot distinguish are counted together: one in a hundred keys at most, at a
/// false-positive rate of 1 %. A key that was inserted once takes 14 to 19 bits below a maximum, at that rate, and 16 on average.
///
/// ```
/// # use mayhap_core as mayhap;
/// let mut views = mayhap::CountingCuckoo::with_maximum(1_000_000, 0.001)?;
/// for page in ["home", "about", "home"] {
///     views.try_insert(page)?;
/// }
/// assert_eq!(views.estimated_count("home"), 2);
/// assert!(views.remove("home"));
/// assert_eq!(views.estimated_count("home"), 1);
/// assert!(!views.remove("help"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct CountingCuckoo {
    /// With counters.
    filter: GrowingCuckoo,
}

/// One table of a [`CountingCuckoo`], as files store it.
#[derive(Clone, Debug)]
pub struct CountingCuckooTable<'t> {
    /// The number of keys at which its share of the rate is used up.
    pub capacity: u64,
    /// Its cells. The payload is a counter: how often the slice was inserted after the first time.
    pub slices: SliceTableParts<'t>,
    /// The number of the shape of the groups that have moved; without such groups, that of the others.
    pub moved_shape: u32,
    /// The number of bits in the counters of these groups.
    pub moved_counter_bits: u32,
    /// The slices, with the lowest bit set, whose counters are full, and what exceeds these, in ascending order.
    pub rests: Vec<(u64, u64)>,
}

impl CountingCuckoo {
    /// An empty filter that keeps the false-positive rate for any number of keys. `capacity` is a guess: up to there a lookup reads
    /// one table. Keys are hashed with XXH3; for untrusted keys see [`CountingCuckoo::keyed`].
    ///
    /// # Errors
    /// If the capacity is 0, or the rate is not between 0 and 1, or too strict for the capacity.
    pub fn new(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        let plan = GrowingCuckooPlan::new(capacity as u64, false_positive_rate)?;
        Self::from_plan(plan, HashScheme::Xxh3)
    }

    /// An empty filter for at most `maximum` different keys, which starts with a few bytes: faster and smaller than one without a
    /// maximum. It accepts more keys, and [`is_over_capacity`](Self::is_over_capacity) then reports that the rate is no longer kept.
    ///
    /// # Errors
    /// As [`CountingCuckoo::new`].
    pub fn with_maximum(maximum: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        let plan = GrowingCuckooPlan::with_maximum(maximum as u64, false_positive_rate)?;
        Self::from_plan(plan, HashScheme::Xxh3)
    }

    /// The same as [`CountingCuckoo::new`] for untrusted keys: hashed with SipHash-1-3 under a secret key, so that attackers cannot
    /// craft colliding keys.
    ///
    /// # Errors
    /// As [`CountingCuckoo::new`].
    pub fn keyed(
        capacity: usize,
        false_positive_rate: f64,
        key: SipKey,
    ) -> Result<Self, PlanError> {
        let plan = GrowingCuckooPlan::new(capacity as u64, false_positive_rate)?;
        Self::from_plan(plan, HashScheme::Sip13(key))
    }

    /// The same as [`CountingCuckoo::new`] for callers that already have good 64-bit hashes, passed as [`KeyHash::from_u64`]. Methods
    /// that take key bytes panic on such a filter.
    ///
    /// # Errors
    /// As [`CountingCuckoo::new`].
    pub fn for_hashes(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        let plan = GrowingCuckooPlan::new(capacity as u64, false_positive_rate)?;
        Self::from_plan(plan, HashScheme::Caller)
    }

    /// An empty filter that grows as planned.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn from_plan(plan: GrowingCuckooPlan, scheme: HashScheme) -> Result<Self, PlanError> {
        let filter = GrowingCuckoo::empty(plan, scheme, true)?;
        Ok(Self { filter })
    }

    /// A filter from existing tables, as [`CountingCuckoo::tables`] returns them.
    ///
    /// # Errors
    /// If there are no tables, or they are not those of the plan, or one of them is damaged, or there is not enough memory.
    pub fn from_tables<'t>(
        plan: GrowingCuckooPlan,
        scheme: HashScheme,
        tables: impl IntoIterator<Item = CountingCuckooTable<'t>>,
    ) -> Result<Self, PlanError> {
        let opened = tables.into_iter().map(|table| {
            let plan = SliceTablePlan {
                slice_bits: table.slices.slice_bits,
                capacity: table.capacity,
            };
            let moved = (table.moved_shape, table.moved_counter_bits);
            let slices = SliceTable::from_counting_parts(table.slices, moved, table.rests)?;
            Ok(CountedTable::from_slices(slices, plan))
        });
        let filter = GrowingCuckoo::from_opened(plan, scheme, opened)?;
        Ok(Self { filter })
    }

    /// The contents of all tables, the oldest first.
    pub fn tables(&self) -> impl ExactSizeIterator<Item = CountingCuckooTable<'_>> {
        self.filter.counted_tables().map(|(slices, capacity)| {
            let (moved_shape, moved_counter_bits) = slices.moved_shape();
            CountingCuckooTable {
                capacity,
                slices: slices.parts(),
                moved_shape,
                moved_counter_bits,
                rests: slices.rests(),
            }
        })
    }

    /// What the keys are, if that was set.
    pub fn key_type(&self) -> Option<KeyType> {
        self.filter.key_type()
    }

    /// Sets what the keys are. It is saved with the filter; lookups do not depend on it.
    pub fn set_key_type(&mut self, key_type: Option<KeyType>) {
        self.filter.set_key_type(key_type);
    }

    /// The same filter, with this key type.
    #[must_use]
    pub fn with_key_type(mut self, key_type: KeyType) -> Self {
        self.set_key_type(Some(key_type));
        self
    }

    /// The hash of a key. Every filter of the same scheme accepts it.
    ///
    /// # Panics
    /// On a filter created by [`CountingCuckoo::for_hashes`]. The same for all methods below that take key bytes.
    #[inline]
    pub fn hash(&self, key: impl Key) -> KeyHash {
        self.filter.hash(key)
    }

    /// Counts a key once more. `Ok(true)`: it was definitely new. `Ok(false)`: the key, or one that the filter cannot distinguish from
    /// it, was present.
    ///
    /// # Errors
    /// If there is not enough memory. The filter then contains what it contained before. Also [`Full::Copies`] if the key is counted
    /// 2^40 times.
    #[inline]
    pub fn try_insert(&mut self, key: impl Key) -> Result<bool, Full> {
        self.filter.try_insert(key)
    }

    /// `true`: the key was present, and one insert of it is undone. `false`: the key was definitely absent, and nothing changed.
    ///
    /// Only remove keys that were inserted. Removing a false positive lowers the count of the other key that it looks like; no filter
    /// can detect that.
    #[inline]
    pub fn remove(&mut self, key: impl Key) -> bool {
        self.filter.remove(key)
    }

    /// `false` is certain: the key is absent. `true` is probable.
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// How often the key was inserted and not removed, together with keys that the filter cannot distinguish from it: never too low,
    /// and exact but for a share of the keys that is the false-positive rate.
    #[inline]
    pub fn estimated_count(&self, key: impl Key) -> u64 {
        self.count_hash(self.hash(key))
    }

    /// `contains` for many keys. Faster, because the memory accesses of dozens of keys overlap.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length; on a filter created by [`CountingCuckoo::for_hashes`].
    pub fn contains_each(&self, keys: &[impl Key], found: &mut [bool]) {
        self.filter.contains_each(keys, found);
    }

    /// As [`try_insert`](Self::try_insert), for a hash of this filter's scheme.
    ///
    /// # Errors
    /// As `try_insert`.
    #[inline]
    pub fn try_insert_hash(&mut self, hash: KeyHash) -> Result<bool, Full> {
        self.filter.try_insert_hash(hash)
    }

    /// As [`try_insert_hash`](Self::try_insert_hash), for callers with a memory limit: if the filter must grow and would then exceed
    /// `max_bytes`, it rejects the key. Accepted keys are stored exactly as without a limit.
    ///
    /// # Errors
    /// As `try_insert_hash`, and [`Full::Memory`] if it must not grow.
    pub fn try_insert_hash_within(&mut self, hash: KeyHash, max_bytes: u64) -> Result<bool, Full> {
        self.filter.try_insert_hash_within(hash, max_bytes)
    }

    /// [`try_insert_hash`](Self::try_insert_hash) for many hashes. Faster if the filter is larger than a core's cache; the resulting
    /// bytes are the same.
    ///
    /// # Errors
    /// If one is rejected. Those before it have been inserted; it and those after it have not.
    pub fn try_insert_hashes(&mut self, hashes: &[KeyHash]) -> Result<(), Full> {
        self.filter.try_insert_hashes(hashes)
    }

    /// As [`remove`](Self::remove), for a hash of this filter's scheme.
    pub fn remove_hash(&mut self, hash: KeyHash) -> bool {
        self.filter.remove_hash(hash)
    }

    /// As [`contains`](Self::contains), for a hash of this filter's scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.filter.contains_hash_with::<true>(hash)
    }

    /// `contains_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        self.filter.contains_hashes(hashes, found);
    }

    /// As [`estimated_count`](Self::estimated_count), for a hash of this filter's scheme.
    pub fn count_hash(&self, hash: KeyHash) -> u64 {
        self.filter.count_hash(hash)
    }

    /// `count_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `counts` differ in length.
    pub fn count_hashes(&self, hashes: &[KeyHash], counts: &mut [u64]) {
        self.filter.count_hashes(hashes, counts);
    }

    /// The instructions that batches use.
    pub fn kernel(&self) -> Kernel {
        self.filter.kernel()
    }

    /// The same filter with batches that use a given kernel, if this CPU has it. For tests and measurements; tables that are added
    /// later use the fastest.
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        let filter = self.filter.with_kernel(kernel);
        Self { filter }
    }

    /// Makes room for `more` different keys at once. That takes less time than growing step by step, and must precede keys that arrive
    /// in the order of their hashes, as those of another filter or of a sorted file do.
    ///
    /// # Errors
    /// If there is not enough memory. The filter then contains what it contained before.
    pub fn reserve(&mut self, more: u64) -> Result<(), Full> {
        self.filter.reserve(more)
    }

    /// Whether [`union_with`](Self::union_with) would succeed, if there is enough memory.
    ///
    /// # Errors
    /// As `union_with`.
    pub fn check_union(&self, other: &Self) -> Result<(), Mismatch> {
        self.filter.check_union(&other.filter)
    }

    /// Adds the counts of all keys of another filter. Two filters with different maxima give one with the higher rate of both.
    ///
    /// # Errors
    /// If the hash schemes or key types differ, or the plans do and one of them has no maximum, or there is not enough memory, or a
    /// key would be counted more than 2^40 times. The filter is then unchanged.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Mismatch> {
        self.filter.union_with(&other.filter)
    }

    /// Removes all keys, and returns the memory.
    pub fn clear(&mut self) {
        self.filter.clear();
    }

    /// A copy, or an error if there is not enough memory for it.
    ///
    /// # Errors
    /// [`PlanError::OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, PlanError> {
        let filter = self.filter.try_clone()?;
        Ok(Self { filter })
    }

    /// The sum of all counts: exact, and known without reading the cells.
    pub fn estimated_keys(&self) -> u64 {
        self.filter.estimated_keys()
    }

    /// The number of different keys that the filter distinguishes: exact, and known without reading the cells.
    pub fn distinct_keys(&self) -> u64 {
        self.filter.distinct_keys()
    }

    /// Whether the filter is empty.
    pub fn is_empty(&self) -> bool {
        self.filter.is_empty()
    }

    /// The requested false-positive rate.
    pub fn false_positive_rate(&self) -> f64 {
        self.filter.false_positive_rate()
    }

    /// The false-positive rate now: the share of all slices that are stored.
    pub fn estimated_rate(&self) -> f64 {
        self.filter.estimated_rate()
    }

    /// The share of cells in use.
    pub fn load(&self) -> f64 {
        self.filter.load()
    }

    /// Whether the filter holds more different keys than its maximum, so that the rate is no longer kept. One without a maximum never
    /// does, up to a rate that 54 bits of hash cannot keep.
    pub fn is_over_capacity(&self) -> bool {
        self.filter.is_over_capacity()
    }

    /// The number of different keys that the present tables are for.
    pub fn capacity(&self) -> u64 {
        self.filter.capacity()
    }

    /// How many more new keys fit before the filter grows; 0 while it is growing. The rare key without a cell takes memory even then,
    /// and so do counts above those of the cells.
    pub fn keys_until_growth(&self) -> u64 {
        self.filter.keys_until_growth()
    }

    /// How many more new keys fit before the filter is over capacity; `u64::MAX` without a maximum.
    pub fn keys_until_full(&self) -> u64 {
        self.filter.keys_until_full()
    }

    /// Bytes of memory.
    pub fn size_bytes(&self) -> u64 {
        self.filter.size_bytes()
    }

    /// What the filter is, how full it is and which rate it has now.
    pub fn stats(&self) -> Stats {
        Stats {
            kind: Kind::CountingCuckoo,
            ..self.filter.stats()
        }
    }

    /// The plan.
    pub fn plan(&self) -> &GrowingCuckooPlan {
        self.filter.plan()
    }

    /// The hash scheme.
    pub fn scheme(&self) -> HashScheme {
        self.filter.scheme()
    }
}

impl fmt::Debug for CountingCuckoo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "CountingCuckoo({} keys, {} of them different, {:.1} % full, {:?})",
            self.estimated_keys(),
            self.distinct_keys(),
            100.0 * self.load(),
            self.scheme()
        )
    }
}
