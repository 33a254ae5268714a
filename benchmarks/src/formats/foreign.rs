//! Filters of other systems, asked by their own hashes. All have ten bits a key and seven probes, or as many as the layout needs,
//! so that the figures differ by hash and walk alone.

use super::{Scale, header, ratio, row};
use crate::clock::cpu_ns;
use crate::keys::mix;
use crate::measure::{Contender, alternate};
use crate::report::Table;
use mayhap::plan::classic::ClassicPlan;
use mayhap::{ClassicBloom, HashScheme, Scheme};
use mayhap_codec::rocksdb;
use std::hint::black_box;

const QUERIES: u64 = 1 << 17;
const BITS_A_KEY: u64 = 10;

const SCHEMES: [(&str, Scheme, u32); 16] = [
    ("Guava, MITZ_32", Scheme::GuavaMitz32, 7),
    ("Guava, MITZ_64", Scheme::GuavaMitz64, 7),
    ("Hadoop, murmur", Scheme::HadoopMurmur, 7),
    ("Hadoop, jenkins", Scheme::HadoopJenkins, 7),
    ("Spark, version 1", Scheme::SparkV1, 7),
    ("Spark, version 2", Scheme::SparkV2 { seed: 0 }, 7),
    ("ClickHouse, bloom_filter", Scheme::ClickHouse, 7),
    (
        "ClickHouse, tokenbf_v1",
        Scheme::ClickHouseTerms { seed: 0 },
        7,
    ),
    ("LevelDB", Scheme::LevelDb, 7),
    ("RocksDB", Scheme::RocksDb, 7),
    ("RocksDB, before version 5", Scheme::RocksDbLegacy, 7),
    ("Parquet", Scheme::Parquet, 8),
    ("RedisBloom", Scheme::RedisBloom, 7),
    ("RedisBloom, 32 bits", Scheme::RedisBloom32, 7),
    ("BIP 37", Scheme::Bip37 { tweak: 0 }, 7),
    (
        "mayhap, classic, beside them",
        Scheme::EnhancedDoubleHashing,
        7,
    ),
];

type Key = [u8; 16];

fn key(at: u64) -> Key {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&mix(at).to_le_bytes());
    key[8..].copy_from_slice(&mix(!at).to_le_bytes());
    key
}

/// Every second one is a key; which, changes from round to round.
fn questions(keys: u64, round: usize) -> Vec<Key> {
    let first = round as u64 * QUERIES;
    (first..first + QUERIES)
        .map(|at| match at % 2 {
            0 => key(mix(at) % keys),
            _ => key(keys + at),
        })
        .collect()
}

pub(super) fn table(scale: &Scale) -> Table {
    let mut table = header(&["", "one by one", "in a batch", "ratio"]);
    for (name, scheme, probes) in SCHEMES {
        table.push(classic_row(name, scheme, probes, scale));
    }
    table.push(ribbon_row(scale));
    table
}

fn classic_row(name: &str, scheme: Scheme, probes: u32, scale: &Scale) -> Vec<String> {
    let bits = (BITS_A_KEY * scale.keys).next_multiple_of(512);
    let plan = ClassicPlan::with_bits_and_probes(bits, probes).expect("a filter that can be");
    let hash_scheme = if scheme.is_native() {
        HashScheme::Xxh3
    } else {
        HashScheme::Caller
    };
    let mut filter =
        ClassicBloom::from_plan(plan, scheme, hash_scheme).expect("a filter that fits memory");
    filter.extend((0..scale.keys).map(key));
    let ask = |round: usize, way: &dyn Fn(&[Key], &mut [bool])| {
        let asked = questions(scale.keys, round);
        let mut found = vec![false; asked.len()];
        let ns = cpu_ns(|| way(black_box(&asked), black_box(&mut found)));
        check(name, &found);
        ns
    };
    let mut contenders = [
        Contender::new("one by one", |round| {
            ask(round, &|asked, found| {
                for (found, key) in found.iter_mut().zip(asked) {
                    *found = filter.contains(key);
                }
            })
        }),
        Contender::new("batch", |round| {
            ask(round, &|asked, found| filter.contains_each(asked, found))
        }),
    ];
    let least = alternate(3 * scale.rounds, &mut contenders);
    let [single, batch] = [0, 1].map(|at| least[at] / QUERIES as f64);
    row(&[
        name,
        &format!("{single:.1}"),
        &format!("{batch:.1}"),
        &ratio(single, batch),
    ])
}

/// All keys are in, and few strangers.
fn check(name: &str, found: &[bool]) {
    let keys = found.iter().step_by(2).all(|&found| found);
    let strangers = found.iter().skip(1).step_by(2);
    let wrong = strangers.filter(|&&found| found).count();
    assert!(keys, "{name}: a key was not found");
    assert!(wrong < found.len() / 40, "{name}: {wrong} strangers found");
}

/// RocksDB builds ribbons and we do not; but a ribbon of any bits takes as long to ask.
fn ribbon_row(scale: &Scale) -> Vec<String> {
    let (columns, slots) = (7, 128);
    let blocks = (scale.keys * 105 / 100).div_ceil(slots);
    let words = super::random_words((blocks * columns * 2) as usize);
    let mut block: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    block.extend_from_slice(&[0xfe, 0]);
    block.extend_from_slice(&(blocks as u32).to_le_bytes()[..3]);
    let filter = match rocksdb::decode(&block) {
        Ok(rocksdb::Filter::Ribbon(filter)) => filter,
        other => panic!("a ribbon, not {other:?}"),
    };
    let mut contenders = [Contender::new("one by one", |round| {
        let asked = questions(scale.keys, round);
        let mut yes = 0;
        let ns = cpu_ns(|| {
            yes = black_box(&asked)
                .iter()
                .filter(|key| filter.contains(key))
                .count()
        });
        assert!(yes < asked.len() / 40, "random bits hold no keys");
        ns
    })];
    let least = alternate(3 * scale.rounds, &mut contenders);
    let single = format!("{:.1}", least[0] / QUERIES as f64);
    row(&["RocksDB, ribbon, all strangers", &single, "", ""])
}
