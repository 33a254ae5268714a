//! Keys chosen by an attacker who knows the hash break an unkeyed filter, and have no effect on a keyed one.

use mayhap_core::{Bloom, SipKey};

const CAPACITY: u64 = 1000;
const RATE: f64 = 0.01;

/// The share of 100,000 absent keys that a filter finds.
fn measured_rate(filter: &Bloom) -> f64 {
    let absent = 100_000_u32;
    let found = (0..absent)
        .filter(|i| filter.contains(format!("stranger {i}")))
        .count();
    found as f64 / f64::from(absent)
}

/// As many keys as the filter is planned for, each chosen offline, with a copy of the filter, to set many new bits in the first
/// six tenths of the lines: the attacker cannot fill more with that many keys.
fn chosen_keys() -> Vec<String> {
    let mut copy = Bloom::new(CAPACITY as usize, RATE).unwrap();
    let spared = (copy.words().count() * 6 / 10).next_multiple_of(8);
    let mut chosen = Vec::new();
    let (mut least_gain, mut in_vain) = (u64::from(copy.plan().probes()), 0);
    for candidate in 0_u64.. {
        let key = format!("chosen {candidate}");
        let mut trial = copy.clone();
        trial.insert(&key);
        let gain = trial.set_bits() - copy.set_bits();
        let is_spared = trial.words().skip(spared).any(|word| word != 0);
        if gain >= least_gain && !is_spared {
            copy = trial;
            chosen.push(key);
            in_vain = 0;
            if chosen.len() as u64 == CAPACITY {
                break;
            }
        } else {
            in_vain += 1;
            if in_vain == 3000 && least_gain > 1 {
                (least_gain, in_vain) = (least_gain - 1, 0);
            }
        }
    }
    chosen
}

#[test]
fn chosen_keys_break_an_unkeyed_filter_but_not_a_keyed_one() {
    let chosen = chosen_keys();
    let mut unkeyed = Bloom::new(CAPACITY as usize, RATE).unwrap();
    unkeyed.extend(&chosen);
    let broken = measured_rate(&unkeyed);
    assert!(broken > 0.4, "the attack works: {broken}");
    assert!(
        unkeyed.is_over_capacity() || unkeyed.estimated_rate() > 0.4,
        "and the filter says so"
    );

    let secrets = 100_u8;
    let mean = (1..=secrets)
        .map(|secret| {
            let mut keyed =
                Bloom::keyed(CAPACITY as usize, RATE, SipKey::new([secret; 16])).unwrap();
            keyed.extend(&chosen);
            measured_rate(&keyed)
        })
        .sum::<f64>()
        / f64::from(secrets);
    println!("chosen keys: {broken:.3} unkeyed, {mean:.5} keyed, requested {RATE}");
    assert!(mean <= RATE * 1.05, "{mean}");
}
