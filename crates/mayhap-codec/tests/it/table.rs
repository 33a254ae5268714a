//! Tables of LevelDB and RocksDB: every checksum is looked at, and every damage to a block that is read is found.

use mayhap_codec::table::{Filters, Table};
use mayhap_codec::{DecodeError, Limits, Problem};
use std::path::Path;
use twox_hash::{XxHash3_64, XxHash32, XxHash64};

const FILTER: &[u8] = b"fullfilter.rocksdb.BuiltinBloomFilter";

fn tables(ending: &str) -> Vec<Vec<u8>> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    let folders = golden.read_dir().unwrap().map(|folder| folder.unwrap());
    let files = folders.filter_map(|folder| folder.path().read_dir().ok());
    let paths = files.flatten().map(|file| file.unwrap().path());
    let tables = paths.filter(|path| path.to_string_lossy().ends_with(ending));
    tables.map(|path| std::fs::read(path).unwrap()).collect()
}

fn filters(bytes: &[u8]) -> Result<Filters, DecodeError> {
    let filters = Table::open(bytes, Limits::default())?.filters()?;
    Ok(filters.expect("the table has filters"))
}

fn keys(table: &Table<'_>) -> Result<u64, DecodeError> {
    let mut keys = 0;
    table.each_key(|_, _| keys += 1)?;
    Ok(keys)
}

#[test]
fn tables_of_both_systems_are_read() {
    let (leveldb, rocksdb) = (tables(".ldb"), tables(".sst"));
    assert!(leveldb.len() >= 4 && rocksdb.len() >= 20);
    for bytes in leveldb {
        assert!(matches!(filters(&bytes), Ok(Filters::Blocks(_))));
        let table = Table::open(&bytes, Limits::default()).unwrap();
        assert!(keys(&table).unwrap() >= 300);
    }
    for bytes in rocksdb {
        let Ok(Filters::Whole(filter)) = filters(&bytes) else {
            panic!("a filter of all keys");
        };
        let table = Table::open(&bytes, Limits::default()).unwrap();
        // Their indexes are packed.
        let keys = keys(&table).unwrap();
        assert!(keys >= 1);
        let mut user_keys = 0;
        let take = |key: &[u8]| {
            user_keys += 1;
            assert!(filter.contains(key), "{key:?}");
        };
        table.each_user_key(take).unwrap();
        assert_eq!(user_keys, keys);
    }
}

#[test]
fn every_damage_to_the_blocks_of_a_leveldb_table_is_found() {
    for bytes in tables(".ldb") {
        let blocks = bytes.len() - 48;
        let step = 1 + blocks / 3000;
        for at in (0..blocks).step_by(step) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            let table = Table::open(&damaged, Limits::default()).unwrap();
            let found = table.filters().err().or(keys(&table).err());
            let found = found.map(|error| error.problem);
            assert_eq!(found, Some(Problem::Checksum), "byte {at}");
        }
    }
}

#[test]
fn damage_to_the_filter_of_a_rocksdb_table_is_found_and_can_be_ignored() {
    for bytes in tables(".sst") {
        let (offset, size) = filter_block(&bytes);
        let step = 1 + size / 500;
        for at in (offset..offset + size + 5).step_by(step) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            let error = filters(&damaged).unwrap_err();
            assert_eq!(error.problem, Problem::Checksum, "byte {at}");
            assert_eq!(error.offset, offset as u64);
        }
        let mut damaged = bytes.clone();
        damaged[offset] ^= 1;
        let table = Table::open(&damaged, Limits::default()).unwrap();
        let filters = table.ignoring_checksums().filters().unwrap();
        assert!(matches!(filters, Some(Filters::Whole(_))));
    }
}

/// The checksum of a block.
type Sum = fn(&[u8]) -> u32;

#[test]
fn every_kind_of_checksum_is_held_against_the_blocks() {
    let xxh3 = |block: &[u8]| {
        let (last, data) = block.split_last().unwrap();
        XxHash3_64::oneshot(data) as u32 ^ u32::from(*last).wrapping_mul(0x6b90_83d9)
    };
    let kinds: [(u8, Sum); 3] = [
        (2, |block| XxHash32::oneshot(0, block)),
        (3, |block| XxHash64::oneshot(0, block) as u32),
        (4, xxh3),
    ];
    for bytes in tables(".sst") {
        let expected = filters(&bytes).unwrap();
        let kind_at = bytes.len() - 53;
        for (kind, sum) in kinds {
            let mut other = bytes.clone();
            other[kind_at] = kind;
            assert_eq!(filters(&other).unwrap_err().problem, Problem::Checksum);
            for (offset, size) in [metaindex(&bytes), filter_block(&bytes)] {
                let end = offset + size + 1;
                let sum = sum(&other[offset..end]);
                other[end..end + 4].copy_from_slice(&sum.to_le_bytes());
            }
            assert_eq!(filters(&other).unwrap(), expected, "kind {kind}");
        }
        let mut none = bytes.clone();
        none[kind_at] = 0;
        assert_eq!(filters(&none).unwrap(), expected);
        none[kind_at] = 5;
        assert!(filters(&none).is_err());
    }
}

#[test]
fn footers_of_later_versions_are_refused_by_number() {
    for mut bytes in tables(".sst") {
        let version = bytes.len() - 12;
        bytes[version] = 6;
        let problem = filters(&bytes).unwrap_err().problem;
        assert!(matches!(problem, Problem::Value { value: 6, .. }));
    }
}

/// An index that names one block many times would give endless keys from a small file.
#[test]
fn blocks_are_read_once() {
    let places = |bytes: &[u8]| {
        let table = Table::open(bytes, Limits::default()).unwrap();
        let mut places = Vec::new();
        table.each_key(|place, _| places.push(place)).unwrap();
        places.dedup();
        places
    };
    let tables = tables(".ldb").into_iter();
    let bytes = tables.max_by_key(|bytes| places(bytes).len()).unwrap();
    let places = places(&bytes);
    assert!(places.is_sorted() && places.len() > 1);
    // The index is the last block; its entries are key, offset and size. One offset is set to that of the first block.
    let index = index_of_leveldb(&bytes);
    let value = (index..bytes.len() - 48)
        .find(|&at| varint(&bytes, at).0 == places[1] && bytes[at] > 0x7f)
        .expect("the offset of the second block takes two bytes");
    let mut forged = bytes.clone();
    forged[value..value + 2].copy_from_slice(&[0x80, 0]);
    let table = Table::open(&forged, Limits::default()).unwrap();
    let problem = keys(&table.ignoring_checksums()).unwrap_err().problem;
    let accepted = "past the blocks before it";
    assert!(matches!(problem, Problem::Value { accepted: told, .. } if told == accepted));
}

fn index_of_leveldb(bytes: &[u8]) -> usize {
    let footer = bytes.len() - 48;
    let (_, at) = varint(bytes, footer);
    let (_, at) = varint(bytes, at);
    varint(bytes, at).0 as usize
}

/// Offset and size of a block of RocksDB's.
fn metaindex(bytes: &[u8]) -> (usize, usize) {
    handle(bytes, bytes.len() - 52)
}

fn filter_block(bytes: &[u8]) -> (usize, usize) {
    let (offset, size) = metaindex(bytes);
    let mut windows = bytes[offset..offset + size].windows(FILTER.len());
    let name = windows.position(|window| window == FILTER).unwrap();
    handle(bytes, offset + name + FILTER.len())
}

fn handle(bytes: &[u8], at: usize) -> (usize, usize) {
    let (offset, at) = varint(bytes, at);
    (offset as usize, varint(bytes, at).0 as usize)
}

/// A number, and where it ends.
fn varint(bytes: &[u8], mut at: usize) -> (u64, usize) {
    let (mut number, mut shift) = (0, 0);
    loop {
        number |= u64::from(bytes[at] & 0x7f) << (shift % 64);
        at += 1;
        if bytes[at - 1] < 0x80 || at == bytes.len() {
            return (number, at);
        }
        shift += 7;
    }
}
