//! Bits per key. mayhap gets a rate to keep; then the size is sought at which each peer has the rate that mayhap was measured
//! to have, by bisection, with the same strangers asked every time.

use super::check_rate;
use crate::figure::{Case, Figure, name};
use crate::keys::Seed;
use crate::peers;
use fastbloom::BloomFilter;
use mayhap::KeyHash;

/// The rates, and the bits per key of the best blocked filter there is for each: k chosen freely, one line a key at the
/// first two and two lines at the others (computed, not measured).
pub const OPTIMA: [(f64, f64); 4] = [
    (0.01, 9.90),
    (peers::STRICT, 12.10),
    (0.001, 14.60),
    (0.0001, 19.79),
];

pub const KEYS: u64 = 1_000_000;

const CHUNK: usize = 4096;

pub fn measure(seed: Seed) -> Vec<Figure> {
    let keys = seed.keys(KEYS);
    OPTIMA
        .iter()
        .flat_map(|&(rate, _)| at_rate(seed, &keys, rate))
        .collect()
}

fn at_rate(seed: Seed, keys: &[KeyHash], rate: f64) -> [Figure; 4] {
    // 5000 false positives at least, for 1.4 % of error in the rate, 0.03 bits per key.
    let strangers = (5000.0 / rate).max(1e7) as u64;
    let figure = |name, size_bits: u64, measured| Figure {
        bits_per_key: Some(size_bits as f64 / KEYS as f64),
        measured_rate: Some(measured),
        ..Figure::new(Case::Space, KEYS, rate, name)
    };

    let mut filter = peers::mayhap(KEYS, rate);
    filter.insert_hashes(keys);
    let measured = rate_among(seed, strangers, |asked, found| {
        filter.contains_hashes(asked, found);
    });
    check_rate(filter.plan(), measured, strangers as f64);
    let ours = filter.plan().size_bits();

    let mut cuckoo = peers::our_cuckoo(KEYS, rate);
    cuckoo
        .try_insert_hashes(keys)
        .expect("a mayhap Cuckoo holds its capacity");
    let cuckoo_rate = rate_among(seed, strangers, |asked, found| {
        cuckoo.contains_hashes(asked, found);
    });

    let sbbf = smallest(ours, measured, |bits| {
        let mut filter = sbbf_rs_safe::Filter::new(1, bits as usize);
        for key in keys {
            filter.insert_hash(key.to_u64());
        }
        let rate = rate_among(seed, strangers, |asked, found| {
            peers::ask_each(asked, found, |key| filter.contains_hash(key.to_u64()));
        });
        (filter.as_bytes().len() as u64 * 8, rate)
    });
    let fastbloom = smallest(ours, measured, |bits| {
        let mut filter = BloomFilter::with_num_bits(bits as usize).expected_items(KEYS as usize);
        for key in keys {
            filter.insert_hash(key.to_u64());
        }
        let rate = rate_among(seed, strangers, |asked, found| {
            peers::ask_each(asked, found, |key| filter.contains_hash(key.to_u64()));
        });
        (filter.num_bits() as u64, rate)
    });
    [
        figure(name::MAYHAP, ours, measured),
        figure(name::SBBF, sbbf.0, sbbf.1),
        figure(name::FASTBLOOM, fastbloom.0, fastbloom.1),
        figure(name::OUR_CUCKOO, cuckoo.size_bytes() * 8, cuckoo_rate),
    ]
}

/// The size in bits, and its rate, at which a peer's rate is just not above `wanted`. `try_size` makes one and measures it.
fn smallest(ours: u64, wanted: f64, try_size: impl Fn(u64) -> (u64, f64)) -> (u64, f64) {
    let (mut low, mut high) = (ours / 2, ours * 2);
    let mut best = try_size(high);
    assert!(best.1 <= wanted, "twice mayhap's size is not enough");
    while high - low > KEYS / 200 {
        let middle = low + (high - low) / 2;
        let tried = try_size(middle);
        if tried.1 <= wanted {
            (high, best) = (middle, tried);
        } else {
            low = middle;
        }
    }
    best
}

/// The share of strangers that are found.
fn rate_among(seed: Seed, strangers: u64, ask: impl Fn(&[KeyHash], &mut [bool])) -> f64 {
    let mut asked = Vec::with_capacity(CHUNK);
    let mut found = [false; CHUNK];
    let mut positives = 0;
    let mut next = 0;
    while next < strangers {
        let end = strangers.min(next + CHUNK as u64);
        asked.clear();
        asked.extend((next..end).map(|at| seed.stranger(at)));
        let found = &mut found[..asked.len()];
        ask(&asked, found);
        positives += found.iter().filter(|found| **found).count();
        next = end;
    }
    positives as f64 / strangers as f64
}
