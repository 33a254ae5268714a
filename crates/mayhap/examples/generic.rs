//! One function for every kind of filter: with the traits, and with a kind that is chosen at run time.

#![expect(clippy::print_stdout, reason = "it is a program")]

use mayhap::{AnyFilter, Filter, Fuse, Insert, Kind};

/// How many of a million absent keys a filter finds.
fn false_positives(filter: &impl Filter) -> usize {
    let keys: Vec<[u8; 8]> = (0..1_000_000_u64)
        .map(|i| (i + (1 << 40)).to_le_bytes())
        .collect();
    let keys: Vec<&[u8]> = keys.iter().map(<[u8; 8]>::as_slice).collect();
    let mut found = vec![false; keys.len()];
    filter.contains_each(&keys, &mut found);
    found.into_iter().filter(|&found| found).count()
}

fn fill(filter: &mut dyn Insert, count: u64) -> Result<(), mayhap::Full> {
    for key in 0..count {
        filter.try_insert(&key.to_le_bytes())?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for name in ["bloom", "classic", "counting", "growing", "cuckoo"] {
        let kind: Kind = name.parse()?;
        let mut filter = AnyFilter::new(kind, 50_000, 0.01)?;
        fill(&mut filter, 50_000)?;
        println!(
            "{name}: {} of 1,000,000 absent keys found",
            false_positives(&filter)
        );
        assert!(false_positives(&filter) < 11_000);
    }
    // Static kinds are built from their keys, and are read in the same way.
    let fuse = Fuse::build((0..50_000_u32).map(u64::from), 0.01)?;
    println!(
        "fuse: {} of 1,000,000 absent keys found",
        false_positives(&fuse)
    );
    Ok(())
}
