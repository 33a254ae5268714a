//! `FuseTable`: cells and walks that are known to fit together, so that questions need not check where they look.

use super::ask::Questions;
use super::prefetch::prefetch;
use crate::probe::fuse::{Walk, fingerprint};
use crate::store::{Cell, Owned, Storage};

/// The cells of a `Fuse`. Always: the walk ends with the cells.
#[derive(Clone)]
pub(crate) struct FuseTable<C: Cell, S: Storage = Owned> {
    walk: Walk,
    cells: S::Of<C>,
}

/// What a key's answer depends on.
#[derive(Clone, Copy)]
pub(crate) struct Question<C> {
    cells: [usize; 3],
    fingerprint: C,
}

impl<C: Cell, S: Storage> FuseTable<C, S> {
    pub(crate) fn new(walk: Walk, cells: S::Of<C>) -> Self {
        assert_eq!(
            walk.cells(),
            cells.len() as u64,
            "the walk ends with the cells"
        );
        Self { walk, cells }
    }

    pub(crate) fn walk(&self) -> &Walk {
        &self.walk
    }

    pub(crate) fn cells(&self) -> &[C] {
        &self.cells
    }

    /// Where the cells of a hash begin, in bytes; `None` when there are none.
    pub(crate) fn offsets(&self, hash: u64) -> Option<[u64; 3]> {
        let question = self.question(hash)?;
        Some(question.cells.map(|cell| (cell * size_of::<C>()) as u64))
    }
}

impl<C: Cell, S: Storage> PartialEq for FuseTable<C, S> {
    fn eq(&self, other: &Self) -> bool {
        self.walk == other.walk && self.cells() == other.cells()
    }
}

impl<C: Cell, S: Storage> Questions for FuseTable<C, S> {
    type Question = Question<C>;

    fn size_bytes(&self) -> u64 {
        size_of_val(self.cells()) as u64
    }

    #[inline(always)]
    fn question(&self, hash: u64) -> Option<Question<C>> {
        let (start, mixed) = self.walk.place(hash)?;
        Some(Question {
            cells: self.walk.cells_of(start, mixed),
            fingerprint: fingerprint(mixed),
        })
    }

    #[inline(always)]
    unsafe fn answer(&self, question: &Question<C>) -> bool {
        // SAFETY: `cells_of` gives cells of its shard (a test in probe/fuse.rs), and `new` has checked that all shards are there.
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
