//! Accumulo's block, by itself and in an RFile.

use crate::LIMITS;
use crate::round_trip::{KEYS, check_round_trip};
use mayhap_codec::accumulo::{Filter, acu_bloom, decode, encode};

pub(crate) fn block(bytes: &[u8]) {
    let Ok(mut filter) = decode(bytes) else {
        return;
    };
    let encode = |filter: &Filter| encode(filter).expect("decoded filters are encoded");
    check_round_trip(&filter, encode, decode);
    for key in KEYS {
        let was_in = filter.contains(key);
        match filter.add(key) {
            Ok(_) => assert!(filter.contains(key), "an inserted key is found"),
            Err(_) => assert_eq!(filter.contains(key), was_in),
        }
    }
    check_round_trip(&filter, encode, decode);
}

pub(crate) fn rfile(bytes: &[u8]) {
    if let Ok(Some(content)) = acu_bloom(bytes, LIMITS) {
        block(&content);
    }
}
