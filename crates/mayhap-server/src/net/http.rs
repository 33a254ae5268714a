//! Pages over HTTP/1.1, for Prometheus and health checks. One request per connection, GET and HEAD only.
//!
//! Each connection has its own thread for at most ten seconds, and their number is limited. This is simple, and slow clients
//! delay others by ten seconds at most. Redis commands never use this path.

mod answer;

use super::listeners::Listeners;
use answer::{COME_AGAIN, answer};
use mio::Waker;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The maximum number of connections; others are asked to retry.
const MAX_CLIENTS: usize = 64;
/// The maximum number of concurrent requests for one page, because a page may read every filter. Other pages are not affected,
/// so health checks get through.
const MAX_CONCURRENT_RENDERS: usize = 2;
/// The maximum size of a request's head.
const MAX_HEAD: usize = 8 << 10;
/// The time limit for a whole request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The response for a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpPage {
    /// The status: 200, or 503 if the server is unhealthy.
    pub status: u16,
    /// The content type, such as `text/plain; charset=utf-8`.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

/// Renders the page of a path, which starts with `/` and has no query.
pub type Pages = dyn Fn(&str) -> Option<HttpPage> + Send + Sync;

/// A running HTTP server. It keeps running if this is dropped.
pub struct PageServer {
    /// The address that it listens on, with the actual port.
    pub address: SocketAddr,
    is_stopping: Arc<AtomicBool>,
    waker: Waker,
    thread: JoinHandle<()>,
}

impl PageServer {
    /// Stops accepting. Running requests have their ten seconds.
    pub fn stop(self) {
        self.is_stopping.store(true, Ordering::Release);
        let _ = self.waker.wake();
        let _ = self.thread.join();
    }
}

/// Starts to listen and serve.
///
/// # Errors
/// When the address cannot be listened at, which the error names.
pub fn serve_pages(address: SocketAddr, pages: Arc<Pages>) -> io::Result<PageServer> {
    let listeners = Listeners::new(std::iter::once(address))?;
    let address = listeners.addresses()?.first().copied().unwrap_or(address);
    let waker = listeners.waker()?;
    let is_stopping = Arc::new(AtomicBool::new(false));
    let is_told = Arc::clone(&is_stopping);
    let clients = Arc::new(AtomicUsize::new(0));
    let paths = Arc::new(Paths::default());
    let thread = thread::Builder::new().name("pages".to_owned());
    let thread = thread.spawn(move || {
        let end = listeners.run(
            || is_told.load(Ordering::Acquire),
            |_, mut stream, _| {
                if clients.load(Ordering::Relaxed) >= MAX_CLIENTS {
                    let _ = stream.write(COME_AGAIN);
                    return;
                }
                let client = HttpClient::new(TcpStream::from(stream), &clients);
                let (pages, paths) = (Arc::clone(&pages), Arc::clone(&paths));
                let name = "page".to_owned();
                let thread = thread::Builder::new().name(name);
                // If the thread cannot be started, the connection is dropped.
                if let Err(error) =
                    thread.spawn(move || client.serve(&move |path: &str| paths.page(path, &*pages)))
                {
                    crate::report(&format!(
                        "serving a page: {error}; the client was sent away"
                    ));
                }
            },
        );
        if let Err(error) = end {
            crate::report(&format!(
                "waiting for HTTP: {error}; there are no pages any more"
            ));
        }
    })?;
    Ok(PageServer {
        address,
        is_stopping,
        waker,
        thread,
    })
}

/// The paths whose pages are being rendered.
#[derive(Default)]
struct Paths(Mutex<Vec<String>>);

/// Releases a path, also if rendering panics.
struct PageSlot<'p>(&'p Paths, &'p str);

impl Drop for PageSlot<'_> {
    fn drop(&mut self) {
        let mut paths = self.0.lock();
        if let Some(at) = paths.iter().position(|path| path == self.1) {
            paths.swap_remove(at);
        }
    }
}

impl Paths {
    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn page(&self, path: &str, pages: &Pages) -> Option<HttpPage> {
        let mut paths = self.lock();
        if paths.iter().filter(|making| *making == path).count() >= MAX_CONCURRENT_RENDERS {
            return Some(answer::plain(
                503,
                "this page is being made for others: ask again in a second\n",
            ));
        }
        paths.push(path.to_owned());
        drop(paths);
        let _making = PageSlot(self, path);
        pages(path)
    }
}

struct HttpClient {
    stream: TcpStream,
    clients: Arc<AtomicUsize>,
    deadline: Instant,
}

impl Drop for HttpClient {
    fn drop(&mut self) {
        self.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

impl HttpClient {
    fn new(stream: TcpStream, clients: &Arc<AtomicUsize>) -> Self {
        clients.fetch_add(1, Ordering::Relaxed);
        Self {
            stream,
            clients: Arc::clone(clients),
            deadline: Instant::now() + REQUEST_TIMEOUT,
        }
    }

    /// A failure cannot be reported to anybody.
    fn serve(mut self, pages: &Pages) {
        let _ = self.try_serve(pages);
    }

    fn try_serve(&mut self, pages: &Pages) -> io::Result<()> {
        self.stream.set_nonblocking(false)?;
        let head = self.head()?;
        let answer = answer(&head, pages);
        self.send(&answer)?;
        self.stream.shutdown(Shutdown::Write)?;
        // Closing a socket with unread input may discard the response.
        let mut rest = [0; 1024];
        for _ in 0..64 {
            if self.read(&mut rest)? == 0 {
                break;
            }
        }
        Ok(())
    }

    fn time_left(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        Ok(left)
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.time_left()?;
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer)
    }

    /// The head of the request, or as much of it as arrived.
    fn head(&mut self) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        let mut buffer = [0; 1024];
        while head.len() < MAX_HEAD {
            let count = self.read(&mut buffer)?;
            head.extend_from_slice(buffer.get(..count).unwrap_or_default());
            let new = head.len().saturating_sub(count + 3);
            let new = head.get(new..).unwrap_or_default();
            let ends = |end: &[u8]| new.windows(end.len()).any(|bytes| bytes == end);
            if count == 0 || ends(b"\r\n\r\n") || ends(b"\n\n") {
                break;
            }
        }
        Ok(head)
    }

    fn send(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let left = self.time_left()?;
            self.stream.set_write_timeout(Some(left))?;
            let count = self.stream.write(bytes)?;
            bytes = bytes.get(count..).unwrap_or_default();
        }
        Ok(())
    }
}
