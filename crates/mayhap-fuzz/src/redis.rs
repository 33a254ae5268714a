//! RedisBloom's filters: dumped whole, loaded in chunks, and in Redis's own files.

use crate::law::{KEYS, comes_back};
use crate::{LIMITS, seal};
use mayhap_codec::Limits;
use mayhap_codec::redis::{self, Bloom, Cuckoo, Filter};

/// A filter that grows asks for as much memory as its header says, forged or not.
const MAX_KEYS: u64 = 1 << 10;
const MAX_SLOTS: u64 = 1 << 16;

/// Filters that are compared as a whole, again and again.
const SMALL: Limits = Limits { max_bytes: 1 << 14 };

/// The version of Redis's files.
const RDB: u16 = 12;

pub(crate) fn bloom(bytes: &[u8]) {
    if let Ok(filter) = redis::bloom::decode(bytes) {
        bloom_filter(filter, scanned_bloom);
    }
}

pub(crate) fn cuckoo(bytes: &[u8]) {
    if let Ok(filter) = redis::cuckoo::decode(bytes) {
        cuckoo_filter(filter, scanned_cuckoo);
    }
}

fn scanned_bloom(filter: &Bloom) {
    comes_back(filter, redis::bloom::encode, redis::bloom::decode);
}

fn scanned_cuckoo(filter: &Cuckoo) {
    comes_back(filter, redis::cuckoo::encode, redis::cuckoo::decode);
}

fn bloom_filter(mut filter: Bloom, comes_back: impl Fn(&Bloom)) {
    comes_back(&filter);
    let info = filter.info();
    let next = info
        .capacity
        .saturating_mul(info.expansion.unwrap_or(1).into());
    assert_eq!(filter.debug_lines().len() as u64, 1 + info.layers);
    for key in KEYS {
        let was_in = filter.contains(key);
        if next <= MAX_KEYS {
            match filter.try_insert(key) {
                Ok(new) => assert!(filter.contains(key) && !(new && was_in)),
                Err(_) => assert!(!was_in),
            }
        }
    }
    comes_back(&filter);
    let mut loaded = Bloom::from_header(&filter.header(), LIMITS).ok();
    let mut iterator = 0;
    while let Some((next, chunk)) = filter.scan(iterator) {
        if let Some(loaded) = loaded.as_mut().filter(|_| iterator > 0) {
            loaded.load_chunk(next, &chunk).expect("a chunk of its own");
        }
        iterator = next;
    }
    assert!(loaded.is_none_or(|loaded| loaded == filter));
}

fn cuckoo_filter(mut filter: Cuckoo, comes_back: impl Fn(&Cuckoo)) {
    comes_back(&filter);
    let tables = filter.filter().tables().len() as u32;
    let next = filter.filter().plan().size_bytes_of(tables);
    let grows = next.is_ok_and(|next| next <= MAX_SLOTS);
    assert!(filter.debug_line().starts_with("bktsize:"));
    for key in KEYS {
        assert_eq!(filter.contains(key), filter.count(key) > 0);
        if grows && filter.try_insert(key).is_ok() {
            assert!(filter.contains(key));
        }
        _ = grows && filter.insert_if_absent(key).is_ok();
        let was_in = filter.contains(key);
        assert_eq!(filter.remove(key), was_in);
    }
    // Each slot may look at each table: a forged chain of thousands would take as long as in RedisBloom.
    if tables < 256 {
        filter.compact();
    }
    comes_back(&filter);
    let mut position = 0;
    while let Some((next, chunk)) = filter.scan(position) {
        if position > 0 {
            filter.load_chunk(next, &chunk).expect("a chunk of its own");
        }
        position = next;
    }
}

/// A header, and then chunks: how long, at which iterator, bytes.
pub(crate) fn bloom_chunks(bytes: &[u8]) {
    let layers = bytes.get(8..12).map_or(0, |layers| u32::from(layers[0]));
    let Some((header, chunks)) = bytes.split_at_checked(20 + 53 * layers as usize) else {
        return;
    };
    let Ok(mut filter) = Bloom::from_header(header, SMALL) else {
        return;
    };
    assert_eq!(filter.header(), header);
    each_chunk(chunks, |iterator, chunk| {
        let before = redis::bloom::encode(&filter);
        let loaded = filter.load_chunk(iterator, chunk);
        assert!(loaded.is_ok() || redis::bloom::encode(&filter) == before);
    });
    bloom_filter(filter, scanned_bloom);
}

pub(crate) fn cuckoo_chunks(bytes: &[u8]) {
    let Some((header, chunks)) = bytes.split_at_checked(38) else {
        return;
    };
    let Ok(mut filter) = Cuckoo::from_header(header, SMALL) else {
        return;
    };
    assert_eq!(filter.header(), header);
    each_chunk(chunks, |position, chunk| {
        let before = redis::cuckoo::encode(&filter);
        let loaded = filter.load_chunk(position, chunk);
        assert!(loaded.is_ok() || redis::cuckoo::encode(&filter) == before);
    });
    cuckoo_filter(filter, scanned_cuckoo);
}

/// Chunks that are loaded; each compares the whole filter.
const CHUNKS: usize = 32;

fn each_chunk(mut bytes: &[u8], mut each: impl FnMut(i64, &[u8])) {
    for _ in 0..CHUNKS {
        let Some((&[length, low, high], rest)) = bytes.split_first_chunk() else {
            return;
        };
        let (chunk, rest) = rest.split_at(rest.len().min(length.into()));
        each(i16::from_le_bytes([low, high]).into(), chunk);
        each(i64::MAX - i64::from(low), chunk);
        bytes = rest;
    }
}

pub(crate) fn dump(bytes: &[u8]) {
    for bytes in [bytes, &seal::dump(bytes)] {
        if let Ok(filter) = redis::dump::decode(bytes, LIMITS) {
            dumped(filter);
        }
    }
}

/// A DUMP may hold what no SCANDUMP does: RedisBloom checks less of it.
fn dumped(filter: Filter) {
    let law = |filter: &Filter| {
        // Ours may be packed where theirs was not.
        let decode = |bytes: &[u8]| redis::dump::decode(bytes, Limits::default());
        comes_back(filter, |filter| filter.dump(RDB), decode);
    };
    match filter {
        Filter::Bloom(filter) => {
            bloom_filter(filter, |filter| law(&Filter::Bloom(filter.clone())));
        }
        Filter::Cuckoo(filter) => {
            cuckoo_filter(filter, |filter| law(&Filter::Cuckoo(filter.clone())));
        }
    }
}

/// As it is, and without a checksum; a dump is put into a file of its own.
pub(crate) fn rdb(bytes: &[u8]) {
    let files = [bytes.to_vec(), seal::rdb(bytes), seal::rdb_of_dump(bytes)];
    for file in files {
        let found = redis::rdb::each_filter(&file, LIMITS, |entry| dumped(entry.filter));
        let gathered = redis::rdb::filters(&file, LIMITS);
        // All together may be too large.
        assert!(found.is_ok() || gathered.is_err());
    }
}
