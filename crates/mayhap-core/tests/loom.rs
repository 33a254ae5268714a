//! `SharedBloom` itself, run by loom through the interleavings of two threads. `make test-loom` builds it with `--cfg loom`,
//! which replaces the crate's atomics by loom's; otherwise this file is empty.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use mayhap_core::plan::{BloomPlan, LinesPerKey};
use mayhap_core::{HashScheme, KeyHash, SharedBloom};

/// One line, two bits per key: as small as possible, so that all interleavings can be explored.
fn small(lines: LinesPerKey) -> Arc<SharedBloom> {
    let plan = BloomPlan::with_lines_per_key(20, 0.2, lines).unwrap();
    Arc::new(SharedBloom::from_plan(plan, HashScheme::Caller).unwrap())
}

fn check(test: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(test);
}

const KEY: KeyHash = KeyHash::from_u64(0x8877_6655_4433_2211);
/// Shares a word with KEY in most rows, but no bit in it.
const OTHER: KeyHash = KeyHash::from_u64(0x1122_3344_5566_7788);

#[test]
fn an_insert_that_happens_before_a_lookup_is_seen() {
    check(|| {
        let filter = small(LinesPerKey::One);
        let inserting = thread::spawn({
            let filter = filter.clone();
            move || filter.insert_hash(KEY)
        });
        filter.insert_hash(OTHER);
        assert!(filter.contains_hash(OTHER));
        inserting.join().unwrap();
        assert!(filter.contains_hash(KEY) && filter.contains_hash(OTHER));
    });
}

#[test]
fn of_two_inserts_of_one_key_at_least_one_is_new() {
    check(|| {
        let filter = small(LinesPerKey::One);
        let other = thread::spawn({
            let filter = filter.clone();
            move || filter.insert_hash(KEY)
        });
        let new = filter.insert_hash(KEY);
        // A thread that got `false` can rely on the key.
        assert!(filter.contains_hash(KEY));
        assert!(other.join().unwrap() | new);
    });
}

#[test]
fn of_two_unique_inserts_of_one_key_exactly_one_is_new() {
    for lines in [LinesPerKey::One, LinesPerKey::Two] {
        check(move || {
            let filter = small(lines);
            let other = thread::spawn({
                let filter = filter.clone();
                move || filter.insert_unique_hash(KEY)
            });
            let new = filter.insert_unique_hash(KEY);
            assert!(other.join().unwrap() ^ new);
        });
    }
}
