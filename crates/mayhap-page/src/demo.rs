//! A small filter, key by key: which bits each key sets, and what a lookup finds. The core sets the bits; this file reads them.

use crate::PageError;
use mayhap_core::{Bloom, ClassicBloom};
use serde_json::{Value, json};

/// What a page may request: pictures of more are unreadable.
const MAX_KEYS: usize = 1000;
const CAPACITY: std::ops::RangeInclusive<u64> = 1..=500;

/// The bits of a filter for `capacity` keys at `rate`, after some keys. The request is
/// `{"kind": "classic" | "bloom", "capacity": 24, "rate": 0.05, "keys": [...], "query": "..."}`.
///
/// # Errors
/// If a field is missing or out of range.
pub fn demo(request: &Value) -> Result<Value, PageError> {
    let capacity = request["capacity"].as_u64();
    let capacity = capacity
        .filter(|capacity| CAPACITY.contains(capacity))
        .ok_or_else(|| PageError::new("capacity: give a number of keys from 1 to 500"))?;
    let rate = request["rate"]
        .as_f64()
        .ok_or_else(|| PageError::new("rate: give a number between 0 and 1"))?;
    let keys: Vec<&str> = match request["keys"].as_array() {
        Some(keys) => keys.iter().filter_map(Value::as_str).collect(),
        None => Vec::new(),
    };
    if keys.len() > MAX_KEYS {
        return Err(PageError::new(format!("keys: give at most {MAX_KEYS}")));
    }
    let query = request["query"].as_str();
    match request["kind"].as_str() {
        Some("classic") => {
            let empty = ClassicBloom::new(capacity as usize, rate).map_err(PageError::new)?;
            let bits = empty.plan().bits;
            let row_bits = bits;
            Ok(show(&empty, bits, row_bits, &keys, query))
        }
        Some("bloom") => {
            let empty = Bloom::new(capacity as usize, rate).map_err(PageError::new)?;
            let bits = empty.plan().size_bits();
            Ok(show(&empty, bits, 512, &keys, query))
        }
        _ => Err(PageError::new("kind: give classic or bloom")),
    }
}

/// A filter of bits.
trait BitFilter: Clone {
    fn insert(&mut self, key: &str) -> bool;
    fn contains(&self, key: &str) -> bool;
    fn words(&self) -> Vec<u64>;
    fn figures(&self) -> mayhap_core::Stats;
}

impl BitFilter for ClassicBloom {
    fn insert(&mut self, key: &str) -> bool {
        ClassicBloom::insert(self, key)
    }
    fn contains(&self, key: &str) -> bool {
        ClassicBloom::contains(self, key)
    }
    fn words(&self) -> Vec<u64> {
        ClassicBloom::words(self).collect()
    }
    fn figures(&self) -> mayhap_core::Stats {
        self.stats()
    }
}

impl BitFilter for Bloom {
    fn insert(&mut self, key: &str) -> bool {
        Bloom::insert(self, key)
    }
    fn contains(&self, key: &str) -> bool {
        Bloom::contains(self, key)
    }
    fn words(&self) -> Vec<u64> {
        Bloom::words(self).collect()
    }
    fn figures(&self) -> mayhap_core::Stats {
        self.stats()
    }
}

fn positions(words: &[u64]) -> Vec<usize> {
    let bits = (0..words.len() * 64).filter(|at| words[at / 64] >> (at % 64) & 1 == 1);
    bits.collect()
}

fn show(
    empty: &impl BitFilter,
    bits: u64,
    line_bits: u64,
    keys: &[&str],
    query: Option<&str>,
) -> Value {
    // The bits of one key are those that it sets in an empty filter.
    let bits_of = |key: &str| {
        let mut alone = empty.clone();
        alone.insert(key);
        positions(&alone.words())
    };
    let mut filter = empty.clone();
    let inserted: Vec<Value> = keys
        .iter()
        .map(|key| {
            let is_new = filter.insert(key);
            json!({ "key": key, "bits": bits_of(key), "is_new": is_new })
        })
        .collect();
    let stats = filter.figures();
    json!({
        "bits": bits,
        "line_bits": line_bits,
        "probes": stats.probes,
        "capacity": stats.capacity,
        "fill": stats.fill,
        "estimated_keys": stats.estimated_keys,
        "estimated_rate": stats.estimated_rate,
        "false_positive_rate": stats.false_positive_rate,
        "set": positions(&filter.words()),
        "keys": inserted,
        "query": query.map(|key| json!({
            "key": key,
            "bits": bits_of(key),
            "answer": filter.contains(key),
            "was_inserted": keys.contains(&key),
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_of_all_keys_are_the_bits_of_the_filter() {
        for kind in ["classic", "bloom"] {
            let request = json!({ "kind": kind, "capacity": 24, "rate": 0.05, "keys": ["a", "b", "c"], "query": "z" });
            let answer = demo(&request).unwrap();
            let mut all: Vec<u64> = Vec::new();
            for key in answer["keys"].as_array().unwrap() {
                all.extend(
                    key["bits"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .filter_map(Value::as_u64),
                );
            }
            all.sort_unstable();
            all.dedup();
            assert_eq!(json!(all), answer["set"], "{kind}");
            assert_eq!(answer["query"]["was_inserted"], false);
        }
    }

    #[test]
    fn requests_out_of_range_are_refused() {
        for request in [
            json!({}),
            json!({ "kind": "classic", "capacity": 0, "rate": 0.1 }),
            json!({ "kind": "classic", "capacity": 10, "rate": 7.0 }),
            json!({ "kind": "cuckoo", "capacity": 10, "rate": 0.1 }),
            json!({ "kind": "bloom", "capacity": 10, "rate": 0.1, "keys": vec!["a"; 1001] }),
        ] {
            assert!(demo(&request).is_err(), "{request}");
        }
    }
}
