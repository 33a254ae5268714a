//! Cassandra's files, by each layout.

use crate::round_trip::{KEYS, check_bits};
use mayhap_codec::cassandra::{Filter, Layout, decode, encode};
use mayhap_codec::{Format, OpenOptions, open};
use mayhap_core::ClassicBloom;

pub(crate) fn file(bytes: &[u8]) {
    for (layout, version) in [
        (Layout::Cassandra4, "nb"),
        (Layout::Cassandra3, "me"),
        (Layout::Cassandra1, "lb"),
    ] {
        let decoded = decode(bytes, layout);
        let opened = opened(bytes, &format!("version={version}"));
        assert_eq!(decoded.is_ok(), opened, "both ways to read it agree");
        if let Ok(Filter::Bloom(filter)) = decoded {
            let encode = |filter: &ClassicBloom| encode(&Filter::Bloom(filter.clone()), layout);
            check_bits(filter, encode, |bytes| match decode(bytes, layout) {
                Ok(Filter::Bloom(filter)) => Ok(filter),
                other => Err(format!("{other:?}")),
            });
        }
    }
    opened(bytes, "order=old");
}

/// Whether it is opened, asked and written again.
fn opened(bytes: &[u8], parameter: &str) -> bool {
    let options = OpenOptions {
        format: Some(Format::Cassandra),
        parameters: vec![parameter.to_owned()],
        ..OpenOptions::default()
    };
    let Ok(found) = open(bytes, &options) else {
        return false;
    };
    let filter = &found[0].filter;
    let mut answers = [false; KEYS.len()];
    filter.contains_each(&KEYS, &mut answers);
    assert_eq!(answers, KEYS.map(|key| filter.contains(key)));
    _ = filter.describe();
    let again = filter.encode().expect("opened filters are encoded");
    assert!(open(&again, &options) == Ok(found), "the same filter");
    true
}
