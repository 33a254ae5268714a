//! The loops over many keys of static filters, written once over their tables.

use super::prefetch::CACHED_BYTES;
use crate::KeyHash;

/// How many keys ahead a batch prefetches what it will look at.
const AHEAD: usize = 32;

/// A table that knows where to look for a hash before it looks.
pub(crate) trait StaticLookup {
    /// What a key's answer depends on.
    type Probe: Copy;

    /// `None` only when there are no keys.
    fn locate(&self, hash: u64) -> Option<Self::Probe>;

    /// Prefetches it.
    fn prefetch(&self, question: &Self::Probe);

    /// `false` is certain.
    ///
    /// # Safety
    /// The question must come from this table.
    unsafe fn check(&self, question: &Self::Probe) -> bool;

    fn size_bytes(&self) -> u64;

    /// `false` is certain.
    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        // SAFETY: the question comes from this table.
        self.locate(hash)
            .is_some_and(|question| unsafe { self.check(&question) })
    }

    /// `contains` for many hashes; `found` is as long.
    fn contains_each(&self, hashes: &[KeyHash], found: &mut [bool]) {
        assert_eq!(
            hashes.len(),
            found.len(),
            "one place in `found` for every hash"
        );
        let first = hashes.first().and_then(|hash| self.locate(hash.to_u64()));
        let (Some(first), true) = (first, self.size_bytes() > CACHED_BYTES) else {
            for (hash, found) in hashes.iter().zip(found) {
                *found = self.contains(hash.to_u64());
            }
            return;
        };
        // A ring of questions whose answers are on their way.
        let question = |hash: &KeyHash| {
            let question = self.locate(hash.to_u64()).unwrap_or(first);
            self.prefetch(&question);
            question
        };
        let near = hashes.len().min(AHEAD);
        let mut ring = [first; AHEAD];
        for (place, hash) in ring.iter_mut().zip(hashes) {
            *place = question(hash);
        }
        let (early, late) = found.split_at_mut(hashes.len() - near);
        for ((at, hash), found) in hashes[near..].iter().enumerate().zip(early) {
            let place = &mut ring[at % AHEAD];
            // SAFETY: all questions in the ring come from this table.
            *found = unsafe { self.check(place) };
            *place = question(hash);
        }
        for (at, found) in (hashes.len() - near..).zip(late) {
            // SAFETY: as above.
            *found = unsafe { self.check(&ring[at % AHEAD]) };
        }
    }
}
