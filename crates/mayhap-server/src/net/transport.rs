//! Bytes to and from a client, plain or with TLS. Nothing here blocks.

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use rustls::{ServerConfig, ServerConnection};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;

/// The replies that TLS may buffer in addition to the quota: one record.
const TLS_BYTES: usize = 16 << 10;

/// A connection that was just accepted.
pub(super) struct AcceptedConnection {
    pub(super) id: u64,
    pub(super) stream: TcpStream,
    pub(super) peer: SocketAddr,
    pub(super) tls: Option<Arc<ServerConfig>>,
}

pub(super) enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream>),
}

pub(super) struct TlsStream {
    stream: TcpStream,
    session: ServerConnection,
}

/// The result of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ReadResult {
    /// The number of bytes, possibly 0, and whether more may be available.
    Bytes { count: usize, is_more: bool },
    /// The client has closed its side.
    End,
}

impl Transport {
    pub(super) fn new(
        mut stream: TcpStream,
        tls: Option<Arc<ServerConfig>>,
        registry: &Registry,
        token: Token,
    ) -> io::Result<Self> {
        // Events are edge-triggered, so that registering for both costs nothing.
        let both = Interest::READABLE | Interest::WRITABLE;
        registry.register(&mut stream, token, both)?;
        Ok(match tls {
            None => Self::Plain(stream),
            Some(config) => {
                let mut session = ServerConnection::new(config).map_err(io::Error::other)?;
                session.set_buffer_limit(Some(TLS_BYTES));
                Self::Tls(Box::new(TlsStream { stream, session }))
            }
        })
    }

    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<ReadResult> {
        match self {
            Self::Plain(stream) => match again(|| stream.read(buffer)) {
                Ok(0) => Ok(ReadResult::End),
                Ok(count) => Ok(ReadResult::Bytes {
                    count,
                    is_more: count == buffer.len(),
                }),
                Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(ReadResult::Bytes {
                    count: 0,
                    is_more: false,
                }),
                Err(error) => Err(error),
            },
            Self::Tls(tls) => tls.read(buffer),
        }
    }

    /// Sends what the socket accepts without blocking, possibly nothing.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => match again(|| stream.write(bytes)) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(0),
                other => other,
            },
            Self::Tls(tls) => tls.write(bytes),
        }
    }

    /// Whether TLS has unsent bytes.
    pub(super) fn has_unsent_output(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(tls) => tls.session.wants_write(),
        }
    }

    pub(super) fn is_handshaking(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(tls) => tls.session.is_handshaking(),
        }
    }

    /// Sends the TLS close message if the socket accepts it.
    pub(super) fn close(mut self, registry: &Registry) {
        if let Self::Tls(tls) = &mut self {
            tls.session.send_close_notify();
            let _ = tls.flush();
        }
        let mut stream = match self {
            Self::Plain(stream) => stream,
            Self::Tls(tls) => tls.stream,
        };
        let _ = stream.shutdown(Shutdown::Write);
        let _ = registry.deregister(&mut stream);
    }
}

impl TlsStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<ReadResult> {
        let mut count = 0;
        loop {
            match self.session.reader().read(&mut buffer[count..]) {
                Ok(0) if count == buffer.len() => break,
                Ok(0) => return Ok(before_end(count)),
                Ok(more) => count += more,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    match again(|| self.session.read_tls(&mut self.stream)) {
                        Ok(0) => return Ok(before_end(count)),
                        Ok(_) => self.take_in()?,
                        Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                        Err(error) => return Err(error),
                    }
                }
                // The client disconnected without a TLS close message.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    return Ok(before_end(count));
                }
                Err(error) => return Err(error),
            }
        }
        let is_more = count == buffer.len();
        Ok(ReadResult::Bytes { count, is_more })
    }

    fn take_in(&mut self) -> io::Result<()> {
        let taken = self.session.process_new_packets();
        // Also after a failure: the TLS alert says why.
        self.flush()?;
        match taken {
            Ok(_) => Ok(()),
            Err(error) => Err(io::Error::new(ErrorKind::InvalidData, error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            match again(|| self.session.write_tls(&mut self.stream)) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Accepted bytes may still be in the TLS buffer.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = 0;
        loop {
            self.flush()?;
            let taken = match self.session.writer().write(&bytes[written..]) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                other => other?,
            };
            if taken == 0 {
                return Ok(written);
            }
            written += taken;
        }
    }
}

/// Input before the end is served first; the next read reports the end again.
fn before_end(count: usize) -> ReadResult {
    if count == 0 {
        return ReadResult::End;
    }
    let is_more = true;
    ReadResult::Bytes { count, is_more }
}

fn again<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
