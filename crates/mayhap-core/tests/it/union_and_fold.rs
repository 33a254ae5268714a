//! Union, intersection, estimates of two filters, and folding. Properties over random key sets.

use crate::hashes;
use mayhap_core::plan::{BloomPlan, LinesPerKey};
use mayhap_core::{Bloom, HashScheme, KeyHash, Mismatch, SharedBloom, SipKey};
use proptest::prelude::*;

fn filled(plan: BloomPlan, keys: &[KeyHash]) -> Bloom {
    let mut filter = Bloom::from_plan(plan, HashScheme::Caller).unwrap();
    filter.insert_hashes(keys);
    filter
}

fn any_plan() -> impl Strategy<Value = BloomPlan> {
    (
        1..5_000_u64,
        prop_oneof![
            Just(0.2),
            Just(0.05),
            Just(0.01),
            Just(0.0039),
            Just(0.001),
            Just(1e-5)
        ],
        any::<bool>(),
    )
        .prop_map(|(capacity, rate, two)| {
            let lines = if two {
                LinesPerKey::Two
            } else {
                LinesPerKey::One
            };
            BloomPlan::with_lines_per_key(capacity, rate, lines).unwrap()
        })
}

/// Shapes that no plan has, so that strict and oversized filters of few keys are folded, and filters that are too large to
/// compare all their lines.
fn any_shape() -> impl Strategy<Value = BloomPlan> {
    let lines = prop_oneof![1..40_u64, 1..1000_u64, 4000..9000_u64];
    (lines, 1..=8_u8).prop_map(|(lines, bits)| {
        BloomPlan::from_shape(1_u64 << 40, 0.5, 2 * lines, bits, LinesPerKey::Two).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_union_equals_a_filter_of_both_key_sets(plan in any_plan(), seed: u64, left in 0..3000_u64, right in 0..3000_u64) {
        let ours: Vec<_> = hashes(seed, 0, left).collect();
        let theirs: Vec<_> = hashes(!seed, 0, right).collect();
        let (mut joined, other) = (filled(plan, &ours), filled(plan, &theirs));
        joined.union_with(&other).unwrap();
        prop_assert_eq!(joined, filled(plan, &[ours, theirs].concat()));
    }

    #[test]
    fn an_intersection_keeps_every_common_key_and_adds_no_bit(plan in any_plan(), seed: u64, common in 0..2000_u64) {
        let ours: Vec<_> = hashes(seed, 0, common + 500).collect();
        let theirs: Vec<_> = hashes(seed, 0, common).chain(hashes(!seed, 0, 700)).collect();
        let (left, right) = (filled(plan, &ours), filled(plan, &theirs));
        let mut both = left.clone();
        both.intersect_with(&right).unwrap();
        prop_assert!(hashes(seed, 0, common).all(|hash| both.contains_hash(hash)));
        for ((both, left), right) in both.words().zip(left.words()).zip(right.words()) {
            prop_assert_eq!(both, left & right);
        }
    }

    #[test]
    fn folding_loses_no_key_and_reports_the_new_rate(
        plan in prop_oneof![any_plan(), any_shape()],
        seed: u64,
        keys in prop_oneof![0..100_u64, 0..5000_u64],
    ) {
        let keys: Vec<_> = hashes(seed, 0, keys).collect();
        let mut filter = filled(plan, &keys);
        let mut exact = true;
        loop {
            let (plan, before) = (*filter.plan(), filter.estimated_rate());
            let strangers = hashes(!seed, 0, 2000).filter(|&hash| filter.contains_hash(hash));
            let false_positives: Vec<_> = strangers.collect();
            let Some(rate) = filter.fold().unwrap() else { break };
            prop_assert!(keys.iter().all(|&hash| filter.contains_hash(hash)));
            prop_assert!(false_positives.iter().all(|&hash| filter.contains_hash(hash)), "the true rate never falls");
            prop_assert_eq!(rate.to_bits(), filter.estimated_rate().to_bits());
            prop_assert_eq!(filter.plan(), &plan.halved().unwrap());
            prop_assert_eq!(filter.false_positive_rate().to_bits(), plan.false_positive_rate().to_bits());
            let per_half = plan.lines() / u64::from(plan.lines_per_key().count());
            let is_even = per_half % 2 == 0;
            exact &= is_even;
            prop_assert!(rate >= before * 0.999, "{} {}", rate, before);
            if exact {
                prop_assert_eq!(&filter, &filled(plan.halved().unwrap(), &keys), "an even fold is the smaller filter");
            } else {
                // An odd fold has at least the bits of the smaller filter.
                let smaller = filled(plan.halved().unwrap(), &keys);
                prop_assert!(filter.words().zip(smaller.words()).all(|(folded, built)| folded & built == built));
            }
        }
    }

    #[test]
    fn estimates_of_two_filters_add_up(seed: u64, common in 0..4000_u64, ours in 0..3000_u64, theirs in 0..3000_u64) {
        let plan = BloomPlan::new(10_000, 0.01).unwrap();
        let left = filled(plan, &hashes(seed, 0, common + ours).collect::<Vec<_>>());
        let others = hashes(seed, 0, common).chain(hashes(!seed, 0, theirs));
        let right = filled(plan, &others.collect::<Vec<_>>());
        let near = |estimate: u64, truth: u64| estimate.abs_diff(truth) <= 5 + truth / 50;
        prop_assert!(near(left.estimated_keys(), common + ours));
        prop_assert!(near(left.estimated_union_keys(&right).unwrap(), common + ours + theirs));
        let shared = left.estimated_common_keys(&right).unwrap();
        prop_assert!(shared.abs_diff(common) <= 5 + (common + ours + theirs) / 25, "{} {}", shared, common);
    }
}

/// Counts strangers before and after every fold, also of odd numbers of lines, which copy lines.
#[test]
fn the_rate_after_folds_is_that_of_strangers() {
    const QUERIES: u64 = 1 << 21;
    let mut found = vec![false; QUERIES as usize];
    // Lines in each half and bits in each line.
    let shapes = [
        (3, 4),
        (3, 6),
        (5, 8),
        (9, 4),
        (17, 6),
        (33, 8),
        (257, 8),
        (515, 6),
        (1025, 8),
    ];
    for (seed, (lines, bits)) in (1..).zip(shapes) {
        let strangers: Vec<_> = hashes(!seed, 0, QUERIES).collect();
        for keys_per_line in [1, 3, 10, 30, 60] {
            let lines_per_key = LinesPerKey::Two;
            let plan = BloomPlan::from_shape(1 << 40, 0.5, 2 * lines, bits, lines_per_key).unwrap();
            let keys: Vec<_> = hashes(seed, 0, keys_per_line * lines).collect();
            let mut filter = filled(plan, &keys);
            loop {
                filter.contains_hashes(&strangers, &mut found);
                let measured = found.iter().filter(|&&found| found).count() as f64;
                let expected = filter.estimated_rate() * QUERIES as f64;
                // Five standard deviations, and one stranger at least. Larger filters are estimated, to one percent above 1e-5.
                let margin = 5.0 * expected.max(1.0).sqrt() + expected * 0.01;
                assert!(
                    (measured - expected).abs() <= margin,
                    "{keys_per_line} keys per line of {lines}, now {filter:?}: {measured}, not {expected}"
                );
                if filter.fold().unwrap().is_none() {
                    break;
                }
            }
        }
    }
}

/// Rates that cannot be measured: a stranger is found if it has the key's 48 bits of position and one of its lines in each half.
#[test]
fn the_rate_of_one_key_is_exact_after_folds() {
    for lines in 1..300 {
        let plan = BloomPlan::from_shape(1 << 40, 0.5, 2 * lines, 8, LinesPerKey::Two).unwrap();
        let mut filter = filled(plan, &hashes(lines, 0, 1).collect::<Vec<_>>());
        loop {
            let words: Vec<_> = filter.words().collect();
            let used = |half: &[u64]| half.iter().filter(|&&word| word != 0).count() as f64 / 8.0;
            let (first, second) = words.split_at(words.len() / 2);
            let half = first.len() as f64 / 8.0;
            let expected = used(first) * used(second) / (half * half) / 64_f64.powi(8);
            let ratio = filter.estimated_rate() / expected;
            assert!((ratio - 1.0).abs() < 1e-12, "{lines}: {ratio}");
            let shared = SharedBloom::from(filter.clone());
            assert_eq!(shared.stats(), filter.stats());
            if filter.fold().unwrap().is_none() {
                break;
            }
        }
    }
}

#[test]
fn folding_an_oversized_filter_keeps_the_rate() {
    let keys: Vec<_> = hashes(8, 0, 10_000).collect();
    let mut filter = filled(BloomPlan::new(1_000_000, 0.01).unwrap(), &keys);
    loop {
        let mut half = filter.clone();
        let rate = half.fold().unwrap().unwrap();
        if rate > 0.01 {
            break;
        }
        filter = half;
        assert!(keys.iter().all(|&hash| filter.contains_hash(hash)));
    }
    assert!(
        filter.size_bytes() * 8 < 10_000 * 10 * 4,
        "much smaller than it was: {filter:?}"
    );
    assert!(!filter.is_over_capacity());
}

#[test]
fn mismatched_filters_are_rejected_with_the_field_and_unchanged() {
    let base = Bloom::new(100_000, 0.01).unwrap();
    let key = |byte| SipKey::new([byte; 16]);
    let cases = [
        (base.clone(), Bloom::new(200_000, 0.01).unwrap(), "lines"),
        (
            base.clone(),
            Bloom::new(100_000, 0.0001).unwrap(),
            "lines per key",
        ),
        (
            base.clone(),
            Bloom::new(100_000, 0.05).unwrap(),
            "bits per key in a line",
        ),
        (
            base.clone(),
            Bloom::for_hashes(100_000, 0.01).unwrap(),
            "hashes its keys itself",
        ),
        (
            Bloom::keyed(9, 0.1, key(1)).unwrap(),
            Bloom::keyed(9, 0.1, key(2)).unwrap(),
            "different secret keys",
        ),
    ];
    for (mut ours, theirs, field) in cases {
        let before = ours.clone();
        for refused in [ours.union_with(&theirs), ours.intersect_with(&theirs)] {
            let message = refused.unwrap_err().to_string();
            assert!(message.contains(field), "{message}");
        }
        assert!(
            ours.estimated_union_keys(&theirs).is_err()
                && ours.estimated_common_keys(&theirs).is_err()
        );
        assert_eq!(ours, before);
    }
    assert!(matches!(
        base.clone().union_with(&Bloom::new(200_000, 0.01).unwrap()),
        Err(Mismatch::Shape {
            field: "lines",
            ours: 1941,
            theirs: 3881
        })
    ));
}

#[test]
fn equality_compares_keys_shape_and_scheme() {
    let one = Bloom::from_keys(&["a"], 0.01).unwrap();
    assert_eq!(one, Bloom::from_keys(&["a"], 0.01).unwrap());
    assert_ne!(one, Bloom::from_keys(&["b"], 0.01).unwrap());
    assert_ne!(Bloom::new(10, 0.01).unwrap(), Bloom::new(10, 0.02).unwrap());
    assert_ne!(
        Bloom::new(10, 0.01).unwrap(),
        Bloom::for_hashes(10, 0.01).unwrap()
    );
}
