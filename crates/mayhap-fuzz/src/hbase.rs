//! HBase's chunks, metadata and files.

use crate::LIMITS;
use crate::round_trip::{KEYS, check_bits, check_round_trip};
use mayhap_codec::hbase::{Compound, Filter, HFile, HashType, Meta, decode, encode};

/// The first byte chooses the hash and the number of probes.
pub(crate) fn chunk(bytes: &[u8]) {
    let Some((&first, bytes)) = bytes.split_first() else {
        return;
    };
    let hash = [HashType::Jenkins, HashType::Murmur, HashType::Murmur3][usize::from(first % 3)];
    let probes = u32::from(first / 3);
    let Ok(filter) = decode(bytes, probes, hash) else {
        return;
    };
    assert_eq!(filter == Filter::Everything, probes == 0);
    if let Filter::Bloom(filter) = filter {
        check_bits(filter, encode, |bytes| match decode(bytes, probes, hash) {
            Ok(Filter::Bloom(filter)) => Ok(filter),
            other => Err(format!("{other:?}")),
        });
    }
}

pub(crate) fn meta(bytes: &[u8]) {
    if let Ok(meta) = Meta::decode(bytes) {
        check_round_trip(&meta, Meta::encode, Meta::decode);
    }
}

pub(crate) fn hfile(bytes: &[u8]) {
    let repaired = crate::checksums::hfile(bytes);
    for bytes in [bytes, &repaired] {
        if let Ok(file) = HFile::open(bytes, LIMITS) {
            if let Ok(loaded) = file.load_on_open() {
                for block in [loaded.general, loaded.delete_family].into_iter().flatten() {
                    meta(&block);
                }
            }
            for filter in [file.general(), file.delete_family()] {
                if let Ok(Some(filter)) = filter {
                    ask(&filter);
                }
            }
        }
    }
}

fn ask(filter: &Compound) {
    for key in KEYS {
        filter.contains(key);
        filter.passes(key, b"q");
    }
}
