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

/// No advice on this platform.
#[cfg(not(all(target_os = "linux", feature = "std")))]
pub(crate) fn advise<T>(_memory: &mut [MaybeUninit<T>]) {}
