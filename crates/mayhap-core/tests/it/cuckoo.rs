//! What `Cuckoo` guarantees: no key is lost, the rate is kept, a rejected insert changes nothing, a removal undoes an insert.

use crate::{hashes, mixed, soak};
use mayhap_core::plan::CuckooPlan;
use mayhap_core::{Cuckoo, Full, HashScheme, KeyHash, PlanError, SipKey};
use std::collections::HashMap;

fn filter(capacity: u64, rate: f64) -> Cuckoo {
    Cuckoo::for_hashes(capacity as usize, rate).unwrap()
}

fn fill(filter: &mut Cuckoo, keys: impl IntoIterator<Item = KeyHash>) {
    for key in keys {
        filter.try_insert_hash(key).unwrap();
    }
}

/// The cells one by one.
fn cells(filter: &Cuckoo) -> Vec<u64> {
    let bits = u64::from(filter.plan().cell_bits());
    let bit = |at: u64| u64::from(filter.bytes()[(at / 8) as usize] >> (at % 8) & 1);
    (0..filter.plan().cells())
        .map(|cell| (0..bits).fold(0, |sum, at| sum | bit(cell * bits + at) << at))
        .collect()
}

#[test]
fn no_difficult_key_is_lost_and_single_and_batch_agree() {
    let mut keys: Vec<Vec<u8>> = (0..20_000_u32).map(|i| i.to_le_bytes().to_vec()).collect();
    keys.extend((0..5_000).map(|i| format!("https://www.example.com/prefix/{i}").into_bytes()));
    keys.extend((0..=255_u8).map(|byte| vec![byte]));
    keys.push(Vec::new());
    keys.push(vec![7; 1 << 20]);
    let absent: Vec<Vec<u8>> = (0..20_000_u64).map(|i| i.to_be_bytes().to_vec()).collect();
    for scheme in [HashScheme::Xxh3, HashScheme::Sip13(SipKey::new([7; 16]))] {
        for rate in [0.2, 0.05, 0.01, 0.001, 1e-5, 2e-8] {
            let plan = CuckooPlan::new(keys.len() as u64, rate).unwrap();
            let mut filter = Cuckoo::from_plan(plan, scheme).unwrap();
            for key in &keys {
                filter.try_insert(key).unwrap();
                assert!(filter.contains(key), "{plan}: lost at once");
            }
            for queried in [&keys, &absent] {
                let mut found = vec![false; queried.len()];
                filter.contains_each(queried, &mut found);
                let one_by_one: Vec<_> = queried.iter().map(|key| filter.contains(key)).collect();
                assert_eq!(found, one_by_one, "{plan}");
                let hashes: Vec<_> = queried.iter().map(|key| filter.hash(key)).collect();
                filter.contains_hashes(&hashes, &mut found);
                assert_eq!(found, one_by_one, "{plan}");
            }
            assert!(keys.iter().all(|key| filter.contains(key)), "{plan}");
            assert_eq!(filter.estimated_keys(), keys.len() as u64);
        }
    }
}

#[test]
fn batches_of_any_length_agree_in_and_out_of_cache() {
    for capacity in [10, 10_000, 2_000_000] {
        let mut filter = filter(capacity, 0.01);
        fill(&mut filter, hashes(1, 0, capacity));
        let queried: Vec<_> = hashes(1, 0, capacity.min(1000))
            .chain(hashes(2, 0, 3000))
            .collect();
        for len in [0, 1, 2, 63, 64, 65, 500, queried.len()] {
            let queried = &queried[..len.min(queried.len())];
            let mut found = vec![false; queried.len()];
            filter.contains_hashes(queried, &mut found);
            let one_by_one: Vec<_> = queried.iter().map(|&h| filter.contains_hash(h)).collect();
            assert_eq!(found, one_by_one);
        }
        assert!(hashes(1, 0, capacity).all(|hash| filter.contains_hash(hash)));
    }
}

#[test]
fn a_batch_of_inserts_gives_the_bytes_of_single_ones_and_stops_at_the_first_error() {
    for capacity in [1, 10, 1000, 700_000] {
        let keys: Vec<_> = hashes(13, 0, 2 * capacity + 20).collect();
        let mut batch = filter(capacity, 0.001);
        let mut single = batch.clone();
        let refused = keys
            .iter()
            .find_map(|&key| single.try_insert_hash(key).err());
        assert_eq!(batch.try_insert_hashes(&keys).err(), refused);
        assert!(batch == single && refused.is_some());
        let present = single.estimated_keys() as usize;
        assert!(keys[..present].iter().all(|&key| batch.contains_hash(key)));
        batch.clear();
        batch.try_insert_hashes(&keys[..capacity as usize]).unwrap();
        assert_eq!(batch.estimated_keys(), capacity);
    }
}

#[test]
fn filters_of_any_size_hold_their_capacity() {
    let filters = if soak() { 1_000_000 } else { 20_000 };
    for (capacity, filters) in [
        (1, filters),
        (2, filters),
        (3, filters),
        (5, filters),
        (10, filters),
        (30, filters),
        (100, filters),
        (300, filters / 10),
        (990, filters / 40),
        (1000, filters / 40),
        (10_000, filters / 1000),
        (1_000_000, 1),
    ] {
        for rate in [0.3, 0.01, 0.001] {
            let mut filter = filter(capacity, rate);
            let mut refused = 0;
            for seed in 1..=filters {
                filter.clear();
                refused += u64::from(
                    hashes(seed, 0, capacity).any(|hash| filter.try_insert_hash(hash).is_err()),
                );
            }
            println!(
                "{}: {refused} of {filters} filters refused a key",
                filter.plan()
            );
            assert!(refused <= 1 + filters / 100_000, "{refused}");
        }
    }
}

/// The measured rate of a full filter over `queries` absent keys.
fn measured_rate(plan: CuckooPlan, seed: u64, queries: u64) -> f64 {
    let mut filter = Cuckoo::from_plan(plan, HashScheme::Caller).unwrap();
    fill(&mut filter, hashes(seed, 0, plan.capacity()));
    let mut buffer: Vec<KeyHash> = Vec::new();
    let mut found = vec![false; 1 << 14];
    let mut false_positives = 0;
    for from in (0..queries).step_by(1 << 14) {
        buffer.clear();
        buffer.extend(hashes(
            seed ^ 0xFFFF_0000,
            from,
            queries.min(from + (1 << 14)),
        ));
        filter.contains_hashes(&buffer, &mut found[..buffer.len()]);
        false_positives += found[..buffer.len()].iter().filter(|&&found| found).count();
    }
    false_positives as f64 / queries as f64
}

/// Compares the mean over seeds 1..=S with the requested rate (from above) and the computed one (from both sides), within five
/// standard deviations of sampling. Filters of one plan differ only in how many of their keys collide.
fn accept(capacity: u64, rate: f64, seeds: u64) {
    let plan = CuckooPlan::new(capacity, rate).unwrap();
    let planned = plan.rate_at(capacity);
    let queries = ((1e4 / rate) as u64).min(if soak() { 100_000_000 } else { 10_000_000 });
    let mean = (1..=seeds)
        .map(|seed| measured_rate(plan, seed, queries))
        .sum::<f64>()
        / seeds as f64;
    let alike = planned / 2.0 / (seeds * capacity) as f64;
    let margin = 5.0 * (1.0 / (seeds as f64 * queries as f64 * planned) + alike).sqrt();
    println!(
        "{plan}: measured {mean:.3e}, planned {planned:.3e}, {:.2} bits/key, {:.3} x log2(1/rate), margin {:.1} %",
        plan.bits_per_key(),
        plan.bits_per_key() / -mean.log2(),
        100.0 * margin
    );
    assert!(mean <= rate * (1.0 + margin), "{plan}: measured {mean:e}");
    assert!(
        (mean / planned - 1.0).abs() <= margin,
        "{plan}: measured {mean:e}, planned {planned:e}, {margin}"
    );
}

#[test]
fn the_rate_at_capacity_is_the_computed_one_and_at_most_the_requested_one() {
    for rate in [0.05, 0.01, 0.001, 0.0001] {
        for capacity in [1_000, 100_000] {
            accept(capacity, rate, 5);
        }
    }
    accept(10_000_000, 0.01, 1);
    for capacity in [1, 7, 40, 200] {
        accept(capacity, 0.02, 20);
    }
    if soak() {
        for rate in [0.05, 0.01, 0.001, 0.0001] {
            for capacity in [10_000_000, 100_000_000] {
                accept(capacity, rate, 5);
            }
        }
    }
}

#[test]
fn try_insert_is_true_only_for_definitely_new_keys() {
    for rate in [0.2, 0.01, 1e-4] {
        let mut filter = filter(5000, rate);
        for hash in hashes(3, 0, 5000) {
            let known = filter.contains_hash(hash);
            assert_eq!(filter.try_insert_hash(hash), Ok(!known));
        }
        let full = filter.clone();
        for hash in hashes(3, 0, 5000) {
            assert_eq!(filter.insert_hash_if_absent(hash), Ok(false));
        }
        assert_eq!(filter, full, "insert_if_absent leaves known keys alone");
    }
}

#[test]
fn remove_undoes_insert_bit_for_bit_unless_others_had_to_move() {
    let mut moved = 0;
    for capacity in [3, 50, 400] {
        for rate in [0.1, 0.001] {
            let mut filter = filter(capacity, rate);
            for (at, hash) in hashes(4, 0, capacity).enumerate() {
                let before = filter.clone();
                let new = filter.try_insert_hash(hash).unwrap();
                let full = filter.clone();
                assert!(filter.remove_hash(hash));
                let stayed = cells(&before)
                    .into_iter()
                    .zip(cells(&full))
                    .all(|(before, full)| before == 0 || before == full);
                if stayed && new {
                    assert_eq!(filter, before);
                }
                moved += u64::from(!stayed);
                assert_eq!(filter.estimated_keys(), at as u64);
                for hash in hashes(4, 0, at as u64).chain(hashes(5, 0, 500)) {
                    assert_eq!(filter.contains_hash(hash), before.contains_hash(hash));
                }
                filter = full;
            }
        }
    }
    assert!(moved > 50, "some inserts moved others: {moved}");
}

#[test]
fn a_filter_filled_and_emptied_is_empty_to_the_last_bit() {
    let mut filter = filter(10_000, 0.001);
    let keys: Vec<_> = hashes(6, 0, 10_000).collect();
    fill(&mut filter, keys.iter().copied());
    for (at, &key) in keys.iter().enumerate() {
        assert!(filter.remove_hash(key), "key {at}");
    }
    assert!(filter.is_empty() && filter.bytes().iter().all(|&byte| byte == 0));
    assert!(!keys.iter().any(|&key| filter.remove_hash(key)));
}

#[test]
fn a_rejected_insert_changes_no_bit() {
    // As planned: the filter rejects keys at 93 % of its cells, by the count. Then with every cell allowed: it rejects keys when
    // a walk of 2000 steps fails, again and again. Then hashes that are concentrated on a few windows.
    let mut walks = 0;
    for (capacity, cells) in [(1, 3), (7, 7), (100, 100), (5000, 5000), (100_000, 100_000)] {
        for rate in [0.05, 0.001] {
            let plans = [
                CuckooPlan::new(capacity, rate).unwrap(),
                CuckooPlan::with_cells(capacity, rate, cells).unwrap(),
            ];
            for plan in plans {
                let mut filter = Cuckoo::from_plan(plan, HashScheme::Caller).unwrap();
                let mut present = Vec::new();
                let mut refused = 0;
                for hash in hashes(7, 0, 2 * plan.cells() + 20) {
                    let before = (refused < 50 || soak()).then(|| filter.clone());
                    if filter.try_insert_hash(hash).is_ok() {
                        present.push(hash);
                    } else {
                        refused += 1;
                        walks += u64::from(filter.estimated_keys() < plan.max_keys());
                        assert!(before.is_none_or(|before| before == filter), "{plan}");
                    }
                    if refused == 200 {
                        break;
                    }
                }
                assert!(refused > 0, "{plan}");
                assert!(present.iter().all(|&hash| filter.contains_hash(hash)));
                assert_eq!(filter.estimated_keys(), present.len() as u64);
                let used = self::cells(&filter)
                    .iter()
                    .filter(|&&cell| cell != 0)
                    .count();
                assert_eq!(used, present.len());
            }
        }
    }
    assert!(walks > 100, "some walks ended nowhere: {walks}");
}

#[test]
fn a_planned_filter_is_full_at_93_percent() {
    let mut filter = filter(100_000, 0.01);
    let mut keys = hashes(8, 0, u64::MAX);
    fill(&mut filter, keys.by_ref().take(100_000));
    assert!(!filter.is_over_capacity() && filter.keys_until_full() == 0);
    let refused = keys.find_map(|hash| filter.try_insert_hash(hash).err());
    assert!((filter.load() - 0.93).abs() < 1e-4, "{filter:?}");
    assert!(filter.is_over_capacity());
    let Some(Full::Table {
        keys,
        capacity: 100_000,
        ..
    }) = refused
    else {
        panic!("{refused:?}")
    };
    assert_eq!(keys, filter.estimated_keys());
    let message = refused.unwrap().to_string();
    assert!(message.contains("remove some"), "{message}");
}

#[test]
fn copies_are_bounded_and_reported() {
    for (seed, rate) in [(1, 0.01), (2, 0.001), (3, 1e-6)] {
        let mut filter = filter(1000, rate);
        let key = hashes(seed, 0, 1).next().unwrap();
        assert_eq!(filter.try_insert_hash(key), Ok(true));
        for _ in 0..3 {
            assert_eq!(filter.try_insert_hash(key), Ok(false));
        }
        let before = filter.clone();
        assert_eq!(filter.try_insert_hash(key), Err(Full::Copies { copies: 4 }));
        assert_eq!(filter, before);
        let message = Full::Copies { copies: 4 }.to_string();
        assert!(message.contains("4 times"), "{message}");
        for left in (0..4).rev() {
            assert!(filter.remove_hash(key));
            assert_eq!(filter.contains_hash(key), left > 0);
            assert_eq!(filter.estimated_keys(), left);
        }
        assert!(!filter.remove_hash(key));
    }
}

#[test]
fn copies_survive_while_others_are_inserted_and_removed() {
    // Four copies of many keys, the table as full as possible: whatever moves, each copy can be removed.
    let mut filter = filter(4000, 0.001);
    let keys: Vec<_> = hashes(9, 0, 1000).collect();
    for round in 0..4 {
        for &key in &keys {
            assert_eq!(filter.try_insert_hash(key).is_ok_and(|new| new), round == 0);
        }
    }
    let present = filter.estimated_keys();
    let removed = (0..4)
        .map(|_| keys.iter().filter(|&&key| filter.remove_hash(key)).count() as u64)
        .sum::<u64>();
    assert_eq!(removed, present);
    assert!(filter.is_empty());
}

#[test]
fn churn_at_93_percent_loses_no_key() {
    let operations: u64 = if soak() { 100_000_000 } else { 1_000_000 };
    let mut filter = filter(184_000, 0.001);
    let mut keys = hashes(10, 0, u64::MAX);
    let mut present: Vec<KeyHash> = Vec::new();
    while filter.estimated_keys() < filter.plan().max_keys() {
        let key = keys.next().unwrap();
        if filter.try_insert_hash(key).is_ok() {
            present.push(key);
        }
    }
    let (mut refused, mut lowest) = (0_u64, 1.0_f64);
    for operation in 0..operations / 2 {
        let at = (mixed(operation) % present.len() as u64) as usize;
        assert!(filter.remove_hash(present.swap_remove(at)));
        while filter.estimated_keys() < filter.plan().max_keys() {
            let key = keys.next().unwrap();
            if filter.try_insert_hash(key).is_ok() {
                assert!(filter.contains_hash(key));
                present.push(key);
            } else {
                refused += 1;
            }
        }
        lowest = lowest.min(filter.load());
        if operation % 50_000 == 0 {
            assert!(present.iter().all(|&key| filter.contains_hash(key)));
        }
    }
    assert!(present.iter().all(|&key| filter.contains_hash(key)));
    println!("churn: {operations} operations at {lowest:.4}, {refused} inserts refused");
    assert!(lowest > 0.9299 && refused * 10_000 < operations);
    // After removing every key, no cell is left in use.
    assert!(present.iter().all(|&key| filter.remove_hash(key)));
    assert!(filter.is_empty() && filter.bytes().iter().all(|&byte| byte == 0));
}

#[test]
fn random_operations_agree_with_an_exact_multiset() {
    let operations: u64 = if soak() { 100_000_000 } else { 100_000 };
    for (seed, capacity, rate) in [(1, 40, 0.05), (2, 1000, 0.01), (3, 20_000, 0.001)] {
        let mut filter = filter(capacity, rate);
        let mut model: HashMap<u64, u32> = HashMap::new();
        let mut present: Vec<u64> = Vec::new();
        for operation in 0..operations {
            let random = mixed(mixed(seed) ^ operation);
            let number = (random >> 8) % (capacity * 3 / 2);
            let key = KeyHash::from_u64(mixed(number ^ seed << 40));
            let count = model.get(&number).copied().unwrap_or(0);
            // More inserts than removals until it is full, then the other way round, and so on.
            let grows = operation / (3 * capacity) % 2 == 0;
            match random % 8 {
                0..=2 if grows => match filter.try_insert_hash(key) {
                    Ok(new) => {
                        assert!(!(new && count > 0));
                        *model.entry(number).or_default() += 1;
                        present.push(number);
                    }
                    Err(Full::Copies { copies }) => assert!(copies >= count),
                    // Copies concentrate on a few cells: a key may be rejected well before the table is full.
                    Err(_) => assert!(filter.load() > 0.1),
                },
                3 => {
                    let known = filter.contains_hash(key);
                    if let Ok(new) = filter.insert_hash_if_absent(key) {
                        assert_eq!(new, !known);
                        if new {
                            *model.entry(number).or_default() += 1;
                            present.push(number);
                        }
                    }
                }
                4 | 5 if !present.is_empty() => {
                    let at = (random >> 20) as usize % present.len();
                    let number = present.swap_remove(at);
                    assert!(filter.remove_hash(KeyHash::from_u64(mixed(number ^ seed << 40))));
                    *model.get_mut(&number).unwrap() -= 1;
                }
                _ => assert!(filter.contains_hash(key) || count == 0),
            }
            assert_eq!(filter.estimated_keys(), present.len() as u64);
            if operation % (operations / 20) == 0 {
                for (&number, &count) in &model {
                    let key = KeyHash::from_u64(mixed(number ^ seed << 40));
                    assert!(filter.contains_hash(key) || count == 0);
                }
            }
        }
    }
}

#[test]
fn reported_numbers_are_consistent() {
    let mut filter = filter(10_000, 0.001);
    assert!(filter.is_empty() && filter.estimated_rate() == 0.0 && filter.load() == 0.0);
    fill(&mut filter, hashes(11, 0, 10_000));
    assert_eq!(
        (filter.capacity(), filter.estimated_keys()),
        (10_000, 10_000)
    );
    assert_eq!(filter.size_bytes(), filter.bytes().len() as u64);
    assert_eq!(filter.size_bytes(), filter.plan().size_bytes());
    assert!(filter.estimated_rate() <= 0.001 && filter.estimated_rate() > 0.0005);
    assert!((filter.load() - 0.92).abs() < 0.001);
    assert!((filter.false_positive_rate() - 0.001).abs() < f64::EPSILON);
    filter.clear();
    assert_eq!(filter, Cuckoo::for_hashes(10_000, 0.001).unwrap());
    assert_eq!(filter.keys_until_full(), 10_000);
}

#[test]
fn the_cell_of_a_known_key_is_where_the_format_specifies() {
    // Pins the walk: filters written today must answer tomorrow. Computed here from the description in probe/cuckoo.rs.
    let hash = 0x8877_6655_4433_2211_u64;
    let mut filter = filter(1000, 0.001);
    filter.try_insert_hash(KeyHash::from_u64(hash)).unwrap();
    let high = |number: u64, range: u64| ((u128::from(number) * u128::from(range)) >> 64) as u64;
    let product = (hash ^ hash >> 32).wrapping_mul(0xF135_7AEA_2E62_A9C5);
    let window = high(product, filter.plan().cells() - 1);
    let fingerprint = 1 + high(product.swap_bytes(), 1023);
    for (at, cell) in (0..).zip(cells(&filter)) {
        assert_eq!(cell, if at == window { fingerprint << 2 } else { 0 });
    }
}

#[test]
fn the_same_keys_in_the_same_order_always_give_the_same_bytes() {
    // Includes thousands of moves: the checksum was recorded when the walk was designed.
    let mut filter = filter(10_000, 0.001);
    fill(&mut filter, hashes(12, 0, 10_000));
    let sum = filter
        .bytes()
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |sum: u64, &byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
    assert_eq!(sum, 0xEDC0_69B1_3CEE_1479, "{sum:#x}");
}

#[test]
fn invalid_input_names_the_field() {
    let errors = |capacity, rate| {
        [
            Cuckoo::new(capacity, rate).unwrap_err(),
            Cuckoo::for_hashes(capacity, rate).unwrap_err(),
            Cuckoo::keyed(capacity, rate, SipKey::new([1; 16])).unwrap_err(),
        ]
    };
    for error in errors(0, 0.01) {
        assert_eq!(
            error.to_string(),
            "capacity = 0 is out of range: give at least 1 key"
        );
    }
    for rate in [0.0, -0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, 1e-9, 1e-300] {
        for error in errors(1000, rate) {
            assert!(
                matches!(
                    error,
                    PlanError::InvalidNumber {
                        field: "false_positive_rate",
                        ..
                    }
                ),
                "{error:?}"
            );
            let message = error.to_string();
            assert!(
                message.contains(&format!("{rate:?}")) && message.contains("give a"),
                "{message}"
            );
        }
    }
    for capacity in [1 << 46, 1 << 60, u64::MAX] {
        for error in errors(capacity as usize, 0.01) {
            assert!(
                matches!(
                    error,
                    PlanError::InvalidInteger {
                        field: "capacity",
                        ..
                    }
                ),
                "{error}"
            );
        }
    }
    for error in errors(10_000_000_000_000, 0.001) {
        assert!(
            matches!(error, PlanError::OutOfMemory { size_bytes } if size_bytes > 12_000_000_000_000),
            "{error}"
        );
    }
    for cells in [0, 2, 99, u64::MAX] {
        assert!(matches!(
            CuckooPlan::with_cells(100, 0.01, cells),
            Err(PlanError::InvalidInteger { field: "cells", value, .. }) if value == cells
        ));
    }
}

#[test]
#[should_panic(expected = "one place in `found` for every key")]
fn results_must_match_the_number_of_keys() {
    let filter = Cuckoo::new(10, 0.1).unwrap();
    filter.contains_each(&["a", "b"], &mut [false]);
}

#[test]
#[should_panic(expected = "has no hash function")]
fn byte_methods_on_a_filter_for_hashes_panic_as_documented() {
    _ = filter(10, 0.1).try_insert("a");
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "another hash scheme or secret key")]
fn debug_builds_detect_a_hash_of_another_scheme() {
    Cuckoo::new(10, 0.1)
        .unwrap()
        .remove_hash(KeyHash::from_u64(1));
}

#[test]
fn debug_output_is_readable() {
    let mut filter = Cuckoo::keyed(1000, 0.01, SipKey::new([0xEE; 16])).unwrap();
    filter.try_insert("a").unwrap();
    assert_eq!(
        format!("{filter:?}"),
        "Cuckoo(1000 keys at 0.01: 1089 cells of 9 bits, 1 keys in, 0.1 % full, Sip13(SipKey(..)))"
    );
}

#[test]
fn filters_are_send_and_sync() {
    fn sendable<T: Send + Sync>() {}
    sendable::<Cuckoo>();
    sendable::<CuckooPlan>();
    sendable::<Full>();
}
