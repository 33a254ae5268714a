//! `ClassicBloom` guarantees what `Bloom` guarantees, under every scheme: no key is lost, the rate is kept, errors name bad
//! input.

use crate::{hashes, soak};
use mayhap_core::plan::classic::{self, ClassicPlan};
use mayhap_core::{ClassicBloom, HashScheme, KeyHash, Mismatch, PlanError, Scheme, SipKey};
use proptest::prelude::*;

/// The native schemes.
const SCHEMES: [Scheme; 2] = [Scheme::DoubleHashing, Scheme::EnhancedDoubleHashing];

fn filter(plan: ClassicPlan, scheme: Scheme) -> ClassicBloom {
    ClassicBloom::from_plan(plan, scheme, HashScheme::Caller).unwrap()
}

fn filled(plan: ClassicPlan, scheme: Scheme, keys: &[KeyHash]) -> ClassicBloom {
    let mut filter = filter(plan, scheme);
    filter.insert_hashes(keys);
    filter
}

/// Planned shapes, and shapes that nobody would plan: one bit, one probe, more probes than bits, the maximum number of probes.
fn shapes() -> Vec<ClassicPlan> {
    let mut shapes = Vec::new();
    for rate in [0.5, 0.1, 0.01, 0.001, 1e-6] {
        for capacity in [1, 10, 1000, 30_000] {
            shapes.push(ClassicPlan::new(capacity, rate).unwrap());
        }
    }
    // Too large for the cache, so that batches prefetch.
    shapes.push(ClassicPlan::new(600_000, 0.01).unwrap());
    for (bits, probes) in [
        (1, 1),
        (1, 9),
        (2, 2),
        (3, 4),
        (63, 5),
        (64, 1),
        (65, 256),
        (8_000_001, 1),
        (8_000_001, 2),
        (8_000_001, 3),
        (8_000_000, 100),
        (8_000_000, 256),
    ] {
        shapes.push(ClassicPlan::with_bits_and_probes(bits, probes).unwrap());
    }
    shapes
}

#[test]
fn no_key_is_lost_and_single_and_batch_agree_in_every_shape_and_scheme() {
    for plan in shapes() {
        let keys: Vec<_> = hashes(1, 0, plan.capacity.min(5000)).collect();
        let queried: Vec<_> = keys.iter().copied().chain(hashes(2, 0, 2000)).collect();
        for scheme in SCHEMES {
            let mut single = filter(plan, scheme);
            for &hash in &keys {
                let known = single.contains_hash(hash);
                assert_eq!(single.insert_hash(hash), !known, "{plan}");
                assert!(!single.insert_hash(hash), "{plan}: repeated, so not new");
                assert!(single.contains_hash(hash), "{plan}: lost at once");
            }
            assert_eq!(single, filled(plan, scheme, &keys), "{plan}, {scheme:?}");
            assert!(keys.iter().all(|&hash| single.contains_hash(hash)));
            for len in [0, 1, 63, 64, 65, queried.len()] {
                let queried = &queried[..len.min(queried.len())];
                let mut found = vec![false; queried.len()];
                single.contains_hashes(queried, &mut found);
                let one_by_one: Vec<_> = queried
                    .iter()
                    .map(|&hash| single.contains_hash(hash))
                    .collect();
                assert_eq!(found, one_by_one, "{plan}, {scheme:?}");
            }
        }
    }
}

#[test]
fn key_bytes_work_one_by_one_and_in_batches() {
    let keys: Vec<_> = (0..100_000_u32).map(u32::to_le_bytes).collect();
    for rate in [0.01, 1e-12] {
        let batch = ClassicBloom::from_keys(&keys, rate).unwrap();
        let mut single = ClassicBloom::new(keys.len(), rate).unwrap();
        for key in &keys {
            single.insert(key);
        }
        assert_eq!(single, batch);
        let mut found = vec![false; keys.len()];
        batch.contains_each(&keys, &mut found);
        assert!(found.iter().all(|&found| found));
        assert!(keys.iter().all(|key| batch.contains(key)));
        assert!(batch.contains_hash(mayhap_core::Bloom::new(1, 0.1).unwrap().hash(keys[7])));
    }
    let mut keyed = ClassicBloom::keyed(1000, 0.001, SipKey::new([9; 16])).unwrap();
    assert!(keyed.insert("a") && keyed.contains("a") && !keyed.contains("b"));
    let text = format!("{keyed:?}");
    assert!(
        text.contains("1000 keys at 0.001") && text.contains("10 probes"),
        "{text}"
    );
    assert!(!text.contains('9'), "the secret stays out of it: {text}");
    let none = ClassicBloom::from_keys(&[] as &[&str], 0.01).unwrap();
    assert!(none.is_empty() && !none.contains(""));
}

/// The measured rate of a full filter over `queries` absent keys.
fn measured_rate(plan: ClassicPlan, scheme: Scheme, seed: u64, queries: u64) -> f64 {
    let mut filter = filter(plan, scheme);
    let mut buffer: Vec<KeyHash> = Vec::new();
    let mut found = vec![false; 1 << 14];
    for from in (0..plan.capacity).step_by(1 << 14) {
        buffer.clear();
        buffer.extend(hashes(seed, from, plan.capacity.min(from + (1 << 14))));
        filter.insert_hashes(&buffer);
    }
    let mut false_positives = 0;
    for from in (0..queries).step_by(1 << 14) {
        buffer.clear();
        let to = queries.min(from + (1 << 14));
        buffer.extend(hashes(seed ^ 0xFFFF_0000, from, to));
        filter.contains_hashes(&buffer, &mut found[..buffer.len()]);
        false_positives += found[..buffer.len()].iter().filter(|&&found| found).count();
    }
    false_positives as f64 / queries as f64
}

/// Compares the mean over seeds 1..=S with the requested rate (from above) and the computed one (from both sides), each within
/// five standard deviations of sampling and of the spread between filters.
fn accept(plan: ClassicPlan, scheme: Scheme, seeds: u64, queries: u64) {
    let mean = (1..=seeds)
        .map(|seed| measured_rate(plan, scheme, seed, queries))
        .sum::<f64>()
        / seeds as f64;
    let planned = plan.rate_at(plan.capacity);
    let spread = plan.relative_variance_at(plan.capacity) / seeds as f64;
    let margin_at =
        |rate: f64| 5.0 * (1.0 / (seeds as f64 * queries as f64 * rate) + spread).sqrt();
    let margin = margin_at(plan.false_positive_rate);
    println!(
        "{plan}, {scheme:?}: measured {mean:.3e}, planned {planned:.3e}, {:.2} bits/key, margin {:.1} %",
        plan.bits_per_key(),
        100.0 * margin
    );
    assert!(
        mean <= plan.false_positive_rate * (1.0 + margin),
        "{plan}, {scheme:?}: measured {mean:e}, margin {margin}"
    );
    let margin = margin_at(planned);
    assert!(
        (mean / planned - 1.0).abs() <= margin,
        "{plan}, {scheme:?}: measured {mean:e}, planned {planned:e}, margin {margin}"
    );
}

#[test]
fn the_requested_rate_is_kept_at_capacity() {
    for rate in [0.05, 0.01, 0.001, 0.0001] {
        let queries = ((1e4 / rate) as u64).min(if soak() { 100_000_000 } else { 10_000_000 });
        for capacity in [1_000, 100_000] {
            let plan = ClassicPlan::new(capacity, rate).unwrap();
            for scheme in SCHEMES {
                accept(plan, scheme, 5, queries);
            }
        }
    }
    let large = ClassicPlan::new(10_000_000, 0.01).unwrap();
    accept(large, Scheme::EnhancedDoubleHashing, 2, 1_000_000);
    if soak() {
        for rate in [0.05, 0.01, 0.001, 0.0001] {
            let plan = ClassicPlan::new(100_000_000, rate).unwrap();
            accept(plan, Scheme::EnhancedDoubleHashing, 5, 100_000_000);
        }
    }
}

#[test]
fn the_plan_is_that_of_the_textbook() {
    for capacity in [1, 1000, 123_456_789] {
        for rate in [0.5, 0.01, 1e-6] {
            let plan = ClassicPlan::new(capacity, rate).unwrap();
            let textbook = classic::plan(capacity, rate).unwrap();
            // The plan includes hash collisions: here less than a millionth.
            assert!(
                plan.bits - textbook.bits <= textbook.bits / 1_000_000,
                "{plan}"
            );
            assert_eq!(plan.probes, textbook.probes);
            assert_eq!(plan.false_positive_rate.to_bits(), rate.to_bits());
        }
    }
    let plan = ClassicPlan::with_bits_and_probes(9586, 7).unwrap();
    assert_eq!(plan.capacity, 949);
    assert!(
        (plan.false_positive_rate - 0.5_f64.powi(7)).abs() < 1e-5,
        "{plan}"
    );
}

#[test]
fn the_variance_between_filters_is_the_computed_one() {
    let plan = ClassicPlan::new(1_000, 0.01).unwrap();
    let (seeds, queries) = (300, 300_000);
    let rates: Vec<f64> = (1..=seeds)
        .map(|seed| measured_rate(plan, Scheme::EnhancedDoubleHashing, seed, queries))
        .collect();
    let mean = rates.iter().sum::<f64>() / seeds as f64;
    let squares = rates.iter().map(|rate| (rate / mean - 1.0).powi(2));
    let variance = squares.sum::<f64>() / (seeds - 1) as f64 - 1.0 / (queries as f64 * mean);
    let share = variance / plan.relative_variance_at(plan.capacity);
    // A variance from 300 samples has a standard error of 8 %.
    assert!((0.6..1.4).contains(&share), "{share}");
}

#[test]
fn estimates_follow_the_keys_and_over_capacity_is_reported() {
    for rate in [0.05, 0.01, 0.001, 1e-5] {
        for capacity in [1_000_u64, 50_000] {
            let mut filter = ClassicBloom::for_hashes(capacity as usize, rate).unwrap();
            let plan = *filter.plan();
            assert!(!filter.is_over_capacity() && filter.keys_until_full() == capacity);
            assert!(filter.is_empty() && filter.capacity() == capacity);
            assert_eq!(filter.false_positive_rate().to_bits(), rate.to_bits());
            assert_eq!(filter.size_bytes(), plan.bits.div_ceil(64) * 8);
            for percent in [10, 50, 90, 100, 110, 150, 200] {
                let keys = capacity * percent / 100;
                filter.clear();
                filter.insert_hashes(&hashes(21, 0, keys).collect::<Vec<_>>());
                let estimate = filter.estimated_keys() as f64;
                let error = 1.0 + 6.0 * (plan.bits as f64).sqrt() / f64::from(plan.probes);
                assert!(
                    (estimate - keys as f64).abs() <= error,
                    "{plan}: {keys} keys, estimated {estimate}"
                );
                let (now, expected) = (
                    filter.estimated_rate(),
                    classic::rate(plan.bits, keys, plan.probes),
                );
                let spread = 6.0 * plan.relative_variance_at(keys).sqrt() + 0.02;
                assert!(
                    (now / expected - 1.0).abs() < spread,
                    "{plan}: {keys} keys, rate {now:e}, expected {expected:e}"
                );
                assert_eq!(filter.is_over_capacity(), percent > 100, "{plan}: {keys}");
                if percent > 100 {
                    assert!(filter.keys_until_full() == 0 && now > rate);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn union_is_or_intersection_is_and_and_estimates_add_up(
        bits in 50_000..100_000_u64, probes in 1..12_u32, plain: bool, seed: u64,
        common in 0..1000_u64, ours in 0..1000_u64, theirs in 0..1000_u64,
    ) {
        let plan = ClassicPlan::with_bits_and_probes(bits, probes).unwrap();
        let scheme = SCHEMES[usize::from(plain)];
        let left: Vec<_> = hashes(seed, 0, common + ours).collect();
        let right: Vec<_> = hashes(seed, 0, common).chain(hashes(!seed, 0, theirs)).collect();
        let (a, b) = (filled(plan, scheme, &left), filled(plan, scheme, &right));
        let mut union = a.clone();
        union.union_with(&b).unwrap();
        prop_assert_eq!(&union, &filled(plan, scheme, &[left, right].concat()));
        let mut both = a.clone();
        both.intersect_with(&b).unwrap();
        prop_assert!(hashes(seed, 0, common).all(|hash| both.contains_hash(hash)));
        for ((both, a), b) in both.words().zip(a.words()).zip(b.words()) {
            prop_assert_eq!(both, a & b);
        }
        let near = |estimate: u64, truth: u64| estimate.abs_diff(truth) <= 20 + truth / 20;
        prop_assert!(near(a.estimated_union_keys(&b).unwrap(), common + ours + theirs));
        prop_assert!(a.estimated_common_keys(&b).unwrap().abs_diff(common) <= 60 + common / 20);
    }
}

#[test]
fn mismatched_filters_are_rejected_with_the_field_and_unchanged() {
    let constructor =
        |bits, probes, scheme| ClassicBloom::with_bits_and_probes(bits, probes, scheme);
    let plain = Scheme::DoubleHashing;
    let base = constructor(1000, 5, plain).unwrap();
    let key = |byte| SipKey::new([byte; 16]);
    let cases = [
        (base.clone(), constructor(1001, 5, plain).unwrap(), "bits"),
        (base.clone(), constructor(1000, 6, plain).unwrap(), "probes"),
        (
            base.clone(),
            constructor(1000, 5, Scheme::EnhancedDoubleHashing).unwrap(),
            "scheme, 1 here and 2 there",
        ),
        (
            base,
            filter(*constructor(1000, 5, plain).unwrap().plan(), plain),
            "hash scheme",
        ),
        (
            ClassicBloom::keyed(9, 0.1, key(1)).unwrap(),
            ClassicBloom::keyed(9, 0.1, key(2)).unwrap(),
            "different secret keys",
        ),
    ];
    for (mut ours, theirs, field) in cases {
        let before = ours.clone();
        for refused in [ours.union_with(&theirs), ours.intersect_with(&theirs)] {
            let message = refused.unwrap_err().to_string();
            assert!(message.contains(field), "{message}");
        }
        assert!(ours.estimated_union_keys(&theirs).is_err());
        assert!(ours.estimated_common_keys(&theirs).is_err());
        assert_eq!(ours, before);
    }
    assert!(matches!(
        constructor(64, 1, plain)
            .unwrap()
            .union_with(&constructor(65, 1, plain).unwrap()),
        Err(Mismatch::Shape {
            field: "bits",
            ours: 64,
            theirs: 65
        })
    ));
}

#[test]
fn the_bits_of_a_known_key_are_where_the_schemes_specify() {
    // Pins both walks: files written today must open tomorrow. Computed separately, with Python's integers.
    let hash = 0x8877_6655_4433_2211_u64;
    for (scheme, expected) in [
        (Scheme::DoubleHashing, [528, 593, 693, 758, 923, 988]),
        (
            Scheme::EnhancedDoubleHashing,
            [532, 593, 713, 759, 933, 988],
        ),
    ] {
        let plan = ClassicPlan::with_bits_and_probes(1009, 6).unwrap();
        let filter = filled(plan, scheme, &[KeyHash::from_u64(hash)]);
        let set: Vec<usize> = filter
            .words()
            .enumerate()
            .flat_map(|(at, word)| {
                (0..64)
                    .filter(move |bit| word >> bit & 1 == 1)
                    .map(move |bit| 64 * at + bit)
            })
            .collect();
        assert_eq!(set, expected, "{scheme:?}");
    }
}

fn errors(capacity: u64, rate: f64) -> Vec<PlanError> {
    vec![
        ClassicBloom::new(capacity as usize, rate).unwrap_err(),
        ClassicBloom::for_hashes(capacity as usize, rate).unwrap_err(),
        ClassicBloom::keyed(capacity as usize, rate, SipKey::new([1; 16])).unwrap_err(),
    ]
}

#[test]
fn invalid_requests_name_the_field() {
    for error in errors(0, 0.01) {
        assert_eq!(
            error.to_string(),
            "capacity = 0 is out of range: give at least 1 key"
        );
    }
    let no_rates = [
        0.0,
        -0.0,
        1.0,
        1.5,
        -0.01,
        f64::NAN,
        f64::INFINITY,
        f64::MIN_POSITIVE,
    ];
    for rate in no_rates {
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
        }
    }
    assert!(ClassicBloom::from_keys(&["a"], f64::NAN).is_err());
    for (bits, probes, message) in [
        (0, 3, "bits = 0 is out of range: give at least 1 bit"),
        (9, 0, "probes = 0 is out of range: give 1 to 4096 probes"),
        (
            9,
            4097,
            "probes = 4097 is out of range: give 1 to 4096 probes",
        ),
    ] {
        let error = ClassicBloom::with_bits_and_probes(bits, probes, Scheme::DoubleHashing);
        assert_eq!(error.unwrap_err().to_string(), message);
        let plan = ClassicPlan {
            bits,
            probes,
            ..ClassicPlan::new(9, 0.1).unwrap()
        };
        let error = ClassicBloom::from_plan(plan, Scheme::DoubleHashing, HashScheme::Xxh3);
        assert_eq!(error.unwrap_err().to_string(), message);
    }
}

#[test]
fn impossible_sizes_are_errors_not_aborts() {
    for error in errors(10_000_000_000_000, 0.01) {
        assert!(
            matches!(error, PlanError::OutOfMemory { size_bytes } if size_bytes > 11_000_000_000_000),
            "{error}"
        );
    }
    for error in errors(u64::MAX, 0.01) {
        assert!(!matches!(error, PlanError::OutOfMemory { .. }), "{error}");
    }
    let error = ClassicBloom::with_bits_and_probes(u64::MAX, 3, Scheme::DoubleHashing);
    assert!(matches!(
        error,
        Err(PlanError::OutOfMemory {
            size_bytes: 0x2000_0000_0000_0000
        })
    ));
}

#[test]
#[should_panic(expected = "one place in `found` for every key")]
fn results_must_match_the_number_of_keys() {
    ClassicBloom::new(10, 0.1)
        .unwrap()
        .contains_each(&["a", "b"], &mut [false]);
}

#[test]
#[should_panic(expected = "one place in `found` for every hash")]
fn answers_to_hashes_need_a_place_each() {
    ClassicBloom::for_hashes(10, 0.1)
        .unwrap()
        .contains_hashes(&[KeyHash::from_u64(1)], &mut []);
}

#[test]
#[should_panic(expected = "has no hash function")]
fn byte_methods_on_a_filter_for_hashes_panic_as_documented() {
    ClassicBloom::for_hashes(10, 0.1).unwrap().insert("a");
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "another hash scheme or secret key")]
fn debug_builds_detect_a_hash_of_another_scheme() {
    ClassicBloom::new(10, 0.1)
        .unwrap()
        .insert_hash(KeyHash::from_u64(1));
}

#[test]
fn filters_are_send_and_sync() {
    fn sendable<T: Send + Sync>() {}
    sendable::<ClassicBloom>();
    sendable::<ClassicPlan>();
}

#[test]
fn the_positions_of_a_key_are_the_bits_that_it_sets() {
    for scheme in [
        Scheme::EnhancedDoubleHashing,
        Scheme::HadoopMurmur,
        Scheme::LevelDb,
    ] {
        let mut filter = ClassicBloom::with_bits_and_probes(1000, 5, scheme).unwrap();
        filter.insert("key");
        let mut positions: Vec<u64> = filter.positions_of(b"key").collect();
        assert_eq!(positions.len(), 5);
        filter.clear_bit(positions[0]);
        assert!(!filter.contains("key"));
        positions.sort_unstable();
        positions.dedup();
        assert_eq!(filter.set_bits(), positions.len() as u64 - 1);
    }
}

#[test]
fn a_filter_loaded_in_pieces_equals_the_stored_one() {
    for bits in [1, 8, 13, 64, 200, 1003] {
        let plan = ClassicPlan::with_bits_and_probes(bits, 3).unwrap();
        let stored = filled(plan, SCHEMES[1], &hashes(7, 0, 40).collect::<Vec<_>>());
        let bytes: Vec<u8> = stored.words().flat_map(u64::to_le_bytes).collect();
        let bytes = &bytes[..bits.div_ceil(8) as usize];
        for piece in 1..20 {
            let mut loaded = filter(plan, SCHEMES[1]);
            for (number, piece_bytes) in bytes.chunks(piece).enumerate() {
                let start = (number * piece) as u64;
                loaded.overwrite(start, piece_bytes).unwrap();
            }
            assert!(loaded == stored, "{bits} bits, {piece} bytes at a time");
        }
    }
}

#[test]
fn invalid_pieces_are_rejected_and_change_nothing() {
    let plan = ClassicPlan::with_bits_and_probes(13, 3).unwrap();
    let mut filter = filled(plan, SCHEMES[1], &hashes(7, 0, 2).collect::<Vec<_>>());
    let before = filter.clone();
    let bad: [(u64, &[u8]); 4] = [(1, &[0x20]), (2, &[0]), (1, &[0, 0]), (u64::MAX, &[0])];
    for (start, bytes) in bad {
        assert!(filter.overwrite(start, bytes).is_err() && filter == before);
    }
    assert!(filter.overwrite(2, &[]).is_ok() && filter == before);
}
