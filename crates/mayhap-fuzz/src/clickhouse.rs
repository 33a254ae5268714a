//! ClickHouse's granules, whose parameters are not in the file, and their compressed frames.

use crate::round_trip::{KEYS, check_bits};
use crate::{LIMITS, checksums};
use mayhap_codec::clickhouse::{self, Granule, frames as framed, terms as termed};

pub(crate) fn granules(bytes: &[u8]) {
    for (rate, columns) in [(0.01, 1), (0.025, 1), (0.1, 1), (0.0001, 1), (0.9, 2)] {
        if let Ok(granules) = clickhouse::decode(bytes, rate, columns) {
            let get = |at| granules.get(at).expect("a granule that was checked before");
            let all: Vec<Granule> = (0..granules.len()).map(get).collect();
            for granule in &all {
                for column in 0..columns {
                    granule.contains(column, 42);
                }
            }
            let written = clickhouse::encode(&all);
            let again = clickhouse::decode(&written, rate, columns);
            let again = again.expect("encoded bytes are decoded");
            assert_eq!(again.len(), all.len());
            for (at, granule) in all.iter().enumerate() {
                assert_eq!(again.get(at).as_ref(), Ok(granule));
            }
        }
    }
}

pub(crate) fn terms(bytes: &[u8]) {
    for (hashes, seed) in [(1, 0), (4, u64::MAX), (300, 7)] {
        if let Ok(filter) = termed::decode(bytes, hashes, seed) {
            for text in KEYS.into_iter().chain([bytes]) {
                let tokens = termed::tokens(text).all(|token| filter.contains(token));
                assert_eq!(termed::contains_tokens(&filter, text), tokens);
                for n in 0..4 {
                    termed::contains_ngrams(&filter, text, n);
                }
            }
            check_bits(filter, termed::encode, |bytes| {
                termed::decode(bytes, hashes, seed)
            });
        }
    }
}

pub(crate) fn frames(bytes: &[u8]) {
    for bytes in [bytes, &checksums::frames(bytes)] {
        if let Ok(unpacked) = framed::decompress(bytes, LIMITS) {
            assert!(unpacked.len() as u64 <= LIMITS.max_bytes);
            granules(&unpacked);
        }
    }
}
