//! Batches beside single calls, for every kind: lookups of keys and of strangers, by hash and by key, and inserts. Then the batches
//! of `Cuckoo` beside those of `Bloom`.
//!
//! `batches [--quick] [--markdown FILE] [KEYS...]`: 10k, 100k, 1M and 10M keys unless given; `--quick` takes 10k and 1M keys and
//! fewer rounds. A case is marked if its batch takes more than 1.05 times as long as the single calls.

use mayhap::plan::WindowPlan;
use mayhap::{
    Bloom, ClassicBloom, CountingBloom, Cuckoo, Fuse, GrowingBloom, HashScheme, KeyHash, Ribbon,
    SharedBloom, Timestamp, WindowBloom,
};
use mayhap_benchmarks::clock::cpu_ns;
use mayhap_benchmarks::keys::mix;
use mayhap_benchmarks::machine::Machine;
use mayhap_benchmarks::measure::{Contender, alternate};
use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

const RATE: f64 = 0.01;
/// Slower than single calls by more than this is marked.
const TOLERANCE: f64 = 1.05;
/// Queries of a turn. Every turn has its own, so that none finds the lines of another in the cache.
const QUERIES: usize = 1 << 14;
/// Keys that are inserted in one turn.
const PART: usize = 1 << 14;
/// Growing kinds begin with room for this share of the keys.
const FIRST_PART: usize = 16;
const NOW: Timestamp = Timestamp(1_000_000);
const WINDOW: Duration = Duration::from_secs(60);

#[derive(Clone, Copy)]
struct Rounds {
    lookups: usize,
    inserts: usize,
}

fn main() {
    let mut sizes = Vec::new();
    let mut page = None;
    let mut rounds = Rounds {
        lookups: 41,
        inserts: 5,
    };
    let mut arguments = std::env::args().skip(1);
    let mut is_quick = false;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => is_quick = true,
            "--markdown" => page = Some(arguments.next().expect("a file after --markdown")),
            keys => sizes.push(keys.parse().expect("a number of keys")),
        }
    }
    if is_quick {
        rounds = Rounds {
            lookups: 7,
            inserts: 5,
        };
    }
    if sizes.is_empty() {
        sizes = if is_quick {
            vec![10_000, 1_000_000]
        } else {
            vec![10_000, 100_000, 1_000_000, 10_000_000]
        };
    }
    let mut report = Report::default();
    for &keys in &sizes {
        lookups(keys, rounds.lookups, &mut report);
        inserts(keys, rounds.inserts, &mut report);
    }
    let large = sizes.iter().copied().filter(|&keys| keys >= 1_000_000);
    for keys in large.chain((!is_quick).then_some(100_000_000)) {
        cuckoo_beside_bloom(keys, rounds.lookups, &mut report);
    }
    let text = report.text(&sizes, rounds);
    println!("{text}");
    if let Some(path) = page {
        std::fs::write(path, text).expect("the page is written");
    }
}

/// Key number `at`; strangers have numbers from the number of keys on.
fn key(at: u64) -> u64 {
    mix(at)
}

/// How a filter answers many keys.
type Lookup<'a, K> = Box<dyn Fn(&[K], &mut [bool]) + 'a>;

/// The calls of one kind.
struct Calls<'a> {
    kind: &'static str,
    single: Lookup<'a, KeyHash>,
    batch: Lookup<'a, KeyHash>,
    single_keys: Lookup<'a, u64>,
    batch_keys: Lookup<'a, u64>,
}

/// The calls of a filter; `now` is an argument of `WindowBloom` alone. A macro, because the kinds share no trait for hashes.
macro_rules! calls {
    ($kind:literal, $filter:expr $(, $now:expr)?) => {
        Calls {
            kind: $kind,
            single: Box::new(|hashes, found| {
                for (found, &hash) in found.iter_mut().zip(hashes) {
                    *found = $filter.contains_hash(hash $(, $now)?);
                }
            }),
            batch: Box::new(|hashes, found| $filter.contains_hashes(hashes $(, $now)?, found)),
            single_keys: Box::new(|keys, found| {
                for (found, key) in found.iter_mut().zip(keys) {
                    *found = $filter.contains(key $(, $now)?);
                }
            }),
            batch_keys: Box::new(|keys, found| $filter.contains_each(keys $(, $now)?, found)),
        }
    };
}

fn lookups(keys: usize, rounds: usize, report: &mut Report) {
    let all: Vec<u64> = (0..keys as u64).map(key).collect();
    let first = keys.div_ceil(FIRST_PART);
    let fits = "a filter that fits memory";
    {
        let mut bloom = Bloom::new(keys, RATE).expect(fits);
        bloom.extend(&all);
        measure(keys, rounds, report, &calls!("`Bloom`", bloom));
        let mut strict = Bloom::new(keys, RATE / 10.0).expect(fits);
        strict.extend(&all);
        measure(keys, rounds, report, &calls!("`Bloom`, 0.1 %", strict));
    }
    {
        let shared = SharedBloom::new(keys, RATE).expect(fits);
        shared.extend(&all);
        measure(keys, rounds, report, &calls!("`SharedBloom`", shared));
    }
    {
        let mut classic = ClassicBloom::new(keys, RATE).expect(fits);
        classic.extend(&all);
        measure(keys, rounds, report, &calls!("`ClassicBloom`", classic));
        let mut counting = CountingBloom::new(keys, RATE).expect(fits);
        counting.extend(&all);
        measure(keys, rounds, report, &calls!("`CountingBloom`", counting));
    }
    {
        let mut growing = GrowingBloom::new(first, RATE).expect(fits);
        growing.extend(&all);
        measure(keys, rounds, report, &calls!("`GrowingBloom`", growing));
        let mut window = window(keys, HashScheme::Xxh3);
        let end = Timestamp(NOW.0 + WINDOW.as_millis() as u64 - 1);
        for (at, &key) in all.iter().enumerate() {
            let passed = at as u64 * (end.0 - NOW.0) / keys as u64;
            window.insert(key, Timestamp(NOW.0 + passed));
        }
        measure(keys, rounds, report, &calls!("`WindowBloom`", window, end));
    }
    {
        let mut cuckoo = Cuckoo::new(keys, RATE).expect(fits);
        let mut chain = Cuckoo::growing(first, RATE).expect(fits);
        for &key in &all {
            cuckoo.try_insert(key).expect("room for all keys");
            chain.try_insert(key).expect("room for all keys");
        }
        measure(keys, rounds, report, &calls!("`Cuckoo`", cuckoo));
        measure(keys, rounds, report, &calls!("`Cuckoo`, growing", chain));
    }
    {
        let fuse = Fuse::build(&all, RATE).expect(fits);
        measure(keys, rounds, report, &calls!("`Fuse`", fuse));
        let ribbon = Ribbon::build(&all, RATE).expect(fits);
        measure(keys, rounds, report, &calls!("`Ribbon`", ribbon));
    }
}

fn window(keys: usize, scheme: HashScheme) -> WindowBloom {
    let plan = WindowPlan::new(keys as u64, RATE, WINDOW).expect("a window");
    WindowBloom::from_plan(plan, scheme, NOW).expect("a filter that fits memory")
}

/// Adds the rows of one filter to the report.
fn measure(keys: usize, rounds: usize, report: &mut Report, calls: &Calls) {
    for asked in [Asked::Strangers, Asked::Keys] {
        let turn = |number: usize| asked.queries(keys, number);
        let by_hash = |number: usize, work: &Lookup<KeyHash>| {
            let hashes: Vec<_> = turn(number)
                .iter()
                .map(|key| HashScheme::Xxh3.hash(key))
                .collect();
            asked.time(&hashes, work)
        };
        let by_key = |number: usize, work: &Lookup<u64>| asked.time(&turn(number), work);
        let mut contenders = [
            Contender::new("single", |round| by_hash(4 * round, &calls.single)),
            Contender::new("batch", |round| by_hash(4 * round + 1, &calls.batch)),
            Contender::new("single keys", |round| {
                by_key(4 * round + 2, &calls.single_keys)
            }),
            Contender::new("batch keys", |round| {
                by_key(4 * round + 3, &calls.batch_keys)
            }),
        ];
        let [single, batch, single_keys, batch_keys] = *alternate(rounds, &mut contenders) else {
            unreachable!("four contenders")
        };
        report.add(calls.kind, keys, asked.name(), single, batch);
        report.add(
            calls.kind,
            keys,
            asked.hashed_name(),
            single_keys,
            batch_keys,
        );
    }
}

#[derive(Clone, Copy)]
enum Asked {
    Strangers,
    Keys,
}

impl Asked {
    fn name(self) -> &'static str {
        match self {
            Self::Strangers => "strangers",
            Self::Keys => "keys",
        }
    }

    fn hashed_name(self) -> &'static str {
        match self {
            Self::Strangers => "strangers, hashed",
            Self::Keys => "keys, hashed",
        }
    }

    /// The queries of a turn.
    fn queries(self, keys: usize, turn: usize) -> Vec<u64> {
        let keys = keys as u64;
        let first = (turn * QUERIES) as u64;
        let numbers = first..first + QUERIES as u64;
        match self {
            Self::Strangers => numbers.map(|at| key(keys + at)).collect(),
            Self::Keys => numbers.map(|at| key(mix(at ^ 1 << 60) % keys)).collect(),
        }
    }

    /// Nanoseconds per query. Checks the answers.
    fn time<K>(self, queries: &[K], work: &Lookup<K>) -> f64 {
        let mut found = vec![false; queries.len()];
        let ns = cpu_ns(|| work(black_box(queries), black_box(&mut found)));
        let count = found.iter().filter(|&&found| found).count();
        match self {
            Self::Strangers => assert!(count < QUERIES / 40, "{count} strangers found"),
            Self::Keys => assert_eq!(count, QUERIES, "a key was not found"),
        }
        ns / QUERIES as f64
    }
}

/// Fills two filters of a kind in turns, one by one and in batches; the least time of several fills counts.
fn fill<F>(
    rounds: usize,
    hashes: &[KeyHash],
    create: impl Fn() -> F,
    single: impl Fn(&mut F, KeyHash),
    batch: impl Fn(&mut F, &[KeyHash]),
) -> [f64; 2] {
    let mut least = [f64::INFINITY; 2];
    for round in 0..rounds {
        let mut filters = [create(), create()];
        let mut ns = [0.0; 2];
        for part in hashes.chunks(PART) {
            for turn in 0..2 {
                let which = (round + turn) % 2;
                let filter = &mut filters[which];
                ns[which] += cpu_ns(|| {
                    if which == 0 {
                        for &hash in black_box(part) {
                            single(filter, hash);
                        }
                    } else {
                        batch(filter, black_box(part));
                    }
                });
            }
        }
        for (least, ns) in least.iter_mut().zip(ns) {
            *least = least.min(ns / hashes.len() as f64);
        }
    }
    least
}

fn inserts(keys: usize, rounds: usize, report: &mut Report) {
    let hashes: Vec<_> = (0..keys as u64)
        .map(|at| KeyHash::from_u64(key(at)))
        .collect();
    // A fill of few keys is repeated more often.
    let rounds = rounds.max(2_000_000 / keys);
    let first = keys.div_ceil(FIRST_PART);
    let fits = "a filter that fits memory";
    let mut row = |kind, [single, batch]: [f64; 2]| {
        report.add(kind, keys, "insert", single, batch);
    };
    macro_rules! fill {
        ($kind:literal, $create:expr) => {
            row(
                $kind,
                fill(
                    rounds,
                    &hashes,
                    || $create.expect(fits),
                    |filter, hash| _ = filter.insert_hash(hash),
                    |filter, hashes| filter.insert_hashes(hashes),
                ),
            );
        };
    }
    fill!("`Bloom`", Bloom::for_hashes(keys, RATE));
    fill!("`Bloom`, 0.1 %", Bloom::for_hashes(keys, RATE / 10.0));
    fill!("`SharedBloom`", SharedBloom::for_hashes(keys, RATE));
    fill!("`ClassicBloom`", ClassicBloom::for_hashes(keys, RATE));
    fill!("`CountingBloom`", CountingBloom::for_hashes(keys, RATE));
    fill!("`GrowingBloom`", GrowingBloom::for_hashes(first, RATE));
    row(
        "`WindowBloom`",
        fill(
            rounds,
            &hashes,
            || window(keys, HashScheme::Caller),
            |filter, hash| _ = filter.insert_hash(hash, NOW),
            |filter, hashes| filter.insert_hashes(hashes, NOW),
        ),
    );
    let cuckoo = |create: &dyn Fn() -> Cuckoo| {
        fill(
            rounds,
            &hashes,
            create,
            |filter, hash| _ = filter.try_insert_hash(hash).expect("room for all keys"),
            |filter, hashes| filter.try_insert_hashes(hashes).expect("room for all keys"),
        )
    };
    row(
        "`Cuckoo`",
        cuckoo(&|| Cuckoo::for_hashes(keys, RATE).expect(fits)),
    );
}

/// The batches of a `Cuckoo` and of a `Bloom` with the same keys.
fn cuckoo_beside_bloom(keys: usize, rounds: usize, report: &mut Report) {
    let fits = "a filter that fits memory";
    let mut bloom = Bloom::for_hashes(keys, RATE).expect(fits);
    let mut cuckoo = Cuckoo::for_hashes(keys, RATE).expect(fits);
    for from in (0..keys as u64).step_by(PART) {
        let end = (keys as u64).min(from + PART as u64);
        let part: Vec<_> = (from..end).map(|at| KeyHash::from_u64(key(at))).collect();
        bloom.insert_hashes(&part);
        cuckoo.try_insert_hashes(&part).expect("room for all keys");
    }
    for asked in [Asked::Strangers, Asked::Keys] {
        let turn = |number: usize, work: &Lookup<KeyHash>| {
            let queries = asked.queries(keys, number).into_iter();
            asked.time(&queries.map(KeyHash::from_u64).collect::<Vec<_>>(), work)
        };
        let bloom: Lookup<KeyHash> = Box::new(|hashes, found| bloom.contains_hashes(hashes, found));
        let cuckoo: Lookup<KeyHash> =
            Box::new(|hashes, found| cuckoo.contains_hashes(hashes, found));
        let mut contenders = [
            Contender::new("Bloom", |round| turn(2 * round, &bloom)),
            Contender::new("Cuckoo", |round| turn(2 * round + 1, &cuckoo)),
        ];
        let [bloom, cuckoo] = *alternate(rounds, &mut contenders) else {
            unreachable!("two contenders")
        };
        report.add_cuckoo(keys, asked.name(), bloom, cuckoo);
    }
}

/// ns per key of single calls and of a batch.
struct Case {
    kind: &'static str,
    asked: &'static str,
    keys: usize,
    single: f64,
    batch: f64,
}

impl Case {
    fn ratio(&self) -> f64 {
        self.batch / self.single
    }

    fn is_slower(&self) -> bool {
        self.ratio() > TOLERANCE
    }

    /// The case as a cell of a table.
    fn cell(&self) -> String {
        let mark = if self.is_slower() { " **slower**" } else { "" };
        let Self { single, batch, .. } = self;
        format!("{single:.1}, {batch:.1}: {:.2}{mark}", self.ratio())
    }
}

#[derive(Default)]
struct Report {
    cases: Vec<Case>,
    cuckoo: String,
}

impl Report {
    fn add(
        &mut self,
        kind: &'static str,
        keys: usize,
        asked: &'static str,
        single: f64,
        batch: f64,
    ) {
        let case = Case {
            kind,
            asked,
            keys,
            single,
            batch,
        };
        eprintln!("{kind}, {}, {asked}: {}", short(keys), case.cell());
        self.cases.push(case);
    }

    fn add_cuckoo(&mut self, keys: usize, asked: &str, bloom: f64, cuckoo: f64) {
        let _ = writeln!(
            self.cuckoo,
            "| {} | {asked} | {bloom:.1} | {cuckoo:.1} | {:.2} |",
            short(keys),
            cuckoo / bloom
        );
    }

    /// A row for each kind and what it was asked, a column for each number of keys.
    fn table(&self, sizes: &[usize]) -> String {
        let mut table = "| kind | asked |".to_owned();
        let mut line = "| --- | --- |".to_owned();
        for &keys in sizes {
            let _ = write!(table, " {} |", short(keys));
            line.push_str(" ---: |");
        }
        let _ = writeln!(table, "\n{line}");
        let of_size = |keys| move |case: &&Case| case.keys == keys;
        for row in self.cases.iter().filter(of_size(sizes[0])) {
            let _ = write!(table, "| {} | {} |", row.kind, row.asked);
            let is_same = |case: &&Case| (case.kind, case.asked) == (row.kind, row.asked);
            for case in self.cases.iter().filter(is_same) {
                let _ = write!(table, " {} |", case.cell());
            }
            table.push('\n');
        }
        table
    }

    fn text(&self, sizes: &[usize], rounds: Rounds) -> String {
        let slower = self.cases.iter().filter(|case| case.is_slower()).count();
        let machine = Machine::look(1, rounds.lookups);
        format!(
            "# Batches beside single calls\n\n\
             {}\nmayhap's kernel: {}\n\n\
             ns per key of CPU time at 1 %, the least of {} rounds ({} fills for inserts) in which single calls and batches take\n\
             turns, each with its own keys. *Hashed* calls get keys of 8 bytes, the others hashes. `GrowingBloom` and the growing\n\
             `Cuckoo` begin with room for a sixteenth of the keys. In cache, single calls and batches of the flat kinds do the same work for\n\
             present keys, so their ratios are about 1. `make bench-batches` writes this page.\n\n\
             ## `Cuckoo` beside `Bloom`, batches\n\n\
             | keys | asked | `Bloom` | `Cuckoo` | ratio |\n| ---: | --- | ---: | ---: | ---: |\n{}\n\
             ## Every kind: single call, batch: ratio\n\n\
             {slower} of {} batches are slower than single calls, by more than {:.0} %.\n\n{}",
            machine.lines()[..2].join("\n"),
            machine.kernel,
            rounds.lookups,
            rounds.inserts,
            self.cuckoo,
            self.cases.len(),
            (TOLERANCE - 1.0) * 100.0,
            self.table(sizes)
        )
    }
}

fn short(keys: usize) -> String {
    match keys {
        1_000_000.. if keys.is_multiple_of(1_000_000) => format!("{}M", keys / 1_000_000),
        1_000.. if keys.is_multiple_of(1_000) => format!("{}k", keys / 1_000),
        _ => keys.to_string(),
    }
}
