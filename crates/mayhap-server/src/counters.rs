//! What has happened since the start.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) commands: AtomicU64,
    pub(crate) errors: AtomicU64,
    pub(crate) clients: AtomicU64,
    pub(crate) refused_clients: AtomicU64,
    pub(crate) refused_passwords: AtomicU64,
    pub(crate) expired: AtomicU64,
}

impl Counters {
    pub(crate) fn refuse_password(&self) {
        self.refused_passwords.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn reset(&self) {
        for counter in [
            &self.commands,
            &self.errors,
            &self.clients,
            &self.refused_clients,
            &self.refused_passwords,
            &self.expired,
        ] {
            counter.store(0, Ordering::Relaxed);
        }
    }
}
