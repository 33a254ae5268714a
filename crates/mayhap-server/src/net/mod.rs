//! Sockets: accepts connections, reads requests, passes them to a [`Service`] and sends the replies.
//!
//! The acceptor thread (`listeners.rs`) assigns each connection to the worker with the fewest (`accept.rs`). A worker
//! (`worker.rs`) runs in rounds: it waits for events, reads, serves the requests, lets the service commit the log once for the
//! whole round, and only then sends the replies. A long request moves to another thread together with its connection
//! (`offload.rs`). `serve.rs` parses bytes and calls the service; `connection.rs` is the state of a client between rounds;
//! `buffer_quota.rs` limits the total of all buffers; `transport.rs` is plain TCP or TLS (`tls.rs`). `http.rs` is separate:
//! pages for people and Prometheus.
//!
//! All resources of a client are limited: its requests by [`RequestLimits`], its unread replies by [`ListenOptions`], and the
//! total of all clients by the quota, which closes the largest. Nothing here knows what a request means.

mod accept;
mod backlog;
mod buffer_quota;
mod client;
mod connection;
pub mod http;
mod listeners;
mod mailbox;
mod offload;
mod running;
mod serve;
mod timeouts;
pub mod tls;
mod transport;
mod worker;
mod worker_buffers;

pub use client::ClientHandle;
pub use running::{Running, StopHandle, start};
pub use timeouts::Timeouts;

use crate::resp::{ProtocolError, RequestLimits};
use std::net::SocketAddr;
use std::sync::Arc;

/// Handles requests. All workers share one service.
pub trait Service: Send + Sync + 'static {
    /// The state of a connection.
    type Session: Send;

    /// Called for a new client.
    ///
    /// # Errors
    /// Bytes to send before it is closed.
    fn connect(&self, client: ClientHandle) -> Result<Self::Session, Vec<u8>>;

    /// The limits of the next request; called before each.
    fn limits(&self, session: &Self::Session) -> &RequestLimits;

    /// Executes a request of at least one word and appends the reply to `out`, which contains only this client's replies of this
    /// round.
    fn serve(&self, session: &mut Self::Session, words: &[&[u8]], out: &mut Vec<u8>) -> AfterReply;

    /// Executes a request for which [`serve`](Self::serve) returned [`AfterReply::Offload`], on a thread that may be blocked for
    /// long.
    fn serve_offloaded(
        &self,
        session: &mut Self::Session,
        words: &[&[u8]],
        out: &mut Vec<u8>,
    ) -> AfterReply {
        self.serve(session, words, out)
    }

    /// Called on a protocol error. The client receives the error and is closed.
    fn refuse(&self, _session: &Self::Session, _error: ProtocolError) {}

    /// Called once after a worker's round, with all connections that were served and their replies, before any is sent: commits
    /// the log, and replaces replies if that fails.
    fn settle<'s>(&self, round: &mut dyn Iterator<Item = (&'s mut Self::Session, &'s mut Vec<u8>)>)
    where
        Self::Session: 's;

    /// Called when a client has disconnected or was closed.
    fn disconnect(&self, session: Self::Session);
}

/// How to continue after a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AfterReply {
    /// Continue with the next request.
    GoOn,
    /// Close the connection after sending the reply.
    CloseAfterReply,
    /// The same, and stop the server: [`Running::wait`] returns.
    ShutDown,
    /// Nothing was done: the request would block the worker, and is passed to [`Service::serve_offloaded`]. Only this client's
    /// later requests wait for it.
    Offload,
    /// Nothing was done: a key that the request needs is in use. The request is retried soon.
    Retry,
}

/// Where to listen, and the limits of clients.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// Addresses without TLS; port 0 means any free port.
    pub addresses: Vec<SocketAddr>,
    /// Addresses with TLS.
    pub tls: Option<(Vec<SocketAddr>, Arc<rustls::ServerConfig>)>,
    /// The number of worker threads.
    pub workers: usize,
    /// The maximum number of connections.
    pub max_clients: usize,
    /// The idle and keepalive timeouts.
    pub timeouts: Arc<Timeouts>,
    /// A client with more unread bytes of replies is not served until it reads them.
    pub soft_output_bytes: usize,
    /// A client with more unread bytes is closed.
    pub hard_output_bytes: usize,
    /// The maximum total of all buffers; above it the largest client is closed.
    pub max_buffered_bytes: usize,
}

impl Default for ListenOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            addresses: Vec::new(),
            tls: None,
            workers: cores.min(8),
            max_clients: 10_000,
            timeouts: Arc::default(),
            soft_output_bytes: 1 << 20,
            hard_output_bytes: 256 << 20,
            max_buffered_bytes: 1 << 30,
        }
    }
}
