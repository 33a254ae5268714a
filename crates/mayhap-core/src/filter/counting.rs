//! `CountingBloom`: a classic filter with a small counter in the place of every bit, so that keys can be taken out again,
//! counted and merged.
//!
//! A key counts every position once for each probe that falls on it: where two of its probes fall together, that counter
//! goes up by two with `insert` and down by two with `remove`. A counter that has reached its largest count is full: it has
//! lost its count, never goes down again, and keys on it cannot be removed. That way no key is ever lost.
//!
//! Under a scheme of another system it knows keys by their bytes alone, as `ClassicBloom` does.

use super::classic::{ClassicBloom, check_blocks, check_same_shape, keys_for};
use crate::plan::classic;
use crate::plan::counting::{CountingPlan, DEFAULT_COUNTER_BITS};
use crate::probe::classic::{ClassicWalk, Scheme};
use crate::probe::prefetched;
use crate::simd::{CACHED_BYTES, prefetch};
use crate::stats::{known, share};
use crate::store::bits::Bits;
use crate::store::counters::Counters;
use crate::{HashScheme, KeyHash, Kind, Mismatch, PlanError, Saturated, SipKey, Stats};
use core::fmt;

/// A Bloom filter that can forget single keys and tell how often a key was inserted.
///
/// ```
/// # use mayhap_core as mayhap;
/// let mut cart = mayhap::CountingBloom::new(1_000_000, 0.01)?;
/// assert!(cart.insert("apples"));
/// cart.insert("apples");
/// assert_eq!(cart.estimated_count("apples"), 2);
/// assert_eq!(cart.remove("pears"), Ok(false)); // certainly not there
/// assert_eq!(cart.remove("apples"), Ok(true));
/// assert_eq!(cart.remove("apples"), Ok(true));
/// assert!(!cart.contains("apples"));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
///
/// Remove only what was inserted. A key that never was, and for which `contains` is wrongly `true`, cannot be told apart:
/// removing it takes counts from other keys, which may then be lost.
#[derive(Clone)]
pub struct CountingBloom {
    counters: Counters,
    walk: ClassicWalk,
    plan: CountingPlan,
    scheme: Scheme,
    hash_scheme: HashScheme,
    /// `hash_scheme.origin()`, cached because debug builds compare it for every hash.
    origin: u64,
}

impl CountingBloom {
    /// An empty filter for `capacity` keys that says `true` to a share of `false_positive_rate` of all other keys once it is full,
    /// with counters of 4 bits. Keys are hashed with XXH3: for untrusted keys see [`CountingBloom::keyed`].
    ///
    /// # Errors
    /// When the capacity is 0, the rate not between 0 and 1, or there is not enough memory.
    pub fn new(capacity: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::with_counter_bits(capacity, false_positive_rate, DEFAULT_COUNTER_BITS)
    }

    /// The same with counters of 3 to 8 bits, for keys that are inserted more than a few times: b bits count to 2^b - 2 and
    /// are full at 2^b - 1.
    ///
    /// # Errors
    /// As [`CountingBloom::new`], and when the counters have fewer than 3 or more than 8 bits.
    pub fn with_counter_bits(
        capacity: u64,
        false_positive_rate: f64,
        counter_bits: u8,
    ) -> Result<Self, PlanError> {
        Self::from_plan(
            CountingPlan::new(capacity, false_positive_rate, counter_bits)?,
            Scheme::EnhancedDoubleHashing,
            HashScheme::Xxh3,
        )
    }

    /// As [`CountingBloom::new`] for untrusted keys: hashed with SipHash-1-3 under a secret key, so that attackers cannot craft
    /// colliding keys.
    ///
    /// # Errors
    /// As [`CountingBloom::new`].
    pub fn keyed(capacity: u64, false_positive_rate: f64, key: SipKey) -> Result<Self, PlanError> {
        Self::from_plan(
            CountingPlan::new(capacity, false_positive_rate, DEFAULT_COUNTER_BITS)?,
            Scheme::EnhancedDoubleHashing,
            HashScheme::Sip13(key),
        )
    }

    /// As [`CountingBloom::new`] for callers that have good 64-bit hashes already: give them as [`KeyHash::from_u64`].
    /// Methods that take key bytes panic on such a filter.
    ///
    /// # Errors
    /// As [`CountingBloom::new`].
    pub fn for_hashes(capacity: u64, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            CountingPlan::new(capacity, false_positive_rate, DEFAULT_COUNTER_BITS)?,
            Scheme::EnhancedDoubleHashing,
            HashScheme::Caller,
        )
    }

    /// An empty filter with a given plan, for callers that want to choose everything.
    ///
    /// # Errors
    /// When the counters are not whole blocks of the scheme, or there is not enough memory.
    pub fn from_plan(
        plan: CountingPlan,
        scheme: Scheme,
        hash_scheme: HashScheme,
    ) -> Result<Self, PlanError> {
        check_blocks(plan.counters(), scheme)?;
        let counters = Counters::zeroed(plan.counters(), plan.counter_bits(), plan.size_bytes())?;
        Ok(Self {
            counters,
            walk: ClassicWalk::new(plan.counters(), plan.classic().probes, scheme),
            plan,
            scheme,
            hash_scheme,
            origin: hash_scheme.origin(),
        })
    }

    /// A filter from existing counts, in order.
    ///
    /// # Errors
    /// As [`CountingBloom::from_plan`], when there are not as many counts as counters, or one is larger than a counter can count.
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
                    accepted: "one for every counter, none larger than the largest count",
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

    /// A filter from existing counters, packed as [`CountingBloom::bytes`] has them.
    ///
    /// # Errors
    /// As [`CountingBloom::from_plan`], when there are not as many bytes as the plan says, or something lies past the last counter.
    pub fn from_bytes(
        plan: CountingPlan,
        scheme: Scheme,
        hash_scheme: HashScheme,
        bytes: &[u8],
    ) -> Result<Self, PlanError> {
        let refused = PlanError::InvalidInteger {
            field: "bytes",
            value: bytes.len() as u64,
            accepted: "all counters and a byte more, with zeros past the last counter",
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

    /// A filter that holds `keys`, sized by their number.
    ///
    /// # Errors
    /// As [`CountingBloom::new`]; no keys at all are planned for as one.
    pub fn from_keys(
        keys: &[impl AsRef<[u8]>],
        false_positive_rate: f64,
    ) -> Result<Self, PlanError> {
        let mut filter = Self::new(keys.len().max(1) as u64, false_positive_rate)?;
        filter.extend(keys);
        Ok(filter)
    }

    /// The hash of a key. Every filter of the same hash scheme accepts it.
    ///
    /// # Panics
    /// On a filter created by [`CountingBloom::for_hashes`], or of another system's scheme, which hashes its own way. So do all
    /// methods that take hashes on a filter of another system's scheme.
    #[inline]
    pub fn hash(&self, key: impl AsRef<[u8]>) -> KeyHash {
        self.hash_scheme.hash(key.as_ref())
    }

    /// `true`: the key was definitely new. `false`: it, or keys on the same counters, are in; it is counted once more.
    ///
    /// # Panics
    /// On a filter created by [`CountingBloom::for_hashes`].
    #[inline]
    pub fn insert(&mut self, key: impl AsRef<[u8]>) -> bool {
        if self.scheme.is_native() {
            return self.insert_hash(self.hash(key));
        }
        self.increment_all(self.walk.foreign_probes(key.as_ref()))
    }

    /// `false` is certain: the key is not in. `true` is probable.
    ///
    /// # Panics
    /// On a filter created by [`CountingBloom::for_hashes`].
    #[inline]
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        if self.scheme.is_native() {
            return self.contains_hash(self.hash(key));
        }
        let mut probes = self.walk.foreign_probes(key.as_ref());
        probes.all(|at| self.counters.get(at) != 0)
    }

    /// Takes a key out once. `Ok(true)`: done, as if it had been inserted once less. `Ok(false)`: it was certainly not in, and
    /// nothing was changed.
    ///
    /// # Errors
    /// When one of the key's counters is full, so that the removal cannot be exact; the filter is then unchanged, and the key is
    /// still found. A key that is certainly not in is `Ok(false)` even then.
    ///
    /// # Panics
    /// On a filter created by [`CountingBloom::for_hashes`].
    #[inline]
    pub fn remove(&mut self, key: impl AsRef<[u8]>) -> Result<bool, Saturated> {
        if self.scheme.is_native() {
            return self.remove_hash(self.hash(key));
        }
        self.decrement_all(self.walk.foreign_probes(key.as_ref()))
    }

    /// Takes a key out once, and leaves its full counters as they are. `true`: done. `false`: it was certainly not in, and nothing
    /// was changed.
    ///
    /// Hadoop deletes so. [`CountingBloom::remove`] refuses where this is not exact: a full counter goes on counting the key, and a
    /// key whose probes fall together may be taken from a counter that had it once.
    ///
    /// # Panics
    /// On a filter created by [`CountingBloom::for_hashes`].
    pub fn remove_leaving_saturated(&mut self, key: impl AsRef<[u8]>) -> bool {
        let key = key.as_ref();
        if !self.contains(key) {
            return false;
        }
        let max = self.counters.max();
        let mut down = |at| {
            let count = self.counters.get(at);
            // Zero where two probes fall together on a count of one.
            if (1..max).contains(&count) {
                self.counters.set(at, count - 1);
            }
        };
        if self.scheme.is_native() {
            let hash = self.hash_scheme.hash(key);
            self.walk.probes(hash.to_u64()).for_each(&mut down);
        } else {
            self.walk.foreign_probes(key).for_each(&mut down);
        }
        true
    }

    /// How often the key is in, or more, never less: its smallest counter. 0 is certain. The largest count
    /// ([`CountingPlan::max_count`]) stands for itself and everything above.
    ///
    /// # Panics
    /// On a filter created by [`CountingBloom::for_hashes`].
    #[inline]
    pub fn estimated_count(&self, key: impl AsRef<[u8]>) -> u64 {
        if self.scheme.is_native() {
            return self.estimated_count_hash(self.hash(key));
        }
        self.min_count(self.walk.foreign_probes(key.as_ref()))
    }

    /// `contains` for many keys. Faster, because the memory accesses of dozens of keys overlap.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length; on a filter created by [`CountingBloom::for_hashes`].
    pub fn contains_each(&self, keys: &[impl AsRef<[u8]>], found: &mut [bool]) {
        assert_eq!(
            keys.len(),
            found.len(),
            "one place in `found` for every key"
        );
        if !self.scheme.is_native() {
            prefetched::contains_each(
                self.walk.len(),
                keys,
                found,
                |key| self.walk.foreign_probes(key.as_ref()),
                |at| prefetch(self.counters.byte_ptr(at)),
                |at| self.counters.get(at) != 0,
            );
            return;
        }
        let ask = |hashes: &[KeyHash], found: &mut [bool]| self.contains_hashes(hashes, found);
        self.hash_scheme.look_up_in_chunks(keys, found, ask);
    }

    /// `true`: the key was definitely new. As [`CountingBloom::insert`], for a hash of this filter's hash scheme.
    #[inline]
    pub fn insert_hash(&mut self, hash: KeyHash) -> bool {
        self.assert_hashes(&[hash]);
        self.increment_all(self.walk.probes(hash.to_u64()))
    }

    /// Counts all probes up; whether one of them was the first on its counter.
    #[inline(always)]
    fn increment_all(&mut self, probes: impl Iterator<Item = u64>) -> bool {
        let mut new = false;
        for at in probes {
            new |= self.counters.increment(at) == 0;
        }
        new
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

    /// Counts all probes down, or none.
    fn decrement_all(
        &mut self,
        probes: impl Iterator<Item = u64> + Clone,
    ) -> Result<bool, Saturated> {
        let max = self.counters.max();
        let mut full = false;
        for (done, at) in probes.clone().enumerate() {
            match self.counters.get(at) {
                // Also a counter that has less than the key's probes on it: the key was never counted there.
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

    /// Counts the first `done` probes up again. Full ones were not counted down, and are not counted up.
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

    /// Inserts many hashes, faster than one by one when the filter is larger than a core's cache.
    pub fn insert_hashes(&mut self, hashes: &[KeyHash]) {
        if self.size_bytes() <= CACHED_BYTES {
            for &hash in hashes {
                self.insert_hash(hash);
            }
            return;
        }
        self.assert_hashes(hashes);
        let walk = self.walk;
        prefetched::visit_each(
            walk.len(),
            hashes,
            &mut self.counters,
            |hash| walk.probes(hash.to_u64()),
            |counters, at| prefetch(counters.byte_ptr(at)),
            |counters, at| _ = counters.increment(at),
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
        if self.size_bytes() <= CACHED_BYTES {
            for (&hash, found) in hashes.iter().zip(found) {
                *found = self.contains_hash(hash);
            }
            return;
        }
        self.assert_hashes(hashes);
        prefetched::contains_each(
            self.walk.len(),
            hashes,
            found,
            |hash| self.walk.probes(hash.to_u64()),
            |at| prefetch(self.counters.byte_ptr(at)),
            |at| self.counters.get(at) != 0,
        );
    }

    /// Hashes of this filter's hash scheme, under a walk that goes by hashes.
    #[inline(always)]
    fn assert_hashes(&self, hashes: &[KeyHash]) {
        assert!(
            self.scheme.is_native(),
            "{:?} knows keys by their bytes",
            self.scheme
        );
        if cfg!(debug_assertions) {
            for hash in hashes {
                hash.assert_origin(self.origin);
            }
        }
    }

    /// Makes this filter hold the keys of both, as often as they are in the two together: adds the counters. Those that would pass
    /// the largest count are full then.
    ///
    /// # Errors
    /// When the two differ in shape or scheme; the filter is then unchanged.
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

    /// The same keys without their counts: a filter of one bit for every counter that gives the same answers.
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

    /// Removes all keys, and full counters count again.
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

    /// How many counters are full: they stick, and the keys on them can no longer be removed. Reads the whole filter.
    pub fn saturated_counters(&self) -> u64 {
        let max = self.counters.max();
        self.counters.iter().filter(|&count| count == max).count() as u64
    }

    /// How many inserts, less removes, are in: the sum of all counters by the probes of a key. Exact while no counter is
    /// full, too low after. Reads the whole filter.
    pub fn total_count(&self) -> u64 {
        let sum: u64 = self.counters.iter().map(u64::from).sum();
        sum / u64::from(self.plan.classic().probes)
    }

    /// The estimated number of distinct keys, from the share of counters that are zero; `u64::MAX` when there is none. Reads the
    /// whole filter.
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

    /// Whether the filter holds more keys than it was planned for, so that its rate is worse than requested: the estimate exceeds
    /// the capacity by more than it can err (three standard errors). Reads the whole filter.
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

    /// Whether no key is in.
    pub fn is_empty(&self) -> bool {
        self.counters.bytes().iter().all(|&byte| byte == 0)
    }

    /// The number of keys that the filter was planned for.
    pub fn capacity(&self) -> u64 {
        self.plan.classic().capacity
    }

    /// Bytes of memory that the counters take.
    pub fn size_bytes(&self) -> u64 {
        self.plan.size_bytes()
    }

    /// The shape.
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

    /// The counters, packed: counter `i` is the bits `i * counter_bits ..`, lowest first. A byte more than they need.
    pub fn bytes(&self) -> &[u8] {
        self.counters.bytes()
    }

    /// All counters, in order.
    pub fn counters(&self) -> impl Iterator<Item = u8> {
        self.counters.iter()
    }

    /// How many counters are not zero.
    pub fn set_counters(&self) -> u64 {
        self.counters.iter().filter(|&count| count > 0).count() as u64
    }
}

impl<K: AsRef<[u8]>> Extend<K> for CountingBloom {
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

/// Filters are equal when they give the same answers for the same reasons: one scheme, one plan, the same counters.
impl PartialEq for CountingBloom {
    fn eq(&self, other: &Self) -> bool {
        self.hash_scheme == other.hash_scheme
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
