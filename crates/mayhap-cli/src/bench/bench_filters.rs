//! The kinds of filter behind common traits, so that they can be measured.

use super::query_keys::key;
use mayhap_core::plan::{GrowingCuckooPlan, WindowCuckooPlan, WindowPlan};
use mayhap_core::{
    Bloom, ClassicBloom, CountingBloom, CountingCuckoo, Cuckoo, Fuse, GrowingBloom, GrowingCuckoo,
    HashScheme, KeyHash, Kind, PlanError, Ribbon, Timestamp, WindowBloom, WindowCuckoo,
};
use std::time::Duration;

/// A filter that can be queried.
pub(super) trait BenchFilter: Sized {
    fn contains(&self, hash: KeyHash) -> bool;
    fn contains_batch(&self, hashes: &[KeyHash], found: &mut [bool]);
    fn size_bytes(&self) -> u64;
}

/// A filter that is filled key by key. `first` is the index of the first key.
pub(super) trait InsertBench: BenchFilter {
    fn empty(keys: u64, rate: f64) -> Result<Self, PlanError>;
    fn clear(&mut self);
    /// Returns how many were definitely new.
    fn insert_single(&mut self, hashes: &[KeyHash], first: u64) -> usize;
    fn insert_batch(&mut self, hashes: &[KeyHash], first: u64);
}

/// A filter that is built from all keys at once.
pub(super) trait BuildBench: BenchFilter {
    fn build(hashes: &[KeyHash], rate: f64) -> Result<Self, PlanError>;
}

macro_rules! bench_filter {
    ($($filter:ty),*) => {
        $(impl BenchFilter for $filter {
            #[inline]
            fn contains(&self, hash: KeyHash) -> bool {
                self.contains_hash(hash)
            }

            fn contains_batch(&self, hashes: &[KeyHash], found: &mut [bool]) {
                self.contains_hashes(hashes, found);
            }

            fn size_bytes(&self) -> u64 {
                self.size_bytes()
            }
        })*
    };
}

bench_filter!(
    Bloom,
    ClassicBloom,
    CountingBloom,
    GrowingBloom,
    Cuckoo,
    GrowingCuckoo,
    CountingCuckoo,
    Fuse,
    Ribbon
);

macro_rules! insert_bench {
    ($($filter:ty: $keys:ident => $capacity:expr),*) => {
        $(impl InsertBench for $filter {
            fn empty($keys: u64, rate: f64) -> Result<Self, PlanError> {
                Self::for_hashes($capacity, rate)
            }

            fn clear(&mut self) {
                self.clear();
            }

            fn insert_single(&mut self, hashes: &[KeyHash], _first: u64) -> usize {
                hashes.iter().map(|&hash| usize::from(self.insert_hash(hash))).sum()
            }

            fn insert_batch(&mut self, hashes: &[KeyHash], _first: u64) {
                self.insert_hashes(hashes);
            }
        })*
    };
}

insert_bench! {
    Bloom: keys => keys as usize,
    ClassicBloom: keys => keys as usize,
    CountingBloom: keys => keys as usize,
    // As if the capacity was guessed far too low: it has grown by the time it is queried.
    GrowingBloom: keys => keys.div_ceil(16) as usize
}

macro_rules! cuckoo_bench {
    ($($filter:ty: $empty:expr),*) => {
        $(impl InsertBench for $filter {
            fn empty(keys: u64, rate: f64) -> Result<Self, PlanError> {
                let empty: fn(u64, f64) -> Result<Self, PlanError> = $empty;
                empty(keys, rate)
            }

            fn clear(&mut self) {
                self.clear();
            }

            fn insert_single(&mut self, hashes: &[KeyHash], _first: u64) -> usize {
                // A rejected key shows up when the answers are checked.
                let insert = |&hash: &KeyHash| self.try_insert_hash(hash).unwrap_or(false);
                hashes.iter().map(insert).map(usize::from).sum()
            }

            fn insert_batch(&mut self, hashes: &[KeyHash], _first: u64) {
                _ = self.try_insert_hashes(hashes);
            }
        })*
    };
}

cuckoo_bench! {
    Cuckoo: |keys, rate| Self::for_hashes(keys as usize, rate),
    GrowingCuckoo: |keys, rate| {
        Self::from_plan(GrowingCuckooPlan::with_maximum(keys, rate)?, HashScheme::Caller)
    },
    CountingCuckoo: |keys, rate| {
        Self::from_plan(GrowingCuckooPlan::with_maximum(keys, rate)?, HashScheme::Caller)
    }
}

macro_rules! build_bench {
    ($($filter:ty),*) => {
        $(impl BuildBench for $filter {
            fn build(hashes: &[KeyHash], rate: f64) -> Result<Self, PlanError> {
                Self::build(hashes, rate)
            }
        })*
    };
}

build_bench!(Fuse, Ribbon);

/// A window whose keys arrive evenly over time, so that all its slices are used.
pub(super) struct TimedWindow<F> {
    filter: F,
    keys: u64,
}

impl<F> TimedWindow<F> {
    const LENGTH_MS: u64 = 1 << 20;

    fn time_of(&self, number: u64) -> Timestamp {
        let share = u128::from(number) * u128::from(Self::LENGTH_MS) / u128::from(self.keys);
        Timestamp(share as u64)
    }
}

macro_rules! timed_window {
    ($($filter:ty, $plan:ty, |$window:ident, $hash:ident, $now:ident| $insert:expr;)*) => {
        $(impl BenchFilter for TimedWindow<$filter> {
            #[inline]
            fn contains(&self, hash: KeyHash) -> bool {
                self.filter.contains_hash(hash, self.filter.newest())
            }

            fn contains_batch(&self, hashes: &[KeyHash], found: &mut [bool]) {
                self.filter
                    .contains_hashes(hashes, self.filter.newest(), found);
            }

            fn size_bytes(&self) -> u64 {
                self.filter.size_bytes()
            }
        }

        impl InsertBench for TimedWindow<$filter> {
            fn empty(keys: u64, rate: f64) -> Result<Self, PlanError> {
                let length = Duration::from_millis(Self::LENGTH_MS);
                let plan = <$plan>::new(keys, rate, length)?;
                let filter = <$filter>::from_plan(plan, HashScheme::Caller, Timestamp(0))?;
                Ok(Self { filter, keys })
            }

            fn clear(&mut self) {
                // Time does not go back, so use a new filter.
                let (plan, scheme) = (*self.filter.plan(), self.filter.scheme());
                if let Ok(new) = <$filter>::from_plan(plan, scheme, Timestamp(0)) {
                    self.filter = new;
                }
            }

            fn insert_single(&mut self, hashes: &[KeyHash], first: u64) -> usize {
                (first..)
                    .zip(hashes)
                    .map(|(number, &$hash)| {
                        let $now = self.time_of(number);
                        let $window = &mut self.filter;
                        usize::from($insert)
                    })
                    .sum()
            }

            fn insert_batch(&mut self, hashes: &[KeyHash], first: u64) {
                self.insert_single(hashes, first);
            }
        })*
    };
}

timed_window! {
    WindowBloom, WindowPlan, |window, hash, now| window.insert_hash(hash, now);
    WindowCuckoo, WindowCuckooPlan, |window, hash, now| window.try_insert_hash(hash, now).unwrap_or(false);
}

/// The memory needed to measure a kind, besides the query keys.
pub(super) fn bytes_needed(kind: Kind, keys: u64, size_bytes: u64) -> u64 {
    if kind.can(mayhap_core::Operation::Insert) {
        size_bytes
    } else {
        // The hashes, the peak of building, and the filter: 64 and 100 bits per key.
        size_bytes.saturating_add(keys.saturating_mul(21))
    }
}

/// All hashes, for static kinds.
pub(super) fn all_hashes(keys: u64) -> Vec<KeyHash> {
    (0..keys).map(key).collect()
}
