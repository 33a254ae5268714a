//! Integers as keys: the width counts, tuples work, and own hashes must be mixed.

#![expect(clippy::print_stdout, reason = "it is a program")]

use mayhap::{Bloom, KeyHash, KeyType};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The width is part of the key.
    let mut ids = Bloom::new(1000, 1e-6)?;
    ids.insert(5_u64);
    assert!(ids.contains(5_u64));
    assert!(!ids.contains(5_u32));

    // The file says that keys are u64, so that `mayhap check` and Python convert numbers to these eight bytes.
    ids.set_key_type(Some(KeyType::U64));

    // Several numbers are one key.
    let mut cells = Bloom::new(1000, 1e-6)?;
    cells.insert((3_i32, -4_i32));
    assert!(!cells.contains((-4_i32, 3_i32)));

    // Without a hash function, for trusted keys only. `mix` makes a good hash of a counter.
    let mut fast = Bloom::for_hashes(100_000, 0.01)?;
    for id in 0..100_000 {
        fast.insert_hash(KeyHash::mix(id));
    }
    let wrong = (100_000..200_000)
        .filter(|&id| fast.contains_hash(KeyHash::mix(id)))
        .count();
    println!("{wrong} of 100,000 absent ids found: 1 % was requested");
    assert!(wrong < 1200);
    Ok(())
}
