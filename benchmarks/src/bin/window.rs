//! Filters that forget, beside a `Bloom` for the keys of one window: time per lookup and per insert in the steady state, bits per key, and
//! the longest insert.
//!
//! `window [--quick] [--markdown FILE] [KEYS...]`: 1M and 10M keys a window unless given; `--quick` takes 100k keys and fewer rounds.

use mayhap::plan::{WindowCuckooPlan, WindowPlan};
use mayhap::{Bloom, HashScheme, KeyHash, Timestamp, WindowBloom, WindowCuckoo};
use mayhap_benchmarks::clock::cpu_ns;
use mayhap_benchmarks::keys::{Seed, mix};
use mayhap_benchmarks::machine::Machine;
use mayhap_benchmarks::measure::{Contender, alternate};
use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

const RATE: f64 = 0.01;
const QUERIES: u64 = 1 << 16;
const PART: u64 = 1 << 14;
const BATCH: usize = 128;
const SEED: Seed = Seed(1);
const WINDOW_MS: u64 = 1 << 20;

/// A filter that may forget. Times are those of the inserts.
trait Forgets {
    fn insert(&mut self, hash: KeyHash, now: Timestamp);
    fn insert_batch(&mut self, hashes: &[KeyHash], now: Timestamp);
    fn contains(&self, hash: KeyHash) -> bool;
    fn contains_each(&self, hashes: &[KeyHash], found: &mut [bool]);
    fn size_bytes(&self) -> u64;
}

/// Forgets nothing: it gets the keys of one window only.
impl Forgets for Bloom {
    fn insert(&mut self, hash: KeyHash, _now: Timestamp) {
        self.insert_hash(hash);
    }
    fn insert_batch(&mut self, hashes: &[KeyHash], _now: Timestamp) {
        self.insert_hashes(hashes);
    }
    fn contains(&self, hash: KeyHash) -> bool {
        self.contains_hash(hash)
    }
    fn contains_each(&self, hashes: &[KeyHash], found: &mut [bool]) {
        self.contains_hashes(hashes, found);
    }
    fn size_bytes(&self) -> u64 {
        self.size_bytes()
    }
}

macro_rules! forgets {
    ($($filter:ty: $insert:expr, $insert_batch:expr;)*) => {
        $(impl Forgets for $filter {
            fn insert(&mut self, hash: KeyHash, now: Timestamp) {
                let insert: fn(&mut Self, KeyHash, Timestamp) = $insert;
                insert(self, hash, now);
            }
            fn insert_batch(&mut self, hashes: &[KeyHash], now: Timestamp) {
                let insert: fn(&mut Self, &[KeyHash], Timestamp) = $insert_batch;
                insert(self, hashes, now);
            }
            fn contains(&self, hash: KeyHash) -> bool {
                self.contains_hash(hash, self.newest())
            }
            fn contains_each(&self, hashes: &[KeyHash], found: &mut [bool]) {
                self.contains_hashes(hashes, self.newest(), found);
            }
            fn size_bytes(&self) -> u64 {
                self.size_bytes()
            }
        })*
    };
}

forgets! {
    WindowCuckoo: |filter, hash, now| _ = filter.try_insert_hash(hash, now).expect("enough memory"),
        |filter, hashes, now| filter.try_insert_hashes(hashes, now).expect("enough memory");
    WindowBloom: |filter, hash, now| _ = filter.insert_hash(hash, now),
        |filter, hashes, now| filter.insert_hashes(hashes, now);
}

/// A contender: its name, whether it forgets, and an empty filter for a number of keys.
type Empty = fn(u64) -> Box<dyn Forgets>;
const CONTENDERS: [(&str, bool, Empty); 3] = [
    ("`Bloom` of one window", false, |keys| {
        Box::new(Bloom::for_hashes(keys as usize, RATE).expect("enough memory"))
    }),
    ("`WindowCuckoo`", true, |keys| {
        let window = Duration::from_millis(WINDOW_MS);
        let plan = WindowCuckooPlan::new(keys, RATE, window).expect("a valid plan");
        let filter = WindowCuckoo::from_plan(plan, HashScheme::Caller, Timestamp(0));
        Box::new(filter.expect("enough memory"))
    }),
    ("`WindowBloom`", true, |keys| {
        let window = Duration::from_millis(WINDOW_MS);
        let plan = WindowPlan::new(keys, RATE, window).expect("a valid plan");
        let filter = WindowBloom::from_plan(plan, HashScheme::Caller, Timestamp(0));
        Box::new(filter.expect("enough memory"))
    }),
];

/// What filling a filter showed.
struct Filled {
    filter: Box<dyn Forgets>,
    /// Nanoseconds per insert in the second window, one by one and in batches.
    insert: f64,
    insert_batch: f64,
    longest_ms: f64,
}

fn main() {
    let (mut sizes, mut page, mut rounds) = (Vec::new(), None, 15);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => {
                rounds = 3;
                sizes.push(100_000);
            }
            "--markdown" => page = Some(arguments.next().expect("a file after --markdown")),
            keys => sizes.push(keys.parse().expect("a number of keys")),
        }
    }
    if sizes.is_empty() {
        sizes = vec![1_000_000, 10_000_000];
    }
    let machine = Machine::look(1, rounds);
    let mut out = String::new();
    let kernel = mayhap::Kernel::best();
    writeln!(
        out,
        "# Filters that forget\n\n{}, {}\n{}\nmayhap's kernel: {kernel}\n\n\
         ns of CPU time per key at 1 %, and the ratio to the first row. Lookups: the least of {rounds} rounds in which the filters take \
         turns. Inserts: the mean over the second window, part by part in turns, one by one and in batches of {BATCH}. Bits per key are \
         those of a window. The longest insert includes pages that the system had to clear. `make bench-window` writes this page.",
        machine.date, machine.rustc, machine.cpu
    )
    .expect("writing to a string");
    for keys in sizes {
        table(keys, rounds, &mut out);
    }
    print!("{out}");
    if let Some(page) = page {
        std::fs::write(page, out).expect("the page can be written");
    }
}

fn table(keys: u64, rounds: usize, out: &mut String) {
    let filled = fill(keys);
    let [strangers, members] =
        [false, true].map(|are_keys| lookups(&filled, keys, are_keys, rounds));
    let row = "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |";
    writeln!(
        out,
        "\n## {keys} keys a window\n\n| | batch, strangers | batch, keys | single, strangers | single, keys | bits per key | insert | batch insert | longest |\n{row}"
    )
    .expect("writing to a string");
    for (at, (name, ..)) in CONTENDERS.iter().enumerate() {
        let times = |at: usize| {
            [
                strangers[at][0],
                members[at][0],
                strangers[at][1],
                members[at][1],
            ]
        };
        write!(out, "| {name} |").expect("writing to a string");
        for (time, first) in times(at).iter().zip(times(0)) {
            write!(out, " {time:.1} ({:.2}x) |", time / first).expect("writing to a string");
        }
        let filled = &filled[at];
        let bits = 8.0 * filled.filter.size_bytes() as f64 / keys as f64;
        writeln!(
            out,
            " {bits:.1} | {:.0} | {:.0} | {:.1} ms |",
            filled.insert, filled.insert_batch, filled.longest_ms
        )
        .expect("writing to a string");
    }
}

/// Two windows of keys, evenly spread over time.
fn fill(keys: u64) -> Vec<Filled> {
    let empty = |empty: Empty| Filled {
        filter: empty(keys),
        insert: 0.0,
        insert_batch: 0.0,
        longest_ms: 0.0,
    };
    let mut filled: Vec<Filled> = CONTENDERS.map(|(_, _, make)| empty(make)).into();
    let mut batched: Vec<Filled> = CONTENDERS.map(|(_, _, make)| empty(make)).into();
    let time =
        |at: u64| Timestamp((u128::from(at) * u128::from(WINDOW_MS) / u128::from(keys)) as u64);
    let mut timed = [0_u64; 2];
    for from in (0..2 * keys).step_by(PART as usize) {
        let to = (2 * keys).min(from + PART);
        let part: Vec<_> = (from..to).map(|at| (SEED.key(at), time(at))).collect();
        let hashes: Vec<_> = part.iter().map(|part| part.0).collect();
        let is_second = to > keys;
        // Most parts are timed as a whole, and some insert by insert: the clock takes as long as an insert.
        let one_by_one = from / PART % 8 == 7;
        timed[0] += if is_second && !one_by_one {
            to - from
        } else {
            0
        };
        timed[1] += if is_second { to - from } else { 0 };
        for (at, (_, forgets, _)) in CONTENDERS.iter().enumerate() {
            if !forgets && !is_second {
                continue;
            }
            let (single, batch) = (&mut filled[at], &mut batched[at]);
            if one_by_one {
                for &(hash, now) in &part {
                    let ns = cpu_ns(|| single.filter.insert(hash, now));
                    single.longest_ms = single.longest_ms.max(ns / 1e6);
                }
            } else {
                let filter = &mut single.filter;
                let ns = cpu_ns(|| {
                    part.iter()
                        .for_each(|&(hash, now)| filter.insert(hash, now))
                });
                single.insert += if is_second { ns } else { 0.0 };
            }
            let filter = &mut batch.filter;
            let ns = cpu_ns(|| {
                for (number, hashes) in hashes.chunks(BATCH).enumerate() {
                    filter.insert_batch(hashes, part[number * BATCH].1);
                }
            });
            batch.insert_batch += if is_second { ns } else { 0.0 };
        }
    }
    for (single, batch) in filled.iter_mut().zip(batched) {
        single.insert /= timed[0] as f64;
        single.insert_batch = batch.insert_batch / timed[1] as f64;
    }
    filled
}

/// Nanoseconds per lookup of every filter, in batches and one by one: of keys of the last window, or of strangers.
fn lookups(filled: &[Filled], keys: u64, are_keys: bool, rounds: usize) -> Vec<[f64; 2]> {
    // Batches and single calls ask for different keys: otherwise the second finds in cache what the first has read.
    let asked = |round: usize, is_batch: bool| -> Vec<KeyHash> {
        let from = (2 * round as u64 + u64::from(is_batch)) * QUERIES;
        let ask = |at| {
            if are_keys {
                SEED.key(keys + mix(at) % keys)
            } else {
                SEED.stranger(at)
            }
        };
        (from..from + QUERIES).map(ask).collect()
    };
    let turn = |round: usize, filter: &dyn Forgets, is_batch: bool| {
        let asked = asked(round, is_batch);
        let mut found = vec![false; asked.len()];
        let ns = cpu_ns(|| {
            if is_batch {
                filter.contains_each(black_box(&asked), black_box(&mut found));
            } else {
                for (found, &hash) in found.iter_mut().zip(black_box(&asked)) {
                    *found = filter.contains(hash);
                }
            }
        });
        let yes = found.iter().filter(|&&found| found).count() as u64;
        if are_keys {
            assert_eq!(yes, QUERIES, "a key was not found");
        } else {
            assert!(yes < QUERIES / 50, "{yes} of {QUERIES} strangers found");
        }
        ns / QUERIES as f64
    };
    let mut contenders: Vec<Contender<'_>> = filled
        .iter()
        .flat_map(|filled| [true, false].map(|is_batch| (&*filled.filter, is_batch)))
        .map(|(filter, is_batch)| Contender::new("", move |round| turn(round, filter, is_batch)))
        .collect();
    let least = alternate(rounds, &mut contenders);
    least.chunks(2).map(|pair| [pair[0], pair[1]]).collect()
}
