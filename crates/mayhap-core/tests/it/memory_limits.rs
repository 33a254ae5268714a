//! Inserts with a memory limit: accepted keys are stored as without a limit, and rejected ones change nothing.

use mayhap_core::plan::{GrowingPlan, WindowPlan};
use mayhap_core::{
    Bloom, ClassicCuckoo, Cuckoo, Full, GrowingBloom, HashScheme, KeyHash, Timestamp, WindowBloom,
};
use std::time::Duration;

fn hash(number: u64) -> KeyHash {
    HashScheme::Xxh3.hash(number.to_le_bytes())
}

#[test]
fn a_growing_filter_grows_within_its_limit_as_without_one() {
    let plan = GrowingPlan::new(50, 0.01).unwrap();
    let filter = || GrowingBloom::from_plan(plan, HashScheme::Xxh3).unwrap();
    let (mut free, mut limited) = (filter(), filter());
    let mut refused = 0;
    for number in 0..20_000 {
        let hash = hash(number % 15_000);
        let before = limited.clone();
        match limited.try_insert_hash_within(hash, 12_000) {
            Ok(new) => assert_eq!(new, free.insert_hash(hash)),
            Err(Full::Memory { size_bytes }) => {
                assert!(size_bytes > 12_000 && limited == before && !limited.contains_hash(hash));
                refused += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(refused > 1000 && limited == free && limited.size_bytes() <= 12_000);
    assert!(!limited.is_over_capacity());
}

#[test]
fn a_window_adds_layers_within_its_limit_as_without_one() {
    let plan = WindowPlan::new(100, 0.01, Duration::from_secs(8)).unwrap();
    let filter = || WindowBloom::from_plan(plan, HashScheme::Xxh3, Timestamp(0)).unwrap();
    let (mut free, mut limited) = (filter(), filter());
    let max = free.size_bytes() * 2;
    let mut refused = 0;
    for number in 0..5000 {
        let (hash, now) = (hash(number % 3000), Timestamp(number * 3));
        let before = limited.clone();
        if let Ok(new) = limited.try_insert_hash_within(hash, now, max) {
            assert_eq!(new, free.insert_hash(hash, now));
        } else {
            assert!(limited == before);
            refused += 1;
        }
    }
    assert!(refused > 100 && limited == free && limited.size_bytes() <= max);
}

#[test]
fn a_burst_never_adds_more_layers_than_can_be_loaded() {
    let plan = WindowPlan::new(8, 0.5, Duration::from_secs(8)).unwrap();
    let mut filter = WindowBloom::from_plan(plan, HashScheme::Xxh3, Timestamp(0)).unwrap();
    for number in 0..300 {
        filter.insert_hash(hash(number), Timestamp(0));
        assert!(filter.contains_hash(hash(number), Timestamp(0)));
    }
    let max = filter
        .generations()
        .map(|(_, _, layers)| layers.len())
        .max();
    assert!(max.is_some_and(|max| (10..=64).contains(&max)), "{max:?}");
    // In the first slice, of eight and one, there is 1 in each; the others are empty.
    assert!((1..=300).contains(&filter.counted_keys(Timestamp(0))));
    assert_eq!(filter.counted_keys(Timestamp(100_000)), 0);
}

#[test]
fn a_growing_cuckoo_filter_grows_within_its_limit_as_without_one() {
    let plan = GrowingPlan::new(50, 0.01).unwrap();
    let filter = || Cuckoo::growing_from_plan(plan, HashScheme::Xxh3).unwrap();
    let (mut free, mut limited) = (filter(), filter());
    let mut refused = 0;
    for number in 0..20_000 {
        // Some keys repeat, and some are removed.
        let hash = hash(number % 10_007 % 6000);
        if number % 7 == 0 {
            assert_eq!(limited.remove_hash(hash), free.remove_hash(hash));
            continue;
        }
        let before = limited.clone();
        if let Ok(new) = limited.try_insert_hash_within(hash, 15_000) {
            assert_eq!(Ok(new), free.try_insert_hash(hash));
        } else {
            assert!(limited == before);
            refused += 1;
        }
    }
    assert!(refused > 1000 && limited == free && limited.size_bytes() <= 15_000);
}

#[test]
fn copies_are_counted_and_never_too_few() {
    let growing = Cuckoo::growing(20, 0.01).unwrap();
    let fixed = Cuckoo::new(3000, 0.01).unwrap();
    for (mut filter, max) in [(growing, 7), (fixed, 2)] {
        for number in 0..1000_u64 {
            for _ in 0..number % max {
                filter.try_insert_hash(hash(number)).unwrap();
            }
        }
        let mut exact = 0;
        for number in 0..1000 {
            let count = filter.count_hash(hash(number));
            assert!(count >= number % max, "{count} of {}", number % max);
            exact += usize::from(count == number % max);
        }
        assert!(exact > 950, "{exact}");
        for number in 0..1000 {
            for _ in 0..number % max {
                assert!(filter.remove_hash(hash(number)));
            }
        }
        assert!((0..1000).all(|number| filter.count_hash(hash(number)) == 0));
    }
}

#[test]
fn classic_tables_are_added_within_the_limit() {
    let plan = mayhap_core::plan::ClassicCuckooPlan::new(64, 2, 20, 1).unwrap();
    let mut filter = ClassicCuckoo::from_plan(plan).unwrap();
    // Seven tables of 64 slots, and the overhead of six of them.
    let max = 500 + 6 * ClassicCuckoo::TABLE_BYTES;
    let refused = (0..2000_u64).find_map(|number| {
        let hash = hash(number).to_u64();
        filter.try_insert_hash_within(hash, max).err()
    });
    assert!(matches!(refused, Some(Full::Memory { .. })));
    assert!(filter.size_bytes() <= 500 && filter.estimated_keys() > 400);
}

#[test]
fn batch_inserts_report_the_same_as_single_ones() {
    let (mut many, mut single) = (
        Bloom::new(3000, 0.001).unwrap(),
        Bloom::new(3000, 0.001).unwrap(),
    );
    let hashes: Vec<KeyHash> = (0..4000)
        .map(|number| hash(number * number % 3001))
        .collect();
    let mut is_new = vec![false; hashes.len()];
    many.insert_hashes_reporting_new(&hashes, &mut is_new);
    let reported: Vec<bool> = hashes
        .iter()
        .map(|&hash| single.insert_hash(hash))
        .collect();
    assert!(is_new == reported && many == single);
}

#[test]
fn a_filter_can_be_loaded_in_pieces_of_any_length() {
    let mut whole = Bloom::new(3000, 0.001).unwrap();
    whole.insert_hashes(&(0..3000).map(hash).collect::<Vec<_>>());
    let bytes = whole.bytes().into_owned();
    for length in [1, 7, 8, 63, 64, 65, 100, 1000, bytes.len()] {
        let mut pieces = Bloom::new(3000, 0.001).unwrap();
        pieces.insert_hash(hash(99_999));
        for (number, piece) in bytes.chunks(length).enumerate() {
            pieces.overwrite((number * length) as u64, piece).unwrap();
        }
        assert!(pieces == whole, "{length}");
        let end = bytes.len() as u64;
        assert!(pieces.overwrite(end, &[]).is_ok());
        for (start, piece) in [(end, &[0][..]), (end - 1, &[0, 0]), (u64::MAX, &[0])] {
            assert!(pieces.overwrite(start, piece).is_err());
        }
        assert!(pieces == whole);
    }
}

#[test]
fn batches_of_foreign_schemes_equal_single_inserts() {
    use mayhap_core::plan::classic::ClassicPlan;
    use mayhap_core::{ClassicBloom, Scheme};
    // In cache, and far larger.
    for bits in [1000, 1 << 26] {
        let plan = ClassicPlan::with_bits_and_probes(bits, 7).unwrap();
        let filter =
            || ClassicBloom::from_plan(plan, Scheme::RedisBloom, HashScheme::Caller).unwrap();
        let (mut many, mut single) = (filter(), filter());
        let keys: Vec<[u8; 8]> = (0..3000_u64)
            .map(|n| (n * n % 2003).to_le_bytes())
            .collect();
        let mut is_new = vec![true; keys.len()];
        many.insert_each_reporting_new(&keys, &mut is_new);
        let reported: Vec<bool> = keys.iter().map(|key| single.insert(key)).collect();
        assert!(is_new == reported && many == single, "{bits}");
    }
}
