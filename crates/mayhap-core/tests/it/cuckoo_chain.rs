//! A growing `Cuckoo`: keeps the rate at every size, loses no key through any inserts and removals, and counts exactly.

use crate::{hashes, mixed, soak};
use mayhap_core::plan::GrowingPlan;
use mayhap_core::{Cuckoo, Full, HashScheme, KeyHash, PlanError};
use std::collections::{HashMap, VecDeque};

fn growing(capacity: u64, rate: f64) -> Cuckoo {
    Cuckoo::growing_from_plan(
        GrowingPlan::new(capacity, rate).unwrap(),
        HashScheme::Caller,
    )
    .unwrap()
}

#[test]
fn the_rate_is_kept_at_every_power_of_two_from_a_hundred_keys_to_a_million() {
    let (seeds, queries) = (3_u64, 200_000);
    for rate in [0.01, 0.001] {
        let mut filters: Vec<_> = (0..seeds).map(|_| growing(100, rate)).collect();
        let mut keys = 0;
        for power in 7..=if soak() { 24 } else { 20 } {
            let next = 1 << power;
            let mut wrong = 0;
            for (seed, filter) in (1..).zip(&mut filters) {
                let more: Vec<_> = hashes(seed, keys, next).collect();
                filter.try_insert_hashes(&more).unwrap();
                assert_eq!(filter.estimated_keys(), next);
                assert!(filter.estimated_rate() <= rate && !filter.is_over_capacity());
                let absent: Vec<_> = hashes(!seed, 0, queries).collect();
                let mut found = vec![false; absent.len()];
                filter.contains_hashes(&absent, &mut found);
                wrong += found.iter().filter(|&&found| found).count();
            }
            keys = next;
            let queried = (seeds * queries) as f64;
            let max = rate * queried + 5.0 * (rate * queried).sqrt();
            assert!(
                (wrong as f64) < max,
                "{keys} keys at {rate}: {wrong} of {queried}"
            );
        }
        for (seed, filter) in (1..).zip(&filters) {
            assert!(hashes(seed, 0, keys).all(|hash| filter.contains_hash(hash)));
            assert_eq!(filter.keys_until_full(), u64::MAX);
        }
        println!(
            "{:?}: {:.1} bits/key",
            filters[0],
            filters[0].size_bytes() as f64 * 8.0 / keys as f64
        );
    }
}

/// Random inserts, and removals of present keys, against an exact multiset. At loose rates most keys collide with keys in other
/// tables, so that a removal from the wrong one would soon lose a key.
fn model(rate: f64, universe: u64, operations: u64, seed: u64) {
    let mut filter = growing(10, rate);
    let mut model = HashMap::<KeyHash, u32>::new();
    let keys: Vec<_> = hashes(seed, 0, universe).collect();
    let mut max_tables = 0;
    for step in 0..operations {
        let random = mixed(seed ^ step << 8);
        let key = keys[(random % universe) as usize];
        let count = model.entry(key).or_default();
        // Alternates between filling and emptying.
        let filling = (step / (operations / 6).max(1)).is_multiple_of(2);
        if (random >> 40) % 10 < if filling { 8 } else { 2 } {
            let new = filter.try_insert_hash(key).unwrap();
            assert!(!new || *count == 0);
            *count += 1;
        } else if *count > 0 {
            assert!(filter.remove_hash(key), "a key that is in was not found");
            *count -= 1;
        }
        if step % 997 == 0 {
            let stored: u64 = model.values().map(|&count| u64::from(count)).sum();
            assert_eq!(filter.estimated_keys(), stored);
            for (&key, &count) in &model {
                assert!(count == 0 || filter.contains_hash(key), "lost at {step}");
            }
        }
        max_tables = max_tables.max(filter.tables().count());
    }
    assert!(max_tables > 3);
    for (key, count) in model {
        for _ in 0..count {
            assert!(filter.remove_hash(key));
        }
    }
    assert!(filter.is_empty() && filter.estimated_rate() == 0.0);
    assert!(
        filter
            .tables()
            .all(|(_, bytes)| bytes.iter().all(|&byte| byte == 0))
    );
}

#[test]
fn no_key_is_lost_and_every_count_is_exact_through_random_operations() {
    let operations = if soak() { 10_000_000 } else { 60_000 };
    for (rate, universe, seed) in [
        (0.3, 2_000, 1),
        (0.05, 3_000, 2),
        (0.01, 1_000, 3),
        (1e-4, 5_000, 4),
    ] {
        model(rate, universe, operations, seed);
    }
}

#[test]
fn removing_every_second_key_loses_none_of_the_others() {
    for rate in [0.5, 0.1, 0.01] {
        let mut filter = growing(10, rate);
        let keys: Vec<_> = hashes(68, 0, 30_000).collect();
        filter.try_insert_hashes(&keys).unwrap();
        for key in keys.iter().step_by(2) {
            assert!(filter.remove_hash(*key));
        }
        let lost = keys
            .iter()
            .skip(1)
            .step_by(2)
            .filter(|&&key| !filter.contains_hash(key));
        assert_eq!(lost.count(), 0, "of 15 000 keys at {rate}");
        assert_eq!(filter.estimated_keys(), 15_000);
    }
}

#[test]
fn inserting_and_removing_does_not_grow_it_forever() {
    for live in [100, 10_000] {
        let mut filter = growing(100, 0.01);
        let mut queue = VecDeque::new();
        let mut largest = 0;
        for hash in hashes(61, 0, if soak() { 100_000_000 } else { 60 * live }) {
            filter.try_insert_hash(hash).unwrap();
            queue.push_back(hash);
            if queue.len() as u64 > live {
                assert!(filter.remove_hash(queue.pop_front().unwrap()));
            }
            largest = largest.max(filter.capacity());
        }
        assert_eq!(filter.estimated_keys(), live);
        assert!(queue.iter().all(|&hash| filter.contains_hash(hash)));
        println!("{live} live keys, room for {largest} at most: {filter:?}");
        assert!(largest < 8 * live);
    }
}

#[test]
fn churn_at_high_load_loses_no_key() {
    // Every second key is replaced, again and again, while all tables except the newest are full.
    let mut filter = growing(1_000, 0.02);
    let mut keys: Vec<_> = hashes(62, 0, 50_000).collect();
    filter.try_insert_hashes(&keys).unwrap();
    for round in 0..if soak() { 200 } else { 4 } {
        for (key, fresh) in keys
            .iter_mut()
            .step_by(2)
            .zip(hashes(63 + round, 0, 50_000))
        {
            assert!(filter.remove_hash(*key));
            filter.try_insert_hash(fresh).unwrap();
            *key = fresh;
        }
        assert!(keys.iter().all(|&key| filter.contains_hash(key)));
        assert_eq!(filter.estimated_keys(), keys.len() as u64);
        assert!(filter.estimated_rate() <= 0.02);
    }
}

#[test]
fn copies_are_counted_in_chains_of_any_length() {
    let mut filter = growing(10, 0.01);
    let key = hashes(64, 0, 1).next().unwrap();
    for copy in 0..1_000 {
        assert_eq!(filter.try_insert_hash(key), Ok(copy == 0));
        filter
            .try_insert_hashes(&hashes(65, copy * 10, copy * 10 + 10).collect::<Vec<_>>())
            .unwrap();
    }
    assert_eq!(filter.insert_hash_if_absent(key), Ok(false));
    assert_eq!(filter.estimated_keys(), 11_000);
    for _ in 0..1_000 {
        assert!(filter.remove_hash(key));
    }
    assert_eq!(filter.estimated_keys(), 10_000);
    assert!(hashes(65, 0, 10_000).all(|hash| filter.contains_hash(hash)));
}

#[test]
fn a_chain_is_full_if_its_next_table_would_be_too_strict() {
    let mut filter = growing(5, 2e-7);
    let refused = hashes(67, 0, 1_000_000)
        .find_map(|hash| filter.try_insert_hash(hash).err().map(|full| (hash, full)));
    let (hash, full) = refused.unwrap();
    assert_eq!(
        full,
        Full::Table {
            keys: filter.estimated_keys(),
            capacity: filter.capacity()
        }
    );
    assert!(filter.is_over_capacity() && filter.keys_until_full() == 0);
    let before = filter.clone();
    assert!(filter.try_insert_hash(hash).is_err());
    assert!(filter == before && filter.tables().eq(before.tables()));
    assert!(hashes(67, 0, filter.estimated_keys()).all(|hash| filter.contains_hash(hash)));
}

#[test]
fn single_and_batch_agree_and_clear_leaves_one_empty_table() {
    let mut filter = Cuckoo::growing(1_000, 0.01).unwrap();
    let keys: Vec<_> = (0..300_000_u32).map(u32::to_le_bytes).collect();
    let (present, _) = keys.split_at(200_000);
    for key in present {
        filter.try_insert(key).unwrap();
    }
    let mut found = vec![false; keys.len()];
    filter.contains_each(&keys, &mut found);
    let by_hash: Vec<_> = keys.iter().map(|key| filter.hash(key)).collect();
    let mut found_by_hash = vec![false; keys.len()];
    filter.contains_hashes(&by_hash, &mut found_by_hash);
    assert_eq!(found, found_by_hash);
    for (key, &found) in keys.iter().zip(&found) {
        assert_eq!(filter.contains(key), found);
    }
    assert!(found[..present.len()].iter().all(|&found| found));
    assert_eq!(filter.size_bytes() > 200_000, filter.tables().count() > 1);
    filter.clear();
    assert!(filter.is_empty() && filter.tables().count() == 1 && filter.capacity() == 1_000);
    assert_eq!(filter.try_insert(keys[0]), Ok(true));
}

#[test]
fn unplannable_rates_are_rejected_and_a_maximum_limits_keys_until_full() {
    assert!(matches!(
        Cuckoo::growing(0, 0.01),
        Err(PlanError::InvalidInteger {
            field: "capacity",
            ..
        })
    ));
    assert!(matches!(
        Cuckoo::growing(1_000, 1e-8),
        Err(PlanError::InvalidNumber {
            field: "false_positive_rate",
            ..
        })
    ));
    let plan = GrowingPlan::with_maximum(10, 1_000, 0.01).unwrap();
    let mut filter = Cuckoo::growing_from_plan(plan, HashScheme::Caller).unwrap();
    assert_eq!(
        (filter.keys_until_full(), filter.growth()),
        (1_000, Some(&plan))
    );
    filter
        .try_insert_hashes(&hashes(66, 0, 1_001).collect::<Vec<_>>())
        .unwrap();
    assert_eq!(filter.keys_until_full(), 0);
    assert!(Cuckoo::new(10, 0.01).unwrap().growth().is_none());
}
