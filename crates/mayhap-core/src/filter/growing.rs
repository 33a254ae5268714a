//! `GrowingBloom`: for an unknown number of keys. A chain of `Bloom` layers that keeps its rate at any size.
//!
//! A new key goes into the newest layer, unless an older one contains it; when that layer is full, a larger one is added. All
//! layers use the same hash of a key. `plan/growing.rs` computes the sizes of the layers.

use super::bloom::{Bloom, CHUNK, check_same_shape};
use crate::key_type::key_type_methods;
use crate::plan::{BloomPlan, GrowingPlan, NextPart, check_growth};
use crate::simd::{BloomTable, CACHED_BYTES};
use crate::stats::{known, share};
use crate::store::{Borrowed, Owned, Storage, reserved};
use crate::{
    Full, HashScheme, Kernel, Key, KeyHash, KeyType, Kind, Mismatch, PlanError, SipKey, Stats,
};
use alloc::vec::Vec;
use core::fmt;

/// Up to this many layers are looked up one after the other in a batch: for two layers of 10M keys 13 ns per key, present or not,
/// and together 13 ns per absent key and 31 per present one. More layers are looked up together: 20 ns per absent key for four
/// layers.
const MAX_SEQUENTIAL_LAYERS: usize = 2;

/// How many keys are looked up in one layer before the next.
const KEYS_PER_ROUND: usize = 1024;

/// Limits for stored data: more layers than any plan reaches, since the 100th would hold 1e24 times the keys of the first, and
/// more keys than fit any layer.
const MAX_LAYERS: usize = 128;
const MAX_KEYS: u64 = 1 << 60;

/// A filter that grows with its keys.
///
/// ```
/// # use mayhap_core as mayhap;
/// let mut seen = mayhap::GrowingBloom::new(100, 0.01)?; // 100 keys is a guess
/// for key in 0..10_000_u32 {
///     seen.insert(key.to_le_bytes());
/// }
/// assert!(seen.contains(77_u32.to_le_bytes()) && seen.estimated_rate() < 0.0101);
/// # Ok::<(), mayhap::PlanError>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct GrowingBloom<S: Storage = Owned> {
    /// Never empty; the newest is last.
    layers: Vec<Bloom<S>>,
    /// The number of keys in the newest layer.
    keys_in_newest: u64,
    /// Whether a union has put more keys into an older layer than it was planned for.
    has_overfull_layer: bool,
    plan: GrowingPlan,
    next: NextPart<BloomPlan>,
    scheme: HashScheme,
    /// `scheme.origin()`, cached because debug builds compare it for every hash.
    origin: u64,
    key_type: Option<KeyType>,
}

/// What the set bits of all layers tell.
struct GrowingEstimate {
    set_bits: u64,
    keys: u64,
    rate: f64,
}

impl GrowingBloom {
    /// An empty filter that starts with room for `capacity` keys and keeps the false-positive rate for any number of keys.
    ///
    /// # Errors
    /// If the capacity is 0, the rate is not between 0 and 1, or there is not enough memory.
    pub fn new(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            GrowingPlan::new(capacity as u64, false_positive_rate)?,
            HashScheme::Xxh3,
        )
    }

    /// The same for an expected maximum of `maximum` keys: half the size when it gets there. It keeps growing beyond that.
    ///
    /// # Errors
    /// As [`GrowingBloom::new`]; also if the maximum is below the capacity.
    pub fn with_maximum(
        capacity: usize,
        maximum: usize,
        false_positive_rate: f64,
    ) -> Result<Self, PlanError> {
        Self::from_plan(
            GrowingPlan::with_maximum(capacity as u64, maximum as u64, false_positive_rate)?,
            HashScheme::Xxh3,
        )
    }

    /// The same for untrusted keys, as [`Bloom::keyed`].
    ///
    /// # Errors
    /// As [`GrowingBloom::new`].
    pub fn keyed(
        capacity: usize,
        false_positive_rate: f64,
        key: SipKey,
    ) -> Result<Self, PlanError> {
        Self::from_plan(
            GrowingPlan::new(capacity as u64, false_positive_rate)?,
            HashScheme::Sip13(key),
        )
    }

    /// The same for the caller's own hashes, as [`Bloom::for_hashes`].
    ///
    /// # Errors
    /// As [`GrowingBloom::new`].
    pub fn for_hashes(capacity: usize, false_positive_rate: f64) -> Result<Self, PlanError> {
        Self::from_plan(
            GrowingPlan::new(capacity as u64, false_positive_rate)?,
            HashScheme::Caller,
        )
    }

    /// An empty filter that grows as planned.
    ///
    /// # Errors
    /// If there is not enough memory for the first layer.
    pub fn from_plan(plan: GrowingPlan, scheme: HashScheme) -> Result<Self, PlanError> {
        let layers = alloc::vec![Bloom::from_plan(plan.layer(0)?, scheme)?];
        Ok(Self {
            layers,
            keys_in_newest: 0,
            has_overfull_layer: false,
            plan,
            next: NextPart::default(),
            scheme,
            origin: scheme.origin(),
            key_type: None,
        })
    }

    /// `true`: the key was definitely new. When the newest layer is full, a larger one is added; if there is not enough memory
    /// for it, the key is still inserted, and [`is_over_capacity`](Self::is_over_capacity) reports that the rate is no longer
    /// kept.
    #[inline]
    pub fn insert(&mut self, key: impl Key) -> bool {
        self.insert_hash(self.hash(key))
    }

    /// As [`GrowingBloom::insert`], for a hash of this filter's scheme.
    pub fn insert_hash(&mut self, hash: KeyHash) -> bool {
        hash.assert_mixed(self.origin);
        if BloomTable::any_contains(self.older(), hash.to_u64()) {
            return false;
        }
        self.insert_into_newest(hash)
    }

    /// As [`GrowingBloom::insert_hash`], for callers with a memory limit. If the filter must grow but would then exceed
    /// `max_bytes`, or there is not enough memory, it rejects the key instead of overfilling its newest layer. Accepted keys are
    /// stored exactly as without a limit.
    ///
    /// # Errors
    /// If it cannot grow. The filter is then unchanged.
    pub fn try_insert_hash_within(&mut self, hash: KeyHash, max_bytes: u64) -> Result<bool, Full> {
        if self.contains_hash(hash) {
            return Ok(false);
        }
        if self.keys_until_growth() == 0 {
            let next = self.next_layer();
            let next = next.map_or(u64::MAX, |layer| layer.size_bytes());
            let size_bytes = self.size_bytes().saturating_add(next);
            if size_bytes > max_bytes || !self.grow() {
                return Err(Full::Memory { size_bytes });
            }
            self.keys_in_newest = 0;
        }
        Ok(self.insert_into_newest(hash))
    }

    /// Overwrites bytes of a layer, as [`Bloom::overwrite`]; the oldest layer has number 0.
    ///
    /// # Errors
    /// As `Bloom::overwrite`, and if there is no such layer.
    pub fn overwrite(&mut self, layer: usize, start: u64, bytes: &[u8]) -> Result<(), PlanError> {
        match self.layers.get_mut(layer) {
            Some(layer) => layer.overwrite(start, bytes),
            None => Err(PlanError::InvalidInteger {
                field: "layer",
                value: layer as u64,
                accepted: "an existing layer",
            }),
        }
    }

    /// Inserts many hashes.
    pub fn insert_hashes(&mut self, hashes: &[KeyHash]) {
        for hashes in hashes.chunks(CHUNK) {
            self.insert_chunk(hashes, &mut [false; CHUNK][..hashes.len()]);
        }
    }

    /// Inserts many hashes and reports for each whether it was definitely new. A hash that occurs twice is new once.
    ///
    /// # Panics
    /// If `hashes` and `is_new` differ in length.
    pub fn insert_hashes_reporting_new(&mut self, hashes: &[KeyHash], is_new: &mut [bool]) {
        assert_eq!(
            hashes.len(),
            is_new.len(),
            "one place in `is_new` for every hash"
        );
        for (hashes, is_new) in hashes.chunks(CHUNK).zip(is_new.chunks_mut(CHUNK)) {
            self.insert_chunk(hashes, is_new);
        }
    }

    /// Prefetches the newest layer and looks up the older ones together. Keys that these do not contain go into the newest.
    fn insert_chunk(&mut self, hashes: &[KeyHash], is_new: &mut [bool]) {
        let older = self.layers.len() - 1;
        let newest = &self.layers[older];
        if newest.size_bytes() > CACHED_BYTES {
            for hash in hashes {
                newest.table.prefetch(hash.to_u64());
            }
        }
        any_layer_contains(&self.layers[..older], hashes, is_new);
        for (&hash, is_new) in hashes.iter().zip(is_new) {
            // The layers that were added since, without the newest.
            let mut since = self.layers[older..self.layers.len() - 1].iter();
            *is_new = !*is_new
                && !since.any(|layer| layer.contains_hash(hash))
                && self.insert_into_newest(hash);
        }
    }

    fn insert_into_newest(&mut self, hash: KeyHash) -> bool {
        let newest = self.layers.len() - 1;
        if self.keys_in_newest >= self.layers[newest].capacity()
            && !self.layers[newest].contains_hash(hash)
            && self.grow()
        {
            self.keys_in_newest = 1;
            return self.layers[newest + 1].insert_hash(hash);
        }
        let new = self.layers[newest].insert_hash(hash);
        self.keys_in_newest += u64::from(new);
        new
    }

    fn next_layer(&mut self) -> Result<BloomPlan, PlanError> {
        let plan = self.plan;
        let number = self.layers.len() as u32;
        self.next.get(number, |number| plan.layer(number))
    }

    /// Adds the next layer; `false` if there is not enough memory for it.
    fn grow(&mut self) -> bool {
        let next = self.next_layer();
        match next.and_then(|plan| Bloom::from_plan(plan, self.scheme)) {
            Ok(layer) if self.layers.try_reserve(1).is_ok() => {
                self.layers.push(layer);
                true
            }
            _ => false,
        }
    }

    /// Removes all keys, and all layers but the first.
    pub fn clear(&mut self) {
        self.layers.truncate(1);
        self.layers[0].clear();
        self.keys_in_newest = 0;
        self.has_overfull_layer = false;
    }

    /// Whether [`union_with`](Self::union_with) would succeed, without changing anything.
    ///
    /// # Errors
    /// As `union_with`.
    pub fn check_union(&self, other: &Self) -> Result<(), Mismatch> {
        for (number, theirs) in (0..).zip(&other.layers) {
            let Ok(ours) = self.plan.layer(number) else {
                let layers = other.layers.len() as u64;
                return Mismatch::check("layers", u64::from(number), layers);
            };
            check_same_shape((&ours, self.scheme), (theirs.plan(), theirs.scheme()))?;
        }
        Ok(())
    }

    /// A copy, or an error if there is not enough memory for it. Pages of zeros are not touched.
    ///
    /// # Errors
    /// [`PlanError::OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, PlanError> {
        Ok(Self {
            layers: try_clone_layers(&self.layers)?,
            ..*self
        })
    }

    /// Merges another filter into this one, layer by layer; layers that only the other one has are copied. Layers that were full
    /// in both then hold more keys than planned, which [`is_over_capacity`](Self::is_over_capacity) and
    /// [`estimated_rate`](Self::estimated_rate) report.
    ///
    /// # Errors
    /// If the shape of a layer differs from this filter's plan, or the hash schemes differ, or there is not enough memory for the
    /// additional layers; the filter is then unchanged.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Mismatch> {
        self.check_union(other)?;
        let (common, both) = (
            self.layers.len().min(other.layers.len()),
            self.layers.len() == other.layers.len(),
        );
        let theirs = &other.layers[common..];
        let size_bytes = theirs.iter().map(Bloom::size_bytes).sum();
        let no_memory = Mismatch::Memory { size_bytes };
        let theirs = try_clone_layers(theirs).map_err(|_| no_memory)?;
        let room = self.layers.try_reserve_exact(theirs.len());
        room.map_err(|_| no_memory)?;
        self.key_type = KeyType::common(self.key_type, other.key_type)?;
        for (ours, theirs) in self.layers.iter_mut().zip(&other.layers) {
            ours.union_with(theirs)?;
        }
        self.layers.extend(theirs);
        if both {
            let newest = &self.layers[common - 1];
            self.keys_in_newest = newest
                .estimated_keys()
                .max(self.keys_in_newest)
                .max(other.keys_in_newest)
                .min(self.keys_in_newest + other.keys_in_newest);
        } else if self.layers.len() == other.layers.len() {
            self.keys_in_newest = other.keys_in_newest;
        }
        self.has_overfull_layer |=
            other.has_overfull_layer || self.older().iter().any(Bloom::is_over_capacity);
        Ok(())
    }
}

pub(super) fn try_clone_layers(layers: &[Bloom]) -> Result<Vec<Bloom>, PlanError> {
    let mut clones = reserved(layers.len() as u64)?;
    for layer in layers {
        clones.push(layer.try_clone()?);
    }
    Ok(clones)
}

/// A [`GrowingBloom`] over borrowed bytes. Lookups are as fast; inserts are not possible. [`GrowingBloom::from_layers`] creates
/// one from [`BloomView`](crate::BloomView)s.
pub type GrowingView<'a> = GrowingBloom<Borrowed<'a>>;

impl<S: Storage> GrowingBloom<S> {
    /// A filter from existing layers, the oldest first, with the number of keys in the newest and whether an older one is
    /// overfull.
    ///
    /// # Errors
    /// If there are no layers or more than 128, their hash schemes differ, or the plan's next layer is out of proportion.
    pub fn from_layers(
        plan: GrowingPlan,
        layers: Vec<Bloom<S>>,
        in_newest: u64,
        has_overfull_layer: bool,
    ) -> Result<Self, PlanError> {
        let invalid = |accepted| PlanError::InvalidInteger {
            field: "layers",
            value: layers.len() as u64,
            accepted,
        };
        let Some(scheme) = layers.first().map(Bloom::scheme) else {
            return Err(invalid("at least one"));
        };
        if layers.len() > MAX_LAYERS {
            return Err(invalid("at most 128"));
        }
        if layers.iter().any(|layer| layer.scheme() != scheme) {
            return Err(invalid("layers with the same hash scheme"));
        }
        if in_newest > MAX_KEYS {
            return Err(PlanError::InvalidInteger {
                field: "keys in the newest layer",
                value: in_newest,
                accepted: "at most 2^60",
            });
        }
        let present_bytes = layers.iter().map(Bloom::size_bytes).sum();
        let next = plan.layer(layers.len() as u32);
        check_growth(next.map(|next| next.size_bytes()), present_bytes)?;
        Ok(Self {
            layers,
            keys_in_newest: in_newest,
            has_overfull_layer,
            plan,
            next: NextPart::default(),
            scheme,
            origin: scheme.origin(),
            key_type: None,
        })
    }

    key_type_methods!();

    /// The hash of a key.
    ///
    /// # Panics
    /// On a filter created by [`GrowingBloom::for_hashes`]; the same for all methods that take key bytes.
    #[inline]
    pub fn hash(&self, key: impl Key) -> KeyHash {
        self.scheme.hash(key)
    }

    /// `false` is certain: the key was never inserted. `true` is probable.
    #[inline]
    pub fn contains(&self, key: impl Key) -> bool {
        self.contains_hash(self.hash(key))
    }

    /// As [`GrowingBloom::contains`], for a hash of this filter's scheme.
    #[inline]
    pub fn contains_hash(&self, hash: KeyHash) -> bool {
        match self.layers.as_slice() {
            [only] => only.contains_hash(hash),
            layers => {
                hash.assert_origin(self.origin);
                BloomTable::any_contains(layers, hash.to_u64())
            }
        }
    }

    /// `contains_hash` for many hashes: prefetches the lines of all layers together.
    ///
    /// # Panics
    /// If `hashes` and `found` differ in length.
    pub fn contains_hashes(&self, hashes: &[KeyHash], found: &mut [bool]) {
        assert_eq!(
            hashes.len(),
            found.len(),
            "one place in `found` for every hash"
        );
        any_layer_contains(&self.layers, hashes, found);
    }

    /// `contains` for many keys.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length.
    pub fn contains_each(&self, keys: &[impl Key], found: &mut [bool]) {
        let look_up = |hashes: &[KeyHash], found: &mut [bool]| self.contains_hashes(hashes, found);
        self.scheme.look_up_in_chunks(keys, found, look_up);
    }

    fn older(&self) -> &[Bloom<S>] {
        &self.layers[..self.layers.len() - 1]
    }

    /// The estimated number of distinct keys that were inserted. A key that was a false positive of an older layer is in none of
    /// the newer ones; the estimate corrects for that by their rates. Reads the whole filter.
    pub fn estimated_keys(&self) -> u64 {
        self.estimate(u64::MAX).keys
    }

    /// Estimates from at most `max_bytes` of each layer.
    fn estimate(&self, max_bytes: u64) -> GrowingEstimate {
        let (mut set_bits, mut keys, mut passed_on) = (0, 0.0, 1.0);
        for layer in &self.layers {
            let estimate = layer.estimate(max_bytes);
            set_bits += estimate.set_bits;
            let in_layer = libm::round(layer.plan().keys_for_set_bits(estimate.set_bits));
            keys += in_layer.min(u64::MAX as f64) / passed_on;
            passed_on *= 1.0 - estimate.rate;
        }
        GrowingEstimate {
            set_bits,
            // Saturates, as float to integer casts do.
            keys: libm::round(keys) as u64,
            rate: 1.0 - passed_on,
        }
    }

    /// The false-positive rate now, from the bits that are set. Reads the whole filter.
    pub fn estimated_rate(&self) -> f64 {
        self.estimate(u64::MAX).rate
    }

    /// The requested false-positive rate, at any size.
    pub fn false_positive_rate(&self) -> f64 {
        self.plan.false_positive_rate()
    }

    /// Whether the rate is no longer kept, because there was no memory for another layer, or because a union overfilled a layer.
    pub fn is_over_capacity(&self) -> bool {
        self.has_overfull_layer
            || self
                .layers
                .last()
                .is_some_and(|newest| self.keys_in_newest > newest.capacity())
    }

    /// The estimated number of keys that still fit before the rate is worse than requested: `u64::MAX` unless a maximum was
    /// given, and 0 if the filter is over capacity. Reads the whole filter.
    pub fn keys_until_full(&self) -> u64 {
        self.keys_until_full_with(|| self.estimated_keys())
    }

    fn keys_until_full_with(&self, keys: impl FnOnce() -> u64) -> u64 {
        if self.is_over_capacity() {
            return 0;
        }
        let maximum = self.plan.maximum();
        maximum.map_or(u64::MAX, |maximum| maximum.saturating_sub(keys()))
    }

    /// What the filter is, how full it is and which rate it has now. Reads the whole filter.
    pub fn stats(&self) -> Stats {
        self.sampled_stats(u64::MAX)
    }

    /// [`stats`](Self::stats), estimated from at most `max_bytes` of each layer, as [`Bloom::sampled_stats`].
    pub fn sampled_stats(&self, max_bytes: u64) -> Stats {
        let GrowingEstimate {
            set_bits,
            keys,
            rate,
        } = self.estimate(max_bytes);
        Stats {
            capacity: Some(self.capacity()),
            bits: Some(8 * self.size_bytes()),
            fill: share(set_bits, 8 * self.size_bytes()),
            estimated_keys: known(keys),
            false_positive_rate: Some(self.false_positive_rate()),
            estimated_rate: Some(rate),
            is_over_capacity: self.is_over_capacity(),
            keys_until_full: known(self.keys_until_full_with(|| keys)),
            layers: self.layers.len() as u64,
            ..Stats::new(Kind::Growing, self.size_bytes())
        }
    }

    /// How many more keys fit before the filter grows.
    pub fn keys_until_growth(&self) -> u64 {
        self.layers
            .last()
            .map_or(0, Bloom::capacity)
            .saturating_sub(self.keys_in_newest)
    }

    /// The number of keys that fit into the present layers.
    pub fn capacity(&self) -> u64 {
        self.layers
            .iter()
            .map(Bloom::capacity)
            .fold(0, u64::saturating_add)
    }

    /// The number of layers.
    pub fn layer_count(&self) -> usize {
        self.layers.len()
    }

    /// The layers, the oldest first.
    pub fn layers(&self) -> impl ExactSizeIterator<Item = &Bloom<S>> {
        self.layers.iter()
    }

    /// The number of keys in the newest layer.
    pub fn keys_in_newest(&self) -> u64 {
        self.keys_in_newest
    }

    /// Whether a union has put more keys into an older layer than it was planned for.
    pub fn has_overfull_layer(&self) -> bool {
        self.has_overfull_layer
    }

    /// Bytes of memory for the bits.
    pub fn size_bytes(&self) -> u64 {
        self.layers.iter().map(Bloom::size_bytes).sum()
    }

    /// The plan by which it grows.
    pub fn plan(&self) -> &GrowingPlan {
        &self.plan
    }

    /// The hash scheme.
    pub fn scheme(&self) -> HashScheme {
        self.scheme
    }

    /// The same filter with another instruction set, as [`Bloom::with_kernel`].
    #[must_use]
    pub fn with_kernel(mut self, kernel: Kernel) -> Self {
        for layer in &mut self.layers {
            layer.table.set_kernel(kernel);
        }
        self
    }
}

/// `contains_hash` in one of these layers, for many hashes: prefetches the lines of all of them together.
fn any_layer_contains<S: Storage>(layers: &[Bloom<S>], hashes: &[KeyHash], found: &mut [bool]) {
    let Some((first, others)) = layers.split_first() else {
        return found.fill(false);
    };
    if layers.len() > MAX_SEQUENTIAL_LAYERS {
        found.fill(false);
        first.assert_origins(hashes);
        return BloomTable::any_contains_each(layers, hashes, found);
    }
    let mut more = [false; KEYS_PER_ROUND];
    for (hashes, found) in hashes
        .chunks(KEYS_PER_ROUND)
        .zip(found.chunks_mut(KEYS_PER_ROUND))
    {
        let more = &mut more[..found.len()];
        first.contains_hashes(hashes, found);
        for layer in others {
            layer.contains_hashes(hashes, more);
            for (found, more) in found.iter_mut().zip(&*more) {
                *found |= more;
            }
        }
    }
}

impl<K: Key> Extend<K> for GrowingBloom {
    /// Inserts all keys.
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(key);
        }
    }
}

impl<S: Storage> fmt::Debug for GrowingBloom<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "GrowingBloom({} keys and more at {}: {} layers, {} bytes, room for {} keys, {:?})",
            self.plan.capacity(),
            self.plan.false_positive_rate(),
            self.layers.len(),
            self.size_bytes(),
            self.capacity(),
            self.scheme
        )
    }
}
