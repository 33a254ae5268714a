//! What all requests together may take: connections, bodies in memory, and requests for one path. At the limit of connections, the
//! slowest client makes room.

use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of connections, apart from streams of events; others are asked to retry.
pub(super) const MAX_CONNECTIONS: usize = 64;
/// A connection that has waited for its client for so long is closed if a new one needs its place: slow clients must not keep
/// others out, such as health checks.
const PATIENCE: Duration = Duration::from_secs(1);
/// The maximum total of all bodies.
const MAX_BODY_BYTES: u64 = 256 << 20;

#[derive(Default)]
pub(super) struct HttpLimits {
    connections: AtomicUsize,
    /// Connections whose client is awaited, the oldest first.
    waiting: Mutex<Vec<Waiting>>,
    next_number: AtomicU64,
    body_bytes: AtomicU64,
    /// The paths that are being served.
    paths: Mutex<Vec<String>>,
}

struct Waiting {
    number: u64,
    since: Instant,
    socket: TcpStream,
}

impl HttpLimits {
    pub(super) fn connect(self: &Arc<Self>, now: Instant) -> Option<ConnectionSlot> {
        let before = self.connections.fetch_add(1, Ordering::Relaxed);
        let slot = ConnectionSlot(Arc::clone(self));
        (before < MAX_CONNECTIONS || self.close_slowest(now)).then_some(slot)
    }

    /// Closes the connection that has waited longest; its thread then ends. `false` if all are busy or new.
    fn close_slowest(&self, now: Instant) -> bool {
        let mut waiting = self.waiting();
        let slowest = waiting.first();
        if slowest.is_none_or(|slowest| now.saturating_duration_since(slowest.since) < PATIENCE) {
            return false;
        }
        waiting.remove(0).socket.shutdown(Shutdown::Both).is_ok()
    }

    /// The client is awaited until the result is dropped.
    pub(super) fn wait_for_client(&self, socket: TcpStream, since: Instant) -> WaitingSlot<'_> {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        self.waiting().push(Waiting {
            number,
            since,
            socket,
        });
        WaitingSlot(self, number)
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
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

/// A connection whose client is awaited.
pub(super) struct WaitingSlot<'l>(&'l HttpLimits, u64);

impl Drop for WaitingSlot<'_> {
    fn drop(&mut self) {
        self.0.waiting().retain(|waiting| waiting.number != self.1);
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
    use super::{HttpLimits, MAX_BODY_BYTES, MAX_CONNECTIONS, PATIENCE};
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    #[test]
    fn the_slowest_client_makes_room_for_a_new_one() {
        let (limits, now) = (Arc::new(HttpLimits::default()), Instant::now());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connect = || {
            let client = TcpStream::connect(address).unwrap();
            (client, listener.accept().unwrap().0)
        };
        let _all: Vec<_> = (0..MAX_CONNECTIONS)
            .map(|_| limits.connect(now).unwrap())
            .collect();
        // One client has been served, two are awaited.
        let (_, served) = connect();
        drop(limits.wait_for_client(served, now));
        let (mut slowest, server) = connect();
        let _first = limits.wait_for_client(server, now);
        let (mut slow, server) = connect();
        let later = now + Duration::from_millis(500);
        let _second = limits.wait_for_client(server, later);
        assert!(limits.connect(later).is_none(), "nobody is slow yet");
        let new = limits.connect(now + PATIENCE);
        assert!(new.is_some());
        assert_eq!(slowest.read(&mut [0]).unwrap(), 0, "it was closed");
        assert!(limits.connect(now + PATIENCE).is_none());
        slow.set_nonblocking(true).unwrap();
        assert!(slow.read(&mut [0]).is_err(), "it is still open");
    }

    #[test]
    fn what_is_dropped_is_free_again() {
        let (limits, now) = (Arc::new(HttpLimits::default()), Instant::now());
        let all: Vec<_> = (0..MAX_CONNECTIONS)
            .map(|_| limits.connect(now).unwrap())
            .collect();
        assert!(limits.connect(now).is_none() && limits.connect(now).is_none());
        drop(all);
        assert!(limits.connect(now).is_some());
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
