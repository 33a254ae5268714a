//! The keys of a benchmark, computed from their index instead of stored: 100M hashes would take 800 MB.

use mayhap_core::KeyHash;

/// The hash of a key: `SplitMix64` of its index, a bijection, so that different keys never collide and a key that was not
/// inserted is certainly absent.
pub(super) fn key(number: u64) -> KeyHash {
    KeyHash::from_u64(split_mix(number))
}

fn split_mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The queries for a filter of the keys `0..keys`: half of them present, in an order that a CPU cannot predict.
pub(super) struct QueryKeys {
    pub(super) hashes: Vec<KeyHash>,
    present: Vec<bool>,
}

impl QueryKeys {
    pub(super) fn new(keys: u64, count: u64) -> Self {
        let (hashes, present) = (0..count)
            .map(|at| {
                // Random bits come from high indexes, far from all keys.
                let coin = split_mix(!at);
                let present = coin >> 63 == 1;
                let number = if present {
                    ((u128::from(coin << 1) * u128::from(keys)) >> 64) as u64
                } else {
                    keys + at
                };
                (key(number), present)
            })
            .unzip();
        Self { hashes, present }
    }

    /// Every present key must be found, and a batch must give the same answers as single queries.
    pub(super) fn check(&self, single: &[bool], batch: &[bool]) -> Result<(), &'static str> {
        let missed = |found: &[bool]| {
            self.present
                .iter()
                .zip(found)
                .any(|(&present, &found)| present && !found)
        };
        if missed(single) {
            Err("a single query did not find a key that was inserted")
        } else if missed(batch) {
            Err("a batch query did not find a key that was inserted")
        } else if single == batch {
            Ok(())
        } else {
            Err("a batch query answered otherwise than single ones")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_queries_are_present_and_the_others_are_absent() {
        let keys = 1000;
        let questions = QueryKeys::new(keys, 10_000);
        let inserted = (0..keys).map(key).collect::<std::collections::HashSet<_>>();
        assert_eq!(inserted.len(), 1000);
        for (hash, &present) in questions.hashes.iter().zip(&questions.present) {
            assert_eq!(inserted.contains(hash), present);
        }
        let present = questions.present.iter().filter(|&&present| present).count();
        assert!((4700..5300).contains(&present), "{present}");
    }

    #[test]
    fn wrong_answers_are_noticed() {
        let questions = QueryKeys::new(100, 100);
        let right = questions.present.clone();
        assert_eq!(questions.check(&right, &right), Ok(()));
        let present = right.iter().position(|&present| present).unwrap();
        let absent = right.iter().position(|&present| !present).unwrap();
        let mut missed = right.clone();
        missed[present] = false;
        assert!(
            questions
                .check(&missed, &right)
                .unwrap_err()
                .contains("single")
        );
        assert!(
            questions
                .check(&right, &missed)
                .unwrap_err()
                .contains("batch")
        );
        let mut more = right.clone();
        more[absent] = true;
        assert_eq!(
            questions.check(&more, &more),
            Ok(()),
            "a false positive is no error"
        );
        assert!(
            questions
                .check(&right, &more)
                .unwrap_err()
                .contains("otherwise")
        );
    }
}
