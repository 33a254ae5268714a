//! A connection that has a deadline, plain or with TLS. It blocks, but never beyond the deadline.

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A socket whose every call ends at the deadline. TLS makes many calls for one read, so the timeout is set for each.
struct DeadlineSocket {
    socket: TcpStream,
    deadline: Instant,
}

impl DeadlineSocket {
    fn time_left(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        Ok(left)
    }
}

/// A timeout of the socket is reported as if it would block.
fn in_time<T>(result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => ErrorKind::TimedOut.into(),
        _ => error,
    })
}

impl Read for DeadlineSocket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.time_left()?;
        self.socket.set_read_timeout(Some(left))?;
        in_time(self.socket.read(buffer))
    }
}

impl Write for DeadlineSocket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.time_left()?;
        self.socket.set_write_timeout(Some(left))?;
        in_time(self.socket.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Transport {
    Plain(DeadlineSocket),
    Tls(Box<StreamOwned<ServerConnection, DeadlineSocket>>),
}

pub(super) struct HttpStream(Transport);

impl HttpStream {
    pub(super) fn new(
        socket: TcpStream,
        tls: Option<&Arc<ServerConfig>>,
        deadline: Instant,
    ) -> io::Result<Self> {
        socket.set_nonblocking(false)?;
        // Events are small, and must not wait for others.
        socket.set_nodelay(true)?;
        let socket = DeadlineSocket { socket, deadline };
        Ok(Self(match tls {
            None => Transport::Plain(socket),
            Some(config) => {
                let session =
                    ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
                Transport::Tls(Box::new(StreamOwned::new(session, socket)))
            }
        }))
    }

    fn socket(&mut self) -> &mut DeadlineSocket {
        match &mut self.0 {
            Transport::Plain(socket) => socket,
            Transport::Tls(stream) => &mut stream.sock,
        }
    }

    /// Another handle of the socket, to close it from another thread.
    pub(super) fn socket_handle(&mut self) -> io::Result<TcpStream> {
        self.socket().socket.try_clone()
    }

    pub(super) fn set_deadline(&mut self, deadline: Instant) {
        self.socket().deadline = deadline;
    }

    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let result = match &mut self.0 {
                Transport::Plain(socket) => socket.read(buffer),
                Transport::Tls(stream) => stream.read(buffer),
            };
            match result {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.0 {
            Transport::Plain(socket) => socket.write_all(bytes),
            Transport::Tls(stream) => {
                stream.write_all(bytes)?;
                stream.flush()
            }
        }
    }

    /// Ends the output, and reads a little of what still comes: closing a socket with unread input may discard the response.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if let Transport::Tls(stream) = &mut self.0 {
            stream.conn.send_close_notify();
            stream.flush()?;
        }
        let socket = self.socket();
        socket.socket.shutdown(Shutdown::Write)?;
        let mut rest = [0; 4096];
        for _ in 0..64 {
            if socket.read(&mut rest)? == 0 {
                break;
            }
        }
        Ok(())
    }
}
