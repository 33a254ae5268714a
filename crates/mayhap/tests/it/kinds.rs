//! What every kind of filter owes, run over all of them from one table. A new kind joins with one line.

use mayhap::{
    AnyFilter, Bloom, ClassicBloom, CountingBloom, Cuckoo, GrowingBloom, HashScheme, Kind, SipKey,
    Timestamp, WindowBloom,
};
use std::time::Duration;

/// Makes a filter of a kind, empty, for so many keys at a rate.
type Make = fn(u64, f64) -> AnyFilter;

const KINDS: [(Kind, Make); 6] = [
    (Kind::Bloom, |keys, rate| {
        Bloom::new(keys, rate).unwrap().into()
    }),
    (Kind::Growing, |keys, rate| {
        GrowingBloom::new(keys.div_ceil(20), rate).unwrap().into()
    }),
    (Kind::Window, |keys, rate| {
        WindowBloom::new(keys * 8, rate, Duration::from_secs(8), Timestamp(0))
            .unwrap()
            .into()
    }),
    (Kind::Cuckoo, |keys, rate| {
        Cuckoo::new(keys, rate).unwrap().into()
    }),
    (Kind::Classic, |keys, rate| {
        ClassicBloom::new(keys, rate).unwrap().into()
    }),
    (Kind::Counting, |keys, rate| {
        CountingBloom::new(keys, rate).unwrap().into()
    }),
];

fn keys(from: u64, to: u64) -> Vec<String> {
    (from..to)
        .map(|i| format!("https://example.com/{i}"))
        .collect()
}

#[test]
fn the_table_has_every_kind_under_its_own_name() {
    assert_eq!(KINDS.map(|(kind, _)| kind), Kind::ALL);
    for (kind, make) in KINDS {
        assert_eq!(make(10, 0.01).kind(), kind);
        assert_eq!(Kind::from_name(kind.name()), Some(kind));
    }
    assert_eq!(Kind::from_name("blom"), None);
}

#[test]
fn no_kind_loses_a_key_and_batches_answer_alike() {
    for (kind, make) in KINDS {
        for (capacity, rate) in [(1, 0.5), (50, 0.05), (20_000, 0.01), (20_000, 0.0001)] {
            let mut filter = make(capacity, rate);
            let keys = keys(0, capacity);
            for key in &keys {
                filter.try_insert(key).unwrap();
                assert!(filter.contains(key), "{kind}");
                assert!(
                    !filter.try_insert(key).unwrap(),
                    "{kind}: known keys are not new"
                );
            }
            let asked: Vec<String> = keys
                .iter()
                .cloned()
                .chain(self::keys(capacity, 3 * capacity))
                .collect();
            let mut found = vec![false; asked.len()];
            filter.contains_each(&asked, &mut found);
            assert!(found[..keys.len()].iter().all(|&found| found), "{kind}");
            for (key, &found) in asked.iter().zip(&found) {
                assert_eq!(filter.contains(key), found, "{kind}");
            }
        }
    }
}

#[test]
fn every_kind_keeps_its_rate_at_capacity_and_tells_its_stats() {
    for (kind, make) in KINDS {
        for rate in [0.05, 0.01, 0.001] {
            let capacity = 30_000;
            let mut filter = make(capacity, rate);
            for key in keys(0, capacity) {
                filter.try_insert(key).unwrap();
            }
            let queries = (2e4 / rate) as u64;
            let false_positives = keys(capacity, capacity + queries)
                .iter()
                .filter(|key| filter.contains(key))
                .count();
            let measured = false_positives as f64 / queries as f64;
            let stats = filter.stats();
            println!("{stats}; measured {measured:.3e}");
            // Five standard deviations of sampling, and of what a filter of this size differs from its mean.
            assert!(
                measured <= rate * (1.0 + 5.0 * (1.0 / 2e4_f64 + 4e-4).sqrt()),
                "{stats}; measured {measured}"
            );
            assert!(
                (stats.estimated_rate / measured - 1.0).abs() < 0.15,
                "{stats}; measured {measured}"
            );
            assert_eq!(stats.kind, kind);
            assert!(
                stats.estimated_keys.abs_diff(capacity) < capacity / 50,
                "{stats}"
            );
            assert!(
                stats.capacity >= capacity && !stats.is_over_capacity,
                "{stats}"
            );
            assert!((stats.false_positive_rate - rate).abs() < 1e-12 && stats.size_bytes > 0);
            assert!(stats.to_string().starts_with(kind.name()));
        }
    }
}

#[test]
fn cleared_filters_of_every_kind_are_as_new() {
    for (kind, make) in KINDS {
        let mut filter = make(800, 0.01);
        for key in keys(0, 800) {
            filter.try_insert(key).unwrap();
        }
        assert!(filter.stats().estimated_keys > 700, "{kind}");
        filter.clear();
        assert_eq!(filter.stats().estimated_keys, 0, "{kind}");
        assert!(
            keys(0, 800).iter().all(|key| !filter.contains(key)),
            "{kind}"
        );
    }
}

#[test]
fn any_filter_of_any_scheme_can_be_sent_shared_and_debugged() {
    fn sendable<T: Send + Sync>(_: &T) {}
    let keyed = AnyFilter::from(Bloom::keyed(10, 0.01, SipKey::new([1; 16])).unwrap());
    sendable(&keyed);
    assert!(matches!(keyed.scheme(), HashScheme::Sip13(_)));
    for (_, make) in KINDS {
        let filter = make(10, 0.01);
        assert!(filter.scheme() == HashScheme::Xxh3 && !format!("{filter:?}").is_empty());
    }
}
