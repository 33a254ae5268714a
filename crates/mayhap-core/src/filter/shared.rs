//! `SharedBloom`: a `Bloom` that many threads fill at once through `&self`, without locks. `shared/reads.rs` has what is read from
//! the whole filter meanwhile.

mod reads;

use super::bloom::{self, Bloom};
use crate::key_type::key_type_methods;
use crate::plan::BloomPlan;
use crate::probe::blocked::BlockedWalk;
use crate::simd::atomic_lines::{missing_words, prefetch_to_write};
use crate::simd::kernel::UsableKernel;
use crate::simd::{BloomTable, CACHED_BYTES, prefetch};
use crate::store::atomic_line::{Acquire, AtomicBool, AtomicLine, Relaxed, Release};
use crate::store::{Line, Slab};
use crate::{HashScheme, Key, KeyHash, KeyType, Mismatch, PlanError, SipKey};
use core::fmt;

/// Locks of `insert_unique`; a power of two. Two threads contend for the same one by chance once in 64 times.
const STRIPES: usize = if cfg!(loom) { 2 } else { 64 };

/// How many keys ahead a batch prefetches.
const AHEAD: usize = 32;

/// From this many keys per line of the filter on, a batch is first collected in a copy. Creating and merging a copy costs about
/// 40 ns per line, and saves about 15 ns per key.
const KEYS_PER_LINE: u64 = 4;

/// The largest copy: every thread may have one at the same time. Larger filters miss the cache with every key, and prefetching
/// hides most of the cost of atomic writes behind the misses.
const MAX_COPY_BYTES: u64 = 64 << 20;

/// A [`Bloom`] whose inserts take `&self`: many threads can fill and query it, and [`freeze`](SharedBloom::freeze) turns it into
/// a `Bloom`. The same keys give the same bytes as in a `Bloom`.
///
/// If `insert` has returned, and a later call of `contains` is ordered after it (same thread, a channel, a join, a lock), the
/// answer is `true`. No key is ever lost, whatever runs at the same time.
///
/// ```
/// # use mayhap_core as mayhap;
/// let seen = mayhap::SharedBloom::new(1_000_000, 0.01)?;
/// std::thread::scope(|threads| {
///     for part in 0..4_u32 {
///         let seen = &seen;
///         threads.spawn(move || (0..1000_u32).for_each(|i| _ = seen.insert((part * 1000 + i).to_le_bytes())));
///     }
/// });
/// assert!(seen.freeze().contains(3999_u32.to_le_bytes()));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
pub struct SharedBloom {
    lines: AtomicLines,
    walk: BlockedWalk,
    plan: BloomPlan,
    scheme: HashScheme,
    key_type: Option<KeyType>,
    kernel: UsableKernel,
    stripes: [Stripe; STRIPES],
}

/// A spin lock with a cache line of its own.
#[repr(align(64))]
struct Stripe(AtomicBool);

impl SharedBloom {
    /// An empty filter, as [`Bloom::new`].
    ///
    /// # Errors
    /// As [`Bloom::new`].
    pub fn new(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            BloomPlan::new(capacity as u64, false_positive_rate)?,
            HashScheme::Xxh3,
        )
    }

    /// An empty filter for untrusted keys, as [`Bloom::keyed`].
    ///
    /// # Errors
    /// As [`Bloom::new`].
    pub fn keyed(
        capacity: usize,
        false_positive_rate: f64,
        key: SipKey,
    ) -> Result<Self, PlanError> {
        Self::from_plan(
            BloomPlan::new(capacity as u64, false_positive_rate)?,
            HashScheme::Sip13(key),
        )
    }

    /// An empty filter for the caller's own hashes, as [`Bloom::for_hashes`].
    ///
    /// # Errors
    /// As [`Bloom::new`].
    pub fn for_hashes(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            BloomPlan::new(capacity as u64, false_positive_rate)?,
            HashScheme::Caller,
        )
    }

    /// An empty filter with a given plan.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn from_plan(plan: BloomPlan, scheme: HashScheme) -> Result<Self, PlanError> {
        Ok(Self::from_lines(Slab::zeroed(plan.lines())?, plan, scheme))
    }

    /// Converts a `Bloom` into a shared filter, in the same memory.
    pub fn from_bloom(filter: Bloom) -> Self {
        let (plan, scheme, key_type) = (*filter.plan(), filter.scheme(), filter.key_type());
        let mut shared = Self::from_lines(filter.table.into_lines(), plan, scheme);
        shared.key_type = key_type;
        shared
    }

    /// Converts the filter into a `Bloom` when all threads are done with it, in the same memory.
    pub fn freeze(self) -> Bloom {
        let key_type = self.key_type;
        let mut filter = Bloom::from_table(
            BloomTable::from_lines(to_plain(self.lines), self.walk),
            self.plan,
            self.scheme,
        );
        filter.set_key_type(key_type);
        filter
    }

    fn from_lines(lines: Slab<Line>, plan: BloomPlan, scheme: HashScheme) -> Self {
        let stripes = core::array::from_fn(|_| Stripe(AtomicBool::new(false)));
        Self {
            lines: to_atomic(lines),
            walk: bloom::walk(&plan),
            plan,
            scheme,
            key_type: None,
            kernel: UsableKernel::best(),
            stripes,
        }
    }

    key_type_methods!();

    /// The hash of a key. Every filter of the same scheme accepts it.
    ///
    /// # Panics
    /// On a filter created by [`SharedBloom::for_hashes`]. The same for all methods below that take key bytes.
    #[inline]
    pub fn hash(&self, key: impl Key) -> KeyHash {
        self.scheme.hash(key)
    }

    /// `true`: this call set a bit, so the key was new. Two threads that insert the same new key at the same time may each set
    /// some of its bits and both get `true`; at least one does. If exactly one must, use
    /// [`insert_unique`](SharedBloom::insert_unique).
    #[inline]
    pub fn insert(&self, key: impl Key) -> bool {
        self.set(self.hash(key).to_u64())
    }

    /// `false` is certain: no insert of the key is ordered before this call. `true` is probable.
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.covers(self.hash(key).to_u64())
    }

    /// As [`insert`](SharedBloom::insert), for a hash of this filter's scheme.
    #[inline]
    pub fn insert_hash(&self, hash: KeyHash) -> bool {
        hash.assert_mixed(self.scheme.origin());
        self.set(hash.to_u64())
    }

    /// As [`contains`](SharedBloom::contains), for a hash of this filter's scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        hash.assert_origin(self.scheme.origin());
        self.covers(hash.to_u64())
    }

    /// Inserts many hashes: the memory accesses of dozens of keys overlap.
    ///
    /// A batch of at least four keys per line of the filter is first collected in a copy of the filter (at most 64 MiB; skipped
    /// if there is not enough memory), which is then merged: four to five times as fast, because there is one atomic write per
    /// word of the filter instead of one per bit of a key.
    pub fn insert_hashes(&self, hashes: &[KeyHash]) {
        let gathers = self.size_bytes() <= MAX_COPY_BYTES
            && hashes.len() as u64 >= KEYS_PER_LINE * self.plan.lines();
        if gathers && let Ok(mut copy) = Bloom::from_plan(self.plan, self.scheme) {
            copy.insert_hashes(hashes);
            self.merge(&copy);
        } else {
            // Prefetches even in small filters, because their lines may be in the caches of other cores.
            let prefetch = |line| prefetch_to_write(self.kernel, line);
            self.for_each_prefetched(hashes, prefetch, |_, hash| _ = self.set(hash));
        }
    }

    /// Merges a `Bloom` into this filter, as if all its keys had been inserted here.
    ///
    /// # Errors
    /// If the two differ in shape or hash scheme; the filter is then unchanged.
    pub fn union_with(&self, other: &Bloom) -> Result<(), Mismatch> {
        bloom::check_same_shape((&self.plan, self.scheme), (other.plan(), other.scheme()))?;
        KeyType::common(self.key_type, other.key_type())?;
        self.merge(other);
        Ok(())
    }

    fn merge(&self, other: &Bloom) {
        for (at, (ours, theirs)) in self.lines.iter().zip(other.table.lines()).enumerate() {
            prefetch_to_write(self.kernel, self.lines.as_ptr().wrapping_add(at + AHEAD));
            ours.union_with(theirs);
        }
    }

    /// `contains_hash` for many hashes.
    ///
    /// # Panics
    /// When `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        assert_eq!(
            hashes.len(),
            found.len(),
            "one place in `found` for every hash"
        );
        if self.size_bytes() <= CACHED_BYTES {
            for (&hash, found) in hashes.iter().zip(found) {
                *found = self.contains_hash(hash);
            }
        } else {
            self.for_each_prefetched(hashes, prefetch, |at, hash| found[at] = self.covers(hash));
        }
    }

    /// `contains` for many keys. Faster, because the memory accesses of dozens of keys overlap.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length.
    pub fn contains_each(&self, keys: &[impl Key], found: &mut [bool]) {
        let look_up = |hashes: &[KeyHash], found: &mut [bool]| self.contains_hashes(hashes, found);
        self.scheme.look_up_in_chunks(keys, found, look_up);
    }

    /// Inserts all keys, in prefetched batches.
    pub fn extend<K: Key>(&self, keys: impl IntoIterator<Item = K>) {
        self.scheme
            .hash_in_chunks(keys, |hashes| self.insert_hashes(hashes));
    }

    /// Removes all keys. Keys that other threads insert during the call may be removed as well.
    pub fn clear(&self) {
        for line in self.lines.iter() {
            line.clear();
        }
    }

    /// Calls `act` for all hashes, with their indices; `prefetch` is called for their lines some hashes ahead.
    fn for_each_prefetched(
        &self,
        hashes: &[KeyHash],
        prefetch: impl Fn(*const AtomicLine),
        mut act: impl FnMut(usize, u64),
    ) {
        if cfg!(debug_assertions) {
            for hash in hashes {
                hash.assert_origin(self.scheme.origin());
            }
        }
        let prefetch_lines = |hash: u64| {
            let lines = self.lines.as_ptr();
            prefetch(lines.wrapping_add(self.walk.first(hash)));
            if self.walk.two_lines() {
                prefetch(lines.wrapping_add(self.walk.second(hash)));
            }
        };
        let (lead, rest) = hashes.split_at(AHEAD.min(hashes.len()));
        for hash in lead {
            prefetch_lines(hash.to_u64());
        }
        for (at, hash) in hashes.iter().enumerate() {
            if let Some(next) = rest.get(at) {
                prefetch_lines(next.to_u64());
            }
            act(at, hash.to_u64());
        }
    }

    /// `true` for exactly one of all threads that insert a new key with this method. Takes one of a few spin locks for a few
    /// nanoseconds, chosen by the key's line; [`insert`](SharedBloom::insert) takes none, and may return `true` for the same key
    /// at the same time.
    #[inline]
    pub fn insert_unique(&self, key: impl Key) -> bool {
        self.set_unique(self.hash(key).to_u64())
    }

    /// As [`insert_unique`](SharedBloom::insert_unique), for a hash of this filter's scheme.
    #[inline]
    pub fn insert_unique_hash(&self, hash: KeyHash) -> bool {
        hash.assert_origin(self.scheme.origin());
        self.set_unique(hash.to_u64())
    }

    fn set_unique(&self, hash: u64) -> bool {
        let Stripe(locked) = &self.stripes[self.walk.first(hash) % STRIPES];
        while locked
            .compare_exchange_weak(false, true, Acquire, Relaxed)
            .is_err()
        {
            #[cfg(loom)]
            loom::thread::yield_now();
            #[cfg(not(loom))]
            core::hint::spin_loop();
        }
        let new = self.set(hash);
        locked.store(false, Release);
        new
    }

    #[inline(always)]
    fn set(&self, hash: u64) -> bool {
        let new = self.set_in(&self.lines[self.walk.first(hash)], hash);
        self.walk.two_lines() && self.set_in(&self.lines[self.walk.second(hash)], hash) || new
    }

    /// Sets the key's bits in one of its lines; writes only words that lack a bit.
    #[inline(always)]
    fn set_in(&self, line: &AtomicLine, hash: u64) -> bool {
        let mut missing = missing_words(self.kernel, line, &self.walk, hash);
        let mut new = false;
        // Loops over the words that must be written instead of branching at each of the eight: half of the bits of a full filter
        // are set, so such branches would be mispredicted about every second time.
        while missing != 0 {
            let word = missing.trailing_zeros() as usize;
            new |= line.set(word, 1 << BlockedWalk::position(hash, word));
            missing &= missing - 1;
        }
        new
    }

    #[inline(always)]
    fn covers(&self, hash: u64) -> bool {
        let covers = |line| missing_words(self.kernel, line, &self.walk, hash) == 0;
        covers(&self.lines[self.walk.first(hash)])
            && (!self.walk.two_lines() || covers(&self.lines[self.walk.second(hash)]))
    }
}

impl From<Bloom> for SharedBloom {
    fn from(filter: Bloom) -> Self {
        Self::from_bloom(filter)
    }
}

impl From<SharedBloom> for Bloom {
    fn from(filter: SharedBloom) -> Self {
        filter.freeze()
    }
}

impl fmt::Debug for SharedBloom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedBloom({}, {:?})", self.plan, self.scheme)
    }
}

#[cfg(not(loom))]
use crate::simd::atomic_lines::{to_atomic, to_plain};
#[cfg(not(loom))]
type AtomicLines = Slab<AtomicLine>;
#[cfg(loom)]
type AtomicLines = alloc::vec::Vec<AtomicLine>;

/// loom's atomics are larger than plain words, so the lines are copied.
#[cfg(loom)]
fn to_atomic(lines: Slab<Line>) -> AtomicLines {
    lines.iter().map(AtomicLine::from_plain).collect()
}

#[cfg(loom)]
fn to_plain(lines: AtomicLines) -> Slab<Line> {
    let lines: alloc::vec::Vec<Line> = lines.iter().map(AtomicLine::to_plain).collect();
    lines.into()
}
