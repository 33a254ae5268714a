//! Containers: files that hold filters among other data.

use crate::LIMITS;
use crate::plain::{leveldb_filter, rocksdb_filter};
use crate::round_trip::KEYS;
use mayhap_codec::Format;
use mayhap_codec::leveldb::FilterBlock;
use mayhap_codec::parquet::file;
use mayhap_codec::sniff::{Sniffed, sniff as sniffed};
use mayhap_codec::table::{Filters, Table};

/// Filters of a block that are checked one by one.
const FILTERS: usize = 8;

/// A filter block by itself, or in a table, as in the golden files.
pub(crate) fn filter_block(bytes: &[u8]) {
    if let Ok(table) = Table::open(bytes, LIMITS)
        && let Ok(Some(Filters::Blocks(block))) = table.ignoring_checksums().filters()
    {
        filters_of(&block);
    }
    if let Ok(block) = FilterBlock::decode(bytes) {
        filters_of(&block);
        assert_eq!(FilterBlock::decode(block.encode()), Ok(block));
    }
}

fn filters_of(block: &FilterBlock) {
    for number in 0..block.len().min(FILTERS) {
        leveldb_filter(block.filter(number));
    }
    for key in KEYS {
        for offset in [0, 2048, 1 << 40, u64::MAX] {
            block.contains(offset, key);
        }
    }
}

pub(crate) fn table(bytes: &[u8]) {
    if let Ok(table) = Table::open(bytes, LIMITS) {
        in_table(&table);
        in_table(&table.ignoring_checksums());
    }
}

fn in_table(table: &Table<'_>) {
    match table.filters() {
        Ok(Some(Filters::Blocks(block))) => filters_of(&block),
        Ok(Some(Filters::Whole(filter))) => rocksdb_filter(filter),
        _ => {}
    }
    _ = table.each_key(|_, _| {});
    for key in KEYS {
        _ = table.block_of(key, true);
        _ = table.block_of(key, false);
    }
}

pub(crate) fn parquet(bytes: &[u8]) {
    let Ok(columns) = file::columns(bytes) else {
        return;
    };
    for column in columns.iter().take(FILTERS) {
        if let Ok(bitset) = file::bitset(bytes, column) {
            crate::plain::parquet(bitset);
        }
    }
}

/// A format is detected only if it has a header, and detection is deterministic.
pub(crate) fn sniff(bytes: &[u8]) {
    let again = sniffed(bytes);
    match &again {
        Sniffed::Filter(format) => assert_ne!(*format, Format::LevelDb, "it has no header"),
        Sniffed::Candidates(formats) => assert!(formats.len() <= Format::ALL.len()),
        Sniffed::Container(_) | Sniffed::Text => {}
    }
    assert_eq!(sniffed(bytes), again);
}
