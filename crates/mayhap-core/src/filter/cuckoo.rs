//! `Cuckoo`: the filter that keys can be taken out of. Two windows of two cells per key, any table size.
//!
//! One table (`nest.rs`), or a chain of them (`chain.rs`) when it was made to grow.

use super::bloom::CHUNK;
use super::cuckoo_chain::CuckooChain;
use super::cuckoo_table::CuckooTable;
use crate::plan::{CuckooPlan, GrowingPlan};
use crate::simd::{CACHED_BYTES, Prefetch};
use crate::stats::known;
use crate::store::Multiset;
use crate::{Full, HashScheme, KeyHash, Kind, PlanError, SipKey, Stats};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

/// As often may a key without a cell be in that comes from outside: sums stay far from overflow.
const MAX_EXTRA_COPIES: u64 = 1 << 40;

/// A cuckoo filter: keys go in and come out again.
///
/// Equal keys are kept as copies, four at most, and each is taken out by a [`remove`](Cuckoo::remove) of its own. A filter that has
/// no room says so, and is then exactly as it was before; one created by [`Cuckoo::growing`] makes room.
///
/// ```
/// # use mayhap_core as mayhap;
/// let mut online = mayhap::Cuckoo::new(1_000_000, 0.001)?;
/// assert_eq!(online.try_insert("alice"), Ok(true)); // surely new
/// assert!(online.contains("alice"));
/// assert!(online.remove("alice"));
/// assert!(!online.contains("alice"));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone)]
pub struct Cuckoo {
    newest: CuckooTable,
    /// The other tables, if it grows.
    chain: Option<Box<CuckooChain>>,
    scheme: HashScheme,
    /// `scheme.origin()`, cached because debug builds compare it for every hash.
    origin: u64,
}

impl Cuckoo {
    /// An empty filter for `capacity` keys that says `true` to a share of at most `false_positive_rate` of all other keys. Keys are
    /// hashed with XXH3: for untrusted keys see [`Cuckoo::keyed`].
    ///
    /// # Errors
    /// When the capacity is 0, the rate not between 1.4e-8 and 1, or there is not enough memory.
    pub fn new(capacity: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            CuckooPlan::new(capacity, false_positive_rate)?,
            HashScheme::Xxh3,
        )
    }

    /// The same for untrusted keys: hashed with SipHash-1-3 under a secret key, so that attackers cannot craft colliding keys.
    ///
    /// # Errors
    /// As [`Cuckoo::new`].
    pub fn keyed(capacity: u64, false_positive_rate: f64, key: SipKey) -> Result<Self, PlanError> {
        Self::from_plan(
            CuckooPlan::new(capacity, false_positive_rate)?,
            HashScheme::Sip13(key),
        )
    }

    /// The same for callers that have good 64-bit hashes already: give them as [`KeyHash::from_u64`]. Methods that take key
    /// bytes panic on such a filter.
    ///
    /// # Errors
    /// As [`Cuckoo::new`].
    pub fn for_hashes(capacity: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            CuckooPlan::new(capacity, false_positive_rate)?,
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
        })
    }

    /// An empty filter that begins with room for `capacity` keys and keeps the false-positive rate however many come: when a table
    /// is full, a larger one with longer fingerprints is opened. It takes any number of copies, and refuses keys only when there is
    /// no memory left. A lookup costs one of every table, so guess the capacity well if you can.
    ///
    /// ```
    /// # use mayhap_core as mayhap;
    /// let mut online = mayhap::Cuckoo::growing(100, 0.001)?; // 100 keys is a guess
    /// for user in 0..10_000_u32 {
    ///     online.try_insert(user.to_le_bytes()).expect("room for everybody");
    /// }
    /// assert!(online.remove(77_u32.to_le_bytes()));
    /// assert!(online.estimated_keys() == 9_999 && online.estimated_rate() <= 0.001);
    /// # Ok::<(), mayhap::PlanError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Cuckoo::new`], for the first table, whose rate is 6/10 of the requested one.
    pub fn growing(capacity: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::growing_from_plan(
            GrowingPlan::new(capacity, false_positive_rate)?,
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
        })
    }

    /// A filter from existing cells, as [`Cuckoo::bytes`] has them.
    ///
    /// # Errors
    /// When the bytes are not as many as the plan says, a cell holds what no insert writes, or there is not enough memory.
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
        })
    }

    /// A filter that grows and from existing tables, as [`Cuckoo::tables`] and [`Cuckoo::extra_copies`] have them.
    ///
    /// # Errors
    /// As [`Cuckoo::from_bytes`], when there are no tables, two with one number, an empty one before the newest, or twins that
    /// cannot be.
    pub fn from_tables<'t, T: IntoIterator<Item = (u64, u64)>>(
        plan: GrowingPlan,
        scheme: HashScheme,
        tables: impl IntoIterator<Item = (CuckooPlan, u32, &'t [u8], T)>,
    ) -> Result<Self, PlanError> {
        let tables = tables.into_iter().map(|(plan, number, bytes, twins)| {
            let twins = twins.into_iter().collect::<Vec<_>>();
            check_extra_copies(&twins)?;
            let twins = Multiset::from_distinct(twins)?;
            Ok((CuckooTable::from_bytes(plan, bytes)?, number, twins))
        });
        let tables = tables.collect::<Result<_, PlanError>>()?;
        let (chain, newest) = CuckooChain::from_tables(plan, tables)?;
        Ok(Self {
            newest,
            chain: Some(Box::new(chain)),
            scheme,
            origin: scheme.origin(),
        })
    }

    /// The hash of a key. Every filter of the same scheme accepts it.
    ///
    /// # Panics
    /// On a filter created by [`Cuckoo::for_hashes`]. The same for all methods below that take key bytes.
    #[inline]
    pub fn hash(&self, key: impl AsRef<[u8]>) -> KeyHash {
        self.scheme.hash(key.as_ref())
    }

    /// `Ok(true)`: the key is in now, and was definitely new. `Ok(false)`: it is in now, and it, or one that looks like it, was
    /// before; this is another copy, to be removed by another [`remove`](Cuckoo::remove).
    ///
    /// # Errors
    /// When there is no room, or four copies are in already (three, for the one key in thousands whose two windows are neighbours).
    /// The filter is then unchanged.
    #[inline]
    pub fn try_insert(&mut self, key: impl AsRef<[u8]>) -> Result<bool, Full> {
        let hash = self.hash(key);
        self.insert_u64(hash.to_u64())
    }

    /// `Ok(true)`: the key is in now, and was definitely new. `Ok(false)`: it, or one that looks like it, was in before, and
    /// nothing is changed. For sets whose keys may come twice.
    ///
    /// A new key that looks like one that is in is not stored, which goes well until that other key is removed: where keys are
    /// removed, and do not come twice, [`try_insert`](Cuckoo::try_insert) them.
    ///
    /// # Errors
    /// When there is no room. The filter is then unchanged.
    #[inline]
    pub fn insert_if_absent(&mut self, key: impl AsRef<[u8]>) -> Result<bool, Full> {
        let hash = self.hash(key);
        self.insert_hash_if_absent(hash)
    }

    /// `true`: a copy of the key was in, and is not any more. `false`: the key was certainly not in, and nothing is changed.
    ///
    /// Remove only what was inserted. A key that was not is taken for another one at the filter's false-positive rate, and
    /// that other one is then lost: no filter can tell.
    #[inline]
    pub fn remove(&mut self, key: impl AsRef<[u8]>) -> bool {
        let hash = self.hash(key);
        self.remove_u64(hash.to_u64())
    }

    /// `false` is certain: the key is not in. `true` is probable.
    #[inline]
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        self.find(self.hash(key).to_u64())
    }

    /// `contains` for many keys. Faster, because the memory accesses of dozens of keys overlap.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length; on a filter created by [`Cuckoo::for_hashes`].
    pub fn contains_each(&self, keys: &[impl AsRef<[u8]>], found: &mut [bool]) {
        assert_eq!(
            keys.len(),
            found.len(),
            "one place in `found` for every key"
        );
        let prefetch = self.size_bytes() > CACHED_BYTES;
        let mut hashes = [0; CHUNK];
        for (keys, found) in keys.chunks(CHUNK).zip(found.chunks_mut(CHUNK)) {
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = self.hash(key).to_u64();
                if prefetch {
                    self.prefetch(*hash);
                }
            }
            for (found, hash) in found.iter_mut().zip(hashes) {
                *found = self.find(hash);
            }
        }
    }

    /// As [`try_insert`](Cuckoo::try_insert), for a hash of this filter's scheme.
    ///
    /// # Errors
    /// The same.
    #[inline]
    pub fn try_insert_hash(&mut self, hash: KeyHash) -> Result<bool, Full> {
        hash.assert_origin(self.origin);
        self.insert_u64(hash.to_u64())
    }

    /// As [`try_insert_hash`](Cuckoo::try_insert_hash), for callers with a limit: one that grows refuses, instead of crowding its
    /// newest table, when it must grow and would take more than `max_bytes` then, or there is no memory for it. What is not refused
    /// goes in as without a limit.
    ///
    /// # Errors
    /// The same, and [`Full::Memory`] when it cannot grow. The filter is then unchanged.
    pub fn try_insert_hash_within(&mut self, hash: KeyHash, max_bytes: u64) -> Result<bool, Full> {
        hash.assert_origin(self.origin);
        self.insert_u64_within(hash.to_u64(), Some(max_bytes))
    }

    /// How many copies of a key are in, those of keys that look like it counted with them; never fewer than there are.
    pub fn count_hash(&self, hash: KeyHash) -> u64 {
        hash.assert_origin(self.origin);
        match &self.chain {
            None => self.newest.copies(hash.to_u64()).into(),
            Some(chain) => chain.count(&self.newest, hash.to_u64()),
        }
    }

    /// `try_insert_hash` for many hashes, faster when the filter is larger than a core's cache: the same bytes as one by one.
    ///
    /// # Errors
    /// When one is refused. Those before it are in, as [`estimated_keys`](Cuckoo::estimated_keys) tells; it and those after
    /// are not.
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
    /// The same.
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
        let ahead = Prefetch::InBatch.distance(self.size_bytes() as usize);
        let (lead, rest) = hashes.split_at(ahead.min(hashes.len()));
        for hash in lead {
            self.prefetch(hash.to_u64());
        }
        let overlap = if ahead == 0 { 0 } else { rest.len() };
        let (early, late) = found.split_at_mut(overlap);
        for ((found, hash), next) in early.iter_mut().zip(hashes).zip(rest) {
            self.prefetch(next.to_u64());
            *found = self.find(hash.to_u64());
        }
        for (found, hash) in late.iter_mut().zip(&hashes[overlap..]) {
            *found = self.find(hash.to_u64());
        }
    }

    /// Prefetches all that `find` looks at.
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

    /// Apart, so that a filter that does not grow pays for one comparison.
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

    /// How many keys are in, copies counted: exact, and known without looking.
    pub fn estimated_keys(&self) -> u64 {
        let in_cells: u64 = self.all_tables().map(|nest| nest.keys).sum();
        in_cells + self.chain.as_ref().map_or(0, |chain| chain.extra_copies())
    }

    /// The requested false-positive rate.
    pub fn false_positive_rate(&self) -> f64 {
        match &self.chain {
            None => self.newest.plan.false_positive_rate(),
            Some(chain) => chain.plan().false_positive_rate(),
        }
    }

    /// The false-positive rate now, from the number of keys: the probability that a random absent key is found. A little less when
    /// some are copies.
    pub fn estimated_rate(&self) -> f64 {
        let rate = |nest: &CuckooTable| nest.plan.rate_at(nest.keys);
        match &self.chain {
            None => rate(&self.newest),
            Some(_) => {
                1.0 - self
                    .all_tables()
                    .map(|nest| 1.0 - rate(nest))
                    .product::<f64>()
            }
        }
    }

    /// The share of cells in use.
    pub fn load(&self) -> f64 {
        let sum = |count: fn(&CuckooTable) -> u64| self.all_tables().map(count).sum::<u64>() as f64;
        sum(|nest| nest.keys) / sum(|nest| nest.plan.cells())
    }

    /// Whether the filter holds more keys than it was planned for. It takes a few more, up to 93 % of its cells, and then is full.
    /// One that grows is so only when there was no memory to grow.
    pub fn is_over_capacity(&self) -> bool {
        self.newest.keys > self.newest.plan.capacity()
    }

    /// How many more keys fit before there are more than the filter was planned for; `u64::MAX` for one that grows, or what is left
    /// of the maximum in its plan.
    pub fn keys_until_full(&self) -> u64 {
        let most = match &self.chain {
            None => self.newest.plan.capacity(),
            Some(_) if self.is_over_capacity() => 0,
            Some(chain) => match chain.plan().maximum() {
                None => return u64::MAX,
                Some(maximum) => maximum,
            },
        };
        most.saturating_sub(self.estimated_keys())
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

    /// Whether no key is in.
    pub fn is_empty(&self) -> bool {
        self.estimated_keys() == 0
    }

    /// Keys that the filter was planned for; that fit into the tables there are, if it grows.
    pub fn capacity(&self) -> u64 {
        self.all_tables()
            .map(|nest| nest.plan.capacity())
            .fold(0, u64::saturating_add)
    }

    /// Bytes of memory that the cells take, and the keys without cells of one that grows.
    pub fn size_bytes(&self) -> u64 {
        let cells: u64 = self.all_tables().map(|nest| nest.plan.size_bytes()).sum();
        cells
            + self
                .chain
                .as_ref()
                .map_or(0, |chain| chain.extra_copies_size_bytes())
    }

    /// The shape; of the newest table, if it grows.
    pub fn plan(&self) -> &CuckooPlan {
        &self.newest.plan
    }

    /// How it grows, if it does.
    pub fn growth(&self) -> Option<&GrowingPlan> {
        self.chain.as_ref().map(|chain| chain.plan())
    }

    /// The hash scheme.
    pub fn scheme(&self) -> HashScheme {
        self.scheme
    }

    /// The cells: cell `i` is the bits `i * cell_bits ..`, lowest first; in it offset, choice, fingerprint, lowest first. Those of
    /// the newest table, if it grows.
    pub fn bytes(&self) -> &[u8] {
        self.newest.cells.bytes()
    }

    /// The shape and the cells of every table, the oldest first; one, unless it grows.
    pub fn tables(&self) -> impl Iterator<Item = (&CuckooPlan, &[u8])> {
        self.all_tables()
            .map(|nest| (&nest.plan, nest.cells.bytes()))
    }

    /// Of every table of one that grows, the oldest first, its number in the plan and its twins: keys without a cell, each the
    /// number that look-alikes share and how often it is in, in the order of these numbers. None unless it grows.
    pub fn extra_copies(&self) -> impl Iterator<Item = (u32, Vec<(u64, u64)>)> {
        let chain = self.chain.iter();
        let labels = chain.flat_map(|chain| chain.numbers_and_extra_copies());
        labels.map(|(number, twins)| {
            let mut twins: Vec<_> = twins.iter().collect();
            twins.sort_unstable();
            (number, twins)
        })
    }

    fn all_tables(&self) -> impl Iterator<Item = &CuckooTable> {
        let older = self.chain.iter().flat_map(|chain| chain.older());
        older.chain([&self.newest])
    }
}

/// Twins that come from outside.
fn check_extra_copies(twins: &[(u64, u64)]) -> Result<(), PlanError> {
    let refuse = |field, value, accepted| {
        Err(PlanError::InvalidInteger {
            field,
            value,
            accepted,
        })
    };
    if !twins.is_sorted_by(|a, b| a.0 < b.0) || twins.first().is_some_and(|twin| twin.0 == 0) {
        let accepted = "rising, none twice and none 0";
        return refuse("twins", twins.len() as u64, accepted);
    }
    match twins
        .iter()
        .find(|twin| !(1..=MAX_EXTRA_COPIES).contains(&twin.1))
    {
        Some(twin) => refuse("times of a twin", twin.1, "1 to 2^40"),
        None => Ok(()),
    }
}

/// Filters are equal when they give the same answers for the same reasons: one scheme, one plan, the same cells.
impl PartialEq for Cuckoo {
    fn eq(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.newest == other.newest && self.chain == other.chain
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
