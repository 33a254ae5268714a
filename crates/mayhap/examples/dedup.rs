//! An iterator that drops repeated items, in a few bytes per item: `cargo run --example dedup < lines.txt`.
//!
//! A few items that were never seen are dropped as well, one in a million here: the false-positive rate. A hash set drops none, and
//! stores the items themselves.

use mayhap::{GrowingBloom, Key, PlanError};
use std::io::{self, BufRead, Write};

/// The items of an iterator, each only once.
struct Dedup<I> {
    items: I,
    seen: GrowingBloom,
}

/// Adds `dedup_all` to all iterators over keys.
trait DedupAll: Iterator<Item: Key> + Sized {
    /// Drops repeated items. At most one new item in a million is dropped by mistake.
    fn dedup_all(self) -> Result<Dedup<Self>, PlanError> {
        Ok(Dedup {
            items: self,
            seen: GrowingBloom::new(10_000, 1e-6)?,
        })
    }
}

impl<I: Iterator<Item: Key>> DedupAll for I {}

impl<I: Iterator<Item: Key>> Iterator for Dedup<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        // `insert` is true for an item that is definitely new.
        self.items.find(|item| self.seen.insert(item))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let unique: Vec<&str> = "to be or not to be".split(' ').dedup_all()?.collect();
    assert_eq!(unique, ["to", "be", "or", "not"]);

    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin()
        .lock()
        .lines()
        .map_while(Result::ok)
        .dedup_all()?
    {
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}
