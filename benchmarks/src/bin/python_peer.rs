//! The batches that `bindings/python/benchmarks/bench.py` compares with: the same keys, without Python. Prints nanoseconds per key.

use mayhap::{Bloom, KeyHash};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 3;
const BLOCK: usize = 512;

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn measure(keys: usize, mut look_up: impl FnMut()) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        look_up();
        start.elapsed().as_secs_f64() * 1e9 / keys as f64
    });
    median(rounds.collect())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: usize = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => 10_000_000,
    };
    let mut filter = Bloom::new(count, 0.01)?;
    filter.extend(0..count as u64);
    let asked: Vec<u64> = (count as u64 / 2..(count / 2 + count) as u64).collect();
    let integers = measure(count, || {
        let mut found = vec![false; count];
        filter.contains_each(&asked, &mut found);
        black_box(&found);
    });

    let text =
        |number: usize, middle: &str| format!("{number:08x}-{middle}-4cde-8123-0123456789ab");
    let mut filter = Bloom::new(count, 0.01)?;
    filter.extend((0..count).map(|number| text(number, "89ab")));
    // One behind the other, with offsets, as Arrow has them.
    let (mut bytes, mut offsets) = (String::new(), vec![0_i32]);
    let present = (0..count / 2).map(|number| text(number, "89ab"));
    for key in present.chain((0..count - count / 2).map(|number| text(number, "89ac"))) {
        bytes.push_str(&key);
        offsets.push(i32::try_from(bytes.len())?);
    }
    let bytes = bytes.as_bytes();
    let texts = measure(count, || {
        let mut found = vec![false; count];
        let mut hashes = [KeyHash::from_u64(0); BLOCK];
        for (block, found) in found.chunks_mut(BLOCK).enumerate() {
            let ends = &offsets[block * BLOCK..=block * BLOCK + found.len()];
            let keys = ends.windows(2);
            let key = |ends: &[i32]| &bytes[ends[0] as usize..ends[1] as usize];
            let hashed = filter.scheme().hash_each(keys.map(key), &mut hashes);
            filter.contains_hashes(&hashes[..hashed], found);
        }
        black_box(&found);
    });
    println!("integers {integers}\ntexts {texts}");
    Ok(())
}
