//! The connected clients.

use crate::net::ClientHandle;
use mayhap_command::Protocol;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The public facts about a connection, for `CLIENT LIST`.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) handle: ClientHandle,
    pub(crate) since: u64,
    /// The time of its last command.
    pub(crate) seen: AtomicU64,
    pub(crate) is_new_protocol: AtomicBool,
    pub(crate) names: Mutex<Names>,
}

/// What the client says about itself (`CLIENT SETNAME`, `SETINFO`).
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

    /// Records a command.
    pub(crate) fn record_command(&self, command: &'static str, now: u64) {
        self.seen.store(now, Ordering::Relaxed);
        self.names.lock().last_command = command;
    }

    pub(crate) fn set_protocol(&self, protocol: Protocol) {
        self.is_new_protocol
            .store(protocol == Protocol::Resp3, Ordering::Relaxed);
    }
}

#[derive(Default)]
pub(crate) struct Clients(Mutex<Connected>);

#[derive(Default)]
struct Connected {
    all: BTreeMap<u64, Arc<Client>>,
    /// Clients that have not authenticated, with the time of their connection. Ids grow, so the oldest is the first.
    unauthenticated: BTreeMap<u64, Instant>,
}

impl Connected {
    fn remove(&mut self, id: u64) -> Option<Arc<Client>> {
        self.unauthenticated.remove(&id);
        self.all.remove(&id)
    }
}

impl Clients {
    /// Admits a client. If the limit is reached, the oldest unauthenticated clients are closed first, so that silent connections
    /// cannot lock others out. Returns how many were closed, or `None` if there is no room.
    pub(crate) fn admit(&self, client: &Arc<Client>, is_known: bool, most: usize) -> Option<u64> {
        let mut connected = self.0.lock();
        if connected.all.len() - connected.unauthenticated.len() >= most {
            return None;
        }
        let mut closed = 0;
        while connected.all.len() >= most
            && let Some((&oldest, _)) = connected.unauthenticated.first_key_value()
        {
            if let Some(oldest) = connected.remove(oldest) {
                oldest.handle.kill();
                closed += 1;
            }
        }
        let id = client.handle.id;
        connected.all.insert(id, Arc::clone(client));
        if !is_known {
            connected.unauthenticated.insert(id, Instant::now());
        }
        Some(closed)
    }

    /// Records whether a client has authenticated.
    pub(crate) fn set_authenticated(&self, id: u64, is_known: bool) {
        let mut connected = self.0.lock();
        if is_known {
            connected.unauthenticated.remove(&id);
        } else if connected.all.contains_key(&id) {
            connected.unauthenticated.insert(id, Instant::now());
        }
    }

    /// Closes clients that have not authenticated in time, and returns their number.
    pub(crate) fn close_timed_out(&self, most: Duration) -> u64 {
        let mut connected = self.0.lock();
        if connected.unauthenticated.is_empty() {
            return 0;
        }
        let is_late = |since: &Instant| since.elapsed() >= most;
        let unauthenticated = connected.unauthenticated.iter();
        let late: Vec<u64> = unauthenticated
            .filter(|(_, since)| is_late(since))
            .map(|(id, _)| *id)
            .collect();
        for id in &late {
            if let Some(client) = connected.remove(*id) {
                client.handle.kill();
            }
        }
        late.len() as u64
    }

    pub(crate) fn remove(&self, id: u64) {
        self.0.lock().remove(id);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().all.len()
    }

    /// The number of clients that have not authenticated.
    pub(crate) fn unauthenticated(&self) -> usize {
        self.0.lock().unauthenticated.len()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Client>> {
        self.0.lock().all.values().cloned().collect()
    }
}
