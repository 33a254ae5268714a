//! The time in milliseconds since 1970. It never goes back while the server runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// One reading of a fast clock gives both the date and the duration of a command.
#[derive(Debug)]
pub(crate) struct Clock {
    started: Instant,
    /// The offset to the milliseconds since the start.
    offset: AtomicU64,
}

impl Clock {
    /// A clock that is not behind `least`, the newest time in the log: time does not go back across restarts either.
    pub(crate) fn new(least: u64) -> Self {
        Self {
            started: Instant::now(),
            offset: AtomicU64::new(system().max(least)),
        }
    }

    pub(crate) fn at(&self, instant: Instant) -> u64 {
        let passed = instant.saturating_duration_since(self.started);
        let offset = self.offset.load(Ordering::Relaxed);
        // A record may have any time.
        offset.saturating_add(passed.as_millis() as u64)
    }

    pub(crate) fn now(&self) -> u64 {
        self.at(Instant::now())
    }

    /// Follows the system clock if that was set forward. If it was set back, it has to catch up with ours.
    pub(crate) fn follow(&self) {
        let passed = self.started.elapsed().as_millis() as u64;
        self.offset
            .fetch_max(system().saturating_sub(passed), Ordering::Relaxed);
    }

    pub(crate) fn uptime_seconds(&self) -> u64 {
        self.started.elapsed().as_secs()
    }
}

fn system() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_millis() as u64)
}
