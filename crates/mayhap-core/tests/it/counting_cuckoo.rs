//! What `CountingCuckoo` guarantees beyond the laws of all kinds: exact counts, counters as wide as needed, unions by addition, equal
//! bytes for equal operations, through growth, hostile orders and memory limits.

use crate::{hashes, mixed, soak};
use mayhap_core::plan::GrowingCuckooPlan;
use mayhap_core::{
    CountingCuckoo, CountingCuckooTable, Full, HashScheme, Kernel, KeyHash, Mismatch, SipKey,
    SliceTableParts,
};
use std::collections::BTreeMap;

/// The constant of the walk (`probe/slice.rs`).
const PLACE: u64 = 0x9FB2_1C65_1E98_DF25;

fn with_maximum(maximum: u64, rate: f64) -> CountingCuckoo {
    let plan = GrowingCuckooPlan::with_maximum(maximum, rate).unwrap();
    CountingCuckoo::from_plan(plan, HashScheme::Caller).unwrap()
}

/// With and without a maximum; the last has several tables after a few hundred thousand keys.
fn plans() -> [GrowingCuckooPlan; 5] {
    [
        GrowingCuckooPlan::with_maximum(100_000, 0.01).unwrap(),
        GrowingCuckooPlan::with_maximum(1000, 0.05).unwrap(),
        GrowingCuckooPlan::with_maximum(1_000_000_000, 1e-6).unwrap(),
        GrowingCuckooPlan::new(1, 1e-6).unwrap(),
        GrowingCuckooPlan::new(1, 0.3).unwrap(),
    ]
}

fn reopened(filter: &CountingCuckoo) -> CountingCuckoo {
    CountingCuckoo::from_tables(*filter.plan(), filter.scheme(), filter.tables()).unwrap()
}

/// The widths of the counters in the present shapes, and in those to which groups move.
fn widths(filter: &CountingCuckoo) -> Vec<(u32, u32)> {
    let tables = filter.tables();
    tables
        .map(|table| (table.slices.payload_bits, table.moved_counter_bits))
        .collect()
}

/// Counts that are exact for every slice of a table.
struct Model {
    counts: BTreeMap<u64, u64>,
    slice_bits: u32,
}

impl Model {
    /// Of a filter with one table.
    fn new(filter: &CountingCuckoo) -> Self {
        let slice_bits = filter.tables().next().unwrap().slices.slice_bits;
        Self {
            counts: BTreeMap::new(),
            slice_bits,
        }
    }

    fn count(&mut self, hash: KeyHash) -> &mut u64 {
        let slice = hash.to_u64().wrapping_mul(PLACE) >> (64 - self.slice_bits);
        self.counts.entry(slice).or_default()
    }

    /// Compares all numbers, and all answers for some hashes, with every kernel.
    fn assert_equal(&mut self, filter: &CountingCuckoo, asked: &[KeyHash]) {
        let expected: Vec<u64> = asked.iter().map(|&hash| *self.count(hash)).collect();
        for (&hash, &expected) in asked.iter().zip(&expected) {
            assert_eq!(filter.count_hash(hash), expected, "{filter:?}");
            assert_eq!(filter.contains_hash(hash), expected > 0, "{filter:?}");
        }
        for kernel in Kernel::available() {
            let filter = filter.clone().with_kernel(kernel);
            let mut counts = vec![9; asked.len()];
            filter.count_hashes(asked, &mut counts);
            assert!(counts == expected, "{kernel}, {filter:?}");
            let mut found = vec![false; asked.len()];
            filter.contains_hashes(asked, &mut found);
            let is_equal = |(&found, &expected): (&bool, &u64)| found == (expected > 0);
            assert!(found.iter().zip(&expected).all(is_equal), "{kernel}");
        }
        let present = self.counts.values().filter(|&&count| count > 0);
        assert_eq!(filter.distinct_keys(), present.count() as u64);
        assert_eq!(filter.estimated_keys(), self.counts.values().sum::<u64>());
        assert!(reopened(filter) == *filter);
    }
}

#[test]
fn random_operations_agree_with_exact_counts_through_growth_and_widths() {
    let operations: u64 = if soak() { 100_000_000 } else { 120_000 };
    for plan in &plans()[..3] {
        let mut filter = CountingCuckoo::from_plan(*plan, HashScheme::Caller).unwrap();
        let mut model = Model::new(&filter);
        let mut seen = Vec::new();
        // More and more keys, some of them very often; phases with more copies, and with more removals than inserts.
        for at in 0..operations {
            let random = mixed(at);
            let range = 10 + at / if at / 20_000 % 2 == 0 { 4 } else { 200 };
            let key = mixed((random >> 32) % range.isqrt().max(range >> (random >> 16 & 7)));
            let hash = KeyHash::mix(key);
            let inserts = if at / 10_000 % 4 == 3 { 3 } else { 13 };
            let count = model.count(hash);
            if random % 16 < inserts {
                assert_eq!(filter.try_insert_hash(hash), Ok(*count == 0));
                *count += 1;
            } else {
                assert_eq!(filter.remove_hash(hash), *count > 0);
                *count = count.saturating_sub(1);
            }
            assert_eq!(filter.count_hash(hash), *count);
            if at % 40 == 0 {
                seen.push(hash);
                seen.push(KeyHash::mix(mixed(at << 20)));
            }
            if at % (operations / 12) == 0 {
                model.assert_equal(&filter, &seen);
            }
        }
        println!("{filter:?} {:?}", widths(&filter));
        model.assert_equal(&filter, &seen);
        // Every insert can be undone. The order of the keys is that of their slices.
        let keys: Vec<_> = (0..operations).map(|at| KeyHash::mix(mixed(at))).collect();
        for hash in keys {
            let count = model.count(hash);
            (0..*count).for_each(|_| assert!(filter.remove_hash(hash)));
            *count = 0;
            assert!(!filter.remove_hash(hash));
        }
        model.assert_equal(&filter, &seen);
    }
}

#[test]
fn counts_in_several_tables_are_never_too_low_and_can_be_undone() {
    for plan in &plans()[3..] {
        let mut filter = CountingCuckoo::from_plan(*plan, HashScheme::Caller).unwrap();
        let keys: Vec<_> = hashes(30, 0, 400_000).collect();
        for (at, &key) in keys.iter().enumerate() {
            filter.try_insert_hash(key).unwrap();
            if at % 3 == 0 {
                filter.try_insert_hash(keys[at / 2]).unwrap();
            }
        }
        assert!(plan.false_positive_rate() < 0.1 || filter.tables().len() > 1);
        assert!(reopened(&filter) == filter);
        let mut counts = vec![0; keys.len()];
        filter.count_hashes(&keys, &mut counts);
        for (&key, &count) in keys.iter().zip(&counts) {
            assert!(count > 0 && count == filter.count_hash(key) && filter.contains_hash(key));
        }
        for (at, &key) in keys.iter().enumerate() {
            if at % 3 == 0 {
                assert!(filter.remove_hash(keys[at / 2]));
            }
            assert!(filter.remove_hash(key), "{at}");
        }
        assert!(filter.is_empty() && filter.distinct_keys() == 0);
    }
}

#[test]
fn a_key_that_was_inserted_once_takes_at_most_16_bits() {
    // In the last decade before the maximum, which is as many keys as 27 bits of slice allow.
    let mut filter = with_maximum(1_342_177, 0.01);
    let (mut sum, mut count, mut worst) = (0.0, 0, 0.0_f64);
    for (keys, key) in (1..=1_342_177_u64).zip(hashes(31, 0, u64::MAX)) {
        filter.try_insert_hash(key).unwrap();
        if keys > 134_217 && keys % 1000 == 0 {
            let bits = 8.0 * filter.size_bytes() as f64 / keys as f64;
            (sum, count, worst) = (sum + bits, count + 1, worst.max(bits));
        }
    }
    let mean = sum / f64::from(count);
    println!("mean {mean:.2}, worst {worst:.2}, {filter:?}");
    assert!(mean <= 15.5 && worst <= 19.1);
    // The first slice without a cell takes the memory of a few.
    let (planned, _) = filter
        .plan()
        .counting_size_and_tables_at(filter.distinct_keys());
    assert!((planned..=planned + 256).contains(&filter.size_bytes()));
}

#[test]
fn counters_become_wider_and_narrower_as_counts_require() {
    let mut filter = with_maximum(1_000_000, 0.001);
    let mut model = Model::new(&filter);
    let keys: Vec<_> = hashes(32, 0, 50_000).collect();
    let insert = |filter: &mut CountingCuckoo, model: &mut Model, keys: &[KeyHash]| {
        for &key in keys {
            *model.count(key) += 1;
            filter.try_insert_hash(key).unwrap();
        }
    };
    insert(&mut filter, &mut model, &keys);
    let narrow = filter.size_bytes();
    assert_eq!(widths(&filter), [(2, 2)]);
    // All keys have five copies: more than two bits hold.
    for _ in 0..4 {
        insert(&mut filter, &mut model, &keys);
    }
    assert_eq!(widths(&filter), [(4, 4)]);
    model.assert_equal(&filter, &keys);
    assert!(filter.size_bytes() < 2 * narrow, "{}", filter.size_bytes());
    for _ in 0..20 {
        insert(&mut filter, &mut model, &keys);
    }
    assert_eq!(widths(&filter), [(8, 8)]);
    model.assert_equal(&filter, &keys);
    assert!(filter.size_bytes() < 2 * narrow, "{}", filter.size_bytes());
    // A few keys with many copies are outside.
    for _ in 0..1000 {
        insert(&mut filter, &mut model, &keys[..60]);
    }
    assert_eq!(filter.tables().next().unwrap().rests.len(), 60);
    // Half of the copies are removed, but for some, and the filter grows: the counters become narrow again.
    for &key in &keys[1000..] {
        for _ in 0..24 {
            assert!(filter.remove_hash(key));
        }
        *model.count(key) -= 24;
    }
    let more: Vec<_> = hashes(33, 0, 100_000).collect();
    insert(&mut filter, &mut model, &more);
    assert_eq!(widths(&filter), [(2, 2)]);
    model.assert_equal(&filter, &[keys, more].concat());
    filter.clear();
    assert!(filter.is_empty() && filter.size_bytes() < 100);
    assert_eq!(filter, with_maximum(1_000_000, 0.001));
}

#[test]
fn one_very_frequent_key_makes_no_counter_wider() {
    let mut filter = with_maximum(100_000, 0.01);
    let keys: Vec<_> = hashes(34, 0, 30_000).collect();
    for (at, &key) in keys.iter().enumerate() {
        filter.try_insert_hash(key).unwrap();
        filter.try_insert_hash(keys[at % 50]).unwrap();
    }
    assert_eq!(widths(&filter), [(2, 2)]);
    assert!(filter.count_hash(keys[0]) > 600);
    assert!(filter.size_bytes() * 8 < 20 * 30_000);
}

#[test]
fn keys_in_hostile_orders_are_counted_exactly() {
    let mut in_order: Vec<_> = hashes(35, 0, 60_000).map(KeyHash::to_u64).collect();
    in_order.sort_unstable_by_key(|key| key.wrapping_mul(PLACE));
    // The inverse of an odd number modulo 2^64, by Newton's method.
    let inverse = (0..6).fold(PLACE, |x, _| {
        x.wrapping_mul(2_u64.wrapping_sub(PLACE.wrapping_mul(x)))
    });
    let in_one_group = (1..=40_000_u64).map(|at| (mixed(at) >> 12).wrapping_mul(inverse));
    for keys in [in_order, in_one_group.collect()] {
        let keys: Vec<_> = keys.into_iter().map(KeyHash::from_u64).collect();
        let mut filter = with_maximum(1_000_000, 0.01);
        let mut model = Model::new(&filter);
        // Repeated, so that counters become wider while most slices are stashed.
        for round in 0..7 {
            for (at, &key) in keys.iter().enumerate() {
                if round == 0 || at % 5 == 0 {
                    filter.try_insert_hash(key).unwrap();
                    *model.count(key) += 1;
                }
            }
            model.assert_equal(&filter, &keys);
        }
        println!(
            "{filter:?} {:?}, {} bytes",
            widths(&filter),
            filter.size_bytes()
        );
        assert!(filter.size_bytes() < 128 * keys.len() as u64);
        for &key in &keys[..keys.len() / 2] {
            while filter.contains_hash(key) {
                assert!(filter.remove_hash(key));
            }
            *model.count(key) = 0;
        }
        model.assert_equal(&filter, &keys);
    }
}

#[test]
fn churn_at_one_size_neither_grows_nor_loses_counts() {
    let (present, rounds) = (20_000, if soak() { 1000 } else { 15 });
    let mut filter = with_maximum(100_000, 0.01);
    for key in hashes(36, 0, present) {
        filter.try_insert_hash(key).unwrap();
        filter.try_insert_hash(key).unwrap();
    }
    let size = filter.size_bytes();
    for round in 0..rounds {
        let (from, to) = (round * present, (round + 1) * present);
        for (old, new) in hashes(36, from, to).zip(hashes(36, from + present, to + present)) {
            assert!(filter.remove_hash(old) && filter.remove_hash(old));
            filter.try_insert_hash(new).unwrap();
            filter.try_insert_hash(new).unwrap();
        }
    }
    let last = hashes(36, rounds * present, (rounds + 1) * present);
    assert!(last.into_iter().all(|key| filter.count_hash(key) >= 2));
    assert_eq!(filter.estimated_keys(), 2 * present);
    assert!(filter.size_bytes() <= size * 5 / 4, "{filter:?}");
}

#[test]
fn a_key_that_a_memory_limit_rejects_changes_nothing() {
    // Limits at many points: in sweeps to larger shapes and to wider counters, and while the map of rests grows.
    let mut rejected_copies = 0;
    let mut swept = 0;
    for limit in (300..4000)
        .step_by(97)
        .chain((40_000..90_000).step_by(4001))
    {
        let [mut limited, mut free] = [(); 2].map(|()| with_maximum(1_000_000, 0.01));
        let mut rejected = 0;
        let keys: Vec<_> = hashes(37, 0, limit / 2).collect();
        for round in 0..6 {
            for (at, &key) in keys.iter().enumerate() {
                if round > 0 && at % 3 == 0 {
                    continue;
                }
                match limited.try_insert_hash_within(key, limit) {
                    Ok(new) => assert_eq!(free.try_insert_hash(key), Ok(new)),
                    Err(full) => {
                        assert!(matches!(full, Full::Memory { .. }), "{full}");
                        rejected += 1;
                        rejected_copies += u64::from(limited.contains_hash(key));
                    }
                }
                if limit < 4000 || at % 997 == 0 {
                    assert!(limited == free, "limit {limit}, key {at}");
                    let bytes = limited.size_bytes();
                    assert!(bytes <= limit, "limit {limit}, key {at}, {bytes} bytes");
                }
                swept += u64::from(limited.tables().any(|table| table.slices.moved_groups > 0));
                if at % 50 == 0 {
                    assert_eq!(limited.remove_hash(key), free.remove_hash(key));
                }
            }
        }
        assert!(rejected > 0, "limit {limit}");
        assert!(reopened(&limited) == limited);
    }
    assert!(rejected_copies > 0 && swept > 0);
}

#[test]
fn equal_operations_give_equal_bytes_one_by_one_in_batches_and_after_reopening() {
    for plan in plans() {
        let [mut single, mut batch, mut reopening] =
            [(); 3].map(|()| CountingCuckoo::from_plan(plan, HashScheme::Caller).unwrap());
        let keys: Vec<_> = (0..30_000_u64)
            .map(|at| KeyHash::mix(mixed(at) % (at / 6 + 1)))
            .collect();
        for (number, chunk) in keys.chunks(997).enumerate() {
            for &key in chunk {
                single.try_insert_hash(key).unwrap();
                reopening.try_insert_hash(key).unwrap();
            }
            batch.try_insert_hashes(chunk).unwrap();
            for &key in chunk.iter().step_by(7) {
                let removed = single.remove_hash(key);
                assert_eq!(
                    [batch.remove_hash(key), reopening.remove_hash(key)],
                    [removed; 2]
                );
            }
            assert!(single == batch && single == reopening, "{number}");
            reopening = reopened(&reopening);
        }
        assert!(single.try_clone().unwrap() == single);
    }
}

#[test]
fn a_union_adds_counts() {
    for (ours_max, theirs_max) in [(100_000, 100_000), (100_000, 20_000), (20_000, 100_000)] {
        let [mut ours, mut theirs] = [ours_max, theirs_max].map(|max| with_maximum(max, 0.01));
        let narrower = if ours_max < theirs_max {
            &ours
        } else {
            &theirs
        };
        let mut model = Model::new(narrower);
        for at in 0..60_000_u64 {
            let key = KeyHash::mix(mixed(at) % (at / 10 + 1));
            let filter = if at % 3 == 0 { &mut ours } else { &mut theirs };
            filter.try_insert_hash(key).unwrap();
            *model.count(key) += 1;
        }
        ours.check_union(&theirs).unwrap();
        ours.union_with(&theirs).unwrap();
        let keys: Vec<_> = (0..6000).map(KeyHash::mix).collect();
        model.assert_equal(&ours, &keys);
        for at in 0..60_000_u64 {
            assert!(ours.remove_hash(KeyHash::mix(mixed(at) % (at / 10 + 1))));
        }
        assert!(ours.is_empty());
    }
}

#[test]
fn the_union_of_several_tables_can_be_taken_apart_again() {
    let plan = GrowingCuckooPlan::new(1, 0.3).unwrap();
    let mut filters =
        [(); 3].map(|()| CountingCuckoo::from_plan(plan, HashScheme::Caller).unwrap());
    for (seed, filter) in (40..).zip(&mut filters) {
        for (at, key) in hashes(seed, 0, 200_000).enumerate() {
            (0..=at % 3).for_each(|_| assert!(filter.try_insert_hash(key).is_ok()));
        }
    }
    let [mut union, second, third] = filters;
    union.union_with(&second).unwrap();
    union.union_with(&third).unwrap();
    assert!(reopened(&union) == union);
    for seed in 40..43 {
        for (at, key) in hashes(seed, 0, 200_000).enumerate() {
            assert!(union.count_hash(key) > at as u64 % 3);
            (0..=at % 3).for_each(|_| assert!(union.remove_hash(key)));
        }
    }
    assert!(union.is_empty());
}

#[test]
fn filters_that_do_not_match_are_not_merged() {
    let mut ours = CountingCuckoo::new(1000, 0.01).unwrap();
    ours.try_insert("a").unwrap();
    let before = ours.clone();
    let keyed = CountingCuckoo::keyed(1000, 0.01, SipKey::new([1; 16])).unwrap();
    let maximum = CountingCuckoo::with_maximum(1000, 0.01).unwrap();
    let strict = CountingCuckoo::new(1000, 0.0001).unwrap();
    for other in [keyed, maximum, strict] {
        let checked = ours.check_union(&other);
        assert!(checked.is_err());
        assert_eq!(ours.union_with(&other), checked);
        assert!(ours == before);
    }
    // Counts that would exceed 2^40.
    let mut doubled = ours.clone();
    for _ in 0..40 {
        let other = doubled.clone();
        doubled.union_with(&other).unwrap();
    }
    assert_eq!(doubled.estimated_count("a"), 1 << 40);
    let other = doubled.clone();
    let too_many = doubled.union_with(&other);
    assert!(matches!(too_many, Err(Mismatch::Memory { .. })));
    assert!(doubled == other && reopened(&doubled) == doubled);
    assert!(matches!(doubled.try_insert("a"), Err(Full::Copies { .. })));
    assert!(doubled.remove("a") && doubled.try_insert("a") == Ok(false));
}

/// A filter with stashed slices, rests, and a sweep to wider counters that has not ended.
fn in_a_sweep() -> CountingCuckoo {
    let mut filter = with_maximum(1_000_000, 0.01);
    let mut keys: Vec<_> = hashes(38, 0, 40_000).collect();
    keys[30_000..].sort_unstable_by_key(|key| key.to_u64().wrapping_mul(PLACE));
    keys.truncate(36_000);
    filter.try_insert_hashes(&keys).unwrap();
    for &key in &keys[..2000] {
        for _ in 0..5 {
            filter.try_insert_hash(key).unwrap();
        }
        let table = filter.tables().next().unwrap();
        let has_moved = table.slices.moved_groups > 0 && !table.rests.is_empty();
        if has_moved && table.moved_counter_bits > table.slices.payload_bits {
            break;
        }
    }
    filter
}

#[test]
#[expect(clippy::too_many_lines, reason = "one list of damages")]
fn damaged_parts_are_errors_or_work() {
    let filter = in_a_sweep();
    let table = || filter.tables().next().unwrap();
    assert!(table().slices.moved_groups > 0 && !table().slices.stash.is_empty());
    assert!(!table().rests.is_empty());
    let open = |table: CountingCuckooTable<'_>| {
        CountingCuckoo::from_tables(*filter.plan(), filter.scheme(), [table])
    };
    assert!(open(table()).unwrap() == filter);
    let (shape, bits) = (table().slices.shape, table().slices.payload_bits);
    let with_slices =
        |slices: SliceTableParts<'static>| open(CountingCuckooTable { slices, ..table() });
    let parts = || {
        let slices = table().slices;
        SliceTableParts {
            moved: slices.moved.to_vec().leak(),
            cells: slices.cells.to_vec().leak(),
            ..slices
        }
    };
    for shape in (0..200).filter(|&other| other != shape) {
        assert!(with_slices(SliceTableParts { shape, ..parts() }).is_err());
    }
    for payload_bits in (0..200).filter(|&other| other != bits) {
        assert!(
            with_slices(SliceTableParts {
                payload_bits,
                ..parts()
            })
            .is_err()
        );
    }
    for slice_bits in (0..200).filter(|&bits| bits != table().slices.slice_bits) {
        assert!(
            with_slices(SliceTableParts {
                slice_bits,
                ..parts()
            })
            .is_err()
        );
    }
    for moved_groups in [0, table().slices.moved_groups + 1, 1 << 40, u64::MAX] {
        assert!(
            with_slices(SliceTableParts {
                moved_groups,
                ..parts()
            })
            .is_err()
        );
    }
    for moved_shape in (0..200).filter(|&other| other != table().moved_shape) {
        assert!(
            open(CountingCuckooTable {
                moved_shape,
                ..table()
            })
            .is_err()
        );
    }
    for moved_counter_bits in (0..200).filter(|&other| other != table().moved_counter_bits) {
        assert!(
            open(CountingCuckooTable {
                moved_counter_bits,
                ..table()
            })
            .is_err()
        );
    }
    let stashed = table().slices.stash[0].0;
    let rest = table().rests[0].0;
    for stash in [
        vec![(stashed, 0)],
        vec![(stashed, 257)],
        vec![(stashed, 1), (stashed, 1)],
        vec![(stashed + 2, 1)],
        // In a cell as well.
        vec![(rest, 1)],
    ] {
        assert!(with_slices(SliceTableParts { stash, ..parts() }).is_err());
    }
    for rests in [
        vec![(rest, 0)],
        vec![(rest, u64::MAX)],
        vec![(rest, 1), (rest, 1)],
        vec![(rest + 2, 1)],
        vec![(1, 1)],
        vec![(0, 1)],
    ] {
        assert!(open(CountingCuckooTable { rests, ..table() }).is_err());
    }
    // A rest of a slice whose counter is not full.
    let mut without = filter.clone();
    let number = table().rests[0].0;
    let inverse = (0..6).fold(PLACE, |x, _| {
        x.wrapping_mul(2_u64.wrapping_sub(PLACE.wrapping_mul(x)))
    });
    let key = KeyHash::from_u64((number & !1).wrapping_mul(inverse));
    assert!(filter.count_hash(key) > 4);
    while without.count_hash(key) > 2 {
        without.remove_hash(key);
    }
    let table_without = without.tables().next().unwrap();
    let mut rests = table_without.rests.clone();
    rests.push((number, 1));
    rests.sort_unstable();
    assert!(
        open(CountingCuckooTable {
            rests,
            ..table_without
        })
        .is_err()
    );
    // Random damage is detected, or gives a filter that works.
    let mut detected = 0;
    for seed in 0..200 {
        let (mut moved, mut cells) = (parts().moved.to_vec(), parts().cells.to_vec());
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
        let slices = SliceTableParts {
            moved: &moved,
            cells: &cells,
            ..parts()
        };
        match open(CountingCuckooTable { slices, ..table() }) {
            Err(_) => detected += 1,
            Ok(mut filter) => {
                let more: Vec<_> = hashes(39, 0, 2000).collect();
                for _ in 0..6 {
                    filter.try_insert_hashes(&more).unwrap();
                }
                assert!(more.iter().all(|&key| filter.count_hash(key) >= 6));
                assert!(reopened(&filter) == filter);
            }
        }
    }
    println!("{detected} of 200 damaged filters were detected");
}

#[test]
fn the_cell_of_a_known_key_is_where_the_format_specifies() {
    // Pins the walk: files written today must open tomorrow. Computed by hand from probe/slice.rs.
    let hash = 0x0123_4567_89AB_CDEF_u64;
    let mut filter = with_maximum(1_000_000, 0.01);
    for _ in 0..3 {
        filter.try_insert_hash(KeyHash::from_u64(hash)).unwrap();
    }
    // 27 bits of slice; 10 windows, 11 cells of 24 + 2 + 2 bits. The counter, at the top, is 2: the copies after the first.
    let slice = hash.wrapping_mul(PLACE) >> 37;
    let window = ((slice << 5) * 10) >> 32;
    let cell = 2 << 26 | (slice & ((1 << 24) - 1)) << 2;
    let mut expected = [0; 48];
    let bit = window as usize * 28;
    let word = cell << (bit % 8);
    expected[bit / 8..bit / 8 + 8].copy_from_slice(&word.to_le_bytes());
    assert_eq!(
        filter.tables().next().unwrap().slices.cells,
        &expected[..39]
    );
    assert_eq!(filter.count_hash(KeyHash::from_u64(hash)), 3);
}
