//! Filters of every kind.

use super::{SECRET, filled, key};
use mayhap_core::{
    AnyFilter, Bloom, BurstPolicy, ClassicBloom, ClearingStrategy, CountingBloom, CountingCuckoo,
    CountingCuckooTable, Cuckoo, Excepting, ExceptionLayer, Fuse, GrowingBloom, GrowingCuckoo,
    HashScheme, KeyHash, Kind, Retouched, Ribbon, Scheme, Timestamp, WindowBloom, WindowCuckoo,
};
use std::time::Duration;

/// One of every kind and most of their forms, none larger than a few pages.
pub(crate) fn filters() -> Vec<AnyFilter> {
    let mut all = Vec::new();
    for (capacity, rate) in [(1, 0.5), (300, 0.01), (2000, 1e-6)] {
        for keys in [0, capacity] {
            all.extend([
                filled(Bloom::new(capacity, rate).unwrap().into(), keys as u64),
                filled(
                    Bloom::keyed(capacity, rate, SECRET).unwrap().into(),
                    keys as u64,
                ),
                filled(
                    ClassicBloom::new(capacity, rate).unwrap().into(),
                    keys as u64,
                ),
                filled(
                    CountingBloom::new(capacity, rate).unwrap().into(),
                    keys as u64,
                ),
                filled(Cuckoo::new(capacity, rate).unwrap().into(), keys as u64),
                filled(
                    GrowingBloom::new(capacity, rate).unwrap().into(),
                    (5 * keys) as u64,
                ),
                filled(
                    Cuckoo::growing(capacity, rate).unwrap().into(),
                    (5 * keys) as u64,
                ),
                filled(
                    GrowingCuckoo::new(capacity, rate).unwrap().into(),
                    (5 * keys) as u64,
                ),
                filled(
                    GrowingCuckoo::with_maximum(capacity, rate).unwrap().into(),
                    keys as u64,
                ),
                filled(
                    CountingCuckoo::new(capacity, rate).unwrap().into(),
                    (5 * keys) as u64,
                ),
            ]);
        }
    }
    for bits in 3..=8 {
        let counting = CountingBloom::with_counter_bits(77, 0.1, bits).unwrap();
        all.push(filled(counting.into(), 50));
    }
    let maximum = GrowingBloom::with_maximum(10, 500, 0.05).unwrap();
    all.push(filled(maximum.into(), 300));
    all.push(folded().into());
    all.push(united().into());
    all.push(with_twins().into());
    all.push(in_a_sweep().into());
    all.push(widening().into());
    let mut hashes = Bloom::for_hashes(100, 0.01).unwrap();
    hashes.insert_hash(KeyHash::from_u64(0x1234_5678_9abc_def0));
    all.push(hashes.into());
    for (keys, rate) in [(0, 0.01), (1, 0.01), (500, 0.01), (3000, 1e-4), (100, 1e-9)] {
        let keys: Vec<_> = (0..keys).map(key).collect();
        all.push(Fuse::build(&keys, rate).unwrap().into());
    }
    for burst in [BurstPolicy::Overflow, BurstPolicy::RotateEarly] {
        all.push(window(0).with_burst_policy(burst).into());
        let mut filter = window(0).with_burst_policy(burst);
        for number in 0..900 {
            filter.insert(key(number), Timestamp(1000 + 17 * number));
        }
        all.push(filter.into());
    }
    for (planned, keys) in [(1, 0), (100, 90), (100, 900), (2000, 3000)] {
        all.push(window_cuckoo(planned, keys).into());
    }
    for (keys, rate) in [(0, 0.01), (1, 0.9), (500, 0.01), (5000, 1e-4), (100, 1e-9)] {
        let keys: Vec<_> = (0..keys).map(key).collect();
        all.push(Ribbon::build(&keys, rate).unwrap().into());
    }
    for (guess, keys) in [(1, 0), (1, 200), (10_000, 12_000)] {
        let open = super::golden::closed(guess, keys);
        all.push(open.to_fuse(0.02).unwrap().into());
        all.push(open.to_ribbon(0.02).unwrap().into());
    }
    all.extend(walks_of_others().map(AnyFilter::from));
    all.extend(retouched().map(AnyFilter::from));
    all.extend(with_exceptions());
    all
}

pub(crate) fn window(keys: u64) -> WindowBloom {
    let length = Duration::from_millis(12_345);
    let mut filter = WindowBloom::new(200, 0.01, length, Timestamp(1000)).unwrap();
    for number in 0..keys {
        filter.insert(key(number), Timestamp(1000 + 17 * number));
    }
    filter
}

/// With keys that have expired, and after them all that are new: if there are more than planned, with several tables.
pub(crate) fn window_cuckoo(planned: usize, keys: u64) -> WindowCuckoo {
    let length = Duration::from_millis(12_345);
    let mut filter = WindowCuckoo::new(planned, 0.01, length, Timestamp(1000)).unwrap();
    for number in 0..keys {
        filter
            .try_insert(key(9000 + number), Timestamp(1000 + number))
            .unwrap();
    }
    for number in 0..keys {
        let now = Timestamp(11_000 + 7000 * number / keys);
        filter.try_insert(key(number), now).unwrap();
    }
    filter
}

/// So loose that some slices have no cell.
pub(crate) fn window_with_stash() -> WindowCuckoo {
    let length = Duration::from_secs(60);
    let mut filter = WindowCuckoo::new(20_000, 0.9, length, Timestamp(0)).unwrap();
    for number in 0..60_000 {
        filter.try_insert(key(number), Timestamp(1)).unwrap();
    }
    assert!(filter.tables().any(|table| !table.stash.is_empty()));
    filter
}

fn folded() -> Bloom {
    let mut folded = Bloom::new(10_000, 1e-5).unwrap();
    folded.insert("a");
    folded.fold().unwrap();
    folded
}

fn united() -> GrowingBloom {
    let (mut one, mut other) = (
        GrowingBloom::new(50, 0.01).unwrap(),
        GrowingBloom::new(50, 0.01).unwrap(),
    );
    one.extend((0..100).map(key));
    other.extend((1000..1300).map(key));
    one.union_with(&other).unwrap();
    one
}

/// Loose enough that keys look alike, with tables that have been emptied.
fn with_twins() -> Cuckoo {
    let mut cuckoo = Cuckoo::growing(8, 0.3).unwrap();
    for number in 0..400 {
        cuckoo.try_insert(key(number)).unwrap();
    }
    for number in 0..150 {
        assert!(cuckoo.remove(key(number)));
    }
    for number in 0..9 {
        cuckoo.try_insert(key(200 + number % 2)).unwrap();
    }
    assert!(cuckoo.extra_copies().any(|(_, twins)| !twins.is_empty()));
    cuckoo
}

/// In the middle of a sweep, with keys that were inserted many times.
pub(crate) fn in_a_sweep() -> GrowingCuckoo {
    let mut filter = GrowingCuckoo::with_maximum(100, 0.01).unwrap();
    for number in 0..10 {
        for _ in 0..number {
            filter.try_insert(key(number)).unwrap();
        }
    }
    for number in 0.. {
        filter.insert_if_absent(key(number)).unwrap();
        if filter.tables().any(|table| table.slices.moved_groups > 0) {
            break;
        }
    }
    assert!(filter.tables().any(|table| !table.extra_copies.is_empty()));
    filter
}

/// Its counters are becoming wider, some keys have more copies than they hold, and some have no cell.
pub(crate) fn widening() -> CountingCuckoo {
    let mut filter = CountingCuckoo::with_maximum(100, 0.1).unwrap();
    for number in 0..18_000 {
        filter.try_insert(key(number)).unwrap();
    }
    for number in 0.. {
        for _ in 0..5 + number % 50 {
            filter.try_insert(key(number)).unwrap();
        }
        let mut tables = filter.tables();
        if tables.any(|table| table.moved_counter_bits > table.slices.payload_bits) {
            break;
        }
    }
    let is_complete =
        |table: CountingCuckooTable<'_>| !table.rests.is_empty() && !table.slices.stash.is_empty();
    assert!(filter.tables().any(is_complete));
    filter
}

/// Every walk in the frozen list.
fn walks_of_others() -> impl Iterator<Item = ClassicBloom> {
    let walks = (0..100).filter_map(|id| Scheme::from_id(id, 0));
    walks.filter(|walk| !walk.is_native()).map(|walk| {
        let plan = mayhap_core::plan::classic::ClassicPlan::with_bits_and_probes(1024, 6).unwrap();
        let mut filter = ClassicBloom::from_plan(plan, walk, HashScheme::Caller).unwrap();
        filter.extend((0..20).map(key));
        filter
    })
}

/// Empty, with false positives that are only listed, and with some that were cleared.
pub(crate) fn retouched() -> impl Iterator<Item = Retouched> {
    let clearings = [
        None,
        Some(ClearingStrategy::Ratio),
        Some(ClearingStrategy::MinimumFalseNegatives),
    ];
    let cleared = clearings.into_iter().map(|clearing| {
        let mut filter = Retouched::new(300, 0.2).unwrap();
        filter.extend((0..300).map(key));
        let strangers: Vec<_> = (1000..1300).map(key).collect();
        filter.add_false_positives(&strangers).unwrap();
        if let Some(clearing) = clearing {
            filter.clear_false_positive(key(5), clearing).unwrap();
            filter.clear_all(clearing).unwrap();
            filter.add_false_positives(&strangers[..7]).unwrap();
        }
        filter
    });
    cleared.chain([Retouched::keyed(10, 0.1, SECRET).unwrap()])
}

/// On every kind that can have them, and all forms of the layer: a list, one level, and two of either side.
fn with_exceptions() -> Vec<AnyFilter> {
    let keys: Vec<_> = (0..1000).map(key).collect();
    let bases: [AnyFilter; 9] = [
        Bloom::from_keys(&keys, 0.1).unwrap().into(),
        ClassicBloom::from_keys(&keys, 0.1).unwrap().into(),
        CountingBloom::from_keys(&keys, 0.1).unwrap().into(),
        filled(GrowingBloom::new(20, 0.1).unwrap().into(), 1000),
        filled(Cuckoo::new(2000, 0.1).unwrap().into(), 1000),
        filled(GrowingCuckoo::new(100, 0.1).unwrap().into(), 1000),
        filled(CountingCuckoo::new(100, 0.1).unwrap().into(), 1000),
        Fuse::build(&keys, 0.1).unwrap().into(),
        Ribbon::build(&keys, 0.1).unwrap().into(),
    ];
    let mut all: Vec<_> = bases.map(|base| excepting(base, 1000, 100)).into();
    let forms = [
        (3000, 0.05, 25),
        (3000, 0.1, 6000),
        (1000, 0.4, 3000),
        (200, 0.5, 9000),
    ];
    for (keys, rate, exceptions) in forms {
        let base = filled(
            Bloom::keyed(keys, rate, SECRET).unwrap().into(),
            keys as u64,
        );
        let mut filter = excepting(base, keys as u64, exceptions);
        all.push(filter.clone());
        for number in 0..200 {
            filter.try_insert(key(1_000_000 + number)).unwrap();
        }
        all.push(filter);
    }
    all
}

pub(crate) fn excepting(base: AnyFilter, keys: u64, exceptions: u64) -> AnyFilter {
    let positives: Vec<_> = (0..keys).map(key).collect();
    let exceptions: Vec<_> = (keys..keys + exceptions).map(key).collect();
    Excepting::build(base, &positives, &exceptions)
        .unwrap()
        .into()
}

#[test]
fn all_kinds_and_all_forms_of_exceptions_are_among_the_filters() {
    let filters = filters();
    for kind in Kind::ALL {
        let is_there = |filter: &AnyFilter| filter.kind() == kind && filter.excepting().is_none();
        assert!(filters.iter().any(is_there), "{kind}");
    }
    let parts = filters.iter().filter_map(AnyFilter::excepting);
    let parts: Vec<_> = parts.map(Excepting::parts).collect();
    let forms: [fn(&ExceptionLayer) -> bool; 4] = [
        |layer| matches!(layer, ExceptionLayer::List(_)),
        |layer| matches!(layer, ExceptionLayer::OneLevel(_)),
        |layer| matches!(layer, ExceptionLayer::OfExceptions(..)),
        |layer| matches!(layer, ExceptionLayer::OfPositives(..)),
    ];
    for (number, form) in forms.iter().enumerate() {
        let mut of_form = parts.iter().filter(|parts| form(&parts.layer));
        assert!(of_form.next().is_some(), "form {number}");
    }
    assert!(parts.iter().any(|parts| !parts.overrides.is_empty()));
}
