//! `Excepting<F>`: a filter that is exact on two lists: keys that it contains, and exceptions that it must not contain.
//!
//! The base filter answers as usual. A layer on top denies the exceptions that the base would accept (`excepting/layer.rs`), with
//! a few bits for each; it is built from both lists (`excepting/layer_builder.rs`) and exact on both. Keys that are inserted
//! later although the layer would deny them are stored individually.

mod base;
mod error;
mod layer;
mod layer_builder;
mod parts;

pub use base::{ExceptingBase, InsertableBase, NeverFullBase};
pub use error::ExceptingError;
pub use parts::{ExceptionLayer, ExceptionParts, RetrievalParts};

use crate::build::shards::Items;
use crate::plan::ExceptingPlan;
use crate::store::ExactSet;
use crate::{
    Full, HashScheme, Hashed, Key, KeyHash, KeyType, Kind, OperationError, PlanError, Stats,
};
use core::fmt;
use layer::DenyLayer;

/// What to do with a key that is a positive and an exception, or with two such keys that have the same hash.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Bloom, Excepting, OnConflict};
/// let blocked = Bloom::from_keys(["a", "b"], 0.01)?;
/// // "b" is on both lists, and stays blocked.
/// let filter = Excepting::build_with(blocked, ["a", "b"], ["b", "c"], OnConflict::Block)?;
/// assert!(filter.contains("b") && !filter.contains("c"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnConflict {
    /// Return an error that names them.
    #[default]
    Refuse,
    /// Treat them as positives: `contains` returns `true`.
    Block,
    /// Treat them as exceptions: `contains` returns `false`.
    Allow,
}

/// A filter with exceptions: no false negatives, and no false positives among a list of keys that are known to be absent.
///
/// It consists of a base filter that already contains the positives, and a few more bits: 0.09 per positive for a list of the
/// same length at 1 %, 0.54 for a list ten times as long. Keys on neither list have the base's false-positive rate, or a better
/// one.
///
/// It cannot be merged, folded or nested, and keys cannot be removed from it. Keys can be inserted if the base accepts them:
///
/// * No key is lost. Keys that the layer would deny are stored, 11 to 21 bytes each; [`overrides`](Self::overrides) and
///   [`size_bytes`](Self::size_bytes) show how many. With few exceptions that is one key in thousands, with as many accepted
///   exceptions as positives every second one, with many more almost every one.
/// * The last call wins: an exception that is inserted is found from then on. The filter cannot recognise that it was an
///   exception, because it does not store the list.
/// * Exceptions that the base accepted when the filter was built stay excluded. Others may become false positives of a base that
///   has more keys now: rebuild to be exact again ([`keys_inserted`](Self::keys_inserted)).
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Bloom, Excepting};
///
/// let blocked: Vec<String> = (0..1000).map(|i| format!("https://bad.example/{i}")).collect();
/// let wanted: Vec<String> = (0..1000).map(|i| format!("https://good.example/{i}")).collect();
/// let filter = Bloom::from_keys(&blocked, 0.01)?;
/// assert!(wanted.iter().any(|key| filter.contains(key)));
/// let exact = Excepting::build(filter, &blocked, &wanted)?;
/// assert!(blocked.iter().all(|key| exact.contains(key)));
/// assert!(!wanted.iter().any(|key| exact.contains(key)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Excepting<F> {
    base: F,
    layer: DenyLayer,
    /// Keys inserted later that the layer would deny.
    overrides: ExactSet,
    plan: ExceptingPlan,
    exceptions: u64,
    resolved_conflicts: u64,
    inserted: u64,
}

impl<F: ExceptingBase> Excepting<F> {
    /// A filter that contains all `positives`, which the base must already contain, and none of the `exceptions`. Both are key
    /// bytes, or hashes of the base's scheme; duplicates are allowed. Both are iterated several times: slices, references to
    /// collections, or iterators of known length that can be cloned.
    ///
    /// Building takes about 8 bytes of memory for every exception that the base accepts and 40 for each key of the second level.
    ///
    /// # Errors
    /// If a key is on both lists, or two different keys with the same hash are; if the base lacks a positive; if it is an
    /// [`AnyFilter`](crate::AnyFilter) of a kind that is not an [`ExceptingBase`]; if there is not enough memory.
    ///
    /// # Panics
    /// For key bytes if the base is for the caller's own hashes.
    pub fn build<P, E>(base: F, positives: P, exceptions: E) -> Result<Self, ExceptingError>
    where
        P: IntoIterator<Item: Hashed, IntoIter: ExactSizeIterator> + Clone,
        E: IntoIterator<Item: Hashed, IntoIter: ExactSizeIterator> + Clone,
    {
        Self::build_with(base, positives, exceptions, OnConflict::Refuse)
    }

    /// The same, with a choice of which side wins if a key is on both lists. The choice also applies to two different keys with
    /// the same 64-bit hash, which no filter can distinguish.
    ///
    /// # Errors
    /// As [`Excepting::build`], except for the conflicts that the choice resolves.
    ///
    /// # Panics
    /// As [`Excepting::build`].
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers pass references or iterators"
    )]
    pub fn build_with<P, E>(
        base: F,
        positives: P,
        exceptions: E,
        on_conflict: OnConflict,
    ) -> Result<Self, ExceptingError>
    where
        P: IntoIterator<Item: Hashed, IntoIter: ExactSizeIterator> + Clone,
        E: IntoIterator<Item: Hashed, IntoIter: ExactSizeIterator> + Clone,
    {
        let built = layer_builder::build_layer(&base, &positives, &exceptions, on_conflict)?;
        Ok(Self {
            base,
            layer: built.layer,
            overrides: ExactSet::default(),
            plan: ExceptingPlan::for_corrected(positives.count(), built.corrected),
            exceptions: exceptions.count(),
            resolved_conflicts: built.resolved_conflicts,
            inserted: 0,
        })
    }

    /// What the keys are, if that was set: the key type of the base.
    pub fn key_type(&self) -> Option<KeyType> {
        self.base.key_type()
    }

    /// Sets what the keys are. It is saved with the filter; lookups do not depend on it.
    pub fn set_key_type(&mut self, key_type: Option<KeyType>) {
        self.base.set_key_type(key_type);
    }

    /// The same filter, with this key type.
    #[must_use]
    pub fn with_key_type(mut self, key_type: KeyType) -> Self {
        self.base.set_key_type(Some(key_type));
        self
    }

    /// The hash of a key. Every filter of the same scheme accepts it.
    ///
    /// # Panics
    /// If the base is for the caller's own hashes. The same for all methods that take key bytes.
    #[inline]
    pub fn hash(&self, key: impl Key) -> KeyHash {
        self.base.scheme().hash(key)
    }

    /// `false` is certain: the key is neither a positive nor was it inserted. `true` is probable.
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// As [`Excepting::contains`], for a hash of this filter's scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        self.base.contains_hash(hash) && !self.denies(hash)
    }

    #[inline]
    fn denies(&self, hash: KeyHash) -> bool {
        self.layer.denies(hash.to_u64()) && !self.overrides.contains(hash.to_u64())
    }

    /// `contains` for many keys: looks up all of them in the base, and those that it accepts in the layer.
    ///
    /// # Panics
    /// If `keys` and `found` differ in length.
    pub fn contains_each(&self, keys: &[impl Key], found: &mut [bool]) {
        let look_up = |hashes: &[KeyHash], found: &mut [bool]| self.contains_hashes(hashes, found);
        self.base.scheme().look_up_in_chunks(keys, found, look_up);
    }

    /// `contains_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        self.base.contains_hashes(hashes, found);
        for (&hash, found) in hashes.iter().zip(found) {
            *found = *found && !self.denies(hash);
        }
    }

    /// The number of exceptions that the filter was built with, duplicates included.
    pub fn exceptions(&self) -> u64 {
        self.exceptions
    }

    /// The number of distinct exceptions that the base accepted when the filter was built: those that the layer denies.
    pub fn corrected(&self) -> u64 {
        self.plan.corrected()
    }

    /// The number of hashes that were on both lists and for which a side was chosen.
    pub fn resolved_conflicts(&self) -> u64 {
        self.resolved_conflicts
    }

    /// The number of keys inserted since the filter was built, duplicates included. From the first on, exceptions that the base
    /// did not accept before may be found, at its false-positive rate.
    pub fn keys_inserted(&self) -> u64 {
        self.inserted
    }

    /// The number of inserted keys that the layer would deny, and that are therefore stored individually.
    pub fn overrides(&self) -> u64 {
        self.overrides.len()
    }

    /// The number of keys that the base was planned for.
    pub fn capacity(&self) -> u64 {
        self.base.capacity()
    }

    /// The estimated number of distinct keys in the base.
    pub fn estimated_keys(&self) -> u64 {
        self.base.estimated_keys()
    }

    /// The requested false-positive rate of the base.
    pub fn false_positive_rate(&self) -> f64 {
        self.base.false_positive_rate()
    }

    /// The false-positive rate for keys on neither list: the base's current rate, reduced by what the layer denies.
    pub fn estimated_rate(&self) -> f64 {
        let factor = if self.layer.is_list() {
            1.0
        } else {
            self.plan.rate_factor()
        };
        self.base.estimated_rate() * factor
    }

    /// Whether the base holds more keys than it was planned for.
    pub fn is_over_capacity(&self) -> bool {
        self.base.is_over_capacity()
    }

    /// The estimated number of keys that still fit into the base before its rate is worse than requested: none into a static one,
    /// `u64::MAX` into a growing one.
    pub fn keys_until_full(&self) -> u64 {
        self.base.keys_until_full()
    }

    /// What the base is and how full it is, with the memory and the rate of the whole filter. Reads the whole base.
    pub fn stats(&self) -> Stats {
        let base = self.base.stats();
        let size_bytes = self.size_bytes();
        Stats {
            bits: match base.kind {
                // Positions of the base.
                Kind::Classic | Kind::Counting | Kind::Retouched => base.bits,
                Kind::Bloom
                | Kind::Growing
                | Kind::Window
                | Kind::Cuckoo
                | Kind::Fuse
                | Kind::Ribbon
                | Kind::GrowingCuckoo
                | Kind::CountingCuckoo
                | Kind::WindowCuckoo => Some(8 * size_bytes),
            },
            size_bytes,
            estimated_rate: Some(self.estimated_rate()),
            ..base
        }
    }

    /// Bytes of memory: those of the base, and [`exception_bytes`](Self::exception_bytes).
    pub fn size_bytes(&self) -> u64 {
        self.base.size_bytes() + self.exception_bytes()
    }

    /// Bytes of memory for the exceptions: the layer, and the keys that override it.
    pub fn exception_bytes(&self) -> u64 {
        self.layer.size_bytes() + self.overrides.size_bytes()
    }

    /// The plan of the layer.
    pub fn plan(&self) -> &ExceptingPlan {
        &self.plan
    }

    /// The filter without its exceptions. Keys that were inserted later, and that the base seemed to contain, were not added to
    /// it: do not remove keys from a copy.
    pub fn base(&self) -> &F {
        &self.base
    }

    /// The hash scheme.
    pub fn scheme(&self) -> HashScheme {
        self.base.scheme()
    }
}

impl<F: InsertableBase> Excepting<F> {
    /// `Ok(true)`: the key was definitely new. `Ok(false)`: the key, or one that the filter cannot distinguish from it, was found
    /// before. An exception that is inserted is no longer an exception.
    ///
    /// # Errors
    /// If the base is full or static, or there is not enough memory to store that the key is no exception. The filter is then
    /// unchanged.
    pub fn try_insert(&mut self, key: impl Key) -> Result<bool, OperationError> {
        self.try_insert_hash(self.hash(key))
    }

    /// As [`Excepting::try_insert`], for a hash of this filter's scheme.
    ///
    /// # Errors
    /// As `try_insert`.
    pub fn try_insert_hash(&mut self, hash: KeyHash) -> Result<bool, OperationError> {
        let denied = self.denies(hash);
        let in_base = self.base.contains_hash(hash);
        if denied {
            self.overrides.make_room().map_err(|error| {
                let size_bytes = match error {
                    PlanError::OutOfMemory { size_bytes } => size_bytes,
                    _ => 0,
                };
                OperationError::Full(Full::Memory { size_bytes })
            })?;
        }
        if !in_base {
            self.base.try_insert_hash(hash)?;
        }
        if denied {
            self.overrides.insert(hash.to_u64());
        }
        self.inserted += 1;
        Ok(denied || !in_base)
    }
}

impl<F: NeverFullBase> Excepting<F> {
    /// `true`: the key was definitely new. `false`: the key, or one that the filter cannot distinguish from it, was found before.
    /// An exception that is inserted is no longer an exception. If there is not enough memory to store that, the filter gives up
    /// all exceptions rather than lose a key, and [`corrected`](Self::corrected) is 0.
    pub fn insert(&mut self, key: impl Key) -> bool {
        self.insert_hash(self.hash(key))
    }

    /// As [`Excepting::insert`], for a hash of this filter's scheme.
    pub fn insert_hash(&mut self, hash: KeyHash) -> bool {
        self.try_insert_hash(hash).unwrap_or_else(|_| {
            self.layer = DenyLayer::empty();
            self.overrides = ExactSet::default();
            self.plan = ExceptingPlan::for_corrected(self.plan.positives(), 0);
            self.try_insert_hash(hash).unwrap_or(true)
        })
    }
}

impl<F: ExceptingBase + fmt::Debug> fmt::Debug for Excepting<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Excepting({:?}, {} exceptions, {} bytes for the {} that it accepts, {} overrides)",
            self.base,
            self.exceptions,
            self.exception_bytes(),
            self.corrected(),
            self.overrides()
        )
    }
}
