//! `Cuckoo`: the filter that supports removal. Two windows of two cells per key, any table size.
//!
//! It is one table (`cuckoo_table.rs`), or a chain of them if it grows (`cuckoo_chain.rs`).

use super::cuckoo_chain::CuckooChain;
use super::cuckoo_table::CuckooTable;
use crate::key_type::key_type_methods;
use crate::plan::{CuckooPlan, GrowingPlan};
use crate::simd::Prefetch;
use crate::stats::known;
use crate::store::Multiset;
use crate::{Full, HashScheme, Kernel, Key, KeyHash, KeyType, Kind, PlanError, SipKey, Stats};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

/// The maximum count of one extra copy in stored data: sums stay far from overflow.
pub(super) const MAX_EXTRA_COPIES: u64 = 1 << 40;

/// A cuckoo filter: keys can be inserted and removed.
///
/// Equal keys are stored as copies, at most four, and each needs its own [`remove`](Cuckoo::remove). A full filter returns an
/// error and is unchanged; one created by [`Cuckoo::growing`] grows instead.
///
/// ```
/// # use mayhap_core as mayhap;
/// let mut online = mayhap::Cuckoo::new(1_000_000, 0.001)?;
/// assert_eq!(online.try_insert("alice"), Ok(true)); // definitely new
/// assert!(online.contains("alice"));
/// assert!(online.remove("alice"));
/// assert!(!online.contains("alice"));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone)]
pub struct Cuckoo {
    newest: CuckooTable,
    /// The older tables, if the filter grows.
    chain: Option<Box<CuckooChain>>,
    scheme: HashScheme,
    /// `scheme.origin()`, cached because debug builds compare it for every hash.
    origin: u64,
    key_type: Option<KeyType>,
}

impl Cuckoo {
    /// An empty filter for `capacity` keys. It finds at most a share of `false_positive_rate` of all other keys. Keys are hashed
    /// with XXH3; for untrusted keys see [`Cuckoo::keyed`].
    ///
    /// # Errors
    /// If the capacity is 0, the rate is not between 1.4e-8 and 1, or there is not enough memory.
    pub fn new(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            CuckooPlan::new(capacity as u64, false_positive_rate)?,
            HashScheme::Xxh3,
        )
    }

    /// The same for untrusted keys: hashed with SipHash-1-3 under a secret key, so that attackers cannot craft colliding keys.
    ///
    /// # Errors
    /// As [`Cuckoo::new`].
    pub fn keyed(
        capacity: usize,
        false_positive_rate: f64,
        key: SipKey,
    ) -> Result<Self, PlanError> {
        Self::from_plan(
            CuckooPlan::new(capacity as u64, false_positive_rate)?,
            HashScheme::Sip13(key),
        )
    }

    /// The same for callers that already have good 64-bit hashes, passed as [`KeyHash::from_u64`]. Methods that take key bytes
    /// panic on such a filter.
    ///
    /// # Errors
    /// As [`Cuckoo::new`].
    pub fn for_hashes(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            CuckooPlan::new(capacity as u64, false_positive_rate)?,
            HashScheme::Caller,
        )
    }

    /// An empty filter with a given plan.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn from_plan(plan: CuckooPlan, scheme: HashScheme) -> Result<Self, PlanError> {
        Ok(Self {
            newest: CuckooTable::new(plan)?,
            chain: None,
            scheme,
            origin: scheme.origin(),
            key_type: None,
        })
    }

    /// An empty filter that starts with room for `capacity` keys and keeps the false-positive rate for any number of keys: when a
    /// table is full, a larger one with longer fingerprints is added. It accepts any number of copies, and rejects keys only if
    /// there is no memory left. A lookup reads every table, so estimate the capacity well if you can.
    ///
    /// ```
    /// # use mayhap_core as mayhap;
    /// let mut online = mayhap::Cuckoo::growing(100, 0.001)?; // 100 keys is a guess
    /// for user in 0..10_000_u32 {
    ///     online.try_insert(user.to_le_bytes()).expect("the filter grows");
    /// }
    /// assert!(online.remove(77_u32.to_le_bytes()));
    /// assert!(online.estimated_keys() == 9_999 && online.estimated_rate() <= 0.001);
    /// # Ok::<(), mayhap::PlanError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Cuckoo::new`], for the first table, whose rate is 6/10 of the requested one.
    pub fn growing(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::growing_from_plan(
            GrowingPlan::new(capacity as u64, false_positive_rate)?,
            HashScheme::Xxh3,
        )
    }

    /// An empty filter that grows as planned.
    ///
    /// # Errors
    /// As [`Cuckoo::growing`].
    pub fn growing_from_plan(plan: GrowingPlan, scheme: HashScheme) -> Result<Self, PlanError> {
        let (chain, newest) = CuckooChain::new(plan)?;
        Ok(Self {
            newest,
            chain: Some(Box::new(chain)),
            scheme,
            origin: scheme.origin(),
            key_type: None,
        })
    }

    /// A filter from existing cells, as [`Cuckoo::bytes`] returns them.
    ///
    /// # Errors
    /// If the number of bytes does not match the plan, a cell holds a value that no insert writes, or there is not enough memory.
    pub fn from_bytes(
        plan: CuckooPlan,
        scheme: HashScheme,
        bytes: &[u8],
    ) -> Result<Self, PlanError> {
        Ok(Self {
            newest: CuckooTable::from_bytes(plan, bytes)?,
            chain: None,
            scheme,
            origin: scheme.origin(),
            key_type: None,
        })
    }

    /// A growing filter from existing tables, as [`Cuckoo::tables`] and [`Cuckoo::extra_copies`] return them.
    ///
    /// # Errors
    /// As [`Cuckoo::from_bytes`], and if there are no tables, two with the same number, an empty one before the newest, or
    /// invalid extra copies.
    pub fn from_tables<'t, T: IntoIterator<Item = (u64, u64)>>(
        plan: GrowingPlan,
        scheme: HashScheme,
        tables: impl IntoIterator<Item = (CuckooPlan, u32, &'t [u8], T)>,
    ) -> Result<Self, PlanError> {
        let tables = tables
            .into_iter()
            .map(|(plan, number, bytes, extra_copies)| {
                let extra_copies = extra_copies.into_iter().collect::<Vec<_>>();
                check_extra_copies(&extra_copies)?;
                let extra_copies = Multiset::from_distinct(extra_copies)?;
                Ok((CuckooTable::from_bytes(plan, bytes)?, number, extra_copies))
            });
        let tables = tables.collect::<Result<_, PlanError>>()?;
        let (chain, newest) = CuckooChain::from_tables(plan, tables)?;
        Ok(Self {
            newest,
            chain: Some(Box::new(chain)),
            scheme,
            origin: scheme.origin(),
            key_type: None,
        })
    }

    key_type_methods!();

    /// The hash of a key. Every filter of the same scheme accepts it.
    ///
    /// # Panics
    /// On a filter created by [`Cuckoo::for_hashes`]. The same for all methods below that take key bytes.
    #[inline]
    pub fn hash(&self, key: impl Key) -> KeyHash {
        self.scheme.hash(key)
    }

    /// `Ok(true)`: the key was definitely new. `Ok(false)`: the key, or one that the filter cannot distinguish from it, was
    /// present; another copy is stored, which needs its own [`remove`](Cuckoo::remove).
    ///
    /// # Errors
    /// If the filter is full, or already holds four copies (three for the one key in thousands whose two windows are neighbours).
    /// The filter is then unchanged.
    #[inline]
    pub fn try_insert(&mut self, key: impl Key) -> Result<bool, Full> {
        let hash = self.hash(key);
        self.insert_u64(hash.to_u64())
    }

    /// `Ok(true)`: the key was definitely new and has been inserted. `Ok(false)`: the key, or one that the filter cannot
    /// distinguish from it, was present, and nothing changed. For sets whose keys may arrive twice.
    ///
    /// A new key that looks like a stored one is not stored itself, and is lost when that other key is removed. If keys are
    /// removed and do not arrive twice, use [`try_insert`](Cuckoo::try_insert).
    ///
    /// # Errors
    /// If the filter is full. It is then unchanged.
    #[inline]
    pub fn insert_if_absent(&mut self, key: impl Key) -> Result<bool, Full> {
        let hash = self.hash(key);
        self.insert_hash_if_absent(hash)
    }

    /// `true`: one copy of the key was removed. `false`: the key was definitely absent, and nothing changed.
    ///
    /// Only remove keys that were inserted. Removing a false positive removes the other key that it looks like; no filter can
    /// detect that.
    #[inline]
    pub fn remove(&mut self, key: impl Key) -> bool {
        let hash = self.hash(key);
        self.remove_u64(hash.to_u64())
    }

    /// `false` is certain: the key is absent. `true` is probable.
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.find(self.hash(key).to_u64())
    }

    /// `contains` for many keys. Faster, because the memory accesses of dozens of keys overlap.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length; on a filter created by [`Cuckoo::for_hashes`].
    pub fn contains_each(&self, keys: &[impl Key], found: &mut [bool]) {
        let look_up = |hashes: &[KeyHash], found: &mut [bool]| self.find_each(hashes, found);
        self.scheme.look_up_in_chunks(keys, found, look_up);
    }

    /// As [`try_insert`](Cuckoo::try_insert), for a hash of this filter's scheme.
    ///
    /// # Errors
    /// As `try_insert`.
    #[inline]
    pub fn try_insert_hash(&mut self, hash: KeyHash) -> Result<bool, Full> {
        hash.assert_mixed(self.origin);
        self.insert_u64(hash.to_u64())
    }

    /// As [`try_insert_hash`](Cuckoo::try_insert_hash), for callers with a memory limit. If a growing filter must grow but would
    /// then exceed `max_bytes`, or there is not enough memory, it rejects the key instead of overfilling its newest table.
    /// Accepted keys are stored exactly as without a limit.
    ///
    /// # Errors
    /// As `try_insert_hash`, and [`Full::Memory`] if it cannot grow. The filter is then unchanged.
    pub fn try_insert_hash_within(&mut self, hash: KeyHash, max_bytes: u64) -> Result<bool, Full> {
        hash.assert_origin(self.origin);
        self.insert_u64_within(hash.to_u64(), Some(max_bytes))
    }

    /// The number of copies of a key, including keys that look the same; never too low.
    pub fn count_hash(&self, hash: KeyHash) -> u64 {
        hash.assert_origin(self.origin);
        match &self.chain {
            None => self.newest.copies(hash.to_u64()).into(),
            Some(chain) => chain.count(&self.newest, hash.to_u64()),
        }
    }

    /// `try_insert_hash` for many hashes. Faster if the filter is larger than a core's cache; the resulting bytes are the same.
    ///
    /// # Errors
    /// If one is rejected. Those before it have been inserted, as [`estimated_keys`](Cuckoo::estimated_keys) shows; it and those
    /// after it have not.
    pub fn try_insert_hashes(&mut self, hashes: &[KeyHash]) -> Result<(), Full> {
        let ahead = Prefetch::InBatch.distance(self.size_bytes() as usize);
        for (at, &hash) in hashes.iter().enumerate() {
            if ahead != 0
                && let Some(next) = hashes.get(at + ahead)
            {
                self.prefetch(next.to_u64());
            }
            self.try_insert_hash(hash)?;
        }
        Ok(())
    }

    /// As [`insert_if_absent`](Cuckoo::insert_if_absent), for a hash of this filter's scheme.
    ///
    /// # Errors
    /// As `insert_if_absent`.
    #[inline]
    pub fn insert_hash_if_absent(&mut self, hash: KeyHash) -> Result<bool, Full> {
        hash.assert_origin(self.origin);
        if self.find(hash.to_u64()) {
            Ok(false)
        } else {
            self.insert_u64(hash.to_u64())
        }
    }

    /// As [`remove`](Cuckoo::remove), for a hash of this filter's scheme.
    #[inline]
    pub fn remove_hash(&mut self, hash: KeyHash) -> bool {
        hash.assert_origin(self.origin);
        self.remove_u64(hash.to_u64())
    }

    /// As [`contains`](Cuckoo::contains), for a hash of this filter's scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        hash.assert_origin(self.origin);
        self.find(hash.to_u64())
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
        self.find_each(hashes, found);
    }

    fn find_each(&self, hashes: &[KeyHash], found: &mut [bool]) {
        self.newest.cells.find_each(hashes, found);
        if let Some(chain) = &self.chain {
            chain.find_each_in_older(hashes, found);
        }
    }

    /// Prefetches everything that `find` reads.
    #[inline(always)]
    fn prefetch(&self, hash: u64) {
        self.newest.cells.prefetch(hash);
        if let Some(chain) = &self.chain {
            chain.prefetch(hash);
        }
    }

    #[inline(always)]
    fn find(&self, hash: u64) -> bool {
        let found = self.newest.cells.find(hash);
        match &self.chain {
            None => found,
            Some(chain) => Self::find_in_chain(chain, found, hash),
        }
    }

    /// A separate function, so that a filter that does not grow pays for one comparison only.
    #[cold]
    fn find_in_chain(chain: &CuckooChain, found: bool, hash: u64) -> bool {
        found || chain.older_contains(hash)
    }

    fn insert_u64(&mut self, hash: u64) -> Result<bool, Full> {
        self.insert_u64_within(hash, None)
    }

    fn insert_u64_within(&mut self, hash: u64, max_bytes: Option<u64>) -> Result<bool, Full> {
        let Some(chain) = &mut self.chain else {
            return self.newest.insert(hash);
        };
        chain
            .insert(&mut self.newest, hash, max_bytes)
            .map_err(|full| match full {
                Full::Table { .. } => Full::Table {
                    keys: self.estimated_keys(),
                    capacity: self.capacity(),
                },
                other => other,
            })
    }

    fn remove_u64(&mut self, hash: u64) -> bool {
        match &mut self.chain {
            None => self.newest.remove(hash),
            Some(chain) => chain.remove(&mut self.newest, hash),
        }
    }

    /// Removes all keys, and all tables but one.
    pub fn clear(&mut self) {
        match &mut self.chain {
            None => self.newest.clear(),
            Some(chain) => chain.clear(&mut self.newest),
        }
    }

    /// A copy, or an error if there is not enough memory for it. Pages of zeros are not touched.
    ///
    /// # Errors
    /// [`PlanError::OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, PlanError> {
        let chain = match &self.chain {
            None => None,
            Some(chain) => Some(Box::new(chain.try_clone()?)),
        };
        Ok(Self {
            newest: self.newest.try_clone()?,
            chain,
            ..*self
        })
    }

    /// The number of keys, copies included: exact, and known without reading the cells.
    pub fn estimated_keys(&self) -> u64 {
        let in_cells: u64 = self.all_tables().map(|table| table.keys).sum();
        in_cells + self.chain.as_ref().map_or(0, |chain| chain.extra_copies())
    }

    /// The requested false-positive rate.
    pub fn false_positive_rate(&self) -> f64 {
        match &self.chain {
            None => self.newest.plan.false_positive_rate(),
            Some(chain) => chain.plan().false_positive_rate(),
        }
    }

    /// The false-positive rate now, from the number of keys: the probability that a random absent key is found. A little less if
    /// some keys are copies.
    pub fn estimated_rate(&self) -> f64 {
        let rate = |table: &CuckooTable| table.plan.rate_at(table.keys);
        match &self.chain {
            None => rate(&self.newest),
            Some(_) => {
                1.0 - self
                    .all_tables()
                    .map(|table| 1.0 - rate(table))
                    .product::<f64>()
            }
        }
    }

    /// The share of cells in use.
    pub fn load(&self) -> f64 {
        let sum = |count: fn(&CuckooTable) -> u64| self.all_tables().map(count).sum::<u64>() as f64;
        sum(|table| table.keys) / sum(|table| table.plan.cells())
    }

    /// Whether the filter holds more keys than it was planned for. It accepts a few more, up to 93 % of its cells, and then is
    /// full. A growing filter is over capacity only if there was no memory to grow.
    pub fn is_over_capacity(&self) -> bool {
        self.newest.keys > self.newest.plan.capacity()
    }

    /// How many more keys fit before the filter is over capacity; `u64::MAX` for a growing filter, or the rest of the maximum in
    /// its plan.
    pub fn keys_until_full(&self) -> u64 {
        let max = match &self.chain {
            None => self.newest.plan.capacity(),
            Some(_) if self.is_over_capacity() => 0,
            Some(chain) => match chain.plan().maximum() {
                None => return u64::MAX,
                Some(maximum) => maximum,
            },
        };
        max.saturating_sub(self.estimated_keys())
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
            layers: self.all_tables().count() as u64,
            ..Stats::new(Kind::Cuckoo, self.size_bytes())
        }
    }

    /// Whether the filter is empty.
    pub fn is_empty(&self) -> bool {
        self.estimated_keys() == 0
    }

    /// The number of keys that the filter was planned for, or that its present tables were planned for if it grows.
    pub fn capacity(&self) -> u64 {
        self.all_tables()
            .map(|table| table.plan.capacity())
            .fold(0, u64::saturating_add)
    }

    /// Bytes of memory for the cells, and for the extra copies of a growing filter.
    pub fn size_bytes(&self) -> u64 {
        let cells: u64 = self.all_tables().map(|table| table.plan.size_bytes()).sum();
        cells
            + self
                .chain
                .as_ref()
                .map_or(0, |chain| chain.extra_copies_size_bytes())
    }

    /// The plan; of the newest table, if the filter grows.
    pub fn plan(&self) -> &CuckooPlan {
        &self.newest.plan
    }

    /// The plan by which it grows, if it does.
    pub fn growth(&self) -> Option<&GrowingPlan> {
        self.chain.as_ref().map(|chain| chain.plan())
    }

    /// The hash scheme.
    pub fn scheme(&self) -> HashScheme {
        self.scheme
    }

    /// The cells: cell `i` is the bits `i * cell_bits ..`, lowest first; within a cell offset, choice and fingerprint, lowest
    /// first. Those of the newest table, if the filter grows.
    pub fn bytes(&self) -> &[u8] {
        self.newest.cells.bytes()
    }

    /// The plan and the cells of every table, the oldest first; one table unless the filter grows.
    pub fn tables(&self) -> impl Iterator<Item = (&CuckooPlan, &[u8])> {
        self.all_tables()
            .map(|table| (&table.plan, table.cells.bytes()))
    }

    /// For every table of a growing filter, the oldest first, its number in the plan and its extra copies: keys without a cell,
    /// each as the number that all keys with its fingerprint share, and how often it is stored, sorted by these numbers. Nothing
    /// for a filter that does not grow.
    pub fn extra_copies(&self) -> impl Iterator<Item = (u32, Vec<(u64, u64)>)> {
        let chain = self.chain.iter();
        let tables = chain.flat_map(|chain| chain.numbers_and_extra_copies());
        tables.map(|(number, extra_copies)| {
            let mut extra_copies: Vec<_> = extra_copies.iter().collect();
            extra_copies.sort_unstable();
            (number, extra_copies)
        })
    }

    /// The instruction set of batch lookups.
    pub fn kernel(&self) -> Kernel {
        self.newest.cells.kernel()
    }

    /// The same filter with another instruction set for the tables that it has, as [`Bloom::with_kernel`](crate::Bloom::with_kernel).
    #[must_use]
    pub fn with_kernel(mut self, kernel: Kernel) -> Self {
        self.newest.cells.set_kernel(kernel);
        if let Some(chain) = &mut self.chain {
            chain.set_kernel(kernel);
        }
        self
    }

    fn all_tables(&self) -> impl Iterator<Item = &CuckooTable> {
        let older = self.chain.iter().flat_map(|chain| chain.older());
        older.chain([&self.newest])
    }
}

/// Checks extra copies from stored data.
pub(super) fn check_extra_copies(extra_copies: &[(u64, u64)]) -> Result<(), PlanError> {
    let invalid = |field, value, accepted| {
        Err(PlanError::InvalidInteger {
            field,
            value,
            accepted,
        })
    };
    if !extra_copies.is_sorted_by(|a, b| a.0 < b.0)
        || extra_copies.first().is_some_and(|copy| copy.0 == 0)
    {
        let accepted = "ascending, distinct and not 0";
        return invalid("extra copies", extra_copies.len() as u64, accepted);
    }
    match extra_copies
        .iter()
        .find(|copy| !(1..=MAX_EXTRA_COPIES).contains(&copy.1))
    {
        Some(copy) => invalid("count of an extra copy", copy.1, "1 to 2^40"),
        None => Ok(()),
    }
}

/// Filters are equal if they have the same scheme, key type, plan and cells.
impl PartialEq for Cuckoo {
    fn eq(&self, other: &Self) -> bool {
        self.scheme == other.scheme
            && self.key_type == other.key_type
            && self.newest == other.newest
            && self.chain == other.chain
    }
}

impl Eq for Cuckoo {}

impl fmt::Debug for Cuckoo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cuckoo({}, ", self.newest.plan)?;
        if self.chain.is_some() {
            write!(f, "the newest of {} tables, ", self.tables().count())?;
        }
        write!(
            f,
            "{} keys in, {:.1} % full, {:?})",
            self.estimated_keys(),
            100.0 * self.load(),
            self.scheme
        )
    }
}
