//! The module's allocator: the engine's memory, so that it counts towards the engine's limits.

#![allow(unsafe_code, reason = "the engine's API is C")]

use super::API;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;

/// Allocates through the engine.
struct EngineMemory;

#[global_allocator]
static MEMORY: EngineMemory = EngineMemory;

/// The alignment that every allocator guarantees, even for a few bytes.
const USUAL_ALIGNMENT: usize = 8;

/// Where the start of the underlying block is stored.
///
/// # Safety
/// The block must have room for a pointer before `start`, and `start` must be aligned to more than a pointer.
#[allow(clippy::cast_ptr_alignment, reason = "it is aligned to more")]
unsafe fn block_pointer(start: *mut u8) -> *mut *mut u8 {
    // SAFETY: guaranteed by the caller.
    unsafe { start.cast::<*mut u8>().sub(1) }
}

impl EngineMemory {
    /// `take` allocates a size with the usual alignment, or returns null. For a larger alignment, the block is larger, and a pointer to its
    /// start is stored before the part that is used.
    ///
    /// # Safety
    /// As for [`GlobalAlloc::alloc`].
    unsafe fn aligned(layout: Layout, take: impl FnOnce(usize) -> *mut u8) -> *mut u8 {
        let align = layout.align();
        if align <= USUAL_ALIGNMENT {
            return take(layout.size());
        }
        let Some(size) = layout.size().checked_add(align) else {
            return null_mut();
        };
        let block = take(size);
        if block.is_null() {
            return null_mut();
        }
        // At least the size of a pointer, because the block is aligned to that size.
        let skipped = align - block.addr() % align;
        // SAFETY: between 8 and `align` bytes are skipped, and `align` bytes more were allocated.
        unsafe {
            let start = block.add(skipped);
            block_pointer(start).write(block);
            start
        }
    }
}

// SAFETY: every block is freed by the allocator that it came from: nothing that is allocated before the engine's functions are known is
// freed afterwards (unit tests have no engine at all). `aligned` ensures the alignment.
unsafe impl GlobalAlloc for EngineMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(api) = API.get() else {
            // SAFETY: guaranteed by the caller.
            return unsafe { System.alloc(layout) };
        };
        // SAFETY: any size may be requested.
        unsafe { Self::aligned(layout, |size| (api.try_alloc)(size.max(1)).cast()) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(api) = API.get() else {
            // SAFETY: guaranteed by the caller.
            return unsafe { System.alloc_zeroed(layout) };
        };
        // The engine aborts if it cannot allocate zeroed memory, but not for other memory. So try that first, without accessing it.
        let take = |size: usize| {
            // SAFETY: any size may be requested, and the block is freed.
            unsafe {
                if size > 1 << 16 {
                    let probe = (api.try_alloc)(size);
                    if probe.is_null() {
                        return null_mut();
                    }
                    (api.free)(probe);
                }
                (api.calloc)(1, size.max(1)).cast()
            }
        };
        // SAFETY: guaranteed by the caller.
        unsafe { Self::aligned(layout, take) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        let Some(api) = API.get() else {
            // SAFETY: guaranteed by the caller.
            return unsafe { System.dealloc(start, layout) };
        };
        let block = if layout.align() <= USUAL_ALIGNMENT {
            start
        } else {
            // SAFETY: `aligned` has stored it there.
            unsafe { block_pointer(start).read() }
        };
        // SAFETY: the block is the engine's.
        unsafe { (api.free)(block.cast()) }
    }
}
