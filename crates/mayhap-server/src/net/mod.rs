//! Sockets: connections come in, requests are read and handed to a [`Service`], replies are sent.
//!
//! An acceptor (`accept.rs`) hands connections to the worker with the fewest (`reception.rs`). A worker (`worker.rs`) goes round: it waits for events,
//! reads what is ready, serves the requests in it, lets the service settle the round (one commit of the log for all), and only then
//! sends replies. A request that takes long goes to another thread with its connection (`offload.rs`). `serve.rs` goes from bytes to the service; `connection.rs` is what is kept of a client between rounds, which for an idle one is next to nothing; `quota.rs` is
//! the sum over all of them; `transport.rs` is plain or TLS (`tls.rs`). `http.rs` stands apart: pages for people and Prometheus.
//!
//! What a client can take is bounded: its requests by [`RequestLimits`], what it does not read by [`Listening`], and all clients
//! together by the quota, which closes the largest. Nothing here knows what a request means.

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

/// What a server does with requests. All workers share one.
pub trait Service: Send + Sync + 'static {
    /// What it knows of a connection.
    type Session: Send;

    /// A client has come.
    ///
    /// # Errors
    /// Bytes to send before it is closed.
    fn connect(&self, client: ClientHandle) -> Result<Self::Session, Vec<u8>>;

    /// How large the next request may be; asked before each.
    fn limits(&self, session: &Self::Session) -> &RequestLimits;

    /// Executes a request of at least one word, and appends the reply to `out`, which has the replies to this client in this round
    /// and no others.
    fn serve(&self, session: &mut Self::Session, words: &[&[u8]], out: &mut Vec<u8>) -> AfterReply;

    /// Executes a request for which [`serve`](Self::serve) returned [`Next::Offload`], on a thread on which nobody waits behind it.
    fn serve_offloaded(
        &self,
        session: &mut Self::Session,
        words: &[&[u8]],
        out: &mut Vec<u8>,
    ) -> AfterReply {
        self.serve(session, words, out)
    }

    /// A client does not keep to the protocol. It hears the error, and is closed.
    fn refuse(&self, _session: &Self::Session, _error: ProtocolError) {}

    /// Called once after a worker's round, with all connections that were served in it and their replies, none of which was sent:
    /// the time to commit, and to rewrite replies if that failed.
    fn settle<'s>(&self, round: &mut dyn Iterator<Item = (&'s mut Self::Session, &'s mut Vec<u8>)>)
    where
        Self::Session: 's;

    /// A client has gone, or was sent away.
    fn disconnect(&self, session: Self::Session);
}

/// How it goes on after a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AfterReply {
    /// With the next request.
    GoOn,
    /// The connection is closed once the reply was sent.
    CloseAfterReply,
    /// As that, and the whole server ends: [`Running::wait`] returns.
    ShutDown,
    /// Nothing was done and nothing written: the request would keep the worker from its other clients, and is served again by
    /// [`Service::serve_offloaded`]. The client's later requests wait for it, other clients do not.
    Offload,
    /// Nothing was done and nothing written: what the request needs is in use. It is served again soon.
    Retry,
}

/// Where to listen, and what clients may take.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// Plain addresses; port 0 is any that is free.
    pub addresses: Vec<SocketAddr>,
    /// Addresses with TLS.
    pub tls: Option<(Vec<SocketAddr>, Arc<rustls::ServerConfig>)>,
    /// Threads that serve.
    pub workers: usize,
    /// Connections at a time.
    pub max_clients: usize,
    /// When clients that say nothing are closed.
    pub timeouts: Arc<Timeouts>,
    /// A client that has not read so many bytes of replies is not served further until it does.
    pub soft_output_bytes: usize,
    /// A client that has not read so many is closed.
    pub hard_output_bytes: usize,
    /// All that is buffered for all clients; above it the client with the most is closed.
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
