//! Cassandra's files, read by every layout, and by none.

use super::{MANY, ask};
use mayhap_codec::cassandra::{Layout, create, decode, encode};
use mayhap_codec::{Format, OpenOptions, open};

const LAYOUTS: [Layout; 3] = [Layout::Cassandra4, Layout::Cassandra3, Layout::Cassandra1];

pub(super) fn read(bytes: &[u8]) -> bool {
    let options = OpenOptions {
        format: Some(Format::Cassandra),
        parameters: vec!["order=old".to_owned()],
        ..OpenOptions::default()
    };
    let opened = open(bytes, &options);
    let is_filter = ask(opened, |found, key| _ = found[0].filter.contains(key));
    for layout in LAYOUTS {
        let decoded = ask(decode(bytes, layout), |filter, key| {
            _ = filter.contains(key);
        });
        assert_eq!(decoded, is_filter, "the layout changes no length");
    }
    is_filter
}

pub(super) fn samples() -> Vec<Vec<u8>> {
    let sample = |keys, layout| {
        let mut filter = create(keys, 0.01, layout).unwrap();
        for key in 0..20_u32 {
            filter.insert(key.to_be_bytes());
        }
        encode(&filter, layout).unwrap()
    };
    let mut samples: Vec<Vec<u8>> = LAYOUTS.map(|layout| sample(20, layout)).into();
    samples.push(sample(MANY, Layout::Cassandra4));
    samples.push(Vec::new());
    samples
}
