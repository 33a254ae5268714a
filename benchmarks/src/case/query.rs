//! Asking about hashed keys, half of them present: one by one, in a batch, and the memory's own speed on the same lines.

use super::{Ask, asking, check_rate, measured_rate};
use crate::case::insert::Filled;
use crate::clock::cpu_ns;
use crate::figure::{Case, Figure, name};
use crate::keys::Queries;
use crate::measure::{Contender, alternate};
use crate::others::Built;
use crate::peers::ask_each;
use mayhap::{Bloom, KeyHash, memory_probe};
use std::hint::black_box;

/// Distances among which the memory's best is sought.
const DISTANCES: [usize; 8] = [8, 16, 24, 32, 48, 64, 96, 128];

pub fn measure(
    filled: &Filled,
    others: &[(&'static str, Built)],
    queries: &Queries<KeyHash>,
    keys: u64,
    rate: f64,
    rounds: usize,
) -> Vec<Figure> {
    let Filled {
        mayhap,
        fastbloom,
        sbbf,
    } = filled;
    let mut asks: Vec<(&'static str, Ask<'_, KeyHash>)> = vec![
        (
            name::MAYHAP,
            Box::new(|asked, found| ask_each(asked, found, |key| mayhap.contains_hash(*key))),
        ),
        (
            name::BATCH,
            Box::new(|asked, found| mayhap.contains_hashes(asked, found)),
        ),
        (
            name::FASTBLOOM,
            Box::new(|asked, found| {
                ask_each(asked, found, |key| fastbloom.contains_hash(key.to_u64()));
            }),
        ),
        (
            name::SBBF,
            Box::new(|asked, found| ask_each(asked, found, |key| sbbf.contains_hash(key.to_u64()))),
        ),
    ];
    let mut size_bits = vec![
        mayhap.plan().size_bits(),
        mayhap.plan().size_bits(),
        fastbloom.num_bits() as u64,
        sbbf.as_bytes().len() as u64 * 8,
    ];
    for (name, other) in others {
        let single = other.single.iter().map(|ask| (*name, ask));
        let batch = other.batch.iter().map(|(name, ask)| (*name, ask));
        for (name, ask) in single.chain(batch) {
            asks.push((name, Box::new(|asked, found| ask(asked, found))));
            size_bits.push(other.size_bits);
        }
    }
    // One set of answers each, in the order of `asks`.
    let mut answers = vec![vec![false; queries.asked.len()]; asks.len()];
    let mut contenders: Vec<_> = asks
        .into_iter()
        .zip(&mut answers)
        .map(|((name, ask), found)| asking(name, ask, queries, found))
        .collect();
    let distance = best_distance(mayhap, &queries.asked);
    contenders.push(Contender::new(name::PREFETCHED, |_| {
        load_lines(mayhap, &queries.asked, distance)
    }));
    contenders.push(Contender::new(name::DEPENDENT, |_| {
        // A hundred times slower than the others, so fewer will do.
        let count = queries.asked.len() / 8;
        8.0 * cpu_ns(|| _ = black_box(memory_probe::chase_lines(mayhap, count)))
    }));

    let rounds = if keys <= 1_000_000 {
        3 * rounds
    } else {
        rounds
    };
    let least = alternate(rounds, &mut contenders);
    let names: Vec<_> = contenders.iter().map(|contender| contender.name).collect();
    drop(contenders);

    assert!(
        answers[0] == answers[1],
        "mayhap answers differently in a batch"
    );
    let mut figures: Vec<_> = names
        .iter()
        .zip(least)
        .map(|(name, ns)| Figure {
            ns: Some(ns / queries.asked.len() as f64),
            ..Figure::new(Case::Query, keys, rate, name)
        })
        .collect();
    for ((figure, answers), size_bits) in figures.iter_mut().zip(&answers).zip(size_bits) {
        figure.bits_per_key = Some(size_bits as f64 / keys as f64);
        figure.measured_rate = Some(measured_rate(&figure.name, queries, answers));
    }
    let strangers = queries.present.iter().filter(|present| !**present).count();
    check_rate(
        mayhap.plan(),
        figures[0].measured_rate.unwrap_or(0.0),
        strangers as f64,
    );
    if let Some(memory) = figures
        .iter_mut()
        .find(|figure| figure.name == name::PREFETCHED)
    {
        memory.note = Some(format!("asked for {distance} keys ahead"));
    }
    figures
}

/// Two rounds of each distance. The winner is then measured again beside the others, so that it does not profit from having
/// had more turns than they.
fn best_distance(filter: &Bloom, asked: &[KeyHash]) -> usize {
    let mut contenders = DISTANCES
        .map(|ahead| Contender::new(name::PREFETCHED, move |_| load_lines(filter, asked, ahead)));
    let least = alternate(2, &mut contenders);
    let best = DISTANCES
        .iter()
        .zip(least)
        .min_by(|a, b| a.1.total_cmp(&b.1));
    best.map_or(DISTANCES[0], |(distance, _)| *distance)
}

fn load_lines(filter: &Bloom, asked: &[KeyHash], ahead: usize) -> f64 {
    cpu_ns(|| _ = black_box(memory_probe::load_lines(filter, asked, ahead)))
}
