//! Union, intersection, estimates of two filters, and folding. Properties over random key sets.

use crate::hashes;
use mayhap_core::plan::{BloomPlan, LinesPerKey};
use mayhap_core::{Bloom, HashScheme, KeyHash, Mismatch, SipKey};
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
    fn folding_loses_no_key_and_reports_the_new_rate(plan in any_plan(), seed: u64, keys in 0..5000_u64) {
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
            // An odd fold copies lines between two others. The estimate counts copies as keys, which matters only if there are few (up to 25 in
            // millions of folds).
            prop_assert!(rate >= before * 0.999 || !is_even && keys.len() < 50, "{} {}", rate, before);
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
