//! The keyspace.
//!
//! Keys are divided into shards by their hash. Reading or updating an existing key takes the shard's read lock and the key's own
//! lock. Creating or removing a key takes the shard's write lock, so that nothing is ever written into a removed key.

use crate::call::{CommandError, NO_MEMORY};
use crate::shared_slot::SharedSlot;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as TableEntry;
use mayhap_command::Slot;
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Many, to avoid contention, and so that SCAN can go from one to the next.
const SHARDS: usize = 1024;
/// The size from which reading a value takes milliseconds, too long for a worker or under a lock.
pub(crate) const LARGE_BYTES: u64 = 4 << 20;
/// The approximate overhead per key.
const OVERHEAD: u64 = 160;

/// The value of a key.
#[derive(Debug)]
pub(crate) enum Value {
    Filter(SharedSlot),
    /// A Redis string.
    Text(Arc<[u8]>),
    /// A long command has taken the filter out under a lease. Other commands on the key wait.
    Leased {
        type_name: &'static str,
        size_bytes: u64,
    },
}

impl Value {
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Filter(slot) => slot.type_name(),
            Self::Text(_) => "string",
            Self::Leased { type_name, .. } => type_name,
        }
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        match self {
            Self::Filter(slot) => slot.size_bytes(),
            Self::Text(text) => text.len() as u64,
            Self::Leased { size_bytes, .. } => *size_bytes,
        }
    }

    /// Shares the current value for a long read; `None` while a long command has it.
    pub(crate) fn share(&self) -> Option<SharedValue> {
        match self {
            Self::Filter(slot) => Some(SharedValue::Filter(slot.share())),
            Self::Text(text) => Some(SharedValue::Text(Arc::clone(text))),
            Self::Leased { .. } => None,
        }
    }

    pub(crate) fn is_filter(&self) -> bool {
        match self {
            Self::Filter(_) | Self::Leased { .. } => true,
            Self::Text(_) => false,
        }
    }

    pub(crate) fn is_large(&self) -> bool {
        self.size_bytes() >= LARGE_BYTES
    }
}

/// A value that does not change while it is held.
pub(crate) enum SharedValue {
    Filter(Arc<Slot>),
    Text(Arc<[u8]>),
}

impl SharedValue {
    pub(crate) fn size_bytes(&self) -> u64 {
        match self {
            Self::Filter(slot) => slot.size_bytes(),
            Self::Text(text) => text.len() as u64,
        }
    }

    /// A copy for another key.
    pub(crate) fn copy(&self) -> Result<Value, CommandError> {
        Ok(match self {
            Self::Filter(slot) => {
                let copy = slot.try_clone().map_err(|_| NO_MEMORY)?;
                Value::Filter(SharedSlot::new(copy))
            }
            Self::Text(text) => Value::Text(Arc::clone(text)),
        })
    }
}

/// Detects whether a key was changed, or removed and created again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Version {
    birth: u64,
    changes: u64,
}

#[derive(Debug)]
pub(crate) struct KeyEntry {
    pub(crate) value: Value,
    expires: Option<u64>,
    version: Version,
    /// The size as included in the total of the keyspace.
    counted: u64,
}

impl KeyEntry {
    pub(crate) fn new(value: Value) -> Self {
        Self {
            value,
            expires: None,
            version: Version {
                birth: 0,
                changes: 0,
            },
            counted: 0,
        }
    }

    /// Sets the expiry time.
    pub(crate) fn until(mut self, expires: Option<u64>) -> Self {
        self.expires = expires;
        self
    }

    /// The expiry time in milliseconds since 1970.
    pub(crate) fn expires(&self) -> Option<u64> {
        self.expires
    }

    pub(crate) fn is_expired(&self, now: u64) -> bool {
        self.expires.is_some_and(|at| at <= now)
    }

    /// Takes the value out for a command that holds a lease on the key and will put it back.
    pub(crate) fn lease_value(&mut self) -> Value {
        let leased = Value::Leased {
            type_name: self.value.type_name(),
            size_bytes: self.value.size_bytes(),
        };
        std::mem::replace(&mut self.value, leased)
    }

    /// Marks the key as changed, for `WATCH`.
    pub(crate) fn touch(&mut self) {
        self.version.changes += 1;
    }

    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// The total size of the key, including its name.
    pub(crate) fn size_bytes(&self, key: &[u8]) -> u64 {
        self.value.size_bytes() + key.len() as u64 + OVERHEAD
    }
}

struct Node {
    key: Box<[u8]>,
    body: RwLock<KeyEntry>,
}

type Shard = HashTable<Box<Node>>;

pub(crate) struct Keyspace {
    shards: Box<[RwLock<Shard>]>,
    hasher: RandomState,
    next_birth: AtomicU64,
    used: AtomicU64,
    is_suspect: AtomicBool,
    /// Expiry times, the next one first.
    due: Mutex<BTreeSet<(u64, Box<[u8]>)>>,
}

impl Keyspace {
    pub(crate) fn new() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| RwLock::default()).collect(),
            hasher: RandomState::new(),
            next_birth: AtomicU64::new(1),
            used: AtomicU64::new(0),
            is_suspect: AtomicBool::new(false),
            due: Mutex::default(),
        }
    }

    /// Whether a write has panicked because of a bug. Values in memory may be inconsistent then, while the log is not, so the
    /// server stops replying.
    pub(crate) fn is_memory_damaged(&self) -> bool {
        self.is_suspect.load(Ordering::SeqCst)
    }

    /// A guard to hold while a value is changed.
    pub(crate) fn watch_for_panic(&self) -> DamagedOnPanic<'_> {
        DamagedOnPanic(&self.is_suspect)
    }

    fn shard_for(&self, key: &[u8]) -> (u64, &RwLock<Shard>) {
        let hash = self.hasher.hash_one(key);
        // Other bits than those that the hash tables use.
        (hash, &self.shards[(hash >> 32) as usize % SHARDS])
    }

    /// Reads a key; an expired one counts as missing.
    #[inline]
    pub(crate) fn read<R>(
        &self,
        key: &[u8],
        now: u64,
        see: impl FnOnce(Option<&KeyEntry>) -> R,
    ) -> R {
        let (hash, shard) = self.shard_for(key);
        let shard = shard.read();
        match shard.find(hash, |node| *node.key == *key) {
            Some(node) => {
                let body = node.body.read();
                see(Some(&*body).filter(|body| !body.is_expired(now)))
            }
            None => see(None),
        }
    }

    /// Updates an existing key that has not expired.
    #[inline]
    pub(crate) fn update<R>(
        &self,
        key: &[u8],
        now: u64,
        change: impl FnOnce(&mut KeyEntry) -> R,
    ) -> Option<R> {
        let (hash, shard) = self.shard_for(key);
        let shard = shard.read();
        let node = shard.find(hash, |node| *node.key == *key)?;
        let mut body = node.body.write();
        if body.is_expired(now) {
            return None;
        }
        let _watch = self.watch_for_panic();
        let result = change(&mut body);
        self.update_used_bytes(&mut body, key);
        Some(result)
    }

    /// Creates, updates or removes a key. Expired keys are passed to `change`: the caller must log their removal.
    pub(crate) fn replace<R>(
        &self,
        key: &[u8],
        change: impl FnOnce(&mut Option<KeyEntry>) -> R,
    ) -> R {
        let (hash, shard) = self.shard_for(key);
        let mut shard = shard.write();
        let _watch = self.watch_for_panic();
        match shard.entry(
            hash,
            |node| *node.key == *key,
            |node| self.hasher.hash_one(&*node.key),
        ) {
            TableEntry::Occupied(place) => {
                let (node, place) = place.remove();
                let Node { key: name, body } = *node;
                let mut body = Some(body.into_inner());
                let (counted, expires, version) = body.as_ref().map_or((0, None, None), |body| {
                    (body.counted, body.expires, Some(body.version))
                });
                let result = change(&mut body);
                if let Some(mut body) = body {
                    body.counted = counted;
                    // The value was replaced.
                    if version.is_none_or(|version| version.birth != body.version.birth) {
                        body.version = self.next_version();
                    }
                    self.reschedule(key, expires, body.expires);
                    self.update_used_bytes(&mut body, key);
                    let body = RwLock::new(body);
                    place.insert(Box::new(Node { key: name, body }));
                } else {
                    self.used.fetch_sub(counted, Ordering::Relaxed);
                    self.reschedule(key, expires, None);
                }
                result
            }
            TableEntry::Vacant(place) => {
                let mut body = None;
                let result = change(&mut body);
                if let Some(mut body) = body {
                    body.counted = 0;
                    body.version = self.next_version();
                    self.reschedule(key, None, body.expires);
                    self.update_used_bytes(&mut body, key);
                    place.insert(Box::new(Node {
                        key: key.into(),
                        body: RwLock::new(body),
                    }));
                }
                result
            }
        }
    }

    /// Sets or clears the expiry time of a key.
    pub(crate) fn set_expiry(&self, key: &[u8], body: &mut KeyEntry, expires: Option<u64>) {
        body.touch();
        self.reschedule(key, body.expires, expires);
        body.expires = expires;
    }

    fn next_version(&self) -> Version {
        Version {
            birth: self.next_birth.fetch_add(1, Ordering::Relaxed),
            changes: 0,
        }
    }

    fn reschedule(&self, key: &[u8], before: Option<u64>, after: Option<u64>) {
        if before == after {
            return;
        }
        let mut due = self.due.lock();
        if let Some(before) = before {
            due.remove(&(before, key.into()));
        }
        if let Some(after) = after {
            due.insert((after, key.into()));
        }
    }

    fn update_used_bytes(&self, body: &mut KeyEntry, key: &[u8]) {
        let size = body.size_bytes(key);
        if size != body.counted {
            // The addition may wrap around; the total is still right.
            let change = size.wrapping_sub(body.counted);
            self.used.fetch_add(change, Ordering::Relaxed);
            body.counted = size;
        }
    }

    /// Some expired keys.
    pub(crate) fn expired(&self, now: u64, most: usize) -> Vec<Box<[u8]>> {
        let due = self.due.lock();
        due.iter()
            .take_while(|(at, _)| *at <= now)
            .take(most)
            .map(|(_, key)| key.clone())
            .collect()
    }

    /// The number of keys with an expiry time.
    pub(crate) fn expiring(&self) -> usize {
        self.due.lock().len()
    }

    /// Reserves memory, unless the total would exceed `most`.
    pub(crate) fn reserve(&self, bytes: u64, most: u64) -> Option<Reservation<'_>> {
        let fits = |all: &u64| bytes == 0 || *all <= most;
        let add = |used: u64| used.checked_add(bytes).filter(fits);
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .ok()
            .map(|_| Reservation {
                used: &self.used,
                bytes,
            })
    }

    /// The approximate size of all keys.
    pub(crate) fn used_bytes(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().len()).sum()
    }

    /// The number of shards.
    pub(crate) fn shards(&self) -> usize {
        self.shards.len()
    }

    /// Calls `see` with every key of a shard.
    pub(crate) fn for_each_in_shard(&self, shard: usize, mut see: impl FnMut(&[u8], &KeyEntry)) {
        let Some(shard) = self.shards.get(shard) else {
            return;
        };
        for node in shard.read().iter() {
            see(&node.key, &node.body.read());
        }
    }

    /// The keys of a shard.
    pub(crate) fn keys_in_shard(&self, shard: usize) -> Vec<Box<[u8]>> {
        let Some(shard) = self.shards.get(shard) else {
            return Vec::new();
        };
        shard.read().iter().map(|node| node.key.clone()).collect()
    }

    /// Removes all keys for which `goes` returns true.
    pub(crate) fn remove_if(&self, goes: impl Fn(&[u8]) -> bool) {
        for shard in &self.shards {
            let mut shard = shard.write();
            shard.retain(|node| {
                if !goes(&node.key) {
                    return true;
                }
                let body = node.body.get_mut();
                self.used.fetch_sub(body.counted, Ordering::Relaxed);
                self.reschedule(&node.key, body.expires, None);
                false
            });
        }
    }
}

/// Reserved memory. Hold it until the new value is included in the total.
pub(crate) struct Reservation<'k> {
    used: &'k AtomicU64,
    bytes: u64,
}

impl Reservation<'_> {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Sets the flag of [`Keyspace::is_memory_damaged`] if a write panics, before other threads can see the value.
pub(crate) struct DamagedOnPanic<'k>(&'k AtomicBool);

impl Drop for DamagedOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyEntry, Keyspace, Value};

    fn text(text: &str) -> KeyEntry {
        KeyEntry::new(Value::Text(text.as_bytes().into()))
    }

    #[test]
    fn the_totals_follow_the_keys() {
        let keys = Keyspace::new();
        for name in 0..100_u32 {
            keys.replace(&name.to_le_bytes(), |body| *body = Some(text("abc")));
        }
        assert_eq!(keys.len(), 100);
        let before = keys.used_bytes();
        keys.replace(&7_u32.to_le_bytes(), |body| {
            *body = Some(text("abcdef").until(Some(50)));
        });
        assert_eq!(keys.used_bytes(), before + 3);
        assert_eq!(keys.expired(50, 9).len(), 1);
        assert!(keys.read(&7_u32.to_le_bytes(), 49, |body| body.is_some()));
        assert!(keys.read(&7_u32.to_le_bytes(), 50, |body| body.is_none()));
        keys.remove_if(|_| true);
        assert_eq!((keys.len(), keys.used_bytes(), keys.expiring()), (0, 0, 0));
    }

    #[test]
    fn a_version_detects_changes_and_recreation() {
        let keys = Keyspace::new();
        let version = || keys.read(b"k", 0, |body| body.map(KeyEntry::version));
        assert_eq!(version(), None);
        keys.replace(b"k", |body| *body = Some(text("1")));
        let first = version();
        keys.update(b"k", 0, |_| ());
        assert_eq!(version(), first);
        keys.update(b"k", 0, KeyEntry::touch);
        let second = version();
        keys.replace(b"k", |body| *body = None);
        keys.replace(b"k", |body| *body = Some(text("1")));
        let third = version();
        assert!(first != second && second != third && first != third);
    }
}
