//! `Retouched`: every strategy clears the bit that its definition says, and the reported losses are the actual ones.

use crate::{hashes, mixed, soak};
use mayhap_core::plan::classic::ClassicPlan;
use mayhap_core::{
    ClearedBit, ClearingReport, ClearingStrategy, HashScheme, KeyHash, PlanError, Retouched,
    Scheme, SipKey,
};
use std::collections::{BTreeSet, HashSet};

const SCHEMES: [ClearingStrategy; 4] = [
    ClearingStrategy::Random { seed: 1 },
    ClearingStrategy::MinimumFalseNegatives,
    ClearingStrategy::MaximumFalsePositives,
    ClearingStrategy::Ratio,
];

fn small(bits: u64, probes: u32) -> Retouched {
    let plan = ClassicPlan::with_bits_and_probes(bits, probes).unwrap();
    Retouched::from_plan(plan, Scheme::EnhancedDoubleHashing, HashScheme::Caller).unwrap()
}

/// The rules of Hadoop's filter, literally: for every bit a list of the keys and one of the false positives that use it, and a
/// ratio that is computed only if there are both.
struct Model {
    bits: Vec<bool>,
    keys: Vec<Vec<u64>>,
    false_positives: Vec<Vec<u64>>,
    ratios: Vec<f64>,
    probes: u64,
}

impl Model {
    fn new(bits: usize, probes: u64) -> Self {
        Self {
            bits: vec![false; bits],
            keys: vec![Vec::new(); bits],
            false_positives: vec![Vec::new(); bits],
            ratios: vec![0.0; bits],
            probes,
        }
    }

    fn positions(&self, hash: u64) -> Vec<usize> {
        let product = u128::from(hash) * 0x9E37_79B9_7F4A_7C15;
        let step = ((product >> 64) as u64 ^ product as u64) | 1;
        let value = |i: u64| {
            hash.wrapping_add(i.wrapping_mul(step))
                .wrapping_add((i * i * i - i) / 6)
        };
        (0..self.probes)
            .map(|i| (value(i) % self.bits.len() as u64) as usize)
            .collect()
    }

    fn contains(&self, hash: u64) -> bool {
        self.positions(hash).into_iter().all(|at| self.bits[at])
    }

    fn insert(&mut self, hash: u64) {
        for at in self.positions(hash) {
            self.bits[at] = true;
            self.keys[at].push(hash);
        }
    }

    fn add_false_positive(&mut self, hash: u64) {
        for at in self.positions(hash) {
            self.false_positives[at].push(hash);
        }
    }

    /// The first position with the smallest cost.
    fn choose(&mut self, hash: u64, clearing: ClearingStrategy) -> usize {
        if clearing == ClearingStrategy::Ratio {
            for at in 0..self.bits.len() {
                let (keys, others) = (self.keys[at].len(), self.false_positives[at].len());
                if keys > 0 && others > 0 {
                    self.ratios[at] = keys as f64 / others as f64;
                }
            }
        }
        let cost = |at: usize| match clearing {
            ClearingStrategy::MinimumFalseNegatives => self.keys[at].len() as f64,
            ClearingStrategy::MaximumFalsePositives => -(self.false_positives[at].len() as f64),
            _ => self.ratios[at],
        };
        let positions = self.positions(hash);
        let mut best = positions[0];
        for at in positions {
            if cost(at) < cost(best) {
                best = at;
            }
        }
        best
    }

    fn clear(&mut self, at: usize) -> ClearedBit {
        let lost: BTreeSet<u64> = self.keys[at].iter().copied().collect();
        let gone: BTreeSet<u64> = self.false_positives[at].iter().copied().collect();
        let answered = gone.iter().filter(|&&hash| self.contains(hash)).count();
        for list in &mut self.keys {
            list.retain(|hash| !lost.contains(hash));
        }
        for list in &mut self.false_positives {
            list.retain(|hash| !gone.contains(hash));
        }
        self.ratios[at] = 0.0;
        self.bits[at] = false;
        ClearedBit {
            bit: at as u64,
            keys_lost: lost.len() as u64,
            false_positives_removed: answered as u64,
        }
    }
}

#[test]
fn every_strategy_clears_the_bit_of_its_definition() {
    let rounds = if soak() { 2000 } else { 60 };
    let mut cleared = [0_u64; 4];
    for round in 0..rounds {
        let (bits, probes) = [(64, 2), (97, 3), (300, 3), (512, 4), (31, 7)][round as usize % 5];
        let mut filter = small(bits, probes);
        let mut model = Model::new(bits as usize, u64::from(probes));
        // A few keys again and again, so that they repeat, are lost and are inserted again.
        let pool = |random: u64| mixed(round ^ mixed(random % (bits / 2)));
        let absent_key = |random: u64| mixed(!round ^ mixed(random % (4 * bits)));
        for step in 0..400 {
            let random = mixed(round << 32 | step);
            let which = (random >> 8) as usize % 4;
            let hash = if random % 5 < 2 {
                pool(random >> 16)
            } else {
                absent_key(random >> 16)
            };
            let key = KeyHash::from_u64(hash);
            match random % 5 {
                0 => {
                    assert_eq!(filter.insert_hash(key), !model.contains(hash));
                    model.insert(hash);
                }
                // Absent keys are listed whether they are found or not.
                2 => {
                    let found = filter.add_false_positive_hash(key).unwrap();
                    assert_eq!(found, model.contains(hash));
                    model.add_false_positive(hash);
                }
                // Also keys, and absent keys that are not listed.
                _ => {
                    let clearing = SCHEMES[which];
                    let known = model.contains(hash);
                    let report = filter.clear_false_positive_hash(key, clearing).unwrap();
                    assert_eq!(report.is_some(), known);
                    if let Some(report) = report {
                        if matches!(clearing, ClearingStrategy::Random { .. }) {
                            let positions = model.positions(hash);
                            assert!(positions.contains(&(report.bit as usize)));
                        } else {
                            let at = model.choose(hash, clearing);
                            assert_eq!(report.bit, at as u64, "{clearing:?}, step {step}");
                        }
                        assert_eq!(report, model.clear(report.bit as usize), "{clearing:?}");
                        cleared[which] += 1;
                    }
                }
            }
            let words = filter.as_classic().words();
            let set = words.flat_map(|word| (0..64).map(move |at| word >> at & 1 == 1));
            assert!(set.take(bits as usize).eq(model.bits.iter().copied()));
        }
    }
    println!("clearings compared: {cleared:?}");
    assert!(cleared.iter().all(|&count| count > rounds));
}

#[test]
fn clear_all_equals_clearing_one_by_one() {
    for round in 0..20 {
        for clearing in SCHEMES {
            let mut all = small(2000, 4);
            for hash in hashes(round, 0, 350) {
                all.insert_hash(hash);
            }
            let listed: Vec<_> = hashes(100 + round, 0, 600).collect();
            for &hash in &listed {
                all.add_false_positive_hash(hash).unwrap();
            }
            let mut one = all.clone();
            let mut sum = ClearingReport::default();
            for &hash in &listed {
                if let Some(cleared) = one.clear_false_positive_hash(hash, clearing).unwrap() {
                    sum.bits += 1;
                    sum.keys_lost += cleared.keys_lost;
                    sum.false_positives_removed += cleared.false_positives_removed;
                }
            }
            assert_eq!(all.clear_all(clearing).unwrap(), sum, "{clearing:?}");
            assert!(
                all.as_classic() == one.as_classic() && sum.bits > 10,
                "{clearing:?}"
            );
            assert_eq!(all.false_positive_hashes(), one.false_positive_hashes());
            assert_eq!(
                (all.keys_lost(), all.bits_cleared()),
                (sum.keys_lost, sum.bits)
            );
            assert!(listed.iter().all(|&hash| !all.contains_hash(hash)));
            assert_eq!(all.clear_all(clearing).unwrap(), ClearingReport::default());
        }
    }
}

/// Keys lost, bits cleared and false positives removed by a strategy; finds every loss by looking up all keys.
fn measured(seed: u64, keys: u64, list: u64, clearing: ClearingStrategy) -> ClearingReport {
    let mut filter = Retouched::for_hashes(keys as usize, 0.01).unwrap();
    let inserted: Vec<_> = hashes(seed, 0, keys).collect();
    filter.insert_hashes(&inserted);
    let mut unwanted = 0;
    for hash in hashes(seed + 1000, 0, list) {
        // Half are listed twice, and some are not found at all.
        for _ in 0..=hash.to_u64() % 2 {
            let found = filter.add_false_positive_hash(hash).unwrap();
            assert_eq!(found, filter.contains_hash(hash));
        }
        unwanted += u64::from(filter.contains_hash(hash));
    }
    let report = filter.clear_all(clearing).unwrap();
    let mut found = vec![false; inserted.len()];
    filter.contains_hashes(&inserted, &mut found);
    let lost = found.iter().filter(|&&found| !found).count() as u64;
    assert_eq!(report.keys_lost, lost, "{clearing:?}");
    assert_eq!(report.false_positives_removed, unwanted, "{clearing:?}");
    assert!(hashes(seed + 1000, 0, list).all(|hash| !filter.contains_hash(hash)));
    report
}

#[test]
fn reported_losses_are_the_actual_ones() {
    let keys = 200_000;
    for clearing in SCHEMES {
        let report = measured(1, keys, keys, clearing);
        println!("{clearing:?}: {report:?}");
        assert!((1500..=2100).contains(&report.false_positives_removed));
        assert!(report.keys_lost > 0 && report.bits <= report.false_positives_removed);
    }
}

#[test]
fn each_strategy_is_best_at_its_purpose() {
    let seeds = 8;
    let [random, min_keys, max_others, ratio] = SCHEMES.map(|clearing| {
        (1..=seeds).fold(ClearingReport::default(), |sum, seed| {
            let report = measured(seed, 5000, 50_000, clearing);
            ClearingReport {
                bits: sum.bits + report.bits,
                keys_lost: sum.keys_lost + report.keys_lost,
                false_positives_removed: sum.false_positives_removed
                    + report.false_positives_removed,
            }
        })
    });
    println!("{random:?}, {min_keys:?}, {max_others:?}, {ratio:?}");
    assert!(min_keys.keys_lost < random.keys_lost * 3 / 4);
    assert!(ratio.keys_lost < random.keys_lost * 3 / 4);
    assert!(max_others.bits < random.bits && max_others.bits < min_keys.bits);
}

#[test]
fn other_seeds_choose_other_bits_and_the_same_seed_the_same() {
    let mut filter = small(4096, 5);
    filter.insert_hashes(&hashes(1, 0, 500).collect::<Vec<_>>());
    let key = hashes(1, 0, 1).next().unwrap();
    let bit = |seed| {
        let clearing = ClearingStrategy::Random { seed };
        let report = filter.clone().clear_false_positive_hash(key, clearing);
        report.unwrap().unwrap().bit
    };
    let bits: HashSet<u64> = (0..100).map(bit).collect();
    assert_eq!(bits.len(), 5, "every bit of the key has its turn");
    assert!((0..100).all(|seed| bit(seed) == bit(seed)));
}

#[test]
fn lost_keys_can_be_inserted_again() {
    let mut filter = Retouched::keyed(100, 0.01, SipKey::new([3; 16])).unwrap();
    let keys: Vec<_> = (0..100_u32).map(u32::to_le_bytes).collect();
    filter.extend(&keys);
    let clearing = ClearingStrategy::MinimumFalseNegatives;
    let report = filter.clear_false_positive(keys[7], clearing).unwrap();
    assert!(report.unwrap().keys_lost >= 1);
    assert!(!filter.contains(keys[7]) && filter.insert(keys[7]) && filter.contains(keys[7]));
    let mut found = [false; 100];
    filter.contains_each(&keys, &mut found);
    let lost = found.iter().filter(|&&found| !found).count() as u64;
    assert_eq!(lost, filter.keys_lost() - 1);
    assert_eq!(
        filter.clear_false_positive("absent", clearing).unwrap(),
        None
    );
}

#[test]
fn cleared_filters_equal_new_ones_and_stats_follow_the_bits() {
    let mut filter = Retouched::new(1000, 0.01).unwrap();
    let new = filter.clone();
    filter.extend((0..1000_u32).map(u32::to_le_bytes));
    filter.add_false_positives(&["a", "b", "c"]).unwrap();
    assert!(filter.estimated_keys().abs_diff(1000) < 50 && !filter.is_over_capacity());
    assert!((filter.estimated_rate() / 0.01 - 1.0).abs() < 0.3);
    assert_eq!(
        filter.size_bytes(),
        filter.as_classic().size_bytes() + 8 * 1003
    );
    assert_eq!(filter.capacity(), 1000);
    assert!(filter.keys_until_full() < 50 && filter.unlisted_keys() == 0);
    assert!(filter != new);
    filter.clear();
    assert!(filter == new && filter.is_empty() && filter.into_classic() == new.into_classic());
}

#[test]
fn invalid_shapes_name_the_field() {
    let error = Retouched::new(0, 0.01).unwrap_err();
    assert!(matches!(
        error,
        PlanError::InvalidInteger {
            field: "capacity",
            ..
        }
    ));
    let error = Retouched::new(10, 1.0).unwrap_err();
    assert!(error.to_string().contains("false_positive_rate"), "{error}");
    let debug = format!(
        "{:?}",
        Retouched::keyed(10, 0.1, SipKey::new([1; 16])).unwrap()
    );
    assert!(
        debug.contains("0 keys lost") && debug.contains("SipKey(..)"),
        "{debug}"
    );
}
