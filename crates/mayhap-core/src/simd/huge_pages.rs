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

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    feature = "std"
))]
mod mapped {
    use super::WORTH_BYTES;
    use core::ffi::{c_int, c_void};
    use core::ptr::{self, NonNull};

    // In the C library that std links on Linux.
    unsafe extern "C" {
        fn mmap(
            start: *mut c_void,
            length: usize,
            protection: c_int,
            flags: c_int,
            file: c_int,
            offset: i64,
        ) -> *mut c_void;
        fn munmap(start: *mut c_void, length: usize) -> c_int;
    }

    const PROT_READ_WRITE: c_int = 1 | 2;
    const MAP_PRIVATE_ANONYMOUS: c_int = 0x02 | 0x20;

    /// Zeros directly from the system, if there are many: pages are cleared one by one as they are touched.
    pub(crate) fn map_zeroed(size_bytes: usize) -> Option<NonNull<u8>> {
        if size_bytes < WORTH_BYTES {
            return None;
        }
        // SAFETY: a new mapping, wherever the system likes.
        let start = unsafe {
            mmap(
                ptr::null_mut(),
                size_bytes,
                PROT_READ_WRITE,
                MAP_PRIVATE_ANONYMOUS,
                -1,
                0,
            )
        };
        // -1 is an error.
        (start.addr() != usize::MAX).then_some(NonNull::new(start.cast())?)
    }

    /// Gives the memory back to the system.
    ///
    /// # Safety
    /// `map_zeroed` must have returned `start` for the same size, and nobody may use it any more.
    pub(crate) unsafe fn unmap(start: NonNull<u8>, size_bytes: usize) {
        // SAFETY: the caller's promise. There is nothing to do about an error.
        unsafe { munmap(start.as_ptr().cast(), size_bytes) };
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    feature = "std"
)))]
mod mapped {
    use core::ptr::NonNull;

    /// Not on this platform.
    pub(crate) fn map_zeroed(_size_bytes: usize) -> Option<NonNull<u8>> {
        None
    }

    /// Not on this platform.
    ///
    /// # Safety
    /// None is needed: nothing is mapped.
    pub(crate) unsafe fn unmap(_start: NonNull<u8>, _size_bytes: usize) {}
}

pub(crate) use mapped::{map_zeroed, unmap};

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
