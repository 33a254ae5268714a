//! What the exact reciprocal of `ClassicBloom` gains over a plain `%`: the same walk over the same bits, both ways, in turns.

use mayhap::{ClassicBloom, KeyHash, Scheme};
use mayhap_benchmarks::clock::cpu_ns;
use mayhap_benchmarks::keys::{Seed, hashed};
use mayhap_benchmarks::machine::Machine;
use mayhap_benchmarks::measure::{Contender, alternate};
use std::cell::RefCell;
use std::hint::black_box;

const ROUNDS: usize = 9;
const KEYS: u64 = 10_000_000;
const QUERIES: usize = 1 << 20;

/// Enhanced double hashing as anybody would write it: a division a probe.
struct Plain {
    words: Vec<u64>,
    bits: u64,
    probes: u32,
}

impl Plain {
    fn contains(&self, hash: u64) -> bool {
        let product = u128::from(hash) * 0x9E37_79B9_7F4A_7C15;
        let (mut value, mut step) = (hash, ((product >> 64) as u64 ^ product as u64) | 1);
        for i in 1..=u64::from(self.probes) {
            let at = value % self.bits;
            if self.words[(at / 64) as usize] >> (at % 64) & 1 == 0 {
                return false;
            }
            value = value.wrapping_add(step);
            step = step.wrapping_add(i);
        }
        true
    }
}

fn main() {
    let machine = Machine::look(1, ROUNDS);
    println!("{}, {}\n{}", machine.date, machine.rustc, machine.cpu);
    println!(
        "ns per query, {KEYS} keys at 1 % and 0.1 %; CPU time, least of {ROUNDS} rounds in which the contenders take turns.\n"
    );
    println!("| rate  | asked   | plain % | one by one | ratio | batch | ratio |");
    println!("|-------|---------|--------:|-----------:|------:|------:|------:|");
    let mut least_ratio = f64::INFINITY;
    for rate in [0.01, 0.001] {
        let seed = Seed(1);
        let mut filter = ClassicBloom::for_hashes(KEYS, rate).expect("a filter of 10M keys");
        assert_eq!(filter.scheme(), Scheme::EnhancedDoubleHashing);
        filter.insert_hashes(&seed.keys(KEYS));
        let plain = Plain {
            words: filter.words().collect(),
            bits: filter.plan().bits,
            probes: filter.plan().probes,
        };
        let strangers: Vec<KeyHash> = (0..QUERIES as u64).map(|at| seed.stranger(at)).collect();
        for (name, asked) in [
            ("keys", seed.keys(QUERIES as u64)),
            ("absent", strangers),
            ("half", hashed(seed, KEYS, QUERIES).asked),
        ] {
            let [divided, single, batch] = cost(&plain, &filter, &asked);
            println!(
                "| {rate:<5} | {name:<7} | {divided:>7.1} | {single:>10.1} | {:>5.2} | {batch:>5.1} | {:>5.2} |",
                divided / single,
                divided / batch
            );
            least_ratio = least_ratio.min(divided / batch);
        }
    }
    println!("\nThe least gain of a batch: {least_ratio:.2} times.");
}

/// Nanoseconds per query of the plain loop, of `contains_hash` and of `contains_hashes`. All answers must agree.
fn cost(plain: &Plain, filter: &ClassicBloom, asked: &[KeyHash]) -> [f64; 3] {
    let expected: Vec<bool> = asked
        .iter()
        .map(|hash| plain.contains(hash.to_u64()))
        .collect();
    let found = RefCell::new(vec![false; asked.len()]);
    let timed = |work: &dyn Fn(&mut [bool])| {
        let mut found = found.borrow_mut();
        found.fill(false);
        let ns = cpu_ns(|| work(black_box(&mut found)));
        assert_eq!(*found, expected, "the answers differ");
        ns
    };
    let mut contenders = [
        Contender::new("plain %", |_| {
            timed(&|found| {
                for (found, hash) in found.iter_mut().zip(asked) {
                    *found = plain.contains(hash.to_u64());
                }
            })
        }),
        Contender::new("one by one", |_| {
            timed(&|found| {
                for (found, &hash) in found.iter_mut().zip(asked) {
                    *found = filter.contains_hash(hash);
                }
            })
        }),
        Contender::new("batch", |_| {
            timed(&|found| filter.contains_hashes(asked, found))
        }),
    ];
    let least = alternate(ROUNDS, &mut contenders);
    [0, 1, 2].map(|at| least[at] / asked.len() as f64)
}
