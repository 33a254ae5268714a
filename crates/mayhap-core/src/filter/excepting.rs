//! `Excepting<F>`: a filter that is right about two lists, the keys that are in and the keys that are not to be found.
//!
//! The base filter says yes or no as ever. Exceptions that it would wrongly accept are denied by a layer on top, a few bits for
//! each of them (`excepting/layer.rs`), made from both lists (`excepting/lists.rs`) and exact on both. Keys that come later and
//! that the layer would deny are remembered one by one.

mod base;
mod error;
mod layer;
mod layer_builder;
mod parts;

pub use base::{ExceptingBase, InsertableBase, NeverFullBase};
pub use error::ExceptingError;
pub use parts::{ExceptionLayer, ExceptionParts, RetrievalParts};

use crate::plan::ExceptingPlan;
use crate::store::ExactSet;
use crate::{Full, HashScheme, Hashed, KeyHash, Kind, OperationError, PlanError, Stats};
use core::fmt;
use layer::DenyLayer;

/// What becomes of a key that is a positive and an exception at once, or of two keys with the same hash that are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnConflict {
    /// There is no filter, but an error that names them.
    #[default]
    Refuse,
    /// They are positives: `contains` says `true`.
    Block,
    /// They are exceptions: `contains` says `false`.
    Allow,
}

/// A filter with exceptions: no false negatives, and no false positives among a list of keys that are known not to be in.
///
/// Made of a base filter that holds the positives already, at the cost of few bits: 0.09 for each positive for a list as long as
/// theirs at 1 %, 0.54 for one ten times as long. Absent keys that are on neither list meet the base's rate, or a better one.
///
/// It cannot be merged, folded or put on another one, and nothing can be removed from it. Keys can be inserted where the base takes
/// them:
///
/// * No key is lost. Those that the layer would deny are remembered, 11 to 21 bytes each; [`overrides`](Self::overrides) and
///   [`size_bytes`](Self::size_bytes) tell how many. With few exceptions that is one key in thousands, with as many accepted
///   exceptions as positives every second one, with many more almost every one.
/// * The last word counts: an exception that is inserted is found from then on. The filter cannot tell that it was one, because
///   it does not keep the exceptions.
/// * Exceptions that the base accepted when the filter was made stay out. Others may be accepted by a base that has more keys
///   now, at its false-positive rate: build anew to be exact again ([`keys_inserted`](Self::keys_inserted)).
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
    /// Keys that came later and that the layer would deny.
    overrides: ExactSet,
    plan: ExceptingPlan,
    exceptions: u64,
    resolved_conflicts: u64,
    inserted: u64,
}

impl<F: ExceptingBase> Excepting<F> {
    /// A filter that says `true` to all `positives`, which the base must contain already, and `false` to all `exceptions`. Both are
    /// key bytes, or hashes of the base's scheme; either may repeat.
    ///
    /// Building takes about 8 bytes of memory for every exception that the base accepts and 40 for each key of the second level.
    ///
    /// # Errors
    /// When a key is on both lists, or two different keys with the same hash are; when the base lacks a positive; when it is an
    /// [`AnyFilter`](crate::AnyFilter) of a kind that is no [`ExceptingBase`]; if there is not enough memory.
    ///
    /// # Panics
    /// For key bytes when the base is for the caller's own hashes.
    pub fn build<P: Hashed, E: Hashed>(
        base: F,
        positives: &[P],
        exceptions: &[E],
    ) -> Result<Self, ExceptingError> {
        Self::build_with(base, positives, exceptions, OnConflict::Refuse)
    }

    /// The same for callers who know which side wins when a key is on both lists. The same goes for two different keys with
    /// the same 64-bit hash, which no filter can tell apart.
    ///
    /// # Errors
    /// As [`Excepting::build`], but for what the choice settles.
    ///
    /// # Panics
    /// As [`Excepting::build`].
    pub fn build_with<P: Hashed, E: Hashed>(
        base: F,
        positives: &[P],
        exceptions: &[E],
        on_conflict: OnConflict,
    ) -> Result<Self, ExceptingError> {
        let made = layer_builder::build_layer(&base, positives, exceptions, on_conflict)?;
        Ok(Self {
            base,
            layer: made.layer,
            overrides: ExactSet::default(),
            plan: ExceptingPlan::for_corrected(positives.len() as u64, made.corrected),
            exceptions: exceptions.len() as u64,
            resolved_conflicts: made.resolved_conflicts,
            inserted: 0,
        })
    }

    /// The hash of a key. Every filter of the same scheme accepts it.
    ///
    /// # Panics
    /// When the base is for the caller's own hashes. The same for all methods that take key bytes.
    #[inline]
    pub fn hash(&self, key: impl AsRef<[u8]>) -> KeyHash {
        self.base.scheme().hash(key.as_ref())
    }

    /// `false` is certain: the key is neither a positive nor was it inserted. `true` is probable, but for the exceptions.
    #[inline]
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
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

    /// `contains` for many keys: the base is asked about all of them, the layer about those that are left.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length.
    pub fn contains_each(&self, keys: &[impl AsRef<[u8]>], found: &mut [bool]) {
        let ask = |hashes: &[KeyHash], found: &mut [bool]| self.contains_hashes(hashes, found);
        self.base.scheme().look_up_in_chunks(keys, found, ask);
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

    /// Exceptions on the list that the filter was made with, repeated ones counted.
    pub fn exceptions(&self) -> u64 {
        self.exceptions
    }

    /// Exceptions that the base accepted when the filter was made, each once: those that the layer denies.
    pub fn corrected(&self) -> u64 {
        self.plan.corrected()
    }

    /// Hashes that were on both lists and for which a side was chosen.
    pub fn resolved_conflicts(&self) -> u64 {
        self.resolved_conflicts
    }

    /// Keys inserted since the filter was made, repeated ones counted. From the first on, exceptions that the base did not
    /// accept before may be found, at its false-positive rate.
    pub fn keys_inserted(&self) -> u64 {
        self.inserted
    }

    /// Inserted keys that the layer would deny, and that are therefore remembered one by one.
    pub fn overrides(&self) -> u64 {
        self.overrides.len()
    }

    /// Keys that the base was planned for.
    pub fn capacity(&self) -> u64 {
        self.base.capacity()
    }

    /// About how many distinct keys the base holds.
    pub fn estimated_keys(&self) -> u64 {
        self.base.estimated_keys()
    }

    /// The false-positive rate that the base was planned for.
    pub fn false_positive_rate(&self) -> f64 {
        self.base.false_positive_rate()
    }

    /// The false-positive rate that absent keys who are on no list meet: the base's now, and a little less, since the layer denies
    /// some of them as well.
    pub fn estimated_rate(&self) -> f64 {
        let factor = if self.layer.is_list() {
            1.0
        } else {
            self.plan.rate_factor()
        };
        self.base.estimated_rate() * factor
    }

    /// Whether more keys are in the base than it was planned for.
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
                | Kind::Ribbon => Some(8 * size_bytes),
            },
            size_bytes,
            estimated_rate: Some(self.estimated_rate()),
            ..base
        }
    }

    /// Bytes of memory: the base's, and [`exception_bytes`](Self::exception_bytes).
    pub fn size_bytes(&self) -> u64 {
        self.base.size_bytes() + self.exception_bytes()
    }

    /// Bytes of memory that the exceptions take: the layer, and the keys that override it.
    pub fn exception_bytes(&self) -> u64 {
        self.layer.size_bytes() + self.overrides.size_bytes()
    }

    /// The layer as planned.
    pub fn plan(&self) -> &ExceptingPlan {
        &self.plan
    }

    /// The filter without its exceptions. Keys that were inserted later, and that it seemed to know, are not in it once more:
    /// remove nothing from a copy.
    pub fn base(&self) -> &F {
        &self.base
    }

    /// The hash scheme.
    pub fn scheme(&self) -> HashScheme {
        self.base.scheme()
    }
}

impl<F: InsertableBase> Excepting<F> {
    /// `Ok(true)`: the key is in now, and was definitely new. `Ok(false)`: it, or one that looks like it, was found before. An
    /// exception that is inserted is one no longer.
    ///
    /// # Errors
    /// When the base has no room or is a static one, or there is no memory to remember that the key is no exception. The filter is
    /// then unchanged.
    pub fn try_insert(&mut self, key: impl AsRef<[u8]>) -> Result<bool, OperationError> {
        self.try_insert_hash(self.hash(key))
    }

    /// As [`Excepting::try_insert`], for a hash of this filter's scheme.
    ///
    /// # Errors
    /// The same.
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
    /// `true`: the key was definitely new. `false`: it, or one that looks like it, was found before. An exception that is inserted
    /// is one no longer. If there is no memory to remember that, all exceptions are given up rather than a key lost, and
    /// [`corrected`](Self::corrected) is 0.
    pub fn insert(&mut self, key: impl AsRef<[u8]>) -> bool {
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
