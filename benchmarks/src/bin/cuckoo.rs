//! `Cuckoo` beside cuckoofilter and qfilter: single lookups in turns, in short rounds, half of the queries about keys.
//!
//! `cuckoo [KEYS...]`, 5000 and 10M unless given.

use mayhap::KeyHash;
use mayhap_benchmarks::clock::cpu_ns;
use mayhap_benchmarks::figure::name;
use mayhap_benchmarks::keys::{Seed, hashed};
use mayhap_benchmarks::machine::Machine;
use mayhap_benchmarks::measure::{Contender, alternate};
use mayhap_benchmarks::others::build;
use std::hint::black_box;

const ROUNDS: usize = 200;
const QUERIES: usize = 1 << 13;
const NAMES: [&str; 4] = [
    name::OUR_CUCKOO,
    name::OUR_CUCKOO_BATCH,
    name::CUCKOO,
    name::QFILTER,
];

fn main() {
    let given: Vec<u64> = std::env::args()
        .skip(1)
        .map(|keys| keys.parse().expect("a number of keys"))
        .collect();
    let sizes = if given.is_empty() {
        vec![5000, 10_000_000]
    } else {
        given
    };
    let machine = Machine::look(1, ROUNDS);
    println!("{}, {}\n{}", machine.date, machine.rustc, machine.cpu);
    println!(
        "ns per query at 0.39 %, every second one about a key; CPU time, least of {ROUNDS} rounds in which they take turns.\n"
    );
    println!(
        "| keys     | Cuckoo | batch | cuckoofilter | ratio | batch | qfilter | ratio | batch |"
    );
    println!(
        "|---------:|-------:|------:|-------------:|------:|------:|--------:|------:|------:|"
    );
    for keys in sizes {
        compare(keys);
    }
}

fn compare(keys: u64) {
    let seed = Seed(1);
    let all = seed.keys(keys);
    let filters = NAMES.map(|name| build(name, &all));
    drop(all);
    // In cache the same queries again and again; out of cache others every round.
    let rounds = if keys > 1_000_000 { ROUNDS } else { 1 };
    let queries = hashed(seed, keys, rounds * QUERIES);
    let mut contenders = filters.each_ref().map(|filter| {
        Contender::new("", |round| {
            let from = round % rounds * QUERIES;
            let asked: &[KeyHash] = &queries.asked[from..from + QUERIES];
            let mut found = vec![false; QUERIES];
            let ns = cpu_ns(|| filter.ask(black_box(asked), black_box(&mut found)));
            let present = &queries.present[from..from + QUERIES];
            assert!(
                found
                    .iter()
                    .zip(present)
                    .all(|(found, present)| *found || !present),
                "a key was not found"
            );
            ns
        })
    });
    let [ours, batch, cuckoo, quotient] = *alternate(ROUNDS, &mut contenders) else {
        unreachable!("four contenders")
    };
    let ns = |sum: f64| sum / QUERIES as f64;
    println!(
        "| {keys:>8} | {:>6.2} | {:>5.2} | {:>12.2} | {:>5.2} | {:>5.2} | {:>7.2} | {:>5.2} | {:>5.2} |",
        ns(ours),
        ns(batch),
        ns(cuckoo),
        cuckoo / ours,
        cuckoo / batch,
        ns(quotient),
        quotient / ours,
        quotient / batch
    );
}
