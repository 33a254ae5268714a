//! Leases: exclusive access to keys for a long command on its own thread, without holding a lock. Other commands on these keys
//! are retried until the lease ends; all other commands continue.

use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Default)]
pub(crate) struct Leases {
    keys: Mutex<HashSet<Box<[u8]>>>,
    /// How many there are.
    count: AtomicUsize,
    /// The number of shared filters, see `shared_slot.rs`.
    shared: AtomicUsize,
}

impl Leases {
    /// Whether no key is leased and no filter is shared, which is the usual case.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        !self.is_any_leased() && self.shared.load(Ordering::Acquire) == 0
    }

    /// Whether any key is leased.
    pub(crate) fn is_any_leased(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    /// Whether one of these keys is leased. The caller holds the keyspace lock, shared or exclusive: leases start under the
    /// exclusive lock.
    pub(crate) fn is_leased<'k>(&self, keys: impl IntoIterator<Item = &'k [u8]>) -> bool {
        if !self.is_any_leased() {
            return false;
        }
        let leased = self.keys.lock();
        keys.into_iter().any(|key| leased.contains(key))
    }

    /// A guard to hold while a filter is shared.
    pub(crate) fn share(&self) -> ShareGuard<'_> {
        self.shared.fetch_add(1, Ordering::AcqRel);
        ShareGuard(self)
    }

    /// Leases keys that are not leased. The caller holds the exclusive keyspace lock.
    pub(crate) fn lease(&self, keys: Vec<Box<[u8]>>) -> Lease<'_> {
        let mut leased = self.keys.lock();
        let keys: HashSet<Box<[u8]>> = keys.into_iter().collect();
        leased.extend(keys.iter().cloned());
        self.count.store(leased.len(), Ordering::Release);
        Lease { leases: self, keys }
    }
}

/// A filter is shared while this is held.
pub(crate) struct ShareGuard<'l>(&'l Leases);

impl Drop for ShareGuard<'_> {
    fn drop(&mut self) {
        self.0.shared.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The lease ends when this is dropped; the values must be back by then.
pub(crate) struct Lease<'l> {
    leases: &'l Leases,
    keys: HashSet<Box<[u8]>>,
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut leased = self.leases.keys.lock();
        leased.retain(|key| !self.keys.contains(key));
        self.leases.count.store(leased.len(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::Leases;

    #[test]
    fn a_lease_covers_its_keys_until_it_ends() {
        let leases = Leases::default();
        let names = |names: &[&str]| names.iter().map(|name| name.as_bytes().into()).collect();
        let lease = leases.lease(names(&["a", "b", "a"]));
        let other = leases.lease(names(&["c"]));
        assert!(leases.is_leased([&b"x"[..], b"b"]));
        assert!(!leases.is_leased([&b"x"[..]]));
        drop(lease);
        assert!(!leases.is_leased([&b"a"[..], b"b"]));
        assert!(leases.is_leased([&b"c"[..]]));
        let sharing = leases.share();
        drop(other);
        assert!(!leases.is_leased([&b"c"[..]]));
        assert!(!leases.is_idle());
        drop(sharing);
        assert!(leases.is_idle());
    }
}
