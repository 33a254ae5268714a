//! Filters that grow, beside a `Bloom` of the right size, and filters that count: time per lookup, bits per key at every size, and time per
//! insert.
//!
//! `growing [--quick] [--fills N] [--markdown FILE] [KEYS...]`: 1M and 10M keys unless given; `--quick` takes 100k keys and fewer rounds.

use mayhap::plan::GrowingCuckooPlan;
use mayhap::{
    Bloom, CountingBloom, CountingCuckoo, GrowingBloom, GrowingCuckoo, HashScheme, KeyHash,
};
use mayhap_benchmarks::clock::cpu_ns;
use mayhap_benchmarks::huge_pages;
use mayhap_benchmarks::keys::{Seed, mix};
use mayhap_benchmarks::machine::Machine;
use mayhap_benchmarks::measure::{Contender, alternate};
use std::fmt::Write;
use std::hint::black_box;

const RATE: f64 = 0.01;
const QUERIES: u64 = 1 << 16;
const PART: u64 = 1 << 14;
const SEED: Seed = Seed(1);
/// What people give who do not know better.
const GUESS: usize = 100;

/// A filter that grows.
trait Grows {
    fn insert(&mut self, hash: KeyHash);
    fn contains(&self, hash: KeyHash) -> bool;
    fn contains_each(&self, hashes: &[KeyHash], found: &mut [bool]);
    fn size_bytes(&self) -> u64;
}

macro_rules! grows {
    ($($filter:ty: $insert:expr),*) => {
        $(impl Grows for $filter {
            fn insert(&mut self, hash: KeyHash) {
                let insert: fn(&mut Self, KeyHash) = $insert;
                insert(self, hash);
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
        })*
    };
}

grows! {
    Bloom: |filter, hash| _ = filter.insert_hash(hash),
    GrowingBloom: |filter, hash| _ = filter.insert_hash(hash),
    GrowingCuckoo: |filter, hash| _ = filter.insert_hash_if_absent(hash).expect("enough memory"),
    CountingBloom: |filter, hash| _ = filter.insert_hash(hash),
    CountingCuckoo: |filter, hash| _ = filter.try_insert_hash(hash).expect("enough memory")
}

/// A contender: its name, and an empty filter for a number of keys.
type Empty = fn(u64) -> Box<dyn Grows>;

/// The first row is the measure of the others.
const GROWING: [(&str, Empty); 5] = [
    ("`Bloom` of the right size", |keys| {
        Box::new(Bloom::for_hashes(keys as usize, RATE).expect("enough memory"))
    }),
    ("`GrowingCuckoo` with a maximum", |keys| {
        let plan = GrowingCuckooPlan::with_maximum(keys, RATE).expect("a valid plan");
        Box::new(GrowingCuckoo::from_plan(plan, HashScheme::Caller).expect("enough memory"))
    }),
    ("`GrowingCuckoo` without", |_| {
        Box::new(GrowingCuckoo::for_hashes(GUESS, RATE).expect("enough memory"))
    }),
    ("`GrowingBloom` from 100 keys", |_| {
        Box::new(GrowingBloom::for_hashes(GUESS, RATE).expect("enough memory"))
    }),
    ("`GrowingBloom` from a sixteenth", |keys| {
        let first = keys.div_ceil(16) as usize;
        Box::new(GrowingBloom::for_hashes(first, RATE).expect("enough memory"))
    }),
];

/// Filters that count.
const COUNTING: [(&str, Empty); 3] = [
    ("`CountingBloom` of the right size", |keys| {
        Box::new(CountingBloom::for_hashes(keys as usize, RATE).expect("enough memory"))
    }),
    ("`CountingCuckoo` with a maximum", |keys| {
        let plan = GrowingCuckooPlan::with_maximum(keys, RATE).expect("a valid plan");
        Box::new(CountingCuckoo::from_plan(plan, HashScheme::Caller).expect("enough memory"))
    }),
    ("`CountingCuckoo` without", |_| {
        Box::new(CountingCuckoo::for_hashes(GUESS, RATE).expect("enough memory"))
    }),
];

/// What filling a filter showed.
struct Filled {
    filter: Box<dyn Grows>,
    /// Nanoseconds per insert, one by one.
    insert: f64,
    /// Bits per key in the last decade, each size as important as its double, and at the worst size.
    mean: f64,
    worst: f64,
    longest_ms: f64,
}

fn main() {
    let (mut sizes, mut page, mut rounds, mut fills) = (Vec::new(), None, 15, 5);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => {
                (rounds, fills) = (3, 1);
                sizes.push(100_000);
            }
            "--fills" => {
                let number = arguments.next().and_then(|number| number.parse().ok());
                fills = number.expect("a number after --fills");
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
        "# Filters that grow\n\n{}, {}\n{}\nmayhap's kernel: {kernel}\n\n\
         ns of CPU time per key at 1 %, the least of {rounds} rounds ({fills} fills for inserts) in which the filters take turns, and the \
         ratio to the first row of the table. Bits per key are those in memory after all keys, on average over the last decade, and at the worst size in \
         it. The longest insert: of each insert the least time in all fills, and of these the longest, without huge pages, because \
         the system takes milliseconds to clear one. `make bench-growing` writes this page.",
        machine.date, machine.rustc, machine.cpu
    )
    .expect("writing to a string");
    for keys in sizes {
        writeln!(out, "\n## {keys} keys").expect("writing to a string");
        for contenders in [GROWING.as_slice(), &COUNTING] {
            table(contenders, keys, rounds, fills, &mut out);
        }
    }
    print!("{out}");
    if let Some(page) = page {
        std::fs::write(page, out).expect("the page can be written");
    }
}

fn table(contenders: &[(&str, Empty)], keys: u64, rounds: usize, fills: usize, out: &mut String) {
    let empties = contenders.iter().map(|contender| contender.1);
    let mut filled: Vec<Filled> = empties.clone().map(|empty| fill(empty, keys)).collect();
    for _ in 1..fills {
        for (filled, empty) in filled.iter_mut().zip(empties.clone()) {
            let again = fill(empty, keys);
            filled.insert = filled.insert.min(again.insert);
        }
    }
    for (filled, empty) in filled.iter_mut().zip(empties) {
        huge_pages::without(|| filled.longest_ms = longest_ms(empty, keys, fills));
    }
    let [strangers, members] = [None, Some(keys)].map(|keys| lookups(&filled, keys, rounds));
    let row = "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |";
    writeln!(
        out,
        "\n| | batch, strangers | batch, keys | single, strangers | single, keys | bits per key: now, mean, worst | insert | longest |\n{row}"
    )
    .expect("writing to a string");
    for (at, (name, _)) in contenders.iter().enumerate() {
        let times = [
            strangers[at][0],
            members[at][0],
            strangers[at][1],
            members[at][1],
        ];
        let first = [
            strangers[0][0],
            members[0][0],
            strangers[0][1],
            members[0][1],
        ];
        write!(out, "| {name} |").expect("writing to a string");
        for (time, first) in times.iter().zip(first) {
            write!(out, " {time:.1} ({:.2}x) |", time / first).expect("writing to a string");
        }
        let filled = &filled[at];
        let bits = 8.0 * filled.filter.size_bytes() as f64 / keys as f64;
        writeln!(
            out,
            " {bits:.1}, {:.1}, {:.1} | {:.0} | {:.1} ms |",
            filled.mean, filled.worst, filled.insert, filled.longest_ms
        )
        .expect("writing to a string");
    }
}

fn fill(empty: Empty, keys: u64) -> Filled {
    let mut filter = empty(keys);
    let (mut ns, mut sum, mut worst) = (0.0, 0.0, 0.0_f64);
    for from in (0..keys).step_by(PART as usize) {
        let to = keys.min(from + PART);
        let part: Vec<_> = (from..to).map(|at| SEED.key(at)).collect();
        ns += cpu_ns(|| part.iter().for_each(|&hash| filter.insert(hash)));
    }
    let insert = ns / keys as f64;
    let mut sized = empty(keys);
    let mut weights = 0.0;
    for at in 0..keys {
        sized.insert(SEED.key(at));
        if at >= keys / 10 && at % 4096 == 0 {
            let bits = 8.0 * sized.size_bytes() as f64 / at as f64;
            sum += bits / at as f64;
            weights += 1.0 / at as f64;
            worst = worst.max(bits);
        }
    }
    Filled {
        filter,
        insert,
        mean: sum / weights,
        worst,
        longest_ms: 0.0,
    }
}

/// Milliseconds of the insert that takes longest, each in the fill in which it takes least: every fill does the same work.
fn longest_ms(empty: Empty, keys: u64, fills: usize) -> f64 {
    let mut least_ns = vec![f32::MAX; keys as usize];
    for _ in 0..fills {
        let mut filter = empty(keys);
        for (at, least_ns) in (0..).zip(&mut least_ns) {
            let hash = SEED.key(at);
            *least_ns = least_ns.min(cpu_ns(|| filter.insert(hash)) as f32);
        }
    }
    f64::from(least_ns.iter().copied().fold(0.0, f32::max)) / 1e6
}

/// Nanoseconds per lookup of every filter, in batches and one by one: of so many keys, or of strangers.
fn lookups(filled: &[Filled], keys: Option<u64>, rounds: usize) -> Vec<[f64; 2]> {
    // Batches and single calls ask for different keys: otherwise the second finds in cache what the first has read.
    let asked = |round: usize, is_batch: bool| -> Vec<KeyHash> {
        let from = (2 * round as u64 + u64::from(is_batch)) * QUERIES;
        let ask = |at| match keys {
            Some(keys) => SEED.key(mix(at) % keys),
            None => SEED.stranger(at),
        };
        (from..from + QUERIES).map(ask).collect()
    };
    let turn = |round: usize, filter: &dyn Grows, is_batch: bool| {
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
        match keys {
            Some(_) => assert_eq!(yes, QUERIES, "a key was not found"),
            None => assert!(yes < QUERIES / 50, "{yes} of {QUERIES} strangers found"),
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
