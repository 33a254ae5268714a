//! What `Fuse` owes: no key lost, the rate kept, and a filter that depends on the set of keys alone.

use crate::{hashes, soak};
use mayhap::plan::FusePlan;
use mayhap::{Fuse, HashScheme, KeyHash, PlanError, SipKey};

const RATES: [f64; 3] = [1.0 / 256.0, 1.0 / 65536.0, 1e-9];

fn contains_all(filter: &Fuse, keys: &[KeyHash]) -> bool {
    let mut found = vec![false; keys.len()];
    filter.contains_hashes(keys, &mut found);
    found.iter().all(|&found| found) && keys.iter().all(|&key| filter.contains_hash(key))
}

#[test]
fn no_key_is_lost_at_any_size_and_width() {
    let mut sizes = vec![1, 2, 3, 10, 100, 1000, 100_000, 1_000_000];
    sizes.extend(4..=64);
    if soak() {
        sizes.extend([10_000_000, 100_000_000]);
    }
    for count in sizes {
        let keys: Vec<_> = hashes(1, 0, count).collect();
        for rate in RATES {
            let filter = Fuse::build(&keys, rate).unwrap();
            assert!(contains_all(&filter, &keys), "{filter:?}");
            assert_eq!(filter.len(), count);
            assert_eq!(filter.estimated_keys(), count);
            assert!(!filter.is_empty() && filter.estimated_rate() <= rate * 1.000_001);
        }
    }
}

#[test]
fn many_small_sets_all_build() {
    for seed in 0..2000 {
        let keys: Vec<_> = hashes(seed, 0, seed % 200 + 1).collect();
        assert!(contains_all(&Fuse::build(&keys, 0.01).unwrap(), &keys));
    }
}

#[test]
fn keys_of_all_kinds_are_found_under_every_scheme() {
    let mut keys: Vec<Vec<u8>> = (0..20_000_u32).map(|i| i.to_le_bytes().to_vec()).collect();
    keys.extend((0..5000).map(|i| format!("https://www.example.com/shared/{i}").into_bytes()));
    keys.extend((0..=255_u8).map(|byte| vec![byte]));
    keys.push(Vec::new());
    keys.push(vec![7; 1 << 20]);
    for scheme in [HashScheme::Xxh3, HashScheme::Sip13(SipKey::new([7; 16]))] {
        let filter = Fuse::build_with(&keys, 0.001, scheme).unwrap();
        assert_eq!(filter.scheme(), scheme);
        let mut found = vec![false; keys.len()];
        filter.contains_each(&keys, &mut found);
        assert!(found.iter().all(|&found| found));
        assert!(keys.iter().all(|key| filter.contains(key)));
        // The same keys, hashed before.
        let hashed: Vec<_> = keys.iter().map(|key| filter.hash(key)).collect();
        let from_hashes = Fuse::build_with(&hashed, 0.001, scheme).unwrap();
        assert!(filter == from_hashes);
    }
    let filter = Fuse::build(&keys, 0.001).unwrap();
    assert_eq!(filter.scheme(), HashScheme::Xxh3);
    assert_eq!(
        Fuse::build(&[KeyHash::from_u64(1)], 0.1).unwrap().scheme(),
        HashScheme::Caller
    );
}

#[test]
fn counters_for_hashes_still_build() {
    // Not what is asked for, and no reason to fail.
    let keys: Vec<_> = (0..1_000_000).map(KeyHash::from_u64).collect();
    assert!(contains_all(&Fuse::build(&keys, 0.01).unwrap(), &keys));
}

#[test]
fn order_and_repetition_do_not_matter() {
    for count in [1, 2, 50, 1000, 100_000, 800_000] {
        for rate in RATES {
            let mut keys: Vec<_> = hashes(2, 0, count).collect();
            let once = Fuse::build(&keys, rate).unwrap();
            keys.reverse();
            assert!(Fuse::build(&keys, rate).unwrap() == once, "{once:?}");
            // Twice the items would be sharded otherwise.
            keys.extend(hashes(2, 0, count));
            let twice = Fuse::build(&keys, rate).unwrap();
            assert!(twice == once && twice.len() == count, "{once:?}");
        }
    }
}

#[test]
fn a_million_equal_keys_are_one_key() {
    let keys = vec!["the same"; 1_000_000];
    let filter = Fuse::build(&keys, 0.01).unwrap();
    assert!(filter == Fuse::build(&["the same"], 0.01).unwrap());
    assert!(filter.len() == 1 && filter.contains("the same") && filter.size_bytes() < 100);
}

#[test]
fn no_keys_make_a_filter_that_always_says_no() {
    for rate in RATES {
        let filter = Fuse::build(&[] as &[&str], rate).unwrap();
        assert!(filter.is_empty() && filter.estimated_keys() == 0 && filter.size_bytes() == 0);
        assert!(filter.estimated_rate() < f64::MIN_POSITIVE);
        let mut found = [true; 3];
        filter.contains_each(&["", "a", "b"], &mut found);
        assert!(!filter.contains("") && !filter.contains("a") && found == [false; 3]);
    }
}

#[test]
fn single_and_batch_agree_on_every_answer() {
    for count in [1, 1000, 100_000, 1_000_000] {
        for rate in RATES {
            let keys: Vec<_> = hashes(3, 0, count).collect();
            let filter = Fuse::build(&keys, rate).unwrap();
            let asked: Vec<_> = hashes(3, count / 2, count / 2 + 3000).collect();
            for len in [0, 1, 31, 32, 33, 64, asked.len()] {
                let asked = &asked[..len];
                let mut found = vec![false; len];
                filter.contains_hashes(asked, &mut found);
                let single: Vec<_> = asked.iter().map(|&key| filter.contains_hash(key)).collect();
                assert_eq!(found, single, "{filter:?}");
            }
        }
    }
}

/// The share of strangers that are found, over filters of seeds 1..=S.
fn measured_rate(count: u64, rate: f64, seeds: u64, queries: u64) -> f64 {
    let mut found = vec![false; 1 << 14];
    let mut wrong = 0;
    for seed in 1..=seeds {
        let keys: Vec<_> = hashes(seed, 0, count).collect();
        let filter = Fuse::build(&keys, rate).unwrap();
        for from in (0..queries).step_by(1 << 14) {
            let to = queries.min(from + (1 << 14));
            let asked: Vec<_> = hashes(seed ^ 0xFFFF_0000, from, to).collect();
            filter.contains_hashes(&asked, &mut found[..asked.len()]);
            wrong += found[..asked.len()].iter().filter(|&&found| found).count();
        }
    }
    wrong as f64 / (seeds * queries) as f64
}

#[test]
fn the_rate_asked_is_the_rate_kept() {
    // Five standard deviations of sampling. Of a small filter, many are needed: a few keys' cells differ a lot.
    let most = if soak() { 100_000_000 } else { 10_000_000 };
    for (count, seeds) in [(1, 500), (10, 500), (1000, 5), (100_000, 5), (1_000_000, 2)] {
        for rate in [1.0 / 256.0, 1.0 / 65536.0] {
            let queries = ((1e4 / rate) as u64).min(most) / seeds;
            let measured = measured_rate(count, rate, seeds, queries);
            let expected = (seeds * queries) as f64 * rate;
            // A tiny filter's rate depends on its one or two fingerprints.
            let spread = if count <= 10 { 0.3 } else { 0.0 };
            let margin = 5.0 / expected.sqrt() + spread;
            println!("{count} keys: asked {rate:.3e}, measured {measured:.3e}, margin {margin:.3}");
            assert!(
                (measured / rate - 1.0).abs() <= margin,
                "{count} keys: asked {rate:e}, measured {measured:e}"
            );
        }
    }
    // 32 bits: there is nothing to be found.
    assert!(measured_rate(100_000, 1e-9, 1, most) < 1e-6);
}

#[test]
fn space_is_within_the_promise() {
    let count = if soak() { 10_000_000 } else { 4_000_000 };
    let keys: Vec<_> = hashes(4, 0, count).collect();
    let filter = Fuse::build(&keys, 1.0 / 256.0).unwrap();
    let bits = 8.0 * filter.size_bytes() as f64 / count as f64;
    println!("{filter:?}: {bits:.3} bits/key");
    assert!(bits < 9.1);
    let planned = filter.plan().size_bytes() as f64;
    assert!((filter.size_bytes() as f64 / planned - 1.0).abs() < 0.02);
}

#[test]
fn rates_that_cannot_be_kept_are_refused_by_name() {
    let refused = |rate| {
        let from_keys = Fuse::build(&["a"], rate).unwrap_err();
        let from_none = Fuse::build(&[] as &[KeyHash], rate).unwrap_err();
        assert_eq!(from_keys.to_string(), from_none.to_string());
        assert!(
            matches!(
                from_keys,
                PlanError::Number {
                    field: "false_positive_rate",
                    ..
                }
            ),
            "{from_keys}"
        );
        from_keys.to_string()
    };
    for rate in [0.0, -0.0, 1.0, 1.5, -0.01, f64::NAN, f64::INFINITY] {
        assert!(refused(rate).contains("above 0 and below 1"));
    }
    for rate in [1e-10, f64::MIN_POSITIVE] {
        assert!(refused(rate).contains("2^-32"));
    }
    // With a million keys, collisions of hashes come on top of 2^-32.
    let keys: Vec<_> = hashes(5, 0, 1_000_000).collect();
    let error = Fuse::build(&keys, 2.33e-10).unwrap_err();
    assert!(error.to_string().contains("collisions"), "{error}");
    assert!(matches!(
        FusePlan::new(u64::MAX, 0.01),
        Err(PlanError::Count { field: "items", .. })
    ));
}

#[test]
#[should_panic(expected = "does not hash keys")]
fn bytes_need_a_scheme_that_hashes() {
    _ = Fuse::build_with(&["a"], 0.1, HashScheme::Caller);
}

#[test]
#[should_panic(expected = "one place in `found` for every key")]
fn answers_need_a_place_each() {
    let filter = Fuse::build(&["a"], 0.1).unwrap();
    filter.contains_each(&["a", "b"], &mut [false]);
}

#[test]
#[should_panic(expected = "one place in `found` for every hash")]
fn answers_to_hashes_need_a_place_each() {
    let filter = Fuse::build(&[KeyHash::from_u64(1)], 0.1).unwrap();
    filter.contains_hashes(&[KeyHash::from_u64(1)], &mut []);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "another hash scheme or key")]
fn debug_builds_catch_a_hash_of_another_scheme() {
    let filter = Fuse::build(&["a"], 0.1).unwrap();
    filter.contains_hash(KeyHash::from_u64(1));
}

#[test]
fn debug_output_can_be_read_by_a_person() {
    let keyed = HashScheme::Sip13(SipKey::new([9; 16]));
    let filter = Fuse::build_with(&["a", "b"], 0.01, keyed).unwrap();
    let text = format!("{filter:?}");
    assert!(text.contains("2 keys at 0.01: cells of 8 bits"), "{text}");
    assert!(
        text.contains("SipKey(..)"),
        "the secret stays out of it: {text}"
    );
}

#[test]
fn static_filters_can_be_sent_and_shared() {
    fn sendable<T: Send + Sync>() {}
    sendable::<Fuse>();
    sendable::<FusePlan>();
}
