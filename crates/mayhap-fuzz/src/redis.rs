//! RedisBloom's filters: as DUMP payloads, in chunks, and in RDB files.

use crate::round_trip::{KEYS, check_round_trip};
use crate::{LIMITS, checksums};
use mayhap_codec::Limits;
use mayhap_codec::redis::{self, Bloom, Cuckoo, Filter};

/// A growing filter allocates what its header says, forged or not, so only small ones grow.
const MAX_KEYS: u64 = 1 << 10;
const MAX_SLOTS: u64 = 1 << 16;

/// For filters that are compared as a whole many times.
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
    check_round_trip(filter, redis::bloom::encode, redis::bloom::decode);
}

fn scanned_cuckoo(filter: &Cuckoo) {
    check_round_trip(filter, redis::cuckoo::encode, redis::cuckoo::decode);
}

fn bloom_filter(mut filter: Bloom, check_round_trip: impl Fn(&Bloom)) {
    check_round_trip(&filter);
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
    check_round_trip(&filter);
    let mut loaded = Bloom::from_header(&filter.header(), LIMITS).ok();
    let mut iterator = 0;
    while let Some((next, chunk)) = filter.scan(iterator) {
        if let Some(loaded) = loaded.as_mut().filter(|_| iterator > 0) {
            loaded.load_chunk(next, &chunk).expect("its own chunk");
        }
        iterator = next;
    }
    assert!(loaded.is_none_or(|loaded| loaded == filter));
}

fn cuckoo_filter(mut filter: Cuckoo, check_round_trip: impl Fn(&Cuckoo)) {
    check_round_trip(&filter);
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
    // Every slot may search every table: a forged filter with thousands of tables would take as long as in RedisBloom.
    if tables < 256 {
        filter.compact();
    }
    check_round_trip(&filter);
    let mut position = 0;
    while let Some((next, chunk)) = filter.scan(position) {
        if position > 0 {
            filter.load_chunk(next, &chunk).expect("its own chunk");
        }
        position = next;
    }
}

/// A header, and then chunks: length, iterator, bytes.
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

/// Chunks that are loaded; the whole filter is compared after each.
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
    for bytes in [bytes, &checksums::dump(bytes)] {
        if let Ok(filter) = redis::dump::decode(bytes, LIMITS) {
            dumped(filter);
        }
    }
}

/// A DUMP may contain values that no SCANDUMP has: RedisBloom checks less of it.
fn dumped(filter: Filter) {
    let check = |filter: &Filter| {
        // We may compress what they did not.
        let decode = |bytes: &[u8]| redis::dump::decode(bytes, Limits::default());
        check_round_trip(filter, |filter| filter.dump(RDB), decode);
    };
    match filter {
        Filter::Bloom(filter) => {
            bloom_filter(filter, |filter| check(&Filter::Bloom(filter.clone())));
        }
        Filter::Cuckoo(filter) => {
            cuckoo_filter(filter, |filter| check(&Filter::Cuckoo(filter.clone())));
        }
    }
}

/// The file as it is, without its checksum, and as a DUMP that is wrapped into a file.
pub(crate) fn rdb(bytes: &[u8]) {
    let files = [
        bytes.to_vec(),
        checksums::rdb(bytes),
        checksums::rdb_of_dump(bytes),
    ];
    for file in files {
        let found = redis::rdb::each_filter(&file, LIMITS, |entry| dumped(entry.filter));
        let gathered = redis::rdb::filters(&file, LIMITS);
        // Together they may exceed the limits.
        assert!(found.is_ok() || gathered.is_err());
    }
}
