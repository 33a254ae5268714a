//! Hashes many keys, a few hundred at a time, for `contains_each` and `extend`.

use super::HashScheme;
use crate::{Key, KeyHash};

/// How many keys are hashed before they are looked up: enough to amortise the start of a batch, and few enough for a core's L1
/// cache.
const CHUNK: usize = 512;

impl HashScheme {
    /// Passes the hashes of all keys to `take`, a few hundred at a time.
    ///
    /// # Panics
    /// For the caller's own hashes.
    pub(crate) fn hash_in_chunks<K: Key>(
        &self,
        keys: impl IntoIterator<Item = K>,
        mut take: impl FnMut(&[KeyHash]),
    ) {
        let mut hashes = [KeyHash::from_u64(0); CHUNK];
        let mut keys = keys.into_iter();
        loop {
            let mut count = 0;
            for (hash, key) in hashes.iter_mut().zip(&mut keys) {
                *hash = self.hash(&key);
                count += 1;
            }
            if count == 0 {
                return;
            }
            take(&hashes[..count]);
        }
    }

    /// Passes the hashes of `keys` to `look_up`, with their places in `found`.
    ///
    /// # Panics
    /// If `keys` and `found` differ in length; for the caller's own hashes.
    pub(crate) fn look_up_in_chunks<K: Key>(
        &self,
        keys: &[K],
        found: &mut [bool],
        mut look_up: impl FnMut(&[KeyHash], &mut [bool]),
    ) {
        assert_eq!(
            keys.len(),
            found.len(),
            "one place in `found` for every key"
        );
        let mut hashes = [KeyHash::from_u64(0); CHUNK];
        for (keys, found) in keys.chunks(CHUNK).zip(found.chunks_mut(CHUNK)) {
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = self.hash(key);
            }
            look_up(&hashes[..keys.len()], found);
        }
    }
}
