//! The handle to a connection for the rest of the server.

use super::mailbox::{Mailbox, WorkerMessage};
use std::fmt;
use std::sync::Arc;

/// Identifies a connection, and can close it from any thread.
#[derive(Clone)]
pub struct ClientHandle {
    /// Unique while the server runs; starts at 1.
    pub id: u64,
    /// Its address.
    pub peer: Arc<str>,
    /// The local address.
    pub local: Arc<str>,
    /// Whether the connection uses TLS.
    pub is_tls: bool,
    pub(super) slot: usize,
    /// `None` if no worker serves the client.
    pub(super) mailbox: Option<Arc<Mailbox>>,
}

impl ClientHandle {
    /// The handle of a client that no worker serves, such as a browser. It has no connection to close.
    pub(crate) fn without_worker(peer: &str, local: &str, is_tls: bool) -> Self {
        Self {
            id: 0,
            peer: peer.into(),
            local: local.into(),
            is_tls,
            slot: usize::MAX,
            mailbox: None,
        }
    }

    /// Closes the connection, whatever it is doing. The replies of the current round are still sent as far as the socket accepts
    /// them without blocking. It is not an error if the client has gone.
    pub fn kill(&self) {
        let (slot, id) = (self.slot, self.id);
        if let Some(mailbox) = &self.mailbox {
            mailbox.put(WorkerMessage::Close { slot, id });
        }
    }
}

impl fmt::Debug for ClientHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, peer, .. } = self;
        write!(formatter, "client {id} at {peer}")
    }
}
