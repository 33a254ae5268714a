//! `KeyHash`: all that a filter sees of a key.
//!
//! A key is bytes. Rust's `Hash` is never used: it guarantees nothing across types, machines or releases, and filters outlive
//! programs. 64 bits are enough for every filter here, and 128 would cost 22 to 43 % more to compute; docs/guide/hashing.md has
//! the arithmetic and the measurements.

use core::fmt;

/// The hash of one key under one [`HashScheme`](crate::HashScheme): compute it once, use it with several filters.
///
/// Debug builds store the scheme and panic if a hash is used with a filter of another one; in release builds a hash is 8 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyHash {
    bits: u64,
    #[cfg(debug_assertions)]
    origin: u64,
}

impl KeyHash {
    /// A hash that the caller computed, for filters created with `for_hashes` (scheme 0). All 64 bits must be well mixed: a
    /// counter or a pointer is not a hash.
    #[inline]
    pub const fn from_u64(hash: u64) -> Self {
        Self::new(hash, crate::hash::CALLER_ORIGIN)
    }

    /// The 64 bits, for storing or logging; `from_u64` turns them into a hash of scheme 0.
    #[inline]
    pub const fn to_u64(self) -> u64 {
        self.bits
    }

    #[inline]
    pub(crate) const fn new(bits: u64, origin: u64) -> Self {
        #[cfg(not(debug_assertions))]
        let _ = origin;
        Self {
            bits,
            #[cfg(debug_assertions)]
            origin,
        }
    }

    /// Panics, in debug builds, if this hash belongs to another scheme or secret key.
    #[inline]
    pub(crate) fn assert_origin(self, origin: u64) {
        #[cfg(debug_assertions)]
        assert!(
            self.origin == origin,
            "this KeyHash belongs to another hash scheme or secret key than the filter: hash keys with the filter's own `hash`"
        );
        #[cfg(not(debug_assertions))]
        let _ = origin;
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyHash({:#018x})", self.bits)
    }
}
