//! The one door for files of every format.

use crate::LIMITS;
use crate::law::KEYS;
use mayhap_codec::{Filter, Format, Opening, open as opened};

/// Filters of a container that are looked at.
const FILTERS: usize = 4;

pub(crate) fn open(bytes: &[u8]) {
    // One of the formats is told, whatever the bytes are.
    let told = Format::ALL[bytes.len() % Format::ALL.len()];
    for format in [None, Some(told)] {
        let opening = Opening {
            format,
            rate: Some(0.01),
            probes: Some(3),
            limits: LIMITS,
            ..Opening::default()
        };
        if let Ok(found) = opened(bytes, &opening) {
            for found in found.into_iter().take(FILTERS) {
                look_at(&found.filter, &opening);
            }
        }
    }
}

fn look_at(filter: &Filter, opening: &Opening) {
    _ = filter.describe();
    _ = filter.fills(10);
    let mut found = [false; KEYS.len()];
    filter.contains_each(&KEYS, &mut found);
    let one_by_one = KEYS.map(|key| filter.contains(key));
    assert_eq!(one_by_one, found, "one by one and together");
    for format in Format::ALL {
        _ = filter.clone().convert(format);
    }
    let Ok(bytes) = filter.encode() else {
        return;
    };
    let opening = Opening {
        format: Some(filter.format()),
        // Ours may be packed where theirs was not.
        limits: mayhap_codec::Limits::default(),
        ..opening.clone()
    };
    let again = opened(&bytes, &opening).expect("what we have written is opened");
    let [again] = again.as_slice() else {
        panic!("{filter:?} came back as {again:?}");
    };
    // Where a weight is no number, a filter is not the same as itself.
    let is_itself = filter.clone() == *filter;
    assert!(
        again.filter == *filter || !is_itself,
        "{filter:?} came back as {:?}",
        again.filter
    );
}
