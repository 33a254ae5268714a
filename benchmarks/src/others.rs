//! Filters of other kinds (static, deleting, growing, forgetting), ours and others', and the set that filters stand in for. All at
//! 0.39 %, which is what 8-bit fingerprints give. They are built once, from all keys, and asked beside the Bloom filters.

use crate::figure::name;
use crate::peers::{Folded, STRICT, Verbatim, ask_each, our_cuckoo};
use cuckoofilter::CuckooFilter;
use growable_bloom_filter::GrowableBloom;
use mayhap::{
    ClassicBloom, CountingBloom, Fuse, GrowingBloom, HashScheme, KeyHash, Ribbon, Timestamp,
    WindowBloom, plan,
};
use scalable_cuckoo_filter::{ScalableCuckooFilter, ScalableCuckooFilterBuilder};
use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::time::Duration;
use xorf::{BinaryFuse8, Filter as _};

/// Filters that grow begin with room for one key in a hundred.
const GUESS: u64 = 100;

/// Kinds that a run would take too long for at 100M keys, or that nobody would use there.
const UP_TO_10M: u64 = 10_000_000;

type Ask = Box<dyn Fn(&[KeyHash], &mut [bool])>;

/// One that takes part, and how it is built. The time of that is shown beside the inserts.
pub struct Candidate {
    pub name: &'static str,
    max_keys: u64,
    /// Bytes a key while it is built, roughly.
    bytes: u64,
    pub build: fn(&[KeyHash]) -> Built,
}

/// A filter with all keys.
pub struct Built {
    pub size_bits: u64,
    /// One key after the other.
    pub single: Option<Ask>,
    /// All at once, and the name for that.
    pub batch: Option<(&'static str, Ask)>,
}

impl Candidate {
    /// Why not to build this one for so many keys, if there is a reason.
    pub fn too_much(&self, keys: u64) -> Option<String> {
        let gigabytes = self.bytes * keys / 1_000_000_000;
        if keys > self.max_keys {
            Some("it would take too long".into())
        } else {
            (gigabytes > 6).then(|| format!("building takes about {gigabytes} GB"))
        }
    }
}

const fn candidate(
    name: &'static str,
    max_keys: u64,
    bytes: u64,
    build: fn(&[KeyHash]) -> Built,
) -> Candidate {
    Candidate {
        name,
        max_keys,
        bytes,
        build,
    }
}

pub const OTHERS: [Candidate; 17] = [
    candidate(name::RIBBON, u64::MAX, 13, ribbon),
    candidate(name::OUR_FUSE, u64::MAX, 13, our_fuse),
    candidate(name::FUSE, u64::MAX, 33, fuse),
    candidate(name::OUR_CUCKOO, u64::MAX, 2, our_cuckoo_single),
    candidate(name::OUR_CUCKOO_BATCH, u64::MAX, 2, our_cuckoo_batch),
    candidate(name::CUCKOO, u64::MAX, 2, cuckoo),
    candidate(name::QFILTER, u64::MAX, 4, quotient),
    candidate(name::GROWING, UP_TO_10M, 5, growing_single),
    candidate(name::GROWING_BATCH, UP_TO_10M, 5, growing_batch),
    candidate(name::GROWABLE, UP_TO_10M, 8, growable),
    candidate(name::SCALABLE, UP_TO_10M, 8, scalable),
    candidate(name::WINDOW, UP_TO_10M, 3, window),
    candidate(name::CLASSIC, UP_TO_10M, 2, classic_single),
    candidate(name::CLASSIC_BATCH, UP_TO_10M, 2, classic_batch),
    candidate(name::COUNTING, UP_TO_10M, 6, counting_single),
    candidate(name::COUNTING_BATCH, UP_TO_10M, 6, counting_batch),
    candidate(name::SET, u64::MAX, 20, set),
];

/// One of them by name, with all keys.
pub fn build(name: &str, keys: &[KeyHash]) -> Built {
    let candidate = OTHERS.iter().find(|candidate| candidate.name == name);
    (candidate.expect("a name of the table").build)(keys)
}

impl Built {
    /// Asks the way that it is named after.
    pub fn ask(&self, asked: &[KeyHash], found: &mut [bool]) {
        match (&self.single, &self.batch) {
            (Some(ask), _) | (None, Some((_, ask))) => ask(asked, found),
            (None, None) => {}
        }
    }

    fn single<F: 'static>(
        filter: F,
        size_bits: u64,
        contains: impl Fn(&F, KeyHash) -> bool + 'static,
    ) -> Self {
        Self {
            size_bits,
            single: Some(Box::new(move |asked, found| {
                ask_each(asked, found, |key| contains(&filter, *key));
            })),
            batch: None,
        }
    }

    fn batch(
        name: &'static str,
        size_bits: u64,
        ask: impl Fn(&[KeyHash], &mut [bool]) + 'static,
    ) -> Self {
        Self {
            size_bits,
            single: None,
            batch: Some((name, Box::new(ask))),
        }
    }

    /// Asked both ways; the batch by a copy, so that each has its own.
    fn both(mut self, other: Self) -> Self {
        self.batch = other.batch;
        self
    }
}

fn ribbon(keys: &[KeyHash]) -> Built {
    let filter = Ribbon::build(keys, STRICT).expect("distinct keys can be built from");
    let (copy, bits) = (filter.clone(), 8 * filter.size_bytes());
    Built::single(filter, bits, |filter, key| filter.contains_hash(key)).both(Built::batch(
        name::RIBBON_BATCH,
        bits,
        move |asked, found| copy.contains_hashes(asked, found),
    ))
}

fn our_fuse(keys: &[KeyHash]) -> Built {
    let filter = Fuse::build(keys, STRICT).expect("distinct keys can be built from");
    let (copy, bits) = (filter.clone(), 8 * filter.size_bytes());
    Built::single(filter, bits, |filter, key| filter.contains_hash(key)).both(Built::batch(
        name::OUR_FUSE_BATCH,
        bits,
        move |asked, found| copy.contains_hashes(asked, found),
    ))
}

fn fuse(keys: &[KeyHash]) -> Built {
    let hashes = keys.iter().map(|key| key.to_u64());
    let filter = BinaryFuse8::try_from_iterator(hashes).expect("keys are distinct");
    let bits = 8 * filter.len() as u64;
    Built::single(filter, bits, |filter, key| filter.contains(&key.to_u64()))
}

fn our_cuckoo_single(keys: &[KeyHash]) -> Built {
    let mut filter = our_cuckoo(keys.len() as u64, STRICT);
    for key in keys {
        filter
            .try_insert_hash(*key)
            .expect("a mayhap Cuckoo holds its capacity");
    }
    let bits = 8 * filter.size_bytes();
    Built::single(filter, bits, |filter, key| filter.contains_hash(key))
}

fn our_cuckoo_batch(keys: &[KeyHash]) -> Built {
    let mut filter = our_cuckoo(keys.len() as u64, STRICT);
    filter
        .try_insert_hashes(keys)
        .expect("a mayhap Cuckoo holds its capacity");
    Built::batch(
        name::OUR_CUCKOO_BATCH,
        8 * filter.size_bytes(),
        move |asked, found| {
            filter.contains_hashes(asked, found);
        },
    )
}

/// Its capacity is a promise that it does not always keep: a full one gets twice the room.
fn cuckoo(keys: &[KeyHash]) -> Built {
    let mut capacity = keys.len();
    let filter = loop {
        let mut filter = CuckooFilter::<Folded>::with_capacity(capacity);
        if keys.iter().all(|key| filter.add(&key.to_u64()).is_ok()) {
            break filter;
        }
        capacity *= 2;
    };
    let bits = 8 * filter.memory_usage() as u64;
    Built::single(filter, bits, |filter, key| filter.contains(&key.to_u64()))
}

fn quotient(keys: &[KeyHash]) -> Built {
    let mut filter = qfilter::Filter::new(keys.len() as u64, STRICT)
        .expect("a quotient filter of this size can be had");
    for key in keys {
        filter
            .insert_fingerprint(false, key.to_u64())
            .expect("a quotient filter holds its capacity");
    }
    let bits = 8 * filter.memory_usage() as u64;
    Built::single(filter, bits, |filter, key| {
        filter.contains_fingerprint(key.to_u64())
    })
}

fn guess(keys: &[KeyHash]) -> u64 {
    (keys.len() as u64).div_ceil(GUESS)
}

fn growing_single(keys: &[KeyHash]) -> Built {
    let mut filter = GrowingBloom::for_hashes(guess(keys) as usize, STRICT)
        .expect("a filter of this size can be had");
    for key in keys {
        filter.insert_hash(*key);
    }
    let bits = 8 * filter.size_bytes();
    Built::single(filter, bits, |filter, key| filter.contains_hash(key))
}

fn growing_batch(keys: &[KeyHash]) -> Built {
    let mut filter = GrowingBloom::for_hashes(guess(keys) as usize, STRICT)
        .expect("a filter of this size can be had");
    filter.insert_hashes(keys);
    Built::batch(
        name::GROWING_BATCH,
        8 * filter.size_bytes(),
        move |asked, found| {
            filter.contains_hashes(asked, found);
        },
    )
}

fn growable(keys: &[KeyHash]) -> Built {
    let mut filter = GrowableBloom::new(STRICT, guess(keys) as usize);
    for key in keys {
        filter.insert(key.to_u64());
    }
    let stored = postcard::to_stdvec(&filter).expect("it can be stored");
    Built::single(filter, 8 * stored.len() as u64, |filter, key| {
        filter.contains(key.to_u64())
    })
}

fn scalable(keys: &[KeyHash]) -> Built {
    let mut filter: ScalableCuckooFilter<u64, Folded> = ScalableCuckooFilterBuilder::new()
        .initial_capacity(guess(keys) as usize)
        .false_positive_probability(STRICT)
        .hasher(Folded::default())
        .finish();
    for key in keys {
        filter.insert(&key.to_u64());
    }
    let bits = filter.bits();
    Built::single(filter, bits, |filter, key| filter.contains(&key.to_u64()))
}

/// Its keys come evenly over the window.
fn window(keys: &[KeyHash]) -> Built {
    const LENGTH_MS: u64 = 1 << 20;
    let count = keys.len() as u64;
    let plan = plan::WindowPlan::new(count, STRICT, Duration::from_millis(LENGTH_MS))
        .expect("it can be planned");
    let mut filter = WindowBloom::from_plan(plan, HashScheme::Caller, Timestamp(0))
        .expect("a filter of this size can be had");
    for (number, key) in (0..).zip(keys) {
        filter.insert_hash(*key, Timestamp(number * LENGTH_MS / count));
    }
    let (copy, bits) = (filter.clone(), 8 * filter.size_bytes());
    Built::single(filter, bits, |filter, key| {
        filter.contains_hash(key, filter.newest())
    })
    .both(Built::batch(
        name::WINDOW_BATCH,
        bits,
        move |asked, found| copy.contains_hashes(asked, copy.newest(), found),
    ))
}

macro_rules! flat {
    ($filter:ident, $single:ident, $batch:ident, $name:expr) => {
        fn $single(keys: &[KeyHash]) -> Built {
            let mut filter =
                $filter::for_hashes(keys.len(), STRICT).expect("a filter of this size can be had");
            for key in keys {
                filter.insert_hash(*key);
            }
            let bits = 8 * filter.size_bytes();
            Built::single(filter, bits, |filter, key| filter.contains_hash(key))
        }

        fn $batch(keys: &[KeyHash]) -> Built {
            let mut filter =
                $filter::for_hashes(keys.len(), STRICT).expect("a filter of this size can be had");
            filter.insert_hashes(keys);
            Built::batch($name, 8 * filter.size_bytes(), move |asked, found| {
                filter.contains_hashes(asked, found);
            })
        }
    };
}

flat!(
    ClassicBloom,
    classic_single,
    classic_batch,
    name::CLASSIC_BATCH
);
flat!(
    CountingBloom,
    counting_single,
    counting_batch,
    name::COUNTING_BATCH
);

fn set(keys: &[KeyHash]) -> Built {
    let mut set: HashSet<u64, BuildHasherDefault<Verbatim>> =
        HashSet::with_capacity_and_hasher(keys.len(), BuildHasherDefault::default());
    set.extend(keys.iter().map(|key| key.to_u64()));
    // Eight buckets for seven keys, each a key and a byte.
    let bits = 8 * (set.capacity() as u64 / 7 * 8 * 9);
    Built::single(set, bits, |set, key| set.contains(&key.to_u64()))
}
