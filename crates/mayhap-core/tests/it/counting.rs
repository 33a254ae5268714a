//! `CountingBloom` against an exact multiset: no key is lost, remove undoes insert, and saturated counters are reported.

use crate::{hashes, mixed, soak};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::plan::counting::{CountingPlan, poisson_tail};
use mayhap_core::{ClassicBloom, CountingBloom, HashScheme, KeyHash, PlanError, Scheme, SipKey};
use proptest::prelude::*;
use std::collections::HashMap;

fn filter(capacity: u64, rate: f64, counter_bits: u8) -> CountingBloom {
    let plan = CountingPlan::new(capacity, rate, counter_bits).unwrap();
    CountingBloom::from_plan(plan, Scheme::EnhancedDoubleHashing, HashScheme::Caller).unwrap()
}

/// Few counters and many probes, so that a key's probes often coincide.
fn colliding(counters: u64, probes: u32, counter_bits: u8) -> CountingBloom {
    let classic = ClassicPlan::with_bits_and_probes(counters, probes).unwrap();
    let plan = CountingPlan::from_classic(classic, counter_bits).unwrap();
    CountingBloom::from_plan(plan, Scheme::EnhancedDoubleHashing, HashScheme::Caller).unwrap()
}

/// Random operations on the filter and on an exact multiset of some keys. Absent keys come from another stream. Returns whether a
/// counter saturated.
fn model(mut filter: CountingBloom, keys: u64, max_each: u64, operations: u64, seed: u64) -> bool {
    let pool: Vec<KeyHash> = hashes(seed, 0, keys).collect();
    let mut exact: HashMap<KeyHash, u64> = HashMap::new();
    let (mut total, mut saturated, mut removed, mut refused) = (0_u64, false, 0, 0);
    for step in 0..operations {
        let random = mixed(seed ^ mixed(step));
        let key = pool[(random >> 32) as usize % pool.len()];
        let count = exact.get(&key).copied().unwrap_or(0);
        match random % 5 {
            0 | 1 if count < max_each => {
                let known = filter.contains_hash(key);
                assert_eq!(filter.insert_hash(key), !known);
                assert!(
                    known || count == 0,
                    "a key that was in is not definitely new"
                );
                exact.insert(key, count + 1);
                total += 1;
            }
            2 if count > 0 => match filter.remove_hash(key) {
                Ok(true) => {
                    exact.insert(key, count - 1);
                    total -= 1;
                    removed += 1;
                }
                Ok(false) => panic!("step {step}: a present key is certainly absent"),
                Err(error) => {
                    assert_eq!(error.max_count, filter.plan().max_count());
                    assert!(filter.saturated_counters() > 0);
                    assert!(filter.contains_hash(key));
                    saturated = true;
                }
            },
            3 => {
                // An absent key is removed only if the filter knows that it is absent: then nothing changes.
                let absent_key = KeyHash::from_u64(mixed(!random));
                if !filter.contains_hash(absent_key) {
                    let before = (step % 64 == 0).then(|| filter.clone());
                    assert_eq!(filter.remove_hash(absent_key), Ok(false));
                    assert!(before.is_none_or(|before| before == filter));
                    assert_eq!(filter.estimated_count_hash(absent_key), 0);
                    refused += 1;
                }
            }
            _ => {
                let estimate = filter.estimated_count_hash(key);
                assert!(count == 0 || filter.contains_hash(key), "step {step}: lost");
                assert_eq!(filter.contains_hash(key), estimate > 0);
                let max = u64::from(filter.plan().max_count());
                assert!(estimate >= count.min(max), "step {step}: {estimate}");
            }
        }
        if step % (operations / 8) == 0 {
            saturated |= filter.saturated_counters() > 0;
            for (&key, &count) in &exact {
                assert!(count == 0 || filter.contains_hash(key), "step {step}: lost");
            }
            if !saturated {
                assert_eq!(filter.total_count(), total);
            }
        }
    }
    saturated |= filter.saturated_counters() > 0;
    println!("{filter:?}: {removed} removed, {refused} refused, saturated: {saturated}");
    assert!(removed > 0 && refused > 0);
    if !saturated {
        for (&key, &count) in &exact {
            for _ in 0..count {
                assert_eq!(filter.remove_hash(key), Ok(true));
            }
        }
        assert!(filter.is_empty(), "remove undoes insert bit for bit");
    }
    saturated
}

#[test]
fn random_operations_agree_with_an_exact_multiset_at_every_width() {
    let operations = if soak() { 10_000_000 } else { 100_000 };
    for counter_bits in 3..=8 {
        // At most three copies of a key: 4 bits are nearly wide enough, 5 are.
        let full = model(filter(2_000, 0.01, counter_bits), 2_000, 3, operations, 1);
        assert_eq!(full, counter_bits < 5);
        // Keys that are inserted too often for narrow counters: some saturate, and no key is lost.
        let full = model(filter(500, 0.001, counter_bits), 500, 20, operations, 2);
        assert_eq!(full, counter_bits < 7);
        // Probes that coincide.
        model(colliding(97, 11, counter_bits), 12, 2, operations, 3);
    }
}

#[test]
fn remove_undoes_insert_bit_for_bit() {
    for mut filter in [
        filter(1000, 0.01, 3),
        filter(1000, 0.0001, 7),
        colliding(40, 9, 8),
        colliding(5, 30, 8),
    ] {
        let capacity = filter.capacity().min(20);
        filter.insert_hashes(&hashes(4, 0, capacity / 2).collect::<Vec<_>>());
        let before = filter.clone();
        for hash in hashes(5, 0, 200) {
            filter.insert_hash(hash);
            if filter.saturated_counters() == 0 {
                assert_eq!(filter.remove_hash(hash), Ok(true));
                assert_eq!(filter, before);
            } else {
                filter = before.clone();
            }
        }
    }
}

#[test]
fn a_rejected_removal_changes_nothing() {
    // Few counters: absent keys whose probes coincide find counters that are not zero but too low.
    let mut refused_late = 0;
    for seed in 0..2000 {
        let mut filter = colliding(23, 6, 4);
        filter.insert_hashes(&hashes(seed, 0, 3).collect::<Vec<_>>());
        let before = filter.clone();
        for absent_key in hashes(!seed, 0, 5) {
            let found = filter.contains_hash(absent_key);
            match filter.remove_hash(absent_key) {
                Ok(true) => {
                    assert!(found);
                    filter = before.clone();
                }
                Ok(false) => {
                    assert_eq!(filter, before);
                    refused_late += u32::from(found);
                }
                Err(error) => panic!("three keys do not fill a counter: {error}"),
            }
        }
    }
    println!("refused although found: {refused_late}");
    assert!(refused_late > 0);
}

#[test]
fn a_saturated_counter_is_reported_and_keeps_its_keys() {
    let mut filter = CountingBloom::with_counter_bits(100, 0.01, 3).unwrap();
    assert_eq!(filter.plan().max_count(), 7);
    for count in 1..=6 {
        assert_eq!(filter.insert("a"), count == 1);
        assert_eq!(filter.estimated_count("a"), count);
    }
    assert_eq!(filter.saturated_counters(), 0);
    let six = filter.clone();
    for _ in 0..5 {
        filter.insert("a");
        assert_eq!(filter.estimated_count("a"), 7);
        let before = filter.clone();
        let error = filter.remove("a").unwrap_err();
        assert_eq!(error.max_count, 7);
        assert!(error.to_string().contains("saturated at 7"), "{error}");
        assert_eq!(filter, before, "nothing was changed");
        assert!(filter.saturated_counters() >= 6);
    }
    assert_eq!(filter.remove("b"), Ok(false));
    filter.clear();
    assert!(filter.is_empty() && filter.saturated_counters() == 0);
    filter = six;
    for left in (0..6).rev() {
        assert_eq!(filter.remove("a"), Ok(true));
        assert_eq!(filter.estimated_count("a"), left);
    }
    assert!(filter.is_empty());
    assert_eq!(filter.remove("a"), Ok(false));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_union_adds_the_counts(counter_bits in 3..=8_u8, seed: u64, ours in 0..800_u64, theirs in 0..800_u64) {
        let fill = |seed, keys| {
            let mut filter = filter(400, 0.01, counter_bits);
            filter.insert_hashes(&hashes(seed, 0, keys).collect::<Vec<_>>());
            filter
        };
        let (mut joined, other) = (fill(seed, ours), fill(!seed, theirs));
        joined.union_with(&other).unwrap();
        let mut both = fill(seed, ours);
        both.insert_hashes(&hashes(!seed, 0, theirs).collect::<Vec<_>>());
        prop_assert_eq!(joined, both);
    }

    #[test]
    fn to_classic_gives_the_same_answers(counter_bits in 3..=8_u8, seed: u64, keys in 0..3000_u64) {
        let mut counting = filter(1000, 0.05, counter_bits);
        let mut classic = ClassicBloom::for_hashes(1000, 0.05).unwrap();
        let inserted: Vec<_> = hashes(seed, 0, keys).collect();
        counting.insert_hashes(&inserted);
        classic.insert_hashes(&inserted);
        let bits_only = counting.to_classic().unwrap();
        prop_assert_eq!(&bits_only, &classic);
        for hash in hashes(seed, 0, keys + 500) {
            prop_assert_eq!(bits_only.contains_hash(hash), counting.contains_hash(hash));
        }
        prop_assert_eq!(bits_only.estimated_keys(), counting.estimated_keys());
        prop_assert_eq!(bits_only.estimated_rate().to_bits(), counting.estimated_rate().to_bits());
        prop_assert_eq!(bits_only.is_over_capacity(), counting.is_over_capacity());
    }
}

#[test]
fn single_and_batch_agree_in_and_out_of_cache() {
    for capacity in [1, 1000, 300_000] {
        for counter_bits in 3..=8 {
            let mut single = filter(capacity, 0.01, counter_bits);
            let mut batch = single.clone();
            let keys: Vec<_> = hashes(6, 0, capacity.min(20_000)).collect();
            for &hash in &keys {
                single.insert_hash(hash);
            }
            batch.insert_hashes(&keys);
            assert_eq!(single, batch);
            let queried: Vec<_> = hashes(6, 0, 30_000).collect();
            let mut found = vec![false; queried.len()];
            batch.contains_hashes(&queried, &mut found);
            for (&hash, found) in queried.iter().zip(found) {
                assert_eq!(single.contains_hash(hash), found);
            }
        }
    }
    let keys: Vec<_> = (0..200_000_u32).map(u32::to_le_bytes).collect();
    let filter = CountingBloom::from_keys(&keys, 0.01).unwrap();
    let mut found = vec![false; keys.len()];
    filter.contains_each(&keys, &mut found);
    assert!(found.iter().all(|&found| found));
    assert_eq!(filter.total_count(), 200_000);
    let mut keyed = CountingBloom::keyed(10, 0.01, SipKey::new([9; 16])).unwrap();
    assert!(keyed.insert("a") && keyed.remove("a") == Ok(true) && keyed.is_empty());
    assert!(
        !format!("{keyed:?}").contains("9,"),
        "the secret stays out of it"
    );
}

/// Compares the mean over seeds 1..=S of the rate at capacity, after as many other keys were inserted and removed, with the
/// requested one, within five standard deviations of sampling and of the spread between filters.
#[test]
fn the_requested_rate_is_kept_at_capacity_also_after_removals() {
    let seeds = 5;
    for rate in [0.05, 0.01, 0.001, 0.0001] {
        for capacity in [1_000, 100_000] {
            let queries = ((1e4 / rate) as u64).min(3_000_000);
            let mut sum = 0;
            let mut plan = None;
            for seed in 1..=seeds {
                let mut filter = CountingBloom::for_hashes(capacity, rate).unwrap();
                plan = Some(*filter.plan().classic());
                filter.insert_hashes(&hashes(seed, 0, (2 * capacity) as u64).collect::<Vec<_>>());
                for hash in hashes(seed, 0, capacity as u64) {
                    assert_eq!(filter.remove_hash(hash), Ok(true));
                }
                let mut found = vec![false; 1 << 14];
                for from in (0..queries).step_by(1 << 14) {
                    let to = queries.min(from + (1 << 14));
                    let queried: Vec<_> = hashes(seed ^ 0xFFFF_0000, from, to).collect();
                    filter.contains_hashes(&queried, &mut found[..queried.len()]);
                    sum += found[..queried.len()]
                        .iter()
                        .filter(|&&found| found)
                        .count();
                }
                assert_eq!(filter.false_positive_rate().to_bits(), rate.to_bits());
                assert!(!filter.is_over_capacity());
            }
            let all = (seeds * queries) as f64;
            let mean = sum as f64 / all;
            let spread = plan.unwrap().relative_variance_at(capacity as u64) / seeds as f64;
            let margin = 5.0 * (1.0 / (all * rate) + spread).sqrt();
            println!(
                "counting, {capacity} keys at {rate}: measured {mean:.3e}, margin {:.1} %",
                100.0 * margin
            );
            assert!(mean <= rate * (1.0 + margin), "{mean:e}, margin {margin}");
            assert!(mean >= rate * (1.0 - margin), "{mean:e}, margin {margin}");
        }
    }
}

#[test]
fn counters_saturate_as_often_as_the_plan_computes() {
    // 3 bits, at two and three times the capacity, where counters saturate.
    for times in [2, 3] {
        let capacity = 200_000;
        let mut filter = filter(capacity, 0.01, 3);
        filter.insert_hashes(&hashes(9, 0, times * capacity).collect::<Vec<_>>());
        let plan = *filter.plan();
        let expected = plan.overflow_probability(times * capacity) * plan.counters() as f64;
        let found = filter.saturated_counters() as f64;
        println!("{plan}, {times} times: {found} full, expected {expected:.0}");
        assert!((found - expected).abs() < 5.0 * expected.sqrt());
        assert!(filter.is_over_capacity() && filter.keys_until_full() == 0);
        // And for every other count: the share of counters that were probed that often.
        let load =
            f64::from(plan.classic().probes) * (times * capacity) as f64 / plan.counters() as f64;
        for count in 1..7_u8 {
            let at_least = filter.counters().filter(|&have| have >= count).count() as f64;
            let expected = poisson_tail(load, u32::from(count)) * plan.counters() as f64;
            assert!((at_least - expected).abs() < 5.0 * expected.sqrt());
        }
    }
}

#[test]
fn estimates_follow_the_keys() {
    let mut filter = CountingBloom::for_hashes(50_000, 0.01).unwrap();
    assert_eq!(
        (filter.estimated_keys(), filter.keys_until_full()),
        (0, 50_000)
    );
    filter.insert_hashes(&hashes(3, 0, 40_000).collect::<Vec<_>>());
    assert!(filter.estimated_keys().abs_diff(40_000) < 400);
    assert!(filter.keys_until_full().abs_diff(10_000) < 400);
    assert_eq!(filter.total_count(), 40_000);
    assert!(filter.estimated_rate() < 0.01);
    for hash in hashes(3, 0, 30_000) {
        assert_eq!(filter.remove_hash(hash), Ok(true));
    }
    assert!(filter.estimated_keys().abs_diff(10_000) < 200);
    assert_eq!(filter.total_count(), 10_000);
}

#[test]
fn mismatched_filters_are_rejected_with_the_field_and_unchanged() {
    let base = CountingBloom::new(1000, 0.01).unwrap();
    for (other, field) in [
        (CountingBloom::new(2000, 0.01).unwrap(), "bits"),
        (CountingBloom::new(1000, 0.001).unwrap(), "probes"),
        (
            CountingBloom::with_counter_bits(1000, 0.01, 5).unwrap(),
            "counter bits, 4 here and 5 there",
        ),
        (
            CountingBloom::for_hashes(1000, 0.01).unwrap(),
            "hash scheme",
        ),
    ] {
        let mut ours = base.clone();
        let message = ours.union_with(&other).unwrap_err().to_string();
        assert!(message.contains(field), "{message}");
        assert_eq!(ours, base);
        assert_ne!(ours, other);
    }
}

fn errors(capacity: u64, rate: f64) -> Vec<PlanError> {
    vec![
        CountingBloom::new(capacity as usize, rate).unwrap_err(),
        CountingBloom::for_hashes(capacity as usize, rate).unwrap_err(),
        CountingBloom::with_counter_bits(capacity as usize, rate, 8).unwrap_err(),
    ]
}

#[test]
fn invalid_requests_name_the_field() {
    for error in errors(0, 0.01) {
        assert!(matches!(
            error,
            PlanError::InvalidInteger {
                field: "capacity",
                value: 0,
                ..
            }
        ));
    }
    for rate in [0.0, 1.0, -0.5, 2.0, f64::NAN, f64::INFINITY] {
        for error in errors(1000, rate) {
            assert!(matches!(
                error,
                PlanError::InvalidNumber {
                    field: "false_positive_rate",
                    ..
                }
            ));
        }
    }
    for bits in [0, 2, 9] {
        let error = CountingBloom::with_counter_bits(10, 0.1, bits).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("counter_bits = {bits} is out of range: give 3 to 8 bits a counter")
        );
    }
    for error in errors(10_000_000_000_000, 0.01) {
        assert!(matches!(error, PlanError::OutOfMemory { .. }), "{error}");
    }
    for error in errors(u64::MAX, 0.01) {
        assert!(!matches!(error, PlanError::OutOfMemory { .. }), "{error}");
    }
}

#[test]
#[should_panic(expected = "one place in `found` for every hash")]
fn answers_to_hashes_need_a_place_each() {
    CountingBloom::for_hashes(10, 0.1)
        .unwrap()
        .contains_hashes(&[KeyHash::from_u64(1)], &mut []);
}

#[test]
#[should_panic(expected = "has no hash function")]
fn byte_methods_on_a_filter_for_hashes_panic_as_documented() {
    _ = CountingBloom::for_hashes(10, 0.1).unwrap().remove("a");
}

#[test]
fn filters_are_send_and_sync() {
    fn sendable<T: Send + Sync>() {}
    sendable::<CountingBloom>();
    sendable::<CountingPlan>();
}

fn foreign(counters: u64, probes: u32, scheme: Scheme) -> CountingBloom {
    let classic = ClassicPlan::with_bits_and_probes(counters, probes).unwrap();
    let plan = CountingPlan::from_classic(classic, 4).unwrap();
    CountingBloom::from_plan(plan, scheme, HashScheme::Caller).unwrap()
}

#[test]
fn schemes_of_other_systems_accept_key_bytes_only() {
    let schemes = [
        Scheme::HadoopJenkins,
        Scheme::HadoopMurmur,
        Scheme::GuavaMitz64,
        Scheme::Parquet,
    ];
    for scheme in schemes {
        let mut counting = foreign(4096, 8, scheme);
        let mut classic =
            ClassicBloom::from_plan(*counting.plan().classic(), scheme, HashScheme::Caller)
                .unwrap();
        let keys: Vec<_> = (0..300_u32).map(u32::to_le_bytes).collect();
        for key in &keys {
            assert_eq!(counting.insert(key), classic.insert(key));
            assert!(counting.estimated_count(key) >= 1);
        }
        assert_eq!(counting.to_classic().unwrap(), classic);
        let mut extended = foreign(4096, 8, scheme);
        extended.extend(&keys);
        assert_eq!(extended, counting);

        let queried: Vec<_> = (0..3000_u32).map(u32::to_le_bytes).collect();
        let mut found = vec![false; queried.len()];
        counting.contains_each(&queried, &mut found);
        for (key, found) in queried.iter().zip(found) {
            assert_eq!(found, classic.contains(key));
            assert_eq!(found, counting.contains(key));
        }

        let (plan, counts) = (*counting.plan(), counting.counters());
        let same = CountingBloom::from_counts(plan, scheme, HashScheme::Caller, counts).unwrap();
        assert_eq!(same, counting);
        for key in &keys {
            assert_eq!(counting.remove(key), Ok(true));
        }
        assert!(counting.is_empty());
    }
}

#[test]
#[should_panic(expected = "accepts key bytes only")]
fn hashes_of_ours_mean_nothing_to_another_systems_scheme() {
    foreign(100, 3, Scheme::HadoopMurmur).insert_hash(KeyHash::from_u64(1));
}

#[test]
fn invalid_counts_are_rejected() {
    let plan = *foreign(5, 2, Scheme::HadoopMurmur).plan();
    let constructor = |counts: &[u8]| {
        let counts = counts.iter().copied();
        CountingBloom::from_counts(plan, Scheme::HadoopMurmur, HashScheme::Caller, counts)
    };
    assert!(constructor(&[0, 15, 1, 2, 3]).is_ok());
    assert!(constructor(&[0, 15, 1, 2]).is_err(), "too few");
    assert!(constructor(&[0, 15, 1, 2, 3, 0]).is_err(), "too many");
    assert!(constructor(&[0, 16, 1, 2, 3]).is_err(), "too large");
    let blocks = ClassicPlan::with_bits_and_probes(100, 8).unwrap();
    let blocks = CountingPlan::from_classic(blocks, 4).unwrap();
    assert!(
        CountingBloom::from_plan(blocks, Scheme::Parquet, HashScheme::Caller).is_err(),
        "not whole blocks"
    );
}

#[test]
fn remove_leaving_saturated_keeps_saturated_counters() {
    for scheme in [Scheme::HadoopJenkins, Scheme::EnhancedDoubleHashing] {
        let plan = *foreign(1000, 4, scheme).plan();
        let mut filter = CountingBloom::from_plan(plan, scheme, HashScheme::Xxh3).unwrap();
        assert!(!filter.remove_leaving_saturated("a"));
        assert!(filter.is_empty());
        for _ in 0..20 {
            filter.insert("often");
        }
        let full = filter.clone();
        assert!(filter.remove("often").is_err());
        assert!(filter.remove_leaving_saturated("often"));
        assert_eq!(filter, full);
        for _ in 0..3 {
            filter.insert("seldom");
        }
        for _ in 0..3 {
            assert!(filter.remove_leaving_saturated("seldom"));
        }
        assert_eq!(filter, full);
        assert_eq!(filter.estimated_count("often"), 15);
    }
}
