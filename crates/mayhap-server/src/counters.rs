//! What has happened since the start.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What strangers can cause at will is reported at most so often.
const QUIET: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) commands: AtomicU64,
    pub(crate) errors: AtomicU64,
    pub(crate) clients: AtomicU64,
    pub(crate) refused_clients: AtomicU64,
    pub(crate) refused_passwords: AtomicU64,
    pub(crate) expired: AtomicU64,
    /// Connections that were closed before they gave the password: in time, or for others.
    pub(crate) closed_strangers: AtomicU64,
    /// HTTP requests to the port for Redis clients.
    pub(crate) refused_http: AtomicU64,
    last_http_report: Mutex<Option<Instant>>,
}

impl Counters {
    pub(crate) fn refuse_password(&self) {
        self.refused_passwords.fetch_add(1, Ordering::Relaxed);
    }

    /// Somebody sent HTTP: a mistake, or a web page that tries to reach a server on the machine of its reader.
    pub(crate) fn refuse_http(&self, peer: &str) {
        self.refused_http.fetch_add(1, Ordering::Relaxed);
        let mut last = self.last_http_report.lock();
        if last.is_none_or(|last| last.elapsed() > QUIET) {
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
            &self.closed_strangers,
            &self.refused_http,
        ] {
            counter.store(0, Ordering::Relaxed);
        }
    }
}
