//! Timeouts that can be changed at run time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The timeouts for idle and for vanished clients.
#[derive(Debug)]
pub struct Timeouts {
    idle_ms: AtomicU64,
    keepalive_ms: AtomicU64,
}

impl Default for Timeouts {
    fn default() -> Self {
        let timeouts = Self {
            idle_ms: AtomicU64::new(0),
            keepalive_ms: AtomicU64::new(0),
        };
        timeouts.set_keepalive(Self::KEEPALIVE);
        timeouts
    }
}

impl Timeouts {
    /// As in Redis.
    pub const KEEPALIVE: Duration = Duration::from_secs(300);

    /// An idle client is closed after this time; zero means never. Workers check once a second.
    pub fn set_idle(&self, time: Duration) {
        self.idle_ms.store(milliseconds(time), Ordering::Relaxed);
    }

    /// A vanished client is detected after about twice this time; zero means never. Applies to new connections.
    pub fn set_keepalive(&self, time: Duration) {
        let time = milliseconds(time);
        self.keepalive_ms.store(time, Ordering::Relaxed);
    }

    pub(super) fn idle(&self) -> Duration {
        Duration::from_millis(self.idle_ms.load(Ordering::Relaxed))
    }

    pub(super) fn keepalive(&self) -> Duration {
        Duration::from_millis(self.keepalive_ms.load(Ordering::Relaxed))
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
