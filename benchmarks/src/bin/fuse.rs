//! `Fuse` with cells of every width: bits per key, the measured rate, and the time of a query, single and in batches, in turns.
//!
//! `fuse [KEYS...]`, 100k, 1M and 10M unless given.

use mayhap::{Fuse, KeyHash};
use mayhap_benchmarks::clock::cpu_ns;
use mayhap_benchmarks::keys::{Queries, Seed, hashed};
use mayhap_benchmarks::machine::Machine;
use mayhap_benchmarks::measure::{Contender, alternate};
use std::hint::black_box;

const ROUNDS: usize = 20;
const QUERIES: usize = 1 << 16;
const STRANGERS: u64 = 20_000_000;
const SEED: Seed = Seed(1);
const WIDTHS: [i32; 14] = [4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 17, 20, 27, 32];

fn main() {
    let given: Vec<u64> = std::env::args()
        .skip(1)
        .map(|keys| keys.parse().expect("a number of keys"))
        .collect();
    let sizes = if given.is_empty() {
        vec![100_000, 1_000_000, 10_000_000]
    } else {
        given
    };
    let machine = Machine::look(1, ROUNDS);
    println!("{}, {}\n{}", machine.date, machine.rustc, machine.cpu);
    println!(
        "ns per query, every second one about a key; CPU time, least of {ROUNDS} rounds in which a width takes turns with the next wider\n\
         cells of 8, 16 or 32 bits. The ratios are to these, and of a batch to single queries.\n"
    );
    for keys in sizes {
        compare(keys);
    }
}

fn compare(keys: u64) {
    let all = SEED.keys(keys);
    let mut build_ns = Vec::new();
    let filters: Vec<Fuse> = WIDTHS
        .iter()
        .map(|&width| {
            // A little above the power of two, for the collisions of hashes.
            let rate = 1.05 * 0.5_f64.powi(width);
            let mut filter = None;
            build_ns.push(cpu_ns(|| filter = Fuse::build(&all, rate).ok()));
            let filter = filter.expect("distinct keys can be built from");
            assert_eq!(i32::from(filter.plan().cell_bits()), width);
            filter
        })
        .collect();
    drop(all);
    // In cache the same queries again and again; out of cache others every round.
    let rounds = if keys > 1_000_000 { ROUNDS } else { 1 };
    let queries = hashed(SEED, keys, rounds * QUERIES);
    let singly = |filter: &Fuse, asked: &[KeyHash], found: &mut [bool]| {
        for (found, &hash) in found.iter_mut().zip(asked) {
            *found = filter.contains_hash(hash);
        }
    };
    // Every width takes turns with the next wider type only, so that both stay in cache if they fit.
    let times: Vec<[f64; 4]> = filters
        .iter()
        .map(|filter| {
            let bits = i32::from(filter.plan().cell_bits()) as u32;
            let wider = (bits.max(8)).next_power_of_two() as i32;
            let wider = WIDTHS.iter().position(|&width| width == wider);
            let wider = &filters[wider.expect("8, 16 and 32 are among them")];
            let mut contenders = [
                contender(filter, &queries, rounds, singly),
                contender(filter, &queries, rounds, Fuse::contains_hashes),
                contender(wider, &queries, rounds, singly),
                contender(wider, &queries, rounds, Fuse::contains_hashes),
            ];
            let least = alternate(ROUNDS, &mut contenders);
            std::array::from_fn(|at| least[at] / QUERIES as f64)
        })
        .collect();
    println!("{keys} keys");
    println!(
        "| bits | bits per key | of a cell | rate * 2^bits | build | single | ratio | batch | ratio | to single |"
    );
    println!(
        "|-----:|-------------:|----------:|--------------:|------:|-------:|------:|------:|------:|----------:|"
    );
    for (at, (filter, &width)) in filters.iter().zip(&WIDTHS).enumerate() {
        let [single, batch, wider_single, wider_batch] = times[at];
        let bits = 8.0 * filter.size_bytes() as f64 / keys as f64;
        let strangers = if width <= 16 { STRANGERS } else { 0 };
        let wrong = (0..strangers)
            .filter(|&at| filter.contains_hash(SEED.stranger((1 << 40) + at)))
            .count();
        let rate = wrong as f64 / strangers as f64 * f64::from(width).exp2();
        println!(
            "| {width:>4} | {bits:>12.2} | {:>8.3}x | {rate:>13.3} | {:>5.1} | {single:>6.2} | {:>4.2}x | {batch:>5.2} | {:>4.2}x | {:>8.2}x |",
            bits / f64::from(width),
            build_ns[at] / keys as f64,
            single / wider_single,
            batch / wider_batch,
            batch / single,
        );
    }
    println!();
}

fn contender<'a>(
    filter: &'a Fuse,
    queries: &'a Queries<KeyHash>,
    rounds: usize,
    ask: impl Fn(&Fuse, &[KeyHash], &mut [bool]) + 'a,
) -> Contender<'a> {
    Contender::new("", move |round| {
        let from = round % rounds * QUERIES;
        let asked = &queries.asked[from..from + QUERIES];
        let mut found = vec![false; QUERIES];
        let ns = cpu_ns(|| ask(filter, black_box(asked), black_box(&mut found)));
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
}
