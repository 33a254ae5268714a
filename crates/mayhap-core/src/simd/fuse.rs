//! `FuseTable`: cells and a walk that are known to fit together, so that lookups need no checks.

use super::fuse_batch::{self, BlockLookup};
use super::prefetch::prefetch;
use super::static_lookup::{StaticLookup, contains_each_portably};
use crate::KeyHash;
use crate::plan::FuseShardShape;
use crate::probe::fuse::{FuseWalk, fingerprint};
use crate::store::{FuseCell, Owned, Storage};

/// The cells of a `Fuse`. Invariant: the walk covers exactly these cells, and there are some.
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
        assert!(walk.shards > 0, "a lookup has cells to read");
        assert_eq!(
            walk.cells(),
            cells.len() as u64,
            "the walk ends with the cells"
        );
        Self { walk, cells }
    }

    pub(crate) fn shape_and_seed(&self) -> (FuseShardShape, u64) {
        self.walk.shape_and_seed()
    }

    pub(crate) fn cells(&self) -> &[C] {
        &self.cells
    }

    /// The first and the last byte of each cell of a hash.
    pub(crate) fn offsets(&self, hash: u64) -> Option<[[u64; 2]; 3]> {
        let probe = self.locate(hash)?;
        let size = size_of::<C>();
        Some(
            probe
                .cells
                .map(|cell| [cell * size, cell * size + size - 1].map(|byte| byte as u64)),
        )
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
        let (start, mixed) = self.walk.locate(hash);
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
            self.prefetch_position(cell as u64);
        }
    }

    fn contains_each(&self, hashes: &[KeyHash], found: &mut [bool]) {
        if !fuse_batch::contains_each(self, hashes, found) {
            contains_each_portably(self, hashes, found);
        }
    }
}

impl<C: FuseCell, S: Storage> BlockLookup for FuseTable<C, S> {
    fn walk(&self) -> &FuseWalk {
        &self.walk
    }

    fn scale(&self) -> u32 {
        1
    }

    #[inline(always)]
    fn prefetch_position(&self, position: u64) {
        prefetch(self.cells.as_ptr().wrapping_add(position as usize));
    }

    #[inline(always)]
    unsafe fn check_positions(&self, positions: [u64; 3], fingerprint: u32) -> bool {
        let probe = FuseProbe {
            cells: positions.map(|cell| cell as usize),
            fingerprint: C::truncated(fingerprint.into()),
        };
        // SAFETY: the caller's promise.
        unsafe { self.check(&probe) }
    }
}

/// The table of a `Fuse` without keys. The others need not check for that.
#[derive(Clone, PartialEq)]
pub(crate) struct EmptyFuseTable(pub(crate) FuseWalk);

impl EmptyFuseTable {
    pub(crate) fn shape_and_seed(&self) -> (FuseShardShape, u64) {
        self.0.shape_and_seed()
    }

    /// There are no cells.
    #[expect(clippy::unused_self, reason = "as the other tables")]
    pub(crate) fn offsets(&self, _hash: u64) -> Option<[[u64; 2]; 3]> {
        None
    }
}

impl StaticLookup for EmptyFuseTable {
    type Probe = ();

    fn locate(&self, _hash: u64) -> Option<()> {
        None
    }

    fn prefetch(&self, (): &()) {}

    unsafe fn check(&self, (): &()) -> bool {
        false
    }

    fn size_bytes(&self) -> u64 {
        0
    }
}
