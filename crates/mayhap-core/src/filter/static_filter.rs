//! `StaticFilter`: what `Fuse` and `Ribbon` have in common. Built once from all keys, then only queried.

use crate::build::shards::Items;
use crate::key_type::key_type_methods;
use crate::plan::StaticPlan;
use crate::probe::slice_lengths::SliceLengths;
use crate::{HashScheme, Hashed, Key, KeyHash, KeyType, Kind, PlanError, Stats};
use core::fmt;

/// A filter that is built from all its keys at once and never changes: [`Fuse`](crate::Fuse) or [`Ribbon`](crate::Ribbon).
///
/// The same set of keys gives the same filter, in any order and with any duplicates. Without keys, every answer is `false`.
///
/// Building takes at most 100 bits per key in addition to the items from 750,000 keys on (below, at most 21 MB); with the feature
/// `parallel` it uses all cores, for a `Fuse` from 5 million keys on. Items are hashed two to five times, because that is cheaper than storing all hashes.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Fuse, Ribbon};
/// let primes = [2_u64, 3, 5, 7];
/// assert!(Fuse::build(primes, 0.01)?.contains(7_u64)); // fastest
/// assert!(Ribbon::build(primes, 0.01)?.contains(7_u64)); // smallest
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct StaticFilter<T: StaticTable> {
    table: T,
    plan: T::Plan,
    scheme: HashScheme,
    key_type: Option<KeyType>,
    /// If it was built from the slices of a `GrowingCuckoo` instead of hashes.
    slices: Option<SliceLengths>,
}

/// How many hashes of a batch are turned into slices at once.
const CHUNK: usize = 256;

/// The stored bits of a static filter and how to query them. Not for implementation outside of this crate.
pub trait StaticTable: Clone + PartialEq {
    /// The name of the type.
    const NAME: &'static str;
    /// The kind of the filter.
    const KIND: Kind;
    /// The plan of the filter.
    type Plan: StaticPlan;

    /// `false` is certain.
    fn contains(&self, hash: u64) -> bool;

    /// `contains` for many hashes.
    fn contains_each(&self, hashes: &[KeyHash], found: &mut [bool]);

    /// The false-positive rate.
    fn rate(&self, plan: &Self::Plan) -> f64;

    /// Bytes of memory.
    fn size_bytes(&self) -> u64;
}

/// How the bits of a static filter are computed. Not for implementation outside of this crate.
pub trait BuildStatic: StaticTable {
    /// The bits for the items, and the number of distinct keys.
    ///
    /// # Errors
    /// As [`StaticFilter::build`].
    fn solve<I>(items: &I, plan: &Self::Plan, scheme: HashScheme) -> Result<(Self, u64), PlanError>
    where
        I: IntoIterator<Item: Hashed, IntoIter: ExactSizeIterator> + Clone;
}

impl<T: BuildStatic> StaticFilter<T> {
    /// A filter of `items`, which finds at most a share of `false_positive_rate` of all other keys. Keys are hashed with XXH3;
    /// [`KeyHash`]es are the caller's own (scheme 0).
    ///
    /// Items are a slice, a reference to a collection, or an iterator of known length. They are cloned to be iterated several
    /// times, so pass a collection by reference.
    ///
    /// # Errors
    /// If the rate is not between 2^-32 and 1, or there is not enough memory; also if no solution is found in hundreds of
    /// attempts, which happens only with hashes that were chosen for that.
    pub fn build<I>(items: I, false_positive_rate: f64) -> Result<Self, PlanError>
    where
        I: IntoIterator<Item: Hashed, IntoIter: ExactSizeIterator> + Clone,
    {
        Self::build_with(items, false_positive_rate, <I::Item as Hashed>::SCHEME)
    }

    /// The same with a scheme of the caller's choice, such as a keyed one. `KeyHash`es must come from that scheme.
    ///
    /// # Errors
    /// As [`StaticFilter::build`].
    ///
    /// # Panics
    /// For key bytes with [`HashScheme::Caller`], which has no hash function.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers pass references or iterators"
    )]
    pub fn build_with<I>(
        items: I,
        false_positive_rate: f64,
        scheme: HashScheme,
    ) -> Result<Self, PlanError>
    where
        I: IntoIterator<Item: Hashed, IntoIter: ExactSizeIterator> + Clone,
    {
        let mut plan = T::Plan::for_items(items.count(), false_positive_rate)?;
        loop {
            let (table, keys) = T::solve(&items, &plan, scheme)?;
            let found = T::Plan::for_keys(keys, false_positive_rate)?;
            if found.has_same_layout(&plan) {
                return Ok(Self {
                    table,
                    plan: found,
                    scheme,
                    key_type: None,
                    slices: None,
                });
            }
            // So many items are duplicates that another layout is right. Builds again, so that the bytes do not depend on
            // duplicates.
            plan = found;
        }
    }

    /// A filter of the slices of hashes. `false_positive_rate` is that of one lookup in the table.
    pub(super) fn from_slices<I>(
        slices: I,
        lengths: SliceLengths,
        false_positive_rate: f64,
        scheme: HashScheme,
    ) -> Result<Self, PlanError>
    where
        I: IntoIterator<Item = KeyHash, IntoIter: ExactSizeIterator> + Clone,
    {
        let filter = Self::build_with(slices, false_positive_rate, HashScheme::Caller)?;
        Ok(Self {
            scheme,
            slices: Some(lengths),
            ..filter
        })
    }
}

impl<T: StaticTable> StaticFilter<T> {
    /// A filter that was built before.
    pub(super) fn from_table(table: T, plan: T::Plan, scheme: HashScheme) -> Self {
        Self {
            table,
            plan,
            scheme,
            key_type: None,
            slices: None,
        }
    }

    /// The slices that the filter was built from, if [`GrowingCuckoo::to_ribbon`](crate::GrowingCuckoo::to_ribbon) or `to_fuse` did.
    pub fn slice_lengths(&self) -> Option<SliceLengths> {
        self.slices
    }

    /// The same filter, as one of slices. For filters from a file.
    #[must_use]
    pub fn with_slice_lengths(self, slices: SliceLengths) -> Self {
        Self {
            slices: Some(slices),
            ..self
        }
    }

    key_type_methods!();

    pub(super) fn table(&self) -> &T {
        &self.table
    }

    /// The hash of a key. Every filter of the same scheme accepts it.
    ///
    /// # Panics
    /// On a filter built from the caller's hashes.
    #[inline]
    pub fn hash(&self, key: impl Key) -> KeyHash {
        self.scheme.hash(key)
    }

    /// `false` is certain: the key was not among the items. `true` is probable.
    ///
    /// # Panics
    /// On a filter built from the caller's hashes.
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.find(self.hash(key).to_u64())
    }

    #[inline(always)]
    fn find(&self, hash: u64) -> bool {
        match &self.slices {
            None => self.table.contains(hash),
            Some(slices) => self.find_slice(slices, hash),
        }
    }

    #[inline(never)]
    fn find_slice(&self, slices: &SliceLengths, hash: u64) -> bool {
        (0..slices.tables()).any(|number| self.table.contains(slices.slice(hash, number).to_u64()))
    }

    fn find_each(&self, hashes: &[KeyHash], found: &mut [bool]) {
        let Some(slices) = &self.slices else {
            return self.table.contains_each(hashes, found);
        };
        assert_eq!(
            hashes.len(),
            found.len(),
            "one place in `found` for every hash"
        );
        let mut sliced = [KeyHash::from_u64(0); CHUNK];
        let mut in_table = [false; CHUNK];
        found.fill(false);
        for (hashes, found) in hashes.chunks(CHUNK).zip(found.chunks_mut(CHUNK)) {
            let (sliced, in_table) = (&mut sliced[..hashes.len()], &mut in_table[..hashes.len()]);
            for number in 0..slices.tables() {
                for (slice, hash) in sliced.iter_mut().zip(hashes) {
                    *slice = slices.slice(hash.to_u64(), number);
                }
                self.table.contains_each(sliced, in_table);
                for (found, in_table) in found.iter_mut().zip(&*in_table) {
                    *found |= in_table;
                }
            }
        }
    }

    /// `false` is certain, `true` is probable. As [`StaticFilter::contains`], for a hash of this filter's scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        if cfg!(debug_assertions) {
            hash.assert_origin(self.scheme.origin());
        }
        self.find(hash.to_u64())
    }

    /// `contains` for many keys. Faster, because the memory accesses of dozens of keys overlap.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length; on a filter built from the caller's hashes.
    pub fn contains_each(&self, keys: &[impl Key], found: &mut [bool]) {
        let look_up = |hashes: &[KeyHash], found: &mut [bool]| self.find_each(hashes, found);
        self.scheme.look_up_in_chunks(keys, found, look_up);
    }

    /// `contains_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        if cfg!(debug_assertions) {
            let origin = self.scheme.origin();
            for hash in hashes {
                hash.assert_origin(origin);
            }
        }
        self.find_each(hashes, found);
    }

    /// The requested false-positive rate.
    pub fn false_positive_rate(&self) -> f64 {
        self.total_rate(self.plan.false_positive_rate())
    }

    /// The false-positive rate: as requested or better, because blocks and cells are not divisible. 0 without keys.
    pub fn estimated_rate(&self) -> f64 {
        self.total_rate(self.table.rate(&self.plan))
    }

    /// The rate of lookups, if the table has the given one.
    fn total_rate(&self, rate: f64) -> f64 {
        self.slices.map_or(rate, |slices| slices.total_rate(rate))
    }

    /// The number of distinct keys: exact, except for keys with equal 64-bit hashes.
    pub fn len(&self) -> u64 {
        self.plan.keys()
    }

    /// Whether there are no keys, so that every answer is `false`.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As [`StaticFilter::len`].
    pub fn estimated_keys(&self) -> u64 {
        self.len()
    }

    /// As [`StaticFilter::len`]: no keys can be added.
    pub fn capacity(&self) -> u64 {
        self.len()
    }

    /// Always `false`: no keys can be added.
    pub fn is_over_capacity(&self) -> bool {
        false
    }

    /// Always 0: no keys can be added.
    pub fn keys_until_full(&self) -> u64 {
        0
    }

    /// What the filter is and which rate it has.
    pub fn stats(&self) -> Stats {
        Stats {
            capacity: Some(self.capacity()),
            bits: Some(8 * self.size_bytes()),
            estimated_keys: Some(self.len()),
            false_positive_rate: Some(self.false_positive_rate()),
            estimated_rate: Some(self.estimated_rate()),
            keys_until_full: Some(0),
            ..Stats::new(T::KIND, self.size_bytes())
        }
    }

    /// Bytes of memory for the bits and the directory of shards.
    pub fn size_bytes(&self) -> u64 {
        self.table.size_bytes()
    }

    /// The plan of the filter.
    pub fn plan(&self) -> &T::Plan {
        &self.plan
    }

    /// The hash scheme.
    pub fn scheme(&self) -> HashScheme {
        self.scheme
    }
}

impl<T: StaticTable> fmt::Debug for StaticFilter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}({}, {} bytes, {:?})",
            T::NAME,
            self.plan,
            self.size_bytes(),
            self.scheme
        )
    }
}
