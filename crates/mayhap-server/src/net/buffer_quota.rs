//! How much is buffered for all clients together, and who has the most of it.
//!
//! A connection tells its account when the capacity of its buffers changes, which doubling makes rare. Only accounts that are worth
//! closing have an entry in the map.

use super::client::ClientHandle;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// From here on a connection is remembered by name.
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

/// One connection's part of the sum.
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

    /// Says how much there is now. False when it is too much for all together and there is no larger one to close instead.
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

    /// False when that is this one.
    fn close_largest(&self) -> bool {
        let large = self.quota.large();
        let largest = large.values().max_by_key(|(bytes, _)| *bytes);
        match largest {
            // Its worker gives the bytes back when it closes it; until then whoever grows further asks again, which does no harm.
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
        // Less is never too much.
        let _ = self.set(0);
    }
}
