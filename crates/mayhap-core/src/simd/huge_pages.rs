//! Huge pages for large filters: on Linux, advice to the kernel before the memory is first touched.
//!
//! It speeds up lookups by 4-12 % and filling by 9-28 % at 100M keys, where most of a cache miss is the page table walk. If the
//! advice is not followed, only time is lost.

use core::mem::MaybeUninit;

/// Smaller allocations gain nothing. A huge page is 2 MiB, but the layers of a chain add up: lookups in ten that hold 10M keys
/// together are 11 % faster than with a threshold of 4 MiB.
#[cfg(all(target_os = "linux", feature = "std"))]
const WORTH_BYTES: usize = 1 << 20;

/// Requests huge pages for the whole pages of `memory`.
#[cfg(all(target_os = "linux", feature = "std"))]
pub(crate) fn advise<T>(memory: &mut [MaybeUninit<T>]) {
    use core::ffi::{c_int, c_void};
    unsafe extern "C" {
        // In the C library that std links on Linux.
        fn madvise(start: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    const MADV_HUGEPAGE: c_int = 14;
    const PAGE: usize = 4096;

    let bytes = size_of_val(memory);
    if bytes < WORTH_BYTES {
        return;
    }
    let start = memory.as_mut_ptr().cast::<u8>();
    let skip = start.align_offset(PAGE);
    let length = (bytes - skip) / PAGE * PAGE;
    // SAFETY: start + skip .. + length lies inside `memory`, which is borrowed exclusively, and the advice changes no contents.
    // An error (an old kernel, an unusual page size) means that the advice was not followed, which is fine.
    unsafe { madvise(start.add(skip).cast(), length, MADV_HUGEPAGE) };
}

/// Gives memory that is not needed any more back to the system, in whole huge pages, so that none is split. Returns how many bytes,
/// from the start, need not be offered again. The bytes are zeros, or unchanged, afterwards.
#[cfg(all(target_os = "linux", feature = "std"))]
pub(crate) fn release(memory: &mut [u8]) -> usize {
    use core::ffi::{c_int, c_void};
    unsafe extern "C" {
        fn madvise(start: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    const MADV_DONTNEED: c_int = 4;
    const HUGE_PAGE: usize = 2 << 20;

    let start = memory.as_mut_ptr();
    let skip = start.align_offset(HUGE_PAGE);
    if memory.len() < skip.saturating_add(HUGE_PAGE) {
        return 0;
    }
    let length = (memory.len() - skip) / HUGE_PAGE * HUGE_PAGE;
    // SAFETY: start + skip .. + length lies inside `memory`, which is borrowed exclusively, and bytes may have any value.
    unsafe { madvise(start.add(skip).cast(), length, MADV_DONTNEED) };
    skip + length
}

/// Not on this platform.
#[cfg(not(all(target_os = "linux", feature = "std")))]
pub(crate) fn release(memory: &mut [u8]) -> usize {
    memory.len()
}

/// No advice on this platform.
#[cfg(not(all(target_os = "linux", feature = "std")))]
pub(crate) fn advise<T>(_memory: &mut [MaybeUninit<T>]) {}
