//! The memory that building a static filter takes in addition to the items, counted by the allocator. A program of its own,
//! because an allocator counts for all threads of a program.

#![allow(
    unsafe_code,
    reason = "the standard library's allocator trait is unsafe to implement"
)]
#![expect(clippy::print_stdout, reason = "tests print what they measured")]

use mayhap_core::{Fuse, KeyHash, Ribbon};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let stored = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(stored, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn building_takes_at_most_100_bits_per_key() {
    let sizes: &[u64] = match std::env::var_os("MAYHAP_SOAK") {
        None => &[750_000, 1_000_000, 5_000_000],
        Some(_) => &[750_000, 1_000_000, 10_000_000, 100_000_000],
    };
    for &count in sizes {
        let mixed = |at: u64| {
            (at ^ at >> 7)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .rotate_left(31)
        };
        let keys: Vec<_> = (0..count)
            .map(|at| KeyHash::from_u64(mixed(mixed(at))))
            .collect();
        for rate in [0.01, 1e-4, 1.2e-7, 1e-9] {
            measure(count, || Fuse::build(&keys, rate).unwrap());
            measure(count, || Ribbon::build(&keys, rate).unwrap());
        }
        // Some items repeat others.
        let items = [keys.as_slice(), &keys[..1000]].concat();
        measure(count, || Fuse::build(&items, 0.01).unwrap());
    }
}

fn measure<F: std::fmt::Debug>(count: u64, build: impl FnOnce() -> F) {
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let filter = build();
    let bits = 8.0 * (PEAK.load(Relaxed) - before) as f64 / count as f64;
    println!("{filter:?}: {bits:.1} bits/key at the peak");
    assert!(bits <= 100.0, "{filter:?}: {bits}");
}
