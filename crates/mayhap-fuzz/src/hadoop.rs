//! Hadoop's four filters.

use crate::round_trip::{KEYS, check_bits, check_round_trip};
use mayhap_codec::hadoop::{self, Clearing, Dynamic, Retouched};

pub(crate) fn bloom(bytes: &[u8]) {
    use hadoop::bloom::{decode, encode, not};
    if let Ok(mut filter) = decode(bytes) {
        let before = filter.clone();
        not(&mut filter);
        not(&mut filter);
        assert!(filter == before, "inverted twice");
        check_bits(filter, encode, decode);
    }
}

pub(crate) fn counting(bytes: &[u8]) {
    use hadoop::counting::{approximate_count, decode, delete, encode};
    let Ok(mut filter) = decode(bytes) else {
        return;
    };
    let encode = |filter: &_| encode(filter).expect("decoded filters are encoded");
    check_round_trip(&filter, encode, decode);
    for key in KEYS {
        let count = approximate_count(&filter, key);
        let is_in = filter.contains(key);
        let deleted = delete(&mut filter, key);
        assert_eq!(deleted.is_ok(), is_in && !key.is_empty(), "{count:?}");
        filter.insert(key);
        assert!(filter.contains(key), "an inserted key is found");
    }
    check_round_trip(&filter, encode, decode);
}

pub(crate) fn dynamic(bytes: &[u8]) {
    use hadoop::dynamic::{decode, encode};
    let Ok(mut filter) = decode(bytes) else {
        return;
    };
    let encode = |filter: &Dynamic| encode(filter).expect("decoded filters are encoded");
    check_round_trip(&filter, encode, decode);
    for key in KEYS {
        if filter.add(key).is_ok() {
            assert_eq!(filter.contains(key), Ok(true));
        }
    }
    assert!(filter.row(filter.rows() - 1).is_some());
    assert!(filter.row(filter.rows()).is_none());
    check_round_trip(&filter, encode, decode);
}

pub(crate) fn retouched(bytes: &[u8]) {
    use hadoop::retouched::{decode, encode};
    let Ok(mut filter) = decode(bytes) else {
        return;
    };
    let encode = |filter: &Retouched| encode(filter).expect("decoded filters are encoded");
    check_round_trip(&filter, encode, decode);
    let clearings = [
        Clearing::Random { number: 1 << 40 },
        Clearing::MinimumFalseNegatives,
        Clearing::MaximumFalsePositives,
        Clearing::Ratio,
    ];
    for (key, clearing) in KEYS.into_iter().zip(clearings.into_iter().cycle()) {
        if filter.add(key, 1.5).is_err() {
            continue;
        }
        assert_eq!(filter.contains(key), Ok(true));
        _ = filter.add_false_positive(key, 0.5);
        _ = filter.selective_clearing(key, clearing);
    }
    check_round_trip(&filter, encode, decode);
}
