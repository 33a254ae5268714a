//! A client as the rest of the server sees it.

use super::mailbox::{Mailbox, WorkerMessage};
use std::fmt;
use std::sync::Arc;

/// Who a connection is with, and a way to end it from any thread.
#[derive(Clone)]
pub struct ClientHandle {
    /// Never the same again while the server runs; the first is 1.
    pub id: u64,
    /// Its address.
    pub peer: Arc<str>,
    /// Our address that it came to.
    pub local: Arc<str>,
    /// Whether it came to an address with TLS.
    pub is_tls: bool,
    pub(super) slot: usize,
    pub(super) mailbox: Arc<Mailbox>,
}

impl ClientHandle {
    /// Has the connection closed, whatever it is doing, and whether or not it reads. What its worker was to send in this round is still
    /// sent as far as the socket takes it at once. A client that has gone is no error.
    pub fn kill(&self) {
        let (slot, id) = (self.slot, self.id);
        self.mailbox.put(WorkerMessage::Close { slot, id });
    }
}

impl fmt::Debug for ClientHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, peer, .. } = self;
        write!(formatter, "client {id} at {peer}")
    }
}
