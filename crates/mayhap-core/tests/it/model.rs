//! Every kind against an exact multiset, through random operations: every present key is found, the results of inserts and
//! removals are right, and rejected operations change nothing.

use crate::kinds::{Constructor, KINDS, Key};
use crate::{mixed, soak};
use mayhap_core::{AnyFilter, Operation, OperationError};
use std::collections::BTreeMap;

/// Keys for the operations. Few, so that each is used many times.
const UNIVERSE: u64 = 3000;

struct Model {
    filter: AnyFilter,
    /// How often a key was inserted.
    present: BTreeMap<u64, u64>,
    random: u64,
}

impl Model {
    fn random(&mut self, below: u64) -> u64 {
        self.random += 1;
        mixed(self.random) % below
    }

    fn key(&mut self) -> u64 {
        self.random(UNIVERSE)
    }

    fn insert(&mut self) {
        let key = self.key();
        let was_in = self.filter.contains(key.to_le_bytes());
        match self.filter.try_insert(key.to_le_bytes()) {
            Ok(new) => {
                assert_eq!(new, !was_in);
                *self.present.entry(key).or_default() += 1;
            }
            Err(OperationError::Full(_)) => {}
            Err(other) => panic!("{other}"),
        }
    }

    fn remove(&mut self) {
        let key = self.key();
        let copies = self.present.get(&key).copied().unwrap_or(0);
        if copies == 0 {
            // A key that was not inserted may be removed only if the filter does not find it.
            if !self.filter.contains(key.to_le_bytes()) {
                assert_eq!(self.filter.remove(key.to_le_bytes()), Ok(false));
            }
            return;
        }
        match self.filter.remove(key.to_le_bytes()) {
            Ok(done) => {
                assert!(done, "{key} was in {copies} times");
                self.present.insert(key, copies - 1);
            }
            // It stays forever.
            Err(OperationError::Saturated(_)) => {}
            Err(other) => panic!("{other}"),
        }
    }

    fn check(&self) {
        let keys: Vec<Key> = self
            .present
            .iter()
            .filter(|&(_, &copies)| copies > 0)
            .map(|(key, _)| key.to_le_bytes())
            .collect();
        let mut found = vec![false; keys.len()];
        self.filter.contains_each(&keys, &mut found);
        assert!(found.iter().all(|&found| found), "{:?}", self.filter);
        assert!(keys.iter().all(|key| self.filter.contains(key)));
    }
}

#[test]
fn random_operations_on_every_kind_agree_with_an_exact_multiset() {
    let operations: u64 = if soak() { 100_000_000 } else { 100_000 };
    for (kind, constructor) in KINDS {
        // Static kinds cannot be changed; `kinds` has their tests.
        let Constructor::Empty(make) = constructor else {
            continue;
        };
        let mut model = Model {
            // Capacity for half of the keys: every kind is also driven past its capacity.
            filter: make(UNIVERSE / 2, 0.01),
            present: BTreeMap::new(),
            random: 0,
        };
        for at in 0..operations {
            match model.random(1000) {
                0 => {
                    model.filter.clear().unwrap();
                    model.present.clear();
                }
                // Removals are more frequent in every other phase, so that filters fill and empty.
                1..450 => model.insert(),
                450..550 if at / 5000 % 2 == 0 => model.insert(),
                _ if kind.can(Operation::Remove) => model.remove(),
                _ => {
                    let key = model.key();
                    if model.present.get(&key).is_some_and(|&copies| copies > 0) {
                        assert!(
                            model.filter.contains(key.to_le_bytes()),
                            "{kind} lost {key}"
                        );
                    }
                }
            }
            if at % 2000 == 0 {
                model.check();
            }
        }
        model.check();
        println!(
            "{kind}: {} after {operations} operations",
            model.filter.stats()
        );
    }
}
