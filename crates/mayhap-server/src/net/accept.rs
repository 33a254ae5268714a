//! Takes connections in and hands each to the worker that has the fewest.

use super::mailbox::{Letter, MAILBOX};
use super::report::report;
use super::running::Shared;
use super::transport::Arrival;
use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Poll};
use rustls::ServerConfig;
use socket2::{SockRef, TcpKeepalive};
use std::io::{self, ErrorKind, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// After an error that will not go away by itself, such as too many open files, nothing is accepted for so long.
const PAUSE: Duration = Duration::from_millis(100);
/// And it is said at most so often.
const QUIET: Duration = Duration::from_secs(10);
/// A client that has vanished is noticed after about twice this, as in Redis.
const KEEPALIVE: Duration = Duration::from_secs(300);

const TOO_MANY: &[u8] = b"-ERR max number of clients reached\r\n";

pub(super) struct Door {
    pub(super) listener: TcpListener,
    pub(super) tls: Option<Arc<ServerConfig>>,
}

pub(super) struct Acceptor {
    pub(super) poll: Poll,
    pub(super) doors: Vec<Door>,
    pub(super) shared: Arc<Shared>,
}

impl Acceptor {
    pub(super) fn run(mut self) {
        let mut events = Events::with_capacity(16);
        let mut last_said: Option<Instant> = None;
        let mut waiting: Vec<usize> = Vec::new();
        while !self.shared.is_stopping() {
            let timeout = (!waiting.is_empty()).then_some(PAUSE);
            if let Err(error) = self.poll.poll(&mut events, timeout)
                && error.kind() != ErrorKind::Interrupted
            {
                report("waiting for connections", &error, "the server stops");
                return self.shared.stop();
            }
            let doors = events.iter().map(Event::token);
            waiting.extend(doors.filter(|token| *token != MAILBOX).map(|token| token.0));
            let now = std::mem::take(&mut waiting);
            for index in now {
                let Some(error) = self.open(index) else {
                    continue;
                };
                if !waiting.contains(&index) {
                    waiting.push(index);
                }
                if last_said.is_none_or(|said| said.elapsed() > QUIET) {
                    last_said = Some(Instant::now());
                    report(
                        "accept",
                        &error,
                        "raise `ulimit -n` or lower the number of clients; tried again soon",
                    );
                }
            }
        }
    }

    /// Accepts until nobody is there, or until it fails.
    fn open(&self, index: usize) -> Option<io::Error> {
        let door = self.doors.get(index)?;
        loop {
            match door.listener.accept() {
                Ok((stream, peer)) => self.welcome(stream, peer, door),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return None,
                    // The client has gone again, or it is just not the time.
                    ErrorKind::Interrupted
                    | ErrorKind::ConnectionAborted
                    | ErrorKind::ConnectionReset => {}
                    _ => return Some(error),
                },
            }
        }
    }

    fn welcome(&self, mut stream: TcpStream, peer: SocketAddr, door: &Door) {
        let shared = &self.shared;
        let most = shared.listening.most_clients;
        if shared.clients.fetch_add(1, Ordering::Relaxed) >= most {
            shared.clients.fetch_sub(1, Ordering::Relaxed);
            if door.tls.is_none() {
                let _ = stream.write(TOO_MANY);
            }
            return;
        }
        // Neither is worth refusing a client for.
        let _ = stream.set_nodelay(true);
        let keepalive = TcpKeepalive::new()
            .with_time(KEEPALIVE)
            .with_interval(KEEPALIVE / 3);
        let _ = SockRef::from(&stream).set_tcp_keepalive(&keepalive);
        let id = shared.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let seats = shared.seats.iter();
        let Some(seat) = seats.min_by_key(|seat| seat.taken.load(Ordering::Relaxed)) else {
            return;
        };
        seat.taken.fetch_add(1, Ordering::Relaxed);
        seat.mailbox.put(Letter::Adopt(Arrival {
            id,
            stream,
            peer,
            tls: door.tls.clone(),
        }));
    }
}
