//! What one process measures, from the smallest size to the largest. Figures go to stdout as JSON lines as soon as they are
//! there, and a word on progress to stderr.

use crate::args::Args;
use crate::case::{insert, query, space, url};
use crate::clock::cpu_ns;
use crate::figure::{Case, Figure};
use crate::keys::{self, Seed};
use crate::others::{Built, OTHERS};
use crate::peers::{RATES, STRICT};
use mayhap::KeyHash;

pub fn run(args: &Args, number: u64) {
    let seed = Seed(number);
    let rounds = args.rounds;
    for &count in &args.keys {
        let asked = query_count(count);
        let keys = seed.keys(count);
        let queries = keys::hashed(seed, count, asked);
        for rate in RATES {
            progress(number, &format!("{count} keys at {:.2} %", 100.0 * rate));
            let (filled, figures) = insert::one_thread(&keys, rate, rounds);
            tell(&figures);
            check_all_keys(&filled.mayhap, &keys);
            tell(&insert::two_threads(&keys, &filled.mayhap, rate, rounds));
            let others = if rate == STRICT {
                build_others(&keys)
            } else {
                Vec::new()
            };
            tell(&query::measure(
                &filled, &others, &queries, count, rate, rounds,
            ));
        }
    }
    let count = args.keys.iter().copied().max().unwrap_or(1);
    let count = count.min(url::MAX_KEYS);
    for rate in RATES {
        progress(number, &format!("{count} URLs at {:.2} %", 100.0 * rate));
        tell(&url::measure(seed, count, query_count(count), rate, rounds));
    }
    progress(number, "space");
    tell(&space::measure(seed));
}

fn query_count(keys: u64) -> usize {
    if keys > 1_000_000 {
        4_000_000
    } else {
        2_000_000
    }
}

/// Queries are a sample; mayhap answers for every key.
fn check_all_keys(filter: &mayhap::Bloom, keys: &[KeyHash]) {
    let mut found = vec![false; 1 << 16];
    for keys in keys.chunks(found.len()) {
        let found = &mut found[..keys.len()];
        found.fill(false);
        filter.contains_hashes(keys, found);
        assert!(
            found.iter().all(|found| *found),
            "mayhap does not know a key that is in"
        );
    }
}

/// Those of other kinds.
fn build_others(keys: &[KeyHash]) -> Vec<(&'static str, Built)> {
    let count = keys.len() as u64;
    let mut built = Vec::new();
    for candidate in &OTHERS {
        let mut figure = Figure::new(Case::Insert, count, STRICT, candidate.name);
        if let Some(reason) = candidate.too_much(count) {
            figure.note = Some(format!("skipped: {reason}"));
        } else {
            let mut other = None;
            let ns = cpu_ns(|| other = Some((candidate.build)(keys)));
            figure.ns = Some(ns / count as f64);
            built.extend(other.map(|other| (candidate.name, other)));
        }
        tell(&[figure]);
    }
    built
}

fn tell(figures: &[Figure]) {
    for figure in figures {
        let line = serde_json::to_string(figure).expect("figures are plain data");
        println!("{line}");
    }
}

fn progress(child: u64, what: &str) {
    eprintln!("process {child}: {what}");
}
