//! The only place that maps a `Kernel` to code. A new kernel needs a module with these functions and an arm here.

/// Calls a function of the kernel's own module. Of those for batches, each is compiled for the instruction set; of those for one key, most
/// are assembly that is inlined here.
///
/// The call is `unsafe`: the caller vouches for what the function documents. A [`UsableKernel`](super::kernel::UsableKernel) proves that
/// the CPU has the instructions.
macro_rules! call_kernel {
    ($kernel:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $kernel.get() {
            Kernel::Portable => crate::simd::portable::$function($($argument),*),
            Kernel::Neon => crate::simd::neon::$function($($argument),*),
            Kernel::Avx2 => crate::simd::avx2::$function($($argument),*),
            Kernel::Avx512 => crate::simd::avx512::$function($($argument),*),
        }
    };
}

/// Defines the batch functions of a kernel: the loops of `batch.rs` and `multi_table.rs`, compiled for its instruction set.
macro_rules! batch_functions {
    ($ops:ty, $cpu:literal $(, #[$target_feature:meta])?) => {
        #[doc = concat!("# Safety\n", $cpu, "; the rest as `batch::contains` requires.")]
        $(#[$target_feature])?
        pub(super) unsafe fn contains(
            lines: &[Line],
            walk: BlockedWalk,
            hashes: &[KeyHash],
            found: &mut [bool],
            prefetch: Prefetch,
        ) {
            // SAFETY: the caller's promise.
            unsafe { batch::contains::<$ops>(lines, walk, hashes, found, prefetch) }
        }

        #[doc = concat!("# Safety\n", $cpu, "; the rest as `batch::insert` requires.")]
        $(#[$target_feature])?
        pub(super) unsafe fn insert(
            lines: &mut [Line],
            walk: BlockedWalk,
            hashes: &[KeyHash],
            prefetch: Prefetch,
        ) {
            // SAFETY: the caller's promise.
            unsafe { batch::insert::<$ops>(lines, walk, hashes, prefetch) }
        }

        #[doc = concat!("# Safety\n", $cpu, "; the rest as `multi_table::contains` requires.")]
        $(#[$target_feature])?
        pub(super) unsafe fn any_contains_each<S: Storage>(
            tables: &[impl Borrow<BloomTable<S>>],
            hashes: &[KeyHash],
            found: &mut [bool],
        ) {
            // SAFETY: the caller's promise.
            unsafe { multi_table::contains::<$ops, _>(tables, hashes, found) }
        }
    };
}

/// Defines the batch lookup of a `Cuckoo` for a kernel: the loop of `cuckoo_batch.rs`, compiled for its instruction set.
macro_rules! cuckoo_function {
    ($ops:ty, $cpu:literal $(, #[$target_feature:meta])?) => {
        #[doc = concat!("# Safety\n", $cpu, "; the rest as `cuckoo_batch::contains` requires.")]
        $(#[$target_feature])?
        pub(in crate::simd) unsafe fn find_each<W: CellWalk, A: CuckooAnswer>(
            table: &CuckooLookup<'_, W>,
            hashes: &[KeyHash],
            answers: &mut [A],
            prefetch: bool,
        ) where
            $ops: LocateOps<W>,
        {
            // SAFETY: the caller's promise.
            unsafe { cuckoo_batch::contains::<$ops, W, A>(table, hashes, answers, prefetch) }
        }
    };
}

/// The same for a `Ribbon`, with the loop of `static_lookup.rs`.
macro_rules! ribbon_function {
    ($ops:ty, $cpu:literal $(, #[$target_feature:meta])?) => {
        #[doc = concat!("# Safety\n", $cpu, ".")]
        $(#[$target_feature])?
        pub(super) unsafe fn ribbon_contains_each<S: Storage>(
            table: &RibbonTable<S>,
            hashes: &[KeyHash],
            found: &mut [bool],
        ) {
            // SAFETY: the caller's promise; this function is compiled for the instruction set.
            unsafe { InBatch::<$ops, S>::new(table) }.contains_each(hashes, found);
        }
    };
}
