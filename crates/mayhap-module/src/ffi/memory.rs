//! The memory of the module is the engine's.

#![allow(unsafe_code, reason = "the engine speaks C")]

use super::API;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;

/// Memory of the engine's, so that it is in its sums and under its limits.
struct EngineMemory;

#[global_allocator]
static MEMORY: EngineMemory = EngineMemory;

/// What any allocator aligns to, also for a few bytes.
const USUAL_ALIGNMENT: usize = 8;

/// Where the true beginning of a block stands.
///
/// # Safety
/// `start` must be behind as many bytes of the same block as a pointer has, and aligned to more than a pointer is.
#[allow(clippy::cast_ptr_alignment, reason = "it is aligned to more")]
unsafe fn place_before(start: *mut u8) -> *mut *mut u8 {
    // SAFETY: the caller's.
    unsafe { start.cast::<*mut u8>().sub(1) }
}

impl EngineMemory {
    /// `take` gives memory of some size, usually aligned, or null. For more, the block is larger and its true beginning stands before
    /// what is used of it.
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
        // Room for a pointer at least, since the block is aligned to as many bytes as one has.
        let skipped = align - block.addr() % align;
        // SAFETY: between 8 and `align` bytes are skipped, and so many more were taken.
        unsafe {
            let start = block.add(skipped);
            place_before(start).write(block);
            start
        }
    }
}

// SAFETY: blocks come from one allocator, the engine's from the moment that there is one; nothing is allocated before that is freed
// after (unit tests have no engine at all). Alignment is seen to above.
unsafe impl GlobalAlloc for EngineMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(api) = API.get() else {
            // SAFETY: the caller's.
            return unsafe { System.alloc(layout) };
        };
        // SAFETY: any size may be asked for.
        unsafe { Self::aligned(layout, |size| (api.try_alloc)(size.max(1)).cast()) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(api) = API.get() else {
            // SAFETY: the caller's.
            return unsafe { System.alloc_zeroed(layout) };
        };
        // Zeroed memory that cannot be had ends the engine, other memory does not: so that is asked for first. It is not touched.
        let take = |size: usize| {
            // SAFETY: any size may be asked for, and what was given is given back.
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
        // SAFETY: the caller's.
        unsafe { Self::aligned(layout, take) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        let Some(api) = API.get() else {
            // SAFETY: the caller's.
            return unsafe { System.dealloc(start, layout) };
        };
        let block = if layout.align() <= USUAL_ALIGNMENT {
            start
        } else {
            // SAFETY: `aligned` has put it there.
            unsafe { place_before(start).read() }
        };
        // SAFETY: the block is the engine's.
        unsafe { (api.free)(block.cast()) }
    }
}
