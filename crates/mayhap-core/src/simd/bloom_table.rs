//! `Table`: lines, a walk and a kernel that are known to fit together, so that the code below need not check.

use super::kernel::{Kernel, UsableKernel};
use super::portable::{self, Portable};
use super::prefetch::Prefetch;
use super::{batch, multi_table};
use crate::probe::blocked::BlockedWalk;
use crate::store::{Line, Owned, Slab, Storage};
use crate::{KeyHash, PlanError};
use core::borrow::Borrow;

#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};

/// The bits of a `Bloom`. Always: `lines.len() == walk.lines()`.
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

    #[inline(always)]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        match self.kernel.get() {
            Kernel::Portable => portable::insert_one(&mut self.lines, &self.walk, hash),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the table's invariant; AVX-512 implies AVX2 (`Kernel::is_available`).
            Kernel::Avx2 | Kernel::Avx512 => unsafe {
                avx2::insert_one(self.lines.as_mut_ptr(), &self.walk, hash)
            },
            #[cfg(not(target_arch = "x86_64"))]
            _ => portable::insert_one(&mut self.lines, &self.walk, hash),
        }
    }

    pub(crate) fn insert_each(&mut self, hashes: &[KeyHash], fetched: Prefetch) {
        let (lines, walk) = (&mut self.lines, self.walk);
        // SAFETY: the table's invariant.
        unsafe {
            match self.kernel.get() {
                Kernel::Portable => batch::insert::<Portable>(lines, walk, hashes, fetched),
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx2 => avx2::insert(lines, walk, hashes, fetched),
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx512 => avx512::insert(lines, walk, hashes, fetched),
                #[cfg(not(target_arch = "x86_64"))]
                _ => batch::insert::<Portable>(lines, walk, hashes, fetched),
            }
        }
    }
}

impl<S: Storage> BloomTable<S> {
    /// Lines that hold a filter already.
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

    /// Asks memory for the lines of a hash.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        let base = self.lines.as_ptr();
        super::prefetch(base.wrapping_add(self.walk.first(hash)));
        if self.walk.two_lines() {
            super::prefetch(base.wrapping_add(self.walk.second(hash)));
        }
    }

    #[inline(always)]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        match self.kernel.get() {
            Kernel::Portable => portable::contains_one(&self.lines, &self.walk, hash),
            // One key with AVX-512 would save a few instructions and cost a third spelling of the assembly.
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the table's invariant; AVX-512 implies AVX2 (`Kernel::is_available`).
            Kernel::Avx2 | Kernel::Avx512 => unsafe {
                avx2::contains_one(self.lines.as_ptr(), &self.walk, hash)
            },
            #[cfg(not(target_arch = "x86_64"))]
            _ => portable::contains_one(&self.lines, &self.walk, hash),
        }
    }

    /// Answers for many hashes; the slices must be of one length.
    pub(crate) fn contains_each(&self, hashes: &[KeyHash], found: &mut [bool], fetched: Prefetch) {
        assert_eq!(
            hashes.len(),
            found.len(),
            "one place in `found` for every hash"
        );
        let (lines, walk) = (&self.lines, self.walk);
        // SAFETY: the table's invariant, and the lengths were just compared.
        unsafe {
            match self.kernel.get() {
                Kernel::Portable => {
                    batch::contains::<Portable>(lines, walk, hashes, found, fetched);
                }
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx2 => avx2::contains(lines, walk, hashes, found, fetched),
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx512 => avx512::contains(lines, walk, hashes, found, fetched),
                #[cfg(not(target_arch = "x86_64"))]
                _ => batch::contains::<Portable>(lines, walk, hashes, found, fetched),
            }
        }
    }

    /// Adds to `found` whether one of several tables has all bits of a key, by the kernel of the first.
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
        // SAFETY: the kernel is usable, and the lengths were just compared.
        unsafe {
            match first.borrow().kernel.get() {
                Kernel::Portable => multi_table::contains::<Portable, _>(tables, hashes, found),
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx2 => avx2::any_contains_each(tables, hashes, found),
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx512 => avx512::any_contains_each(tables, hashes, found),
                #[cfg(not(target_arch = "x86_64"))]
                _ => multi_table::contains::<Portable, _>(tables, hashes, found),
            }
        }
    }

    /// Whether one of several tables has all bits of a key, by the kernel of the first.
    #[inline]
    pub(crate) fn any_contains(tables: &[impl Borrow<Self>], hash: u64) -> bool {
        let Some(first) = tables.first() else {
            return false;
        };
        // SAFETY: the kernel is usable, AVX-512 implies AVX2 (`Kernel::is_available`), and there is a table.
        unsafe {
            match first.borrow().kernel.get() {
                Kernel::Portable => multi_table::contains_one::<Portable, _>(tables, hash),
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx2 | Kernel::Avx512 => avx2::any_contains(tables, hash),
                #[cfg(not(target_arch = "x86_64"))]
                _ => multi_table::contains_one::<Portable, _>(tables, hash),
            }
        }
    }

    /// Where the lines of a hash begin, in bytes.
    pub(crate) fn offsets(&self, hash: u64) -> impl Iterator<Item = u64> + use<S> {
        let second = self.walk.two_lines().then(|| self.walk.second(hash));
        let lines = core::iter::once(self.walk.first(hash)).chain(second);
        lines.map(|line| (line * size_of::<Line>()) as u64)
    }

    pub(super) fn walk(&self) -> &BlockedWalk {
        &self.walk
    }

    /// See `batch::load`.
    pub(crate) fn load_each(&self, hashes: &[KeyHash], ahead: usize) -> u64 {
        batch::load_lines(&self.lines, self.walk, hashes, ahead)
    }
}
