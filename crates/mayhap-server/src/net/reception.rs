//! Where a new connection goes: to the worker that has the fewest, or away.

use super::mailbox::Letter;
use super::running::Shared;
use super::transport::Arrival;
use mio::net::TcpStream;
use rustls::ServerConfig;
use socket2::{SockRef, TcpKeepalive};
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Probes that are not answered come at least so far apart.
const LEAST_INTERVAL: Duration = Duration::from_secs(1);

const TOO_MANY: &[u8] = b"-ERR max number of clients reached\r\n";

pub(super) fn welcome(
    shared: &Shared,
    mut stream: TcpStream,
    peer: SocketAddr,
    tls: Option<Arc<ServerConfig>>,
) {
    let most = shared.listening.max_clients;
    let seats = shared.seats.iter();
    let seat = seats.min_by_key(|seat| seat.taken.load(Ordering::Relaxed));
    // Only this thread lets clients in, so that there are never more.
    let is_full = shared.clients.load(Ordering::Relaxed) >= most;
    let Some(seat) = seat.filter(|_| !is_full) else {
        // Under TLS nothing can be said yet.
        if tls.is_none() {
            let _ = stream.write(TOO_MANY);
        }
        return;
    };
    // Neither is worth refusing a client for.
    let _ = stream.set_nodelay(true);
    let time = shared.listening.timeouts.keepalive();
    if !time.is_zero() {
        let keepalive = TcpKeepalive::new()
            .with_time(time)
            .with_interval((time / 3).max(LEAST_INTERVAL));
        let _ = SockRef::from(&stream).set_tcp_keepalive(&keepalive);
    }
    shared.clients.fetch_add(1, Ordering::Relaxed);
    seat.taken.fetch_add(1, Ordering::Relaxed);
    let id = shared.last_id.fetch_add(1, Ordering::Relaxed) + 1;
    seat.mailbox.put(Letter::Adopt(Arrival {
        id,
        stream,
        peer,
        tls,
    }));
}
