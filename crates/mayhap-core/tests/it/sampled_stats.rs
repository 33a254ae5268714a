//! Statistics from a sample of a filter are those of the whole filter, nearly.

use mayhap_core::{Bloom, ClassicBloom, GrowingBloom, Stats};

/// Whether the figures of a sample are close to those of the whole filter.
fn check_close(name: &str, sampled: Stats, exact: Stats) {
    let keys = |stats: Stats| stats.estimated_keys.unwrap() as f64;
    let off = (keys(sampled) / keys(exact) - 1.0).abs();
    // 64 KiB have half a million bits: the error of five sigma is below two percent at any fill of these tests.
    assert!(off < 0.02, "{name}: {sampled:?} {exact:?}");
    let rate = sampled.estimated_rate.unwrap() / exact.estimated_rate.unwrap();
    assert!((0.8..1.25).contains(&rate), "{name}: {rate}");
    assert_eq!(
        Stats {
            fill: exact.fill,
            estimated_keys: exact.estimated_keys,
            estimated_rate: exact.estimated_rate,
            keys_until_full: exact.keys_until_full,
            ..sampled
        },
        exact,
        "{name}"
    );
}

#[test]
fn a_sample_gives_nearly_the_same_figures() {
    const SAMPLE: u64 = 64 << 10;
    for (rate, share) in [(0.01, 1.0), (0.01, 0.3), (1e-5, 0.9), (0.01, 1.5)] {
        let capacity = 1_000_000;
        let keys = (capacity as f64 * share) as u64;
        let mut bloom = Bloom::new(capacity, rate).unwrap();
        let mut growing = GrowingBloom::new(capacity / 4, rate).unwrap();
        let mut classic = ClassicBloom::new(capacity, rate).unwrap();
        for key in 0..keys {
            bloom.insert(key);
            growing.insert(key);
            classic.insert(key);
        }
        check_close("bloom", bloom.sampled_stats(SAMPLE), bloom.stats());
        check_close("growing", growing.sampled_stats(SAMPLE), growing.stats());
        check_close("classic", classic.sampled_stats(SAMPLE), classic.stats());
        for max_bytes in [bloom.size_bytes(), u64::MAX] {
            assert_eq!(bloom.sampled_stats(max_bytes), bloom.stats());
        }
    }
}

#[test]
fn a_sample_of_any_size_is_possible() {
    let mut bloom = Bloom::new(10_000, 0.001).unwrap();
    let mut classic = ClassicBloom::new(10_000, 0.001).unwrap();
    for key in 0..5000_u64 {
        bloom.insert(key);
        classic.insert(key);
    }
    for max_bytes in [0, 1, 63, 64, 65, 1000, 10_000] {
        for stats in [
            bloom.sampled_stats(max_bytes),
            classic.sampled_stats(max_bytes),
        ] {
            let fill = stats.fill.unwrap();
            assert!((0.0..=1.0).contains(&fill), "{max_bytes}: {stats:?}");
            assert!(!stats.is_over_capacity, "{max_bytes}: {stats:?}");
        }
    }
    let empty = Bloom::new(10_000, 0.001).unwrap().sampled_stats(64);
    assert_eq!((empty.estimated_keys, empty.fill), (Some(0), Some(0.0)));
}
