//! A new filter takes memory as keys are inserted, not when it is created. A binary of its own, because it measures the whole
//! process.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "figures")]

use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::plan::{ClassicCuckooPlan, GrowingPlan, WindowPlan};
use mayhap_core::{
    Bloom, ClassicBloom, ClassicCuckoo, CountingBloom, Cuckoo, GrowingBloom, HashScheme, Scheme,
    SharedBloom, Timestamp, WindowBloom,
};
use std::time::Duration;

const MIB: u64 = 1 << 20;

/// What a filter may take after a few lookups: some pages, which may be huge ones.
const MAX_TOUCHED: u64 = 16 * MIB;

/// Bytes of memory that the process has touched.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages = statm.split(' ').nth(1).expect("the second is resident");
    pages.parse::<u64>().expect("a number") * 4096
}

/// Creates something of this size and checks how much memory that has touched.
fn untouched<F>(what: &str, make: impl FnOnce() -> F, size_bytes: impl Fn(&F) -> u64) -> F {
    let before = resident();
    let filter = make();
    let touched = resident().saturating_sub(before);
    let size = size_bytes(&filter);
    println!("{what}: {} MiB, {} KiB touched", size / MIB, touched >> 10);
    assert!(size > 900 * MIB, "{what}: only {size} bytes");
    assert!(touched < MAX_TOUCHED, "{what}: {touched} bytes touched");
    filter
}

#[test]
fn new_filters_do_not_touch_their_memory() {
    const KEYS: u64 = 800_000_000;
    let bloom = untouched(
        "bloom",
        || Bloom::new(KEYS as usize, 0.01).unwrap(),
        Bloom::size_bytes,
    );
    let copy = || bloom.try_clone().unwrap();
    drop(untouched("bloom, copied", copy, Bloom::size_bytes));
    let shared = untouched(
        "thawed",
        || SharedBloom::from_bloom(bloom),
        SharedBloom::size_bytes,
    );
    drop(shared);
    let make = || SharedBloom::new(KEYS as usize, 0.01).unwrap();
    drop(untouched("shared", make, SharedBloom::size_bytes));
    let make = || GrowingBloom::new(KEYS as usize, 0.01).unwrap();
    drop(untouched("growing", make, GrowingBloom::size_bytes));

    let plan = ClassicPlan::new(KEYS, 0.01).unwrap();
    let make = || ClassicBloom::from_plan(plan, Scheme::RedisBloom, HashScheme::Caller).unwrap();
    let classic = untouched("classic", make, ClassicBloom::size_bytes);
    let copy = || classic.try_clone().unwrap();
    drop(untouched("classic, copied", copy, ClassicBloom::size_bytes));
    drop(classic);

    let make = || CountingBloom::new((KEYS / 4) as usize, 0.01).unwrap();
    let counting = untouched("counting", make, CountingBloom::size_bytes);
    let copy = || counting.try_clone().unwrap();
    drop(untouched(
        "counting, copied",
        copy,
        CountingBloom::size_bytes,
    ));
    drop(counting);

    let make = || Cuckoo::new(KEYS as usize, 0.01).unwrap();
    let cuckoo = untouched("cuckoo", make, Cuckoo::size_bytes);
    let copy = || cuckoo.try_clone().unwrap();
    drop(untouched("cuckoo, copied", copy, Cuckoo::size_bytes));
    drop(cuckoo);
    let plan = GrowingPlan::new(KEYS, 0.01).unwrap();
    let make = || Cuckoo::growing_from_plan(plan, HashScheme::Xxh3).unwrap();
    drop(untouched("growing cuckoo", make, Cuckoo::size_bytes));

    let plan = ClassicCuckooPlan::new(KEYS, 2, 20, 1).unwrap();
    let make = || ClassicCuckoo::from_plan(plan).unwrap();
    let tables = untouched("classic cuckoo", make, ClassicCuckoo::size_bytes);
    let copy = || tables.try_clone().unwrap();
    drop(untouched(
        "classic cuckoo, copied",
        copy,
        ClassicCuckoo::size_bytes,
    ));
    drop(tables);
    growth_and_rotation_do_not_touch_new_memory();
}

/// Not a test of its own: two tests at a time would measure each other.
fn growth_and_rotation_do_not_touch_new_memory() {
    let hash = |number: u64| HashScheme::Xxh3.hash(number.to_le_bytes());
    let plan = ClassicCuckooPlan::from_buckets(16 << 10, 2, 20, 32_768).unwrap();
    let mut tables = ClassicCuckoo::from_plan(plan).unwrap();
    let grow = || {
        let mut keys = 0;
        while tables.tables().len() < 2 {
            tables.try_insert_hash(hash(keys).to_u64()).unwrap();
            keys += 1;
        }
        tables
    };
    drop(untouched("growth", grow, ClassicCuckoo::size_bytes));

    let plan = WindowPlan::new(600_000_000, 0.01, Duration::from_secs(8)).unwrap();
    let make = || WindowBloom::from_plan(plan, HashScheme::Xxh3, Timestamp(0)).unwrap();
    let mut windows = untouched("window", make, WindowBloom::size_bytes);
    let before = resident();
    for slice in 0..40 {
        let now = Timestamp(slice * 1000);
        windows.insert_hash(hash(slice), now);
        assert!(windows.contains_hash(hash(slice), now));
    }
    windows.clear();
    let touched = resident().saturating_sub(before);
    println!("40 rotations: {} KiB touched", touched >> 10);
    assert!(touched < MAX_TOUCHED, "{touched} bytes touched");
    let copy = || windows.try_clone().unwrap();
    drop(untouched("window, copied", copy, WindowBloom::size_bytes));
}
