//! Payloads stay with their slices: in cells, in the stash, through moves, sweeps and files.

extern crate std;
use super::SliceTable;
use crate::probe::slice::place;
use crate::{HashScheme, Kernel, KeyHash};
use std::collections::BTreeMap;
use std::vec::Vec;

fn hash(key: u64) -> KeyHash {
    HashScheme::Xxh3.hash(key.to_le_bytes())
}

/// All answers of a table, compared with those of a map from slices to payloads.
fn assert_equal(table: &mut SliceTable, model: &BTreeMap<u64, u64>, hashes: &[KeyHash]) {
    assert_eq!(table.keys(), model.len() as u64);
    let expected: Vec<Option<u64>> = hashes
        .iter()
        .map(|hash| model.get(&table.number(place(hash.to_u64()))).copied())
        .collect();
    for (hash, expected) in hashes.iter().zip(&expected) {
        let placed = place(hash.to_u64());
        assert_eq!(table.find_payload(placed), *expected);
        assert_eq!(table.find::<true>(placed), expected.is_some());
    }
    for kernel in Kernel::available() {
        table.set_kernel(kernel);
        let mut payloads = std::vec![9_u16; hashes.len()];
        table.find_each(hashes, &mut payloads);
        let mut found = std::vec![false; hashes.len()];
        table.find_each(hashes, &mut found);
        for ((payload, found), expected) in payloads.iter().zip(found).zip(&expected) {
            assert_eq!(u64::from(*payload).checked_sub(1), *expected, "{kernel}");
            assert_eq!(found, expected.is_some(), "{kernel}");
        }
    }
    let stored: BTreeMap<u64, u64> = table
        .slices()
        .map(|stored| (stored.slice | 1, stored.payload))
        .collect();
    assert!(stored == *model);
    let opened = SliceTable::from_parts(table.parts()).unwrap();
    assert!(opened == *table && opened.keys() == table.keys());
}

/// Inserts, overwrites and removes at random, and compares now and then.
fn run(slice_bits: u32, payload_bits: u32, hashes: &[KeyHash], compares: usize) {
    let mut table = SliceTable::new(slice_bits, payload_bits).unwrap();
    let mut model = BTreeMap::new();
    for (step, hash) in hashes.iter().enumerate() {
        let random = hash.to_u64().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        let payload = random % (1 << payload_bits);
        let placed = place(hash.to_u64());
        let number = table.number(placed);
        if table.find_payload(placed).is_some() {
            assert!(table.set_payload(placed, payload));
        } else {
            assert!(!table.set_payload(placed, payload));
            table.make_room(None).unwrap();
            table.insert(placed, payload).unwrap();
        }
        model.insert(number, payload);
        let old = place(hashes[(random >> 8) as usize % (step + 1)].to_u64());
        if random % 16 == 0 {
            let was_stored = model.remove(&table.number(old)).is_some();
            assert_eq!(table.remove(old), was_stored);
        } else if random % 16 == 1 && table.set_payload(old, payload) {
            model.insert(table.number(old), payload);
        }
        if step % (hashes.len() / compares) == 0 {
            let asked = &hashes[..hashes.len().min(2 * step + 1)];
            assert_equal(&mut table, &model, asked);
        }
    }
    assert_equal(&mut table, &model, hashes);
}

#[test]
fn payloads_agree_with_a_map() {
    for (slice_bits, payload_bits) in [(16, 1), (24, 8), (30, 2), (34, 4), (50, 8), (54, 4)] {
        let hashes: Vec<_> = (0..6000).map(hash).collect();
        run(slice_bits, payload_bits, &hashes, 20);
    }
}

#[test]
fn payloads_agree_with_a_map_in_tables_of_several_groups() {
    for (slice_bits, payload_bits) in [(26, 2), (40, 8)] {
        let hashes: Vec<_> = (0..40_000).map(hash).collect();
        run(slice_bits, payload_bits, &hashes, 9);
    }
}

#[test]
fn payloads_of_stashed_slices_agree_with_a_map() {
    // In the order of their slices: the first groups overflow.
    let mut hashes: Vec<_> = (0..40_000).map(hash).collect();
    hashes.sort_unstable_by_key(|hash| place(hash.to_u64()));
    run(30, 4, &hashes[..25_000], 10);
}
