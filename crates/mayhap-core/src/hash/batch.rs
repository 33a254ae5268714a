//! Hashes many keys, a few hundred at a time, for `contains_each` and `extend`.

use super::{HashScheme, no_hash_function, sip13, xxh3};
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
            let count = self.hash_each(&mut keys, &mut hashes);
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
            self.hash_each(keys, &mut hashes);
            look_up(&hashes[..keys.len()], found);
        }
    }

    /// Hashes as many keys as there are places in `hashes`, or all if there are fewer, and returns how many these were. For batches of
    /// keys that are not in a slice: pass the hashes to `contains_hashes` or `insert_hashes`.
    ///
    /// # Panics
    /// For the caller's own hashes.
    // The scheme is matched once. Inside of the loop, the compiler does not always inline the hash function, and a text of 36 bytes took
    // 1.3 times as long.
    #[inline(always)]
    pub fn hash_each<K: Key>(
        &self,
        keys: impl IntoIterator<Item = K>,
        hashes: &mut [KeyHash],
    ) -> usize {
        let origin = self.origin();
        let mut count = 0;
        let mut pairs = hashes.iter_mut().zip(keys);
        match self {
            Self::Caller => {
                if pairs.next().is_some() {
                    no_hash_function();
                }
            }
            Self::Xxh3 => pairs.for_each(|(hash, key)| {
                *hash = KeyHash::new(key.with_bytes(xxh3::hash), origin);
                count += 1;
            }),
            Self::Sip13(secret) => pairs.for_each(|(hash, key)| {
                *hash = KeyHash::new(key.with_bytes(|key| sip13::hash(secret, key)), origin);
                count += 1;
            }),
        }
        count
    }
}
