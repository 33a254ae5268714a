//! What ones can save.

use crate::{decode, filled, header_bytes, key};
use mayhap::{Bloom, Cuckoo, GrowingBloom};
use mayhap_codec::{Limits, Problem, native};

#[test]
fn damaged_pages_become_ones_and_no_key_is_lost() {
    let keys = 500_000;
    let bloom = Bloom::new(keys, 0.01).unwrap().into();
    let growing = GrowingBloom::new(50_000, 0.01).unwrap().into();
    for filter in [filled(bloom, keys), filled(growing, keys)] {
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
        assert!((0..keys).all(|number| repaired.filter.contains(key(number))));
        let strangers =
            (keys..keys + 100_000).filter(|&number| repaired.filter.contains(key(number)));
        let measured = strangers.count() as f64 / 100_000.0;
        let told = repaired.estimated_rate;
        assert!(
            (measured / told - 1.0).abs() < 0.05,
            "{measured} measured, {told} told"
        );
        assert!(told > 0.02 && told < 1.0, "{told}");
    }
}

#[test]
fn what_ones_would_harm_is_not_repaired() {
    let filter = filled(Cuckoo::new(100, 0.01).unwrap().into(), 100);
    let bytes = native::encode(&filter).unwrap();
    assert!(native::repair_with_ones(&bytes, Limits::default(), None).is_err());
}
