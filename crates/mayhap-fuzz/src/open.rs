//! `open`, which takes files of every format.

use crate::LIMITS;
use crate::round_trip::KEYS;
use mayhap_codec::{Format, OpenOptions, StoredFilter, open as opened};

/// Filters of a container that are checked.
const FILTERS: usize = 4;

pub(crate) fn open(bytes: &[u8]) {
    // Any format is given, whatever the bytes are.
    let given = Format::ALL[bytes.len() % Format::ALL.len()];
    for format in [None, Some(given)] {
        let opening = OpenOptions {
            format,
            rate: Some(0.01),
            probes: Some(3),
            limits: LIMITS,
            ..OpenOptions::default()
        };
        if let Ok(found) = opened(bytes, &opening) {
            for found in found.into_iter().take(FILTERS) {
                check_filter(&found.filter, &opening);
            }
        }
    }
}

fn check_filter(filter: &StoredFilter, opening: &OpenOptions) {
    _ = filter.describe();
    _ = filter.fills(10);
    let mut found = [false; KEYS.len()];
    filter.contains_each(&KEYS, &mut found);
    let one_by_one = KEYS.map(|key| filter.contains(key));
    assert_eq!(one_by_one, found, "single and batch lookups agree");
    for &format in Format::ALL {
        _ = filter.clone().convert(format);
    }
    let Ok(bytes) = filter.encode() else {
        return;
    };
    let opening = OpenOptions {
        format: Some(filter.format()),
        // We may compress what they did not.
        limits: mayhap_codec::Limits::default(),
        ..opening.clone()
    };
    let again = opened(&bytes, &opening).expect("encoded bytes are opened");
    let [again] = again.as_slice() else {
        panic!("{filter:?} is decoded as {again:?}");
    };
    // A filter with a NaN is not equal to itself.
    let is_itself = filter.clone() == *filter;
    assert!(
        again.filter == *filter || !is_itself,
        "{filter:?} is decoded as {:?}",
        again.filter
    );
}
