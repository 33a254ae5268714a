//! Batch lookups of static filters, written once over their tables.

use super::prefetch::CACHED_BYTES;
use crate::KeyHash;

/// How many keys ahead a batch prefetches.
const AHEAD: usize = 32;

/// A table whose lookups have two steps: find the memory to read, then read it.
pub(crate) trait StaticLookup {
    /// What a lookup reads and compares.
    type Probe: Copy;

    /// The first step. `None` only if there are no keys.
    fn locate(&self, hash: u64) -> Option<Self::Probe>;

    /// Prefetches the memory of a probe.
    fn prefetch(&self, probe: &Self::Probe);

    /// The second step; `false` is certain.
    ///
    /// # Safety
    /// The probe must come from this table.
    unsafe fn check(&self, probe: &Self::Probe) -> bool;

    fn size_bytes(&self) -> u64;

    /// `false` is certain.
    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        // Not in a closure, which would not have the instruction set of a kernel.
        match self.locate(hash) {
            // SAFETY: the probe comes from this table.
            Some(probe) => unsafe { self.check(&probe) },
            None => false,
        }
    }

    /// `contains` for many hashes; `found` must have the same length.
    #[inline(always)]
    fn contains_each(&self, hashes: &[KeyHash], found: &mut [bool]) {
        contains_each_portably(self, hashes, found);
    }
}

/// [`StaticLookup::contains_each`] on every CPU; inlined, so that a kernel can compile it for its instruction set.
#[inline(always)]
pub(super) fn contains_each_portably<T: StaticLookup + ?Sized>(
    table: &T,
    hashes: &[KeyHash],
    found: &mut [bool],
) {
    assert_eq!(
        hashes.len(),
        found.len(),
        "one place in `found` for every hash"
    );
    let first = hashes.first().and_then(|hash| table.locate(hash.to_u64()));
    let (Some(first), true) = (first, table.size_bytes() > CACHED_BYTES) else {
        for (hash, found) in hashes.iter().zip(found) {
            *found = table.contains(hash.to_u64());
        }
        return;
    };
    // A ring of probes whose memory is being loaded.
    let probe = |hash: &KeyHash| {
        let probe = table.locate(hash.to_u64()).unwrap_or(first);
        table.prefetch(&probe);
        probe
    };
    let near = hashes.len().min(AHEAD);
    let mut ring = [first; AHEAD];
    for (slot, hash) in ring.iter_mut().zip(hashes) {
        *slot = probe(hash);
    }
    let (early, late) = found.split_at_mut(hashes.len() - near);
    for ((at, hash), found) in hashes[near..].iter().enumerate().zip(early) {
        let slot = &mut ring[at % AHEAD];
        // SAFETY: all probes in the ring come from this table.
        *found = unsafe { table.check(slot) };
        *slot = probe(hash);
    }
    for (at, found) in (hashes.len() - near..).zip(late) {
        // SAFETY: as above.
        *found = unsafe { table.check(&ring[at % AHEAD]) };
    }
}
