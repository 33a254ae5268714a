//! The kinds of filter, and what each of them supports.

use crate::UnknownKind;
use core::fmt;
use core::str::FromStr;

/// The kinds of filter, with the names that the command line and files use.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::Kind;
/// assert_eq!("cuckoo".parse(), Ok(Kind::Cuckoo));
/// assert_eq!(Kind::Cuckoo.to_string(), "cuckoo");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Kind {
    /// [`Bloom`](crate::Bloom).
    #[default]
    Bloom,
    /// [`ClassicBloom`](crate::ClassicBloom).
    Classic,
    /// [`CountingBloom`](crate::CountingBloom).
    Counting,
    /// [`GrowingBloom`](crate::GrowingBloom).
    Growing,
    /// [`WindowBloom`](crate::WindowBloom).
    Window,
    /// [`Cuckoo`](crate::Cuckoo).
    Cuckoo,
    /// [`Fuse`](crate::Fuse).
    Fuse,
    /// [`Ribbon`](crate::Ribbon).
    Ribbon,
    /// [`Retouched`](crate::Retouched).
    Retouched,
    /// [`GrowingCuckoo`](crate::GrowingCuckoo).
    GrowingCuckoo,
    /// [`CountingCuckoo`](crate::CountingCuckoo).
    CountingCuckoo,
    /// [`WindowCuckoo`](crate::WindowCuckoo).
    WindowCuckoo,
}

/// Operations that only some kinds support.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Kind, Operation};
/// assert!(Kind::Cuckoo.can(Operation::Remove));
/// assert!(!Kind::Bloom.can(Operation::Remove));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Insert a key.
    Insert,
    /// Remove a key.
    Remove,
    /// Merge another filter.
    Union,
    /// Remove all keys.
    Clear,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 12] = [
        Self::Bloom,
        Self::Classic,
        Self::Counting,
        Self::Growing,
        Self::Window,
        Self::Cuckoo,
        Self::Fuse,
        Self::Ribbon,
        Self::Retouched,
        Self::GrowingCuckoo,
        Self::CountingCuckoo,
        Self::WindowCuckoo,
    ];

    /// `bloom`, `classic`, `counting`, `growing`, `window`, `cuckoo`, `fuse`, `ribbon`, `retouched`, `growing-cuckoo`,
    /// `counting-cuckoo`, `window-cuckoo`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bloom => "bloom",
            Self::Classic => "classic",
            Self::Counting => "counting",
            Self::Growing => "growing",
            Self::Window => "window",
            Self::Cuckoo => "cuckoo",
            Self::Fuse => "fuse",
            Self::Ribbon => "ribbon",
            Self::Retouched => "retouched",
            Self::GrowingCuckoo => "growing-cuckoo",
            Self::CountingCuckoo => "counting-cuckoo",
            Self::WindowCuckoo => "window-cuckoo",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether filters of this kind support an operation.
    pub const fn can(self, operation: Operation) -> bool {
        match operation {
            Operation::Insert | Operation::Clear => !matches!(self, Self::Fuse | Self::Ribbon),
            Operation::Remove => {
                matches!(
                    self,
                    Self::Counting | Self::Cuckoo | Self::GrowingCuckoo | Self::CountingCuckoo
                )
            }
            Operation::Union => matches!(
                self,
                Self::Bloom
                    | Self::Classic
                    | Self::Counting
                    | Self::Growing
                    | Self::GrowingCuckoo
                    | Self::CountingCuckoo
            ),
        }
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        Self::from_name(name).ok_or(UnknownKind)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Insert => "insert keys",
            Self::Remove => "remove keys",
            Self::Union => "be merged",
            Self::Clear => "be cleared",
        })
    }
}
