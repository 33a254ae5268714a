//! The filters that can have exceptions: those that keep their keys.

use super::ExceptingError;
use crate::{
    AnyFilter, Bloom, ClassicBloom, CountingBloom, CountingCuckoo, Cuckoo, Fuse, GrowingBloom,
    GrowingCuckoo, HashScheme, KeyHash, KeyType, Kind, OperationError, Ribbon, Scheme, Stats,
};

/// A filter that can have exceptions, with [`Excepting`](crate::Excepting).
///
/// Not a [`WindowBloom`](crate::WindowBloom) or [`WindowCuckoo`](crate::WindowCuckoo), whose keys expire, so that the positives are not known; nor a
/// [`Retouched`](crate::Retouched), which loses keys; nor a filter that already has exceptions: pass all of them at once. An
/// [`AnyFilter`] that holds one of these is rejected when the exceptions are added.
pub trait ExceptingBase: sealed::BaseLookup {}

/// An [`ExceptingBase`] that accepts keys after it was built.
pub trait InsertableBase: ExceptingBase + sealed::BaseInsert {}

/// An [`InsertableBase`] that is never full.
pub trait NeverFullBase: InsertableBase {}

pub(super) mod sealed {
    use super::{ExceptingError, HashScheme, KeyHash, KeyType, OperationError, Stats};

    /// What `Excepting` reads from every base.
    pub trait BaseLookup {
        fn check_base(&self) -> Result<(), ExceptingError> {
            Ok(())
        }
        fn scheme(&self) -> HashScheme;
        fn key_type(&self) -> Option<KeyType>;
        fn set_key_type(&mut self, key_type: Option<KeyType>);
        fn contains_hash(&self, hash: KeyHash) -> bool;
        fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]);
        fn capacity(&self) -> u64;
        fn estimated_keys(&self) -> u64;
        fn false_positive_rate(&self) -> f64;
        fn estimated_rate(&self) -> f64;
        fn is_over_capacity(&self) -> bool;
        fn keys_until_full(&self) -> u64;
        fn size_bytes(&self) -> u64;
        fn stats(&self) -> Stats;
    }

    /// Inserting into those bases that support it.
    pub trait BaseInsert {
        fn try_insert_hash(&mut self, hash: KeyHash) -> Result<(), OperationError>;
    }
}

use sealed::{BaseInsert, BaseLookup};

macro_rules! base {
    ($filter:ident, $scheme:ident) => {
        base!($filter, $scheme, |_| Ok(()));
    };
    ($filter:ident, $scheme:ident, $check:expr) => {
        impl ExceptingBase for $filter {}
        impl BaseLookup for $filter {
            fn check_base(&self) -> Result<(), ExceptingError> {
                let check: fn(&Self) -> Result<(), ExceptingError> = $check;
                check(self)
            }
            fn scheme(&self) -> HashScheme {
                self.$scheme()
            }
            fn key_type(&self) -> Option<KeyType> {
                self.key_type()
            }
            fn set_key_type(&mut self, key_type: Option<KeyType>) {
                self.set_key_type(key_type);
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
                self.keys_until_full()
            }
            fn size_bytes(&self) -> u64 {
                self.size_bytes()
            }
            fn stats(&self) -> Stats {
                self.stats()
            }
        }
    };
}

base!(Bloom, scheme);
// The schemes of other systems have no 64-bit hash that a layer could store.
base!(ClassicBloom, hash_scheme, |filter| {
    check_native(filter.scheme(), Kind::Classic)
});
base!(CountingBloom, hash_scheme, |filter| {
    check_native(filter.scheme(), Kind::Counting)
});
base!(Cuckoo, scheme);
base!(GrowingBloom, scheme);
base!(GrowingCuckoo, scheme);
base!(CountingCuckoo, scheme);
base!(Fuse, scheme);
base!(Ribbon, scheme);

fn check_native(scheme: Scheme, kind: Kind) -> Result<(), ExceptingError> {
    if scheme.is_native() {
        Ok(())
    } else {
        Err(ExceptingError::UnsupportedBase { kind })
    }
}

macro_rules! never_full {
    ($($filter:ident)*) => {
        $(impl InsertableBase for $filter {}
        impl NeverFullBase for $filter {}
        impl BaseInsert for $filter {
            fn try_insert_hash(&mut self, hash: KeyHash) -> Result<(), OperationError> {
                self.insert_hash(hash);
                Ok(())
            }
        })*
    };
}

never_full!(Bloom ClassicBloom CountingBloom GrowingBloom);

macro_rules! may_be_full {
    ($($filter:ident)*) => {
        $(impl InsertableBase for $filter {}
        impl BaseInsert for $filter {
            fn try_insert_hash(&mut self, hash: KeyHash) -> Result<(), OperationError> {
                self.try_insert_hash(hash)
                    .map(drop)
                    .map_err(OperationError::Full)
            }
        })*
    };
}

may_be_full!(Cuckoo GrowingCuckoo CountingCuckoo);

/// The filter inside, if it can have exceptions.
fn supported_base(filter: &AnyFilter) -> Option<&dyn BaseLookup> {
    match filter {
        AnyFilter::Bloom(filter) => Some(filter),
        AnyFilter::Classic(filter) => Some(filter),
        AnyFilter::Counting(filter) => Some(filter),
        AnyFilter::Growing(filter) => Some(filter),
        AnyFilter::Cuckoo(filter) => Some(filter),
        AnyFilter::Fuse(filter) => Some(filter),
        AnyFilter::Ribbon(filter) => Some(filter),
        AnyFilter::GrowingCuckoo(filter) => Some(filter),
        AnyFilter::CountingCuckoo(filter) => Some(filter),
        AnyFilter::Window(_)
        | AnyFilter::WindowCuckoo(_)
        | AnyFilter::Retouched(_)
        | AnyFilter::Excepting(_) => None,
    }
}

impl ExceptingBase for AnyFilter {}
impl BaseLookup for AnyFilter {
    fn check_base(&self) -> Result<(), ExceptingError> {
        match supported_base(self) {
            Some(filter) => filter.check_base(),
            None => Err(ExceptingError::UnsupportedBase { kind: self.kind() }),
        }
    }

    fn scheme(&self) -> HashScheme {
        self.scheme()
    }

    fn key_type(&self) -> Option<KeyType> {
        self.key_type()
    }

    fn set_key_type(&mut self, key_type: Option<KeyType>) {
        self.set_key_type(key_type);
    }

    fn contains_hash(&self, hash: KeyHash) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        self.contains_hashes(hashes, found);
    }

    // The methods below are never called for a filter that `check_base` rejects.

    fn capacity(&self) -> u64 {
        supported_base(self).map_or(0, BaseLookup::capacity)
    }

    fn estimated_keys(&self) -> u64 {
        supported_base(self).map_or(0, BaseLookup::estimated_keys)
    }

    fn false_positive_rate(&self) -> f64 {
        supported_base(self).map_or(1.0, BaseLookup::false_positive_rate)
    }

    fn estimated_rate(&self) -> f64 {
        supported_base(self).map_or(1.0, BaseLookup::estimated_rate)
    }

    fn is_over_capacity(&self) -> bool {
        supported_base(self).is_some_and(BaseLookup::is_over_capacity)
    }

    fn keys_until_full(&self) -> u64 {
        supported_base(self).map_or(0, BaseLookup::keys_until_full)
    }

    fn size_bytes(&self) -> u64 {
        supported_base(self).map_or(0, BaseLookup::size_bytes)
    }

    fn stats(&self) -> Stats {
        self.stats()
    }
}

impl InsertableBase for AnyFilter {}
impl BaseInsert for AnyFilter {
    fn try_insert_hash(&mut self, hash: KeyHash) -> Result<(), OperationError> {
        self.try_insert_hash(hash).map(drop)
    }
}
