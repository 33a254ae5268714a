//! What the exact reciprocal of `ClassicBloom` gains over a plain `%`: the same walk over the same bits, both ways, in turns.

use mayhap::{ClassicBloom, KeyHash, Scheme};
use mayhap_benchmarks::clock::cpu_ns;
use mayhap_benchmarks::keys::{Seed, hashed};
use mayhap_benchmarks::machine::Machine;
use mayhap_benchmarks::measure::{Contender, alternate};
use std::cell::RefCell;
use std::hint::black_box;

const ROUNDS: usize = 9;
const QUERIES: u64 = 1 << 20;

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
        "ns per query; CPU time, least of {ROUNDS} rounds in which the contenders take turns. Few keys are in cache, where the\n\
         division is what counts; many are not, where a single query waits for memory either way and a batch does not.\n"
    );
    println!("| keys     | rate  | asked  | plain % | one by one | ratio | batch | ratio |");
    println!("|---------:|-------|--------|--------:|-----------:|------:|------:|------:|");
    for keys in [100_000, 10_000_000] {
        let mut least_gain = f64::INFINITY;
        for rate in [0.01, 0.001] {
            least_gain = least_gain.min(compare(keys, rate));
        }
        println!("A batch of {keys} keys gains at least {least_gain:.2} times.");
    }
}

/// Prints a line for each kind of query, and returns the least gain of a batch.
fn compare(keys: u64, rate: f64) -> f64 {
    let seed = Seed(1);
    let mut filter =
        ClassicBloom::for_hashes(keys as usize, rate).expect("a filter that fits memory");
    assert_eq!(filter.scheme(), Scheme::EnhancedDoubleHashing);
    filter.insert_hashes(&seed.keys(keys));
    let plain = Plain {
        words: filter.words().collect(),
        bits: filter.plan().bits,
        probes: filter.plan().probes,
    };
    let key = |at| seed.key(at % keys);
    let mut least_gain = f64::INFINITY;
    for (name, asked) in [
        ("keys", (0..QUERIES).map(key).collect()),
        ("absent", (0..QUERIES).map(|at| seed.stranger(at)).collect()),
        ("half", hashed(seed, keys, QUERIES as usize).asked),
    ] {
        let [divided, single, batch] = cost(&plain, &filter, &asked);
        println!(
            "| {keys:>8} | {rate:<5} | {name:<6} | {divided:>7.1} | {single:>10.1} | {:>5.2} | {batch:>5.1} | {:>5.2} |",
            divided / single,
            divided / batch
        );
        least_gain = least_gain.min(divided / batch);
    }
    least_gain
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
