//! `FuseTable`: cells and walks that are known to fit together, so that questions need not check where they look.

use super::ask::Questions;
use super::prefetch::prefetch;
use crate::probe::fuse::{Walk, fingerprint, shard};
use crate::store::Cell;
use alloc::vec::Vec;

/// The cells of a `Fuse`. Always: every walk ends inside the cells.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct FuseTable<C> {
    /// One for every shard; none when there are no keys.
    walks: Vec<Walk>,
    cells: Vec<C>,
}

/// What a key's answer depends on.
#[derive(Clone, Copy)]
pub(crate) struct Question<C> {
    cells: [usize; 3],
    fingerprint: C,
}

impl<C: Cell> FuseTable<C> {
    pub(crate) fn new(walks: Vec<Walk>, cells: Vec<C>) -> Self {
        let inside = |walk: &Walk| walk.end() <= cells.len() as u64;
        assert!(walks.iter().all(inside), "every walk ends inside the cells");
        Self { walks, cells }
    }
}

impl<C: Cell> Questions for FuseTable<C> {
    type Question = Question<C>;

    fn size_bytes(&self) -> u64 {
        (size_of_val(self.cells.as_slice()) + size_of_val(self.walks.as_slice())) as u64
    }

    #[inline(always)]
    fn question(&self, hash: u64) -> Option<Question<C>> {
        // Most filters have one shard: 3.3 instead of 4.5 ns for a key in cache.
        let walk = match self.walks.as_slice() {
            [walk] => walk,
            walks => walks.get(shard(hash, walks.len() as u64) as usize)?,
        };
        let mixed = walk.mix(hash);
        Some(Question {
            cells: walk.cells_of(mixed),
            fingerprint: fingerprint(mixed),
        })
    }

    #[inline(always)]
    unsafe fn answer(&self, question: &Question<C>) -> bool {
        // SAFETY: `cells_of` gives cells below the end of its walk (a test in probe/fuse.rs), and `new` has checked that.
        let [a, b, c] = question
            .cells
            .map(|cell| unsafe { *self.cells.get_unchecked(cell) });
        a ^ b ^ c == question.fingerprint
    }

    #[inline(always)]
    fn prefetch(&self, question: &Question<C>) {
        for cell in question.cells {
            prefetch(self.cells.as_ptr().wrapping_add(cell));
        }
    }
}
