//! `Filter` and `Insert`: what generic code needs. Concrete types have the same methods as inherent ones, for every [`Key`], so
//! that using one filter needs no trait.

use crate::filter::excepting::{ExceptingBase, InsertableBase};
use crate::filter::static_filter::{StaticFilter, StaticTable};
use crate::{
    AnyFilter, Bloom, ClassicBloom, CountingBloom, CountingCuckoo, Cuckoo, Excepting, Full,
    GrowingBloom, GrowingCuckoo, OperationError, Retouched, Stats, Storage, WindowBloom,
    WindowCuckoo,
};
use alloc::boxed::Box;

/// A filter of any kind, for reading. Object-safe.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Bloom, Cuckoo, Filter};
///
/// fn unseen<'k>(filter: &dyn Filter, keys: &[&'k str]) -> Vec<&'k str> {
///     keys.iter().copied().filter(|key| !filter.contains(key.as_bytes())).collect()
/// }
///
/// let mut cuckoo = Cuckoo::new(100, 0.001)?;
/// cuckoo.try_insert("a")?;
/// assert_eq!(unseen(&cuckoo, &["a", "b"]), ["b"]);
/// assert_eq!(unseen(&Bloom::new(100, 0.001)?, &["a", "b"]), ["a", "b"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Filter {
    /// `false` is certain: the key was never inserted. `true` is probable.
    ///
    /// # Panics
    /// On filters for the caller's own hashes, as all methods that take key bytes.
    fn contains(&self, key: &[u8]) -> bool;

    /// What the filter is, how full it is and which rate it has now. Reads the whole filter.
    fn stats(&self) -> Stats;

    /// `contains` for many keys.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length.
    fn contains_each(&self, keys: &[&[u8]], found: &mut [bool]) {
        assert_eq!(
            keys.len(),
            found.len(),
            "one place in `found` for every key"
        );
        for (key, found) in keys.iter().zip(found) {
            *found = self.contains(key);
        }
    }
}

/// A filter that keys can be inserted into. Object-safe.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Bloom, Cuckoo, Full, Insert};
///
/// fn fill(filter: &mut impl Insert, words: &str) -> Result<usize, Full> {
///     let mut new = 0;
///     for word in words.split_whitespace() {
///         new += usize::from(filter.try_insert(word.as_bytes())?);
///     }
///     Ok(new)
/// }
///
/// assert_eq!(fill(&mut Bloom::new(100, 0.001)?, "to be or not to be")?, 4);
/// assert_eq!(fill(&mut Cuckoo::new(100, 0.001)?, "to be or not to be")?, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Insert: Filter {
    /// `Ok(true)`: the key was definitely new. `Ok(false)`: the key, or one that the filter cannot distinguish from it, was
    /// inserted before.
    ///
    /// # Errors
    /// If there is no room for the key. The filter is then unchanged. Most kinds are never full.
    fn try_insert(&mut self, key: &[u8]) -> Result<bool, Full>;
}

macro_rules! read_side {
    ($([$($generics:tt)*] $filter:ty;)*) => {
        $(impl<$($generics)*> Filter for $filter {
            fn contains(&self, key: &[u8]) -> bool {
                self.contains(key)
            }

            fn stats(&self) -> Stats {
                self.stats()
            }

            fn contains_each(&self, keys: &[&[u8]], found: &mut [bool]) {
                self.contains_each(keys, found);
            }
        })*
    };
}

read_side! {
    [S: Storage] Bloom<S>;
    [] CountingBloom;
    [S: Storage] GrowingBloom<S>;
    [] Cuckoo;
    [] GrowingCuckoo;
    [] CountingCuckoo;
    [T: StaticTable] StaticFilter<T>;
    [] Retouched;
    [F: ExceptingBase] Excepting<F>;
    [] AnyFilter;
}

#[cfg(target_has_atomic = "64")]
read_side! { [] crate::SharedBloom; }

impl<S: Storage> Filter for ClassicBloom<S> {
    fn contains(&self, key: &[u8]) -> bool {
        self.contains(key)
    }

    fn stats(&self) -> Stats {
        self.stats()
    }

    // Bytes need not be copied.
    fn contains_each(&self, keys: &[&[u8]], found: &mut [bool]) {
        self.contains_each_bytes(keys, found);
    }
}

macro_rules! windows {
    ($($filter:ty),*) => {
        $(/// At the newest time that the filter has seen.
        impl Filter for $filter {
            fn contains(&self, key: &[u8]) -> bool {
                self.contains(key, self.newest())
            }

            fn stats(&self) -> Stats {
                self.stats(self.newest())
            }

            fn contains_each(&self, keys: &[&[u8]], found: &mut [bool]) {
                self.contains_each(keys, self.newest(), found);
            }
        })*
    };
}

windows!(WindowBloom, WindowCuckoo);

macro_rules! never_full {
    ($($filter:ty),*) => {
        $(impl Insert for $filter {
            fn try_insert(&mut self, key: &[u8]) -> Result<bool, Full> {
                Ok(self.insert(key))
            }
        })*
    };
}

never_full!(Bloom, ClassicBloom, CountingBloom, GrowingBloom, Retouched);

#[cfg(target_has_atomic = "64")]
never_full!(crate::SharedBloom);

macro_rules! may_be_full {
    ($($filter:ty),*) => {
        $(impl Insert for $filter {
            fn try_insert(&mut self, key: &[u8]) -> Result<bool, Full> {
                self.try_insert(key)
            }
        })*
    };
}

may_be_full!(Cuckoo, GrowingCuckoo, CountingCuckoo);

/// At the newest time that the filter has seen.
impl Insert for WindowBloom {
    fn try_insert(&mut self, key: &[u8]) -> Result<bool, Full> {
        Ok(self.insert(key, self.newest()))
    }
}

/// At the newest time that the filter has seen.
impl Insert for WindowCuckoo {
    fn try_insert(&mut self, key: &[u8]) -> Result<bool, Full> {
        self.try_insert(key, self.newest())
    }
}

impl<F: InsertableBase> Insert for Excepting<F> {
    fn try_insert(&mut self, key: &[u8]) -> Result<bool, Full> {
        self.try_insert(key).map_err(|error| full(&error))
    }
}

/// Static kinds return [`Full::Static`].
impl Insert for AnyFilter {
    fn try_insert(&mut self, key: &[u8]) -> Result<bool, Full> {
        self.try_insert(key).map_err(|error| full(&error))
    }
}

/// The reason why a key was not inserted.
fn full(error: &OperationError) -> Full {
    match *error {
        OperationError::Full(full) => full,
        OperationError::Unsupported { kind, .. } | OperationError::Kinds { ours: kind, .. } => {
            Full::Static { kind }
        }
        OperationError::Saturated(_) | OperationError::Mismatch(_) => {
            unreachable!("inserting neither removes nor merges")
        }
    }
}

macro_rules! by_reference {
    ($($pointer:ty),*) => {
        $(impl<F: Filter + ?Sized> Filter for $pointer {
            fn contains(&self, key: &[u8]) -> bool {
                (**self).contains(key)
            }

            fn stats(&self) -> Stats {
                (**self).stats()
            }

            fn contains_each(&self, keys: &[&[u8]], found: &mut [bool]) {
                (**self).contains_each(keys, found);
            }
        })*
    };
}

by_reference!(&F, &mut F, Box<F>);

impl<F: Insert + ?Sized> Insert for &mut F {
    fn try_insert(&mut self, key: &[u8]) -> Result<bool, Full> {
        (**self).try_insert(key)
    }
}

impl<F: Insert + ?Sized> Insert for Box<F> {
    fn try_insert(&mut self, key: &[u8]) -> Result<bool, Full> {
        (**self).try_insert(key)
    }
}
