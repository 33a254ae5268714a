//! What the server must hold, exactly: sets and multisets instead of filters.

mod draw;
mod effect;
mod op;
mod verify;

pub(crate) use draw::Draw;
pub(crate) use op::Op;
pub(crate) use verify::verify;

use std::collections::{BTreeMap, BTreeSet};

/// How a Bloom filter was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// By its first item.
    Auto,
    /// Room for all items that tests know: two of them can always be merged.
    Wide,
    /// Grows every few items.
    Small,
    /// Forgets after an hour, which no test takes.
    Window,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    Text(Vec<u8>),
    Bloom {
        items: BTreeSet<u32>,
        shape: Shape,
        /// How often the server reported an item as new; unknown after a merge, or if not all replies were seen.
        ones: Option<u64>,
    },
    Cuckoo(BTreeMap<u32, u32>),
    Counting(BTreeMap<u32, u32>),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Held {
    pub(crate) value: Value,
    pub(crate) expires: bool,
}

/// The keys of one client, by their numbers.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Model {
    /// Before the number in the name of a key.
    pub(crate) prefix: String,
    pub(crate) keys: BTreeMap<u8, Held>,
}

/// A client has so many keys.
pub(crate) const KEYS: u8 = 12;
/// And so many items.
pub(crate) const ITEMS: u64 = 400;

impl Model {
    pub(crate) fn new(prefix: &str) -> Self {
        Self {
            prefix: prefix.to_owned(),
            keys: BTreeMap::new(),
        }
    }

    pub(crate) fn name(&self, key: u8) -> Vec<u8> {
        format!("{}{key}", self.prefix).into_bytes()
    }

    fn value(&self, key: u8) -> Option<&Value> {
        self.keys.get(&key).map(|held| &held.value)
    }

    fn put(&mut self, key: u8, value: Value) {
        let expires = false;
        self.keys.insert(key, Held { value, expires });
    }
}

pub(crate) fn item(number: u32) -> Vec<u8> {
    format!("item:{number}").into_bytes()
}
