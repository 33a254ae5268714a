//! What exceptions can be put on: filters that keep their keys.

use super::ExceptError;
use crate::{
    AnyFilter, Bloom, ClassicBloom, CountingBloom, Cuckoo, Fuse, GrowingBloom, HashScheme, KeyHash,
    Kind, Refused, Ribbon, Scheme,
};

/// A filter that exceptions can be put on, with [`Excepting`](crate::Excepting).
///
/// Not a [`WindowBloom`](crate::WindowBloom), whose keys expire, so that nobody knows which positives there are; nor a
/// [`Retouched`](crate::Retouched), which loses keys; nor a filter with exceptions: give all of them at once. An
/// [`AnyFilter`] that holds one of these is refused when the exceptions are put on.
pub trait Base: sealed::Ask {}

/// A [`Base`] that takes keys in after it was made.
pub trait InsertingBase: Base + sealed::Put {}

/// An [`InsertingBase`] that always has room.
pub trait NeverFull: InsertingBase {}

pub(super) mod sealed {
    use super::{ExceptError, HashScheme, KeyHash, Refused};

    /// What all kinds answer.
    pub trait Ask {
        fn check_base(&self) -> Result<(), ExceptError> {
            Ok(())
        }
        fn scheme(&self) -> HashScheme;
        fn contains_hash(&self, hash: KeyHash) -> bool;
        fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]);
        fn capacity(&self) -> u64;
        fn estimated_keys(&self) -> u64;
        fn false_positive_rate(&self) -> f64;
        fn estimated_rate(&self) -> f64;
        fn is_over_capacity(&self) -> bool;
        fn keys_until_full(&self) -> u64;
        fn size_bytes(&self) -> u64;
    }

    /// What those that can be filled do.
    pub trait Put {
        fn try_insert_hash(&mut self, hash: KeyHash) -> Result<(), Refused>;
    }
}

use sealed::{Ask, Put};

macro_rules! base {
    ($filter:ident, $scheme:ident, $until_full:expr) => {
        base!($filter, $scheme, $until_full, |_| Ok(()));
    };
    ($filter:ident, $scheme:ident, $until_full:expr, $check:expr) => {
        impl Base for $filter {}
        impl Ask for $filter {
            fn check_base(&self) -> Result<(), ExceptError> {
                let check: fn(&Self) -> Result<(), ExceptError> = $check;
                check(self)
            }
            fn scheme(&self) -> HashScheme {
                self.$scheme()
            }
            #[inline]
            fn contains_hash(&self, hash: KeyHash) -> bool {
                self.contains_hash(hash)
            }
            fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
                self.contains_hashes(hashes, found);
            }
            fn capacity(&self) -> u64 {
                self.capacity()
            }
            fn estimated_keys(&self) -> u64 {
                self.estimated_keys()
            }
            fn false_positive_rate(&self) -> f64 {
                self.false_positive_rate()
            }
            fn estimated_rate(&self) -> f64 {
                self.estimated_rate()
            }
            fn is_over_capacity(&self) -> bool {
                self.is_over_capacity()
            }
            fn keys_until_full(&self) -> u64 {
                $until_full(self)
            }
            fn size_bytes(&self) -> u64 {
                self.size_bytes()
            }
        }
    };
}

base!(Bloom, scheme, Self::keys_until_full);
// The schemes of other systems have no hash that a layer could know a key by.
base!(ClassicBloom, hash_scheme, Self::keys_until_full, |filter| {
    native(filter.scheme(), Kind::Classic)
});
base!(
    CountingBloom,
    hash_scheme,
    Self::keys_until_full,
    |filter| { native(filter.scheme(), Kind::Counting) }
);
base!(Cuckoo, scheme, Self::keys_until_full);
base!(GrowingBloom, scheme, |_| u64::MAX);
base!(Fuse, scheme, |_| 0);
base!(Ribbon, scheme, |_| 0);

fn native(scheme: Scheme, kind: Kind) -> Result<(), ExceptError> {
    if scheme.is_native() {
        Ok(())
    } else {
        Err(ExceptError::Base { kind })
    }
}

macro_rules! never_full {
    ($($filter:ident)*) => {
        $(impl InsertingBase for $filter {}
        impl NeverFull for $filter {}
        impl Put for $filter {
            fn try_insert_hash(&mut self, hash: KeyHash) -> Result<(), Refused> {
                self.insert_hash(hash);
                Ok(())
            }
        })*
    };
}

never_full!(Bloom ClassicBloom CountingBloom GrowingBloom);

impl InsertingBase for Cuckoo {}
impl Put for Cuckoo {
    fn try_insert_hash(&mut self, hash: KeyHash) -> Result<(), Refused> {
        self.try_insert_hash(hash).map(drop).map_err(Refused::Full)
    }
}

/// The filter inside, if exceptions can be put on it.
fn inside(filter: &AnyFilter) -> Option<&dyn Ask> {
    match filter {
        AnyFilter::Bloom(filter) => Some(filter),
        AnyFilter::Classic(filter) => Some(filter),
        AnyFilter::Counting(filter) => Some(filter),
        AnyFilter::Growing(filter) => Some(filter),
        AnyFilter::Cuckoo(filter) => Some(filter),
        AnyFilter::Fuse(filter) => Some(filter),
        AnyFilter::Ribbon(filter) => Some(filter),
        AnyFilter::Window(_) | AnyFilter::Retouched(_) | AnyFilter::Excepting(_) => None,
    }
}

impl Base for AnyFilter {}
impl Ask for AnyFilter {
    fn check_base(&self) -> Result<(), ExceptError> {
        match inside(self) {
            Some(filter) => filter.check_base(),
            None => Err(ExceptError::Base { kind: self.kind() }),
        }
    }

    fn scheme(&self) -> HashScheme {
        self.scheme()
    }

    fn contains_hash(&self, hash: KeyHash) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        self.contains_hashes(hashes, found);
    }

    // What is refused as a base is never asked the rest.

    fn capacity(&self) -> u64 {
        inside(self).map_or(0, Ask::capacity)
    }

    fn estimated_keys(&self) -> u64 {
        inside(self).map_or(0, Ask::estimated_keys)
    }

    fn false_positive_rate(&self) -> f64 {
        inside(self).map_or(1.0, Ask::false_positive_rate)
    }

    fn estimated_rate(&self) -> f64 {
        inside(self).map_or(1.0, Ask::estimated_rate)
    }

    fn is_over_capacity(&self) -> bool {
        inside(self).is_some_and(Ask::is_over_capacity)
    }

    fn keys_until_full(&self) -> u64 {
        inside(self).map_or(0, Ask::keys_until_full)
    }

    fn size_bytes(&self) -> u64 {
        inside(self).map_or(0, Ask::size_bytes)
    }
}

impl InsertingBase for AnyFilter {}
impl Put for AnyFilter {
    fn try_insert_hash(&mut self, hash: KeyHash) -> Result<(), Refused> {
        self.try_insert_hash(hash).map(drop)
    }
}
