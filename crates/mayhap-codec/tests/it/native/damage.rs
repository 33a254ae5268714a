//! Every damage is found.

use super::filters::filters;
use super::{decode, header_bytes};
use mayhap_codec::{Problem, native};

#[test]
fn every_bit_of_a_header_that_is_flipped_is_found() {
    for filter in filters() {
        let bytes = native::encode(&filter).unwrap();
        for bit in 0..header_bytes(&bytes) * 8 {
            assert_found(&bytes, bit);
        }
    }
}

/// A hundred thousand, among bodies and tables of every kind.
#[test]
fn bits_of_bodies_that_are_flipped_are_found() {
    let filters = filters();
    let each = 100_000_usize.div_ceil(filters.len());
    let mut random = 1_u64;
    for filter in filters {
        let bytes = native::encode(&filter).unwrap();
        let begin = header_bytes(&bytes) * 8;
        for _ in 0..each {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let bit = begin + (random >> 16) as usize % (bytes.len() * 8 - begin);
            assert_found(&bytes, bit);
        }
    }
}

fn assert_found(bytes: &[u8], bit: usize) {
    let mut flipped = bytes.to_vec();
    flipped[bit / 8] ^= 1 << (bit % 8);
    assert!(decode(&flipped).is_err(), "bit {bit} of {}", bytes.len());
}

#[test]
fn a_file_that_is_cut_or_longer_is_refused() {
    for filter in filters() {
        let bytes = native::encode(&filter).unwrap();
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err(), "{length} bytes");
        }
        let longer = [&bytes[..], &[0]].concat();
        let problem = decode(&longer).unwrap_err().problem;
        assert_eq!(problem, Problem::Trailing { bytes: 1 });
    }
}
