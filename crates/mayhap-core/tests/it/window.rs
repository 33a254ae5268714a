//! `WindowBloom`: keeps keys for the window, drops them a slice later, keeps the requested rate, and tolerates clocks that jump.

use crate::hashes;
use mayhap_core::plan::WindowPlan;
use mayhap_core::{BurstPolicy, HashScheme, PlanError, Timestamp, WindowBloom};
use std::collections::HashMap;
use std::time::Duration;

fn window(keys: u64, rate: f64, ms: u64, slices: u32) -> WindowBloom {
    let plan = WindowPlan::with_slices(keys, rate, Duration::from_millis(ms), slices).unwrap();
    WindowBloom::from_plan(plan, HashScheme::Caller, Timestamp(1_000_000)).unwrap()
}

#[test]
fn keys_are_kept_for_the_window_and_dropped_a_slice_later() {
    for slices in [2, 3, 8, 24, 63] {
        for offset in [0, 1, 99, 100, 101, 12_345] {
            let mut filter = window(1000, 1e-6, 100 * u64::from(slices), slices);
            let hash = hashes(51, 0, 1).next().unwrap();
            let seen = 1_000_000 + offset;
            assert!(filter.insert_hash(hash, Timestamp(seen)));
            let length = filter.plan().window_ms();
            for after in [0, 1, length / 2, length - 1, length] {
                assert!(
                    filter.contains_hash(hash, Timestamp(seen + after)),
                    "{slices} slices, {offset}, {after} later"
                );
            }
            assert!(
                !filter.contains_hash(hash, Timestamp(seen + length + filter.plan().slice_ms()))
            );
            // A lookup does not rotate: an older time still sees the past.
            assert!(filter.contains_hash(hash, Timestamp(seen)));
        }
    }
}

#[test]
fn no_key_is_missing_or_kept_too_long_compared_with_exact_times() {
    for burst in [BurstPolicy::Overflow, BurstPolicy::RotateEarly] {
        // Small enough for bursts: about 500 keys per window are planned, up to 2000 arrive.
        let mut filter = window(500, 1e-7, 8_000, 8).with_burst_policy(burst);
        let mut last_seen: HashMap<u64, u64> = HashMap::new();
        let mut now = 1_000_000_u64;
        let (mut missing, mut kept) = (0, 0);
        for (step, hash) in hashes(52, 0, 100_000).enumerate() {
            now += hash.to_u64() % 9;
            let key = hash.to_u64() >> 52;
            let hash = hashes(53, key, key + 1).next().unwrap();
            if step % 3 == 0 {
                filter.insert_hash(hash, Timestamp(now));
                last_seen.insert(key, now);
            } else {
                let age = last_seen.get(&key).map(|seen| now - seen);
                let found = filter.contains_hash(hash, Timestamp(now));
                missing += u64::from(!found && age.is_some_and(|age| age <= 8_000));
                kept += u64::from(found && age.is_none_or(|age| age >= 9_000));
            }
        }
        assert_eq!(
            kept, 0,
            "{burst:?}: a key older than window and slice is gone"
        );
        match burst {
            BurstPolicy::Overflow => assert_eq!(missing, 0),
            BurstPolicy::RotateEarly => {
                assert!(filter.rotated_early() > 0, "the policy drops keys early");
            }
        }
    }
}

#[test]
fn the_rate_is_kept_in_the_steady_state() {
    for rate in [0.05, 0.01, 0.001] {
        let mut filter = window(20_000, rate, 8_000, 8);
        // 2.5 keys per millisecond for three windows: every live generation is full except the current one.
        for (at, hash) in hashes(54, 0, 60_000).enumerate() {
            filter.insert_hash(hash, Timestamp(1_000_000 + at as u64 * 2 / 5));
        }
        let now = filter.newest();
        let queries = (2e4 / rate) as u64;
        let found = hashes(55, 0, queries)
            .filter(|&hash| filter.contains_hash(hash, now))
            .count();
        let measured = found as f64 / queries as f64;
        println!(
            "{filter:?}: {measured:.2e}, {:.1} bits/key",
            filter.size_bytes() as f64 * 8.0 / 20_000.0
        );
        assert!(
            measured <= rate * 1.06 && measured >= rate * 0.7,
            "{filter:?}: {measured}"
        );
        assert!((filter.estimated_rate(now) / measured - 1.0).abs() < 0.1);
        assert!(!filter.is_over_capacity(now));
        assert!(filter.estimated_keys(now) > 19_000);
    }
}

#[test]
fn bursts_are_reported_and_handled_by_the_policy() {
    let keys: Vec<_> = hashes(56, 0, 5_000).collect();
    let mut overflowing = window(1_000, 0.01, 8_000, 8);
    let planned = overflowing.size_bytes();
    let mut rotating = window(1_000, 0.01, 8_000, 8).with_burst_policy(BurstPolicy::RotateEarly);
    for &hash in &keys {
        overflowing.insert_hash(hash, Timestamp(1_000_000));
        rotating.insert_hash(hash, Timestamp(1_000_000));
    }
    let now = Timestamp(1_000_000);
    assert!(
        keys.iter()
            .all(|&hash| overflowing.contains_hash(hash, now)),
        "overflow forgets nothing"
    );
    assert!(overflowing.is_over_capacity(now) && overflowing.size_bytes() > planned);
    assert!(overflowing.estimated_rate(now) <= 0.01);
    assert!(rotating.rotated_early() > 30 && rotating.size_bytes() == planned);
    assert!(!rotating.is_over_capacity(now));
    assert!(
        keys[4_500..]
            .iter()
            .all(|&hash| rotating.contains_hash(hash, now)),
        "the latest are still known"
    );
    // The additional layer is dropped with its generation.
    let later = Timestamp(1_000_000 + 20_000);
    overflowing.insert_hash(keys[0], later);
    assert!(!overflowing.is_over_capacity(later));
}

#[test]
fn clocks_that_jump_are_harmless() {
    let mut filter = window(100, 1e-6, 800, 8);
    let keys: Vec<_> = hashes(57, 0, 4).collect();
    filter.insert_hash(keys[0], Timestamp(1_000_500));
    // Before the start: counts as the newest time, so the key is kept from there on.
    filter.insert_hash(keys[1], Timestamp(0));
    assert_eq!(filter.newest(), Timestamp(1_000_500));
    assert!(filter.contains_hash(keys[1], Timestamp(1_000_500 + 800)));
    assert!(filter.contains_hash(keys[1], Timestamp(0)));
    // A jump over many windows, and to the end of time.
    for leap in [1_000_000_000, u64::MAX] {
        assert!(!filter.contains_hash(keys[0], Timestamp(leap)));
        filter.insert_hash(keys[2], Timestamp(leap));
        assert!(
            filter.contains_hash(keys[2], Timestamp(leap))
                && !filter.contains_hash(keys[0], Timestamp(leap))
        );
    }
    filter.clear();
    assert!(!filter.contains_hash(keys[2], Timestamp(u64::MAX)));
}

#[test]
fn invalid_windows_name_the_field() {
    let new = |keys, rate, window| WindowBloom::new(keys, rate, window, Timestamp(0));
    let second = Duration::from_secs(1);
    assert!(matches!(
        new(10, 0.01, Duration::ZERO),
        Err(PlanError::InvalidNumber {
            field: "window",
            ..
        })
    ));
    assert!(matches!(
        new(10, 0.01, Duration::MAX),
        Err(PlanError::InvalidNumber {
            field: "window",
            ..
        })
    ));
    assert!(matches!(
        new(0, 0.01, second),
        Err(PlanError::InvalidInteger {
            field: "capacity",
            ..
        })
    ));
    assert!(matches!(
        new(10, f64::NAN, second),
        Err(PlanError::InvalidNumber {
            field: "false_positive_rate",
            ..
        })
    ));
    for slices in [0, 1, 64] {
        let refused = WindowPlan::with_slices(10, 0.01, second, slices);
        assert!(matches!(
            refused,
            Err(PlanError::InvalidInteger {
                field: "slices",
                ..
            })
        ));
    }
    // The shortest window: a millisecond, rounded up to whole slices.
    let mut shortest = new(10, 0.01, Duration::from_nanos(1)).unwrap();
    assert!(shortest.insert("a", Timestamp(7)) && shortest.contains("a", Timestamp(8)));
}

#[test]
fn keys_until_full_is_the_rest_of_the_slice() {
    let mut filter = window(8_000, 0.01, 800, 8);
    let now = Timestamp(1_000_000);
    assert_eq!(filter.keys_until_full(now), 1_000);
    for hash in hashes(57, 0, 600) {
        filter.insert_hash(hash, now);
    }
    assert!(filter.keys_until_full(now).abs_diff(400) < 20);
    assert_eq!(filter.keys_until_full(Timestamp(1_000_100)), 1_000);
    for hash in hashes(57, 600, 1_100) {
        filter.insert_hash(hash, now);
    }
    assert!(filter.is_over_capacity(now) && filter.keys_until_full(now) == 0);
}
