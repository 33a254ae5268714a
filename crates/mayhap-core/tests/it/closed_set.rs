//! A `GrowingCuckoo` as a static filter: no key is lost, the rate is the requested one, and the keys are not needed.

use crate::hashes;
use mayhap_core::plan::GrowingCuckooPlan;
use mayhap_core::{Fuse, GrowingCuckoo, HashScheme, KeyHash, KeyType, PlanError, Ribbon};

/// One filter in the middle of a sweep, and some with several tables, copies, or a stash.
fn filled() -> Vec<(GrowingCuckoo, Vec<KeyHash>)> {
    let plans = [
        (GrowingCuckooPlan::with_maximum(100_000, 0.01), 90_000),
        (GrowingCuckooPlan::with_maximum(1000, 0.05), 7),
        (GrowingCuckooPlan::with_maximum(20_000, 1e-6), 20_000),
        (GrowingCuckooPlan::new(10_000, 0.01), 60_000),
        (GrowingCuckooPlan::new(1, 0.3), 300_000),
    ];
    let fill = |(plan, keys): (Result<GrowingCuckooPlan, PlanError>, u64)| {
        let mut filter = GrowingCuckoo::from_plan(plan.unwrap(), HashScheme::Caller).unwrap();
        let keys: Vec<_> = hashes(3, 0, keys).collect();
        filter.try_insert_hashes(&keys).unwrap();
        filter
            .try_insert_hashes(&keys[..keys.len().min(50)])
            .unwrap();
        (filter, keys)
    };
    plans.into_iter().map(fill).collect()
}

/// What both static kinds have.
trait Closed {
    fn contains(&self, hash: KeyHash) -> bool;
    fn contains_all(&self, hashes: &[KeyHash], found: &mut [bool]);
    fn rates(&self) -> (f64, f64);
}

macro_rules! closed {
    ($($filter:ty),*) => {
        $(impl Closed for $filter {
            fn contains(&self, hash: KeyHash) -> bool {
                self.contains_hash(hash)
            }
            fn contains_all(&self, hashes: &[KeyHash], found: &mut [bool]) {
                self.contains_hashes(hashes, found);
            }
            fn rates(&self) -> (f64, f64) {
                (self.false_positive_rate(), self.estimated_rate())
            }
        })*
    };
}

closed!(Fuse, Ribbon);

fn both(filter: &GrowingCuckoo, rate: f64) -> [Box<dyn Closed>; 2] {
    [
        Box::new(filter.to_fuse(rate).unwrap()),
        Box::new(filter.to_ribbon(rate).unwrap()),
    ]
}

#[test]
fn no_key_is_lost_and_batches_answer_as_single_lookups() {
    for (filter, keys) in filled() {
        let rate = 2.0 * filter.estimated_rate() + 1e-4;
        let others: Vec<_> = hashes(4, 0, 3000).collect();
        for closed in both(&filter, rate) {
            let mut found = vec![false; keys.len()];
            closed.contains_all(&keys, &mut found);
            assert!(found.iter().all(|&found| found), "lost of {filter:?}");
            assert!(keys.iter().all(|&key| closed.contains(key)));
            let mut found = vec![true; others.len()];
            closed.contains_all(&others, &mut found);
            let alone = others.iter().map(|&key| closed.contains(key));
            assert!(alone.eq(found));
        }
    }
}

#[test]
fn the_rate_is_the_requested_one() {
    const ASKED: u64 = 2_000_000;
    for (filter, _) in filled() {
        let requested = 1.5 * filter.estimated_rate() + 0.002;
        for closed in both(&filter, requested) {
            let (promised, actual) = closed.rates();
            assert!((promised / requested - 1.0).abs() < 1e-9);
            assert!(actual <= requested * 1.000_001, "{actual} of {requested}");
            let wrong = hashes(4, 0, ASKED).filter(|&key| closed.contains(key));
            let measured = wrong.count() as f64 / ASKED as f64;
            // Five standard deviations of the queries, and of the slices that chance made equal.
            let margin = 5.0 * (actual / ASKED as f64).sqrt();
            let spread = 5.0 * actual / (filter.estimated_keys() as f64).sqrt();
            assert!(
                (measured - actual).abs() <= margin + spread,
                "{measured} instead of {actual}: {filter:?}"
            );
        }
    }
}

#[test]
fn a_closed_set_is_smaller() {
    let (filter, keys) = filled().swap_remove(0);
    let ribbon = filter.to_ribbon(0.02).unwrap();
    let bits = 8.0 * ribbon.size_bytes() as f64 / keys.len() as f64;
    let (own, rate) = (filter.estimated_rate(), ribbon.estimated_rate());
    assert!(bits < 1.05 * ((1.0 - own) / (rate - own)).log2(), "{bits}");
    assert_eq!(
        ribbon.len(),
        filter.estimated_keys() - 50 - equal_slices(&filter)
    );
}

/// Keys that were inserted once, but look like others.
fn equal_slices(filter: &GrowingCuckoo) -> u64 {
    let mut once = filter.try_clone().unwrap();
    once.clear();
    once.set_is_set(true);
    let keys: Vec<_> = hashes(3, 0, filter.estimated_keys() - 50).collect();
    once.try_insert_hashes(&keys).unwrap();
    keys.len() as u64 - once.estimated_keys()
}

#[test]
fn the_bytes_depend_on_the_set_only() {
    let keys: Vec<_> = hashes(4, 0, 30_000).collect();
    let close = |keys: &mut dyn Iterator<Item = KeyHash>| {
        let plan = GrowingCuckooPlan::with_maximum(50_000, 0.01).unwrap();
        let mut filter = GrowingCuckoo::from_plan(plan, HashScheme::Caller).unwrap();
        keys.for_each(|key| _ = filter.try_insert_hash(key).unwrap());
        filter.to_ribbon(0.02).unwrap()
    };
    let forwards = close(&mut keys.iter().copied());
    let backwards = close(&mut keys.iter().rev().chain(&keys[..100]).copied());
    assert_eq!(forwards.parts(), backwards.parts());
}

#[test]
fn a_rate_that_the_slices_already_exceed_is_an_error() {
    let (filter, _) = filled().swap_remove(0);
    let own = filter.estimated_rate();
    for rate in [own, own / 2.0, 0.0, -1.0, 1.0, f64::NAN] {
        let error = filter.to_ribbon(rate).unwrap_err();
        assert!(matches!(error, PlanError::InvalidNumber { .. }), "{error}");
        assert!(filter.to_fuse(rate).is_err());
    }
    assert!(filter.to_ribbon(own * 1.01).is_ok());
}

#[test]
fn keys_and_their_type_stay_what_they_are() {
    let mut filter = GrowingCuckoo::new(100, 0.01).unwrap();
    filter.set_key_type(Some(KeyType::U64));
    let empty = filter.to_fuse(0.01).unwrap();
    assert!(empty.is_empty() && !empty.contains(1_u64));
    for key in 0..100_u64 {
        filter.try_insert(key).unwrap();
    }
    let closed = filter.to_fuse(0.01).unwrap();
    assert_eq!(closed.key_type(), Some(KeyType::U64));
    assert_eq!(closed.scheme(), filter.scheme());
    assert!((0..100_u64).all(|key| closed.contains(key)));
    let mut found = [false; 100];
    closed.contains_each(&(0..100_u64).collect::<Vec<_>>(), &mut found);
    assert!(found.iter().all(|&found| found));
}
