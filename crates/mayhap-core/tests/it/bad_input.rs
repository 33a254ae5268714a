//! Bad input gives an error that names the field, the value and what is accepted; nothing panics or aborts.

use mayhap_core::plan::{BloomPlan, LinesPerKey};
use mayhap_core::{Bloom, KeyHash, PlanError, SharedBloom};

fn errors(capacity: u64, rate: f64) -> Vec<PlanError> {
    vec![
        Bloom::new(capacity as usize, rate).unwrap_err(),
        Bloom::for_hashes(capacity as usize, rate).unwrap_err(),
        SharedBloom::new(capacity as usize, rate).unwrap_err(),
        SharedBloom::for_hashes(capacity as usize, rate).unwrap_err(),
    ]
}

#[test]
fn a_capacity_of_zero_is_rejected() {
    for error in errors(0, 0.01) {
        assert!(matches!(
            error,
            PlanError::InvalidInteger {
                field: "capacity",
                value: 0,
                ..
            }
        ));
        assert_eq!(
            error.to_string(),
            "capacity = 0 is out of range: give at least 1 key"
        );
    }
}

#[test]
fn rates_outside_0_to_1_are_rejected() {
    for rate in [
        0.0,
        -0.0,
        1.0,
        1.5,
        -0.01,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ] {
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
                message.contains(&rate.to_string()) && message.contains("above 0 and below 1"),
                "{message}"
            );
        }
    }
    assert!(Bloom::from_keys(&["a"], f64::NAN).is_err());
}

#[test]
fn rates_too_strict_for_64_bit_hashes_are_rejected() {
    for (capacity, rate) in [(1_000_000, 1e-14), (1, f64::MIN_POSITIVE), (u64::MAX, 1e-3)] {
        for error in errors(capacity, rate) {
            assert!(matches!(
                error,
                PlanError::InvalidNumber {
                    field: "false_positive_rate",
                    ..
                } | PlanError::InvalidInteger { .. }
            ));
        }
    }
}

#[test]
fn impossible_sizes_are_errors_not_aborts() {
    // 12 TB can be planned but not allocated; the rest cannot even be planned.
    for error in errors(10_000_000_000_000, 0.01) {
        assert!(
            matches!(error, PlanError::OutOfMemory { size_bytes } if size_bytes > 12_000_000_000_000),
            "{error}"
        );
        assert!(
            error.to_string().contains("bytes: use a smaller capacity"),
            "{error}"
        );
    }
    for capacity in [1 << 55, 1 << 60, u64::MAX] {
        for error in errors(capacity, 0.01) {
            assert!(!matches!(error, PlanError::OutOfMemory { .. }), "{error}");
        }
    }
}

#[test]
fn extreme_but_possible_requests_are_planned() {
    for capacity in [1, 2, 3, 1000] {
        for rate in [1e-12, 1e-9, 0.5, 0.9, 0.99, 1.0 - f64::EPSILON] {
            for lines in [LinesPerKey::One, LinesPerKey::Two] {
                if let Ok(plan) = BloomPlan::with_lines_per_key(capacity, rate, lines) {
                    assert!(
                        plan.rate_at(capacity) <= rate && plan.lines() >= 1,
                        "{plan}"
                    );
                }
            }
            let plan = BloomPlan::new(capacity, rate).unwrap();
            assert!(plan.rate_at(capacity) <= rate, "{plan}");
        }
    }
}

#[test]
fn plans_are_deterministic_and_one_line_less_breaks_the_rate() {
    for capacity in [10, 1000, 77_777, 1_000_000] {
        for rate in [0.1, 0.01, 0.001, 1e-6] {
            let plan = BloomPlan::new(capacity, rate).unwrap();
            assert_eq!(plan, BloomPlan::new(capacity, rate).unwrap());
            assert!(plan.rate_at(capacity) <= rate);
            let more = capacity + capacity / 5;
            assert!(
                plan.lines() <= 2 || plan.rate_at(more) > rate,
                "{plan} is far too large"
            );
        }
    }
}

#[test]
#[should_panic(expected = "one place in `found` for every key")]
fn results_must_match_the_number_of_keys() {
    Bloom::new(10, 0.1)
        .unwrap()
        .contains_each(&["a", "b"], &mut [false]);
}

#[test]
#[should_panic(expected = "one place in `found` for every hash")]
fn answers_to_hashes_need_a_place_each() {
    Bloom::for_hashes(10, 0.1)
        .unwrap()
        .contains_hashes(&[KeyHash::from_u64(1)], &mut []);
}

#[test]
#[should_panic(expected = "has no hash function")]
fn byte_methods_on_a_filter_for_hashes_panic_as_documented() {
    Bloom::for_hashes(10, 0.1).unwrap().insert("a");
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "another hash scheme or secret key")]
fn debug_builds_detect_a_hash_of_another_scheme() {
    Bloom::new(10, 0.1)
        .unwrap()
        .insert_hash(KeyHash::from_u64(1));
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "another hash scheme or secret key")]
fn debug_builds_catch_a_hash_of_another_key() {
    let keyed = |byte| Bloom::keyed(10, 0.1, mayhap_core::SipKey::new([byte; 16])).unwrap();
    let hash = keyed(1).hash("a");
    keyed(2).contains_hashes(&[hash], &mut [false]);
}
