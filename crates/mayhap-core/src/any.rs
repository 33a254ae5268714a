//! `AnyFilter`: a filter whose kind is known only at run time, for code that opens files or serves requests.
//!
//! It is a closed enum: when a kind is added, the compiler shows every place that must handle it.

mod batch;

#[cfg(target_has_atomic = "64")]
use crate::SharedBloom;
use crate::plan::classic::ClassicPlan;
use crate::plan::counting::{CountingPlan, DEFAULT_COUNTER_BITS};
use crate::plan::{BloomPlan, CuckooPlan, GrowingCuckooPlan, GrowingPlan};
use crate::{
    Bloom, ClassicBloom, CountingBloom, CountingCuckoo, Cuckoo, Excepting, Fuse, GrowingBloom,
    GrowingCuckoo, HashScheme, Key, KeyHash, KeyType, Kind, Operation, OperationError, PlanError,
    Retouched, Ribbon, Scheme, Stats, WindowBloom, WindowCuckoo, WrongKind,
};
use alloc::boxed::Box;

/// A filter of any kind. A [`WindowBloom`] or [`WindowCuckoo`] is queried and filled at the newest time that it has seen.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{AnyFilter, Cuckoo, Kind};
/// let kind: Kind = "cuckoo".parse()?; // from a configuration file
/// let mut filter = AnyFilter::new(kind, 1000, 0.01)?;
/// filter.try_insert("a")?;
/// assert!(filter.contains("a"));
/// let filter = Cuckoo::try_from(filter)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub enum AnyFilter {
    /// Insert-only.
    Bloom(Bloom),
    /// Flat bits, for layouts that other systems read.
    Classic(ClassicBloom),
    /// Keys can be removed, counted and merged.
    Counting(CountingBloom),
    /// Insert-only, any number of keys.
    Growing(GrowingBloom),
    /// Keys expire after a time window.
    Window(WindowBloom),
    /// Keys can be removed.
    Cuckoo(Cuckoo),
    /// Built once; fast.
    Fuse(Fuse),
    /// Built once; smallest.
    Ribbon(Ribbon),
    /// Chosen false positives are cleared, at the cost of false negatives.
    Retouched(Retouched),
    /// Keys can be removed; any number of keys.
    GrowingCuckoo(GrowingCuckoo),
    /// Keys can be removed, counted and merged; any number of keys.
    CountingCuckoo(CountingCuckoo),
    /// Keys expire after a time window; fast lookups.
    WindowCuckoo(WindowCuckoo),
    /// One of the other kinds, with no false positives on a list of exceptions.
    Excepting(Box<Excepting<AnyFilter>>),
}

/// Evaluates one expression for every kind; the expression for a window filter also gets the newest time.
macro_rules! each {
    ($any:expr, $filter:ident => $body:expr, window => $window:expr) => {
        match $any {
            Self::Bloom($filter) => $body,
            Self::Classic($filter) => $body,
            Self::Counting($filter) => $body,
            Self::Growing($filter) => $body,
            Self::Window($filter) => $window,
            Self::Cuckoo($filter) => $body,
            Self::Fuse($filter) => $body,
            Self::Ribbon($filter) => $body,
            Self::Retouched($filter) => $body,
            Self::GrowingCuckoo($filter) => $body,
            Self::CountingCuckoo($filter) => $body,
            Self::WindowCuckoo($filter) => $window,
            Self::Excepting($filter) => $body,
        }
    };
}

impl AnyFilter {
    /// An empty filter of a kind that is known only at run time, for `capacity` keys, with XXH3.
    ///
    /// # Errors
    /// As the constructor of the kind; also for [`Kind::Fuse`] and [`Kind::Ribbon`], which are built from their keys, and for
    /// [`Kind::Window`] and [`Kind::WindowCuckoo`], which need a window and a time.
    pub fn new(kind: Kind, capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::with_scheme(kind, capacity, false_positive_rate, HashScheme::Xxh3)
    }

    /// The same with another hash scheme: [`HashScheme::Sip13`] for untrusted keys, [`HashScheme::Caller`] for the caller's own hashes.
    ///
    /// # Errors
    /// As [`AnyFilter::new`].
    pub fn with_scheme(
        kind: Kind,
        capacity: usize,
        false_positive_rate: f64,
        scheme: HashScheme,
    ) -> Result<Self, PlanError> {
        let needs_more = |instead| Err(PlanError::NeedsMore { kind, instead });
        let (keys, rate) = (capacity as u64, false_positive_rate);
        let walk = Scheme::EnhancedDoubleHashing;
        Ok(match kind {
            Kind::Bloom => Bloom::from_plan(BloomPlan::new(keys, rate)?, scheme)?.into(),
            Kind::Classic => {
                ClassicBloom::from_plan(ClassicPlan::new(keys, rate)?, walk, scheme)?.into()
            }
            Kind::Counting => {
                let plan = CountingPlan::new(keys, rate, DEFAULT_COUNTER_BITS)?;
                CountingBloom::from_plan(plan, walk, scheme)?.into()
            }
            Kind::Growing => GrowingBloom::from_plan(GrowingPlan::new(keys, rate)?, scheme)?.into(),
            Kind::Cuckoo => Cuckoo::from_plan(CuckooPlan::new(keys, rate)?, scheme)?.into(),
            Kind::Retouched => {
                Retouched::from_plan(ClassicPlan::new(keys, rate)?, walk, scheme)?.into()
            }
            Kind::GrowingCuckoo => {
                GrowingCuckoo::from_plan(GrowingCuckooPlan::new(keys, rate)?, scheme)?.into()
            }
            Kind::CountingCuckoo => {
                CountingCuckoo::from_plan(GrowingCuckooPlan::new(keys, rate)?, scheme)?.into()
            }
            Kind::Window => {
                return needs_more("use WindowBloom::new with a window and the time");
            }
            Kind::WindowCuckoo => {
                return needs_more("use WindowCuckoo::new with a window and the time");
            }
            Kind::Fuse => return needs_more("use Fuse::build with all keys"),
            Kind::Ribbon => return needs_more("use Ribbon::build with all keys"),
        })
    }

    /// The kind; for a filter with exceptions, the kind of its base.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Bloom(_) => Kind::Bloom,
            Self::Classic(_) => Kind::Classic,
            Self::Counting(_) => Kind::Counting,
            Self::Growing(_) => Kind::Growing,
            Self::Window(_) => Kind::Window,
            Self::Cuckoo(_) => Kind::Cuckoo,
            Self::Fuse(_) => Kind::Fuse,
            Self::Ribbon(_) => Kind::Ribbon,
            Self::Retouched(_) => Kind::Retouched,
            Self::GrowingCuckoo(_) => Kind::GrowingCuckoo,
            Self::CountingCuckoo(_) => Kind::CountingCuckoo,
            Self::WindowCuckoo(_) => Kind::WindowCuckoo,
            Self::Excepting(filter) => filter.base().kind(),
        }
    }

    /// The filter with its exceptions, if there are any.
    pub fn excepting(&self) -> Option<&Excepting<Self>> {
        match self {
            Self::Excepting(filter) => Some(filter),
            Self::Bloom(_)
            | Self::Classic(_)
            | Self::Counting(_)
            | Self::Growing(_)
            | Self::Window(_)
            | Self::Cuckoo(_)
            | Self::Fuse(_)
            | Self::Ribbon(_)
            | Self::Retouched(_)
            | Self::GrowingCuckoo(_)
            | Self::CountingCuckoo(_)
            | Self::WindowCuckoo(_) => None,
        }
    }

    /// Whether this filter supports an operation: its kind does, and exceptions do not prevent it.
    pub fn can(&self, operation: Operation) -> bool {
        self.kind().can(operation) && (self.excepting().is_none() || operation == Operation::Insert)
    }

    /// Whether methods that take key bytes can be called. A filter for the caller's own hashes has no hash function, and such a
    /// filter may come from a file.
    pub fn accepts_key_bytes(&self) -> bool {
        let by_walk = match self {
            // The schemes of other systems hash keys themselves.
            Self::Classic(filter) => !filter.scheme().is_native(),
            Self::Counting(filter) => !filter.scheme().is_native(),
            Self::Bloom(_)
            | Self::Growing(_)
            | Self::Window(_)
            | Self::Cuckoo(_)
            | Self::Fuse(_)
            | Self::Ribbon(_)
            | Self::Retouched(_)
            | Self::GrowingCuckoo(_)
            | Self::CountingCuckoo(_)
            | Self::WindowCuckoo(_)
            | Self::Excepting(_) => false,
        };
        by_walk || self.scheme() != HashScheme::Caller
    }

    /// Whether keys can be looked up and inserted by their hash: the bits are not those of another system, which hashes in its own way.
    pub fn takes_hashes(&self) -> bool {
        match self {
            Self::Classic(filter) => filter.scheme().is_native(),
            Self::Counting(filter) => filter.scheme().is_native(),
            Self::Excepting(filter) => filter.base().takes_hashes(),
            Self::Bloom(_)
            | Self::Growing(_)
            | Self::Window(_)
            | Self::Cuckoo(_)
            | Self::Fuse(_)
            | Self::Ribbon(_)
            | Self::Retouched(_)
            | Self::GrowingCuckoo(_)
            | Self::CountingCuckoo(_)
            | Self::WindowCuckoo(_) => true,
        }
    }

    /// The hash of a key. Every filter of the same scheme accepts it.
    ///
    /// # Panics
    /// On filters for the caller's own hashes, as all methods that take key bytes.
    pub fn hash(&self, key: impl Key) -> KeyHash {
        self.scheme().hash(key)
    }

    /// `false` is certain: the key was never inserted (or, in a window filter, not within the window). `true` is probable.
    ///
    /// # Panics
    /// On filters for the caller's own hashes.
    pub fn contains(&self, key: impl Key) -> bool {
        each!(self, filter => filter.contains(key), window => filter.contains(key, filter.newest()))
    }

    /// `contains` for a hash of this filter's scheme.
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        each!(self, filter => filter.contains_hash(hash), window => filter.contains_hash(hash, filter.newest()))
    }

    /// `contains` for many keys.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length; on filters for the caller's own hashes.
    pub fn contains_each(&self, keys: &[impl Key], found: &mut [bool]) {
        each!(self, filter => filter.contains_each(keys, found), window => filter.contains_each(keys, filter.newest(), found));
    }

    /// `contains_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        each!(self, filter => filter.contains_hashes(hashes, found), window => filter.contains_hashes(hashes, filter.newest(), found));
    }

    /// `Ok(true)`: the key was definitely new. `Ok(false)`: the key, or one that the filter cannot distinguish from it, was
    /// inserted before. Kinds that support [`remove`](Self::remove) count it once more, so that every insert can be undone
    /// without losing keys that look the same.
    ///
    /// # Errors
    /// If the filter is full, or its kind is static. The filter is then unchanged.
    ///
    /// # Panics
    /// On filters for the caller's own hashes.
    pub fn try_insert(&mut self, key: impl Key) -> Result<bool, OperationError> {
        match self {
            // Uses the key's bytes, because the scheme may be that of another system.
            Self::Classic(filter) => Ok(filter.insert(key)),
            Self::Counting(filter) => Ok(filter.insert(key)),
            Self::Bloom(_)
            | Self::Growing(_)
            | Self::Window(_)
            | Self::Cuckoo(_)
            | Self::Fuse(_)
            | Self::Ribbon(_)
            | Self::Retouched(_)
            | Self::GrowingCuckoo(_)
            | Self::CountingCuckoo(_)
            | Self::WindowCuckoo(_)
            | Self::Excepting(_) => {
                let hash = self.hash(key);
                self.try_insert_hash(hash)
            }
        }
    }

    /// `try_insert` for a hash of this filter's scheme.
    ///
    /// # Errors
    /// As [`AnyFilter::try_insert`].
    pub fn try_insert_hash(&mut self, hash: KeyHash) -> Result<bool, OperationError> {
        match self {
            Self::Bloom(filter) => Ok(filter.insert_hash(hash)),
            Self::Classic(filter) => Ok(filter.insert_hash(hash)),
            Self::Counting(filter) => Ok(filter.insert_hash(hash)),
            Self::Growing(filter) => Ok(filter.insert_hash(hash)),
            Self::Window(filter) => Ok(filter.insert_hash(hash, filter.newest())),
            Self::Cuckoo(filter) => filter.try_insert_hash(hash).map_err(OperationError::Full),
            Self::Retouched(filter) => Ok(filter.insert_hash(hash)),
            Self::GrowingCuckoo(filter) => {
                filter.try_insert_hash(hash).map_err(OperationError::Full)
            }
            Self::CountingCuckoo(filter) => {
                filter.try_insert_hash(hash).map_err(OperationError::Full)
            }
            Self::WindowCuckoo(filter) => filter
                .try_insert_hash(hash, filter.newest())
                .map_err(OperationError::Full),
            Self::Excepting(filter) => filter.try_insert_hash(hash),
            Self::Fuse(_) | Self::Ribbon(_) => Err(self.unsupported(Operation::Insert)),
        }
    }

    /// `Ok(true)`: one insert of the key is undone. `Ok(false)`: the key was definitely absent, and nothing changed. Only remove
    /// keys that were inserted: removing a false positive removes another key.
    ///
    /// # Errors
    /// If the kind does not support it, or a counter of the key is saturated. The filter is then unchanged.
    ///
    /// # Panics
    /// On filters for the caller's own hashes.
    pub fn remove(&mut self, key: impl Key) -> Result<bool, OperationError> {
        match self {
            Self::Counting(filter) => filter.remove(key).map_err(OperationError::Saturated),
            Self::Cuckoo(filter) => Ok(filter.remove(key)),
            Self::GrowingCuckoo(filter) => Ok(filter.remove(key)),
            Self::CountingCuckoo(filter) => Ok(filter.remove(key)),
            Self::Bloom(_)
            | Self::Classic(_)
            | Self::Growing(_)
            | Self::Window(_)
            | Self::Fuse(_)
            | Self::Ribbon(_)
            | Self::Retouched(_)
            | Self::WindowCuckoo(_)
            | Self::Excepting(_) => Err(self.unsupported(Operation::Remove)),
        }
    }

    /// Merges another filter of the same kind, shape and scheme into this one.
    ///
    /// # Errors
    /// If the kind does not support it, or the filters differ in shape or scheme. The filter is then unchanged.
    pub fn union_with(&mut self, other: &Self) -> Result<(), OperationError> {
        match (&mut *self, other) {
            (Self::Bloom(ours), Self::Bloom(theirs)) => ours.union_with(theirs),
            (Self::Classic(ours), Self::Classic(theirs)) => ours.union_with(theirs),
            (Self::Counting(ours), Self::Counting(theirs)) => ours.union_with(theirs),
            (Self::Growing(ours), Self::Growing(theirs)) => ours.union_with(theirs),
            (Self::GrowingCuckoo(ours), Self::GrowingCuckoo(theirs)) => ours.union_with(theirs),
            (Self::CountingCuckoo(ours), Self::CountingCuckoo(theirs)) => ours.union_with(theirs),
            (ours, theirs) if ours.kind() == theirs.kind() => {
                return Err(self.unsupported(Operation::Union));
            }
            (ours, theirs) => {
                return Err(OperationError::Kinds {
                    ours: ours.kind(),
                    theirs: theirs.kind(),
                });
            }
        }
        .map_err(OperationError::Mismatch)
    }

    /// Removes all keys.
    ///
    /// # Errors
    /// If the kind is static.
    pub fn clear(&mut self) -> Result<(), OperationError> {
        match self {
            Self::Bloom(filter) => filter.clear(),
            Self::Classic(filter) => filter.clear(),
            Self::Counting(filter) => filter.clear(),
            Self::Growing(filter) => filter.clear(),
            Self::Window(filter) => filter.clear(),
            Self::Cuckoo(filter) => filter.clear(),
            Self::Retouched(filter) => filter.clear(),
            Self::GrowingCuckoo(filter) => filter.clear(),
            Self::CountingCuckoo(filter) => filter.clear(),
            Self::WindowCuckoo(filter) => filter.clear(),
            Self::Fuse(_) | Self::Ribbon(_) | Self::Excepting(_) => {
                return Err(self.unsupported(Operation::Clear));
            }
        }
        Ok(())
    }

    fn wrong_kind(&self, expected: &'static str) -> WrongKind {
        WrongKind {
            expected,
            found: self.kind(),
            has_exceptions: self.excepting().is_some(),
        }
    }

    fn unsupported(&self, operation: Operation) -> OperationError {
        OperationError::Unsupported {
            kind: self.kind(),
            has_exceptions: self.excepting().is_some(),
            operation,
        }
    }

    /// What the filter is, how full it is and which rate it has now. Reads the whole filter.
    pub fn stats(&self) -> Stats {
        each!(self, filter => filter.stats(), window => filter.stats(filter.newest()))
    }

    /// What the keys are, if that was set.
    pub fn key_type(&self) -> Option<KeyType> {
        each!(self, filter => filter.key_type(), window => filter.key_type())
    }

    /// Sets what the keys are. It is saved with the filter; lookups do not depend on it.
    pub fn set_key_type(&mut self, key_type: Option<KeyType>) {
        each!(self, filter => filter.set_key_type(key_type), window => filter.set_key_type(key_type));
    }

    /// The same filter, with this key type.
    #[must_use]
    pub fn with_key_type(mut self, key_type: KeyType) -> Self {
        self.set_key_type(Some(key_type));
        self
    }

    /// The hash scheme.
    pub fn scheme(&self) -> HashScheme {
        match self {
            Self::Bloom(filter) => filter.scheme(),
            Self::Classic(filter) => filter.hash_scheme(),
            Self::Counting(filter) => filter.hash_scheme(),
            Self::Growing(filter) => filter.scheme(),
            Self::Window(filter) => filter.scheme(),
            Self::Cuckoo(filter) => filter.scheme(),
            Self::Fuse(filter) => filter.scheme(),
            Self::Ribbon(filter) => filter.scheme(),
            Self::Retouched(filter) => filter.hash_scheme(),
            Self::GrowingCuckoo(filter) => filter.scheme(),
            Self::CountingCuckoo(filter) => filter.scheme(),
            Self::WindowCuckoo(filter) => filter.scheme(),
            Self::Excepting(filter) => filter.scheme(),
        }
    }
}

macro_rules! from {
    ($($filter:ident => $kind:ident),*) => {
        $(impl From<$filter> for AnyFilter {
            fn from(filter: $filter) -> Self {
                Self::$kind(filter)
            }
        }

        impl TryFrom<AnyFilter> for $filter {
            type Error = WrongKind;

            fn try_from(filter: AnyFilter) -> Result<Self, WrongKind> {
                match filter {
                    AnyFilter::$kind(filter) => Ok(filter),
                    other => Err(other.wrong_kind(stringify!($filter))),
                }
            }
        })*
    };
}

from! {
    Bloom => Bloom, ClassicBloom => Classic, CountingBloom => Counting, GrowingBloom => Growing, WindowBloom => Window,
    Cuckoo => Cuckoo, Fuse => Fuse, Ribbon => Ribbon, Retouched => Retouched, GrowingCuckoo => GrowingCuckoo,
    CountingCuckoo => CountingCuckoo, WindowCuckoo => WindowCuckoo
}

impl TryFrom<AnyFilter> for Excepting<AnyFilter> {
    type Error = WrongKind;

    fn try_from(filter: AnyFilter) -> Result<Self, WrongKind> {
        match filter {
            AnyFilter::Excepting(filter) => Ok(*filter),
            other => Err(other.wrong_kind("filter with exceptions")),
        }
    }
}

#[cfg(target_has_atomic = "64")]
impl TryFrom<AnyFilter> for SharedBloom {
    type Error = WrongKind;

    fn try_from(filter: AnyFilter) -> Result<Self, WrongKind> {
        Bloom::try_from(filter).map(Self::from_bloom)
    }
}

#[cfg(target_has_atomic = "64")]
impl From<SharedBloom> for AnyFilter {
    fn from(filter: SharedBloom) -> Self {
        filter.freeze().into()
    }
}

impl From<Excepting<Self>> for AnyFilter {
    fn from(filter: Excepting<Self>) -> Self {
        Self::Excepting(Box::new(filter))
    }
}
