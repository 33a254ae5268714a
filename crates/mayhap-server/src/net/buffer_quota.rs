//! The total of all buffers, and the connections with the largest ones.
//!
//! A connection reports a change of its buffer capacity, which doubling makes rare. Only connections large enough to be worth
//! closing have an entry in the map.

use super::client::ClientHandle;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The size from which a connection has an entry in the map.
const LARGE_BYTES: usize = 16 << 10;

pub(super) struct BufferQuota {
    total: AtomicUsize,
    most: usize,
    large: Mutex<HashMap<u64, (usize, ClientHandle)>>,
}

impl BufferQuota {
    pub(super) fn new(most: usize) -> Self {
        Self {
            total: AtomicUsize::new(0),
            most,
            large: Mutex::default(),
        }
    }

    pub(super) fn total(&self) -> usize {
        self.total.load(Ordering::Relaxed)
    }

    fn large(&self) -> MutexGuard<'_, HashMap<u64, (usize, ClientHandle)>> {
        self.large.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The share of one connection.
pub(super) struct BufferUse {
    quota: Arc<BufferQuota>,
    client: ClientHandle,
    bytes: usize,
}

impl BufferUse {
    pub(super) fn new(quota: Arc<BufferQuota>, client: ClientHandle) -> Self {
        let bytes = 0;
        Self {
            quota,
            client,
            bytes,
        }
    }

    pub(super) fn client(&self) -> &ClientHandle {
        &self.client
    }

    /// Sets the size. Returns false if the total is too large and there is no larger connection to close instead.
    #[must_use]
    pub(super) fn set(&mut self, bytes: usize) -> bool {
        if bytes == self.bytes {
            return true;
        }
        let before = std::mem::replace(&mut self.bytes, bytes);
        let quota = &self.quota;
        if before.max(bytes) >= LARGE_BYTES {
            let id = self.client.id;
            let mut large = quota.large();
            if bytes >= LARGE_BYTES {
                large.insert(id, (bytes, self.client.clone()));
            } else {
                large.remove(&id);
            }
        }
        if bytes < before {
            quota.total.fetch_sub(before - bytes, Ordering::Relaxed);
            return true;
        }
        let grown = bytes - before;
        let total = quota.total.fetch_add(grown, Ordering::Relaxed) + grown;
        total <= quota.most || self.close_largest()
    }

    /// Returns false if this connection is the largest.
    fn close_largest(&self) -> bool {
        let large = self.quota.large();
        let largest = large.values().max_by_key(|(bytes, _)| *bytes);
        match largest {
            // Its worker releases the bytes when it closes it. Until then, other growing connections may ask again, which is
            // harmless.
            Some((_, largest)) if largest.id != self.client.id => {
                let largest = largest.clone();
                drop(large);
                largest.kill();
                true
            }
            _ => false,
        }
    }
}

impl Drop for BufferUse {
    fn drop(&mut self) {
        // Shrinking always succeeds.
        let _ = self.set(0);
    }
}
