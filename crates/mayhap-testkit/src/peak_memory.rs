//! The peak memory of a piece of work, on one thread. The test binary installs the allocator:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: mayhap_testkit::peak_memory::Counting = mayhap_testkit::peak_memory::Counting;
//! ```

#![allow(
    unsafe_code,
    reason = "the standard library's allocator trait is unsafe to implement"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Runs `work` and returns its result and the most bytes that this thread held at once, beyond what it held before.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = HELD.get();
    PEAK.set(before);
    let done = work();
    (done, (PEAK.get() - before).cast_unsigned() as u64)
}

thread_local! {
    /// Bytes that this thread holds, and the most that it held. Per thread, because tests run in parallel.
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// The system allocator, with a count per thread.
pub struct Counting;

// SAFETY: every call is passed to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get() + layout.size().cast_signed());
        PEAK.set(PEAK.get().max(HELD.get()));
        // SAFETY: the caller keeps the contract of this method, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of this method, which is the same.
        unsafe { System.dealloc(memory, layout) }
    }
}
