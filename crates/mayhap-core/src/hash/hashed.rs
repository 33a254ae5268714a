//! `Hashed`: what static filters are built from: keys, or hashes that the caller already has.

use crate::{HashScheme, Key, KeyHash};
use alloc::vec::Vec;

/// An item that a static filter can be built from: any [`Key`], or a [`KeyHash`].
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Fuse, KeyHash};
/// let by_key = Fuse::build(["a", "b"], 0.01)?;
/// let by_hash = Fuse::build([KeyHash::mix(1), KeyHash::mix(2)], 0.01)?;
/// assert!(by_key.contains("a") && by_hash.contains_hash(KeyHash::mix(2)));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a key nor a `KeyHash`",
    note = "pass bytes or strings, tuples of keys, or implement `mayhap::Key`"
)]
pub trait Hashed {
    /// The default scheme: XXH3 for keys, the caller's own for hashes.
    const SCHEME: HashScheme;

    /// The item's hash under a scheme. A `KeyHash` is its own hash; debug builds panic if it comes from another scheme.
    ///
    /// # Panics
    /// For keys with [`HashScheme::Caller`], which has no hash function.
    fn hash_with(&self, scheme: &HashScheme) -> KeyHash;

    /// A copy of the key's bytes, if the item is a key: to show it in an error, and to distinguish equal keys from equal hashes.
    fn key_bytes(&self) -> Option<Vec<u8>> {
        None
    }
}

impl<K: Key> Hashed for K {
    const SCHEME: HashScheme = HashScheme::Xxh3;

    #[inline]
    fn hash_with(&self, scheme: &HashScheme) -> KeyHash {
        scheme.hash(self)
    }

    fn key_bytes(&self) -> Option<Vec<u8>> {
        Some(self.with_bytes(<[u8]>::to_vec))
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

impl Hashed for &KeyHash {
    const SCHEME: HashScheme = HashScheme::Caller;

    #[inline]
    fn hash_with(&self, scheme: &HashScheme) -> KeyHash {
        (*self).hash_with(scheme)
    }
}
