//! `FuseTable`: cells and a walk that are known to fit together, so that lookups need no checks.

use super::prefetch::prefetch;
use super::static_lookup::StaticLookup;
use crate::probe::fuse::{FuseWalk, fingerprint};
use crate::store::{FuseCell, Owned, Storage};

/// The cells of a `Fuse`. Invariant: the walk covers exactly these cells.
#[derive(Clone)]
pub(crate) struct FuseTable<C: FuseCell, S: Storage = Owned> {
    walk: FuseWalk,
    cells: S::Buffer<C>,
}

/// What a lookup reads and compares.
#[derive(Clone, Copy)]
pub(crate) struct FuseProbe<C> {
    cells: [usize; 3],
    fingerprint: C,
}

impl<C: FuseCell, S: Storage> FuseTable<C, S> {
    pub(crate) fn new(walk: FuseWalk, cells: S::Buffer<C>) -> Self {
        assert_eq!(
            walk.cells(),
            cells.len() as u64,
            "the walk ends with the cells"
        );
        Self { walk, cells }
    }

    pub(crate) fn walk(&self) -> &FuseWalk {
        &self.walk
    }

    pub(crate) fn cells(&self) -> &[C] {
        &self.cells
    }

    /// The byte offsets of the cells of a hash; `None` without cells.
    pub(crate) fn offsets(&self, hash: u64) -> Option<[u64; 3]> {
        let probe = self.locate(hash)?;
        Some(probe.cells.map(|cell| (cell * size_of::<C>()) as u64))
    }
}

impl<C: FuseCell, S: Storage> PartialEq for FuseTable<C, S> {
    fn eq(&self, other: &Self) -> bool {
        self.walk == other.walk && self.cells() == other.cells()
    }
}

impl<C: FuseCell, S: Storage> StaticLookup for FuseTable<C, S> {
    type Probe = FuseProbe<C>;

    fn size_bytes(&self) -> u64 {
        size_of_val(self.cells()) as u64
    }

    #[inline(always)]
    fn locate(&self, hash: u64) -> Option<FuseProbe<C>> {
        let (start, mixed) = self.walk.locate(hash)?;
        Some(FuseProbe {
            cells: self.walk.cells_of(start, mixed),
            fingerprint: fingerprint(mixed),
        })
    }

    #[inline(always)]
    unsafe fn check(&self, probe: &FuseProbe<C>) -> bool {
        // SAFETY: `cells_of` returns cells of its shard (a test in probe/fuse.rs), and `new` has checked that all shards are
        // there.
        let [a, b, c] = probe
            .cells
            .map(|cell| unsafe { *self.cells.get_unchecked(cell) });
        a ^ b ^ c == probe.fingerprint
    }

    #[inline(always)]
    fn prefetch(&self, probe: &FuseProbe<C>) {
        for cell in probe.cells {
            prefetch(self.cells.as_ptr().wrapping_add(cell));
        }
    }
}
