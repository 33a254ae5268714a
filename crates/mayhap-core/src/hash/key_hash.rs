//! `KeyHash`: all that a filter sees of a key.
//!
//! 64 bits are enough for every filter here, and 128 would cost 22 to 43 % more to compute; docs/guide/hashing.md has the
//! arithmetic and the measurements.

use super::CALLER_ORIGIN;
use core::fmt;

/// The hash of one key under one [`HashScheme`](crate::HashScheme): compute it once, use it with several filters.
///
/// Debug builds store the scheme and panic if a hash is used with a filter of another one; in release builds a hash is 8 bytes.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Bloom, Cuckoo, KeyHash};
///
/// // One hash for two filters of the same scheme.
/// let mut seen = Bloom::new(1000, 0.01)?;
/// let mut blocked = Cuckoo::new(1000, 0.01)?;
/// let hash = seen.hash("https://a.example/");
/// seen.insert_hash(hash);
/// assert!(!blocked.contains_hash(hash));
///
/// // A filter for the caller's own hashes; plain integers are mixed.
/// let mut ids = Bloom::for_hashes(1000, 0.01)?;
/// ids.insert_hash(KeyHash::mix(42));
/// assert!(ids.contains_hash(KeyHash::mix(42)));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyHash {
    bits: u64,
    #[cfg(debug_assertions)]
    origin: u64,
}

impl KeyHash {
    /// A hash that the caller computed, for filters created with `for_hashes` (scheme 0). All 64 bits must be well mixed.
    ///
    /// A counter, an id or a pointer is not a hash: with consecutive integers a filter planned for 1 % gave 18.7 % wrong answers.
    /// Use [`KeyHash::mix`] for those. Debug builds panic when 64 hashes in a row are inserted whose upper half is zero.
    #[inline]
    pub const fn from_u64(hash: u64) -> Self {
        Self::new(hash, CALLER_ORIGIN)
    }

    /// The hash of an integer that is not well mixed, such as a counter or an id, for filters created with `for_hashes`
    /// (scheme 0). Different integers have different hashes. The function is frozen: the finalizer of MurmurHash3 (Appleby).
    ///
    /// It keeps no secret: whoever chooses the integers can choose collisions. Filters created with `keyed` hash untrusted keys.
    #[inline]
    pub const fn mix(integer: u64) -> Self {
        let mut bits = integer;
        bits = (bits ^ bits >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        bits = (bits ^ bits >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        Self::from_u64(bits ^ bits >> 33)
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

    /// The same for hashes that are inserted; also panics, in debug builds, if they are obviously not hashes. Static filters do
    /// not need it: they mix hashes with a seed.
    #[inline]
    pub(crate) fn assert_mixed(self, origin: u64) {
        self.assert_origin(origin);
        #[cfg(debug_assertions)]
        if origin == CALLER_ORIGIN {
            unmixed::count(self.bits);
        }
    }
}

/// Detects integers that were passed as hashes. One hash in 2^32 has an upper half of zeros by chance, and 64 in a row never have.
#[cfg(debug_assertions)]
mod unmixed {
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

    static IN_A_ROW: AtomicU32 = AtomicU32::new(0);
    const MAX_IN_A_ROW: u32 = 64;

    pub(super) fn count(bits: u64) {
        if bits >> 32 != 0 {
            // Usually it is zero already, and threads do not contend for it.
            if IN_A_ROW.load(Relaxed) != 0 {
                IN_A_ROW.store(0, Relaxed);
            }
            return;
        }
        let in_a_row = IN_A_ROW.load(Relaxed) + 1;
        // Starts again, so that a test that expects the panic does not affect the next.
        IN_A_ROW.store(in_a_row % MAX_IN_A_ROW, Relaxed);
        assert!(
            in_a_row < MAX_IN_A_ROW,
            "KeyHash::from_u64 got {MAX_IN_A_ROW} integers in a row that are no hashes: use KeyHash::mix, or insert the integers as keys"
        );
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyHash({:#018x})", self.bits)
    }
}
