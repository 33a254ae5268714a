//! Takes connections in.

use super::mailbox::MAILBOX;
use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// After an error that does not go away by itself, such as too many open files, nothing is accepted for so long.
const PAUSE: Duration = Duration::from_millis(100);
/// And it is said at most so often.
const QUIET: Duration = Duration::from_secs(10);

/// Connections that the system keeps until they are accepted; it may allow fewer.
const BACKLOG: i32 = 1024;

/// Some addresses that are listened at by one thread.
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

    /// Where it is listened in fact, port 0 being any.
    pub(super) fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        self.listeners.iter().map(TcpListener::local_addr).collect()
    }

    /// Ends [`Self::run`], if there is a reason to.
    pub(super) fn waker(&self) -> io::Result<mio::Waker> {
        mio::Waker::new(self.poll.registry(), MAILBOX)
    }

    /// Hands every connection on, with the number of its address, until it is to stop.
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

    /// Accepts until nobody is there, or until it fails.
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
                    // The client has gone again, or it is just not the time.
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

/// As Redis does it: an address of IPv6 is only that, so that `0.0.0.0` and `::` can be listened at side by side.
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
