//! How much memory a piece of work takes at its peak.

#![allow(
    unsafe_code,
    reason = "the standard library's allocator trait is unsafe to implement"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// What the work gives, and the most bytes that it held at once.
pub(crate) fn peak_of<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = HELD.get();
    PEAK.set(before);
    let done = work();
    (done, (PEAK.get() - before).cast_unsigned() as u64)
}

thread_local! {
    /// Bytes that this thread holds, and the most that it held. Tests run side by side.
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is handed to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get() + layout.size().cast_signed());
        PEAK.set(PEAK.get().max(HELD.get()));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size().cast_signed());
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
