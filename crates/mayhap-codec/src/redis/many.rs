//! Many keys at once in RedisBloom's chain: each is hashed once for all layers, and only what one layer denies is asked in the next.

use super::Bloom;
use super::layer::Layer;
use mayhap_core::HashPair;

/// Keys that are hashed before any is asked.
const AT_ONCE: usize = 128;

impl Bloom {
    /// `contains` for many keys, faster: the memory's latency is paid once for dozens of them.
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
            ask(self.layers.iter().rev(), pairs, found);
        }
    }

    /// [`try_insert`](Self::try_insert) for many keys for which there is room ([`keys_until_growth`](Self::keys_until_growth)), faster:
    /// tells of each whether it was surely new.
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
        ask(older.iter().rev(), pairs, is_new);
        let absent = Doubtful::of(pairs, is_new);
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

/// Whether one of the layers has it, for each of at most [`AT_ONCE`] keys.
fn ask<'l>(mut layers: impl Iterator<Item = &'l Layer>, pairs: &[HashPair], found: &mut [bool]) {
    let Some(first) = layers.next() else {
        return found.fill(false);
    };
    first.filter().contains_pairs(pairs, found);
    let mut doubtful = None;
    for layer in layers {
        let doubtful = doubtful.get_or_insert_with(|| Doubtful::of(pairs, found));
        if doubtful.count == 0 {
            return;
        }
        doubtful.ask(layer, found);
    }
}

/// The keys of a batch that no layer has had so far.
struct Doubtful {
    count: usize,
    pairs: [HashPair; AT_ONCE],
    /// Where they stand in the batch.
    places: [usize; AT_ONCE],
}

impl Doubtful {
    fn of(pairs: &[HashPair], found: &[bool]) -> Self {
        let mut doubtful = Self {
            count: 0,
            pairs: [HashPair::default(); AT_ONCE],
            places: [0; AT_ONCE],
        };
        for (place, (&pair, &found)) in pairs.iter().zip(found).enumerate() {
            doubtful.keep(pair, place, !found);
        }
        doubtful
    }

    fn pairs(&self) -> &[HashPair] {
        &self.pairs[..self.count]
    }

    /// Without a branch: whether a key stays is as good as a toss.
    fn keep(&mut self, pair: HashPair, place: usize, stays: bool) {
        self.pairs[self.count] = pair;
        self.places[self.count] = place;
        self.count += usize::from(stays);
    }

    fn ask(&mut self, layer: &Layer, found: &mut [bool]) {
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
