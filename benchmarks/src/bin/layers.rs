//! What a `GrowingBloom` of many layers costs beside a `Bloom` of one: both in turns, for keys that are in neither and then for
//! keys that are in both.
//!
//! `layers [KEYS...]`, 5000, 10M and 40M unless given: few keys are in cache, many are not.

use mayhap::{Bloom, GrowingBloom, KeyHash};
use mayhap_benchmarks::clock::cpu_ns;
use mayhap_benchmarks::keys::{Seed, mix};
use mayhap_benchmarks::machine::Machine;
use mayhap_benchmarks::measure::{Contender, alternate};
use std::hint::black_box;

const ROUNDS: usize = 300;
const QUERIES: u64 = 1 << 13;
const RATE: f64 = 0.01;
/// Each layer makes room for so many times the keys before.
const GROWTH: f64 = 1.75;

fn main() {
    let given: Vec<u64> = std::env::args()
        .skip(1)
        .map(|keys| keys.parse().expect("a number of keys"))
        .collect();
    let sizes = if given.is_empty() {
        vec![5000, 10_000_000, 40_000_000]
    } else {
        given
    };
    let machine = Machine::look(1, ROUNDS);
    println!("{}, {}\n{}", machine.date, machine.rustc, machine.cpu);
    println!(
        "ns per query of one Bloom at {RATE} and of a GrowingBloom at the same rate; CPU time, least of {ROUNDS}\n\
         rounds in which they take turns. For absent keys, in cache at most 1 + 0.6 L is wanted, out of cache at most 3 for 4 layers.\n"
    );
    println!(
        "| keys     | layers | asked  | Bloom | chain | ratio | Bloom batch | chain batch | ratio |"
    );
    println!(
        "|---------:|-------:|--------|------:|------:|------:|------------:|------------:|------:|"
    );
    for keys in sizes {
        let layers = if keys > 10_000_000 { 4..=4 } else { 1..=10 };
        for layers in layers {
            compare(keys, layers);
        }
    }
}

fn compare(keys: u64, layers: usize) {
    let seed = Seed(1);
    let first = (keys as f64 / GROWTH.powi(layers as i32 - 1)).ceil() as u64;
    let mut chain =
        GrowingBloom::for_hashes(first as usize, RATE).expect("a filter that fits memory");
    let mut single = Bloom::for_hashes(keys as usize, RATE).expect("a filter that fits memory");
    for from in (0..keys).step_by(1 << 16) {
        let part: Vec<_> = (from..keys.min(from + (1 << 16)))
            .map(|at| seed.key(at))
            .collect();
        single.insert_hashes(&part);
        chain.insert_hashes(&part);
    }
    assert_eq!(chain.layer_count(), layers);
    for (name, present) in [("absent", false), ("keys", true)] {
        let [one, many, one_batch, many_batch] =
            cost(&single, &chain, seed, present.then_some(keys));
        println!(
            "| {keys:>8} | {layers:>6} | {name:<6} | {one:>5.2} | {many:>5.2} | {:>5.2} | {one_batch:>11.2} | {many_batch:>11.2} | {:>5.2} |",
            many / one,
            many_batch / one_batch
        );
    }
}

/// Nanoseconds per query: one Bloom and the chain key by key, then both in batches. About so many keys, or about strangers.
fn cost(single: &Bloom, chain: &GrowingBloom, seed: Seed, keys: Option<u64>) -> [f64; 4] {
    // In cache the same again and again; out of cache others every round, so that no line is still there.
    let fresh = single.size_bytes() > 1 << 20;
    let asked = |round: usize| -> Vec<KeyHash> {
        let from = if fresh { round as u64 * QUERIES } else { 0 };
        let ask = |at| match keys {
            Some(keys) => seed.key(mix(at) % keys),
            None => seed.stranger(at),
        };
        (from..from + QUERIES).map(ask).collect()
    };
    let ask = |round: usize, work: &dyn Fn(&[KeyHash], &mut [bool])| {
        let asked = asked(round);
        let mut found = vec![false; asked.len()];
        let ns = cpu_ns(|| work(black_box(&asked), black_box(&mut found)));
        let yes = found.iter().filter(|&&found| found).count() as u64;
        match keys {
            Some(_) => assert_eq!(yes, QUERIES, "a key was not found"),
            None => assert!(yes < QUERIES / 25, "{yes} of {QUERIES} strangers found"),
        }
        ns
    };
    let mut contenders = [
        Contender::new("Bloom", |round| {
            ask(round, &|asked, found| {
                for (found, &hash) in found.iter_mut().zip(asked) {
                    *found = single.contains_hash(hash);
                }
            })
        }),
        Contender::new("chain", |round| {
            ask(round, &|asked, found| {
                for (found, &hash) in found.iter_mut().zip(asked) {
                    *found = chain.contains_hash(hash);
                }
            })
        }),
        Contender::new("Bloom, batch", |round| {
            ask(round, &|asked, found| single.contains_hashes(asked, found))
        }),
        Contender::new("chain, batch", |round| {
            ask(round, &|asked, found| chain.contains_hashes(asked, found))
        }),
    ];
    let least = alternate(ROUNDS, &mut contenders);
    [0, 1, 2, 3].map(|at| least[at] / QUERIES as f64)
}
