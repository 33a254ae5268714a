//! `Hashed`: what static filters are built from: key bytes, or hashes that the caller already has.

use crate::{HashScheme, KeyHash};

/// An item that a static filter can be built from: key bytes (everything that is `AsRef<[u8]>`), or a [`KeyHash`].
pub trait Hashed {
    /// The default scheme: XXH3 for bytes, the caller's own for hashes.
    const SCHEME: HashScheme;

    /// The item's hash under a scheme. A `KeyHash` is its own hash; debug builds panic if it comes from another scheme.
    ///
    /// # Panics
    /// For bytes with [`HashScheme::Caller`], which has no hash function.
    fn hash_with(&self, scheme: &HashScheme) -> KeyHash;

    /// The item's bytes, if it has any: to show it in an error, and to distinguish equal keys from equal hashes.
    fn key_bytes(&self) -> Option<&[u8]> {
        None
    }
}

impl<K: AsRef<[u8]>> Hashed for K {
    const SCHEME: HashScheme = HashScheme::Xxh3;

    #[inline]
    fn hash_with(&self, scheme: &HashScheme) -> KeyHash {
        scheme.hash(self.as_ref())
    }

    fn key_bytes(&self) -> Option<&[u8]> {
        Some(self.as_ref())
    }
}

impl Hashed for KeyHash {
    const SCHEME: HashScheme = HashScheme::Caller;

    #[inline]
    fn hash_with(&self, scheme: &HashScheme) -> KeyHash {
        if cfg!(debug_assertions) {
            self.assert_origin(scheme.origin());
        }
        *self
    }
}
