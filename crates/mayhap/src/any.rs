//! `AnyFilter`: a filter whose kind is known only at run time, as code that opens files or serves requests has it.
//!
//! A closed enum: when a kind is added, the compiler shows every place that must know it.

use crate::{
    Bloom, ClassicBloom, CountingBloom, Cuckoo, Full, GrowingBloom, HashScheme, WindowBloom,
};
use core::fmt;

/// The kinds of filter, with the names that the command line and files use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// [`Bloom`].
    Bloom,
    /// [`GrowingBloom`].
    Growing,
    /// [`WindowBloom`].
    Window,
    /// [`Cuckoo`].
    Cuckoo,
    /// [`ClassicBloom`].
    Classic,
    /// [`CountingBloom`].
    Counting,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::Bloom,
        Self::Growing,
        Self::Window,
        Self::Cuckoo,
        Self::Classic,
        Self::Counting,
    ];

    /// `bloom`, `growing`, `window`, `cuckoo`, `classic`, `counting`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bloom => "bloom",
            Self::Growing => "growing",
            Self::Window => "window",
            Self::Cuckoo => "cuckoo",
            Self::Classic => "classic",
            Self::Counting => "counting",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A filter of any kind. A [`WindowBloom`] is asked and filled at the newest moment it has seen.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum AnyFilter {
    /// Insert-only.
    Bloom(Bloom),
    /// Insert-only, any number of keys.
    Growing(GrowingBloom),
    /// Forgets after a while.
    Window(WindowBloom),
    /// Keys can be taken out again.
    Cuckoo(Cuckoo),
    /// Flat bits, for layouts that others read.
    Classic(ClassicBloom),
    /// Keys can be taken out again, counted and merged.
    Counting(CountingBloom),
}

/// What a filter is and how it is doing. `Display` tells a person.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stats {
    /// The kind.
    pub kind: Kind,
    /// Keys that there is room for.
    pub capacity: u64,
    /// About how many keys are in.
    pub estimated_keys: u64,
    /// The rate that was asked for.
    pub false_positive_rate: f64,
    /// The rate now, from what is stored.
    pub estimated_rate: f64,
    /// Whether there are more keys than the rate was promised for.
    pub is_over_capacity: bool,
    /// Bytes of memory.
    pub size_bytes: u64,
}

impl AnyFilter {
    /// The kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Bloom(_) => Kind::Bloom,
            Self::Growing(_) => Kind::Growing,
            Self::Window(_) => Kind::Window,
            Self::Cuckoo(_) => Kind::Cuckoo,
            Self::Classic(_) => Kind::Classic,
            Self::Counting(_) => Kind::Counting,
        }
    }

    /// `false` is certain: the key was never inserted (or, in a window, not lately). `true` is mayhap.
    ///
    /// # Panics
    /// On filters for the caller's own hashes, as all methods that take key bytes.
    pub fn contains(&self, key: impl AsRef<[u8]>) -> bool {
        match self {
            Self::Bloom(filter) => filter.contains(key),
            Self::Growing(filter) => filter.contains(key),
            Self::Window(filter) => filter.contains(key, filter.newest()),
            Self::Cuckoo(filter) => filter.contains(key),
            Self::Classic(filter) => filter.contains(key),
            Self::Counting(filter) => filter.contains(key),
        }
    }

    /// `contains` for many keys.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length.
    pub fn contains_each(&self, keys: &[impl AsRef<[u8]>], found: &mut [bool]) {
        match self {
            Self::Bloom(filter) => filter.contains_each(keys, found),
            Self::Growing(filter) => filter.contains_each(keys, found),
            Self::Cuckoo(filter) => filter.contains_each(keys, found),
            Self::Classic(filter) => filter.contains_each(keys, found),
            Self::Counting(filter) => filter.contains_each(keys, found),
            Self::Window(filter) => {
                assert_eq!(
                    keys.len(),
                    found.len(),
                    "one place in `found` for every key"
                );
                for (found, key) in found.iter_mut().zip(keys) {
                    *found = filter.contains(key, filter.newest());
                }
            }
        }
    }

    /// `Ok(true)`: the key was surely new. `Ok(false)`: it, or one that looks like it, was in before; a [`Cuckoo`] does not keep
    /// another copy here.
    ///
    /// # Errors
    /// When a kind of limited room has none left; nothing is changed then.
    pub fn try_insert(&mut self, key: impl AsRef<[u8]>) -> Result<bool, Full> {
        match self {
            Self::Bloom(filter) => Ok(filter.insert(key)),
            Self::Growing(filter) => Ok(filter.insert(key)),
            Self::Window(filter) => Ok(filter.insert(key, filter.newest())),
            Self::Cuckoo(filter) => filter.insert_if_absent(key),
            Self::Classic(filter) => Ok(filter.insert(key)),
            Self::Counting(filter) => Ok(filter.insert(key)),
        }
    }

    /// Forgets all keys.
    pub fn clear(&mut self) {
        match self {
            Self::Bloom(filter) => filter.clear(),
            Self::Growing(filter) => filter.clear(),
            Self::Window(filter) => filter.clear(),
            Self::Cuckoo(filter) => filter.clear(),
            Self::Classic(filter) => filter.clear(),
            Self::Counting(filter) => filter.clear(),
        }
    }

    /// What the filter is and how it is doing. Reads the whole filter.
    pub fn stats(&self) -> Stats {
        // The kinds have the same methods and no trait in common; this is the one place that goes through all of them.
        macro_rules! stats {
            ($filter:ident $(, $now:expr)?) => {
                Stats {
                    kind: self.kind(),
                    capacity: $filter.capacity(),
                    estimated_keys: $filter.estimated_keys($($now)?),
                    false_positive_rate: $filter.false_positive_rate(),
                    estimated_rate: $filter.estimated_rate($($now)?),
                    is_over_capacity: $filter.is_over_capacity($($now)?),
                    size_bytes: $filter.size_bytes(),
                }
            };
        }
        match self {
            Self::Bloom(filter) => stats!(filter),
            Self::Growing(filter) => stats!(filter),
            Self::Window(filter) => stats!(filter, filter.newest()),
            Self::Cuckoo(filter) => stats!(filter),
            Self::Classic(filter) => stats!(filter),
            Self::Counting(filter) => stats!(filter),
        }
    }

    /// How keys are hashed.
    pub fn scheme(&self) -> HashScheme {
        match self {
            Self::Bloom(filter) => filter.scheme(),
            Self::Growing(filter) => filter.scheme(),
            Self::Window(filter) => filter.scheme(),
            Self::Cuckoo(filter) => filter.scheme(),
            Self::Classic(filter) => filter.hash_scheme(),
            Self::Counting(filter) => filter.hash_scheme(),
        }
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: about {} keys of {}, false-positive rate {:.3e} now and {:.3e} asked, {} bytes{}",
            self.kind,
            self.estimated_keys,
            self.capacity,
            self.estimated_rate,
            self.false_positive_rate,
            self.size_bytes,
            if self.is_over_capacity {
                ", over capacity"
            } else {
                ""
            }
        )
    }
}

impl From<Bloom> for AnyFilter {
    fn from(filter: Bloom) -> Self {
        Self::Bloom(filter)
    }
}

impl From<GrowingBloom> for AnyFilter {
    fn from(filter: GrowingBloom) -> Self {
        Self::Growing(filter)
    }
}

impl From<WindowBloom> for AnyFilter {
    fn from(filter: WindowBloom) -> Self {
        Self::Window(filter)
    }
}

impl From<Cuckoo> for AnyFilter {
    fn from(filter: Cuckoo) -> Self {
        Self::Cuckoo(filter)
    }
}

impl From<ClassicBloom> for AnyFilter {
    fn from(filter: ClassicBloom) -> Self {
        Self::Classic(filter)
    }
}

impl From<CountingBloom> for AnyFilter {
    fn from(filter: CountingBloom) -> Self {
        Self::Counting(filter)
    }
}
