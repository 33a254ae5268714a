//! Formats that consist of one filter of flat bits.

use crate::round_trip::{KEYS, check_bits};
use mayhap_codec::bip37::Bip37;
use mayhap_codec::{DecodeError, leveldb as level, rocksdb as rocks};
use mayhap_core::ClassicBloom;

pub(crate) fn guava(bytes: &[u8]) {
    use mayhap_codec::guava::{decode, encode};
    if let Ok(filter) = decode(bytes) {
        check_bits(filter, encode, decode);
    }
}

pub(crate) fn spark(bytes: &[u8]) {
    use mayhap_codec::spark::{decode, encode};
    if let Ok(filter) = decode(bytes) {
        check_bits(filter, encode, decode);
    }
}

pub(crate) fn parquet(bytes: &[u8]) {
    use mayhap_codec::parquet::{decode, encode};
    if let Ok(filter) = decode(bytes) {
        check_bits(filter, encode, decode);
    }
}

pub(crate) fn bip37(bytes: &[u8]) {
    use mayhap_codec::bip37::{decode, encode};
    if let Ok(Bip37 { filter, flags }) = decode(bytes) {
        let encode = |filter: &ClassicBloom| {
            let filter = filter.clone();
            encode(&Bip37 { filter, flags })
        };
        check_bits(filter, encode, |bytes| {
            decode(bytes).map(|bip37| bip37.filter)
        });
    }
}

pub(crate) fn leveldb(bytes: &[u8]) {
    leveldb_filter(level::decode(bytes));
}

/// A filter by itself, or one of a block.
pub(crate) fn leveldb_filter(filter: Result<level::Filter, DecodeError>) {
    let filter = filter.expect("all bytes are valid filters");
    for key in KEYS {
        filter.contains(key);
    }
    if let level::Filter::Bloom(filter) = filter {
        check_bits(filter, level::encode, |bytes| match level::decode(bytes) {
            Ok(level::Filter::Bloom(filter)) => Ok(filter),
            other => Err(format!("{other:?}")),
        });
    }
}

/// The bytes as a ribbon block, and as the keys of one: chunks of the length that the first byte says.
pub(crate) fn ribbon_block(bytes: &[u8]) {
    for key in KEYS {
        level::ribbon_block::may_match(bytes, key);
    }
    let Some((&first, rest)) = bytes.split_first() else {
        return;
    };
    let keys = rest.chunks(usize::from(first % 16) + 1);
    let policy = level::Policy::ribbon(u32::from(first % 20) + 1).expect("bits per key");
    let block = policy.create_filter(keys.clone());
    for key in keys {
        assert!(policy.key_may_match(key, &block), "a key is missing");
    }
}

pub(crate) fn rocksdb(bytes: &[u8]) {
    if let Ok(filter) = rocks::decode(bytes) {
        rocksdb_filter(filter);
    }
}

pub(crate) fn rocksdb_filter(filter: rocks::Filter) {
    for key in KEYS {
        filter.contains(key);
    }
    match filter {
        rocks::Filter::Bloom(filter) => {
            check_bits(filter, rocks::encode, |bytes| match rocks::decode(bytes) {
                Ok(rocks::Filter::Bloom(filter)) => Ok(filter),
                other => Err(format!("{other:?}")),
            });
        }
        rocks::Filter::Ribbon(ribbon) => {
            let rate = ribbon.estimated_rate();
            assert!((0.0..=1.0).contains(&rate), "{ribbon:?}: {rate}");
        }
        rocks::Filter::Nothing | rocks::Filter::Everything => {}
    }
}
