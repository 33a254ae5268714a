//! Files and other systems' filters: how fast they are read, written and asked.
//!
//! `carry` reads and writes, `disk` saves, opens and maps our own files, `foreign` asks filters by the hashes of other systems.

mod carry;
mod disk;
mod foreign;

use crate::keys::mix;
use crate::report::{Table, render};
use std::fmt::Write;

/// How much is measured.
pub struct Scale {
    /// Bytes of the filters that are read and written.
    pub filter_bytes: u64,
    /// Bytes of the native file that is mapped.
    pub file_bytes: u64,
    /// Keys of the filters that are asked.
    pub keys: u64,
    pub rounds: usize,
}

impl Scale {
    pub const FULL: Self = Self {
        filter_bytes: 100_000_000,
        file_bytes: 1_000_000_000,
        keys: 10_000_000,
        rounds: 9,
    };

    /// Proves that everything works and agrees; its times mean little.
    pub const QUICK: Self = Self {
        filter_bytes: 1_000_000,
        file_bytes: 4_000_000,
        keys: 100_000,
        rounds: 2,
    };
}

/// All tables.
pub fn tables(scale: &Scale) -> String {
    let mut text = String::new();
    let megabytes = scale.filter_bytes as f64 / 1e6;
    let sections = [
        (
            format!("Reading and writing filters of {megabytes} MB: GB/s"),
            carry::table(scale),
        ),
        (
            format!(
                "Native files of {} MB, in the page cache",
                scale.file_bytes as f64 / 1e6
            ),
            disk::file_table(scale),
        ),
        (
            "A mapped file beside the filter in memory: ns per key, half of them present"
                .to_owned(),
            disk::view_table(scale),
        ),
        (
            format!(
                "Lookups in filters of other systems with {} keys of 16 bytes, hashing included: ns per key, half of them present",
                scale.keys
            ),
            foreign::table(scale),
        ),
    ];
    for (title, table) in sections {
        _ = writeln!(text, "\n### {title}\n\n{}", render(&table).trim_end());
    }
    text
}

/// Half of all bits are set, as in a full filter; nothing can pack them.
fn random_words(count: usize) -> Vec<u64> {
    (0..count as u64).map(mix).collect()
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|&cell| cell.to_owned()).collect()
}

fn header(cells: &[&str]) -> Table {
    vec![row(cells)]
}

/// Bytes in nanoseconds, as GB/s.
fn speed(bytes: usize, ns: f64) -> String {
    format!("{:.2}", bytes as f64 / ns)
}

fn ratio(ours: f64, theirs: f64) -> String {
    format!("{:.2}x", ours / theirs)
}
