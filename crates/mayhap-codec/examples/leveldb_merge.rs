//! A key is deleted: how does LevelDB's filter forget it?
//!
//! It does not. A filter belongs to a table file, and table files never change: a deletion is an entry of its own in a newer table,
//! and its key is in that table's filter, too. Only when tables are merged are deleted keys left out, and the filters built anew.
//! This program does that with two tables and counts the data blocks that lookups would read before and after.
//!
//!     cargo run --release -p mayhap-codec --example leveldb_merge

#![expect(clippy::print_stdout, reason = "an example shows something")]

use mayhap_codec::leveldb::{FilterBlock, FilterBlockBuilder};
use std::collections::BTreeMap;
use std::error::Error;

const BITS_PER_KEY: u32 = 10;
const BLOCK_BYTES: u64 = 4096;
const VALUE_BYTES: u64 = 100;
const KEYS: u32 = 20_000;

/// What a table says of a key.
#[derive(Clone, Copy, PartialEq)]
enum Entry {
    Value,
    Deleted,
}

/// A table as far as lookups are concerned: sorted entries in blocks, and a filter for every 2 KiB of them.
struct Table {
    entries: BTreeMap<String, Entry>,
    /// The last key of each block, and where the block begins.
    index: Vec<(String, u64)>,
    filters: FilterBlock,
}

impl Table {
    fn write(entries: BTreeMap<String, Entry>) -> Result<Self, Box<dyn Error>> {
        let mut builder = FilterBlockBuilder::new(BITS_PER_KEY);
        let (mut index, mut offset, mut filled) = (Vec::new(), 0, 0);
        builder.start_block(offset)?;
        for key in entries.keys() {
            builder.add_key(key);
            filled += key.len() as u64 + VALUE_BYTES;
            if filled >= BLOCK_BYTES {
                index.push((key.clone(), offset));
                offset += filled;
                filled = 0;
                builder.start_block(offset)?;
            }
        }
        if let Some((key, _)) = entries.last_key_value().filter(|_| filled > 0) {
            index.push((key.clone(), offset));
        }
        let filters = FilterBlock::decode(&builder.finish()?)?;
        Ok(Self {
            entries,
            index,
            filters,
        })
    }

    /// What the table says, and whether a data block had to be read for it.
    fn get(&self, key: &str) -> (Option<Entry>, bool) {
        let at = self.index.partition_point(|(last, _)| last.as_str() < key);
        let Some(&(_, offset)) = self.index.get(at) else {
            return (None, false);
        };
        if !self.filters.contains(offset, key) {
            return (None, false);
        }
        (self.entries.get(key).copied(), true)
    }
}

/// Newest first, until one knows the key. Returns whether it is there, and how many blocks were read.
fn lookup(tables: &[&Table], key: &str) -> (bool, u32) {
    let mut reads = 0;
    for table in tables {
        let (entry, read) = table.get(key);
        reads += u32::from(read);
        if let Some(entry) = entry {
            return (entry == Entry::Value, reads);
        }
    }
    (false, reads)
}

/// Newer entries win, and at the bottom nothing needs a deletion any more.
fn merge(newer: &Table, older: &Table) -> Result<Table, Box<dyn Error>> {
    let mut all = older.entries.clone();
    all.extend(newer.entries.clone());
    all.retain(|_, entry| *entry == Entry::Value);
    Table::write(all)
}

fn report(title: &str, tables: &[&Table], lookups: &[(&str, Vec<String>, bool)]) {
    let bytes: usize = tables
        .iter()
        .map(|table| table.filters.encode().len())
        .sum();
    println!("{title}: {bytes} bytes of filters");
    for (name, keys, is_there) in lookups {
        let mut reads = 0;
        for key in keys {
            let (found, read) = lookup(tables, key);
            assert_eq!(found, *is_there, "{key}");
            reads += read;
        }
        println!("  {name:<13} {} lookups read {reads} blocks", keys.len());
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let key = |number: u32| format!("user-{number:06}");
    let older = (0..KEYS)
        .map(|number| (key(number), Entry::Value))
        .collect();
    let older = Table::write(older)?;
    // Later, every second user goes.
    let newer = (0..KEYS)
        .step_by(2)
        .map(|number| (key(number), Entry::Deleted))
        .collect();
    let newer = Table::write(newer)?;
    let lookups = [
        (
            "kept keys",
            (1..KEYS).step_by(2).map(key).collect::<Vec<_>>(),
            true,
        ),
        (
            "deleted keys",
            (0..KEYS).step_by(2).map(key).collect(),
            false,
        ),
        (
            "strangers",
            (0..KEYS)
                .map(|number| format!("user-{number:06}x"))
                .collect(),
            false,
        ),
    ];
    report("before the merge", &[&newer, &older], &lookups);
    let merged = merge(&newer, &older)?;
    report("after the merge", &[&merged], &lookups);
    Ok(())
}
