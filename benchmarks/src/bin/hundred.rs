//! A hundred keys at a time in a filter of ten million, as BF.MEXISTS and BF.MADD ask it, without the server around.
//!
//! `hundred [--keys N] [--rounds N]`: nanoseconds a key in turns, the least and the median, RedisBloom's layout beside our own. Under
//! `valgrind --tool=callgrind` with few rounds it counts instructions, which others on the machine do not change.

use mayhap::{GrowingBloom, KeyHash};
use mayhap_codec::redis::Bloom;
use std::hint::black_box;
use std::time::Instant;

const AT_ONCE: usize = 100;
const BATCHES: u64 = 4000;

fn key(number: u64) -> String {
    format!("key:{number:012}")
}

/// Random keys below `keys`, from `first` on, one behind the other as they come in a request.
fn batches(first: u64, keys: u64, seed: u64) -> Vec<String> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        let mixed = (state ^ (state >> 31)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        first + (mixed ^ (mixed >> 32)) % keys
    };
    let batch = |_| (0..AT_ONCE).map(|_| key(next()) + "\r\n$16\r\n").collect();
    (0..BATCHES).map(batch).collect()
}

fn each(batches: &[String], mut work: impl FnMut(&[&[u8]])) -> f64 {
    let mut words: Vec<&[u8]> = Vec::new();
    let began = Instant::now();
    for batch in batches {
        words.clear();
        let every = batch.as_bytes().chunks_exact(batch.len() / AT_ONCE);
        words.extend(every.map(|word| &word[..16]));
        work(&words);
    }
    began.elapsed().as_nanos() as f64 / (batches.len() * AT_ONCE) as f64
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |option: &str, otherwise: u64| {
        let at = arguments.iter().position(|argument| argument == option);
        at.map_or(otherwise, |at| arguments[at + 1].parse().expect("a number"))
    };
    let (keys, rounds) = (number("--keys", 10_000_000), number("--rounds", 15));
    let mut theirs = Bloom::reserve(0.01, keys, Some(2)).expect("a filter");
    let mut ours = GrowingBloom::new(keys, 0.01).expect("a filter");
    let mut is_new = [false; AT_ONCE];
    for number in 0..keys {
        let _ = theirs.try_insert(key(number).as_bytes());
        ours.insert(key(number));
    }
    let (present, absent) = (batches(0, keys, 1), batches(keys, keys, 2));
    let mut figures: Vec<(&str, Vec<f64>)> = [
        "contains, present",
        "contains, absent",
        "insert, present",
        "insert, new",
        "ours: contains, present",
        "ours: insert, present",
    ]
    .map(|name| (name, Vec::new()))
    .into();
    for _ in 0..rounds {
        let mut fresh = Bloom::reserve(0.01, 2 * keys, Some(2)).expect("a filter");
        let taken = [
            each(&present, |keys| {
                theirs.contains_each(keys, &mut is_new);
                black_box(&is_new);
            }),
            each(&absent, |keys| {
                theirs.contains_each(keys, &mut is_new);
                black_box(&is_new);
            }),
            each(&present, |keys| {
                theirs.insert_each_reporting_new(keys, &mut is_new);
                black_box(&is_new);
            }),
            each(&absent, |keys| {
                fresh.insert_each_reporting_new(keys, &mut is_new);
                black_box(&is_new);
            }),
            each(&present, |keys| {
                ours.contains_each(keys, &mut is_new);
                black_box(&is_new);
            }),
            each(&present, |keys| {
                let hashes: Vec<KeyHash> = keys.iter().map(|key| ours.hash(key)).collect();
                ours.insert_hashes_reporting_new(&hashes, &mut is_new);
                black_box(&is_new);
            }),
        ];
        for (figure, taken) in figures.iter_mut().zip(taken) {
            figure.1.push(taken);
        }
    }
    for (name, mut runs) in figures {
        runs.sort_by(f64::total_cmp);
        println!("{:6.1} {:6.1} ns  {name}", runs[0], runs[runs.len() / 2]);
    }
}
