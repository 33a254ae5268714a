//! Who is connected.

use crate::net::ClientHandle;
use mayhap_command::Protocol;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What others may know of a connection.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) handle: ClientHandle,
    pub(crate) since: u64,
    /// When it last asked something.
    pub(crate) seen: AtomicU64,
    pub(crate) is_new_protocol: AtomicBool,
    pub(crate) names: Mutex<Names>,
}

/// What a client says of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) name: String,
    pub(crate) library: String,
    pub(crate) library_version: String,
    pub(crate) last_command: &'static str,
}

impl Client {
    /// A line of `CLIENT LIST`.
    pub(crate) fn line(&self, now: u64) -> String {
        let names = self.names.lock().clone();
        let seconds = |since: u64| now.saturating_sub(since) / 1000;
        let mut line = String::new();
        let _ = write!(
            line,
            "id={} addr={} laddr={} name={} age={} idle={} flags=N db=0 sub=0 psub=0 multi=-1 cmd={} user=default lib-name={} lib-ver={} resp={}",
            self.handle.id,
            self.handle.peer,
            self.handle.local,
            names.name,
            seconds(self.since),
            seconds(self.seen.load(Ordering::Relaxed)),
            if names.last_command.is_empty() {
                "NULL"
            } else {
                names.last_command
            },
            names.library,
            names.library_version,
            if self.is_new_protocol.load(Ordering::Relaxed) {
                3
            } else {
                2
            },
        );
        line
    }

    /// It asked something.
    pub(crate) fn saw(&self, command: &'static str, now: u64) {
        self.seen.store(now, Ordering::Relaxed);
        self.names.lock().last_command = command;
    }

    pub(crate) fn speaks(&self, protocol: Protocol) {
        self.is_new_protocol
            .store(protocol == Protocol::Resp3, Ordering::Relaxed);
    }
}

#[derive(Default)]
pub(crate) struct Clients(Mutex<BTreeMap<u64, Arc<Client>>>);

impl Clients {
    pub(crate) fn add(&self, client: &Arc<Client>) {
        self.0.lock().insert(client.handle.id, Arc::clone(client));
    }

    pub(crate) fn remove(&self, id: u64) {
        self.0.lock().remove(&id);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Client>> {
        self.0.lock().values().cloned().collect()
    }
}
