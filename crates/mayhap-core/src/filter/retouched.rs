//! `Retouched`: removes chosen false positives from a classic filter by clearing bits, which also loses keys (Donnet, Baynat and
//! Friedman 2006, "Retouched Bloom filters", doi 10.1145/1368436.1368454; Hadoop's `RetouchedBloomFilter`).
//!
//! To know what a clearing costs, the filter stores the hashes of all keys and of all listed false positives, 8 bytes each. Which
//! of them use which bit is computed when bits are cleared: `retouched/bit_index.rs`.

mod bit_index;

use super::classic::ClassicBloom;
use crate::plan::classic::ClassicPlan;
use crate::probe::classic::Scheme;
use crate::store::bits::Bits;
use crate::store::{reserve_more, reserved};
use crate::{HashScheme, Key, KeyHash, KeyType, Kind, PlanError, SipKey, Stats};
use alloc::vec::Vec;
use bit_index::BitIndex;
use core::fmt;

/// Which bit of an unwanted key to clear. Among equally good ones, the first on the key's walk, as in Hadoop.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{ClearingStrategy, Retouched};
/// let mut filter = Retouched::new(1000, 0.1)?;
/// filter.extend(0..1000_u32);
/// let wrong: Vec<u32> = (1000..2000).filter(|key| filter.contains(key)).collect();
/// filter.add_false_positives(&wrong)?;
/// let report = filter.clear_all(ClearingStrategy::Ratio)?;
/// assert!(!wrong.iter().any(|key| filter.contains(key)));
/// println!("{} keys were lost", report.keys_lost);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClearingStrategy {
    /// Any, chosen by the key's hash and the seed. (Hadoop's own strategy takes one of the filter's first k bits, whatever the
    /// key.)
    Random {
        /// Other seeds choose other bits.
        seed: u64,
    },
    /// The bit that the fewest keys use: loses the fewest keys with this clearing.
    MinimumFalseNegatives,
    /// The bit that the most listed false positives use: needs the fewest clearings.
    MaximumFalsePositives,
    /// The bit with the fewest keys per listed false positive. As in Hadoop, a bit that is used by only one of the two has the
    /// quotient that the last clearing by ratio computed for it when it had both, or 0.
    Ratio,
}

/// What one clearing did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClearedBit {
    /// The bit that was cleared.
    pub bit: u64,
    /// The number of distinct keys that used the bit and are no longer found.
    pub keys_lost: u64,
    /// The number of distinct listed false positives that used the bit and are no longer found.
    pub false_positives_removed: u64,
}

/// What clearing all listed false positives did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClearingReport {
    /// The number of bits cleared.
    pub bits: u64,
    /// The number of distinct keys that are no longer found.
    pub keys_lost: u64,
    /// The number of distinct listed false positives that are no longer found.
    pub false_positives_removed: u64,
}

/// What a [`Retouched`] stores besides its bits.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RetouchedLists {
    /// As [`Retouched::key_hashes`].
    pub keys: Vec<u64>,
    /// As [`Retouched::false_positive_hashes`].
    pub false_positives: Vec<u64>,
    /// As [`Retouched::ratios`].
    pub ratios: Vec<(u64, f64)>,
    /// As [`Retouched::keys_lost`].
    pub keys_lost: u64,
    /// As [`Retouched::bits_cleared`].
    pub bits_cleared: u64,
    /// As [`Retouched::unlisted_keys`].
    pub unlisted_keys: u64,
}

const MAX_COUNTED: u64 = 1 << 60;

/// A classic Bloom filter from which chosen false positives can be removed **at the cost of false negatives**: each cleared bit
/// loses every key that uses it, mostly one or two. The report of a clearing says how many.
///
/// Prefer [`Excepting`](crate::Excepting) unless other systems must read the bits: it is exact on its list and loses no key.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{ClearingStrategy, Retouched};
///
/// let mut blocked = Retouched::new(1000, 0.05)?;
/// blocked.extend((0..1000_u32).map(u32::to_le_bytes));
/// let wanted = (1000..2000_u32).map(u32::to_le_bytes).filter(|key| blocked.contains(key));
/// let wanted: Vec<_> = wanted.collect();
/// blocked.add_false_positives(&wanted)?;
/// let report = blocked.clear_all(ClearingStrategy::Ratio)?;
/// assert!(wanted.iter().all(|key| !blocked.contains(key)));
/// let found = (0..1000_u32).filter(|key| blocked.contains(key.to_le_bytes())).count();
/// assert_eq!(found as u64, 1000 - report.keys_lost);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Retouched {
    filter: ClassicBloom,
    /// Hashes of all keys that were inserted and are not lost, duplicates included.
    keys: Vec<u64>,
    /// Hashes of listed false positives that are still found, duplicates included.
    false_positives: Vec<u64>,
    /// See [`ClearingStrategy::Ratio`]: a bit and its quotient, unless it is 0.
    ratios: Vec<(u64, f64)>,
    keys_lost: u64,
    bits_cleared: u64,
    /// Keys that there was no memory to list.
    unlisted_keys: u64,
}

impl Retouched {
    /// An empty filter for `capacity` keys. When it holds that many, it finds a share of `false_positive_rate` of all other keys,
    /// as [`ClassicBloom::new`].
    ///
    /// # Errors
    /// If the capacity is 0, the rate is not between 0 and 1, or there is not enough memory.
    pub fn new(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        ClassicBloom::new(capacity, false_positive_rate).map(Self::from_empty)
    }

    /// The same for untrusted keys, as [`ClassicBloom::keyed`].
    ///
    /// # Errors
    /// As [`Retouched::new`].
    pub fn keyed(
        capacity: usize,
        false_positive_rate: f64,
        key: SipKey,
    ) -> Result<Self, PlanError> {
        ClassicBloom::keyed(capacity, false_positive_rate, key).map(Self::from_empty)
    }

    /// The same for the caller's own hashes, as [`ClassicBloom::for_hashes`].
    ///
    /// # Errors
    /// As [`Retouched::new`].
    pub fn for_hashes(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        ClassicBloom::for_hashes(capacity, false_positive_rate).map(Self::from_empty)
    }

    /// An empty filter with a given plan, as [`ClassicBloom::from_plan`].
    ///
    /// # Errors
    /// When the plan has no bits, no probes or more than 4096, or there is not enough memory.
    pub fn from_plan(
        plan: ClassicPlan,
        scheme: Scheme,
        hash_scheme: HashScheme,
    ) -> Result<Self, PlanError> {
        ClassicBloom::from_plan(plan, scheme, hash_scheme).map(Self::from_empty)
    }

    fn from_empty(filter: ClassicBloom) -> Self {
        Self {
            filter,
            keys: Vec::new(),
            false_positives: Vec::new(),
            ratios: Vec::new(),
            keys_lost: 0,
            bits_cleared: 0,
            unlisted_keys: 0,
        }
    }

    /// A filter from existing bits and lists.
    ///
    /// # Errors
    /// If a ratio belongs to no bit, or is not a number above 0.
    pub fn from_parts(filter: ClassicBloom, lists: RetouchedLists) -> Result<Self, PlanError> {
        for &(bit, ratio) in &lists.ratios {
            if bit >= filter.plan().bits {
                return Err(PlanError::InvalidInteger {
                    field: "bit of a ratio",
                    value: bit,
                    accepted: "a bit of the filter",
                });
            }
            if !(ratio > 0.0 && ratio.is_finite()) {
                return Err(PlanError::InvalidNumber {
                    field: "ratio of a bit",
                    value: ratio,
                    accepted: "a finite number above 0",
                });
            }
        }
        // No filter can reach these counts, and sums stay far from overflow.
        for count in [lists.keys_lost, lists.bits_cleared, lists.unlisted_keys] {
            if count > MAX_COUNTED {
                return Err(PlanError::InvalidInteger {
                    field: "keys lost, bits cleared or keys not listed",
                    value: count,
                    accepted: "at most 2^60",
                });
            }
        }
        Ok(Self {
            filter,
            keys: lists.keys,
            false_positives: lists.false_positives,
            ratios: lists.ratios,
            keys_lost: lists.keys_lost,
            bits_cleared: lists.bits_cleared,
            unlisted_keys: lists.unlisted_keys,
        })
    }

    /// The hashes of all keys that were inserted and are not lost, duplicates included, in order of insertion.
    pub fn key_hashes(&self) -> &[u64] {
        &self.keys
    }

    /// The hashes of listed false positives that are still found, in the order in which they were listed.
    pub fn false_positive_hashes(&self) -> &[u64] {
        &self.false_positives
    }

    /// The quotients that [`ClearingStrategy::Ratio`] stores: bits with a quotient other than 0.
    pub fn ratios(&self) -> &[(u64, f64)] {
        &self.ratios
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
        self.filter.set_key_type(Some(key_type));
        self
    }

    /// The hash of a key. Every filter of the same hash scheme accepts it.
    ///
    /// # Panics
    /// On a filter created by [`Retouched::for_hashes`]. The same for all methods below that take key bytes.
    #[inline]
    pub fn hash(&self, key: impl Key) -> KeyHash {
        self.filter.hash(key)
    }

    /// `true`: the key was definitely not found before. `false`: the key, or keys that set the same bits, were inserted before. A
    /// lost key can be inserted again, which brings back the false positives that use its bits.
    pub fn insert(&mut self, key: impl Key) -> bool {
        self.insert_hash(self.hash(key))
    }

    /// `false`: the key was never inserted, **or a clearing has lost it**. `true` is probable.
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.filter.contains(key)
    }

    /// `contains` for many keys. Faster, because the memory accesses of dozens of keys overlap.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length.
    pub fn contains_each(&self, keys: &[impl Key], found: &mut [bool]) {
        self.filter.contains_each(keys, found);
    }

    /// As [`Retouched::insert`], for a hash of this filter's hash scheme.
    pub fn insert_hash(&mut self, hash: KeyHash) -> bool {
        self.record_keys(&[hash]);
        self.filter.insert_hash(hash)
    }

    /// As [`Retouched::contains`], for a hash of this filter's hash scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.filter.contains_hash(hash)
    }

    /// Inserts many hashes.
    pub fn insert_hashes(&mut self, hashes: &[KeyHash]) {
        self.record_keys(hashes);
        self.filter.insert_hashes(hashes);
    }

    /// `contains_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        self.filter.contains_hashes(hashes, found);
    }

    /// Keys are inserted even if there is no memory to list them; their loss is then not counted.
    fn record_keys(&mut self, hashes: &[KeyHash]) {
        if reserve_more(&mut self.keys, hashes.len()).is_ok() {
            self.keys.extend(hashes.iter().map(|hash| hash.to_u64()));
        } else {
            self.unlisted_keys += hashes.len() as u64;
        }
    }

    /// Lists a key that should not be found, and changes no bit. `true`: the filter finds it now, so that there is something to
    /// clear.
    ///
    /// # Errors
    /// If there is not enough memory to list it.
    pub fn add_false_positive(&mut self, key: impl Key) -> Result<bool, PlanError> {
        self.add_false_positive_hash(self.hash(key))
    }

    /// [`add_false_positive`](Self::add_false_positive) for many keys: returns how many of them the filter finds now.
    ///
    /// # Errors
    /// If there is not enough memory to list all; none is listed then.
    pub fn add_false_positives(&mut self, keys: &[impl Key]) -> Result<u64, PlanError> {
        reserve_more(&mut self.false_positives, keys.len())?;
        let mut found = 0;
        for key in keys {
            found += u64::from(self.add_false_positive(key)?);
        }
        Ok(found)
    }

    /// As [`add_false_positive`](Self::add_false_positive), for a hash of this filter's hash scheme.
    ///
    /// # Errors
    /// If there is not enough memory to list it.
    pub fn add_false_positive_hash(&mut self, hash: KeyHash) -> Result<bool, PlanError> {
        let found = self.filter.contains_hash(hash);
        reserve_more(&mut self.false_positives, 1)?;
        self.false_positives.push(hash.to_u64());
        Ok(found)
    }

    /// Clears one bit of a key, so that it is no longer found; `None`, without a change, if it is not found anyway. The key need
    /// not be listed. Keys and listed false positives that used the bit leave their lists. Reads all keys twice, so clear many
    /// keys with [`clear_all`](Self::clear_all).
    ///
    /// # Errors
    /// If there is not enough memory for the work; the filter is then unchanged.
    pub fn clear_false_positive(
        &mut self,
        key: impl Key,
        clearing: ClearingStrategy,
    ) -> Result<Option<ClearedBit>, PlanError> {
        self.clear_false_positive_hash(self.hash(key), clearing)
    }

    /// As [`clear_false_positive`](Self::clear_false_positive), for a hash of this filter's hash scheme.
    ///
    /// # Errors
    /// As `clear_false_positive`.
    pub fn clear_false_positive_hash(
        &mut self,
        hash: KeyHash,
        clearing: ClearingStrategy,
    ) -> Result<Option<ClearedBit>, PlanError> {
        if !self.filter.contains_hash(hash) {
            return Ok(None);
        }
        let mut last = None;
        self.clear_each(&[hash.to_u64()], clearing, |cleared| last = Some(cleared))?;
        Ok(last)
    }

    /// Clears one bit of each listed false positive that is still found, in the order in which they were listed. None of them is
    /// found afterwards.
    ///
    /// # Errors
    /// If there is not enough memory for the work; the filter is then unchanged.
    pub fn clear_all(&mut self, clearing: ClearingStrategy) -> Result<ClearingReport, PlanError> {
        let mut targets = reserved(self.false_positives.len() as u64)?;
        targets.extend_from_slice(&self.false_positives);
        let mut all = ClearingReport::default();
        self.clear_each(&targets, clearing, |cleared| {
            all.bits += 1;
            all.keys_lost += cleared.keys_lost;
            all.false_positives_removed += cleared.false_positives_removed;
        })?;
        Ok(all)
    }

    fn clear_each(
        &mut self,
        targets: &[u64],
        clearing: ClearingStrategy,
        mut report: impl FnMut(ClearedBit),
    ) -> Result<(), PlanError> {
        let mut index = BitIndex::new(
            &self.filter,
            &self.keys,
            &self.false_positives,
            targets,
            &self.ratios,
        )?;
        for &hash in targets {
            if self.filter.has_all(hash) {
                let cleared = index.clear(&mut self.filter, hash, clearing);
                self.bits_cleared += 1;
                self.keys_lost += cleared.keys_lost;
                report(cleared);
            }
        }
        let outcome = index.finish();
        self.ratios = outcome.ratios;
        remove_marked(&mut self.keys, &outcome.keys_removed);
        remove_marked(&mut self.false_positives, &outcome.false_positives_removed);
        Ok(())
    }

    /// The number of distinct keys that clearings have lost, added up. A key that was inserted again and lost again counts twice.
    pub fn keys_lost(&self) -> u64 {
        self.keys_lost
    }

    /// The number of bits cleared.
    pub fn bits_cleared(&self) -> u64 {
        self.bits_cleared
    }

    /// The number of keys that were inserted without memory to list them: clearings may lose them without counting them.
    pub fn unlisted_keys(&self) -> u64 {
        self.unlisted_keys
    }

    /// Removes all keys, lists and statistics of clearings.
    pub fn clear(&mut self) {
        self.filter.clear();
        self.keys.clear();
        self.false_positives.clear();
        self.ratios.clear();
        (self.keys_lost, self.bits_cleared, self.unlisted_keys) = (0, 0, 0);
    }

    /// The estimated number of distinct keys, from the bits that are set, as [`ClassicBloom::estimated_keys`]; a cleared bit
    /// counts as if it had never been set.
    pub fn estimated_keys(&self) -> u64 {
        self.filter.estimated_keys()
    }

    /// The requested false-positive rate.
    pub fn false_positive_rate(&self) -> f64 {
        self.filter.false_positive_rate()
    }

    /// The false-positive rate now, from the bits that are set: the probability that a random absent key is found. Reads the whole
    /// filter.
    pub fn estimated_rate(&self) -> f64 {
        self.filter.estimated_rate()
    }

    /// Whether the filter holds more keys than it was planned for, as [`ClassicBloom::is_over_capacity`].
    pub fn is_over_capacity(&self) -> bool {
        self.filter.is_over_capacity()
    }

    /// The estimated number of keys that still fit before the rate is worse than requested. Reads the whole filter.
    pub fn keys_until_full(&self) -> u64 {
        self.filter.keys_until_full()
    }

    /// What the filter is, how full it is and which rate it has now. Reads the whole filter.
    pub fn stats(&self) -> Stats {
        Stats {
            kind: Kind::Retouched,
            size_bytes: self.size_bytes(),
            ..self.filter.stats()
        }
    }

    /// Whether no bit is set.
    pub fn is_empty(&self) -> bool {
        self.filter.is_empty()
    }

    /// The number of keys that the filter was planned for.
    pub fn capacity(&self) -> u64 {
        self.filter.capacity()
    }

    /// Bytes of memory for bits and lists; the bits alone take [`as_classic`](Self::as_classic)`().size_bytes()`.
    pub fn size_bytes(&self) -> u64 {
        let lists = size_of_val(self.keys.as_slice())
            + size_of_val(self.false_positives.as_slice())
            + size_of_val(self.ratios.as_slice());
        self.filter.size_bytes() + lists as u64
    }

    /// The bits, which are all that lookups need.
    pub fn as_classic(&self) -> &ClassicBloom {
        &self.filter
    }

    /// The bits without the lists, when nothing will be cleared any more. Lost keys stay lost.
    pub fn into_classic(self) -> ClassicBloom {
        self.filter
    }

    /// The plan of the filter.
    pub fn plan(&self) -> &ClassicPlan {
        self.filter.plan()
    }

    /// The scheme that maps hashes to positions.
    pub fn scheme(&self) -> Scheme {
        self.filter.scheme()
    }

    /// The hash scheme.
    pub fn hash_scheme(&self) -> HashScheme {
        self.filter.hash_scheme()
    }
}

fn remove_marked(list: &mut Vec<u64>, removed: &Bits) {
    let mut number = 0..;
    list.retain(|_| number.next().is_some_and(|number| !removed.has(number)));
}

impl<K: Key> Extend<K> for Retouched {
    /// Inserts all keys.
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(key);
        }
    }
}

impl fmt::Debug for Retouched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Retouched({:?}, {} bits cleared, {} keys lost, {} false positives listed)",
            self.filter,
            self.bits_cleared,
            self.keys_lost,
            self.false_positives.len()
        )
    }
}
