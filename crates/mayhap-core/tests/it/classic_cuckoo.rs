//! `ClassicCuckoo`: byte for byte what `RedisBloom` makes of the same commands, and no key is lost.
//!
//! `tests/data/redisbloom_cuckoo.txt` is recorded from `RedisBloom` (development version of June 2026 on Redis 8.0.6): for each
//! filter its commands with their replies, and the results of CF.INFO and CF.SCANDUMP. Items and bytes are in hexadecimal.

use crate::{mixed, soak};
use mayhap_core::plan::ClassicCuckooPlan;
use mayhap_core::{ClassicCuckoo, Full, PlanError};
use std::collections::HashMap;

/// `MurmurHash64A`, which `RedisBloom` uses for the items of cuckoo filters.
fn murmur(item: &[u8]) -> u64 {
    const M: u64 = 0xc6a4_a793_5bd1_e995;
    let mut hash = (item.len() as u64).wrapping_mul(M);
    let (words, rest) = item.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word).wrapping_mul(M);
        hash = (hash ^ (word ^ word >> 47).wrapping_mul(M)).wrapping_mul(M);
    }
    if !rest.is_empty() {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(M);
    }
    hash = (hash ^ hash >> 47).wrapping_mul(M);
    hash ^ hash >> 47
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = if hex == "-" { "" } else { hex };
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

/// The header of a SCANDUMP.
fn header(filter: &ClassicCuckoo) -> Vec<u8> {
    let plan = filter.plan();
    let counts = [
        filter.estimated_keys(),
        plan.buckets(),
        filter.removed_keys(),
        filter.tables().len() as u64,
    ];
    let shorts = [
        u16::from(plan.bucket_size()),
        plan.max_moves(),
        plan.expansion(),
    ];
    let counts = counts.into_iter().flat_map(u64::to_le_bytes);
    counts
        .chain(shorts.into_iter().flat_map(u16::to_le_bytes))
        .collect()
}

/// The table that contains a SCANDUMP position.
fn table_at(filter: &ClassicCuckoo, mut position: usize) -> &[u8] {
    let mut tables = filter.tables();
    tables
        .find(|table| {
            let present = position <= table.len();
            position = position.saturating_sub(table.len());
            present
        })
        .unwrap()
}

fn apply(filter: &mut ClassicCuckoo, command: &str, item: &[u8]) -> i64 {
    let hash = murmur(item);
    match command {
        "add" => filter.try_insert_hash(hash).map_or(-1, |()| 1),
        "addnx" => filter.insert_hash_if_absent(hash).map_or(-1, i64::from),
        "del" => i64::from(filter.remove_hash(hash)),
        "exists" => i64::from(filter.contains_hash(hash)),
        "count" => i64::try_from(filter.count_hash(hash)).unwrap(),
        _ => panic!("a command that this test does not know: {command}"),
    }
}

/// Runs all commands of a recording and compares the replies; returns how many there were.
fn replay(recording: &str) -> usize {
    let mut filter = None;
    let mut commands = 0;
    let mut origin = "";
    for (number, line) in (1..).zip(recording.lines()) {
        let words: Vec<_> = line.split(' ').collect();
        let number_at = |at: usize| words[at].parse::<u64>().unwrap();
        if words[0] == "#" {
            origin = line;
            continue;
        }
        commands += 1;
        if words[0] == "reserve" {
            let plan = ClassicCuckooPlan::new(
                number_at(1),
                number_at(2) as u8,
                number_at(3) as u16,
                number_at(4) as u16,
            );
            filter = Some(ClassicCuckoo::from_plan(plan.unwrap()).unwrap());
            continue;
        }
        let filter = filter.as_mut().unwrap();
        match words[0] {
            "compact" => filter.compact(),
            "info" => {
                let plan = filter.plan();
                let tables = filter.tables().len() as u64;
                let info = [
                    40 + 16 * tables + filter.size_bytes(),
                    plan.buckets(),
                    tables,
                    filter.estimated_keys(),
                    filter.removed_keys(),
                    u64::from(plan.bucket_size()),
                    u64::from(plan.expansion()),
                    u64::from(plan.max_moves()),
                ];
                let expected: Vec<_> = (1..9).map(number_at).collect();
                assert_eq!(info[..], expected, "{origin}, line {number}");
            }
            "scan" if words[1] == "0" => {
                assert_eq!(header(filter), bytes(words[2]), "{origin}, line {number}");
            }
            "scan" => {
                let table = table_at(filter, number_at(1) as usize);
                assert!(table == bytes(words[2]), "{origin}, line {number}");
            }
            each if each.starts_with("each-") => {
                let odd: HashMap<u64, i64> = words[4]
                    .split(',')
                    .filter_map(|pair| pair.split_once(':'))
                    .map(|(at, reply)| (at.parse().unwrap(), reply.parse().unwrap()))
                    .collect();
                commands += number_at(3) as usize - 1;
                let usual = i64::from(each != "each-exists");
                for at in number_at(2)..number_at(2) + number_at(3) {
                    let mut item = bytes(words[1]);
                    item.extend(at.to_string().bytes());
                    let reply = apply(filter, &each[5..], &item);
                    let expected = odd.get(&at).copied().unwrap_or(usual);
                    assert_eq!(reply, expected, "{origin}, line {number}, {at}");
                }
            }
            command => {
                let reply = apply(filter, command, &bytes(words[1]));
                assert_eq!(
                    reply,
                    words[2].parse::<i64>().unwrap(),
                    "{origin}, line {number}: {line}"
                );
            }
        }
    }
    commands
}

#[test]
fn replies_and_bytes_match_redisbloom() {
    let commands = replay(include_str!("../data/redisbloom_cuckoo.txt"));
    println!("{commands} commands");
    assert!(commands > 100_000);
}

fn filter(capacity: u64, bucket_size: u8, max_moves: u16, expansion: u16) -> ClassicCuckoo {
    let plan = ClassicCuckooPlan::new(capacity, bucket_size, max_moves, expansion).unwrap();
    ClassicCuckoo::from_plan(plan).unwrap()
}

#[test]
fn no_inserted_key_is_lost_and_a_rejected_insert_changes_no_byte() {
    for (bucket_size, max_moves) in [(1, 1), (1, 500), (2, 20), (4, 20), (4, 3), (255, 7)] {
        let mut full = filter(1024, bucket_size, max_moves, 0);
        let mut stored = Vec::new();
        let mut refused = 0;
        for hash in (0..4_000).map(mixed) {
            let before = full.clone();
            match full.try_insert_hash(hash) {
                Ok(()) => stored.push(hash),
                Err(error) => {
                    refused += 1;
                    let (keys, capacity) = (stored.len() as u64, full.capacity());
                    assert_eq!(error, Full::Table { keys, capacity });
                    assert!(full == before);
                }
            }
        }
        assert!(refused > 2_000 && stored.iter().all(|&hash| full.contains_hash(hash)));
        assert_eq!(full.estimated_keys(), stored.len() as u64);
        println!(
            "buckets of {bucket_size}, {max_moves} moves: {:.1} % full",
            100.0 * stored.len() as f64 / full.capacity() as f64
        );
        // In one table all keys can be removed, whatever was moved.
        for hash in stored {
            assert!(full.remove_hash(hash));
        }
        assert!(
            full.tables()
                .all(|table| table.iter().all(|&slot| slot == 0))
        );
    }
}

#[test]
fn a_chain_grows_as_planned_and_compaction_loses_no_key() {
    let keys: Vec<_> = (0..if soak() { 1_000_000 } else { 20_000 })
        .map(mixed)
        .collect();
    for expansion in [1, 2, 4] {
        let mut filter = filter(256, 2, 20, expansion);
        for &hash in &keys {
            filter.try_insert_hash(hash).unwrap();
        }
        for (number, table) in (0..).zip(filter.tables()) {
            assert_eq!(Ok(table.len() as u64), filter.plan().size_bytes_of(number));
        }
        let tables = filter.tables().len();
        assert!(tables > 3 && filter.estimated_rate() > 0.02);
        let before = filter.estimated_keys();
        filter.compact();
        assert!(filter.tables().len() <= tables && filter.estimated_keys() == before);
        let used = filter.tables().flatten().filter(|&&slot| slot != 0).count();
        assert_eq!(used, keys.len());
        assert!(keys.iter().all(|&hash| filter.contains_hash(hash)));
    }
}

#[test]
fn the_estimated_rate_matches_the_measured_one() {
    let mut filter = filter(4096, 4, 50, 2);
    for hash in (0..9_000).map(mixed) {
        filter.try_insert_hash(hash).unwrap();
    }
    let queries = 200_000;
    let absent = (1 << 32..(1 << 32) + queries).map(mixed);
    let wrong = absent.filter(|&hash| filter.contains_hash(hash)).count();
    let measured = wrong as f64 / queries as f64;
    let estimated = filter.estimated_rate();
    println!("measured {measured:.4}, estimated {estimated:.4}");
    assert!((measured / estimated - 1.0).abs() < 0.05);
}

#[test]
fn a_filter_is_rebuilt_from_its_parts_and_invalid_parts_are_rejected() {
    let mut filter = filter(64, 2, 20, 2);
    for hash in (0..300).map(mixed) {
        filter.try_insert_hash(hash).unwrap();
    }
    let plan = *filter.plan();
    let tables: Vec<Vec<u8>> = filter.tables().map(<[u8]>::to_vec).collect();
    let rebuild = |tables| ClassicCuckoo::from_parts(plan, tables, 300, 0);
    assert!(rebuild(tables.clone()).unwrap() == filter);

    let refused = |tables| match rebuild(tables) {
        Err(PlanError::InvalidInteger { field, .. }) => field,
        _ => "nothing",
    };
    assert_eq!(refused(Vec::new()), "tables");
    let mut short = tables.clone();
    short[1].pop();
    assert_eq!(refused(short), "table bytes");
    let fixed = ClassicCuckooPlan::from_buckets(32, 2, 20, 0).unwrap();
    assert!(ClassicCuckoo::from_parts(fixed, tables, 300, 0).is_err());
}

#[test]
fn forged_counts_and_bytes_are_harmless() {
    // Wrong counts, and slots with arbitrary contents.
    for (keys, removed) in [(0, 0), (u64::MAX, u64::MAX), (0, u64::MAX)] {
        let plan = ClassicCuckooPlan::from_buckets(16, 3, 20, 1).unwrap();
        let mut filter =
            ClassicCuckoo::from_parts(plan, vec![vec![0; 48]; 3], keys, removed).unwrap();
        for number in 0..3 {
            let slots = (0..48).map(|at| mixed(at + 100 * number as u64) as u8);
            assert!(filter.overwrite(number, 0, &slots.collect::<Vec<_>>()));
        }
        assert!(!filter.overwrite(3, 0, &[1]));
        for hash in (0..2_000).map(mixed) {
            filter.remove_hash(hash);
            filter.try_insert_hash(hash).unwrap();
            assert!(filter.contains_hash(hash) && filter.count_hash(hash) > 0);
        }
        filter.compact();
        assert_eq!(filter.removed_keys(), 0);
    }
}
