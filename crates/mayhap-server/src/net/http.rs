//! HTTP/1.1 for the page, its API, Prometheus and health checks. One request per connection.
//!
//! Each connection has its own thread until its deadline, and their number is limited. This is simple, and slow clients delay
//! nobody else. Redis commands never use this path. An [`HttpService`] sees the head of a request before its body is read, so
//! that only those who may send a body make the server read one.

mod head;
mod limits;
mod response;
mod stream;

pub use head::{Method, RequestHead};
pub use response::HttpResponse;

use super::listeners::Listeners;
use head::HeadError;
use limits::{ConnectionSlot, HttpLimits, WaitingSlot};
use mio::Waker;
use response::COME_AGAIN;
use rustls::ServerConfig;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use stream::HttpStream;

/// The maximum size of a request's head. Names of filters are in queries, where each byte may take three.
const MAX_HEAD: usize = 64 << 10;
/// The time limit for a whole request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit for a request with a large body.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(120);
/// The size from which a body is large.
const LARGE_BODY: u64 = 256 << 10;
/// A client that does not read its events for so long is closed.
const EVENT_TIMEOUT: Duration = Duration::from_secs(5);

/// Answers requests. All connections share one service.
pub trait HttpService: Send + Sync + 'static {
    /// Checks the head, before the body is read.
    ///
    /// # Errors
    /// The response to a request that is rejected.
    fn check(&self, head: &RequestHead) -> Result<Admission, HttpResponse>;

    /// Answers a request whose head was admitted.
    fn answer(&self, head: &RequestHead, body: Vec<u8>) -> Answer;

    /// The response if nothing came of a request: in the words of the service.
    fn refuse(&self, head: Option<&RequestHead>, status: u16, text: &str) -> HttpResponse;
}

/// What an admitted request may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Admission {
    /// The maximum size of the body.
    pub max_body_bytes: u64,
    /// The maximum number of concurrent requests for this path; others are asked to retry.
    pub max_concurrent: usize,
}

/// The answer to a request.
pub enum Answer {
    /// A response.
    Whole(HttpResponse),
    /// A stream of events.
    Events(Box<dyn EventSource>),
}

/// Where the events of a stream come from.
pub trait EventSource: Send {
    /// Waits for the next event; `None` at the end.
    fn next(&mut self) -> Option<Arc<[u8]>>;
}

/// A running HTTP server. It keeps running if this is dropped.
pub struct HttpServer {
    /// The address that it listens on, with the actual port.
    pub address: SocketAddr,
    is_stopping: Arc<AtomicBool>,
    waker: Waker,
    thread: JoinHandle<()>,
}

impl HttpServer {
    /// Stops accepting. Running requests continue until their deadline.
    pub fn stop(self) {
        self.is_stopping.store(true, Ordering::Release);
        let _ = self.waker.wake();
        let _ = self.thread.join();
    }
}

/// An address to listen on that has no service yet. Connections wait.
pub struct HttpListener {
    /// The address, with the actual port.
    pub address: SocketAddr,
    listeners: Listeners,
}

impl HttpListener {
    /// Starts to listen.
    ///
    /// # Errors
    /// When the address cannot be listened at, which the error names.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let listeners = Listeners::new(std::iter::once(address))?;
        let address = listeners.addresses()?.first().copied().unwrap_or(address);
        Ok(Self { address, listeners })
    }

    /// Starts to serve, with TLS if there is a configuration of it.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn serve(
        self,
        tls: Option<Arc<ServerConfig>>,
        service: Arc<dyn HttpService>,
    ) -> io::Result<HttpServer> {
        let Self { address, listeners } = self;
        let waker = listeners.waker()?;
        let is_stopping = Arc::new(AtomicBool::new(false));
        let is_told = Arc::clone(&is_stopping);
        let limits = Arc::new(HttpLimits::default());
        let thread = thread::Builder::new().name("http".to_owned());
        let thread = thread.spawn(move || {
            let end = listeners.run(
                || is_told.load(Ordering::Acquire),
                |_, mut stream, peer| {
                    let Some(slot) = limits.connect(Instant::now()) else {
                        if tls.is_none() {
                            let _ = stream.write(COME_AGAIN);
                            // Closing a socket with unread input may discard the response.
                            let _ = stream.read(&mut [0; 4096]);
                        }
                        return;
                    };
                    let connection = HttpConnection {
                        service: Arc::clone(&service),
                        limits: Arc::clone(&limits),
                        peer,
                        slot,
                    };
                    let (stream, tls) = (TcpStream::from(stream), tls.clone());
                    let thread = thread::Builder::new().name("request".to_owned());
                    // A failure cannot be reported to the client.
                    let serve = move || drop(connection.serve(stream, tls.as_ref()));
                    // If the thread cannot be started, the connection is dropped.
                    if let Err(error) = thread.spawn(serve) {
                        crate::report(&format!("serving HTTP: {error}; the client was sent away"));
                    }
                },
            );
            if let Err(error) = end {
                crate::report(&format!(
                    "waiting for HTTP: {error}; there are no pages any more"
                ));
            }
        })?;
        Ok(HttpServer {
            address,
            is_stopping,
            waker,
            thread,
        })
    }
}

struct HttpConnection {
    service: Arc<dyn HttpService>,
    limits: Arc<HttpLimits>,
    peer: SocketAddr,
    slot: ConnectionSlot,
}

impl HttpConnection {
    fn serve(self, socket: TcpStream, tls: Option<&Arc<ServerConfig>>) -> io::Result<()> {
        let deadline = Instant::now() + REQUEST_TIMEOUT;
        let mut stream = HttpStream::new(socket, tls, deadline)?;
        let (head, body) = match self.read_head(&mut stream)? {
            Ok(read) => read,
            Err((status, text)) => {
                let response = self.service.refuse(None, status, text);
                stream.send(&response.bytes(true))?;
                return self.finish(stream);
            }
        };
        let answer = match self.answer(&mut stream, &head, body) {
            Ok(answer) => answer,
            // The client has gone, or is too slow.
            Err(Unanswered::Connection(error)) => return Err(error),
            Err(Unanswered::Refused(response)) => Answer::Whole(response),
        };
        match answer {
            Answer::Whole(response) => {
                // A slow request leaves time to send its response.
                stream.set_deadline(deadline.max(Instant::now() + REQUEST_TIMEOUT));
                stream.send(&response.bytes(head.method != Method::Head))?;
                self.finish(stream)
            }
            Answer::Events(events) => {
                // The source has its own limit of streams.
                drop(self.slot);
                send_events(stream, events)
            }
        }
    }

    /// The client is awaited until the result is dropped.
    fn wait_for_client(&self, stream: &mut HttpStream) -> io::Result<WaitingSlot<'_>> {
        let socket = stream.socket_handle()?;
        Ok(self.limits.wait_for_client(socket, Instant::now()))
    }

    fn finish(&self, mut stream: HttpStream) -> io::Result<()> {
        let _waiting = self.wait_for_client(&mut stream)?;
        stream.finish()
    }

    /// Reads the head. What follows it is the start of the body.
    fn read_head(&self, stream: &mut HttpStream) -> io::Result<ReadHead> {
        let _waiting = self.wait_for_client(stream)?;
        let mut bytes = Vec::new();
        let mut buffer = [0; 2048];
        let mut may_be_complete = true;
        loop {
            let parsed = if may_be_complete {
                RequestHead::parse(&bytes, self.peer)
            } else {
                Ok(None)
            };
            match parsed {
                Ok(Some((head, length))) => {
                    let body = bytes.split_off(length);
                    return Ok(Ok((head, body)));
                }
                Ok(None) if bytes.len() >= MAX_HEAD => {
                    return Ok(Err((431, "the head of the request is too long")));
                }
                Ok(None) => {}
                Err(HeadError::Invalid(text)) => return Ok(Err((400, text))),
                Err(HeadError::NoLength) => {
                    return Ok(Err((411, "send the body with a Content-Length")));
                }
            }
            let count = match stream.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::TimedOut && !bytes.is_empty() => {
                    // One second more, to say so.
                    stream.set_deadline(Instant::now() + Duration::from_secs(1));
                    return Ok(Err((408, "the request took too long")));
                }
                other => other?,
            };
            if count == 0 {
                return Ok(Err((400, "the request ends before its head does")));
            }
            let new = buffer.get(..count).unwrap_or_default();
            // Only a line end completes a head. Parsing it again for each byte of a long line would take a while. The first bytes
            // show whether it is HTTP at all.
            may_be_complete = bytes.is_empty() || new.contains(&b'\n');
            bytes.extend_from_slice(new);
        }
    }

    fn answer(
        &self,
        stream: &mut HttpStream,
        head: &RequestHead,
        start: Vec<u8>,
    ) -> Result<Answer, Unanswered> {
        let refuse =
            |status, text: &str| Unanswered::Refused(self.service.refuse(Some(head), status, text));
        let admission = self.service.check(head).map_err(Unanswered::Refused)?;
        if head.body_bytes > admission.max_body_bytes {
            let most = admission.max_body_bytes;
            return Err(refuse(413, &format!("send at most {most} bytes")));
        }
        let busy = "too many requests of this kind: ask again in a second";
        let _path = self
            .limits
            .path(&head.path, admission.max_concurrent)
            .ok_or_else(|| refuse(503, busy))?;
        let _body = self
            .limits
            .body(head.body_bytes)
            .ok_or_else(|| refuse(503, busy))?;
        let body = self.read_body(stream, head, start);
        let body = body.map_err(|error| match error.kind() {
            ErrorKind::TimedOut => refuse(408, "the request took too long"),
            ErrorKind::UnexpectedEof => refuse(400, "the body is shorter than its Content-Length"),
            _ => Unanswered::Connection(error),
        })?;
        let answer = || self.service.answer(head, body);
        Ok(catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_| {
            let text = "internal error: please report what you did";
            Answer::Whole(self.service.refuse(Some(head), 500, text))
        }))
    }

    /// An upload has its time; other clients have no reason to be slow.
    fn read_body(
        &self,
        stream: &mut HttpStream,
        head: &RequestHead,
        start: Vec<u8>,
    ) -> io::Result<Vec<u8>> {
        let waiting = if head.body_bytes >= LARGE_BODY {
            stream.set_deadline(Instant::now() + UPLOAD_TIMEOUT);
            None
        } else {
            Some(self.wait_for_client(stream)?)
        };
        let body = read_body(stream, head.body_bytes, start);
        drop(waiting);
        body
    }
}

/// A head with the start of its body, or the status and text of what is wrong with it.
type ReadHead = Result<(RequestHead, Vec<u8>), (u16, &'static str)>;

/// Why a service did not answer.
enum Unanswered {
    Connection(io::Error),
    Refused(HttpResponse),
}

/// Reads exactly `length` bytes. The buffer grows with what arrives, not with what was claimed.
fn read_body(stream: &mut HttpStream, length: u64, mut body: Vec<u8>) -> io::Result<Vec<u8>> {
    let length = usize::try_from(length).map_err(io::Error::other)?;
    body.truncate(length);
    let mut buffer = vec![0; 64 << 10];
    while body.len() < length {
        let most = (length - body.len()).min(buffer.len());
        let count = stream.read(buffer.get_mut(..most).unwrap_or_default())?;
        if count == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        body.extend_from_slice(buffer.get(..count).unwrap_or_default());
    }
    Ok(body)
}

fn send_events(mut stream: HttpStream, mut events: Box<dyn EventSource>) -> io::Result<()> {
    stream.set_deadline(Instant::now() + EVENT_TIMEOUT);
    stream.send(&HttpResponse::events_head())?;
    while let Some(event) = events.next() {
        stream.set_deadline(Instant::now() + EVENT_TIMEOUT);
        stream.send(&event)?;
    }
    stream.set_deadline(Instant::now() + EVENT_TIMEOUT);
    stream.finish()
}
