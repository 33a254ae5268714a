//! What 64 and 128 bits of hash cost, and what 64 bits lose: the evidence for the width of `KeyHash`.

use mayhap_benchmarks::clock::cpu_ns;
use mayhap_benchmarks::keys::{mix, push_url};
use mayhap_benchmarks::machine::Machine;
use mayhap_benchmarks::measure::{Contender, alternate};
use siphasher::{sip, sip128};
use std::hint::black_box;
use twox_hash::{XxHash3_64, XxHash3_128};

const ROUNDS: usize = 25;
const SIP_KEY: [u8; 16] = *b"sixteen bytes ok";

fn main() {
    let machine = Machine::look(1, ROUNDS);
    println!("{}, {}\n{}", machine.date, machine.rustc, machine.cpu);
    println!(
        "CPU time, least of {ROUNDS} rounds in which the functions take turns; keys are read in order.\n"
    );
    println!("| ns per key       | XXH3-64 | XXH3-128 | more | Sip-1-3-64 | Sip-1-3-128 | more |");
    println!("|------------------|--------:|---------:|-----:|-----------:|------------:|-----:|");
    for (name, keys) in [
        ("8 bytes", numbers()),
        ("URL, 24-64 bytes", urls()),
        ("64 KiB", pages()),
    ] {
        let [xxh64, xxh128, sip64, sip128] = cost(&keys);
        let more = |wide: f64, narrow: f64| {
            format!("{:.0} %", (100.0 * (wide / narrow - 1.0)).round() + 0.0)
        };
        println!(
            "| {name:<16} | {xxh64:>7.2} | {xxh128:>8.2} | {:>4} | {sip64:>10.2} | {sip128:>11.2} | {:>4} |",
            more(xxh128, xxh64),
            more(sip128, sip64)
        );
    }
    println!("\nCollisions, with n keys in the filter:\n");
    println!(
        "| n    | strangers whose 64 bits are a key's, n / 2^64 | pairs of keys alike, n^2 / 2^65 | n / 2^128 |"
    );
    println!(
        "|------|----------------------------------------------:|--------------------------------:|----------:|"
    );
    for keys in [1e9_f64, 1e10] {
        let strangers = keys / 2_f64.powi(64);
        println!(
            "| {:<4} | {strangers:>45.1e} | {:>31.3} | {:>9.1e} |",
            format!("{keys:.0e}"),
            strangers * keys / 2.0,
            keys / 2_f64.powi(128)
        );
    }
    println!(
        "\nA rate of 1e-6 is {:.0} times the share at 1e10 keys.",
        1e-6 / (1e10 / 2_f64.powi(64))
    );
}

/// Keys one after the other.
struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    fn new(count: usize, mut push: impl FnMut(&mut Vec<u8>, u64)) -> Self {
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(count));
        for at in 0..count as u64 {
            push(&mut bytes, at);
            ends.push(bytes.len());
        }
        Self { bytes, ends }
    }

    /// Adds up the hashes of all keys.
    #[inline(always)]
    fn sum(&self, hash: impl Fn(&[u8]) -> u64) -> u64 {
        let mut start = 0;
        let mut sum = 0_u64;
        for &end in &self.ends {
            sum = sum.wrapping_add(hash(&self.bytes[start..end]));
            start = end;
        }
        sum
    }
}

fn numbers() -> Keys {
    Keys::new(1 << 18, |bytes, at| bytes.extend(mix(at).to_le_bytes()))
}

fn urls() -> Keys {
    Keys::new(1 << 17, push_url)
}

fn pages() -> Keys {
    Keys::new(16, |bytes, page| {
        bytes.extend((0..8192).flat_map(|at| mix(page << 32 | at).to_le_bytes()));
    })
}

/// Nanoseconds per key of the four functions. Both halves of a wide hash are used, else half of the work could be left out.
fn cost(keys: &Keys) -> [f64; 4] {
    let halves = |wide: u128| (wide >> 64) as u64 ^ wide as u64;
    let mut contenders = [
        Contender::new("XXH3-64", |_| {
            cpu_ns(|| _ = black_box(keys.sum(XxHash3_64::oneshot)))
        }),
        Contender::new("XXH3-128", |_| {
            cpu_ns(|| _ = black_box(keys.sum(|key| halves(XxHash3_128::oneshot(key)))))
        }),
        Contender::new("SipHash-1-3-64", |_| {
            let hash = |key: &[u8]| sip::SipHasher13::new_with_key(&SIP_KEY).hash(key);
            cpu_ns(|| _ = black_box(keys.sum(hash)))
        }),
        Contender::new("SipHash-1-3-128", |_| {
            let hash = |key: &[u8]| {
                halves(
                    sip128::SipHasher13::new_with_key(&SIP_KEY)
                        .hash(key)
                        .as_u128(),
                )
            };
            cpu_ns(|| _ = black_box(keys.sum(hash)))
        }),
    ];
    let least = alternate(ROUNDS, &mut contenders);
    [0, 1, 2, 3].map(|at| least[at] / keys.ends.len() as f64)
}
