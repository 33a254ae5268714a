//! How Cassandra derives bits per key ("buckets") and probes from `bloom_filter_fp_chance`, and the size of a filter from its keys.
//!
//! It looks the chance up in the same printed table as ClickHouse, but searches it in another way. The codec has the file format
//! and the hash.

use super::clickhouse::TableEntry;
use crate::PlanError;

/// The most buckets that the table has.
pub const MAX_BUCKETS: u32 = 20;

/// The best number of probes for 1, 2, ... buckets, as Cassandra lists them.
const BEST_PROBES: [u32; MAX_BUCKETS as usize] = [
    1, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 8, 9, 10, 10, 11, 12, 12, 13, 14,
];

/// Chances from here on get one bucket and two probes, whatever they are.
const LOOSE_CHANCE: f64 = 0.393;
const LOOSEST: (u32, u32) = (1, 2);

/// Bits that every filter has beside its buckets.
const EXCESS_BITS: u64 = 20;

/// The number of probes for a number of buckets; `None` if the table has no such row.
pub fn best_probes(buckets: u32) -> Option<u32> {
    let row = buckets.checked_sub(1)? as usize;
    BEST_PROBES.get(row).copied()
}

/// The buckets and the probes for a chance below 1: the fewest buckets that keep it, then the fewest probes that do.
///
/// # Errors
///
/// If the chance is below 0.0000671, which 20 buckets cannot keep, or not below 1: a table with chance 1 has no filter.
pub fn buckets_and_probes(chance: f64) -> Result<(u32, u32), PlanError> {
    let refused = PlanError::InvalidNumber {
        field: "false_positive_rate",
        value: chance,
        accepted: "0.0000671 or more, and below 1: Cassandra has at most 20 bits per key",
    };
    if !(chance > 0.0 && chance < 1.0) {
        return Err(refused);
    }
    if chance >= LOOSE_CHANCE {
        return Ok(LOOSEST);
    }
    for (buckets, best) in (1..).zip(BEST_PROBES).skip(1) {
        let keeps = |probes| {
            probes > 0 && TableEntry::for_bits_and_probes(buckets, probes).value() <= chance
        };
        if keeps(best) {
            let mut probes = best;
            while keeps(probes - 1) {
                probes -= 1;
            }
            return Ok((buckets, probes));
        }
    }
    Err(refused)
}

/// The number of 64-bit words for that many keys.
///
/// # Errors
///
/// If a file cannot have as many.
pub fn words(keys: u64, buckets: u32) -> Result<u64, PlanError> {
    let bits = keys.checked_mul(u64::from(buckets));
    let words = bits.and_then(|bits| Some((bits.checked_add(EXCESS_BITS - 1)? >> 6) + 1));
    words
        .filter(|&words| i32::try_from(words).is_ok())
        .ok_or(PlanError::InvalidInteger {
            field: "capacity",
            value: keys,
            accepted: "fewer keys: a file has at most 2^31 - 1 words of 64 bits",
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_get_what_cassandra_gives_them() {
        for (chance, buckets, probes) in [
            (0.99, 1, 2),
            (0.393, 1, 2),
            (0.3929, 3, 1),
            (0.2, 4, 2),
            (0.1, 5, 3),
            (0.05, 7, 3),
            (0.01, 10, 5),
            (0.001, 15, 7),
            (0.0001, 20, 10),
            (6.71e-5, 20, 14),
        ] {
            assert_eq!(
                buckets_and_probes(chance),
                Ok((buckets, probes)),
                "{chance}"
            );
        }
        for chance in [6.7e-5, 0.0, -1.0, 1.0, 2.0, f64::NAN] {
            assert!(buckets_and_probes(chance).is_err(), "{chance}");
        }
    }

    #[test]
    fn words_have_room_for_a_few_bits_more() {
        for (keys, buckets, expected) in [(0, 1, 1), (4, 11, 1), (5, 10, 2), (100, 10, 16)] {
            assert_eq!(words(keys, buckets), Ok(expected), "{keys} {buckets}");
        }
        assert!(words(u64::MAX, 2).is_err() && words(1 << 40, 20).is_err());
        assert_eq!(best_probes(0), None);
        assert_eq!(best_probes(1), Some(1));
        assert_eq!(best_probes(20), Some(14));
        assert_eq!(best_probes(21), None);
    }
}
