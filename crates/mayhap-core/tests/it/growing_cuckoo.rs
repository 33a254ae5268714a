//! What `GrowingCuckoo` guarantees beyond the laws of all kinds: the exact rate at every size, safe removal, equal bytes for equal
//! operations, growth in small steps through hostile orders and memory limits.

use crate::{hashes, mixed, soak};
use mayhap_core::plan::GrowingCuckooPlan;
use mayhap_core::{
    Full, GrowingCuckoo, GrowingCuckooTable, HashScheme, KeyHash, Mismatch, SipKey, SliceTableParts,
};

/// The constant of the walk (`probe/slice.rs`), for keys in the order of their slices.
const PLACE: u64 = 0x9FB2_1C65_1E98_DF25;

fn with_maximum(maximum: u64, rate: f64) -> GrowingCuckoo {
    let plan = GrowingCuckooPlan::with_maximum(maximum, rate).unwrap();
    GrowingCuckoo::from_plan(plan, HashScheme::Caller).unwrap()
}

/// With and without a maximum; the last has several tables after a million keys.
fn plans() -> [GrowingCuckooPlan; 5] {
    [
        GrowingCuckooPlan::with_maximum(100_000, 0.01).unwrap(),
        GrowingCuckooPlan::with_maximum(1000, 0.05).unwrap(),
        GrowingCuckooPlan::with_maximum(1_000_000_000, 1e-6).unwrap(),
        GrowingCuckooPlan::new(1, 1e-6).unwrap(),
        GrowingCuckooPlan::new(1, 0.3).unwrap(),
    ]
}

fn assert_contains_all(filter: &GrowingCuckoo, keys: &[KeyHash]) {
    let mut found = vec![false; keys.len()];
    filter.contains_hashes(keys, &mut found);
    assert!(
        found.iter().all(|&found| found),
        "lost in a batch: {filter:?}"
    );
    assert!(
        keys.iter().all(|&key| filter.contains_hash(key)),
        "lost: {filter:?}"
    );
}

fn reopened(filter: &GrowingCuckoo) -> GrowingCuckoo {
    GrowingCuckoo::from_tables(*filter.plan(), filter.scheme(), filter.tables()).unwrap()
}

#[test]
fn random_operations_agree_with_an_exact_multiset_through_growth() {
    let operations: u64 = if soak() { 200_000_000 } else { 100_000 };
    for plan in plans() {
        let mut filter = GrowingCuckoo::from_plan(plan, HashScheme::Caller).unwrap();
        let mut model = vec![0_u16; 10 + operations as usize / 4];
        // More and more keys, so that the filter grows; every phase ends with more removals than inserts.
        for at in 0..operations {
            let random = mixed(at);
            let key = mixed(random >> 32) % (10 + at / 4);
            let hash = KeyHash::mix(key);
            let copies = &mut model[key as usize];
            let inserts = if at / 10_000 % 4 == 3 { 3 } else { 12 };
            if random % 16 < inserts {
                let was_in = filter.contains_hash(hash);
                assert_eq!(filter.try_insert_hash(hash), Ok(!was_in));
                *copies += 1;
            } else if *copies > 0 {
                assert!(filter.remove_hash(hash), "{key} was in {copies} times");
                *copies -= 1;
            }
            assert!(filter.count_hash(hash) >= u64::from(*copies));
            if at % (operations / 10) == 0 {
                let present = (0..).zip(&model).filter(|entry| *entry.1 > 0);
                let present: Vec<_> = present.map(|(key, _)| KeyHash::mix(key)).collect();
                assert_contains_all(&filter, &present);
                let keys = model.iter().copied().map(u64::from).sum::<u64>();
                assert_eq!(filter.estimated_keys(), keys);
                assert!(reopened(&filter) == filter);
            }
        }
        println!("{filter:?} after {operations} operations");
        // Every insert can be undone.
        for (key, &copies) in (0..).zip(&model) {
            (0..copies).for_each(|_| assert!(filter.remove_hash(KeyHash::mix(key))));
        }
        assert!(filter.is_empty());
    }
}

#[test]
fn the_rate_is_the_share_of_slices_at_every_size() {
    let decades = if soak() { 8 } else { 6 };
    let queries: u64 = 2_000_000;
    for plan in [
        GrowingCuckooPlan::with_maximum(10_u64.pow(decades), 0.01).unwrap(),
        GrowingCuckooPlan::new(100, 0.01).unwrap(),
        GrowingCuckooPlan::with_maximum(100, 0.02).unwrap(),
    ] {
        let mut filter = GrowingCuckoo::from_plan(plan, HashScheme::Caller).unwrap();
        let mut from = 0;
        for keys in (2..=decades).map(|exponent| 10_u64.pow(exponent)) {
            for from in (from..keys).step_by(1 << 16) {
                let keys: Vec<_> = hashes(1, from, keys.min(from + (1 << 16))).collect();
                filter.try_insert_hashes(&keys).unwrap();
            }
            from = keys;
            let mut found = 0;
            for from in (0..queries).step_by(1 << 16) {
                let asked: Vec<_> = hashes(2, from, queries.min(from + (1 << 16))).collect();
                let mut answers = vec![false; asked.len()];
                filter.contains_hashes(&asked, &mut answers);
                found += answers.iter().filter(|&&found| found).count();
            }
            let (measured, expected) = (found as f64 / queries as f64, filter.estimated_rate());
            let margin = 5.0 * (expected / queries as f64).sqrt() + 5.0 / queries as f64;
            println!("{keys} keys: rate {measured:.3e}, computed {expected:.3e}");
            assert!((measured - expected).abs() <= margin, "{filter:?}");
            if keys <= filter.capacity() {
                assert!(expected <= filter.false_positive_rate() && !filter.is_over_capacity());
            } else {
                assert!(filter.is_over_capacity() && filter.keys_until_full() == 0);
            }
        }
    }
}

#[test]
fn a_filter_is_small_at_every_size() {
    // Bits per key in the last decade before the maximum, which is as many keys as 27 bits of slice allow, and without a maximum from
    // 10,000 keys on.
    for (plan, from, to, mean_limit, worst_limit) in [
        (
            GrowingCuckooPlan::with_maximum(1_342_177, 0.01).unwrap(),
            134_217,
            1_342_177,
            13.5,
            16.5,
        ),
        (
            GrowingCuckooPlan::new(100, 0.01).unwrap(),
            10_000,
            2_000_000,
            18.0,
            24.0,
        ),
    ] {
        let mut filter = GrowingCuckoo::from_plan(plan, HashScheme::Caller).unwrap();
        let (mut sum, mut weights, mut worst) = (0.0, 0.0, 0.0_f64);
        for (keys, hash) in (1..=to).zip(hashes(3, 0, to)) {
            filter.insert_hash_if_absent(hash).unwrap();
            if keys >= from && keys % 1000 == 0 {
                let bits = 8.0 * filter.size_bytes() as f64 / keys as f64;
                // Each size weighs the same as its double.
                sum += bits / keys as f64;
                weights += 1.0 / keys as f64;
                worst = worst.max(bits);
            }
        }
        let mean = sum / weights;
        println!("{plan:?}: mean {mean:.2}, worst {worst:.2} bits per key");
        assert!(mean <= mean_limit && worst <= worst_limit, "{mean} {worst}");
    }
    assert!(
        with_maximum(1_000_000_000, 0.01).size_bytes() < 100,
        "an empty one is tiny"
    );
}

#[test]
fn equal_operations_give_equal_bytes_one_by_one_in_batches_and_after_reopening() {
    for plan in plans() {
        let keys: Vec<_> = hashes(4, 0, 60_000).collect();
        let mut single = GrowingCuckoo::from_plan(plan, HashScheme::Caller).unwrap();
        let mut batch = single.clone();
        let mut reopens = single.clone();
        for (at, chunk) in keys.chunks(999).enumerate() {
            batch.try_insert_hashes(chunk).unwrap();
            for &key in chunk {
                single.try_insert_hash(key).unwrap();
                reopens.try_insert_hash(key).unwrap();
            }
            // Some of them again, and some are removed.
            for &key in chunk.iter().step_by(50) {
                for filter in [&mut single, &mut batch, &mut reopens] {
                    (0..at % 5).for_each(|_| assert_eq!(filter.try_insert_hash(key), Ok(false)));
                    assert!(filter.remove_hash(key));
                }
            }
            reopens = reopened(&reopens);
            assert!(single == batch && single == reopens, "{single:?}");
        }
        assert!(single.try_clone().unwrap() == single);
    }
}

#[test]
fn keys_in_the_order_of_their_slices_and_keys_of_one_group_are_all_found() {
    let mut keys: Vec<_> = hashes(5, 0, 200_000).map(KeyHash::to_u64).collect();
    keys.sort_unstable_by_key(|key| key.wrapping_mul(PLACE));
    let in_order: Vec<_> = keys.iter().copied().map(KeyHash::from_u64).collect();
    // The inverse of an odd number modulo 2^64, by Newton's method.
    let inverse = (0..6).fold(PLACE, |x, _| {
        x.wrapping_mul(2_u64.wrapping_sub(PLACE.wrapping_mul(x)))
    });
    let in_one_group = (1..=100_000_u64).map(|at| (mixed(at) >> 12).wrapping_mul(inverse));
    let in_one_group: Vec<_> = in_one_group.map(KeyHash::from_u64).collect();
    for keys in [in_order, in_one_group] {
        for plan in [
            GrowingCuckooPlan::with_maximum(1_000_000, 0.01).unwrap(),
            GrowingCuckooPlan::new(100, 0.001).unwrap(),
        ] {
            let mut filter = GrowingCuckoo::from_plan(plan, HashScheme::Caller).unwrap();
            for chunk in keys.chunks(10_000) {
                filter.try_insert_hashes(chunk).unwrap();
                assert_contains_all(&filter, chunk);
            }
            assert_contains_all(&filter, &keys);
            assert!(reopened(&filter) == filter);
            println!("{filter:?}, {} bytes", filter.size_bytes());
            assert!(filter.size_bytes() < 64 * keys.len() as u64);
            let (removed, rest) = keys.split_at(keys.len() / 2);
            assert!(removed.iter().all(|&key| filter.remove_hash(key)));
            assert_contains_all(&filter, rest);
        }
    }
}

#[test]
fn reserving_makes_room_for_keys_in_the_order_of_their_slices() {
    let mut keys: Vec<_> = hashes(6, 0, 200_000).map(KeyHash::to_u64).collect();
    keys.sort_unstable_by_key(|key| key.wrapping_mul(PLACE));
    let keys: Vec<_> = keys.into_iter().map(KeyHash::from_u64).collect();
    let mut filter = with_maximum(1_000_000, 0.01);
    filter.reserve(200_000).unwrap();
    let size = filter.size_bytes();
    filter.try_insert_hashes(&keys).unwrap();
    assert!(filter.tables().all(|table| table.slices.stash.is_empty()));
    assert!(filter.size_bytes() <= size + 256, "it has not grown");
    assert_contains_all(&filter, &keys);
    // Several steps at once, from a filter that has keys.
    filter.reserve(400_000).unwrap();
    assert!(filter.keys_until_growth() >= 400_000 && reopened(&filter) == filter);
    assert_contains_all(&filter, &keys);
}

#[test]
fn churn_at_one_size_neither_grows_nor_loses_keys() {
    let (present, rounds) = (20_000, if soak() { 1000 } else { 20 });
    let mut filter = with_maximum(100_000, 0.01);
    for key in hashes(7, 0, present) {
        filter.try_insert_hash(key).unwrap();
    }
    let size = filter.size_bytes();
    for round in 0..rounds {
        let (from, to) = (round * present, (round + 1) * present);
        for (old, new) in hashes(7, from, to).zip(hashes(7, from + present, to + present)) {
            assert!(filter.remove_hash(old));
            filter.try_insert_hash(new).unwrap();
        }
    }
    let (from, to) = (rounds * present, (rounds + 1) * present);
    assert_contains_all(&filter, &hashes(7, from, to).collect::<Vec<_>>());
    assert_eq!(filter.estimated_keys(), present);
    assert!(filter.size_bytes() <= size * 5 / 4, "{filter:?}");
}

#[test]
fn a_memory_limit_rejects_keys_and_loses_none() {
    // Limits at many points of the growth, also in the middle of a sweep.
    for limit in (1..60).map(|step| step * 4001) {
        let (mut limited, mut free) =
            (with_maximum(1_000_000, 0.01), with_maximum(1_000_000, 0.01));
        let mut accepted = Vec::new();
        for key in hashes(8, 0, 150_000) {
            match limited.try_insert_hash_within(key, limit) {
                Ok(_) => {
                    accepted.push(key);
                    free.try_insert_hash(key).unwrap();
                }
                Err(full) => {
                    assert!(matches!(full, Full::Memory { .. }), "{full}");
                    break;
                }
            }
        }
        assert!(
            limited == free,
            "accepted keys are stored as without a limit"
        );
        assert!(limited.size_bytes() <= limit);
        assert_contains_all(&limited, &accepted);
        assert_eq!(limited.estimated_keys(), accepted.len() as u64);
        // With more memory it goes on.
        let more: Vec<_> = hashes(9, 0, 1000).collect();
        limited.try_insert_hashes(&more).unwrap();
        assert_contains_all(&limited, &accepted);
        assert_contains_all(&limited, &more);
    }
}

#[test]
fn a_key_that_a_memory_limit_rejects_changes_nothing() {
    // Small tables, in which keys often find no cell, and removals between rejected keys.
    for limit in (300..3000).step_by(37) {
        let plan = GrowingCuckooPlan::new(100, 0.01).unwrap();
        let [mut limited, mut free] =
            [(); 2].map(|()| GrowingCuckoo::from_plan(plan, HashScheme::Caller).unwrap());
        let mut rejected = 0;
        for (number, key) in hashes(80, 0, 2000).enumerate() {
            // Some keys come twice or three times.
            for _ in 0..1 + number % 7 / 5 + number % 11 / 9 {
                match limited.try_insert_hash_within(key, limit) {
                    Ok(_) => _ = free.try_insert_hash(key).unwrap(),
                    Err(_) => rejected += 1,
                }
                assert!(limited == free, "limit {limit}, key {number}");
                assert!(limited.size_bytes() <= limit);
            }
            if number % 5 == 0 {
                assert_eq!(limited.remove_hash(key), free.remove_hash(key));
            }
        }
        assert!(rejected > 0);
    }
    // At the end of a table's share of the rate.
    let plan = GrowingCuckooPlan::new(100, 0.01).unwrap();
    let mut filter = GrowingCuckoo::from_plan(plan, HashScheme::Caller).unwrap();
    let full: Vec<_> = hashes(81, 0, filter.capacity()).collect();
    filter.try_insert_hashes(&full).unwrap();
    let next: Vec<_> = hashes(82, 0, 2000).collect();
    let limit = filter.size_bytes();
    let mut is_rejected = |&&key: &&KeyHash| filter.try_insert_hash_within(key, limit).is_err();
    assert!(next.iter().filter(&mut is_rejected).count() > 0);
    assert_eq!(filter.keys_in_tables().len(), 1);
    assert_contains_all(&filter, &full);
}

#[test]
fn a_filter_grows_only_when_it_says_so() {
    for plan in plans() {
        let mut filter = GrowingCuckoo::from_plan(plan, HashScheme::Caller).unwrap();
        let (mut until_growth, mut inserted) = (0, 0);
        for key in hashes(83, 0, 60_000) {
            // Far beyond the maximum, keys find no cells.
            if filter.is_over_capacity() {
                break;
            }
            inserted += 1;
            let size = filter.size_bytes();
            let has_room = filter.keys_until_growth() > 0;
            until_growth += u64::from(has_room);
            filter.insert_hash_if_absent(key).unwrap();
            // The first slice without a cell takes the memory of a few.
            assert!(!has_room || filter.size_bytes() <= size + 256);
        }
        assert!(until_growth > inserted / 2);
    }
}

#[test]
fn a_union_contains_both_and_every_insert_can_be_undone() {
    for plan in plans() {
        let make = |from, to| {
            let mut filter = GrowingCuckoo::from_plan(plan, HashScheme::Caller).unwrap();
            let keys: Vec<_> = hashes(10, from, to).collect();
            filter.try_insert_hashes(&keys).unwrap();
            (filter, keys)
        };
        let ((ours, our_keys), (theirs, their_keys)) = (make(0, 30_000), make(20_000, 70_000));
        let mut union = ours.try_clone().unwrap();
        union.union_with(&theirs).unwrap();
        assert_contains_all(&union, &our_keys);
        assert_contains_all(&union, &their_keys);
        assert_eq!(union.estimated_keys(), 80_000);
        assert!(our_keys.iter().all(|&key| union.remove_hash(key)));
        assert_contains_all(&union, &their_keys);
        assert_eq!(union.estimated_keys(), 50_000);
        let (mut set, mut theirs) = (ours.try_clone().unwrap(), theirs);
        set.set_is_set(true);
        theirs.set_is_set(true);
        set.union_with(&theirs).unwrap();
        let same = set.try_clone().unwrap();
        set.union_with(&theirs).unwrap();
        assert!(set.is_set());
        assert_eq!(set.estimated_keys(), same.estimated_keys());
        assert!(set.estimated_keys() <= 70_000);
        assert_contains_all(&set, &our_keys);
        assert_contains_all(&set, &their_keys);
    }
}

#[test]
fn the_union_of_several_tables_can_be_taken_apart_again() {
    // Enough keys for three tables on one side, and for one on the other.
    let plan = GrowingCuckooPlan::new(1, 0.3).unwrap();
    let make = |from, to| {
        let mut filter = GrowingCuckoo::from_plan(plan, HashScheme::Caller).unwrap();
        let keys: Vec<_> = hashes(11, from, to).collect();
        filter.try_insert_hashes(&keys).unwrap();
        (filter, keys)
    };
    let ((large, large_keys), (small, small_keys)) = (make(0, 700_000), make(600_000, 900_000));
    assert!(large.stats().layers > 1 && small.stats().layers == 1);
    for (ours, theirs) in [(&large, &small), (&small, &large)] {
        let mut union = ours.try_clone().unwrap();
        union.union_with(theirs).unwrap();
        assert_contains_all(&union, &large_keys);
        assert_contains_all(&union, &small_keys);
        assert!(large_keys.iter().all(|&key| union.remove_hash(key)));
        assert_contains_all(&union, &small_keys);
        assert!(small_keys.iter().all(|&key| union.remove_hash(key)));
        assert!(union.is_empty());
    }
}

#[test]
fn filters_with_different_maxima_fold_to_the_shorter_slices() {
    let (mut small, mut large) = (with_maximum(10_000, 0.01), with_maximum(1_000_000, 0.001));
    let (few, many): (Vec<_>, Vec<_>) = (
        hashes(12, 0, 5000).collect(),
        hashes(13, 0, 50_000).collect(),
    );
    small.try_insert_hashes(&few).unwrap();
    large.try_insert_hashes(&many).unwrap();
    for (ours, theirs) in [(&small, &large), (&large, &small)] {
        let mut union = ours.try_clone().unwrap();
        union.union_with(theirs).unwrap();
        assert_contains_all(&union, &few);
        assert_contains_all(&union, &many);
        assert!(union.is_over_capacity() && union.estimated_rate() > 0.01);
    }
}

#[test]
fn filters_that_do_not_match_are_not_merged() {
    let mut ours = GrowingCuckoo::new(1000, 0.01).unwrap();
    let keyed = GrowingCuckoo::keyed(1000, 0.01, SipKey::new([1; 16])).unwrap();
    assert!(matches!(
        ours.union_with(&keyed),
        Err(Mismatch::Shape {
            field: "hash scheme",
            ..
        })
    ));
    let other = GrowingCuckoo::new(1000, 0.0001).unwrap();
    assert!(matches!(
        ours.union_with(&other),
        Err(Mismatch::Shape {
            field: "slice bits",
            ..
        })
    ));
    let mut other_key = GrowingCuckoo::keyed(1000, 0.01, SipKey::new([2; 16])).unwrap();
    assert_eq!(other_key.union_with(&keyed), Err(Mismatch::HashKey));
}

#[test]
fn far_past_the_maximum_no_key_is_lost() {
    let mut filter = with_maximum(100, 0.01);
    let keys: Vec<_> = hashes(14, 0, 100_000).collect();
    for &key in &keys {
        filter.insert_hash_if_absent(key).unwrap();
    }
    assert_contains_all(&filter, &keys);
    assert!(filter.is_over_capacity() && filter.estimated_rate() > 0.5);
    assert!(reopened(&filter) == filter);
}

/// The first table.
fn parts_of(filter: &GrowingCuckoo) -> (SliceTableParts<'_>, Vec<(u64, u64)>) {
    let table = filter.tables().next().unwrap();
    (table.slices, table.extra_copies)
}

#[test]
fn damaged_parts_are_errors_or_work() {
    // In the middle of a sweep, with a stash and extra copies.
    let mut filter = with_maximum(1_000_000, 0.01);
    let keys: Vec<_> = hashes(15, 0, 28_000).collect();
    filter.try_insert_hashes(&keys).unwrap();
    (0..5).for_each(|_| assert_eq!(filter.try_insert_hash(keys[0]), Ok(false)));
    let mut next = 28_000;
    while parts_of(&filter).0.moved_groups == 0 {
        filter
            .try_insert_hash(hashes(15, next, next + 1).next().unwrap())
            .unwrap();
        next += 1;
    }
    let (parts, extra_copies) = parts_of(&filter);
    let (plan, scheme) = (*filter.plan(), filter.scheme());
    let open = |slices: SliceTableParts<'_>, extra_copies: Vec<(u64, u64)>| {
        let capacity = filter.capacity();
        let table = GrowingCuckooTable {
            capacity,
            slices,
            extra_copies,
        };
        GrowingCuckoo::from_tables(plan, scheme, [table])
    };
    assert!(open(parts.clone(), extra_copies.clone()).unwrap() == filter);
    for shape in (0..200).filter(|&shape| shape != parts.shape) {
        let parts = SliceTableParts {
            shape,
            ..parts.clone()
        };
        assert!(open(parts, extra_copies.clone()).is_err());
    }
    for slice_bits in (0..100).filter(|&bits| bits != parts.slice_bits) {
        let parts = SliceTableParts {
            slice_bits,
            ..parts.clone()
        };
        assert!(open(parts, extra_copies.clone()).is_err());
    }
    for moved_groups in [0, parts.moved_groups + 1, 1 << 40, u64::MAX] {
        let parts = SliceTableParts {
            moved_groups,
            ..parts.clone()
        };
        assert!(open(parts, extra_copies.clone()).is_err());
    }
    let shorter = SliceTableParts {
        cells: &parts.cells[1..],
        ..parts.clone()
    };
    assert!(open(shorter, extra_copies.clone()).is_err());
    for stash in [
        vec![(0, 1)],
        vec![(1, 0)],
        vec![(1, 3)],
        vec![(1, 1), (1, 1)],
        vec![(3, 1)],
    ] {
        let parts = SliceTableParts {
            stash,
            ..parts.clone()
        };
        assert!(open(parts, extra_copies.clone()).is_err());
    }
    for extra_copies in [vec![(2, 1)], vec![(1, 0)], vec![(1, u64::MAX)]] {
        assert!(open(parts.clone(), extra_copies).is_err());
    }
    // Random damage is detected, or gives a filter that works.
    let mut detected = 0;
    for seed in 0..300 {
        let (mut moved, mut cells) = (parts.moved.to_vec(), parts.cells.to_vec());
        for at in 0..=seed % 4 {
            let random = mixed(seed * 4 + at) as usize;
            let bytes = if random.is_multiple_of(2) {
                &mut moved
            } else {
                &mut cells
            };
            let place = (random >> 8) % bytes.len();
            bytes[place] ^= (random >> 1) as u8 | 1;
        }
        let damaged = SliceTableParts {
            moved: &moved,
            cells: &cells,
            ..parts.clone()
        };
        match open(damaged, extra_copies.clone()) {
            Err(_) => detected += 1,
            Ok(mut filter) => {
                let more: Vec<_> = hashes(16, 0, 5000).collect();
                filter.try_insert_hashes(&more).unwrap();
                assert_contains_all(&filter, &more);
                for &key in &keys {
                    filter.remove_hash(key);
                }
            }
        }
    }
    println!("{detected} of 300 damaged filters were detected");
}

#[test]
fn the_cells_of_a_known_key_are_where_the_format_specifies() {
    // Pins the walk: files written today must open tomorrow. Computed by hand from probe/slice.rs.
    let hash = 0x0123_4567_89AB_CDEF_u64;
    let mut filter = with_maximum(1_000_000, 0.01);
    filter.try_insert_hash(KeyHash::from_u64(hash)).unwrap();
    let (parts, extra_copies) = parts_of(&filter);
    assert!(
        parts.shape == 0
            && parts.moved.is_empty()
            && parts.stash.is_empty()
            && extra_copies.is_empty()
    );
    // 27 bits of slice; 10 windows, 11 cells of 24 + 2 bits.
    let slice = hash.wrapping_mul(PLACE) >> 37;
    let window = ((slice << 5) * 10) >> 32;
    let cell = (slice & ((1 << 24) - 1)) << 2;
    let mut expected = [0; 44];
    let bit = window as usize * 26;
    let word = cell << (bit % 8);
    expected[bit / 8..bit / 8 + 8].copy_from_slice(&word.to_le_bytes());
    assert_eq!(parts.cells, &expected[..36]);
}
