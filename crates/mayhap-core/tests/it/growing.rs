//! `GrowingBloom`: keeps the rate at every size, loses no key, and single and batch calls agree.

use crate::{hashes, soak};
use mayhap_core::plan::GrowingPlan;
use mayhap_core::{GrowingBloom, HashScheme, Mismatch, SipKey};

/// The share of absent keys that a filter finds.
fn measured_rate(filter: &GrowingBloom, seed: u64, queries: u64) -> f64 {
    let absent: Vec<_> = hashes(!seed, 0, queries).collect();
    let mut found = vec![false; absent.len()];
    filter.contains_hashes(&absent, &mut found);
    found.iter().filter(|&&found| found).count() as f64 / queries as f64
}

#[test]
fn the_rate_is_kept_at_every_power_of_two_from_a_hundred_to_a_million() {
    let (seeds, queries) = (5, 200_000);
    let last = if soak() { 24 } else { 20 };
    for plan in [
        GrowingPlan::new(100, 0.01).unwrap(),
        GrowingPlan::with_maximum(100, 1_000_000, 0.01).unwrap(),
    ] {
        let mut filters: Vec<_> = (0..seeds)
            .map(|_| GrowingBloom::from_plan(plan, HashScheme::Caller).unwrap())
            .collect();
        let mut keys = 0;
        for power in 7..=last {
            let next = 1_u64 << power;
            let mut mean = 0.0;
            for (seed, filter) in (1..).zip(&mut filters) {
                filter.insert_hashes(&hashes(seed, keys, next).collect::<Vec<_>>());
                mean += measured_rate(filter, seed, queries) / f64::from(seeds);
                assert!(
                    filter.estimated_rate() <= 0.0105,
                    "{filter:?}: {}",
                    filter.estimated_rate()
                );
                assert!(!filter.is_over_capacity());
            }
            keys = next;
            let margin = 5.0
                * (1.0 / (f64::from(seeds) * queries as f64 * 0.01) + 0.001 / f64::from(seeds))
                    .sqrt();
            assert!(mean <= 0.01 * (1.0 + margin), "{keys} keys: {mean}");
        }
        let filter = &filters[0];
        println!(
            "{filter:?}: {:.1} bits/key",
            filter.size_bytes() as f64 * 8.0 / keys as f64
        );
    }
}

#[test]
fn no_key_is_lost_while_growing_one_by_one_or_in_batches() {
    for rate in [0.05, 0.01, 0.0001] {
        let mut single = GrowingBloom::for_hashes(10, rate).unwrap();
        let mut batch = GrowingBloom::for_hashes(10, rate).unwrap();
        let keys: Vec<_> = hashes(41, 0, 100_000).collect();
        for (at, &hash) in keys.iter().enumerate() {
            single.insert_hash(hash);
            assert!(single.contains_hash(hash) && !single.insert_hash(hash));
            if at % 9973 == 0 {
                assert!(keys[..=at].iter().all(|&hash| single.contains_hash(hash)));
            }
        }
        for part in keys.chunks(777) {
            batch.insert_hashes(part);
        }
        assert_eq!(single, batch);
        let queried: Vec<_> = keys.iter().copied().chain(hashes(42, 0, 100_000)).collect();
        let mut found = vec![false; queried.len()];
        single.contains_hashes(&queried, &mut found);
        for (&hash, &found) in queried.iter().zip(&found) {
            assert_eq!(single.contains_hash(hash), found);
        }
        assert!(found[..keys.len()].iter().all(|&found| found));
    }
}

#[test]
fn repeated_keys_do_not_make_it_grow() {
    let mut filter = GrowingBloom::new(1000, 0.01).unwrap();
    for _ in 0..20 {
        filter.extend((0..900_u32).map(u32::to_le_bytes));
    }
    assert_eq!(filter.layer_count(), 1);
    assert!(filter.keys_until_growth() >= 100 && filter.capacity() == 1000);
    assert!(filter.estimated_keys().abs_diff(900) < 30);
    let grown_at = (1000..3000_u32).find(|i| {
        filter.insert(i.to_le_bytes());
        filter.layer_count() == 2
    });
    assert!(
        grown_at.is_some_and(|at| (1090..1130).contains(&at)),
        "{grown_at:?}"
    );
    filter.clear();
    assert!(
        filter.layer_count() == 1
            && filter.estimated_keys() == 0
            && !filter.contains(5_u32.to_le_bytes())
    );
}

#[test]
fn byte_keys_and_keyed_filters_work_alike() {
    let mut filter = GrowingBloom::keyed(10, 0.01, SipKey::new([3; 16])).unwrap();
    let keys: Vec<String> = (0..5000).map(|i| format!("key {i}")).collect();
    filter.extend(&keys);
    let mut found = vec![false; keys.len()];
    filter.contains_each(&keys, &mut found);
    assert!(found.iter().all(|&found| found));
    assert!(format!("{filter:?}").contains("layers"));
}

#[test]
fn a_union_holds_the_keys_of_both_whichever_chain_is_longer() {
    for (ours, theirs) in [(50, 50), (1_000, 1_000), (50, 20_000), (20_000, 50)] {
        let fill = |seed, keys| {
            let mut filter = GrowingBloom::for_hashes(100, 0.01).unwrap();
            filter.insert_hashes(&hashes(seed, 0, keys).collect::<Vec<_>>());
            filter
        };
        let (mut union, other) = (fill(43, ours), fill(44, theirs));
        let layers = union.layer_count().max(other.layer_count());
        union.union_with(&other).unwrap();
        assert_eq!(union.layer_count(), layers);
        assert!(
            hashes(43, 0, ours)
                .chain(hashes(44, 0, theirs))
                .all(|hash| union.contains_hash(hash))
        );
        let both = ours + theirs;
        assert!(union.estimated_keys().abs_diff(both) <= 20 + both / 20);
        // 50 and 50 fit into the first layer; all other combinations overfill one.
        assert_eq!(union.is_over_capacity(), both > 100, "{union:?}");
        assert_eq!(union.keys_until_full() == 0, both > 100);
        // It keeps growing, and loses no key.
        union.insert_hashes(&hashes(45, 0, 50_000).collect::<Vec<_>>());
        assert!(hashes(43, 0, ours).all(|hash| union.contains_hash(hash)));
        assert!(hashes(44, 0, theirs).all(|hash| union.contains_hash(hash)));
        assert!(hashes(45, 0, 50_000).all(|hash| union.contains_hash(hash)));
    }
}

#[test]
fn a_union_with_itself_changes_no_answer_and_other_shapes_are_rejected() {
    let mut filter = GrowingBloom::for_hashes(100, 0.01).unwrap();
    filter.insert_hashes(&hashes(46, 0, 1_000).collect::<Vec<_>>());
    let before = filter.clone();
    filter.union_with(&before).unwrap();
    assert!(!filter.is_over_capacity() && filter.layer_count() == before.layer_count());
    assert!(
        hashes(47, 0, 10_000).all(|hash| filter.contains_hash(hash) == before.contains_hash(hash))
    );

    let before = filter.clone();
    for (other, field) in [
        (GrowingBloom::for_hashes(200, 0.01), "lines"),
        (GrowingBloom::for_hashes(100, 0.001), "lines"),
        (GrowingBloom::new(100, 0.01), "hash scheme"),
    ] {
        let refused = filter.union_with(&other.unwrap());
        assert!(
            matches!(refused, Err(Mismatch::Shape { field: named, .. }) if named == field),
            "{refused:?}"
        );
        assert!(filter == before);
    }
}

#[test]
fn keys_until_full_counts_down_to_the_maximum_and_is_unlimited_without() {
    let mut endless = GrowingBloom::for_hashes(100, 0.01).unwrap();
    let mut bounded = GrowingBloom::with_maximum(100, 5_000, 0.01).unwrap();
    assert_eq!(
        (endless.keys_until_full(), bounded.keys_until_full()),
        (u64::MAX, 5_000)
    );
    endless.insert_hashes(&hashes(48, 0, 3_000).collect::<Vec<_>>());
    bounded.extend((0..3_000_u32).map(u32::to_le_bytes));
    assert_eq!(endless.keys_until_full(), u64::MAX);
    assert!(bounded.keys_until_full().abs_diff(2_000) < 100);
    bounded.extend((3_000..6_000_u32).map(u32::to_le_bytes));
    assert_eq!(bounded.keys_until_full(), 0);
}
