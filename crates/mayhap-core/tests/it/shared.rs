//! `SharedBloom`: many threads, the same bytes as `Bloom`, no key lost, `insert_unique` exact.

use crate::{hashes, soak};
use mayhap_core::{Bloom, KeyHash, SharedBloom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const THREADS: u64 = 4;

#[test]
fn four_threads_give_the_bytes_of_one() {
    for (capacity, rate) in [
        (1_000, 0.01),
        (300_000, 0.01),
        (300_000, 0.0039),
        (300_000, 0.0001),
    ] {
        let keys: Vec<_> = hashes(31, 0, capacity).collect();
        let mut alone = Bloom::for_hashes(capacity as usize, rate).unwrap();
        alone.insert_hashes(&keys);
        let shared = SharedBloom::for_hashes(capacity as usize, rate).unwrap();
        thread::scope(|threads| {
            for part in 0..THREADS {
                let (shared, keys) = (&shared, &keys);
                threads.spawn(move || {
                    // Overlapping parts, half in batches and half one by one, looked up at once.
                    let from = keys.len() * part as usize / (THREADS as usize + 1);
                    let part = &keys[from..from + keys.len() * 2 / (THREADS as usize + 1)];
                    let (batched, singly) = part.split_at(part.len() / 2);
                    shared.insert_hashes(batched);
                    let mut found = vec![false; batched.len()];
                    shared.contains_hashes(batched, &mut found);
                    assert!(found.iter().all(|&found| found));
                    for &hash in singly {
                        shared.insert_hash(hash);
                        assert!(shared.contains_hash(hash));
                    }
                });
            }
        });
        assert_eq!(shared.freeze(), alone);
    }
}

#[test]
fn insert_unique_is_true_exactly_once_per_key() {
    let capacity = if soak() { 20_000_000 } else { 400_000 };
    // The rate is so strict that no key is a false positive.
    let shared = SharedBloom::for_hashes(capacity, 1e-9).unwrap();
    let news = AtomicU64::new(0);
    thread::scope(|threads| {
        for _ in 0..THREADS {
            threads.spawn(|| {
                let new = hashes(32, 0, capacity as u64)
                    .filter(|&hash| shared.insert_unique_hash(hash))
                    .count();
                news.fetch_add(new as u64, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(news.into_inner(), capacity as u64);
}

#[test]
fn at_least_one_of_several_racing_inserts_returns_true() {
    let capacity = 200_000;
    let shared = SharedBloom::for_hashes(capacity, 1e-9).unwrap();
    let reported: Vec<AtomicU64> = (0..capacity).map(|_| AtomicU64::new(0)).collect();
    thread::scope(|threads| {
        for _ in 0..THREADS {
            threads.spawn(|| {
                for (hash, reported) in hashes(33, 0, capacity as u64).zip(&reported) {
                    reported.fetch_add(u64::from(shared.insert_hash(hash)), Ordering::Relaxed);
                }
            });
        }
    });
    assert!(
        reported
            .iter()
            .all(|reported| reported.load(Ordering::Relaxed) >= 1)
    );
}

#[test]
fn a_shared_filter_agrees_with_the_frozen_one_and_can_be_shared_again() {
    for rate in [0.01, 0.0001] {
        let shared = SharedBloom::new(2_000, rate).unwrap();
        let news = (0..1000_u32)
            .filter(|i| shared.insert(i.to_le_bytes()))
            .count();
        assert!(news > 980, "almost all are new");
        assert!(
            (0..1000_u32).all(|i| !shared.insert_unique(i.to_le_bytes())),
            "none is new a second time"
        );
        let queried: Vec<KeyHash> = (0..4000_u32)
            .map(|i| shared.hash(i.to_le_bytes()))
            .collect();
        let mut found = vec![false; queried.len()];
        shared.contains_hashes(&queried, &mut found);
        let frozen = shared.freeze();
        for (&hash, &found) in queried.iter().zip(&found) {
            assert_eq!(frozen.contains_hash(hash), found);
        }
        let thawed = SharedBloom::from(frozen.clone());
        assert!(thawed.contains(5_u32.to_le_bytes()));
        thawed.insert("one more");
        let mut grown = Bloom::from(thawed);
        assert!(grown.contains("one more"));
        assert!(grown != frozen);
        grown.union_with(&frozen).unwrap();
    }
}

#[test]
fn a_shared_filter_merges_a_plain_one_of_its_shape_only() {
    let shared = SharedBloom::new(10_000, 0.01).unwrap();
    shared.insert("here");
    let mut other = Bloom::new(10_000, 0.01).unwrap();
    other.extend((0..10_000_u32).map(u32::to_le_bytes));
    shared.union_with(&other).unwrap();
    other.insert("here");
    let refused = shared
        .union_with(&Bloom::new(20_000, 0.01).unwrap())
        .unwrap_err()
        .to_string();
    assert!(refused.contains("lines"), "{refused}");
    assert_eq!(shared.freeze(), other);
}

#[test]
fn keys_until_full_falls_as_keys_are_inserted() {
    let filter = SharedBloom::new(10_000, 0.01).unwrap();
    assert_eq!(
        (filter.estimated_keys(), filter.keys_until_full()),
        (0, 10_000)
    );
    for key in 0..4_000_u32 {
        filter.insert(key.to_le_bytes());
    }
    assert!(filter.keys_until_full().abs_diff(6_000) < 150);
    let frozen_keys = filter.estimated_keys();
    assert_eq!(filter.freeze().estimated_keys(), frozen_keys);
}

#[test]
fn reads_of_a_shared_filter_equal_those_of_the_plain_one() {
    for rate in [0.01, 0.0001] {
        let shared = SharedBloom::new(5_000, rate).unwrap();
        shared.extend(0..7_000_u32);
        let plain = shared.snapshot().unwrap();
        assert_eq!(shared.stats(), plain.stats());
        let bits = |rate: f64| rate.to_bits();
        assert_eq!(bits(shared.estimated_rate()), bits(plain.estimated_rate()));
        assert_eq!(shared.is_over_capacity(), plain.is_over_capacity());
        assert!(shared.is_over_capacity());
        let keys: Vec<u32> = (0..20_000).collect();
        let (mut ours, mut theirs) = (vec![false; keys.len()], vec![false; keys.len()]);
        shared.contains_each(&keys, &mut ours);
        plain.contains_each(&keys, &mut theirs);
        assert_eq!(ours, theirs);
        assert!(ours[..7_000].iter().all(|&found| found));
        shared.clear();
        assert!(shared.is_empty() && !shared.contains(1_u32));
        // The copy is not affected.
        assert!(plain.contains(1_u32));
    }
}

#[test]
fn a_snapshot_has_every_key_that_was_inserted_before_it() {
    let capacity = 400_000;
    let shared = SharedBloom::new(capacity, 0.001).unwrap();
    let progress: Vec<AtomicU64> = (0..THREADS).map(|_| AtomicU64::new(0)).collect();
    let per_thread = capacity as u64 / THREADS;
    thread::scope(|threads| {
        for (part, progress) in progress.iter().enumerate() {
            let shared = &shared;
            threads.spawn(move || {
                for key in 0..per_thread {
                    shared.insert((part, key));
                    progress.store(key + 1, Ordering::Release);
                }
            });
        }
        let mut rounds = 0;
        loop {
            let before: Vec<u64> = progress
                .iter()
                .map(|one| one.load(Ordering::Acquire))
                .collect();
            let snapshot = shared.snapshot().unwrap();
            for (part, &inserted) in before.iter().enumerate() {
                assert!((0..inserted).all(|key| snapshot.contains((part, key))));
            }
            rounds += 1;
            if before.iter().all(|&inserted| inserted == per_thread) {
                println!("{rounds} snapshots during {capacity} inserts");
                break;
            }
        }
    });
    assert_eq!(shared.snapshot().unwrap(), shared.freeze());
}
