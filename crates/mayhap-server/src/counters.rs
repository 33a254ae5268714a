//! Counters since the start.

use parking_lot::Mutex;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The minimum interval between reports of events that unauthenticated clients can cause.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);
/// The same number as in Redis.
const SAMPLES: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) commands: AtomicU64,
    pub(crate) errors: AtomicU64,
    pub(crate) clients: AtomicU64,
    pub(crate) refused_clients: AtomicU64,
    pub(crate) refused_passwords: AtomicU64,
    pub(crate) expired: AtomicU64,
    /// Lookups of existing and of missing keys.
    pub(crate) hits: AtomicU64,
    pub(crate) misses: AtomicU64,
    /// Earlier values of `commands`.
    samples: Mutex<VecDeque<(Instant, u64)>>,
    /// Connections that were closed before they authenticated, after the timeout or to make room.
    pub(crate) closed_unauthenticated: AtomicU64,
    /// HTTP requests to the port for Redis clients.
    pub(crate) refused_http: AtomicU64,
    last_http_report: Mutex<Option<Instant>>,
}

thread_local! {
    /// The hits and misses of a worker's current round.
    static LOOKUPS: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// Counts a lookup; the total is updated at the end of the round.
#[inline]
pub(crate) fn count_lookup(is_there: bool) {
    let (hits, misses) = LOOKUPS.get();
    LOOKUPS.set(if is_there {
        (hits + 1, misses)
    } else {
        (hits, misses + 1)
    });
}

impl Counters {
    /// Adds the lookups of this thread to the total.
    pub(crate) fn add_lookups(&self) {
        let (hits, misses) = LOOKUPS.take();
        if hits + misses > 0 {
            self.hits.fetch_add(hits, Ordering::Relaxed);
            self.misses.fetch_add(misses, Ordering::Relaxed);
        }
    }

    /// Takes a sample for [`Self::commands_per_second`].
    pub(crate) fn sample(&self) {
        let mut samples = self.samples.lock();
        if samples.len() == SAMPLES {
            samples.pop_front();
        }
        samples.push_back((Instant::now(), self.commands.load(Ordering::Relaxed)));
    }

    /// The average over the last samples.
    pub(crate) fn commands_per_second(&self) -> u64 {
        let samples = self.samples.lock();
        let (Some((first, before)), Some((last, after))) = (samples.front(), samples.back()) else {
            return 0;
        };
        let time = last.duration_since(*first).as_secs_f64();
        if time == 0.0 {
            return 0;
        }
        (after.saturating_sub(*before) as f64 / time).round() as u64
    }

    pub(crate) fn refuse_password(&self) {
        self.refused_passwords.fetch_add(1, Ordering::Relaxed);
    }

    /// Reports an HTTP request: a mistake, or a web page that tries to reach a server on its visitor's machine.
    pub(crate) fn refuse_http(&self, peer: &str) {
        self.refused_http.fetch_add(1, Ordering::Relaxed);
        let mut last = self.last_http_report.lock();
        if last.is_none_or(|last| last.elapsed() > REPORT_INTERVAL) {
            *last = Some(Instant::now());
            crate::report(&format!(
                "Possible SECURITY ATTACK detected: {peer} sent an HTTP request to the port for Redis clients; the connection was closed. Others in the next minute are only counted, as mayhap_refused_http_requests of INFO stats"
            ));
        }
    }

    pub(crate) fn reset(&self) {
        for counter in [
            &self.commands,
            &self.errors,
            &self.clients,
            &self.refused_clients,
            &self.refused_passwords,
            &self.expired,
            &self.hits,
            &self.misses,
            &self.closed_unauthenticated,
            &self.refused_http,
        ] {
            counter.store(0, Ordering::Relaxed);
        }
        self.samples.lock().clear();
    }
}
