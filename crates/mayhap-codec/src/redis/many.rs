//! Batches of keys in RedisBloom's Bloom filter: a key is hashed once for all layers, and a layer is queried only for keys that no
//! other layer contains.

use super::Bloom;
use super::layer::Layer;
use mayhap_core::HashPair;

/// Keys that are hashed before the first lookup.
const AT_ONCE: usize = 128;

impl Bloom {
    /// `contains` for many keys, faster: memory accesses of dozens of keys overlap.
    ///
    /// # Panics
    /// When `keys` and `found` differ in length.
    pub fn contains_each(&self, keys: &[impl AsRef<[u8]>], found: &mut [bool]) {
        assert_eq!(
            keys.len(),
            found.len(),
            "one place in `found` for every key"
        );
        for (keys, found) in keys.chunks(AT_ONCE).zip(found.chunks_mut(AT_ONCE)) {
            let mut pairs = [HashPair::default(); AT_ONCE];
            let pairs = self.hash_each(keys, &mut pairs);
            lookup(self.layers.iter().rev(), pairs, found);
        }
    }

    /// [`try_insert`](Self::try_insert) for many keys for which there is room ([`keys_until_growth`](Self::keys_until_growth)), faster:
    /// reports for each whether it was definitely new.
    ///
    /// # Panics
    /// When `keys` and `is_new` differ in length.
    pub fn insert_each_reporting_new(&mut self, keys: &[&[u8]], is_new: &mut [bool]) {
        assert_eq!(
            keys.len(),
            is_new.len(),
            "one place in `is_new` for every key"
        );
        debug_assert!(keys.len() as u64 <= self.keys_until_growth());
        for (keys, is_new) in keys.chunks(AT_ONCE).zip(is_new.chunks_mut(AT_ONCE)) {
            let mut pairs = [HashPair::default(); AT_ONCE];
            let pairs = self.hash_each(keys, &mut pairs);
            self.insert_pairs(pairs, is_new);
            let new = is_new.iter().filter(|&&new| new).count() as u64;
            self.items = self.items.saturating_add(new);
        }
    }

    fn insert_pairs(&mut self, pairs: &[HashPair], is_new: &mut [bool]) {
        let Some((newest, older)) = self.layers.split_last_mut() else {
            return is_new.fill(false);
        };
        if older.is_empty() {
            return newest.insert_pairs_reporting_new(pairs, is_new);
        }
        lookup(older.iter().rev(), pairs, is_new);
        let absent = Undecided::new(pairs, is_new);
        let mut told = [false; AT_ONCE];
        let told = &mut told[..absent.count];
        newest.insert_pairs_reporting_new(absent.pairs(), told);
        is_new.fill(false);
        for (&place, told) in absent.places.iter().zip(told) {
            is_new[place] = *told;
        }
    }

    fn hash_each<'p>(
        &self,
        keys: &[impl AsRef<[u8]>],
        pairs: &'p mut [HashPair; AT_ONCE],
    ) -> &'p [HashPair] {
        for (pair, key) in pairs.iter_mut().zip(keys) {
            *pair = self.pair(key.as_ref());
        }
        &pairs[..keys.len()]
    }
}

/// Whether a layer contains the key, for each of at most [`AT_ONCE`] keys.
fn lookup<'l>(mut layers: impl Iterator<Item = &'l Layer>, pairs: &[HashPair], found: &mut [bool]) {
    let Some(first) = layers.next() else {
        return found.fill(false);
    };
    first.filter().contains_pairs(pairs, found);
    let mut undecided = None;
    for layer in layers {
        let undecided = undecided.get_or_insert_with(|| Undecided::new(pairs, found));
        if undecided.count == 0 {
            return;
        }
        undecided.lookup(layer, found);
    }
}

/// The keys of a batch that no layer has contained so far.
struct Undecided {
    count: usize,
    pairs: [HashPair; AT_ONCE],
    /// Their indexes in the batch.
    places: [usize; AT_ONCE],
}

impl Undecided {
    fn new(pairs: &[HashPair], found: &[bool]) -> Self {
        let mut undecided = Self {
            count: 0,
            pairs: [HashPair::default(); AT_ONCE],
            places: [0; AT_ONCE],
        };
        for (place, (&pair, &found)) in pairs.iter().zip(found).enumerate() {
            undecided.keep(pair, place, !found);
        }
        undecided
    }

    fn pairs(&self) -> &[HashPair] {
        &self.pairs[..self.count]
    }

    /// Branch-free: whether a key stays is unpredictable.
    fn keep(&mut self, pair: HashPair, place: usize, stays: bool) {
        self.pairs[self.count] = pair;
        self.places[self.count] = place;
        self.count += usize::from(stays);
    }

    fn lookup(&mut self, layer: &Layer, found: &mut [bool]) {
        let mut has = [false; AT_ONCE];
        let has = &mut has[..self.count];
        layer.filter().contains_pairs(self.pairs(), has);
        self.count = 0;
        for (at, &has) in has.iter().enumerate() {
            let (pair, place) = (self.pairs[at], self.places[at]);
            found[place] = has;
            self.keep(pair, place, !has);
        }
    }
}
