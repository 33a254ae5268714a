//! The filters that take part, each made for the rate asked as its own documentation says. Filters that grow key by key come
//! empty from here, with their memory written once, so that no page fault falls into the timing of anybody's inserts.

use crate::case::Ask;
use crate::figure::name;
use cuckoofilter::CuckooFilter;
use fastbloom::{AtomicBloomFilter, BloomFilter};
use mayhap::{Bloom, Cuckoo, Fuse, KeyHash, Ribbon};
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use xorf::{BinaryFuse8, Filter as _};

/// The rates of all cases but space: 1 % and 0.39 %, which is what 8-bit fingerprints give.
pub const RATES: [f64; 2] = [0.01, STRICT];
pub const STRICT: f64 = 1.0 / 256.0;

pub fn mayhap(keys: u64, rate: f64) -> Bloom {
    let mut filter = Bloom::for_hashes(keys, rate).expect("a filter of this size can be had");
    filter.clear();
    filter
}

pub fn our_cuckoo(keys: u64, rate: f64) -> Cuckoo {
    let mut filter = Cuckoo::for_hashes(keys, rate).expect("a filter of this size can be had");
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

/// Filters of other kinds (static, deleting), ours among them, and the set that filters stand in for. At 0.39 % only.
pub enum Other {
    OurFuse(Fuse),
    Ribbon(Ribbon),
    Fuse(BinaryFuse8),
    OurCuckoo(Cuckoo),
    OurCuckooBatch(Cuckoo),
    Cuckoo(Box<CuckooFilter<Folded>>),
    Quotient(qfilter::Filter),
    Set(HashSet<u64, BuildHasherDefault<Verbatim>>),
}

/// What building one of them takes, roughly: bytes per key at the peak and nanoseconds per key. Only to leave out what would
/// take more than 6 GB or two minutes.
pub struct Appetite {
    pub name: &'static str,
    bytes: f64,
    ns: f64,
}

pub const OTHERS: [Appetite; 8] = [
    Appetite {
        name: name::RIBBON,
        bytes: 13.0,
        ns: 200.0,
    },
    Appetite {
        name: name::OUR_FUSE,
        bytes: 13.0,
        ns: 100.0,
    },
    Appetite {
        name: name::FUSE,
        bytes: 33.0,
        ns: 100.0,
    },
    Appetite {
        name: name::OUR_CUCKOO,
        bytes: 1.4,
        ns: 250.0,
    },
    Appetite {
        name: name::OUR_CUCKOO_BATCH,
        bytes: 1.4,
        ns: 200.0,
    },
    Appetite {
        name: name::CUCKOO,
        bytes: 2.0,
        ns: 200.0,
    },
    Appetite {
        name: name::QFILTER,
        bytes: 4.0,
        ns: 250.0,
    },
    Appetite {
        name: name::SET,
        bytes: 20.0,
        ns: 150.0,
    },
];

impl Appetite {
    /// Why not to build this one for so many keys, if there is a reason.
    pub fn too_much(&self, keys: u64) -> Option<String> {
        let gigabytes = self.bytes * keys as f64 / 1e9;
        let seconds = self.ns * keys as f64 / 1e9;
        (gigabytes > 6.0 || seconds > 120.0)
            .then(|| format!("building takes about {gigabytes:.0} GB and {seconds:.0} s"))
    }
}

impl Other {
    /// Builds it from all keys.
    pub fn build(name: &str, keys: &[KeyHash]) -> Self {
        let hashes = keys.iter().map(|key| key.to_u64());
        match name {
            name::OUR_FUSE => {
                Self::OurFuse(Fuse::build(keys, STRICT).expect("distinct keys can be built from"))
            }
            name::RIBBON => {
                Self::Ribbon(Ribbon::build(keys, STRICT).expect("distinct keys can be built from"))
            }
            name::FUSE => {
                Self::Fuse(BinaryFuse8::try_from_iterator(hashes).expect("keys are distinct"))
            }
            name::OUR_CUCKOO => {
                let mut filter = our_cuckoo(keys.len() as u64, STRICT);
                for key in keys {
                    filter
                        .try_insert_hash(*key)
                        .expect("a mayhap Cuckoo holds its capacity");
                }
                Self::OurCuckoo(filter)
            }
            name::OUR_CUCKOO_BATCH => {
                let mut filter = our_cuckoo(keys.len() as u64, STRICT);
                filter
                    .try_insert_hashes(keys)
                    .expect("a mayhap Cuckoo holds its capacity");
                Self::OurCuckooBatch(filter)
            }
            name::CUCKOO => Self::Cuckoo(Box::new(cuckoo(keys))),
            name::QFILTER => {
                let mut filter = qfilter::Filter::new(keys.len() as u64, STRICT)
                    .expect("a quotient filter of this size can be had");
                for hash in hashes {
                    filter
                        .insert_fingerprint(false, hash)
                        .expect("a quotient filter holds its capacity");
                }
                Self::Quotient(filter)
            }
            _ => {
                let mut set = HashSet::with_capacity_and_hasher(keys.len(), Default::default());
                set.extend(hashes);
                Self::Set(set)
            }
        }
    }

    pub fn size_bits(&self) -> u64 {
        let bytes = match self {
            Self::OurFuse(filter) => filter.size_bytes() as usize,
            Self::Ribbon(filter) => filter.size_bytes() as usize,
            Self::Fuse(filter) => filter.len(),
            Self::OurCuckoo(filter) | Self::OurCuckooBatch(filter) => filter.size_bytes() as usize,
            Self::Cuckoo(filter) => filter.memory_usage(),
            Self::Quotient(filter) => filter.memory_usage(),
            // Eight buckets for seven keys, each a key and a byte.
            Self::Set(set) => set.capacity() / 7 * 8 * 9,
        };
        bytes as u64 * 8
    }

    /// Asks one key after the other, but for the one that is asked in a batch.
    pub fn ask(&self, queries: &[KeyHash], found: &mut [bool]) {
        match self {
            Self::OurFuse(filter) => ask_each(queries, found, |key| filter.contains_hash(*key)),
            Self::Ribbon(filter) => ask_each(queries, found, |key| filter.contains_hash(*key)),
            Self::Fuse(filter) => ask_each(queries, found, |key| filter.contains(&key.to_u64())),
            Self::OurCuckoo(filter) => ask_each(queries, found, |key| filter.contains_hash(*key)),
            Self::OurCuckooBatch(filter) => filter.contains_hashes(queries, found),
            Self::Cuckoo(filter) => ask_each(queries, found, |key| filter.contains(&key.to_u64())),
            Self::Quotient(filter) => ask_each(queries, found, |key| {
                filter.contains_fingerprint(key.to_u64())
            }),
            Self::Set(set) => ask_each(queries, found, |key| set.contains(&key.to_u64())),
        }
    }
}

impl Other {
    /// Asks all at once, where that exists, and under which name.
    pub fn ask_batch(&self) -> Option<(&'static str, Ask<'_, KeyHash>)> {
        match self {
            Self::OurFuse(filter) => Some((
                name::OUR_FUSE_BATCH,
                Box::new(|asked, found| filter.contains_hashes(asked, found)),
            )),
            Self::Ribbon(filter) => Some((
                name::RIBBON_BATCH,
                Box::new(|asked, found| filter.contains_hashes(asked, found)),
            )),
            _ => None,
        }
    }
}

/// The loop of everybody who is asked one key at a time: the same one, compiled once for each.
#[inline(never)]
pub fn ask_each<Q>(queries: &[Q], found: &mut [bool], contains: impl Fn(&Q) -> bool) {
    for (query, found) in queries.iter().zip(found) {
        *found = contains(query);
    }
}

/// Its capacity is a promise that it does not always keep: a full one gets twice the room.
fn cuckoo(keys: &[KeyHash]) -> CuckooFilter<Folded> {
    let mut capacity = keys.len();
    loop {
        let mut filter = CuckooFilter::with_capacity(capacity);
        if keys.iter().all(|key| filter.add(&key.to_u64()).is_ok()) {
            return filter;
        }
        capacity *= 2;
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
#[derive(Default)]
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
