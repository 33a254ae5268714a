//! The listening sockets.

use super::mailbox::MAILBOX;
use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The pause after an error that persists, such as too many open files.
const PAUSE: Duration = Duration::from_millis(100);
/// The minimum interval between reports of it.
const QUIET: Duration = Duration::from_secs(10);

/// The requested backlog of the system; it may allow less.
const BACKLOG: i32 = 1024;

/// The listening sockets of one thread.
pub(super) struct Listeners {
    poll: Poll,
    listeners: Vec<TcpListener>,
}

impl Listeners {
    pub(super) fn new(addresses: impl Iterator<Item = SocketAddr>) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut listeners = Vec::new();
        for address in addresses {
            let mut listener = listen(address).map_err(|error| {
                io::Error::new(
                    error.kind(),
                    format!("cannot listen at {address}: {error}; choose another address or port"),
                )
            })?;
            let token = Token(listeners.len());
            poll.registry()
                .register(&mut listener, token, Interest::READABLE)?;
            listeners.push(listener);
        }
        Ok(Self { poll, listeners })
    }

    /// The actual addresses, after port 0 was resolved.
    pub(super) fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        self.listeners.iter().map(TcpListener::local_addr).collect()
    }

    /// Wakes [`Self::run`], which then checks whether to stop.
    pub(super) fn waker(&self) -> io::Result<mio::Waker> {
        mio::Waker::new(self.poll.registry(), MAILBOX)
    }

    /// Passes on every connection with the index of its address, until it is told to stop.
    ///
    /// # Errors
    /// When the system lets nobody wait for connections any more.
    pub(super) fn run(
        mut self,
        is_stopping: impl Fn() -> bool,
        welcome: impl Fn(usize, TcpStream, SocketAddr),
    ) -> io::Result<()> {
        let mut events = Events::with_capacity(16);
        let mut last_said: Option<Instant> = None;
        let mut waiting: Vec<usize> = Vec::new();
        while !is_stopping() {
            let timeout = (!waiting.is_empty()).then_some(PAUSE);
            match self.poll.poll(&mut events, timeout) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                other => other?,
            }
            let tokens = events.iter().map(Event::token);
            let listeners = tokens.filter(|token| *token != MAILBOX);
            waiting.extend(listeners.map(|Token(index)| index));
            waiting.sort_unstable();
            waiting.dedup();
            waiting.retain(|&index| {
                let Some(error) = self.open(index, &is_stopping, &welcome) else {
                    return false;
                };
                if last_said.is_none_or(|said| said.elapsed() > QUIET) {
                    last_said = Some(Instant::now());
                    let advice = "raise `ulimit -n` or allow fewer clients; tried again soon";
                    crate::report(&format!("accepting a connection: {error}; {advice}"));
                }
                true
            });
        }
        Ok(())
    }

    /// Accepts until no connection is waiting, or an error occurs.
    fn open(
        &self,
        index: usize,
        is_stopping: &impl Fn() -> bool,
        welcome: &impl Fn(usize, TcpStream, SocketAddr),
    ) -> Option<io::Error> {
        let listener = self.listeners.get(index)?;
        while !is_stopping() {
            match listener.accept() {
                Ok((stream, peer)) => welcome(index, stream, peer),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return None,
                    // The client has disconnected already, or the call should be retried.
                    ErrorKind::Interrupted
                    | ErrorKind::ConnectionAborted
                    | ErrorKind::ConnectionReset => {}
                    _ => return Some(error),
                },
            }
        }
        None
    }
}

/// As in Redis: IPv6 sockets accept IPv6 only, so that `0.0.0.0` and `::` can be used together.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(TcpListener::from_std(socket.into()))
}
