//! What ones can save.

use super::filters::{excepting, filters};
use super::{decode, filled, header_bytes, key};
use mayhap_codec::{Limits, Problem, native};
use mayhap_core::{
    AnyFilter, Bloom, ClassicBloom, CountingBloom, CountingCuckoo, Cuckoo, Fuse, GrowingBloom,
    GrowingCuckoo, HashScheme, Kind, Retouched, Ribbon, Scheme, Timestamp, WindowBloom,
};

#[test]
fn damaged_pages_become_ones_and_no_key_is_lost() {
    let keys = 500_000;
    let bloom = Bloom::new(keys, 0.01).unwrap().into();
    let growing = GrowingBloom::new(50_000, 0.01).unwrap().into();
    let classic = ClassicBloom::new(keys, 0.01).unwrap().into();
    let counting = CountingBloom::new(keys, 0.01).unwrap().into();
    let plan = mayhap_core::plan::classic::ClassicPlan::with_bits_and_probes(10 << 19, 6).unwrap();
    let [guava, rocksdb] = [Scheme::GuavaMitz64, Scheme::RocksDb].map(|walk| {
        let filter = ClassicBloom::from_plan(plan, walk, HashScheme::Caller);
        filter.unwrap().into()
    });
    let length = std::time::Duration::from_secs(60);
    let window = WindowBloom::new(8 * keys, 0.01, length, Timestamp(0)).unwrap();
    for filter in [
        bloom,
        growing,
        classic,
        counting,
        guava,
        rocksdb,
        window.into(),
    ] {
        let filter = filled(filter, keys as u64);
        let bytes = native::encode(&filter).unwrap();
        let begin = header_bytes(&bytes);
        let whole = native::repair_with_ones(&bytes, Limits::default(), None).unwrap();
        assert!(whole.filter == filter && whole.damaged_pages.is_empty());

        let mut damaged = bytes.clone();
        for page in [0, 3] {
            damaged[begin + page * (1 << 16) + 77..][..1000].fill(0);
        }
        assert_eq!(decode(&damaged).unwrap_err().problem, Problem::Checksum);
        let repaired = native::repair_with_ones(&damaged, Limits::default(), None).unwrap();
        assert_eq!(repaired.damaged_pages, [0, 3]);
        assert!((0..keys).all(|number| repaired.filter.contains(key(number as u64))));
        let strangers =
            (keys..keys + 100_000).filter(|&number| repaired.filter.contains(key(number as u64)));
        let measured = strangers.count() as f64 / 100_000.0;
        let told = repaired.estimated_rate;
        assert!(
            (measured / told - 1.0).abs() < 0.05,
            "{measured} measured, {told} told"
        );
        assert!(told > whole.estimated_rate && told < 1.0, "{told}");
    }
}

/// Where bits end amid a byte, nothing past them becomes a one.
#[test]
fn whatever_is_damaged_no_key_is_lost_and_the_rest_stays() {
    let mut repaired_kinds = 0;
    for filter in filters() {
        let bytes = native::encode(&filter).unwrap();
        let begin = header_bytes(&bytes);
        let repaired = native::repair_with_ones(&bytes, Limits::default(), None);
        let Ok(whole) = repaired else { continue };
        assert!(whole.filter == filter && whole.damaged_pages.is_empty());
        let mut damaged = bytes.clone();
        damaged[begin + 3] ^= 0x40;
        let repaired = native::repair_with_ones(&damaged, Limits::default(), None);
        if filter
            .excepting()
            .is_some_and(|filter| filter.corrected() > 0)
        {
            // The only page has exceptions in it.
            let problem = repaired.unwrap_err().problem;
            assert!(matches!(
                problem,
                Problem::Irreparable {
                    what: "damaged exceptions"
                }
            ));
            continue;
        }
        let repaired = repaired.unwrap();
        assert_eq!(repaired.damaged_pages, [0]);
        repaired_kinds |= 1 << repaired.filter.kind() as u32;
        assert_eq!(native::encode(&repaired.filter).unwrap().len(), bytes.len());
        if filter.scheme() != HashScheme::Caller {
            let kept = |&number: &u64| {
                !filter.contains(key(number)) || repaired.filter.contains(key(number))
            };
            assert!((0..3000).all(|number| kept(&number)), "{filter:?}");
        }
    }
    let kinds = [
        Kind::Bloom,
        Kind::Classic,
        Kind::Counting,
        Kind::Growing,
        Kind::Window,
    ];
    assert_eq!(
        repaired_kinds,
        kinds.iter().map(|&kind| 1 << kind as u32).sum::<u32>()
    );
}

#[test]
fn full_counters_stay_full() {
    let keys = 200_000;
    let filter = filled(CountingBloom::new(keys, 0.01).unwrap().into(), keys as u64);
    let mut damaged = native::encode(&filter).unwrap();
    let begin = header_bytes(&damaged);
    damaged[begin + (2 << 16)..][..7].fill(0x11);
    let mut repaired = native::repair_with_ones(&damaged, Limits::default(), None)
        .unwrap()
        .filter;
    for number in 0..keys / 2 {
        _ = repaired.remove(key(number as u64));
    }
    assert!((keys / 2..keys).all(|number| repaired.contains(key(number as u64))));
}

#[test]
fn bits_under_exceptions_are_repaired() {
    let keys = 200_000;
    let base = filled(GrowingBloom::new(50_000, 0.1).unwrap().into(), keys);
    let filter = excepting(base, keys, 20_000);
    let bytes = native::encode(&filter).unwrap();
    let begin = header_bytes(&bytes);
    let mut damaged = bytes.clone();
    damaged[begin + 5] ^= 1;
    let repaired = native::repair_with_ones(&damaged, Limits::default(), None).unwrap();
    assert!((0..keys).all(|number| repaired.filter.contains(key(number))));
    let last = damaged.len() - 16 - 8 * repaired.pages as usize;
    damaged[last] ^= 1;
    assert!(native::repair_with_ones(&damaged, Limits::default(), None).is_err());
}

#[test]
fn what_ones_would_harm_is_not_repaired() {
    let keys: Vec<_> = (0..100).map(key).collect();
    let filters: [AnyFilter; 7] = [
        filled(Cuckoo::new(100, 0.01).unwrap().into(), 100),
        Fuse::build(&keys, 0.01).unwrap().into(),
        Ribbon::build(&keys, 0.01).unwrap().into(),
        Retouched::new(100, 0.01).unwrap().into(),
        GrowingCuckoo::new(100, 0.01).unwrap().into(),
        CountingCuckoo::new(100, 0.01).unwrap().into(),
        super::filters::window_cuckoo(100, 10).into(),
    ];
    for filter in filters {
        let bytes = native::encode(&filter).unwrap();
        let refused = native::repair_with_ones(&bytes, Limits::default(), None).unwrap_err();
        let expected = format!("{} filters cannot be repaired", filter.kind());
        assert!(refused.to_string().starts_with(&expected), "{refused}");
    }
}
