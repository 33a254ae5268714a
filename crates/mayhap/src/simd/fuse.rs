//! `FuseTable`: cells and walks that are known to fit together, so that questions need not check where they look.

use super::prefetch::{CACHED_BYTES, prefetch};
use crate::KeyHash;
use crate::probe::fuse::{Walk, fingerprint, shard};
use crate::store::Cell;
use alloc::vec::Vec;

/// How many keys ahead a batch asks memory for cells.
const AHEAD: usize = 32;

/// The cells of a `Fuse`. Always: every walk ends inside the cells.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct FuseTable<C> {
    /// One for every shard; none when there are no keys.
    walks: Vec<Walk>,
    cells: Vec<C>,
}

/// What a key's answer depends on.
#[derive(Clone, Copy)]
struct Question<C> {
    cells: [usize; 3],
    fingerprint: C,
}

impl<C: Cell> FuseTable<C> {
    pub(crate) fn new(walks: Vec<Walk>, cells: Vec<C>) -> Self {
        let inside = |walk: &Walk| walk.end() <= cells.len() as u64;
        assert!(walks.iter().all(inside), "every walk ends inside the cells");
        Self { walks, cells }
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        (size_of_val(self.cells.as_slice()) + size_of_val(self.walks.as_slice())) as u64
    }

    /// `false` is certain.
    #[inline(always)]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        // SAFETY: the question comes from this table.
        self.question(hash)
            .is_some_and(|question| unsafe { self.answer(&question) })
    }

    /// `None` only when there are no keys.
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

    /// # Safety
    /// The question must come from this table.
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

    /// `contains` for many hashes; `found` is as long.
    pub(crate) fn contains_each(&self, hashes: &[KeyHash], found: &mut [bool]) {
        assert_eq!(
            hashes.len(),
            found.len(),
            "one place in `found` for every hash"
        );
        let first = hashes.first().and_then(|hash| self.question(hash.to_u64()));
        let (Some(first), true) = (first, self.size_bytes() > CACHED_BYTES) else {
            for (hash, found) in hashes.iter().zip(found) {
                *found = self.contains(hash.to_u64());
            }
            return;
        };
        // A ring of questions whose cells are on their way.
        let question = |hash: &KeyHash| {
            let question = self.question(hash.to_u64()).unwrap_or(first);
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
            *found = unsafe { self.answer(place) };
            *place = question(hash);
        }
        for (at, found) in (hashes.len() - near..).zip(late) {
            // SAFETY: as above.
            *found = unsafe { self.answer(&ring[at % AHEAD]) };
        }
    }
}
