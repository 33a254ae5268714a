//! The batch loops, written once; each kernel compiles them for its instruction set.
//!
//! A batch prefetches lines some keys ahead of processing them. The steps are traits with `#[inline(always)]` methods, not
//! closures: a closure does not inherit the instruction set of the surrounding function, and then every intrinsic is a call (45
//! ns per key instead of 2).

use super::prefetch::{Prefetch, prefetch};
use crate::KeyHash;
use crate::probe::blocked::{BlockedWalk, Pattern};
use crate::store::Line;
use core::marker::PhantomData;

/// How a kernel represents and uses the positions of one key. `row` is the key's row: 1 in every word that it uses.
pub(super) trait LineOps {
    /// A key's position in each of the eight words, in registers.
    type Positions: Copy;

    /// The positions: the six low bits of every byte of the hash.
    ///
    /// # Safety
    /// The CPU must have the kernel's instruction set. The same for all functions below.
    unsafe fn positions(hash: u64, pattern: &Pattern) -> Self::Positions;
    /// Whether the line has all bits of the key.
    unsafe fn covers(line: &Line, positions: Self::Positions, row: &Line) -> bool;
    /// Whether both lines have all bits of the key.
    unsafe fn covers_both(
        first: &Line,
        second: &Line,
        positions: Self::Positions,
        row: &Line,
    ) -> bool;
    /// Sets the bits of the key.
    unsafe fn set(line: &mut Line, positions: Self::Positions, row: &Line);
}

/// What a batch does for every hash.
trait BatchStep {
    /// Prefetches the lines of a hash.
    fn prefetch(&self, hash: u64);
    /// Processes a hash, the `at`th of the batch.
    ///
    /// # Safety
    /// `at` must be an index of the batch that this step was created for.
    unsafe fn process(&mut self, at: usize, hash: u64);
}

/// Prefetches `distance` hashes ahead of processing; not at all if that is 0.
///
/// # Safety
/// `step` must have been created for `hashes`.
#[inline(always)]
unsafe fn run_prefetched(mut step: impl BatchStep, hashes: &[KeyHash], distance: usize) {
    let (lead, rest) = hashes.split_at(distance.min(hashes.len()));
    for hash in lead {
        step.prefetch(hash.to_u64());
    }
    let overlap = if distance == 0 { 0 } else { rest.len() };
    for at in 0..overlap {
        step.prefetch(rest[at].to_u64());
        // SAFETY: overlap is at most the length of `hashes`.
        unsafe { step.process(at, hashes[at].to_u64()) };
    }
    for (at, hash) in hashes.iter().enumerate().skip(overlap) {
        // SAFETY: an index of `hashes`.
        unsafe { step.process(at, hash.to_u64()) };
    }
}

/// # Safety
/// The CPU must have `V`'s instruction set, `lines.len()` must be `walk.lines()`, and both slices must have the same length.
#[inline(always)]
pub(super) unsafe fn contains<V: LineOps>(
    lines: &[Line],
    walk: BlockedWalk,
    hashes: &[KeyHash],
    found: &mut [bool],
    prefetch: Prefetch,
) {
    debug_assert_eq!(lines.len() as u64, walk.lines());
    debug_assert_eq!(hashes.len(), found.len());
    let distance = prefetch.distance(size_of_val(lines));
    // SAFETY: the caller's promise; `found` has a place for each hash.
    unsafe {
        if walk.two_lines() {
            run_prefetched(
                ContainsStep::<V, true> {
                    lines,
                    walk,
                    found,
                    kernel: PhantomData,
                },
                hashes,
                distance,
            );
        } else {
            run_prefetched(
                ContainsStep::<V, false> {
                    lines,
                    walk,
                    found,
                    kernel: PhantomData,
                },
                hashes,
                distance,
            );
        }
    }
}

/// # Safety
/// The CPU must have `V`'s instruction set and `lines.len()` must be `walk.lines()`.
#[inline(always)]
pub(super) unsafe fn insert<V: LineOps>(
    lines: &mut [Line],
    walk: BlockedWalk,
    hashes: &[KeyHash],
    prefetch: Prefetch,
) {
    debug_assert_eq!(lines.len() as u64, walk.lines());
    let distance = prefetch.distance(size_of_val(lines));
    // SAFETY: the caller's promise.
    unsafe {
        if walk.two_lines() {
            run_prefetched(
                InsertStep::<V, true> {
                    lines,
                    walk,
                    kernel: PhantomData,
                },
                hashes,
                distance,
            );
        } else {
            run_prefetched(
                InsertStep::<V, false> {
                    lines,
                    walk,
                    kernel: PhantomData,
                },
                hashes,
                distance,
            );
        }
    }
}

struct ContainsStep<'a, V, const TWO: bool> {
    lines: &'a [Line],
    walk: BlockedWalk,
    found: &'a mut [bool],
    kernel: PhantomData<V>,
}

impl<V: LineOps, const TWO: bool> BatchStep for ContainsStep<'_, V, TWO> {
    #[inline(always)]
    fn prefetch(&self, hash: u64) {
        prefetch_lines::<TWO>(self.lines, &self.walk, hash);
    }

    #[inline(always)]
    unsafe fn process(&mut self, at: usize, hash: u64) {
        // SAFETY: the caller of `contains` has checked the CPU and the lengths; `first` and `second` are below walk.lines().
        unsafe {
            let positions = V::positions(hash, self.walk.pattern());
            let row = self.walk.row(hash);
            let first = self.lines.get_unchecked(self.walk.first(hash));
            *self.found.get_unchecked_mut(at) = if TWO {
                V::covers_both(
                    first,
                    self.lines.get_unchecked(self.walk.second(hash)),
                    positions,
                    row,
                )
            } else {
                V::covers(first, positions, row)
            };
        }
    }
}

struct InsertStep<'a, V, const TWO: bool> {
    lines: &'a mut [Line],
    walk: BlockedWalk,
    kernel: PhantomData<V>,
}

impl<V: LineOps, const TWO: bool> BatchStep for InsertStep<'_, V, TWO> {
    #[inline(always)]
    fn prefetch(&self, hash: u64) {
        prefetch_lines::<TWO>(self.lines, &self.walk, hash);
    }

    #[inline(always)]
    unsafe fn process(&mut self, _at: usize, hash: u64) {
        // SAFETY: the caller of `insert` has checked the CPU and the length; `first` and `second` are below walk.lines().
        unsafe {
            let positions = V::positions(hash, self.walk.pattern());
            let row = self.walk.row(hash);
            V::set(
                self.lines.get_unchecked_mut(self.walk.first(hash)),
                positions,
                row,
            );
            if TWO {
                V::set(
                    self.lines.get_unchecked_mut(self.walk.second(hash)),
                    positions,
                    row,
                );
            }
        }
    }
}

#[inline(always)]
fn prefetch_lines<const TWO: bool>(lines: &[Line], walk: &BlockedWalk, hash: u64) {
    prefetch(lines.as_ptr().wrapping_add(walk.first(hash)));
    if TWO {
        prefetch(lines.as_ptr().wrapping_add(walk.second(hash)));
    }
}

/// Reads a word of every line that `contains` would read, prefetched `distance` hashes ahead, and adds them up: the speed of
/// memory itself. The fastest `contains` is a little slower than this.
pub(super) fn load_lines(
    lines: &[Line],
    walk: BlockedWalk,
    hashes: &[KeyHash],
    distance: usize,
) -> u64 {
    assert_eq!(lines.len() as u64, walk.lines());
    let mut sum = 0;
    // SAFETY: the lines were just counted.
    unsafe {
        if walk.two_lines() {
            run_prefetched(
                LoadStep::<true> {
                    lines,
                    walk,
                    sum: &mut sum,
                },
                hashes,
                distance,
            );
        } else {
            run_prefetched(
                LoadStep::<false> {
                    lines,
                    walk,
                    sum: &mut sum,
                },
                hashes,
                distance,
            );
        }
    }
    sum
}

struct LoadStep<'a, const TWO: bool> {
    lines: &'a [Line],
    walk: BlockedWalk,
    sum: &'a mut u64,
}

impl<const TWO: bool> BatchStep for LoadStep<'_, TWO> {
    #[inline(always)]
    fn prefetch(&self, hash: u64) {
        prefetch_lines::<TWO>(self.lines, &self.walk, hash);
    }

    #[inline(always)]
    unsafe fn process(&mut self, _at: usize, hash: u64) {
        // SAFETY: `load_lines` has checked the length; `first` and `second` are below walk.lines().
        unsafe {
            *self.sum = self
                .sum
                .wrapping_add(self.lines.get_unchecked(self.walk.first(hash)).0[0]);
            if TWO {
                *self.sum = self
                    .sum
                    .wrapping_add(self.lines.get_unchecked(self.walk.second(hash)).0[0]);
            }
        }
    }
}
