//! What all requests together may take: connections, bodies in memory, and requests for one path.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of connections, apart from streams of events; others are asked to retry.
pub(super) const MAX_CONNECTIONS: usize = 64;
/// The maximum total of all bodies.
const MAX_BODY_BYTES: u64 = 256 << 20;

#[derive(Default)]
pub(super) struct HttpLimits {
    connections: AtomicUsize,
    body_bytes: AtomicU64,
    /// The paths that are being served.
    paths: Mutex<Vec<String>>,
}

impl HttpLimits {
    pub(super) fn connect(self: &Arc<Self>) -> Option<ConnectionSlot> {
        let before = self.connections.fetch_add(1, Ordering::Relaxed);
        let slot = ConnectionSlot(Arc::clone(self));
        (before < MAX_CONNECTIONS).then_some(slot)
    }

    pub(super) fn body(&self, bytes: u64) -> Option<BodySlot<'_>> {
        let add = |used: u64| used.checked_add(bytes).filter(|all| *all <= MAX_BODY_BYTES);
        let counter = &self.body_bytes;
        counter
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .ok()
            .map(|_| BodySlot(counter, bytes))
    }

    pub(super) fn path(&self, path: &str, most: usize) -> Option<PathSlot<'_>> {
        let mut paths = self.paths();
        if paths.iter().filter(|known| *known == path).count() >= most {
            return None;
        }
        paths.push(path.to_owned());
        Some(PathSlot(self, path.to_owned()))
    }

    fn paths(&self) -> MutexGuard<'_, Vec<String>> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that is counted until this is dropped.
pub(super) struct ConnectionSlot(Arc<HttpLimits>);

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The memory of a body.
pub(super) struct BodySlot<'l>(&'l AtomicU64, u64);

impl Drop for BodySlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}

/// A request for a path; released also if its handler panics.
pub(super) struct PathSlot<'l>(&'l HttpLimits, String);

impl Drop for PathSlot<'_> {
    fn drop(&mut self) {
        let mut paths = self.0.paths();
        if let Some(at) = paths.iter().position(|path| *path == self.1) {
            paths.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HttpLimits, MAX_BODY_BYTES, MAX_CONNECTIONS};
    use std::sync::Arc;

    #[test]
    fn what_is_dropped_is_free_again() {
        let limits = Arc::new(HttpLimits::default());
        let all: Vec<_> = (0..MAX_CONNECTIONS)
            .map(|_| limits.connect().unwrap())
            .collect();
        assert!(limits.connect().is_none() && limits.connect().is_none());
        drop(all);
        assert!(limits.connect().is_some());
        let body = limits.body(MAX_BODY_BYTES).unwrap();
        assert!(limits.body(1).is_none() && limits.body(u64::MAX).is_none());
        drop(body);
        assert!(limits.body(1).is_some());
        let path = limits.path("/a", 1).unwrap();
        assert!(limits.path("/a", 1).is_none() && limits.path("/b", 1).is_some());
        drop(path);
        assert!(limits.path("/a", 1).is_some());
    }
}
