//! Assigns a new connection to the worker with the fewest, or rejects it.

use super::mailbox::WorkerMessage;
use super::running::ServerState;
use super::transport::AcceptedConnection;
use mio::net::TcpStream;
use rustls::ServerConfig;
use socket2::{SockRef, TcpKeepalive};
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The minimum interval between keepalive probes.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

const TOO_MANY: &[u8] = b"-ERR max number of clients reached\r\n";

pub(super) fn assign_to_worker(
    shared: &ServerState,
    mut stream: TcpStream,
    peer: SocketAddr,
    tls: Option<Arc<ServerConfig>>,
) {
    let most = shared.listening.max_clients;
    let workers = shared.workers.iter();
    let worker = workers.min_by_key(|worker| worker.connections.load(Ordering::Relaxed));
    // Only this thread adds clients, so the limit is never exceeded.
    let is_full = shared.clients.load(Ordering::Relaxed) >= most;
    let Some(worker) = worker.filter(|_| !is_full) else {
        // Before the TLS handshake no message can be sent.
        if tls.is_none() {
            let _ = stream.write(TOO_MANY);
        }
        return;
    };
    // Failures of these options are not worth rejecting a client.
    let _ = stream.set_nodelay(true);
    let time = shared.listening.timeouts.keepalive();
    if !time.is_zero() {
        let keepalive = TcpKeepalive::new()
            .with_time(time)
            .with_interval((time / 3).max(REPORT_INTERVAL));
        let _ = SockRef::from(&stream).set_tcp_keepalive(&keepalive);
    }
    shared.clients.fetch_add(1, Ordering::Relaxed);
    worker.connections.fetch_add(1, Ordering::Relaxed);
    let id = shared.last_id.fetch_add(1, Ordering::Relaxed) + 1;
    worker
        .mailbox
        .put(WorkerMessage::Connect(AcceptedConnection {
            id,
            stream,
            peer,
            tls,
        }));
}
