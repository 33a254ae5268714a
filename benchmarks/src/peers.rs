//! The Bloom filters that take part, each made for the rate asked as its own documentation says, and what all contenders share.
//! Filters that are filled key by key come empty from here, with their memory written once, so that no page fault falls into the timing of anybody's inserts.

use fastbloom::{AtomicBloomFilter, BloomFilter};
use mayhap::{Bloom, Cuckoo};
use std::hash::Hasher;

/// The rates of all cases but space: 1 % and 0.39 %, which is what 8-bit fingerprints give.
pub const RATES: [f64; 2] = [0.01, STRICT];
pub const STRICT: f64 = 1.0 / 256.0;

pub fn mayhap(keys: u64, rate: f64) -> Bloom {
    let mut filter =
        Bloom::for_hashes(keys as usize, rate).expect("a filter of this size can be had");
    filter.clear();
    filter
}

pub fn our_cuckoo(keys: u64, rate: f64) -> Cuckoo {
    let mut filter =
        Cuckoo::for_hashes(keys as usize, rate).expect("a filter of this size can be had");
    filter.clear();
    filter
}

pub fn fastbloom(keys: u64, rate: f64) -> BloomFilter {
    let mut filter = BloomFilter::with_false_pos(rate).expected_items(keys as usize);
    filter.clear();
    filter
}

pub fn fastbloom_atomic(keys: u64, rate: f64) -> AtomicBloomFilter {
    let filter = AtomicBloomFilter::with_false_pos(rate).expected_items(keys as usize);
    filter.clear();
    filter
}

/// It takes whole bits per key: the fewest that keep the rate (10.53 and 12.8 would do).
pub fn sbbf(keys: u64, rate: f64) -> sbbf_rs_safe::Filter {
    let bits_per_key = if rate < 0.005 { 13 } else { 11 };
    let mut filter = sbbf_rs_safe::Filter::new(bits_per_key, keys as usize);
    filter.reset();
    filter
}

/// The loop of everybody who is asked one key at a time: the same one, compiled once for each.
#[inline(never)]
pub fn ask_each<Q>(queries: &[Q], found: &mut [bool], contains: impl Fn(&Q) -> bool) {
    for (query, found) in queries.iter().zip(found) {
        *found = contains(query);
    }
}

/// Takes a hashed key for its hash.
#[derive(Default)]
pub struct Verbatim(u64);

impl Hasher for Verbatim {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are u64")
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// One multiplication a word. The cuckoo filter hashes its fingerprints too, so that a hasher that does nothing would leave
/// them a handful of buckets.
#[derive(Clone, Default)]
pub struct Folded(u64);

impl Hasher for Folded {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number ^ 0x2D35_8DCC_AA6C_78A5) * 0x8BB8_4B93_962E_ACC9;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}
