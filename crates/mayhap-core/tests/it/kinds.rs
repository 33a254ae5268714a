//! What every kind of filter guarantees, run over all of them from one table. A new kind needs one line here.

use crate::{mixed, soak};
use mayhap_core::{
    AnyFilter, Bloom, ClassicBloom, CountingBloom, CountingCuckoo, Cuckoo, Excepting, Fuse,
    GrowingBloom, GrowingCuckoo, HashScheme, Kind, Operation, OperationError, Retouched, Ribbon,
    SipKey, Timestamp, WindowBloom, WindowCuckoo,
};
use std::time::Duration;

/// How filters of a kind are created.
pub(crate) enum Constructor {
    /// Empty, for a number of keys at a rate, then filled key by key.
    Empty(fn(u64, f64) -> AnyFilter),
    /// From all keys at once.
    FromKeys(fn(&[Key], f64) -> AnyFilter),
}
use Constructor::{Empty, FromKeys};

pub(crate) type Key = [u8; 8];

/// Every kind, and two of them with exceptions.
pub(crate) const KINDS: [(Kind, Constructor); 14] = [
    (
        Kind::Bloom,
        Empty(|keys, rate| Bloom::new(keys as usize, rate).unwrap().into()),
    ),
    (
        Kind::Classic,
        Empty(|keys, rate| ClassicBloom::new(keys as usize, rate).unwrap().into()),
    ),
    (
        Kind::Counting,
        Empty(|keys, rate| CountingBloom::new(keys as usize, rate).unwrap().into()),
    ),
    (
        Kind::Growing,
        Empty(|keys, rate| {
            GrowingBloom::new(keys.div_ceil(20) as usize, rate)
                .unwrap()
                .into()
        }),
    ),
    (
        Kind::Window,
        Empty(|keys, rate| {
            WindowBloom::new(
                (keys * 8) as usize,
                rate,
                Duration::from_secs(8),
                Timestamp(0),
            )
            .unwrap()
            .into()
        }),
    ),
    (
        Kind::Cuckoo,
        Empty(|keys, rate| Cuckoo::new(keys as usize, rate).unwrap().into()),
    ),
    (
        Kind::Fuse,
        FromKeys(|keys, rate| Fuse::build(keys, rate).unwrap().into()),
    ),
    (
        Kind::Ribbon,
        FromKeys(|keys, rate| Ribbon::build(keys, rate).unwrap().into()),
    ),
    (
        Kind::Retouched,
        Empty(|keys, rate| Retouched::new(keys as usize, rate).unwrap().into()),
    ),
    (
        Kind::GrowingCuckoo,
        Empty(|keys, rate| {
            GrowingCuckoo::with_maximum(keys as usize, rate)
                .unwrap()
                .into()
        }),
    ),
    (
        Kind::CountingCuckoo,
        Empty(|keys, rate| {
            CountingCuckoo::with_maximum(keys as usize, rate)
                .unwrap()
                .into()
        }),
    ),
    (
        Kind::WindowCuckoo,
        Empty(|keys, rate| {
            let window = Duration::from_secs(8);
            WindowCuckoo::new(keys as usize, rate, window, Timestamp(0))
                .unwrap()
                .into()
        }),
    ),
    (
        Kind::Bloom,
        FromKeys(|keys, rate| {
            let mut base =
                AnyFilter::from(Bloom::new((keys.len() as u64).max(1) as usize, rate).unwrap());
            for key in keys {
                base.try_insert(key).unwrap();
            }
            excepting(base, keys)
        }),
    ),
    (
        Kind::Fuse,
        FromKeys(|keys, rate| excepting(Fuse::build(keys, rate).unwrap().into(), keys)),
    ),
];

impl Constructor {
    /// A filter with these keys.
    pub(crate) fn with(&self, keys: &[Key], rate: f64) -> AnyFilter {
        match self {
            FromKeys(build) => build(keys, rate),
            Empty(make) => {
                let mut filter = make((keys.len() as u64).max(1), rate);
                for key in keys {
                    filter.try_insert(key).unwrap();
                }
                filter
            }
        }
    }
}

/// With as many exceptions as keys, which no test looks up.
fn excepting(base: AnyFilter, positives: &[Key]) -> AnyFilter {
    let exceptions = keys(u64::MAX, 0, positives.len() as u64);
    Excepting::build(base, positives, &exceptions)
        .unwrap()
        .into()
}

/// Keys `from..to` of a stream.
fn keys(seed: u64, from: u64, to: u64) -> Vec<Key> {
    (from..to)
        .map(|at| (mixed(seed) ^ at).to_le_bytes())
        .collect()
}

fn unsupported(filter: &AnyFilter, operation: Operation) -> OperationError {
    OperationError::Unsupported {
        kind: filter.kind(),
        has_exceptions: filter.excepting().is_some(),
        operation,
    }
}

fn all_found(filter: &AnyFilter, keys: &[Key]) -> bool {
    let mut found = vec![false; keys.len()];
    filter.contains_each(keys, &mut found);
    found.iter().all(|&found| found)
}

#[test]
fn the_table_of_kinds_is_complete() {
    assert_eq!(KINDS.map(|(kind, _)| kind)[..Kind::ALL.len()], Kind::ALL);
    for (at, (kind, constructor)) in KINDS.iter().enumerate() {
        let filter = constructor.with(&keys(1, 0, 10), 0.01);
        assert_eq!(filter.kind(), *kind);
        assert_eq!(Kind::from_name(kind.name()), Some(*kind));
        assert_eq!(filter.excepting().is_some(), at >= Kind::ALL.len());
        if filter.excepting().is_none() {
            assert_eq!(matches!(constructor, Empty(_)), kind.can(Operation::Insert));
        }
    }
    assert_eq!(Kind::from_name("blom"), None);
}

#[test]
fn no_kind_loses_a_key_and_batches_agree() {
    for (kind, constructor) in KINDS {
        for (count, rate) in [(1, 0.5), (50, 0.05), (20_000, 0.01), (20_000, 0.0001)] {
            let inserted = keys(7, 0, count);
            let filter = constructor.with(&inserted, rate);
            let queried = keys(7, 0, 3 * count);
            let mut found = vec![false; queried.len()];
            filter.contains_each(&queried, &mut found);
            assert!(found[..inserted.len()].iter().all(|&found| found), "{kind}");
            let hashes: Vec<_> = queried.iter().map(|key| filter.hash(key)).collect();
            let mut by_hash = vec![false; queried.len()];
            filter.contains_hashes(&hashes, &mut by_hash);
            assert_eq!(found, by_hash, "{kind}");
            for ((key, &hash), &found) in queried.iter().zip(&hashes).zip(&found) {
                assert_eq!(filter.contains(key), found, "{kind}");
                assert_eq!(filter.contains_hash(hash), found, "{kind}");
            }
        }
    }
}

#[test]
fn insert_reports_new_keys_correctly() {
    for (kind, constructor) in KINDS {
        let Empty(make) = constructor else { continue };
        let mut filter = make(5000, 0.01);
        for (at, key) in keys(3, 0, 4500).into_iter().enumerate() {
            let there = filter.contains(key);
            assert_eq!(filter.try_insert(key).unwrap(), !there, "{kind}");
            // Not for every key, because a cuckoo filter stores a key as often as it is inserted.
            if at % 30 == 0 {
                assert!(!filter.try_insert(key).unwrap(), "{kind}");
            }
            assert!(filter.contains(key), "{kind}");
        }
    }
}

/// The mean over seeds of the rate measured at capacity, and of the one that the filter reports.
fn rates(
    constructor: &Constructor,
    capacity: u64,
    rate: f64,
    seeds: u64,
    queries: u64,
) -> (f64, f64) {
    let (mut wrong, mut reported) = (0, 0.0);
    let mut found = vec![false; 1 << 14];
    for seed in 1..=seeds {
        let filter = constructor.with(&keys(seed, 0, capacity), rate);
        let stats = filter.stats();
        assert!(
            !stats.is_over_capacity && stats.capacity.unwrap() >= capacity,
            "{stats}"
        );
        assert!(
            (stats.false_positive_rate.unwrap() - rate).abs() < 1e-12 && stats.size_bytes > 0,
            "{stats}"
        );
        assert!(
            stats.estimated_keys.unwrap().abs_diff(capacity) <= capacity / 20,
            "{stats}"
        );
        reported += stats.estimated_rate.unwrap();
        for from in (0..queries).step_by(1 << 14) {
            let absent = keys(
                seed,
                capacity + from,
                capacity + queries.min(from + (1 << 14)),
            );
            filter.contains_each(&absent, &mut found[..absent.len()]);
            wrong += found[..absent.len()].iter().filter(|&&found| found).count();
        }
    }
    (
        wrong as f64 / (seeds * queries) as f64,
        reported / seeds as f64,
    )
}

#[test]
fn every_kind_keeps_the_requested_rate_at_capacity() {
    for (kind, constructor) in KINDS {
        for rate in [0.05, 0.01, 0.001, 0.0001] {
            let sizes: &[u64] = if soak() {
                &[1_000, 100_000, 10_000_000, 100_000_000]
            } else {
                &[1_000, 100_000]
            };
            for &capacity in sizes {
                let seeds = 5;
                let queries =
                    ((1e4 / rate) as u64).min(if soak() { 100_000_000 } else { 1_000_000 });
                let (measured, reported) = rates(&constructor, capacity, rate, seeds, queries);
                // Five standard deviations, of sampling and between filters; the latter was at most 10 / capacity.
                let spread = 10.0 / capacity as f64 / seeds as f64;
                let margin = 5.0 * (1.0 / (rate * (seeds * queries) as f64) + spread).sqrt();
                println!(
                    "{kind}, {capacity} keys at {rate}: measured {measured:.3e}, reported {reported:.3e}, margin {:.1} %",
                    100.0 * margin
                );
                assert!(
                    measured <= rate * (1.0 + margin),
                    "{kind} {capacity} {rate}: {measured:e}, {margin}"
                );
                assert!(
                    (reported - measured).abs() <= rate * margin,
                    "{kind} {capacity} {rate}: {measured:e}, reported {reported:e}"
                );
            }
        }
    }
}

#[test]
fn past_capacity_every_kind_reports_it_or_keeps_its_rate() {
    for (kind, constructor) in KINDS {
        let Empty(make) = constructor else { continue };
        let mut filter = make(2000, 0.01);
        assert!(
            filter
                .stats()
                .keys_until_full
                .is_none_or(|left| left >= 2000),
            "{kind}"
        );
        let more = keys(5, 0, 2000 * 10);
        let refused = more.iter().any(|key| filter.try_insert(key).is_err());
        let stats = filter.stats();
        let left = stats.keys_until_full;
        assert!(
            left.is_none_or(|left| left == 0) || kind == Kind::Window,
            "{stats}: {left:?}"
        );
        let kept = stats.estimated_rate.unwrap() <= 0.0115;
        assert!(refused || stats.is_over_capacity || kept, "{stats}");
        assert_eq!(
            stats.to_string().contains("over capacity"),
            stats.is_over_capacity,
            "{stats}"
        );
        assert!(stats.to_string().starts_with(kind.name()));
        assert!(refused || all_found(&filter, &more), "{kind}");
    }
}

#[test]
fn remove_undoes_insert_if_supported() {
    for (kind, constructor) in KINDS {
        let (staying, going) = (keys(9, 0, 3000), keys(9, 3000, 6000));
        let mut filter = constructor.with(&[staying.clone(), going.clone()].concat(), 0.001);
        if !filter.can(Operation::Remove) {
            let before = filter.clone();
            let refused = Err(unsupported(&filter, Operation::Remove));
            assert_eq!(filter.remove(going[0]), refused);
            assert!(filter == before, "{kind}");
            continue;
        }
        for key in &going {
            assert_eq!(filter.remove(key), Ok(true), "{kind}");
        }
        assert!(all_found(&filter, &staying), "{kind}");
        // Those still found are false positives of the other keys.
        let left = going.iter().filter(|key| filter.contains(key)).count();
        assert!(left <= 15, "{kind}: {left}");
        let absent = keys(9, 6000, 9000)
            .into_iter()
            .find(|key| !filter.contains(key))
            .unwrap();
        let before = filter.clone();
        assert_eq!(filter.remove(absent), Ok(false), "{kind}");
        assert!(
            filter == before,
            "{kind}: nothing changes when an absent key is removed"
        );
    }
}

#[test]
fn a_union_has_the_keys_of_both_if_supported() {
    for (kind, constructor) in KINDS {
        let Empty(make) = constructor else { continue };
        let (ours, theirs) = (keys(2, 0, 1000), keys(2, 1000, 2000));
        let filled = |keys: &[Key]| {
            let mut filter = make(2000, 0.01);
            for key in keys {
                filter.try_insert(key).unwrap();
            }
            filter
        };
        let (mut union, other) = (filled(&ours), filled(&theirs));
        let before = union.clone();
        let done = union.union_with(&other);
        if kind.can(Operation::Union) {
            assert_eq!(done, Ok(()), "{kind}");
            assert!(
                all_found(&union, &ours) && all_found(&union, &theirs),
                "{kind}"
            );
            let both = filled(&[ours, theirs].concat());
            match kind {
                // The layers of a chain are merged one by one, and each holds more keys than if all had been inserted in sequence.
                Kind::Growing => {}
                // The slices are the same, and may be in other cells.
                Kind::GrowingCuckoo | Kind::CountingCuckoo => assert_eq!(
                    (union.stats().estimated_keys, union.stats().estimated_rate),
                    (both.stats().estimated_keys, both.stats().estimated_rate)
                ),
                _ => assert!(
                    union == both,
                    "{kind}: a union is what both inserted would be"
                ),
            }
        } else {
            assert_eq!(done, Err(unsupported(&before, Operation::Union)));
            assert!(union == before, "{kind}");
        }
        let absent_key: AnyFilter = if kind == Kind::Bloom {
            ClassicBloom::new(2000, 0.01).unwrap().into()
        } else {
            Bloom::new(2000, 0.01).unwrap().into()
        };
        let mut again = before.clone();
        assert!(
            matches!(
                again.union_with(&absent_key),
                Err(OperationError::Kinds { .. })
            ),
            "{kind}"
        );
        let mut keyed = AnyFilter::from(Bloom::keyed(2000, 0.01, SipKey::new([1; 16])).unwrap());
        if kind == Kind::Bloom {
            assert!(matches!(
                keyed.union_with(&before),
                Err(OperationError::Mismatch(_))
            ));
        }
        assert!(again == before);
    }
}

#[test]
fn cleared_filters_are_empty_and_static_ones_reject_it() {
    for (kind, constructor) in KINDS {
        let inserted = keys(4, 0, 800);
        let mut filter = constructor.with(&inserted, 0.01);
        assert!(filter.stats().estimated_keys.unwrap() > 700, "{kind}");
        if filter.can(Operation::Clear) {
            assert_eq!(filter.clear(), Ok(()));
            assert_eq!(filter.stats().estimated_keys, Some(0), "{kind}");
            assert!(inserted.iter().all(|key| !filter.contains(key)), "{kind}");
            assert!(
                inserted.iter().all(|key| filter.try_insert(key).is_ok()),
                "{kind}"
            );
        } else {
            let before = filter.clone();
            let mut errors = vec![(Operation::Clear, filter.clear())];
            if !filter.can(Operation::Insert) {
                let absent = keys(4, 800, 1000)
                    .into_iter()
                    .find(|key| !filter.contains(key));
                let done = filter.try_insert(absent.unwrap()).map(|_| ());
                errors.push((Operation::Insert, done));
            }
            for (operation, done) in errors {
                // The error names the base if the base rejects it.
                let message = done.unwrap_err().to_string();
                assert!(
                    message.contains(kind.name()) && message.contains("rebuild it"),
                    "{message}"
                );
                assert!(message.contains(&operation.to_string()), "{message}");
            }
            assert!(filter == before, "{kind}");
        }
        assert!(all_found(&filter, &inserted), "{kind}");
    }
}

#[test]
fn any_filter_is_send_sync_and_debug() {
    fn sendable<T: Send + Sync>(_: &T) {}
    let keyed = AnyFilter::from(Bloom::keyed(10, 0.01, SipKey::new([1; 16])).unwrap());
    sendable(&keyed);
    assert!(matches!(keyed.scheme(), HashScheme::Sip13(_)));
    for (_, constructor) in KINDS {
        let filter = constructor.with(&keys(1, 0, 10), 0.01);
        assert!(filter.scheme() == HashScheme::Xxh3 && !format!("{filter:?}").is_empty());
    }
}
