//! Asking about URLs: hashing included, lengths mixed. mayhap hashes a chunk before it looks anywhere; the others take one
//! key at a time.

use super::{Ask, asking, check_rate, measured_rate};
use crate::figure::{Case, Figure, name};
use crate::keys::{Seed, Urls, push_url};
use crate::measure::alternate;
use crate::peers::{self, ask_each};
use mayhap::Bloom;
use twox_hash::XxHash3_64;

/// The number of keys of the target; smaller runs take what they have.
pub const MAX_KEYS: u64 = 10_000_000;

pub fn measure(seed: Seed, keys: u64, count: usize, rate: f64, rounds: usize) -> Vec<Figure> {
    let mut mayhap = Bloom::new(keys as usize, rate).expect("a filter of this size can be had");
    let mut fastbloom = peers::fastbloom(keys, rate);
    let mut sbbf = peers::sbbf(keys, rate);
    let mut url = Vec::new();
    for at in 0..keys {
        url.clear();
        push_url(&mut url, at);
        mayhap.insert(&url);
        fastbloom.insert(url.as_slice());
        sbbf.insert_hash(XxHash3_64::oneshot(&url));
    }

    let urls = Urls::queries(seed, keys, count);
    let queries = urls.to_queries();
    let asks: [(&'static str, Ask<'_, &[u8]>); 4] = [
        (
            name::MAYHAP,
            Box::new(|asked, found| ask_each(asked, found, |key| mayhap.contains(key))),
        ),
        (
            name::BATCH,
            Box::new(|asked, found| mayhap.contains_each(asked, found)),
        ),
        (
            name::FASTBLOOM,
            Box::new(|asked, found| ask_each(asked, found, |key| fastbloom.contains(*key))),
        ),
        (
            name::SBBF,
            Box::new(|asked, found| {
                ask_each(asked, found, |key| {
                    sbbf.contains_hash(XxHash3_64::oneshot(key))
                });
            }),
        ),
    ];
    let mut answers = vec![vec![false; count]; asks.len()];
    let mut contenders: Vec<_> = asks
        .into_iter()
        .zip(&mut answers)
        .map(|((name, ask), found)| asking(name, ask, &queries, found))
        .collect();
    let least = alternate(rounds, &mut contenders);
    let names: Vec<_> = contenders.iter().map(|contender| contender.name).collect();
    drop(contenders);

    assert!(
        answers[0] == answers[1],
        "mayhap answers differently in a batch"
    );
    let figures: Vec<_> = names
        .iter()
        .zip(least)
        .zip(&answers)
        .map(|((name, ns), found)| Figure {
            ns: Some(ns / count as f64),
            measured_rate: Some(measured_rate(name, &queries, found)),
            ..Figure::new(Case::UrlQuery, keys, rate, name)
        })
        .collect();
    let strangers = queries.present.iter().filter(|present| !**present).count();
    let measured = figures[0].measured_rate.unwrap_or(0.0);
    check_rate(mayhap.plan(), measured, strangers as f64);
    figures
}
