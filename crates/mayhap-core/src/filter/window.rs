//! `WindowBloom`: "seen in the last 24 hours?" A ring of generations that are filled one after the other and dropped as a whole.
//!
//! Time is an argument: the crate reads no clock. `plan/window.rs` computes the sizes.

use super::bloom::Bloom;
use super::growing::try_clone_layers;
use crate::key_type::key_type_methods;
use crate::plan::{BloomPlan, NextPart, WindowPlan, check_growth};
use crate::simd::BloomTable;
use crate::stats::{known, share};
use crate::store::reserved;
use crate::{Full, HashScheme, Key, KeyHash, KeyType, Kind, PlanError, SipKey, Stats};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

/// How many layers are looked up together: the nine live ones of a window with eight slices, and some that bursts have added.
const GROUP: usize = 16;

/// The maximum number of layers of a generation. Each has half the rate of the one before, and few plans allow that many.
const MAX_LAYERS: usize = 64;

/// A time in milliseconds since any epoch that the caller keeps to, such as 1970.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::Timestamp;
/// use std::time::SystemTime;
/// assert!(Timestamp::from(SystemTime::now()) >= Timestamp(1_700_000_000_000));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Timestamp(pub u64);

#[cfg(feature = "std")]
impl Timestamp {
    /// The system clock, in milliseconds since 1970. Only callers use it: no filter reads a clock by itself.
    pub fn now() -> Self {
        std::time::SystemTime::now().into()
    }
}

#[cfg(feature = "std")]
impl From<std::time::SystemTime> for Timestamp {
    /// Milliseconds since 1970; 0 for earlier times.
    fn from(time: std::time::SystemTime) -> Self {
        let since_1970 = time.duration_since(std::time::UNIX_EPOCH);
        let millis = since_1970.map_or(0, |since| since.as_millis());
        Self(u64::try_from(millis).unwrap_or(u64::MAX))
    }
}

/// What to do if more keys arrive in a slice of the window than planned.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{BurstPolicy, Timestamp, WindowBloom};
/// use std::time::Duration;
/// let seen = WindowBloom::new(1000, 0.01, Duration::from_secs(60), Timestamp(0))?
///     .with_burst_policy(BurstPolicy::RotateEarly);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BurstPolicy {
    /// Add another layer to the same generation: takes memory, keeps all keys, and at most doubles the generation's rate.
    #[default]
    Overflow,
    /// Start the next slice at once: takes no memory, but the oldest keys expire before the window has passed.
    RotateEarly,
}

/// A filter that keeps a key for a window of time, and at most one slice (1/8 of it) longer.
///
/// A `now` that goes backwards is treated as the newest time seen. A key that was inserted less than a window ago is always
/// found.
///
/// ```
/// # use mayhap_core as mayhap;
/// use mayhap::{Timestamp, WindowBloom};
/// use std::time::Duration;
/// let mut seen = WindowBloom::new(1000, 0.01, Duration::from_secs(3600), Timestamp(0))?;
/// assert!(seen.insert("a", Timestamp(5)));
/// assert!(seen.contains("a", Timestamp(3_600_000)));
/// assert!(!seen.contains("a", Timestamp(2 * 3_600_000)));
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct WindowBloom {
    /// One more than the slices of a window; slice number n is stored at n modulo their number.
    generations: Vec<Generation>,
    plan: WindowPlan,
    /// For the generation of the last burst.
    next: NextPart<BloomPlan>,
    scheme: HashScheme,
    key_type: Option<KeyType>,
    burst_policy: BurstPolicy,
    start: Timestamp,
    newest: Timestamp,
    /// The number of slices that ended early.
    rotated_early: u64,
}

#[derive(Clone, PartialEq)]
struct Generation {
    slice: u64,
    /// Never empty; more than one only after a burst.
    layers: Vec<Bloom>,
    keys_in_newest: u64,
}

impl WindowBloom {
    /// An empty filter for about `keys_per_window` keys per window.
    ///
    /// # Errors
    /// If the window is shorter than a millisecond, the number of keys is 0, the rate is not between 0 and 1, or there is not
    /// enough memory.
    pub fn new(
        keys_per_window: usize,
        false_positive_rate: f64,
        window: Duration,
        now: Timestamp,
    ) -> Result<Self, PlanError> {
        Self::from_plan(
            WindowPlan::new(keys_per_window as u64, false_positive_rate, window)?,
            HashScheme::Xxh3,
            now,
        )
    }

    /// The same for untrusted keys, as [`Bloom::keyed`].
    ///
    /// # Errors
    /// As [`WindowBloom::new`].
    pub fn keyed(
        keys_per_window: usize,
        false_positive_rate: f64,
        window: Duration,
        now: Timestamp,
        key: SipKey,
    ) -> Result<Self, PlanError> {
        Self::from_plan(
            WindowPlan::new(keys_per_window as u64, false_positive_rate, window)?,
            HashScheme::Sip13(key),
            now,
        )
    }

    /// An empty filter with a given plan.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn from_plan(
        plan: WindowPlan,
        scheme: HashScheme,
        now: Timestamp,
    ) -> Result<Self, PlanError> {
        let generation = |slice| {
            let layers = alloc::vec![Bloom::from_plan(plan.layer(0)?, scheme)?];
            Ok(Generation {
                slice,
                layers,
                keys_in_newest: 0,
            })
        };
        // Slice 0 is the first. The other generations are empty, so their slice numbers do not matter.
        let generations = (0..=u64::from(plan.slices()))
            .map(generation)
            .collect::<Result<_, PlanError>>()?;
        Ok(Self {
            generations,
            plan,
            next: NextPart::default(),
            scheme,
            key_type: None,
            burst_policy: BurstPolicy::Overflow,
            start: now,
            newest: now,
            rotated_early: 0,
        })
    }

    /// A filter from existing generations, as [`WindowBloom::generations`] returns them, with the start time, the newest time and
    /// the number of slices that ended early.
    ///
    /// # Errors
    /// If the number of generations is not one more than slices, one has no layers or more than 64, hash schemes differ, the
    /// newest time is before the start, the numbers of keys and slices are impossibly large, or the plan's next layer is out of
    /// proportion.
    pub fn from_generations(
        plan: WindowPlan,
        scheme: HashScheme,
        (start, newest): (Timestamp, Timestamp),
        skipped: u64,
        generations: Vec<(u64, u64, Vec<Bloom>)>,
    ) -> Result<Self, PlanError> {
        let check = |holds, field, value, accepted| {
            let refused = PlanError::InvalidInteger {
                field,
                value,
                accepted,
            };
            if holds { Ok(()) } else { Err(refused) }
        };
        let count = generations.len() as u64;
        let all = count == u64::from(plan.slices()) + 1;
        check(all, "generations", count, "one more than slices")?;
        check(start <= newest, "newest", newest.0, "not before the start")?;
        check(skipped <= 1 << 48, "skipped", skipped, "at most 2^48")?;
        let mut next = [None; MAX_LAYERS + 1];
        for (_, in_newest, layers) in &generations {
            let count = layers.len() as u64;
            let holds = (1..=MAX_LAYERS as u64).contains(&count);
            check(holds, "layers", count, "1 to 64")?;
            let same = layers.iter().all(|layer| layer.scheme() == scheme);
            check(same, "layers", count, "layers with the same hash scheme")?;
            let holds = *in_newest <= 1 << 60;
            check(
                holds,
                "keys in the newest layer",
                *in_newest,
                "at most 2^60",
            )?;
            // When its slice has passed, a generation starts again with its first layer.
            for count in [1, layers.len()] {
                let present_bytes = layers[..count].iter().map(Bloom::size_bytes).sum();
                // Many generations have the same number of layers, and computing a plan takes longer than everything else here.
                let next = *next[count].get_or_insert_with(|| plan.layer(count as u32));
                check_growth(next.map(|next| next.size_bytes()), present_bytes)?;
            }
        }
        let generation = |(slice, in_newest, layers)| Generation {
            slice,
            layers,
            keys_in_newest: in_newest,
        };
        Ok(Self {
            generations: generations.into_iter().map(generation).collect(),
            plan,
            next: NextPart::default(),
            scheme,
            key_type: None,
            burst_policy: BurstPolicy::Overflow,
            start,
            newest,
            rotated_early: skipped,
        })
    }

    /// A copy, or an error if there is not enough memory for it. Pages of zeros are not touched.
    ///
    /// # Errors
    /// [`PlanError::OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, PlanError> {
        let mut generations = reserved(self.generations.len() as u64)?;
        for generation in &self.generations {
            generations.push(Generation {
                layers: try_clone_layers(&generation.layers)?,
                ..*generation
            });
        }
        Ok(Self {
            generations,
            ..*self
        })
    }

    /// Every generation: its slice number, the number of keys in its newest layer, and its layers.
    pub fn generations(&self) -> impl ExactSizeIterator<Item = (u64, u64, &[Bloom])> {
        let generations = self.generations.iter();
        generations.map(|one| (one.slice, one.keys_in_newest, one.layers.as_slice()))
    }

    /// What it does if more keys arrive than planned.
    pub fn burst_policy(&self) -> BurstPolicy {
        self.burst_policy
    }

    /// The time at which slice 0 started.
    pub fn start(&self) -> Timestamp {
        self.start
    }

    /// The same filter with another policy for bursts. The default is [`BurstPolicy::Overflow`].
    #[must_use]
    pub fn with_burst_policy(mut self, burst: BurstPolicy) -> Self {
        self.burst_policy = burst;
        self
    }

    key_type_methods!();

    /// The hash of a key.
    ///
    /// # Panics
    /// On a filter of [`HashScheme::Caller`]; the same for all methods that take key bytes.
    #[inline]
    pub fn hash(&self, key: impl Key) -> KeyHash {
        self.scheme.hash(key)
    }

    /// `true`: the key was definitely not inserted within the last window. Stores it from `now` on.
    pub fn insert(&mut self, key: impl Key, now: Timestamp) -> bool {
        self.insert_hash(self.hash(key), now)
    }

    /// `false` is certain: the key was not inserted within the last window. `true` is probable. Never rotates.
    pub fn contains(&self, key: impl Key, now: Timestamp) -> bool {
        self.contains_hash(self.hash(key), now)
    }

    /// As [`WindowBloom::insert`], for a hash of this filter's scheme.
    pub fn insert_hash(&mut self, hash: KeyHash, now: Timestamp) -> bool {
        let known = self.contains_hash(hash, now);
        self.store(hash, now);
        !known
    }

    /// Stores a hash from `now` on, whether or not it is known.
    fn store(&mut self, hash: KeyHash, now: Timestamp) {
        self.newest = self.newest.max(now);
        self.rotate();
        let count = self.generations.len() as u64;
        let slice = self.slice_at(self.newest);
        let generation = &self.generations[(slice % count) as usize];
        let layers = generation.layers.len();
        if generation.is_full() && !generation.contains(hash) {
            match self.burst_policy {
                BurstPolicy::RotateEarly => {
                    self.rotated_early += 1;
                    self.rotate();
                }
                BurstPolicy::Overflow => {
                    let layer = self
                        .next_layer(layers)
                        .map(|plan| Bloom::from_plan(plan, self.scheme));
                    // Without memory for another layer, the key goes into the full one, which the estimates report.
                    if let Some(Ok(layer)) = layer {
                        self.generations[(slice % count) as usize].push_layer(layer);
                    }
                }
            }
        }
        let slice = self.slice_at(self.newest);
        self.generations[(slice % count) as usize].insert(hash);
    }

    /// As [`WindowBloom::insert_hash`], for callers with a memory limit. If a burst needs another layer but the filter would then
    /// exceed `max_bytes`, or there is not enough memory, it rejects the key. Accepted keys are stored exactly as without a
    /// limit.
    ///
    /// # Errors
    /// If there is not enough memory for another layer. The filter is then unchanged.
    pub fn try_insert_hash_within(
        &mut self,
        hash: KeyHash,
        now: Timestamp,
        max_bytes: u64,
    ) -> Result<bool, Full> {
        let slice = self.slice_at(self.newest.max(now));
        let at = (slice % self.generations.len() as u64) as usize;
        let generation = &self.generations[at];
        let is_crowded =
            generation.slice == slice && generation.is_full() && !generation.contains(hash);
        let next = match self.burst_policy {
            BurstPolicy::Overflow if is_crowded => self.next_layer(generation.layers.len()),
            BurstPolicy::Overflow | BurstPolicy::RotateEarly => None,
        };
        let known = self.contains_hash(hash, now);
        if let Some(next) = next {
            let size_bytes = self.size_bytes().saturating_add(next.size_bytes());
            let refused = Full::Memory { size_bytes };
            if size_bytes > max_bytes {
                return Err(refused);
            }
            let layer = Bloom::from_plan(next, self.scheme).map_err(|_| refused)?;
            let generation = &mut self.generations[at];
            generation.layers.try_reserve(1).map_err(|_| refused)?;
            generation.push_layer(layer);
        }
        self.store(hash, now);
        Ok(!known)
    }

    /// The plan of the layer that a burst adds to a generation of this many layers; `None` if its rate would be too strict, or
    /// there are too many.
    fn next_layer(&mut self, layers: usize) -> Option<BloomPlan> {
        if layers >= MAX_LAYERS {
            return None;
        }
        let plan = self.plan;
        let next = self.next.get(layers as u32, |number| plan.layer(number));
        next.ok()
    }

    /// Overwrites bytes of a layer, counted over all generations, as [`Bloom::overwrite`].
    ///
    /// # Errors
    /// As `Bloom::overwrite`, and if there is no such layer.
    pub fn overwrite(&mut self, layer: usize, start: u64, bytes: &[u8]) -> Result<(), PlanError> {
        let generations = self.generations.iter_mut();
        let mut layers = generations.flat_map(|generation| &mut generation.layers);
        match layers.nth(layer) {
            Some(layer) => layer.overwrite(start, bytes),
            None => Err(PlanError::InvalidInteger {
                field: "layer",
                value: layer as u64,
                accepted: "an existing layer",
            }),
        }
    }

    /// As [`WindowBloom::contains`], for a hash of this filter's scheme.
    pub fn contains_hash(&self, hash: KeyHash, now: Timestamp) -> bool {
        hash.assert_origin(self.scheme.origin());
        let mut found = false;
        self.for_each_group(now, |tables| {
            found = found || BloomTable::any_contains(tables, hash.to_u64());
        });
        found
    }

    /// Passes the live layers to `look_up` in groups.
    #[inline]
    fn for_each_group(&self, now: Timestamp, mut look_up: impl FnMut(&[&BloomTable])) {
        let mut group = [&self.generations[0].layers[0].table; GROUP];
        let mut count = 0;
        for layer in self.live(now).flat_map(|generation| &generation.layers) {
            group[count] = &layer.table;
            count += 1;
            if count == GROUP {
                look_up(&group);
                count = 0;
            }
        }
        if count > 0 {
            look_up(&group[..count]);
        }
    }

    /// As [`WindowBloom::insert_hash`], for many hashes at one time. Faster, because it does not look up which of them are new.
    pub fn insert_hashes(&mut self, hashes: &[KeyHash], now: Timestamp) {
        for &hash in hashes {
            hash.assert_origin(self.scheme.origin());
            self.store(hash, now);
        }
    }

    /// `contains_hash` for many hashes: prefetches the lines of all generations together.
    ///
    /// # Panics
    /// If `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], now: Timestamp, found: &mut [bool]) {
        assert_eq!(
            hashes.len(),
            found.len(),
            "one place in `found` for every hash"
        );
        self.generations[0].layers[0].assert_origins(hashes);
        found.fill(false);
        self.for_each_group(now, |tables| {
            BloomTable::any_contains_each(tables, hashes, found);
        });
    }

    /// `contains` for many keys.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length.
    pub fn contains_each(&self, keys: &[impl Key], now: Timestamp, found: &mut [bool]) {
        let look_up =
            |hashes: &[KeyHash], found: &mut [bool]| self.contains_hashes(hashes, now, found);
        self.scheme.look_up_in_chunks(keys, found, look_up);
    }

    /// The generations that may contain a key of the last window.
    fn live(&self, now: Timestamp) -> impl Iterator<Item = &Generation> {
        let slice = self.slice_at(self.newest.max(now));
        let slices = u64::from(self.plan.slices());
        self.generations
            .iter()
            .filter(move |generation| generation.slice.saturating_add(slices) >= slice)
    }

    /// The number of the slice that contains a time.
    fn slice_at(&self, now: Timestamp) -> u64 {
        (now.0.saturating_sub(self.start.0) / self.plan.slice_ms())
            .saturating_add(self.rotated_early)
    }

    /// Makes the generation of the newest slice the current one; clears it if it belonged to an older slice.
    fn rotate(&mut self) {
        let slice = self.slice_at(self.newest);
        let count = self.generations.len() as u64;
        let generation = &mut self.generations[(slice % count) as usize];
        if generation.slice != slice {
            generation.layers.truncate(1);
            generation.layers[0].clear();
            generation.keys_in_newest = 0;
            generation.slice = slice;
        }
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        for generation in &mut self.generations {
            generation.layers.truncate(1);
            generation.layers[0].clear();
            generation.keys_in_newest = 0;
        }
    }

    /// The estimated number of keys stored at `now`. A key that was inserted in several slices counts in each. Reads the whole
    /// filter.
    pub fn estimated_keys(&self, now: Timestamp) -> u64 {
        let layers = self.live(now).flat_map(|generation| &generation.layers);
        layers
            .map(Bloom::estimated_keys)
            .fold(0, u64::saturating_add)
    }

    /// The number of keys stored at `now`, as counted during inserts; does not read the filter. A key that was inserted in
    /// several slices counts in each.
    pub fn counted_keys(&self, now: Timestamp) -> u64 {
        let keys = self.live(now).map(|generation| {
            let older = generation.layers.iter().rev().skip(1);
            older
                .map(Bloom::capacity)
                .fold(generation.keys_in_newest, u64::saturating_add)
        });
        keys.fold(0, u64::saturating_add)
    }

    /// The false-positive rate at `now`, from the bits that are set. Reads the whole filter.
    pub fn estimated_rate(&self, now: Timestamp) -> f64 {
        let layers = self.live(now).flat_map(|generation| &generation.layers);
        1.0 - layers
            .map(|layer| 1.0 - layer.estimated_rate())
            .product::<f64>()
    }

    /// The requested false-positive rate.
    pub fn false_positive_rate(&self) -> f64 {
        self.plan.false_positive_rate()
    }

    /// Whether a live slice got more keys than planned, so that the rate may be worse than requested. (With
    /// [`BurstPolicy::RotateEarly`] the rate is kept and the window shortened: see [`rotated_early`](Self::rotated_early).)
    pub fn is_over_capacity(&self, now: Timestamp) -> bool {
        self.live(now).any(|generation| {
            generation.layers.len() > 1 || generation.layers.iter().any(Bloom::is_over_capacity)
        })
    }

    /// How many more keys fit at `now` before [`is_over_capacity`](Self::is_over_capacity): the rest of the current slice. The
    /// next slice has room again.
    pub fn keys_until_full(&self, now: Timestamp) -> u64 {
        if self.is_over_capacity(now) {
            return 0;
        }
        let slice = self.slice_at(self.newest.max(now));
        let generation = &self.generations[(slice % self.generations.len() as u64) as usize];
        let taken = if generation.slice == slice {
            generation.keys_in_newest
        } else {
            0
        };
        generation.layers[0].capacity().saturating_sub(taken)
    }

    /// What the filter is, how full it is and which rate it has at `now`. Reads the whole filter.
    pub fn stats(&self, now: Timestamp) -> Stats {
        let layers = || {
            let generations = self.generations.iter();
            generations.flat_map(|generation| &generation.layers)
        };
        let set_bits = layers().map(Bloom::set_bits).sum();
        Stats {
            capacity: Some(self.capacity()),
            bits: Some(8 * self.size_bytes()),
            fill: share(set_bits, 8 * self.size_bytes()),
            estimated_keys: known(self.estimated_keys(now)),
            false_positive_rate: Some(self.false_positive_rate()),
            estimated_rate: Some(self.estimated_rate(now)),
            is_over_capacity: self.is_over_capacity(now),
            keys_until_full: Some(self.keys_until_full(now)),
            layers: layers().count() as u64,
            ..Stats::new(Kind::Window, self.size_bytes())
        }
    }

    /// The number of slices that bursts ended early. Each shortens the window of older keys by one slice.
    pub fn rotated_early(&self) -> u64 {
        self.rotated_early
    }

    /// The number of keys per window that the filter was planned for.
    pub fn capacity(&self) -> u64 {
        self.plan.keys_per_window()
    }

    /// Bytes of memory for the bits.
    pub fn size_bytes(&self) -> u64 {
        self.generations
            .iter()
            .flat_map(|generation| &generation.layers)
            .map(Bloom::size_bytes)
            .sum()
    }

    /// The newest time that an insert has passed.
    pub fn newest(&self) -> Timestamp {
        self.newest
    }

    /// The plan: how keys, rate and time are divided.
    pub fn plan(&self) -> &WindowPlan {
        &self.plan
    }

    /// The hash scheme.
    pub fn scheme(&self) -> HashScheme {
        self.scheme
    }
}

impl Generation {
    fn contains(&self, hash: KeyHash) -> bool {
        self.layers.iter().any(|layer| layer.contains_hash(hash))
    }

    fn is_full(&self) -> bool {
        self.layers
            .last()
            .is_some_and(|layer| self.keys_in_newest >= layer.capacity())
    }

    fn push_layer(&mut self, layer: Bloom) {
        self.layers.push(layer);
        self.keys_in_newest = 0;
    }

    fn insert(&mut self, hash: KeyHash) {
        if let Some((newest, older)) = self.layers.split_last_mut()
            && !older.iter().any(|layer| layer.contains_hash(hash))
        {
            self.keys_in_newest += u64::from(newest.insert_hash(hash));
        }
    }
}

impl fmt::Debug for WindowBloom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "WindowBloom({} keys in {} ms at {}: {} slices, {} bytes, {:?})",
            self.plan.keys_per_window(),
            self.plan.window_ms(),
            self.plan.false_positive_rate(),
            self.plan.slices(),
            self.size_bytes(),
            self.scheme
        )
    }
}
