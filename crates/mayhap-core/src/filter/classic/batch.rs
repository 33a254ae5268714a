//! Batches: the memory accesses of dozens of keys overlap.

use super::ClassicBloom;
use crate::key::for_each_chunk;
use crate::probe::prefetched;
use crate::simd::{CACHED_BYTES, prefetch};
use crate::store::Storage;
use crate::{Key, KeyHash};

impl ClassicBloom {
    /// Inserts many hashes. Faster than one by one if the filter is larger than a core's cache.
    pub fn insert_hashes(&mut self, hashes: &[KeyHash]) {
        if !self.scheme.is_native() {
            for &hash in hashes {
                self.insert_hash(hash);
            }
            return;
        }
        self.assert_origins(hashes);
        let walk = self.walk;
        if self.size_bytes() <= CACHED_BYTES {
            for hash in hashes {
                self.bits.set_all(walk.probes(hash.to_u64()));
            }
            return;
        }
        prefetched::visit_each(
            walk.len(),
            hashes,
            &mut self.bits,
            |hash| walk.probes(hash.to_u64()),
            |bits, at| prefetch(bits.word_ptr(at)),
            |bits, positions| bits.set_all(positions.iter().copied()),
        );
    }

    /// Inserts many keys in order and reports for each whether it was definitely new. Faster than one by one if the filter is
    /// larger than a core's cache.
    ///
    /// # Panics
    /// If `keys` and `is_new` differ in length; on a filter created by [`ClassicBloom::for_hashes`].
    pub fn insert_each_reporting_new(&mut self, keys: &[impl Key], is_new: &mut [bool]) {
        assert_eq!(
            keys.len(),
            is_new.len(),
            "one place in `is_new` for every key"
        );
        if self.size_bytes() <= CACHED_BYTES || self.scheme.is_native() {
            for (key, is_new) in keys.iter().zip(is_new) {
                *is_new = self.insert(key);
            }
            return;
        }
        let walk = self.walk;
        for_each_chunk(keys, |range, keys| {
            prefetched::insert_each(
                walk.len(),
                keys,
                &mut is_new[range],
                &mut self.bits,
                |key| walk.foreign_probes(key),
            );
        });
    }
}

impl<S: Storage> ClassicBloom<S> {
    /// `contains` for many keys. Faster, because the memory accesses of dozens of keys overlap.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length; on a filter created by [`ClassicBloom::for_hashes`].
    pub fn contains_each(&self, keys: &[impl Key], found: &mut [bool]) {
        assert_eq!(
            keys.len(),
            found.len(),
            "one place in `found` for every key"
        );
        if !self.scheme.is_native() {
            for_each_chunk(keys, |range, keys| {
                self.contains_each_bytes(keys, &mut found[range]);
            });
            return;
        }
        let look_up = |hashes: &[KeyHash], found: &mut [bool]| self.contains_hashes(hashes, found);
        self.hash_scheme.look_up_in_chunks(keys, found, look_up);
    }

    /// `contains_each` for bytes, which the schemes of other systems read without a copy.
    pub(crate) fn contains_each_bytes(&self, keys: &[&[u8]], found: &mut [bool]) {
        if self.scheme.is_native() {
            return self.contains_each(keys, found);
        }
        assert_eq!(
            keys.len(),
            found.len(),
            "one place in `found` for every key"
        );
        if self.size_bytes() <= CACHED_BYTES {
            for (key, found) in keys.iter().zip(found) {
                *found = self.contains(key);
            }
            return;
        }
        prefetched::contains_each(
            self.walk.len(),
            keys,
            found,
            |key| self.walk.foreign_probes(key),
            |at| prefetch(self.bits.word_ptr(at)),
            |at| self.bits.has(at),
        );
    }

    /// `contains_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        assert_eq!(
            hashes.len(),
            found.len(),
            "one place in `found` for every hash"
        );
        if !self.scheme.is_native() {
            for (&hash, found) in hashes.iter().zip(found) {
                *found = self.contains_hash(hash);
            }
            return;
        }
        self.assert_origins(hashes);
        let walk = self.walk;
        let positions = |hash: &KeyHash| walk.probes(hash.to_u64());
        let has = |at| self.bits.has(at);
        if self.size_bytes() <= CACHED_BYTES {
            return prefetched::contains_each_cached(hashes, found, positions, has);
        }
        let prefetch = |at| prefetch(self.bits.word_ptr(at));
        let look_up = if self.size_bytes() <= prefetched::SHARED_CACHE_BYTES {
            prefetched::contains_each_near
        } else {
            prefetched::contains_each
        };
        look_up(walk.len(), hashes, found, positions, prefetch, has);
    }

    fn assert_origins(&self, hashes: &[KeyHash]) {
        if cfg!(debug_assertions) {
            for hash in hashes {
                hash.assert_origin(self.origin);
            }
        }
    }
}
