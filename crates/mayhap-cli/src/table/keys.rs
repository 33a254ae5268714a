//! The keys of a batch of rows, in one buffer.

use mayhap_core::{HashScheme, KeyHash};
use std::ops::Range;

#[derive(Default, Debug)]
pub(crate) struct RowKeys {
    bytes: Vec<u8>,
    places: Vec<Option<Range<usize>>>,
}

impl RowKeys {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

    pub(crate) fn push(&mut self, key: &[u8]) {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.places.push(Some(begin..self.bytes.len()));
    }

    /// Adds the key that `write` appends.
    pub(crate) fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let begin = self.bytes.len();
        write(&mut self.bytes);
        self.places.push(Some(begin..self.bytes.len()));
    }

    /// Adds a row without a key, which matches nothing.
    pub(crate) fn push_null(&mut self) {
        self.places.push(None);
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn get(&self, number: usize) -> Option<&[u8]> {
        let place = self.places.get(number)?.clone()?;
        self.bytes.get(place)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let bytes = &self.bytes;
        self.places
            .iter()
            .map(move |place| place.clone().map(|place| &bytes[place]))
    }

    /// The hash of every key; a null hashes as empty.
    pub(crate) fn hash(&self, scheme: HashScheme, hashes: &mut Vec<KeyHash>) {
        hashes.clear();
        hashes.extend(self.iter().map(|key| scheme.hash(key.unwrap_or_default())));
    }
}
