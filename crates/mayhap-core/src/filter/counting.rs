//! `CountingBloom`: a classic filter with a small counter instead of every bit, so that keys can be removed, counted and merged.
//!
//! Every probe of a key counts: if two of its probes hit the same counter, `insert` adds two there and `remove` subtracts two. A
//! counter that has reached its maximum is saturated: it has lost its count, is never decremented again, and keys that use it
//! cannot be removed. So no key is ever lost.
//!
//! With the scheme of another system it accepts key bytes only, like `ClassicBloom`.

use super::classic::{ClassicBloom, check_blocks, check_same_shape, keys_for};
use crate::key::for_each_chunk;
use crate::key_type::key_type_methods;
use crate::plan::classic;
use crate::plan::counting::{CountingPlan, DEFAULT_COUNTER_BITS};
use crate::probe::classic::{ClassicWalk, Scheme};
use crate::probe::prefetched;
use crate::simd::{CACHED_BYTES, prefetch};
use crate::stats::{known, share};
use crate::store::bits::Bits;
use crate::store::packed_counters::PackedCounters;
use crate::{
    HashScheme, Key, KeyHash, KeyType, Kind, Mismatch, PlanError, Saturated, SipKey, Stats,
};
use core::fmt;

/// A Bloom filter that can remove keys and estimate how often a key was inserted.
///
/// ```
/// # use mayhap_core as mayhap;
/// let mut cart = mayhap::CountingBloom::new(1_000_000, 0.01)?;
/// assert!(cart.insert("apples"));
/// cart.insert("apples");
/// assert_eq!(cart.estimated_count("apples"), 2);
/// assert_eq!(cart.remove("pears"), Ok(false)); // definitely absent
/// assert_eq!(cart.remove("apples"), Ok(true));
/// assert_eq!(cart.remove("apples"), Ok(true));
/// assert!(!cart.contains("apples"));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
///
/// Only remove keys that were inserted. A false positive cannot be recognised: removing it decrements the counters of other keys,
/// which may then be lost.
#[derive(Clone)]
pub struct CountingBloom {
    counters: PackedCounters,
    walk: ClassicWalk,
    plan: CountingPlan,
    scheme: Scheme,
    hash_scheme: HashScheme,
    /// `hash_scheme.origin()`, cached because debug builds compare it for every hash.
    origin: u64,
    key_type: Option<KeyType>,
}

impl CountingBloom {
    /// An empty filter for `capacity` keys, with counters of 4 bits. When it holds that many, it finds a share of
    /// `false_positive_rate` of all other keys. Keys are hashed with XXH3; for untrusted keys see [`CountingBloom::keyed`].
    ///
    /// # Errors
    /// If the capacity is 0, the rate is not between 0 and 1, or there is not enough memory.
    pub fn new(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::with_counter_bits(capacity, false_positive_rate, DEFAULT_COUNTER_BITS)
    }

    /// The same with counters of 3 to 8 bits, for keys that are inserted more than a few times: b bits count to 2^b - 2 and
    /// saturate at 2^b - 1.
    ///
    /// # Errors
    /// As [`CountingBloom::new`], and if the counters have fewer than 3 or more than 8 bits.
    pub fn with_counter_bits(
        capacity: usize,
        false_positive_rate: f64,
        counter_bits: u8,
    ) -> Result<Self, PlanError> {
        Self::from_plan(
            CountingPlan::new(capacity as u64, false_positive_rate, counter_bits)?,
            Scheme::EnhancedDoubleHashing,
            HashScheme::Xxh3,
        )
    }

    /// As [`CountingBloom::new`] for untrusted keys: hashed with SipHash-1-3 under a secret key, so that attackers cannot craft
    /// colliding keys.
    ///
    /// # Errors
    /// As [`CountingBloom::new`].
    pub fn keyed(
        capacity: usize,
        false_positive_rate: f64,
        key: SipKey,
    ) -> Result<Self, PlanError> {
        Self::from_plan(
            CountingPlan::new(capacity as u64, false_positive_rate, DEFAULT_COUNTER_BITS)?,
            Scheme::EnhancedDoubleHashing,
            HashScheme::Sip13(key),
        )
    }

    /// As [`CountingBloom::new`] for callers that already have good 64-bit hashes, passed as [`KeyHash::from_u64`]. Methods that
    /// take key bytes panic on such a filter.
    ///
    /// # Errors
    /// As [`CountingBloom::new`].
    pub fn for_hashes(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            CountingPlan::new(capacity as u64, false_positive_rate, DEFAULT_COUNTER_BITS)?,
            Scheme::EnhancedDoubleHashing,
            HashScheme::Caller,
        )
    }

    /// An empty filter with a given plan, for callers that choose everything.
    ///
    /// # Errors
    /// If the number of counters is not a multiple of the scheme's block, or there is not enough memory.
    pub fn from_plan(
        plan: CountingPlan,
        scheme: Scheme,
        hash_scheme: HashScheme,
    ) -> Result<Self, PlanError> {
        check_blocks(plan.counters(), scheme)?;
        let counters =
            PackedCounters::zeroed(plan.counters(), plan.counter_bits(), plan.size_bytes())?;
        Ok(Self {
            counters,
            walk: ClassicWalk::new(plan.counters(), plan.classic().probes, scheme),
            plan,
            scheme,
            hash_scheme,
            origin: hash_scheme.origin(),
            key_type: None,
        })
    }

    /// A filter from existing counts, in order.
    ///
    /// # Errors
    /// As [`CountingBloom::from_plan`], and if the number of counts is wrong, or one is too large for a counter.
    pub fn from_counts(
        plan: CountingPlan,
        scheme: Scheme,
        hash_scheme: HashScheme,
        counts: impl IntoIterator<Item = u8>,
    ) -> Result<Self, PlanError> {
        let mut filter = Self::from_plan(plan, scheme, hash_scheme)?;
        let mut given = 0;
        for count in counts {
            if given == plan.counters() || u32::from(count) > plan.max_count() {
                return Err(PlanError::InvalidInteger {
                    field: "count",
                    value: u64::from(count),
                    accepted: "one for every counter, none above the maximum",
                });
            }
            filter.counters.set(given, count);
            given += 1;
        }
        if given < plan.counters() {
            return Err(PlanError::InvalidInteger {
                field: "counts",
                value: given,
                accepted: "one for every counter",
            });
        }
        Ok(filter)
    }

    /// A filter from existing counters, packed as [`CountingBloom::bytes`] returns them.
    ///
    /// # Errors
    /// As [`CountingBloom::from_plan`], and if the number of bytes is wrong, or there are nonzero bits past the last counter.
    pub fn from_bytes(
        plan: CountingPlan,
        scheme: Scheme,
        hash_scheme: HashScheme,
        bytes: &[u8],
    ) -> Result<Self, PlanError> {
        let refused = PlanError::InvalidInteger {
            field: "bytes",
            value: bytes.len() as u64,
            accepted: "all counters and one extra byte, with zeros past the last counter",
        };
        if bytes.len() as u64 != plan.size_bytes() {
            return Err(refused);
        }
        let mut filter = Self::from_plan(plan, scheme, hash_scheme)?;
        if filter.counters.copy_from(bytes) {
            Ok(filter)
        } else {
            Err(refused)
        }
    }

    /// A filter of `keys`, sized by their number.
    ///
    /// # Errors
    /// As [`CountingBloom::new`]. No keys are planned as one key.
    pub fn from_keys<K: Key>(
        keys: impl IntoIterator<Item = K, IntoIter: ExactSizeIterator>,
        false_positive_rate: f64,
    ) -> Result<Self, PlanError> {
        let keys = keys.into_iter();
        let mut filter = Self::new(keys.len().max(1), false_positive_rate)?;
        filter.extend(keys);
        Ok(filter)
    }

    key_type_methods!();

    /// The hash of a key. Every filter of the same hash scheme accepts it.
    ///
    /// # Panics
    /// On a filter created by [`CountingBloom::for_hashes`]. On a filter with the scheme of another system, which hashes keys
    /// itself, all methods that take or return hashes panic.
    #[inline]
    pub fn hash(&self, key: impl Key) -> KeyHash {
        self.hash_scheme.hash(key)
    }

    /// `true`: the key was definitely new. `false`: the key, or keys that use the same counters, were present; it is counted once
    /// more.
    ///
    /// # Panics
    /// On a filter created by [`CountingBloom::for_hashes`].
    #[inline]
    pub fn insert(&mut self, key: impl Key) -> bool {
        if self.scheme.is_native() {
            return self.insert_hash(self.hash(key));
        }
        key.with_bytes(|key| self.increment_all(self.walk.foreign_probes(key)))
    }

    /// `false` is certain: the key is absent. `true` is probable.
    ///
    /// # Panics
    /// On a filter created by [`CountingBloom::for_hashes`].
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        if self.scheme.is_native() {
            return self.contains_hash(self.hash(key));
        }
        key.with_bytes(|key| {
            let mut probes = self.walk.foreign_probes(key);
            probes.all(|at| self.counters.get(at) != 0)
        })
    }

    /// Removes a key once. `Ok(true)`: done; one insert is undone. `Ok(false)`: the key was definitely absent, and nothing
    /// changed.
    ///
    /// # Errors
    /// If one of the key's counters is saturated, so that the removal cannot be exact. The filter is then unchanged and still
    /// contains the key. A key that is definitely absent gives `Ok(false)` even then.
    ///
    /// # Panics
    /// On a filter created by [`CountingBloom::for_hashes`].
    #[inline]
    pub fn remove(&mut self, key: impl Key) -> Result<bool, Saturated> {
        if self.scheme.is_native() {
            return self.remove_hash(self.hash(key));
        }
        key.with_bytes(|key| self.decrement_all(self.walk.foreign_probes(key)))
    }

    /// Removes a key once, but leaves its saturated counters as they are. `true`: done. `false`: the key was definitely absent,
    /// and nothing changed.
    ///
    /// This is how Hadoop deletes. [`CountingBloom::remove`] refuses if this is not exact: a saturated counter keeps counting the
    /// key, and a key whose probes coincide may be removed from a counter that counted it once.
    ///
    /// # Panics
    /// On a filter created by [`CountingBloom::for_hashes`].
    pub fn remove_leaving_saturated(&mut self, key: impl Key) -> bool {
        if !self.contains(&key) {
            return false;
        }
        let max = self.counters.max();
        let mut down = |at| {
            let count = self.counters.get(at);
            // It is zero if two probes hit one counter that had counted one.
            if (1..max).contains(&count) {
                self.counters.set(at, count - 1);
            }
        };
        if self.scheme.is_native() {
            let hash = self.hash_scheme.hash(key);
            self.walk.probes(hash.to_u64()).for_each(&mut down);
        } else {
            key.with_bytes(|key| self.walk.foreign_probes(key).for_each(&mut down));
        }
        true
    }

    /// The smallest counter of the key: how often it was inserted, or more, never less. 0 is certain. The maximum
    /// ([`CountingPlan::max_count`]) means that count or any larger one.
    ///
    /// # Panics
    /// On a filter created by [`CountingBloom::for_hashes`].
    #[inline]
    pub fn estimated_count(&self, key: impl Key) -> u64 {
        if self.scheme.is_native() {
            return self.estimated_count_hash(self.hash(key));
        }
        key.with_bytes(|key| self.min_count(self.walk.foreign_probes(key)))
    }

    /// `contains` for many keys. Faster, because the memory accesses of dozens of keys overlap.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length; on a filter created by [`CountingBloom::for_hashes`].
    pub fn contains_each(&self, keys: &[impl Key], found: &mut [bool]) {
        assert_eq!(
            keys.len(),
            found.len(),
            "one place in `found` for every key"
        );
        if !self.scheme.is_native() {
            for_each_chunk(keys, |range, keys| {
                prefetched::contains_each(
                    self.walk.len(),
                    keys,
                    &mut found[range],
                    |key| self.walk.foreign_probes(key),
                    |at| prefetch(self.counters.byte_ptr(at)),
                    |at| self.counters.get(at) != 0,
                );
            });
            return;
        }
        let look_up = |hashes: &[KeyHash], found: &mut [bool]| self.contains_hashes(hashes, found);
        self.hash_scheme.look_up_in_chunks(keys, found, look_up);
    }

    /// `true`: the key was definitely new. As [`CountingBloom::insert`], for a hash of this filter's hash scheme.
    #[inline]
    pub fn insert_hash(&mut self, hash: KeyHash) -> bool {
        self.assert_hashes(&[hash]);
        self.increment_all(self.walk.probes(hash.to_u64()))
    }

    /// Increments the counters of all probes; `true` if one of them was zero.
    #[inline(always)]
    fn increment_all(&mut self, probes: impl Iterator<Item = u64>) -> bool {
        self.counters.increment_all(probes)
    }

    /// `false` is certain, `true` is probable. As [`CountingBloom::contains`], for a hash of this filter's hash scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.assert_hashes(&[hash]);
        self.walk
            .probes(hash.to_u64())
            .all(|at| self.counters.get(at) != 0)
    }

    /// As [`CountingBloom::remove`], for a hash of this filter's hash scheme.
    ///
    /// # Errors
    /// As [`CountingBloom::remove`].
    pub fn remove_hash(&mut self, hash: KeyHash) -> Result<bool, Saturated> {
        self.assert_hashes(&[hash]);
        self.decrement_all(self.walk.probes(hash.to_u64()))
    }

    /// Decrements the counters of all probes, or none.
    fn decrement_all(
        &mut self,
        probes: impl Iterator<Item = u64> + Clone,
    ) -> Result<bool, Saturated> {
        let max = self.counters.max();
        let mut full = false;
        for (done, at) in probes.clone().enumerate() {
            match self.counters.get(at) {
                // Also a counter that has counted fewer probes than the key has on it: the key was never counted there.
                0 => {
                    self.undo_remove(probes, done);
                    return Ok(false);
                }
                count if count == max => full = true,
                count => self.counters.set(at, count - 1),
            }
        }
        if full {
            self.undo_remove(probes, self.walk.len());
            return Err(Saturated {
                max_count: self.plan.max_count(),
            });
        }
        Ok(true)
    }

    /// Increments the counters of the first `done` probes again. Saturated ones were not decremented and are not incremented.
    #[cold]
    fn undo_remove(&mut self, probes: impl Iterator<Item = u64>, done: usize) {
        for at in probes.take(done) {
            self.counters.increment(at);
        }
    }

    /// As [`CountingBloom::estimated_count`], for a hash of this filter's hash scheme.
    #[inline]
    pub fn estimated_count_hash(&self, hash: KeyHash) -> u64 {
        self.assert_hashes(&[hash]);
        self.min_count(self.walk.probes(hash.to_u64()))
    }

    #[inline(always)]
    fn min_count(&self, probes: impl Iterator<Item = u64>) -> u64 {
        let counts = probes.map(|at| self.counters.get(at));
        u64::from(counts.fold(self.counters.max(), u8::min))
    }

    /// Inserts many hashes. Faster than one by one if the filter is larger than a core's cache.
    pub fn insert_hashes(&mut self, hashes: &[KeyHash]) {
        self.assert_hashes(hashes);
        let walk = self.walk;
        if self.size_bytes() <= CACHED_BYTES {
            for hash in hashes {
                self.counters.increment_all(walk.probes(hash.to_u64()));
            }
            return;
        }
        prefetched::visit_each(
            walk.len(),
            hashes,
            &mut self.counters,
            |hash| walk.probes(hash.to_u64()),
            |counters, at| prefetch(counters.byte_ptr(at)),
            |counters, positions| _ = counters.increment_all(positions.iter().copied()),
        );
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
        self.assert_hashes(hashes);
        let walk = self.walk;
        let positions = |hash: &KeyHash| walk.probes(hash.to_u64());
        let has = |at| self.counters.get(at) != 0;
        if self.size_bytes() <= CACHED_BYTES {
            return prefetched::contains_each_cached(hashes, found, positions, has);
        }
        let prefetch = |at| prefetch(self.counters.byte_ptr(at));
        let look_up = if self.size_bytes() <= prefetched::SHARED_CACHE_BYTES {
            prefetched::contains_each_near
        } else {
            prefetched::contains_each
        };
        look_up(walk.len(), hashes, found, positions, prefetch, has);
    }

    /// Panics unless the scheme is native and, in debug builds, the hashes belong to the filter's hash scheme.
    #[inline(always)]
    fn assert_hashes(&self, hashes: &[KeyHash]) {
        assert!(
            self.scheme.is_native(),
            "{:?} accepts key bytes only",
            self.scheme
        );
        if cfg!(debug_assertions) {
            for hash in hashes {
                hash.assert_origin(self.origin);
            }
        }
    }

    /// Merges another filter into this one by adding the counters. Counters that would exceed the maximum saturate.
    ///
    /// # Errors
    /// If the two differ in shape or scheme; the filter is then unchanged.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Mismatch> {
        check_same_shape(
            (self.plan.classic(), self.scheme, self.hash_scheme),
            (other.plan.classic(), other.scheme, other.hash_scheme),
        )?;
        Mismatch::check(
            "counter bits",
            u64::from(self.plan.counter_bits()),
            u64::from(other.plan.counter_bits()),
        )?;
        self.key_type = KeyType::common(self.key_type, other.key_type)?;
        let max = self.counters.max();
        for at in 0..self.counters.len() {
            let theirs = other.counters.get(at);
            if theirs > 0 {
                let sum = self.counters.get(at).saturating_add(theirs);
                self.counters.set(at, sum.min(max));
            }
        }
        Ok(())
    }

    /// The same keys without their counts: a filter with one bit per counter that gives the same answers.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn to_classic(&self) -> Result<ClassicBloom, PlanError> {
        let mut bits = Bits::zeroed(self.plan.counters())?;
        for (at, count) in (0..).zip(self.counters.iter()) {
            if count > 0 {
                bits.set(at);
            }
        }
        Ok(ClassicBloom::from_bits(
            bits,
            *self.plan.classic(),
            self.scheme,
            self.hash_scheme,
        ))
    }

    /// Removes all keys, and resets saturated counters.
    pub fn clear(&mut self) {
        self.counters.clear();
    }

    /// A copy, or an error if there is not enough memory for it. Pages of zeros are not touched.
    ///
    /// # Errors
    /// [`PlanError::OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, PlanError> {
        let counters = self.counters.try_clone()?;
        Ok(Self { counters, ..*self })
    }

    /// The number of saturated counters. Keys that use them can no longer be removed. Reads the whole filter.
    pub fn saturated_counters(&self) -> u64 {
        let max = self.counters.max();
        self.counters.iter().filter(|&count| count == max).count() as u64
    }

    /// The number of inserts minus removals: the sum of all counters, divided by the probes of a key. Exact while no counter is
    /// saturated, too low afterwards. Reads the whole filter.
    pub fn total_count(&self) -> u64 {
        let sum: u64 = self.counters.iter().map(u64::from).sum();
        sum / u64::from(self.plan.classic().probes)
    }

    /// The estimated number of distinct keys, from the share of counters that are zero; `u64::MAX` if none is. Reads the whole
    /// filter.
    pub fn estimated_keys(&self) -> u64 {
        keys_for(self.plan.classic(), self.set_counters())
    }

    /// The requested false-positive rate.
    pub fn false_positive_rate(&self) -> f64 {
        self.plan.classic().false_positive_rate
    }

    /// The false-positive rate now, from the counters that are not zero: the probability that a random absent key is found. Reads
    /// the whole filter.
    pub fn estimated_rate(&self) -> f64 {
        let probes = self.plan.classic().probes;
        classic::rate_from_set_bits(self.plan.counters(), probes, self.set_counters())
    }

    /// Whether the filter holds more keys than it was planned for, so that its rate is worse than requested. The estimate must
    /// exceed the capacity by more than three standard errors. Reads the whole filter.
    pub fn is_over_capacity(&self) -> bool {
        self.plan.classic().is_over_capacity(self.set_counters())
    }

    /// The estimated number of keys that still fit before the rate is worse than requested. Reads the whole filter.
    pub fn keys_until_full(&self) -> u64 {
        self.capacity().saturating_sub(self.estimated_keys())
    }

    /// What the filter is, how full it is and which rate it has now. Reads the whole filter.
    pub fn stats(&self) -> Stats {
        let (plan, set) = (self.plan.classic(), self.set_counters());
        let keys = keys_for(plan, set);
        Stats {
            capacity: Some(plan.capacity),
            bits: Some(plan.bits),
            probes: Some(plan.probes),
            fill: share(set, plan.bits),
            estimated_keys: known(keys),
            false_positive_rate: Some(self.false_positive_rate()),
            estimated_rate: Some(classic::rate_from_set_bits(plan.bits, plan.probes, set)),
            is_over_capacity: plan.is_over_capacity(set),
            keys_until_full: Some(plan.capacity.saturating_sub(keys)),
            ..Stats::new(Kind::Counting, self.size_bytes())
        }
    }

    /// Whether the filter is empty.
    pub fn is_empty(&self) -> bool {
        self.counters.bytes().iter().all(|&byte| byte == 0)
    }

    /// The number of keys that the filter was planned for.
    pub fn capacity(&self) -> u64 {
        self.plan.classic().capacity
    }

    /// Bytes of memory for the counters.
    pub fn size_bytes(&self) -> u64 {
        self.plan.size_bytes()
    }

    /// The plan of the filter.
    pub fn plan(&self) -> &CountingPlan {
        &self.plan
    }

    /// The scheme that maps hashes to positions.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The hash scheme.
    pub fn hash_scheme(&self) -> HashScheme {
        self.hash_scheme
    }

    /// The counters, packed: counter `i` is the bits `i * counter_bits ..`, lowest first. There is one extra byte at the end.
    pub fn bytes(&self) -> &[u8] {
        self.counters.bytes()
    }

    /// All counters, in order.
    pub fn counters(&self) -> impl Iterator<Item = u8> {
        self.counters.iter()
    }

    /// The number of counters that are not zero.
    pub fn set_counters(&self) -> u64 {
        self.counters.iter().filter(|&count| count > 0).count() as u64
    }
}

impl<K: Key> Extend<K> for CountingBloom {
    /// Inserts all keys, in prefetched batches.
    ///
    /// # Panics
    /// On a filter created by [`CountingBloom::for_hashes`].
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        if self.scheme.is_native() {
            let scheme = self.hash_scheme;
            scheme.hash_in_chunks(keys, |hashes| self.insert_hashes(hashes));
            return;
        }
        for key in keys {
            self.insert(key);
        }
    }
}

/// Filters are equal if they have the same schemes, key type, plan and counters.
impl PartialEq for CountingBloom {
    fn eq(&self, other: &Self) -> bool {
        self.hash_scheme == other.hash_scheme
            && self.key_type == other.key_type
            && self.scheme == other.scheme
            && self.plan == other.plan
            && self.counters == other.counters
    }
}

impl Eq for CountingBloom {}

impl fmt::Debug for CountingBloom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = 100.0 * self.set_counters() as f64 / self.plan.counters() as f64;
        write!(
            f,
            "CountingBloom({}, {used:.1} % in use, {} full, {:?}, {:?})",
            self.plan,
            self.saturated_counters(),
            self.scheme,
            self.hash_scheme
        )
    }
}
