//! Our own files on a disk: saved, opened, mapped, verified, and asked where they lie.

use super::{Scale, carry, header, random_words, ratio, row, speed};
use crate::clock::cpu_ns;
use crate::keys::{Seed, hashed};
use crate::measure::{Contender, alternate};
use crate::report::Table;
use mayhap::{AnyFilter, Bloom, GrowingBloom, KeyHash};
use mayhap_codec::Limits;
use mayhap_codec::native::{self, Verify, View};
use std::fs;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

/// A file that is gone in the end.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let name = format!("mayhap-bench-{}-{name}.mayhap", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        _ = fs::remove_file(&self.0);
    }
}

pub(super) fn file_table(scale: &Scale) -> Table {
    let words = random_words((scale.file_bytes / 64 * 8) as usize);
    let filter = AnyFilter::from(carry::native_bloom(&words));
    drop(words);
    let file = Temporary::new("file");
    let path = &file.0;
    // Once: it waits for the disk.
    let save = wall(|| native::save(path, &filter).expect("room on the disk"));
    let bytes = fs::metadata(path).expect("a file").len() as usize;
    let map = |verify| native::map(path, verify, None).expect("a file that was just saved");
    let limits = Limits::default();
    let opened: AnyFilter = native::load(path).expect("a file that was just saved");
    assert!(opened == filter, "what was saved is opened");
    drop(opened);
    assert!(map(Verify::Full).read(limits) == Ok(filter));

    let mapped = map(Verify::Header);
    let asked = Seed(1).key(0);
    let mut contenders = [
        Contender::new("map", |_| wall(|| map(Verify::Header))),
        Contender::new("map and ask", |_| {
            wall(|| {
                let lazy = map(Verify::Lazy);
                lazy.try_contains("a key").expect("a page that is whole")
            })
        }),
        Contender::new("map and verify", |_| wall(|| map(Verify::Full))),
        Contender::new("verify", |_| {
            wall(|| mapped.verify().expect("a file that is whole"))
        }),
        Contender::new("open", |_| {
            wall(|| native::load::<AnyFilter>(path).expect("a file that is whole"))
        }),
    ];
    let least = alternate(scale.rounds.min(5), &mut contenders);
    drop(contenders);
    black_box((mapped, asked));
    let mut table = header(&["", "ms", "GB/s"]);
    let mut add = |name: &str, ns: f64, speed: &str| {
        table.push(row(&[name, &format!("{:.3}", ns / 1e6), speed]));
    };
    add("map, header and table verified", least[0], "");
    add("map, one question, its page verified", least[1], "");
    add("map, all pages verified", least[2], &speed(bytes, least[2]));
    add(
        "verify what is mapped already",
        least[3],
        &speed(bytes, least[3]),
    );
    add(
        "open: read, verify, copy",
        least[4],
        &speed(bytes, least[4]),
    );
    add("save, with fsync, once", save, &speed(bytes, save));
    table
}

fn wall<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    let made = black_box(work());
    let ns = start.elapsed().as_nanos() as f64;
    drop(made);
    ns
}

pub(super) fn view_table(scale: &Scale) -> Table {
    let mut table = header(&[
        "", "keys", "memory", "view", "ratio", "`Mapped`", "ratio", "lazy", "ratio",
    ]);
    for keys in [scale.keys / 100, scale.keys] {
        let mut bloom = Bloom::for_hashes(keys as usize, 0.01).expect("a filter that fits memory");
        let mut growing =
            GrowingBloom::for_hashes((keys / 4) as usize, 0.01).expect("a filter that fits memory");
        for from in (0..keys).step_by(1 << 16) {
            let part: Vec<_> = (from..keys.min(from + (1 << 16)))
                .map(|at| Seed(1).key(at))
                .collect();
            bloom.insert_hashes(&part);
            growing.insert_hashes(&part);
        }
        ask("Bloom", &bloom.into(), keys, scale.rounds, &mut table);
        ask(
            "GrowingBloom",
            &growing.into(),
            keys,
            scale.rounds,
            &mut table,
        );
    }
    table
}

/// A way to ask about many hashes.
type Way<'a> = (&'static str, Box<dyn Fn(&[KeyHash], &mut [bool]) + 'a>);

/// One by one and in a batch, of whatever can be asked so.
macro_rules! ways {
    ($filter:expr) => {
        [
            one_by_one(|hash| $filter.contains_hash(hash)),
            (
                "batch",
                Box::new(|hashes: &[KeyHash], found: &mut [bool]| {
                    $filter.contains_hashes(hashes, found);
                }) as Box<dyn Fn(&[KeyHash], &mut [bool]) + '_>,
            ),
        ]
    };
}

fn ask(name: &str, filter: &AnyFilter, keys: u64, rounds: usize, table: &mut Table) {
    let file = Temporary::new(name);
    native::save(&file.0, filter).expect("room on the disk");
    let map = |verify| native::map(&file.0, verify, None).expect("a file that was just saved");
    let (full, lazy) = (map(Verify::Full), map(Verify::Lazy));
    let view = full.view().expect("a kind that is asked in place");
    let (memory, view): ([Way; 2], [Way; 2]) = match (filter, view) {
        (AnyFilter::Bloom(memory), View::Bloom(view)) => (ways!(memory), ways!(view)),
        (AnyFilter::Growing(memory), View::Growing(view)) => (ways!(memory), ways!(view)),
        other => panic!("one kind twice, not {other:?}"),
    };
    let mapped: [Way; 2] = ways!(full);
    let watched: [Way; 2] = ways!(lazy);
    let ways: Vec<Way> = memory
        .into_iter()
        .chain(view)
        .chain(mapped)
        .chain(watched)
        .collect();
    let queries = hashed(Seed(1), keys, 1 << 18);
    let mut expected = vec![false; queries.asked.len()];
    filter.contains_hashes(&queries.asked, &mut expected);
    let mut contenders: Vec<_> = ways
        .iter()
        .map(|(name, way)| {
            Contender::new(name, |_| {
                let mut found = vec![false; queries.asked.len()];
                let ns = cpu_ns(|| way(black_box(&queries.asked), black_box(&mut found)));
                assert!(found == expected, "a file answers as its filter");
                ns
            })
        })
        .collect();
    let least = alternate(3 * rounds, &mut contenders);
    let ns = |at: usize| least[at] / queries.asked.len() as f64;
    for (at, way) in ["one by one", "in a batch"].into_iter().enumerate() {
        let memory = ns(at);
        let mut cells = row(&[
            &format!("{name}, {way}"),
            &keys.to_string(),
            &format!("{memory:.2}"),
        ]);
        for at in [2 + at, 4 + at, 6 + at] {
            cells.push(format!("{:.2}", ns(at)));
            cells.push(ratio(ns(at), memory));
        }
        table.push(cells);
    }
}

fn one_by_one<'a>(contains: impl Fn(KeyHash) -> bool + 'a) -> Way<'a> {
    let way = move |hashes: &[KeyHash], found: &mut [bool]| {
        for (found, &hash) in found.iter_mut().zip(hashes) {
            *found = contains(hash);
        }
    };
    ("one by one", Box::new(way))
}
