//! The ribbon blocks of LevelDB's policy: their bytes are frozen, every key is found, the rate and the size are as planned, and any bytes are
//! valid.

use mayhap_codec::leveldb::{self, Policy, ribbon_block};
use mayhap_core::plan::{RibbonBlockPrecision, leveldb::rate};
use mayhap_testkit::random::Random;

fn key(set: u64, number: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&set.to_le_bytes());
    key[8..].copy_from_slice(&number.to_le_bytes());
    key
}

fn keys(set: u64, count: u64) -> Vec<[u8; 16]> {
    (0..count).map(|number| key(set, number)).collect()
}

fn filter(policy: Policy, keys: &[[u8; 16]]) -> Vec<u8> {
    policy.create_filter(keys.iter().map(|key| &key[..]))
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

fn assert_finds(policy: Policy, keys: &[[u8; 16]], filter: &[u8]) {
    let found = |key: &[u8; 16]| policy.key_may_match(key, filter);
    assert!(keys.iter().all(found), "{} keys", keys.len());
}

#[test]
fn the_bytes_are_frozen() {
    let ribbon = Policy::ribbon(10).unwrap();
    let loose = Policy::ribbon_with_rate(0.02).unwrap();
    let words = ["apple", "pear", "plum", "fig", "quince", "medlar", "grape"];
    let words = |count| words[..count].iter().map(|word| word.as_bytes());
    for (policy, count, expected) in GOLDEN {
        let policy = if *policy == "ribbon" { ribbon } else { loose };
        assert_eq!(
            hex(&policy.create_filter(words(*count))),
            *expected,
            "{count} words"
        );
    }
    // Of many keys, the number of bytes and their sum.
    for (policy, count, length, sum) in GOLDEN_SUMS {
        let policy = if *policy == "ribbon" { ribbon } else { loose };
        let filter = filter(policy, &keys(0, *count));
        let found = mayhap_core::HashScheme::Xxh3.hash(&filter[..]).to_u64();
        assert_eq!((filter.len(), found), (*length, *sum), "{count} keys");
    }
    assert_eq!(ribbon.name(), "mayhap.RibbonBlock1");
}

const GOLDEN: &[(&str, usize, &str)] = &[
    ("ribbon", 0, "01"),
    ("ribbon", 1, "c42cdc"),
    ("ribbon", 2, "30d074"),
    ("ribbon", 7, "d9e91a50da80be77"),
    ("loose", 7, "d9e91a50da085b"),
];

/// Rows of 64 and of 128 slots, with and without an extra column.
const GOLDEN_SUMS: &[(&str, u64, usize, u64)] = &[
    ("ribbon", 100, 89, 0xe13b_aab1_007e_4d30),
    ("ribbon", 640, 561, 0x8fb3_8d45_ca1e_04fb),
    ("ribbon", 2000, 1751, 0xe7cb_754b_792b_0f49),
    ("loose", 100, 74, 0x2ec0_f921_fa22_64b8),
    ("loose", 640, 463, 0x896e_f349_a468_adf3),
    ("loose", 2000, 1443, 0x5272_62a7_c15c_5eab),
];

#[test]
fn every_key_is_found_in_blocks_of_every_size_and_precision() {
    for number in (1..=62).step_by(3) {
        let rate = RibbonBlockPrecision::from_number(number).unwrap().rate();
        let policy = Policy::ribbon_with_rate(rate).unwrap();
        for count in (1..100).chain([127, 128, 129, 500, 639, 640, 641, 1300]) {
            let keys = keys(count, count);
            assert_finds(policy, &keys, &filter(policy, &keys));
        }
    }
    let policy = Policy::ribbon(10).unwrap();
    for count in [5000, 20_000, 150_000] {
        let keys = keys(count, count);
        assert_finds(policy, &keys, &filter(policy, &keys));
    }
}

#[test]
fn order_and_repetition_do_not_change_a_byte() {
    let policy = Policy::ribbon(10).unwrap();
    for count in [1, 2, 3, 10, 50, 700] {
        let mut keys = keys(1, count);
        let expected = filter(policy, &keys);
        keys.reverse();
        assert_eq!(filter(policy, &keys), expected);
        keys.extend(keys.clone());
        keys.push(keys[0]);
        assert_eq!(filter(policy, &keys), expected);
    }
}

/// The bytes and the rate of many filters, relative to LevelDB's own.
fn compare(bits_per_key: u32, count: u64, filters: u64, queries: u64) -> (f64, f64, f64) {
    let [bloom, ribbon] =
        [Policy::bloom(bits_per_key), Policy::ribbon(bits_per_key)].map(Result::unwrap);
    let (mut bytes, mut found) = ([0, 0], [0, 0]);
    for set in 0..filters {
        let keys = keys(set, count);
        for (at, policy) in [bloom, ribbon].into_iter().enumerate() {
            let filter = filter(policy, &keys);
            assert_finds(policy, &keys, &filter);
            bytes[at] += filter.len();
            let absent =
                (0..queries).filter(|&at| policy.key_may_match(&key(set, count + at), &filter));
            found[at] += absent.count();
        }
    }
    let rates = found.map(|found| found as f64 / (filters * queries) as f64);
    (bytes[1] as f64 / bytes[0] as f64, rates[1], rates[0])
}

#[test]
fn blocks_have_three_quarters_of_the_bytes_of_leveldb_at_the_same_rate() {
    for bits_per_key in [6, 8, 10, 12, 16] {
        for count in [1, 2, 3, 6, 20, 35, 140, 560, 2000] {
            let queries = 400_000;
            let filters = (20_000 / count).clamp(10, 400);
            let (size, ribbon, bloom) = compare(bits_per_key, count, filters, queries / filters);
            if count >= 35 {
                assert!(
                    size <= if count < 500 { 0.77 } else { 0.75 },
                    "{count} keys: {size}"
                );
            }
            // Five standard deviations.
            let margin = 5.0 * (bloom.max(1e-5) / queries as f64).sqrt();
            assert!(
                ribbon <= 1.02 * bloom + margin,
                "{count} keys: {ribbon}, {bloom}"
            );
            // Measured rates of LevelDB's own are not below what is planned for.
            assert!(rate(count, bits_per_key) <= 1.05 * bloom + margin);
        }
    }
}

#[test]
fn a_named_rate_is_kept() {
    for rate in [0.3, 0.1, 0.02, 0.003] {
        let policy = Policy::ribbon_with_rate(rate).unwrap();
        for count in [30, 600] {
            let (filters, queries) = (40, 10_000);
            let mut found = 0;
            for set in 0..filters {
                let filter = filter(policy, &keys(set, count));
                let absent = (0..queries).map(|at| key(set, count + at));
                found += absent
                    .filter(|key| policy.key_may_match(key, &filter))
                    .count();
            }
            let queries = (filters * queries) as f64;
            let measured = found as f64 / queries;
            let margin = 5.0 * (rate / queries).sqrt();
            assert!(
                measured <= rate + margin,
                "{count} keys: {measured}, {rate}"
            );
            assert!(measured > rate / 3.0, "{count} keys: {measured}, {rate}");
        }
    }
    assert!(Policy::ribbon_with_rate(0.0).is_err());
    assert!(Policy::ribbon_with_rate(f64::NAN).is_err());
    assert!(Policy::ribbon(0).is_err() && Policy::bloom(101).is_err());
}

#[test]
fn any_bytes_answer_and_what_no_writer_makes_matches() {
    let ribbon = Policy::ribbon(10).unwrap();
    assert!(ribbon.key_may_match(b"key", &[]));
    assert!(ribbon.key_may_match(b"key", &[0]));
    assert!(!ribbon.key_may_match(b"key", &[1]));
    for header in [2, 3, 252, 253, 254, 255] {
        for bits in 0..40 {
            let mut block = vec![0x5a; bits];
            block.push(header);
            assert!(ribbon.key_may_match(b"key", &block), "{header}");
        }
    }
    // A header without slots.
    for header in 4..252 {
        assert!(ribbon.key_may_match(b"key", &[header]));
    }
    let mut random = Random::new(7);
    for _ in 0..20_000 {
        let length = random.index(200);
        let bytes: Vec<u8> = (0..length).map(|_| random.next_u64() as u8).collect();
        ribbon_block::may_match(&bytes, b"key");
        let decoded = leveldb::decode(&bytes).unwrap();
        assert_eq!(leveldb::may_match(&bytes, b"key"), decoded.contains(b"key"));
    }
}
