//! `BloomTable`: lines, a walk and a kernel that are known to fit together, so that lookups need no checks.

use super::kernel::{Kernel, UsableKernel};
use super::prefetch::Prefetch;
use crate::probe::blocked::BlockedWalk;
use crate::store::{Line, Owned, Slab, Storage};
use crate::{KeyHash, PlanError};
use core::borrow::Borrow;

/// The bits of a `Bloom`. Invariant: `lines.len() == walk.lines()`.
#[derive(Clone)]
pub(crate) struct BloomTable<S: Storage = Owned> {
    lines: S::Buffer<Line>,
    walk: BlockedWalk,
    kernel: UsableKernel,
}

impl BloomTable {
    /// Empty lines for a walk.
    pub(crate) fn zeroed(walk: BlockedWalk) -> Result<Self, PlanError> {
        Ok(Self::from_lines(Slab::zeroed(walk.lines())?, walk))
    }

    #[cfg(target_has_atomic = "64")]
    pub(crate) fn into_lines(self) -> Slab<Line> {
        self.lines
    }

    pub(crate) fn clear(&mut self) {
        self.lines.clear();
    }

    pub(crate) fn try_clone(&self) -> Result<Self, PlanError> {
        let lines = self.lines.try_clone()?;
        Ok(Self { lines, ..*self })
    }

    pub(crate) fn lines_mut(&mut self) -> &mut [Line] {
        &mut self.lines
    }

    /// Sets the bits of one key; `true` if one of them was not set before.
    #[inline(always)]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        // The walk is passed by value, here and below: after a reference to it has been passed to a function, assembly that writes could
        // change it, and a loop of inserts would load it for every key.
        let (lines, walk) = (&mut self.lines, self.walk);
        // SAFETY: the table's invariant, and the kernel is usable.
        unsafe { call_kernel!(self.kernel, insert_one(lines, walk, hash)) }
    }

    /// Sets the bits of many keys.
    pub(crate) fn insert_each(&mut self, hashes: &[KeyHash], prefetch: Prefetch) {
        let (lines, walk) = (&mut self.lines, self.walk);
        // SAFETY: the table's invariant, and the kernel is usable.
        unsafe { call_kernel!(self.kernel, insert(lines, walk, hashes, prefetch)) }
    }
}

impl<S: Storage> BloomTable<S> {
    /// A table over existing lines.
    pub(crate) fn from_lines(lines: S::Buffer<Line>, walk: BlockedWalk) -> Self {
        assert_eq!(
            lines.len() as u64,
            walk.lines(),
            "as many lines as the walk reaches"
        );
        Self {
            lines,
            walk,
            kernel: UsableKernel::best(),
        }
    }

    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub(crate) fn kernel(&self) -> Kernel {
        self.kernel.get()
    }

    /// Switches to a kernel if this CPU has it; otherwise nothing changes.
    pub(crate) fn set_kernel(&mut self, kernel: Kernel) {
        if let Some(kernel) = UsableKernel::new(kernel) {
            self.kernel = kernel;
        }
    }

    /// Prefetches the lines of a hash.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        let base = self.lines.as_ptr();
        super::prefetch(base.wrapping_add(self.walk.first(hash)));
        if self.walk.two_lines() {
            super::prefetch(base.wrapping_add(self.walk.second(hash)));
        }
    }

    /// Whether all bits of one key are set.
    #[inline(always)]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        // SAFETY: the table's invariant, and the kernel is usable.
        unsafe { call_kernel!(self.kernel, contains_one(&self.lines, self.walk, hash)) }
    }

    /// `contains` for many hashes; both slices must have the same length.
    pub(crate) fn contains_each(&self, hashes: &[KeyHash], found: &mut [bool], prefetch: Prefetch) {
        assert_eq!(
            hashes.len(),
            found.len(),
            "one place in `found` for every hash"
        );
        let (lines, walk) = (&self.lines, self.walk);
        // SAFETY: the table's invariant, the lengths were just compared, and the kernel is usable.
        unsafe { call_kernel!(self.kernel, contains(lines, walk, hashes, found, prefetch)) }
    }

    /// Sets those places of `found` whose key has all its bits in one of several tables. Uses the kernel of the first table.
    pub(crate) fn any_contains_each(
        tables: &[impl Borrow<Self>],
        hashes: &[KeyHash],
        found: &mut [bool],
    ) {
        assert_eq!(
            hashes.len(),
            found.len(),
            "one place in `found` for every hash"
        );
        let Some(first) = tables.first() else { return };
        // SAFETY: the lengths were just compared, and the kernel is usable.
        unsafe {
            call_kernel!(
                first.borrow().kernel,
                any_contains_each(tables, hashes, found)
            );
        }
    }

    /// Whether one of several tables has all bits of a key. Uses the kernel of the first table.
    #[inline]
    pub(crate) fn any_contains(tables: &[impl Borrow<Self>], hash: u64) -> bool {
        let Some(first) = tables.first() else {
            return false;
        };
        // SAFETY: there is a table, and the kernel is usable.
        unsafe { call_kernel!(first.borrow().kernel, any_contains(tables, hash)) }
    }

    /// The byte offsets of the lines of a hash.
    pub(crate) fn offsets(&self, hash: u64) -> impl Iterator<Item = u64> + use<S> {
        let second = self.walk.two_lines().then(|| self.walk.second(hash));
        let lines = core::iter::once(self.walk.first(hash)).chain(second);
        lines.map(|line| (line * size_of::<Line>()) as u64)
    }

    pub(super) fn walk(&self) -> &BlockedWalk {
        &self.walk
    }

    /// See `batch::load_lines`.
    pub(crate) fn load_each(&self, hashes: &[KeyHash], distance: usize) -> u64 {
        super::batch::load_lines(&self.lines, self.walk, hashes, distance)
    }
}
